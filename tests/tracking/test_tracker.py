"""The tracker's parts, and that two balls that meet keep their tracks (Norfair issue 288)."""

import numpy as np
import pytest
from filterpy.kalman import predict as filterpy_predict
from filterpy.kalman import update as filterpy_update

from calibration.table import Table
from tracking import associate, kalman
from tracking.observations import Observation
from tracking.tracker import Tracker
from tracking.tracks import Status
from tracking.untangle import stitch

TABLE = Table()


def look(
    t: float, places: list[tuple[float, float]], numbers: list[int] | None = None, sigma: float = 0.001
) -> Observation:
    n = len(places)
    evidence = np.full((n, 16), -4.0)
    if numbers is None:
        evidence[:] = 0.0
    else:
        evidence[np.arange(n), numbers] = 0.0
    return Observation(
        t, np.array(places).reshape(n, 2), np.tile(np.eye(2) * sigma**2, (n, 1, 1)), np.full(n, 0.9), evidence
    )


def test_steps_agree_with_filterpy() -> None:
    rng = np.random.default_rng(1)
    mean = rng.normal(size=(3, 4))
    root = rng.normal(size=(3, 4, 4))
    cov = root @ root.transpose(0, 2, 1)
    z, noise = rng.normal(size=(3, 2)), np.tile(np.diag([0.1, 0.2]), (3, 1, 1))
    m1, c1 = kalman.predict(mean, cov, 0.02)
    m2, c2 = kalman.update(m1, c1, z, noise)
    for k in range(3):
        m, c = filterpy_predict(mean[k], cov[k], F=kalman.transition(0.02), Q=kalman.process_noise(0.02))
        np.testing.assert_allclose(m1[k], m)
        np.testing.assert_allclose(c1[k], c)
        m, c = filterpy_update(m, c, z[k], noise[k], H=np.eye(2, 4))
        np.testing.assert_allclose(m2[k], m)
        np.testing.assert_allclose(c2[k], c, atol=1e-12)


def test_collide_swaps_velocities_head_on() -> None:
    r = TABLE.ball_radius
    mean = np.array([[0.5, 0.5, 1.0, 0.0], [0.5 + 2.1 * r + 0.01, 0.5, 0.0, 0.0]])
    out, hit = kalman.collide(mean, 0.05, np.array([True, False]), TABLE)
    assert hit.all()
    np.testing.assert_allclose(out[:, 2], [0.0, 1.0], atol=1e-9)


def test_collide_bounces_at_the_nose() -> None:
    out, hit = kalman.collide(np.array([[0.04, 1.0, -2.0, 0.3]]), 0.02, np.array([True]), TABLE)
    assert hit[0]
    assert out[0, 0] > TABLE.ball_radius
    assert out[0, 2] == pytest.approx(2.0 * kalman.BOUNCE)


def test_assign_leaves_out_what_costs_more_than_missing() -> None:
    pairs, free_t, free_d = associate.assign(np.array([[1.0, 50.0], [50.0, 40.0]]), missed=16.0)
    assert pairs == [(0, 0)]
    assert free_t.tolist() == [False, True]
    assert free_d.tolist() == [False, True]


@pytest.mark.parametrize("fps", [30, 60])
def test_no_swap_when_balls_meet_head_on(fps: int) -> None:
    """Without any help from looks: the mover stops, the other goes on."""
    tracker = Tracker(TABLE)
    r, v, start = TABLE.ball_radius, 1.5, 0.5
    meet = start + (0.5 - 2 * r) / v
    for k in range(int(1.2 * fps)):
        t = k / fps
        a = 0.3 + max(0.0, min(t, meet) - start) * v
        b = 0.8 + max(0.0, t - meet) * v * 0.9
        tracker.step(look(t, [(0.6, a), (0.6, b)]))
    first, second = tracker.tracks[0], tracker.tracks[1]
    assert first.looks[0][2] == pytest.approx(0.3)
    assert first.mean[1] == pytest.approx(0.8 - 2 * r, abs=0.01)
    assert second.mean[1] > 1.0


def test_missed_and_false_looks_leave_the_tracks_alone() -> None:
    tracker = Tracker(TABLE)
    for k in range(60):
        places = [(0.3, 0.4), (0.9, 2.0)]
        if k % 7 == 3:
            places.pop()
        if k == 31:
            places.append((0.6, 1.2))
        tracker.step(look(k / 30, places))
    known = [t for t in tracker.tracks if t.status is Status.RESTING]
    assert len(known) == 2
    assert not tracker.moving


def test_ball_behind_a_hand_stays_on_the_table() -> None:
    tracker = Tracker(TABLE)
    hidden = np.zeros((10, 5), dtype=bool)
    hidden[1, 1] = True
    for k in range(120):
        places = [(0.9, 2.0)] if 30 < k < 90 else [(0.35, 0.35), (0.9, 2.0)]
        seen = look(k / 30, places)
        if 30 < k < 90:
            seen = Observation(seen.t_s, seen.xy, seen.cov, seen.score, seen.evidence, hidden=hidden)
        tracker.step(seen)
    assert sorted(t.status.value for t in tracker.tracks) == ["resting", "resting"]


@pytest.mark.parametrize("rate", [4.0, 8.0, 30.0])
def test_a_ball_comes_to_rest_for_a_slow_camera_too(rate: float) -> None:
    """A camera of few frames, or one whose frames are dropped: a ball that lies still does not go on moving for good."""
    rng = np.random.default_rng(2)
    tracker = Tracker(TABLE)
    moved = False
    for k in range(round(12 * rate)):
        t = k / rate
        u = min(max(t - 3.0, 0.0), 3.0)
        y = 0.4 + 0.6 * u - 0.1 * u * u  # rolls from 3 s on, and rests from 6 s on
        tracker.step(look(t, [tuple(p) for p in np.array([(0.4, y), (0.9, 2.0)]) + rng.normal(0, 0.0006, (2, 2))]))
        moved = moved or tracker.moving
        assert not (tracker.moving and t > 6.0 + max(0.7, 4.5 / rate))
    assert moved
    assert sorted(tr.status.value for tr in tracker.tracks if tr.status is not Status.TENTATIVE) == [
        "resting",
        "resting",
    ]


def test_a_ball_that_is_missed_has_not_flown_to_a_mark() -> None:
    """A chalk on the rail is seen faintly all the time, and surer just when the struck cue ball is too blurred to be seen."""
    tracker = Tracker(TABLE)
    chalk, cue, other = (1.36, 0.08), (0.11, 0.63), (0.6, 1.9)
    score = np.array([0.9, 0.9, 0.1])
    for k in range(30):
        step = look(k * 0.04, [cue, other, chalk], [0, 5, 1])
        tracker.step(Observation(step.t_s, step.xy, step.cov, score, step.evidence))
    for k in range(30, 34):
        step = look(k * 0.04, [other, chalk], [5, 1])
        tracker.step(Observation(step.t_s, step.xy, step.cov, np.array([0.9, 0.3]), step.evidence))
    struck = next(t for t in tracker.tracks if t.evidence.argmax() == 0)
    assert np.hypot(*(struck.mean[:2] - cue)) < 0.02
    for k in range(34, 40):
        step = look(k * 0.04, [(0.6, 1.74 - 0.01 * k), other, chalk], [0, 5, 1])
        tracker.step(Observation(step.t_s, step.xy, step.cov, np.array([0.9, 0.9, 0.3]), step.evidence))
    stitch(tracker.tracks, 1.0, tracker.replaced_s)
    struck = next(t for t in tracker.tracks if t.evidence.argmax() == 0)
    assert struck.looks[0][1:3] == pytest.approx(cue)
    assert struck.looks[-1][1] == pytest.approx(0.6)
