"""Of what size balls are: told by the balls among themselves, or by a calibrated camera."""

from __future__ import annotations

import numpy as np
import pytest

from vision import sizes
from vision.detections import Detections

BALLS = np.array([[200.0, 200.0], [400.0, 260.0], [600.0, 420.0]])
MARKS = np.array([[80.0 + 90 * k, 60.0] for k in range(9)])


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
