"""A break read while its last balls roll out says what it says when it is read at its end alone."""

import sys
from dataclasses import replace
from pathlib import Path as File

import numpy as np
import pytest

from tracking.draft import Draft
from tracking.events import Contact, Pocketed, Shot, Strike
from tracking.joint import Fit, Kink, Path
from tracking.looks import Looks
from tracking.watcher import ShotWatcher

sys.path.insert(0, str(File(__file__).parent))


def looks(track: int, until_s: float = 2.0) -> Looks:
    t = np.arange(0.0, until_s, 0.1)
    return Looks(track, t, np.column_stack([t, t]), np.tile(np.eye(2) * 1e-6, (len(t), 1, 1)), None)


def draft() -> Draft:
    kinks = [Kink("strike", 0.2, (1,)), Kink("contact", 0.5, (1, 2)), Kink("rail", 0.95, (1,))]
    paths = {b: Path(b, np.zeros(0), np.zeros((0, 2)), np.zeros((0, 2, 2)), 0.0, np.arange(24.0).reshape(4, 6)[:n]) for b, n in ((1, 4), (2, 2))}  # fmt: skip
    fit = Fit(paths, kinks, 2.0, 0.1, 0.0, np.zeros((3, 3)), {}, np.ones(3), np.ones(3))
    return Draft({1: looks(1, 1.0), 2: looks(2, 1.0)}, fit, (), (), 0.95)


def test_it_holds_as_long_as_the_looks_go_on() -> None:
    d = draft()
    now = {1: looks(1), 2: looks(2)}
    assert d.holds(now)
    assert d.holds(now | {3: replace(looks(3), times=looks(3).times + 1.05)})  # came up since
    assert not d.holds(now | {3: looks(3)})  # was there before: two pieces were joined
    assert not d.holds({1: looks(1)})
    other = looks(2)
    other.xy[3] += 0.1  # tracks were exchanged
    assert not d.holds({1: looks(1), 2: other})


def test_its_end_is_left_open() -> None:
    d = draft()
    later = Kink("contact", 1.4, (1, 2))
    kept = d.carried_on([Kink("contact", 0.6, (1, 2)), later])
    assert [k.t_s for k in kept] == [0.2, 0.5, 1.4]
    assert len(d.arcs(1)) == 3  # before the stroke, after it, after the contact; what the rail did is found anew
    assert len(d.arcs(2)) == 2
    assert len(d.arcs(7)) == 0


def read(seed: int, *, drafts: bool) -> tuple[Shot, bool]:
    from simulated import OVERHEAD_60, observe, simulate

    scene = simulate(seed, breaks=True)
    watcher = ShotWatcher(scene.table)
    found, drafted = [], False
    for look in observe(scene, OVERHEAD_60, seed):
        found += watcher.push(look)
        if drafts:
            watcher.draft()
            drafted |= watcher.recorder._draft is not None
    found += watcher.flush()
    assert len(found) == 1
    return found[0].shot, drafted


def test_a_ball_that_a_draft_saw_move_may_turn_out_to_have_lain_there() -> None:
    pytest.importorskip("pooltool", reason="the extra 'render' (pooltool-billiards) is not installed")
    from simulated import OVERHEAD_60, observe, simulate

    scene = simulate(140021, breaks=True)
    watcher = ShotWatcher(scene.table)
    found = []
    for look in observe(scene, OVERHEAD_60, 140021):
        found += watcher.push(look)
        if watcher.draft():
            paths = watcher.recorder._draft.fit.paths
            for ball, path in paths.items():
                if path.resting:
                    arcs = path.arcs.copy()
                    arcs[0, 2:] = 0.05
                    paths[ball] = replace(path, resting=False, arcs=arcs)
    found += watcher.flush()
    plain, _ = read(140021, drafts=False)
    assert len(found) == 1
    assert {e.ball for e in plain.events if isinstance(e, Pocketed)} == {e.ball for e in found[0].shot.events if isinstance(e, Pocketed)}  # fmt: skip


def test_a_break_is_read_alike_with_and_without() -> None:
    pytest.importorskip("pooltool", reason="the extra 'render' (pooltool-billiards) is not installed")
    plain, none = read(140021, drafts=False)
    early, some = read(140021, drafts=True)
    assert not none
    assert some
    for kind in (Strike, Contact):
        a, b = (next(e for e in s.events if isinstance(e, kind)) for s in (plain, early))
        assert a.t_s == pytest.approx(b.t_s, abs=0.002)
    assert {e.ball for e in plain.events if isinstance(e, Pocketed)} == {e.ball for e in early.events if isinstance(e, Pocketed)}  # fmt: skip
    assert set(plain.end) == set(early.end)
