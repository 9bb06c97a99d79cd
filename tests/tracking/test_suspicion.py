"""A second touch of the tip, or a long one, shows in how the cue ball goes on; a clean stroke with any spin does not."""

from __future__ import annotations

import numpy as np
import pytest

from tests.tracking.staged import TABLE, film, travelled
from tracking.analyse import analyse
from tracking.observations import Observation

HIT = 1.0


def near_shot(
    forward: float,
    follow: float,
    *,
    gap: float = 0.03,
    speed: float = 1.2,
    fps: float = 60.0,
    cut: float = 0.0,
    seed: int = 1,
    until_s: float = 2.2,
) -> list[Observation]:
    """The cue ball at 1 s meets ball 4, ``gap`` off, which leaves at ``speed``; the cue ball then has ``forward`` of that speed
    and comes to roll at ``follow`` of it."""
    d, start = TABLE.ball_m, np.array([0.6, 0.6])
    way = np.array([np.sin(cut), np.cos(cut)])
    four = start + np.array([0.0, gap]) + d * way
    meets = HIT + gap / speed

    def cue(t: float) -> tuple[float, float]:
        before = min(max(t - HIT, 0.0) * speed, gap)
        after = travelled(forward * speed, t - meets, rolls=follow * speed)
        side = travelled(np.sin(cut) * speed, t - meets) * np.array([-way[1], way[0]]) if cut else np.zeros(2)
        return tuple(start + np.array([0.0, before]) + after * way + side)

    def other(t: float) -> tuple[float, float]:
        x, y = four + travelled(speed, t - meets) * way
        far = TABLE.length_m - TABLE.ball_radius
        return x, min(y, far - 0.75 * (y - far) if y > far else y)

    return film({0: cue, 4: other, 9: (0.2, 2.2)}, until_s, fps=fps, seed=seed)


def suspected(stream: list[Observation]) -> dict[str, float]:
    found = analyse(stream, TABLE).shots
    assert len(found) == 1
    return found[0].shot.suspected


@pytest.mark.parametrize("fps", [30.0, 60.0])
@pytest.mark.parametrize("gap", [0.012, 0.05])
def test_cue_ball_that_travels_with_the_ball_was_hit_twice(fps: float, gap: float) -> None:
    said = suspected(near_shot(0.8, 0.7, gap=gap, fps=fps))
    assert 0.5 < said["double-hit"] <= 0.9


@pytest.mark.parametrize("fps", [30.0, 60.0])
@pytest.mark.parametrize(("forward", "follow"), [(0.02, 0.02), (0.02, 0.34), (0.03, -0.25)])
@pytest.mark.parametrize("gap", [0.012, 0.05])
def test_stun_follow_and_draw_are_clean(fps: float, forward: float, follow: float, gap: float) -> None:
    assert "double-hit" not in suspected(near_shot(forward, follow, gap=gap, fps=fps))


def test_a_ball_far_off_tells_of_no_double_hit() -> None:
    assert "double-hit" not in suspected(near_shot(0.8, 0.7, gap=0.3))


def test_a_thin_cut_keeps_its_speed_sideways() -> None:
    assert "double-hit" not in suspected(near_shot(0.03, 0.03, gap=0.04, cut=0.6))


def test_only_fast_frames_may_be_sure() -> None:
    said = suspected(near_shot(0.9, 0.8, gap=0.02, fps=240.0))
    assert said["double-hit"] > 0.9


def pushed(gain: float, seed: int = 1) -> list[Observation]:
    """The cue ball leaves at 0.6 m/s and gains ``gain`` m/s² for a quarter of a second."""

    def cue(t: float) -> tuple[float, float]:
        a = max(t - HIT, 0.0)
        b = min(a, 0.25)
        way = 0.6 * b + 0.5 * gain * b * b
        if a > 0.25:
            way += travelled(0.6 + gain * 0.25, a - 0.25)
        return 0.6, 0.5 + way

    return film({0: cue, 4: (0.2, 2.3), 9: (1.0, 2.2)}, 2.2, seed=seed)


def test_a_ball_that_gains_speed_was_pushed() -> None:
    assert suspected(pushed(3.0))["push"] > 0.5


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("gain", [0.0, -2.0])
def test_an_ordinary_stroke_is_no_push(gain: float, seed: int) -> None:
    assert "push" not in suspected(pushed(gain, seed))
