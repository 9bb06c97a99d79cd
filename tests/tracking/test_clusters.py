"""Balls that lie together: nothing is told of them before the stroke, and of a pack only what can be seen."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

from tests.tracking.staged import TABLE
from tracking.analyse import analyse
from tracking.events import Contact, Strike
from tracking.joint import Kink
from tracking.looks import Looks
from tracking.merged import merged
from tracking.outset import clusters, departure, outsets, wandered
from tracking.packs import Pack, loosened
from tracking.trails import Trail

R = TABLE.ball_radius
SIGMA = 0.0015


def resting(
    track: int, place: tuple[float, float], times: np.ndarray, leaves_s: float = np.inf, v: float = 1.0
) -> Looks:
    rng = np.random.default_rng(track)
    way = np.maximum(times - leaves_s, 0.0) * v
    xy = np.array(place) + np.column_stack([way, 0 * way]) + rng.normal(0, SIGMA, (len(times), 2))
    return Looks(track, times, xy, np.tile(np.eye(2) * SIGMA**2, (len(times), 1, 1)), np.array(place))


def test_one_look_halfway_between_two_that_touch_is_of_both() -> None:
    rests = np.array([[0.5, 0.5], [0.5, 0.5 + 2 * R], [0.9, 0.9]])
    noise = np.tile(np.eye(2) * SIGMA**2, (2, 1, 1))
    assert merged(rests, np.array([[0.5, 0.5 + R], [0.9, 0.9]]), noise, R) == [(0, 1, 0)]
    # both have looks of their own: what lies between is none of theirs
    three = np.array([[0.5, 0.5], [0.5, 0.5 + 2 * R], [0.5, 0.5 + R]])
    assert merged(rests, three, np.tile(np.eye(2) * SIGMA**2, (3, 1, 1)), R) == []
    # a ball that has moved by half its width is not halfway
    assert merged(rests, np.array([[0.5 + R, 0.5]]), noise[:1], R) == []


def test_a_ball_sets_out_after_its_last_look_at_rest() -> None:
    times = np.arange(0, 2, 1 / 60)
    left = departure(resting(1, (0.3, 0.3), times, leaves_s=1.0), 0.5)
    assert left is not None
    assert 0.98 < left < 1.01
    assert departure(resting(1, (0.3, 0.3), times), 0.5) is None


def test_rack_that_hops_about_before_the_stroke_has_not_moved() -> None:
    times = np.arange(0, 2, 1 / 60)
    looks = {0: resting(0, (0.3, 0.3), times, leaves_s=1.2, v=4.0)}
    for k in range(4):
        looks[k + 1] = resting(k + 1, (0.6, 1.5 + 2 * R * k), times, leaves_s=1.5)
    hop = looks[2].xy.copy()
    hop[(times > 0.8) & (times < 0.84)] += (0.0, R)  # two looks, seen as one with its neighbour
    looks[2] = Looks(2, times, hop, looks[2].cov, looks[2].rest)
    first, since = outsets(looks, 0.8, R)
    assert 1.18 < first < 1.22
    assert all(1.45 < since[b] < 1.52 for b in (1, 2, 3, 4))


def test_a_ball_moved_before_the_stroke_did_move() -> None:
    times = np.arange(0, 2, 1 / 60)
    looks = {0: resting(0, (0.3, 0.3), times, leaves_s=1.2, v=4.0), 1: resting(1, (0.9, 1.5), times)}
    brushed = looks[1].xy.copy()
    brushed[times > 0.9] += (0.012, 0.0)
    looks[1] = Looks(1, times, brushed, looks[1].cov, looks[1].rest)
    assert outsets(looks, 0.9, R)[0] == 0.9


def test_a_ball_nobody_saw_at_rest_may_have_gone_about() -> None:
    times = np.arange(0, 2, 1 / 60)
    seen = resting(1, (0.3, 0.3), times, leaves_s=0.5)
    unknown = Looks(1, times, seen.xy, seen.cov, None)
    assert wandered(unknown, 1.0)
    assert not wandered(unknown, 0.4)


def test_clusters_are_joined_by_short_ways() -> None:
    places = {1: np.array([0.0, 0.0]), 2: np.array([0.06, 0.0]), 3: np.array([0.12, 0.0]), 4: np.array([1.0, 0.0])}
    assert sorted(clusters(places, 0.07)) == [[1, 2, 3], [4]]


def test_a_pack_whose_opening_another_pack_has_taken_is_left_as_it_is() -> None:
    kinks = [Kink("rail", 1.05, (1,), (0, R, 1.0))]
    trails = {b: Trail(b, [], np.array([0.6, 1.5 + 2 * R * b])) for b in range(6)}
    assert loosened(Pack(frozenset(range(1, 6)), 0, 1.0), trails, kinks, 1 / 60, R) == kinks


sys.path.insert(0, str(Path(__file__).parent))


@pytest.mark.parametrize(("seed", "eye"), [(96020, "overhead"), (96020, "oblique")])
def test_a_break_is_told_by_its_first_contact(seed: int, eye: str) -> None:
    """Rack balls seen as one, looks that stray and a cue ball at 12 m/s: one shot, by the cue ball, at the head ball."""
    pytest.importorskip("pooltool", reason="the extra 'render' (pooltool-billiards) is not installed")
    from simulated import OBLIQUE_30, OVERHEAD_60, observe, simulate

    scene = simulate(seed, breaks=True)
    found = analyse(observe(scene, OVERHEAD_60 if eye == "overhead" else OBLIQUE_30, seed), scene.table)
    shot = max(found.shots, key=lambda s: len(s.shot.events)).shot
    strike = next(e for e in shot.events if isinstance(e, Strike))
    said = [e for e in shot.events if isinstance(e, Contact) and e.p >= 0.5]
    first = min(said, key=lambda e: e.t_s)
    truth = next(e for e in scene.truth["shots"][0]["events"] if e["kind"] == "contact")
    assert abs(strike.t_s - scene.start_s) < 0.01
    assert sorted(first.balls) == truth["balls"]
    assert first.p > 0.8
    assert abs(first.t_s - truth["t_s"]) < 0.005
    assert not [e for e in said if 0.003 < e.t_s - first.t_s < 0.1]  # nobody can tell who met whom there


@pytest.mark.parametrize("seed", [96009, 96011])
def test_a_push_passed_on_among_balls_that_lie_close(seed: int) -> None:
    """0 to 2 to 14 within a millisecond; and a ball struck so near its neighbours that its way there is hardly seen."""
    pytest.importorskip("pooltool", reason="the extra 'render' (pooltool-billiards) is not installed")
    from simulated import OBLIQUE_30, OVERHEAD_60, observe, simulate

    scene = simulate(seed)
    found = analyse(observe(scene, OVERHEAD_60 if seed == 96009 else OBLIQUE_30, seed), scene.table).shots
    assert len(found) == 1
    said = [e for e in found[0].shot.events if isinstance(e, Contact) and e.p >= 0.5]
    wanted = [e for e in scene.truth["shots"][0]["events"] if e["kind"] == "contact"][:2]
    for got, want in zip(said, wanted, strict=False):
        assert sorted(got.balls) == want["balls"]
        assert abs(got.t_s - want["t_s"]) < 0.004
    assert len(said) >= len(wanted)


@pytest.mark.parametrize(
    ("seed", "pairs"),
    [
        (140013, [[0, 2], [1, 2]]),  # a look or two of noise before the stroke: the shot was taken for a hand's work
        (140012, [[0, 1], [1, 4]]),  # frozen to the cue ball
        (140017, [[0, 14]]),  # the same in a cluster; the cue ball hardly moves
        (140016, [[0, 5]]),  # so thin that the ball creeps off
    ],
)
def test_who_set_out_first(seed: int, pairs: list[list[int]]) -> None:
    pytest.importorskip("pooltool", reason="the extra 'render' (pooltool-billiards) is not installed")
    from simulated import OVERHEAD_60, observe, simulate

    scene = simulate(seed)
    found = analyse(observe(scene, OVERHEAD_60, seed), scene.table).shots
    assert len(found) == 1
    events = found[0].shot.events
    assert next(e for e in events if isinstance(e, Strike)).ball == 0
    said: list[list[int]] = []
    for event in events:
        if isinstance(event, Contact) and event.p >= 0.5 and sorted(event.balls) not in said:
            said.append(sorted(event.balls))
    assert said[: len(pairs)] == pairs
