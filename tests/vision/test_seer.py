"""Looks begun ahead of time give what looks made at once give."""

from __future__ import annotations

import cv2
import numpy as np
import pytest

from tests.vision.picture import GREEN_CLOTH, table
from vision.detections import Detections
from vision.refine import refine
from vision.seer import Seer, fitted
from vision.video import Frame

BALLS = [(70.0, 60.0, 9.0), (150.0, 90.0, 9.0), (240.0, 130.0, 9.0), (112.0, 150.0, 9.0)]
COLOURS = [(40, 40, 200), (40, 200, 230), (225, 235, 240), (25, 25, 25)]
REGION = (0, 0, 320, 192)


def shifted(k: int) -> Frame:
    moved = [(x + 3.0 * k, y, r) for x, y, r in BALLS]
    return Frame(k, k / 30, None, np.asarray(cv2.GaussianBlur(table(moved, COLOURS, size=(320, 192)), (0, 0), 0.6)))


def test_begun_looks_are_those_of_their_own_frame() -> None:
    frames = [shifted(k) for k in range(5)]
    at_once, begun = Seer(threads=1), Seer(threads=1)
    for k, frame in enumerate(frames):
        if k + 1 < len(frames) and k != 2:  # one is not foretold
            begun.expect(frames[k + 1], REGION)
        a, b = at_once(frame, REGION), begun(frame, REGION)
        np.testing.assert_array_equal(a.centre, b.centre)
        np.testing.assert_array_equal(a.evidence, b.evidence)


def test_a_look_begun_for_another_region_is_not_taken() -> None:
    seer = Seer(threads=1)
    frame = shifted(0)
    seer.expect(frame, (0, 0, 160, 192))
    assert len(seer(frame, REGION)) > len(seer(frame, (0, 0, 100, 100)))


def test_the_white_cap_of_a_stripe_is_not_taken_for_the_ball() -> None:
    """Seen from its end a stripe is a white disc in a dark ring: the ring is dark on dark cloth, and the disc alone was fitted."""
    ball, cap = (120.0, 90.0, 20.0), (116.0, 86.0, 13.5)
    colours = [(70, 35, 25), (225, 235, 240)]
    image = table([ball, cap], colours, GREEN_CLOTH, size=(240, 180), shadow=False, highlight=False)
    first = Detections.of([cap[:2]], [cap[2]], [0.8])
    assert refine(image, first).radius[0] < 15
    whole, seen = fitted(image, first, np.array([20.4]))
    assert np.hypot(*(whole.centre[0] - ball[:2])) < 0.05 * ball[2]
    assert whole.radius[0] == pytest.approx(20, rel=0.05)
    assert seen[0] < 15, "what size it was seen with tells marks on the cloth from balls"
    nowhere, _ = fitted(image, first, np.array([np.nan]))
    assert nowhere.radius[0] < 15, "where no ball can be, none is made of what is seen"


def test_balls_are_fitted_from_the_size_that_a_camera_knows() -> None:
    """The detector's boxes come out too small in low views; the outline does not, whether the camera's size is right or 4 % off."""
    balls = [(40.0, 50.0, 12.0), (80.0, 50.0, 12.0), (104.0, 50.0, 12.0)]
    image = table(balls, COLOURS[:3], GREEN_CLOTH, size=(150, 100), shadow=False)
    b = np.array(balls)
    first = Detections.of(b[:, :2] + (1.5, -1.0), 0.85 * b[:, 2], np.ones(3))
    for wrong in (0.96, 1.0, 1.04):
        found, seen = fitted(image, first, wrong * b[:, 2])
        np.testing.assert_allclose(found.centre, b[:, :2], atol=0.06 * 12)
        np.testing.assert_allclose(found.radius, b[:, 2], rtol=0.05)
        np.testing.assert_array_equal(seen, found.radius)


def test_a_ball_behind_the_near_cushion_is_where_its_upper_edge_says() -> None:
    """Only its upper part is in view, and the box is that part's: the ball's centre lies lower by what is hidden."""
    ball = (90.0, 80.0, 18.0)
    image = table([ball], [COLOURS[1]], GREEN_CLOTH, size=(180, 140), shadow=False, highlight=False)
    image[85:] = (40, 70, 105)  # the rail, from a little below the ball's middle on
    first = Detections.of([[90.0, 74.0]], [12.5], [0.5])
    found, _ = fitted(image, first, np.array([18.2]))
    assert np.hypot(*(found.centre[0] - ball[:2])) < 0.12 * ball[2]
    assert found.radius[0] == pytest.approx(18, rel=0.1)
    by_itself = refine(image, first)
    assert np.hypot(*(by_itself.centre[0] - ball[:2])) > 0.12 * ball[2], "or the second start is of no use"
