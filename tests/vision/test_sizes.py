"""Of what size balls are: told by the balls among themselves, or by a calibrated camera."""

from __future__ import annotations

import numpy as np
import pytest

from calibration.camera import Camera
from calibration.result import Calibration
from calibration.table import Table
from vision import sizes
from vision.detections import Detections

BALLS = np.array([[200.0, 200.0], [400.0, 260.0], [600.0, 420.0]])
MARKS = np.array([[80.0 + 180 * k, 60.0 + 440 * j] for j in range(2) for k in range(5)])[:9]


def marked() -> Detections:
    """Three balls of 18 pixels among nine diamonds of 8."""
    radius = np.append(np.full(3, 18.0), np.full(9, 8.0))
    return Detections.of(np.vstack([BALLS, MARKS]), radius, np.append(np.full(3, 0.8), np.full(9, 0.5)))


def test_a_camera_knows_balls_from_the_diamonds_that_outnumber_them() -> None:
    alone = sizes.weigh(marked())
    assert alone.score[:3].max() < 0.1, "the majority decides where nothing else is known"
    told = sizes.weigh(marked(), np.full(12, 17.5))
    assert told.score[:3] == pytest.approx(0.8)
    assert told.score[3:].max() < 0.1


def test_where_no_ball_can_be_nothing_is_said() -> None:
    told = sizes.weigh(marked(), np.append(np.full(3, 17.5), np.full(9, np.nan)))
    assert told.score[3:] == pytest.approx(0.5)


def oblique(v: np.ndarray) -> np.ndarray:
    """Radius of a ball at row ``v`` of a picture whose horizon lies at row -150."""
    return 0.02 * (v + 150.0)


def test_a_cue_ball_far_from_the_rack_keeps_its_score() -> None:
    """A rack alone tells the size where it lies, and nothing of the other end of the table."""
    rack = np.array([[400.0 + 9 * x, 200.0 + 7 * y] for y in range(4) for x in range(-y, y + 1, 2)])
    centre = np.vstack([rack, [430.0, 620.0]])
    found = sizes.weigh(Detections.of(centre, oblique(centre[:, 1]), np.full(len(centre), 0.7)))
    assert found.score[-1] > 0.6


def test_pieces_of_one_thing_do_not_outvote_the_balls() -> None:
    """A stripe found in eight pieces, a mark and a finger beside four whole balls."""
    balls = np.array([[1600.0, 420.0], [780.0, 790.0], [1350.0, 650.0], [290.0, 500.0]])
    pieces = np.array([1100.0, 190.0]) + np.array([[0, 0], [8, -6], [-7, 5], [4, 8], [9, 3], [-6, -7], [2, -9], [7, 9]])
    others = np.array([[580.0, 540.0], [1650.0, 216.0]])
    radius = np.concatenate([np.full(4, 21.5), np.linspace(7.6, 10.7, 8), [12.9, 8.2]])
    score = np.concatenate([np.full(4, 0.7), np.full(8, 0.4), [0.7, 0.5]])
    weighed = sizes.weigh(Detections.of(np.vstack([balls, pieces, others]), radius, score)).score
    assert weighed[:4].min() > 0.6
    assert weighed[4:12].max() < 0.1


def test_a_small_thing_among_the_balls_is_none() -> None:
    centre = np.array([[300.0, 200.0], [700.0, 260.0], [420.0, 400.0], [640.0, 520.0], [500.0, 640.0], [520.0, 380.0]])
    radius = oblique(centre[:, 1])
    radius[-1] *= 0.5
    found = sizes.weigh(Detections.of(centre, radius, np.full(6, 0.7)))
    assert found.score[:5].min() > 0.6
    assert found.score[5] < 0.1


def test_two_parts_of_a_ball_are_one() -> None:
    found = Detections.of([[50.0, 50.0], [56.0, 52.0], [90.0, 50.0]], [20.0, 20.0, 20.0], [0.5, 0.7, 0.6])
    assert sizes.single(found).centre.tolist() == [[56.0, 52.0], [90.0, 50.0]]
    apart = found[[1, 2]]
    assert sizes.single(apart) is apart


def test_parts_are_told_by_their_size_where_that_is_known() -> None:
    found = Detections.of(np.zeros((4, 2)), [20.0, 14.0, 8.0, 14.0], np.ones(4))
    expected = np.array([20.0, 20.0, 20.0, np.nan])
    assert sizes.parts(found, expected).tolist() == [False, True, False, False]
    assert not sizes.parts(found, expected, np.full(4, 0.5)).any(), "a size that is hardly known tells nothing"


def test_a_camera_tells_sizes_everywhere() -> None:
    """Asked beforehand on a grid, it says what it says when asked for each place, also beside the picture; nothing above the horizon."""
    camera = Camera.looking([0.6, -1.2, 0.9], [0.6, 1.6, 0.0], width=1280, height=720, focal=900.0)
    calibration = Calibration(Table(), camera, 0.0)
    radius_at = sizes.by_camera(calibration)
    rng = np.random.default_rng(3)
    xy = rng.uniform([0, 0], [1.27, 2.54], (60, 2))
    r = calibration.table.ball_radius
    pixels = camera.project(xy, r)
    pixels, xy = pixels[(np.abs(pixels) < 2000).all(axis=1)], xy[(np.abs(pixels) < 2000).all(axis=1)]
    inside = ((pixels > -16) & (pixels < np.array([1296, 736]))).all(axis=1)
    assert inside.sum() > 30
    np.testing.assert_allclose(radius_at(pixels[inside]), camera.ball_radius_px(xy[inside], r), rtol=0.01)
    assert len(radius_at(np.zeros((0, 2)))) == 0


def seen_whole(radius: list[float], sigma: list[float]) -> Detections:
    """Four whole balls of 20 pixels, and further things of these sizes, their centres known to ``sigma`` pixels."""
    n = 4 + len(radius)
    centre = np.column_stack([100.0 * np.arange(n), np.full(n, 50.0)])
    found = Detections.of(centre, np.array([20.0] * 4 + radius), np.full(n, 0.65))
    return found.with_(cov=np.eye(2) * np.array([0.3] * 4 + sigma)[:, None, None] ** 2)


def test_a_sticker_is_no_ball_and_what_shows_of_a_hidden_ball_may_be() -> None:
    """Both seven tenths of a ball; the sticker's outline is sharp."""
    found = seen_whole([14.2, 14.2], [0.7, 5.0])
    told = sizes.weigh_known(found, found.radius, np.full(6, 20.0))
    assert told.score[:4] == pytest.approx(0.65)
    assert told.score[4] < 0.15
    assert told.score[5] > 0.4


def test_a_ball_seen_by_its_number_and_then_whole_is_kept() -> None:
    found = seen_whole([19.2], [2.4])
    told = sizes.weigh_known(found, np.array([20.0] * 4 + [11.3]), np.full(5, 20.0))
    assert told.score[4] > 0.45
    assert told.radius.tolist() == found.radius.tolist()


def test_balls_on_a_table_of_another_size_than_thought_are_balls() -> None:
    """All are a fifth smaller than the camera says: the table is larger, not everything a sticker."""
    found = seen_whole([20.0], [0.3])
    assert sizes.weigh_known(found, found.radius, np.full(5, 25.0)).score == pytest.approx(0.65)
