"""Looks begun ahead of time give what looks made at once give."""

from __future__ import annotations

import cv2
import numpy as np

from tests.vision.picture import table
from vision.seer import Seer
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
