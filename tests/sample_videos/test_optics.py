"""The compiled camera agrees with the camera everybody else uses; lamps give the light they are set to give."""

import numpy as np
import pytest

from calibration.camera import Camera
from calibration.table import Table
from sample_videos.looks import Looks, RoomLook, lamp_arrays, random_looks
from sample_videos.optics import camera_array, light_at, pixel, ray

CAMERAS = [
    Camera.looking([0.6, -2.4, 2.0], [0.6, 1.2, 0.0], focal=1400.0),
    Camera.looking([3.0, 1.0, 1.8], [0.6, 1.3, 0.0], focal=1100.0, roll=0.1, distortion=(-0.22, 0.03)),
    Camera.looking([0.635, 1.27, 3.0], [0.635, 1.271, 0.0], focal=1900.0, distortion=(0.05, 0.0)),
]


@pytest.mark.parametrize("camera", CAMERAS)
def test_pixel_is_the_camera_s_projection(camera: Camera) -> None:
    points = np.random.default_rng(1).uniform([0, 0, 0], [1.27, 2.54, 0.05], (50, 3))
    mine = np.array([pixel(camera_array(camera), *p)[:2] for p in points])
    np.testing.assert_allclose(mine, camera.project(points), atol=1e-6)


@pytest.mark.parametrize("camera", CAMERAS)
def test_ray_through_a_projected_point_meets_the_point(camera: Camera) -> None:
    points = np.random.default_rng(2).uniform([0, 0, 0], [1.27, 2.54, 0.05], (50, 3))
    for point, (u, v) in zip(points, camera.project(points), strict=True):
        if not (0 <= u < camera.width and 0 <= v < camera.height):
            continue
        direction = np.array(ray(camera_array(camera), u, v))
        away = point - camera.position
        assert np.linalg.norm(np.cross(away, direction)) < 1e-5


@pytest.mark.parametrize("seed", range(4))
def test_lamps_and_room_give_the_middle_of_the_cloth_unit_light(seed: int) -> None:
    room = random_looks(np.random.default_rng(seed), 1.27, 2.54).room
    lamps, _, _ = lamp_arrays(room, 1.27, 2.54)
    out = np.zeros(3)
    light_at(lamps, 0.635, 1.27, 0.0, 0.0, 0.0, 1.0, 0.0, out)
    assert out.mean() == pytest.approx(1 - min(0.85, room.ambient), rel=0.02)


def test_default_lamps_hang_over_the_table() -> None:
    lamps, whole, ambient = lamp_arrays(RoomLook(), 1.27, 2.54)
    table = Table()
    assert (lamps[:, 2] > 1).all()
    assert all(table.on_surface((x, y)) for x, y in whole[:, :2])
    assert (ambient > 0).all()
    assert Looks().room.lamps == ()
