"""The watch notices a bump, a sag, zoom, light and cuts, and nothing else."""

from __future__ import annotations

import time

import cv2
import numpy as np
import numpy.typing as npt
import pytest

from calibration.camera import Camera
from calibration.result import Calibration
from calibration.table import Table
from calibration.watch import State, Watch
from tests.calibration.painted import Paint, paint

CAMERA = Camera.looking([0.6, -2.0, 2.2], [0.63, 1.1, 0], width=960, height=540, focal=900)
CALIBRATION = Calibration(Table(), CAMERA, 0.3)
PICTURE = paint(CAMERA, Table())
Picture = npt.NDArray[np.uint8]


def moved(dx: float, dy: float, zoom: float = 1.0) -> Picture:
    h, w = PICTURE.shape[:2]
    matrix = np.array([[zoom, 0, dx + (1 - zoom) * w / 2], [0, zoom, dy + (1 - zoom) * h / 2]])
    return np.asarray(cv2.warpAffine(PICTURE, matrix, (w, h), borderMode=cv2.BORDER_REPLICATE), np.uint8)


def first_alarm(watch: Watch, pictures: list[Picture], fps: float = 25.0) -> tuple[State, float] | None:
    for k, picture in enumerate(pictures):
        state = watch.check(picture, k / fps)
        if state is not State.OK:
            return state, k / fps
    return None


def test_still_view_with_noise_and_other_range_is_ok() -> None:
    rng = np.random.default_rng(3)
    watch = Watch(CALIBRATION, PICTURE)
    for k in range(40):
        grey = cv2.cvtColor(PICTURE, cv2.COLOR_BGR2GRAY) * 0.86 + 16 + rng.normal(0, 3, PICTURE.shape[:2])
        assert watch.check(np.clip(grey, 0, 255).astype(np.uint8), k / 25) is State.OK


@pytest.mark.parametrize(
    ("name", "picture"),
    [("bump", moved(2.5, 0)), ("bump down", moved(0, 3)), ("zoom", moved(0, 0, 1.01))],
)
def test_a_moved_camera_is_noticed_within_a_second(name: str, picture: Picture) -> None:
    alarm = first_alarm(Watch(CALIBRATION, PICTURE), [PICTURE] * 5 + [picture] * 25)
    assert alarm is not None, name
    assert alarm[0] is State.MOVED
    assert alarm[1] < 1.2


def test_a_slow_sag_is_noticed_before_it_matters() -> None:
    alarm = first_alarm(Watch(CALIBRATION, PICTURE), [moved(0, 0.04 * k) for k in range(100)])
    assert alarm is not None
    assert alarm[0] is State.MOVED
    assert 0.04 * alarm[1] * 25 < 2.5


def test_light_is_told_from_movement() -> None:
    dark = (PICTURE * 0.65).astype(np.uint8)
    alarm = first_alarm(Watch(CALIBRATION, PICTURE), [PICTURE] * 3 + [dark] * 30)
    assert alarm is not None
    assert alarm[0] is State.LIGHT


def test_a_cut_is_told_at_once() -> None:
    other = paint(
        Camera.looking([0.6, 1.3, 3.0], [0.6, 1.27, 0], width=960, height=540, focal=900),
        Table(),
        Paint(floor=(30, 30, 90)),
    )
    watch = Watch(CALIBRATION, PICTURE)
    watch.check(PICTURE, 0.0)
    assert watch.check(other, 0.04) in (State.CUT, State.NO_TABLE)


def test_a_picture_without_the_cloth_shows_no_table() -> None:
    rng = np.random.default_rng(0)
    face = cv2.resize(rng.integers(90, 200, (9, 16, 1)).astype(np.uint8), (960, 540))
    watch = Watch(CALIBRATION, PICTURE)
    assert watch.check(cv2.merge([face, face, face]), 0.0) is State.NO_TABLE


def test_a_blurred_face_is_never_taken_for_the_table() -> None:
    # soft shading is like an edge in shape, but not in strength; what lasts is told again and again
    rng = np.random.default_rng(1)
    face = cv2.resize(rng.integers(60, 200, (9, 16)).astype(np.uint8), (960, 540), interpolation=cv2.INTER_CUBIC)
    watch = Watch(CALIBRATION, PICTURE)
    watch.check(PICTURE, 0.0)
    for k in range(1, 50):
        noisy = np.clip(face + rng.normal(0, 2, face.shape), 0, 255).astype(np.uint8)
        assert watch.check(noisy, k / 25) in (State.CUT, State.NO_TABLE)
    assert not watch.shows_table(cv2.merge([face, face, face]))
    assert watch.shows_table(PICTURE)


def test_somebody_before_a_third_of_the_table_is_no_movement() -> None:
    watch = Watch(CALIBRATION, PICTURE)
    for k in range(40):
        picture = PICTURE.copy()
        cv2.rectangle(picture, (200 + 2 * k, 150), (420 + 2 * k, 540), (60, 60, 90), -1)
        assert watch.check(picture, k / 25) is State.OK


def test_another_size_is_a_cut() -> None:
    assert Watch(CALIBRATION, PICTURE).check(PICTURE[:200], 0.0) is State.CUT


def test_a_check_is_quick() -> None:
    watch = Watch(CALIBRATION, PICTURE)
    grey = np.asarray(cv2.cvtColor(PICTURE, cv2.COLOR_BGR2GRAY), np.uint8)
    watch.check(grey, 0.0)
    spent = []
    for k in range(60):
        start = time.thread_time()
        watch.check(grey, k / 25)
        spent.append(time.thread_time() - start)
    assert np.mean(spent) < 0.0015  # 0.2 ms on an idle machine; this one may be busy
