"""The eye: looks seldom while no ball moves, at every frame while one does, and goes back to see the stroke."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from railbird.eye import Eye, apart, to_table
from tests.flat import draw, grain, oblique, overhead
from vision.detections import Detections
from vision.video import Frame

RATE = 30


class Watcher:
    """Detections of balls whose places are known, where the drawn picture shows them."""

    def __init__(self, view, places) -> None:
        self.view, self.places = view, places
        self.asked: list[int] = []

    def __call__(self, frame: Frame, region: tuple[int, int, int, int]) -> Detections:
        self.asked.append(frame.index)
        xy = self.places(frame.index)
        radius = self.view.table.ball_radius
        centre = self.view.camera.project(xy, radius) + self.view.camera.outline_centre_offset(xy, radius)
        return Detections.of(centre, self.view.camera.ball_radius_px(xy, radius), np.full(len(xy), 0.9))


REST = np.array([[0.4, 0.6], [0.63, 1.9]])
STROKE = 61


def rolling(index: int) -> np.ndarray:
    """The first ball is struck at frame 61 and rolls half a metre in half a second."""
    way = np.clip(index - STROKE, 0, 15) * 0.035
    return REST + np.array([[0.0, way], [0.0, 0.0]])


def frames(view, places, count: int, hand: range = range(0)):
    for k in range(count):
        image = grain(draw(view, dict(enumerate(map(tuple, places(k))))), k)
        if k in hand:
            x, y = view.camera.project([(1.0, 1.0 + 0.01 * (k % 20))])[0].astype(int)
            image[y - 20 : y + 20, x - 20 : x + 20] = (90, 120, 180)
        yield Frame(k, k / RATE, None, image)


@pytest.fixture(scope="module")
def rolled():
    view = overhead(640, 360)
    watcher = Watcher(view, rolling)
    eye = Eye(view, watcher)
    observations = [o for frame in frames(view, rolling, 120) for o in eye.frame(frame)]
    return eye, watcher, observations


def test_few_looks_at_rest_and_every_frame_in_motion(rolled) -> None:
    _, watcher, _ = rolled
    assert sum(k < STROKE - 10 for k in watcher.asked) <= (STROKE - 10) / RATE / 0.4 + 2
    assert set(range(STROKE, STROKE + 16)) <= set(watcher.asked)
    assert sum(k > STROKE + 35 for k in watcher.asked) <= 8


def test_the_frames_before_the_stroke_are_looked_at(rolled) -> None:
    _, watcher, observations = rolled
    assert {STROKE - 1, STROKE} <= set(watcher.asked)
    times = [o.t_s for o in observations]
    assert times == sorted(times)
    assert len(times) == len(set(times))


def test_a_player_who_moves_about_costs_ten_looks_a_second() -> None:
    view = overhead(640, 360)
    watcher = Watcher(view, lambda k: REST)
    eye = Eye(view, watcher)
    for frame in frames(view, lambda k: REST, 90, hand=range(15, 90)):
        eye.frame(frame)
    assert len(watcher.asked) <= 12 * 3
    assert eye.moving_frames == 0


@pytest.mark.parametrize("make", [overhead, oblique])
def test_centres_come_back_to_the_table(make) -> None:
    view = make(1920, 1080)
    xy = np.array([[0.2, 0.3], [0.635, 1.27], [1.1, 2.4]])
    centre = view.camera.project(xy, view.table.ball_radius)
    centre += view.camera.outline_centre_offset(xy, view.table.ball_radius)
    found, cov = to_table(view, Detections.of(centre, np.full(3, 12.0), np.ones(3)))
    assert found == pytest.approx(xy, abs=2e-4)
    assert (np.linalg.eigvalsh(cov) > 0).all()


class Expecting(Watcher):
    """The same, and notes what it was told to expect."""

    def __init__(self, view, places) -> None:
        super().__init__(view, places)
        self.told: list[int] = []

    def expect(self, frame: Frame, region: tuple[int, int, int, int]) -> None:
        self.told.append(frame.index)


def test_the_next_frame_is_told_while_balls_move_only() -> None:
    view = overhead(640, 360)
    watcher = Expecting(view, rolling)
    eye = Eye(view, watcher)
    every = list(frames(view, rolling, 120))
    for frame, following in zip(every, [*every[1:], None], strict=True):
        if following is not None:
            eye.expect(following)
        eye.frame(frame)
    assert watcher.told, "nothing was told"
    assert len(set(watcher.told) - set(watcher.asked)) <= 1, "only the frame after the last motion is told in vain"
    assert min(watcher.told) > STROKE
    in_motion = [k for k in watcher.asked if STROKE + 3 < k < STROKE + 15]
    assert set(in_motion) <= set(watcher.told)


def test_of_a_ball_found_twice_the_surer_place_stays() -> None:
    xy = np.array([[0.305, 0.568], [0.317, 0.583], [0.362, 0.568], [0.9, 0.9]])
    kept = apart(xy, np.array([0.2, 0.5, 0.7, 0.3]), 0.6 * 0.05715)
    assert kept.tolist() == [False, True, True, True]
    assert apart(np.zeros((0, 2)), np.zeros(0), 0.03).shape == (0,)


def test_the_eye_says_how_large_balls_are() -> None:
    view = oblique(640, 360)
    told = []

    class Listening(Watcher):
        def calibrated(self, radius_at) -> None:
            told.append(radius_at)

    Eye(view, Listening(view, rolling))
    radius = view.table.ball_radius
    places = np.array([[0.3, 0.3], [0.6, 2.2]])
    seen = view.camera.project(places, radius)
    np.testing.assert_allclose(told[0](seen), view.camera.ball_radius_px(places, radius), rtol=1e-3)
    assert np.isnan(told[0](np.array([[320.0, -5000.0]]))).all()


def fast(view, places, count: int):
    """Frames of a stream of 120 pictures a second."""
    for frame in frames(view, places, count):
        frame.t_s /= 4
        yield frame


def long_roll(index: int) -> np.ndarray:
    """The first ball rolls from frame 61 to the end, 2.4 m/s for an eighth of a second, then at a sixteenth of that."""
    way = np.clip(index - STROKE, 0, 15) * 0.02 + np.clip(index - STROKE - 15, 0, None) * 0.00125
    return REST + np.array([[0.0, way], [0.0, 0.0]])


@pytest.fixture(scope="module")
def fast_frames():
    view = overhead(640, 360)
    return view, list(fast(view, long_roll, 600))


@pytest.mark.parametrize("expecting", [False, True])
def test_far_from_the_moment_asked_about_a_fast_stream_is_looked_at_forty_times_a_second(
    fast_frames, expecting
) -> None:
    view, every = fast_frames
    watcher = Expecting(view, long_roll) if expecting else Watcher(view, long_roll)
    eye = Eye(view, watcher, moment=4.5)
    for frame, following in zip(every, [*every[1:], None], strict=True):
        if following is not None:
            eye.expect(following)
        eye.frame(frame)
    asked = set(watcher.asked)
    assert set(range(STROKE + 5, STROKE + 230)) <= asked, "two seconds from the stroke on"
    assert set(range(365, 600)) <= asked, "around the moment"
    between = sorted(k for k in asked if STROKE + 256 < k < 355)
    assert {b - a for a, b in pairwise(between)} == {3}
    if expecting:
        assert not set(watcher.told) - asked, "no look is begun in vain"
