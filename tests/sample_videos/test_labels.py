"""Labels against the drawn pixels, and pictures against their seed."""

import json
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("numba", reason="numba (extra 'render') is not installed")

from calibration.camera import Camera
from calibration.table import Table
from sample_videos.dataset import Placed, draw_balls, label_of, picture, pictures, write_folder
from sample_videos.draw import Stage
from sample_videos.looks import Looks

TABLE = Table()
R = TABLE.ball_radius
VIEWS = {
    "above": Camera.looking([0.635, 1.27, 2.6], [0.635, 1.271, 0.0], width=480, height=300, focal=420.0),
    "low": Camera.looking([0.635, -1.6, 1.2], [0.635, 1.0, 0.0], width=480, height=300, focal=520.0),
    "bent": Camera.looking(
        [2.6, 0.6, 1.6], [0.6, 1.2, 0.0], width=480, height=300, focal=400.0, distortion=(-0.15, 0.01), roll=0.05
    ),
}


@pytest.fixture(scope="module", params=VIEWS)
def stage(request: pytest.FixtureRequest) -> Stage:
    return Stage(TABLE, VIEWS[request.param], Looks())


def drawn_mask(stage: Stage, ball: Placed) -> np.ndarray:
    """Coverage (h, w) of a ball drawn alone: where its own colour differs from the same picture without it."""
    canvas = stage.canvas()
    before = np.zeros_like(canvas.light)
    canvas.light[:] = 0
    stage_balls = canvas.ball(
        ball.number, np.repeat(ball.centre[None], 25, 0), np.repeat(np.eye(3)[None], 25, 0), GRID, index=0
    )
    assert stage_balls[1] > 20
    canvas2 = stage.canvas()
    canvas2.light[:] = 1.0
    canvas2.ball(ball.number, np.repeat(ball.centre[None], 25, 0), np.repeat(np.eye(3)[None], 25, 0), GRID, index=0)
    return 1 - (canvas2.light - canvas.light + before).mean(axis=2)


GRID = np.stack(np.meshgrid(*[(np.arange(5) + 0.5) / 5 - 0.5] * 2), axis=-1).reshape(-1, 2)


@pytest.mark.parametrize("at", [(0.5, 0.9), (0.9, 1.6), (0.3, 1.9)])
def test_a_ball_s_pixels_lie_on_its_outline(stage: Stage, at: tuple[float, float]) -> None:
    ball = Placed(3, np.array([*at, R]), np.zeros(3), np.eye(3))
    coverage = drawn_mask(stage, ball)
    v, u = np.mgrid[0 : coverage.shape[0], 0 : coverage.shape[1]]
    centre = np.array([(u * coverage).sum(), (v * coverage).sum()]) / coverage.sum()
    camera = stage.camera
    expected = camera.project(np.array([[*at, R]]))[0] + camera.outline_centre_offset([at], R)[0]
    np.testing.assert_allclose(centre, expected, atol=0.1)
    canvas = stage.canvas()
    (index, placed), *_ = draw_balls(canvas, [ball])
    label = label_of(canvas, placed, index, stage.looks)
    assert label is not None
    np.testing.assert_allclose(label.centre, camera.project(np.array([[*at, R]]))[0], atol=1e-9)
    rows, cols = np.nonzero(coverage > 0.5)
    x, y, w, h = label.box
    np.testing.assert_allclose([x, y, x + w, y + h], [cols.min(), rows.min(), cols.max() + 1, rows.max() + 1], atol=1.0)
    assert coverage.sum() == pytest.approx(np.pi * label.radius**2, rel=0.02)
    assert label.visible > 0.93


def test_a_ball_behind_another_is_partly_visible() -> None:
    stage = Stage(TABLE, VIEWS["low"], Looks())
    balls = [Placed(n, np.array([0.635, y, R]), np.zeros(3), np.eye(3)) for n, y in ((1, 0.9), (2, 0.9 + 2.05 * R))]
    canvas = stage.canvas()
    seen = {b.number: label_of(canvas, b, k, stage.looks) for k, b in draw_balls(canvas, balls)}
    assert seen[1] is not None
    assert seen[2] is not None
    assert seen[1].visible > 0.93
    assert 0.2 < seen[2].visible < 0.9


def test_balls_in_pockets_carry_no_label() -> None:
    stage = Stage(TABLE, VIEWS["above"], Looks())
    hole = TABLE.pockets["side-left"].centre
    canvas = stage.canvas()
    before = canvas.light.copy()
    assert draw_balls(canvas, [Placed(5, np.array([*hole, -0.04]), np.zeros(3), np.eye(3), True)]) == []
    assert (canvas.light != before).any()


def test_a_moving_ball_s_box_holds_its_streak() -> None:
    stage = Stage(TABLE, VIEWS["above"], Looks())
    way = np.array([0.12, 0.05, 0.0])
    ball = Placed(0, np.array([0.6, 1.2, R]), way, np.eye(3))
    canvas = stage.canvas()
    empty = canvas.light.copy()
    (index, placed), *_ = draw_balls(canvas, [ball])
    label = label_of(canvas, placed, index, stage.looks)
    assert label is not None
    ends = stage.camera.project(np.array([ball.centre - way / 2, ball.centre + way / 2]))
    assert label.blur == pytest.approx(float(np.linalg.norm(ends[1] - ends[0])), rel=1e-6)
    brighter = (canvas.light - empty).max(axis=2) > 0.05
    rows, cols = np.nonzero(brighter)
    x, y, w, h = label.box
    assert x - 1 <= cols.min()
    assert cols.max() <= x + w + 1
    assert y - 1 <= rows.min()
    assert rows.max() <= y + h + 1


# -- the endless row ---------------------------------------------------------------------------------------------------
def test_a_picture_depends_on_seed_and_number_only() -> None:
    a, labels, _ = picture(5, 3, (320, 180))
    (b, again, _), *_ = pictures(1, 5, (320, 180), first=3)
    np.testing.assert_array_equal(a, b)
    assert labels == again
    other, _, _ = picture(5, 4, (320, 180))
    assert (a != other).any()


def test_labels_are_sound() -> None:
    for image, labels, meta in pictures(6, 9, (320, 180)):
        assert image.shape == (180, 320, 3)
        assert image.dtype == np.uint8
        for label in labels:
            x, y, w, h = label.box
            assert x >= -0.01
            assert x + w <= 320.01
            assert y >= -0.01
            assert y + h <= 180.01
            assert 0 <= label.visible <= 1
            assert label.kind == (
                "cue"
                if label.number == 0
                else "eight"
                if label.number == 8
                else "solid"
                if label.number < 8
                else "stripe"
            )
        assert {"camera", "table", "looks"} <= set(meta)


def test_folder_is_yolo_s_and_goes_on_where_it_stopped(tmp_path: Path) -> None:
    assert list(write_folder(tmp_path, 2, seed=3, size=(320, 180), workers=1)) == [1, 2]
    first = tmp_path / "images" / "train" / "3-000000.jpg"
    stamp = first.stat().st_mtime_ns
    assert list(write_folder(tmp_path, 3, seed=3, size=(320, 180), workers=1)) == [1, 2, 3]
    assert first.stat().st_mtime_ns == stamp
    full = json.loads((tmp_path / "full" / "train" / "3-000002.json").read_text())
    rows = (tmp_path / "labels" / "train" / "3-000002.txt").read_text().split("\n")
    assert len([r for r in rows if r]) == sum(b["visible"] >= 0.15 for b in full["balls"])
    assert "names:" in (tmp_path / "data.yaml").read_text()
