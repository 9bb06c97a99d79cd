"""Whole shots: simulated ones read right, nonsense survived, hands and partial clips told apart."""

import numpy as np
import pytest

from calibration.table import Table
from tracking.analyse import analyse
from tracking.events import Contact, Pocketed, RailHit, Strike
from tracking.observations import Observation
from tracking.watcher import ShotWatcher

TABLE = Table()


def observation(
    t: float, places: np.ndarray, numbers: list[int], rng: np.random.Generator, sigma: float = 0.0015
) -> Observation:
    n = len(places)
    evidence = rng.normal(-5.0, 0.5, (n, 16))
    evidence[np.arange(n), numbers] = 0.0
    xy = np.asarray(places).reshape(n, 2) + rng.normal(0, sigma, (n, 2))
    return Observation(t, xy, np.tile(np.eye(2) * sigma**2, (n, 1, 1)), np.full(n, 0.9), evidence)


def rolling_shot(fps: float = 60.0, until_s: float = 6.0, begin_s: float = 0.0) -> list[Observation]:
    """Ball 0 rolls at 1.2 m/s up the table from 1.0 s; 1.0 m on it stops dead on ball 3, which rolls away; both by closed form."""
    rng = np.random.default_rng(2)
    roll, v, r = 0.1, 1.2, TABLE.ball_radius
    way = 1.0
    hit = 1.0 + (v - np.sqrt(v**2 - 2 * roll * way)) / roll
    v2 = np.sqrt(v**2 - 2 * roll * way)
    out = []
    for k in range(int(begin_s * fps), int(until_s * fps)):
        t = k / fps + 0.004
        a = min(max(t - 1.0, 0.0), hit - 1.0)
        b = min(max(t - hit, 0.0), v2 / roll)
        y0 = 0.5 + v * a - 0.5 * roll * a * a
        y3 = 0.5 + way + 2 * r + v2 * b - 0.5 * roll * b * b
        if y3 > TABLE.length_m - r:
            y3 = 2 * (TABLE.length_m - r) - y3
        out.append(observation(t, np.array([[0.4, y0], [0.4, y3], [0.9, 0.7]]), [0, 3, 11], rng))
    return out


def contact_s() -> float:
    return 1.0 + (1.2 - np.sqrt(1.2**2 - 0.2)) / 0.1


@pytest.mark.parametrize("fps", [30.0, 60.0])
def test_straight_shot(fps: float) -> None:
    found = analyse(rolling_shot(fps), TABLE)
    assert len(found.shots) == 1
    shot = found.shots[0].shot
    strikes = [e for e in shot.events if isinstance(e, Strike)]
    contacts = [e for e in shot.events if isinstance(e, Contact) and e.p >= 0.5]
    rails = [e for e in shot.events if isinstance(e, RailHit) and e.p >= 0.5]
    assert len(strikes) == 1
    assert strikes[0].ball == 0
    assert strikes[0].t_s == pytest.approx(1.0, abs=0.01)
    assert [c.balls for c in contacts] == [(0, 3)]
    assert contacts[0].t_s == pytest.approx(contact_s(), abs=0.006)
    assert [(r.ball, r.rail) for r in rails] == [(3, "foot")]
    assert not [e for e in shot.events if isinstance(e, Pocketed)]
    assert shot.start[11] == pytest.approx((0.9, 0.7), abs=0.002)


def test_live_hands_out_the_same_shot() -> None:
    stream = rolling_shot(until_s=14.0)
    watcher = ShotWatcher(TABLE)
    live = [seen for look in stream for seen in watcher.push(look)]
    recorded = analyse(stream, TABLE).shots
    assert [s.shot.events for s in live] == [s.shot.events for s in recorded]
    assert max(len(t.looks) for t in watcher.recorder.tracker.tracks) < 2000


def test_cut_off_shot_is_partial() -> None:
    assert analyse(rolling_shot(until_s=2.5), TABLE).shots[0].shot.partial == "end"
    late = analyse(rolling_shot(begin_s=1.3), TABLE).shots
    assert late[0].shot.partial in ("start", "both")
    assert not [e for e in late[0].shot.events if isinstance(e, Strike)]


def test_ball_carried_by_hand_is_no_shot() -> None:
    rng = np.random.default_rng(4)
    stream = []
    for k in range(240):
        t = k / 60
        s = min(max((t - 1.0) / 1.5, 0.0), 1.0)
        x = 0.3 + 0.5 * (0.5 - 0.5 * np.cos(np.pi * s)) + 0.05 * np.sin(9 * s) * (s < 1)
        stream.append(observation(t, np.array([[x, 0.5], [0.9, 2.0]]), [0, 5], rng))
    found = analyse(stream, TABLE)
    assert found.shots == []
    assert [b.kind for b in found.between] == ["moved"]


@pytest.mark.parametrize("seed", range(6))
def test_nonsense_is_survived(seed: int) -> None:
    rng = np.random.default_rng(seed)
    stream = []
    t = 0.0
    for _ in range(150):
        t += float(rng.choice([0.0, 0.016, 0.033, 0.5], p=[0.05, 0.5, 0.4, 0.05]))
        n = int(rng.integers(0, 9))
        places = rng.uniform([-0.1, -0.1], [TABLE.width_m + 0.1, TABLE.length_m + 0.1], (n, 2))
        if n and rng.random() < 0.1:
            places[0] = np.nan
        seen = observation(t, places, [int(v) for v in rng.integers(0, 16, n)], rng)
        stream.append(seen)
    for seen in analyse(stream, TABLE).shots:
        assert all(np.isfinite(e.t_s) and 0 <= e.p <= 1 for e in seen.shot.events)
