"""Amends a fitted reading: tries contacts and cushions that the first look left out, on the few balls and arcs concerned.

Where fitted paths come a diameter apart, or a radius from a nose, an impact may have been too soft, too early or too close to
another to show as a kink of its own. Each is tried: the arcs around it are fitted without and with it, and it stays when the
looks are that much likelier with it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

import numpy as np

from calibration.table import Table
from tracking.joint import Fit, Kink, Path, solve
from tracking.motion import fly
from tracking.observations import Floats
from tracking.path import causeless

GAIN = 9.0  # cost that one more impact must save: with five numbers more and many tried, chance saves less
CAUSELESS = 40.0  # cost of a contact of two balls at rest, which nothing brought about
ORDER = 1.0  # the same for the other order of two contacts, which is as simple
MERCY = 10.0  # cost that naming an unexplained kink may bring: every kink has a cause
STRAY = 0.05  # of its cost, by which a reading may seem worse on the way
REACH = 2.2  # frames: impacts of the same balls so close are fitted together
AROUND_S = 0.6  # looks further away say nothing more
CROWD = 6  # most balls fitted together
MOST = 16  # impacts tried in one round
PASSING = 10  # steps of a fit on the way to the last
LAST = 25  # of the last
COMES_BACK_S = 0.05  # most that a ball pushed to a cushion is on its way there for the two to meet again
WARM = 0.75  # of its speed into a cushion a ball keeps, at first guess


@dataclass(slots=True)
class Sketch:
    """A reading to be changed: arcs and kinks, as a fit left them."""

    paths: dict[int, Path]
    kinks: list[Kink]
    slide: float
    roll: float

    @classmethod
    def of(cls, fit: Fit) -> Sketch:
        return cls(
            {b: replace(p, arcs=p.arcs.copy()) for b, p in fit.paths.items()}, list(fit.kinks), fit.slide, fit.roll
        )

    def kinks_of(self, ball: int) -> list[Kink]:
        return sorted((k for k in self.kinks if ball in k.balls), key=lambda k: k.t_s)

    def state(self, ball: int, t_s: float) -> Floats:
        """(6,) place, velocity and rolling velocity of a ball."""
        mine = self.kinks_of(ball)
        j = sum(k.t_s <= t_s for k in mine)
        path = self.paths[ball]
        begin = mine[j - 1].t_s if j else path.begin_s
        flight = fly(path.arcs[[j]], np.array([max(t_s - begin, 0.0)]), self.slide, self.roll)
        return np.concatenate([flight.x[0], flight.v[0], flight.r[0]])

    def without(self, kink: Kink) -> Sketch:
        """The sketch less one kink; each of its balls keeps the arc before it."""
        paths = dict(self.paths)
        for b in kink.balls:
            j = self.kinks_of(b).index(kink)
            paths[b] = replace(paths[b], arcs=np.delete(paths[b].arcs, j + 1, axis=0))
        return Sketch(paths, [k for k in self.kinks if k is not kink], self.slide, self.roll)

    def plus(self, kink: Kink, after: dict[int, Floats]) -> Sketch:
        """The sketch and one kink; ``after`` (6,) the state of each of its balls behind it."""
        paths = dict(self.paths)
        for b in kink.balls:
            j = sum(k.t_s <= kink.t_s for k in self.kinks_of(b))
            paths[b] = replace(paths[b], arcs=np.insert(paths[b].arcs, j + 1, after[b], axis=0))
        return Sketch(paths, sorted([*self.kinks, kink], key=lambda k: k.t_s), self.slide, self.roll)


@dataclass(frozen=True, slots=True)
class Trial:
    """An impact to be tried: added, or put in the place of kinks that nothing explained.

    ``swapped``: two contacts of one ball, in the other order (the fit itself keeps the order it was given).
    ``change``: another reading, made of ``replaced`` kinks; ``name`` tells such readings apart.
    ``squeezed``: the ball of a contact that lies at ``wall``: it cannot give way, so it bounces, and may meet the other again.
    """

    kink: Kink
    instead: tuple[Kink, ...] = ()
    squeezed: int | None = None
    wall: tuple[int, float, float] | None = None
    swapped: tuple[Kink, Kink] | None = None
    replaced: tuple[Kink, ...] = ()
    change: Callable[[Sketch], Sketch] | None = None
    name: str = ""


def pushed(state: Floats, velocity: Floats, spin: float) -> Floats:
    """(6,) the state with another velocity; ``spin``: the part of the spin that goes through."""
    rolling = 5 / 7 * velocity + spin * (state[4:] - 5 / 7 * state[2:4])
    return np.concatenate([state[:2], velocity, rolling])


def outcome(sketch: Sketch, trial: Trial) -> Sketch:
    """The sketch with a trial's impact, its balls sent off as momentum has it."""
    if trial.squeezed is not None:
        return squeeze(sketch, trial)
    if trial.swapped is not None:
        return swap(sketch, *trial.swapped)
    if trial.change is not None:
        return trial.change(sketch)
    kink = trial.kink
    known: dict[int, Floats] = {}
    for old in trial.instead:
        for b in old.balls:
            j = sketch.kinks_of(b).index(old)
            known[b] = sketch.paths[b].arcs[j + 1]
        sketch = sketch.without(old)
    states = {b: sketch.state(b, kink.t_s) for b in kink.balls}
    after: dict[int, Floats] = {}
    if kink.kind == "contact":
        a, b = kink.balls
        line = states[b][:2] - states[a][:2]
        axis = line / max(float(np.hypot(line[0], line[1])), 1e-6)
        if a in known or b in known:
            one, other = (a, b) if a in known else (b, a)
            jump = known[one][2:4] - states[one][2:4]
            after[one] = known[one]
            after[other] = known.get(other, pushed(states[other], states[other][2:4] - jump, 1.0))
        else:
            push = max(float((states[a][2:4] - states[b][2:4]) @ axis), 0.0) * axis
            after[a] = pushed(states[a], states[a][2:4] - push, 1.0)
            after[b] = pushed(states[b], states[b][2:4] + push, 1.0)
    else:
        b = kink.balls[0]
        velocity = states[b][2:4].copy()
        if kink.wall is not None and velocity[kink.wall[0]] * kink.wall[2] < 0:
            velocity[kink.wall[0]] *= -WARM
        after[b] = known.get(b, pushed(states[b], velocity, 0.6))
    return sketch.plus(kink, after)


def swap(sketch: Sketch, first: Kink, second: Kink) -> Sketch:
    """The sketch with two contacts in the other order; behind both the balls go as they went."""
    finals = {
        b: sketch.paths[b].arcs[sketch.kinks_of(b).index(k) + 1] for k in (first, second) for b in k.balls
    }  # the later one's, where a ball is in both
    sketch = sketch.without(first).without(second)
    for kink, t_s in ((second, first.t_s), (first, second.t_s)):
        sketch = outcome(sketch, Trial(replace(kink, t_s=t_s)))
    return ending(sketch, finals, second.t_s)


def ending(sketch: Sketch, finals: dict[int, Floats], t_s: float) -> Sketch:
    """The sketch with balls' velocities as given on the arcs that hold at ``t_s``."""
    paths = dict(sketch.paths)
    for b, arc in finals.items():
        j = sum(k.t_s <= t_s for k in sketch.kinks_of(b))
        arcs = paths[b].arcs.copy()
        arcs[j, 2:] = arc[2:]
        paths[b] = replace(paths[b], arcs=arcs)
    return Sketch(paths, sketch.kinks, sketch.slide, sketch.roll)


def squeeze(sketch: Sketch, trial: Trial) -> Sketch:
    """The sketch with a contact against a ball at a cushion: contact, cushion, and contact again if they close in again."""
    assert trial.wall is not None
    assert trial.squeezed is not None
    finals: dict[int, Floats] = {}
    for old in sorted(trial.instead, key=lambda k: k.t_s):
        for b in old.balls:
            finals[b] = sketch.paths[b].arcs[sketch.kinks_of(b).index(old) + 1]
    for old in trial.instead:
        sketch = sketch.without(old)
    c, t = trial.squeezed, trial.kink.t_s
    a = next(b for b in trial.kink.balls if b != c)
    axis_w, nose, sign = trial.wall
    sketch = outcome(sketch, Trial(trial.kink))
    state = sketch.state(c, t + 1e-6)
    into = -state[2 + axis_w] * sign
    gap = max((state[axis_w] - nose) * sign, 0.0)
    if into < 0.01 or gap / into > COMES_BACK_S:
        return sketch
    when = t + max(gap / into, 1e-4)
    sketch = outcome(sketch, Trial(Kink("rail", when, (c,), trial.wall, p=trial.kink.p)))
    mine, theirs = sketch.state(a, when + 1e-6), sketch.state(c, when + 1e-6)
    if float((mine[2:4] - theirs[2:4]) @ (theirs[:2] - mine[:2])) > 0:
        sketch = outcome(sketch, Trial(Kink("contact", when + 1e-4, trial.kink.balls, p=trial.kink.p)))
    return ending(sketch, finals, when + 2e-4)


@dataclass(slots=True)
class Cutting:
    """The arcs around an impact: a small problem of its own, and where its arcs lie in the whole."""

    paths: dict[int, Path]
    kinks: list[Kink]
    first: dict[int, int]


def cut_out(sketch: Sketch, balls: Iterable[int], t_s: float, reach_s: float) -> Cutting | None:
    """The arcs of ``balls``, and of all that meet them within ``reach_s``; None where that is a crowd."""
    group = set(balls)
    while True:
        near = [k for k in sketch.kinks if abs(k.t_s - t_s) < reach_s and group & set(k.balls)]
        wider = group | {b for k in near for b in k.balls}
        if len(wider) > CROWD:
            return None
        if wider == group:
            break
        group = wider
    paths: dict[int, Path] = {}
    first: dict[int, int] = {}
    for b in group:
        mine = sketch.kinks_of(b)
        inside = [i for i, k in enumerate(mine) if k in near]
        i0 = inside[0] if inside else sum(k.t_s <= t_s for k in mine)
        i1 = inside[-1] + 1 if inside else i0
        path = sketch.paths[b]
        begin = mine[i0 - 1].t_s if i0 else path.begin_s
        end = mine[i1].t_s if i1 < len(mine) else np.inf
        on = (path.times < end) & (path.times > begin if i0 else True) & (np.abs(path.times - t_s) < AROUND_S)
        if path.resting and i0 == 0:
            on[:1] = True  # the mean of the looks at rest
        paths[b] = Path(
            b, path.times[on], path.xy[on], path.cov[on], begin, path.arcs[i0 : i1 + 1], path.resting and i0 == 0
        )
        first[b] = i0
    return Cutting(paths, near, first)


class Amender:
    """Tries impacts on a sketch. ``exposure_s``, ``frame_s`` and ``table`` as in ``tracking.reconstruct``."""

    def __init__(self, table: Table, frame_s: float, exposure_s: float, lying: Callable[[int, float], Path]) -> None:
        self.table, self.frame, self.exposure, self.lying = table, frame_s, exposure_s, lying
        self.refused: list[tuple[str, tuple[int, ...], float]] = []

    def amend(self, fit: Fit, trials: list[Trial]) -> Sketch | None:
        """The reading with those impacts that the looks bear out; None where there are none."""
        sketch, changed = Sketch.of(fit), False
        for trial in trials[:MOST]:
            if any(old not in sketch.kinks for old in trial.instead):
                continue
            if any(k not in sketch.kinks for k in (*(trial.swapped or ()), *trial.replaced)):
                continue
            if (
                trial.squeezed is None
                and trial.swapped is None
                and trial.change is None
                and any(self._same(trial.kink, k) for k in sketch.kinks)
            ):
                continue
            better = self.attempt(sketch, trial)
            if better is None:
                self.refused.append((self._name(trial), trial.kink.balls, trial.kink.t_s))
            else:
                sketch, changed = better, True
        return sketch if changed else None

    @staticmethod
    def _name(trial: Trial) -> str:
        if trial.swapped is not None:
            return "swap"
        if trial.name:
            return trial.name
        return trial.kink.kind if trial.squeezed is None else "squeeze"

    def tried(self, trial: Trial) -> bool:
        """Whether such an impact was tried in vain."""
        kink = trial.kink
        return any(
            kind == self._name(trial) and balls == kink.balls and abs(t - kink.t_s) < 2 * self.frame
            for kind, balls, t in self.refused
        )

    def refuse(self, kinks: Iterable[Kink]) -> None:
        """Impacts that turned out to push nothing are not tried again."""
        self.refused += [(k.kind, k.balls, k.t_s) for k in kinks]

    def _same(self, a: Kink, b: Kink) -> bool:
        return a.kind == b.kind and a.balls == b.balls and a.wall == b.wall and abs(a.t_s - b.t_s) < 0.5 * self.frame

    def widened(self, sketch: Sketch, kink: Kink) -> Sketch:
        """The sketch with all balls of an impact in it, those that lay still as well."""
        missing = {b: self.lying(b, kink.t_s) for b in kink.balls if b not in sketch.paths}
        return Sketch(sketch.paths | missing, sketch.kinks, sketch.slide, sketch.roll) if missing else sketch

    def changed(self, fit: Fit, less: set[int], more: list[Trial]) -> Sketch:
        """The reading without some of its kinks (by index) and with other impacts, untried."""
        sketch = Sketch.of(fit)
        for trial in more:
            sketch = outcome(self.widened(sketch, trial.kink), trial)
        gone = [k for i, k in enumerate(fit.kinks) if i in less]
        for kink in gone:
            if kink in sketch.kinks:
                sketch = sketch.without(kink)
        return sketch

    def settle(
        self, sketch: Sketch, prior: tuple[float, float, float, float], again: int = 0, steps: int = LAST
    ) -> Fit:
        """The whole of a sketch fitted together, from where it is; only ``again`` to the last, in so many ``steps``."""
        return solve(
            sketch.paths, sketch.kinks, radius=self.table.ball_radius, exposure_s=self.exposure, prior=prior,
            loose_s=0.7 * self.frame, again=again, warm=True, steps=steps if again else PASSING, tolerance=0.05 if again else 1.0,
        )  # fmt: skip

    def settle_near(self, sketch: Sketch, prior: tuple[float, float, float, float], fit: Fit) -> Fit | None:
        """As `settle`, in passing; None where that ends far above ``fit``, though what was changed fitted well by itself: in a crowd of
        impacts the whole may fall into a valley that it does not leave."""
        limit = fit.cost + max(MERCY, STRAY * abs(fit.cost))
        found = self.settle(sketch, prior)
        if found.cost > limit:
            found = self.settle(Sketch.of(found), prior, again=1)
        return found if found.cost <= limit else None

    def attempt(self, sketch: Sketch, trial: Trial) -> Sketch | None:
        """The sketch with the trial's impact, if the arcs around it fit so much better."""
        t = trial.kink.t_s
        base = self.widened(sketch, trial.kink)
        reach = REACH * self.frame
        if trial.replaced:
            t = float(np.mean([k.t_s for k in trial.replaced]))
            reach += max(abs(k.t_s - t) for k in trial.replaced)
        balls = {*trial.kink.balls, *(b for k in trial.replaced for b in k.balls)}
        before = cut_out(base, balls, t, reach)
        if before is None:
            return None
        changed = outcome(base, trial)
        if changed is base:
            return None
        after = cut_out(changed, before.paths, t, reach)
        if after is None or set(after.paths) != set(before.paths):
            return None
        prior = (sketch.slide, sketch.roll, 0.05, 0.004)
        options = {"radius": self.table.ball_radius, "exposure_s": self.exposure, "prior": prior}
        without = solve(before.paths, before.kinks, loose_s=0.7 * self.frame, steps=6, warm=True, **options)  # type: ignore[arg-type]
        with_it = solve(after.paths, after.kinks, loose_s=0.7 * self.frame, steps=16, **options)  # type: ignore[arg-type]
        named = any(old.kind == "free" for old in trial.instead)
        alike = trial.swapped is not None or trial.change is not None
        least = -MERCY if named else ORDER if alike else GAIN
        saved = without.cost - with_it.cost
        for part, sign in ((before, 1), (after, -1)):
            alone = [k for k in causeless(part.kinks, part.paths) if k.kind == "contact" and not k.crowd]
            saved += sign * CAUSELESS * len(alone)
        if saved < least:
            return None
        return splice(changed, after, with_it)


def splice(sketch: Sketch, part: Cutting, fit: Fit) -> Sketch:
    """The sketch with a part's fitted arcs and times put in."""
    paths = dict(sketch.paths)
    for b, path in fit.paths.items():
        arcs = paths[b].arcs.copy()
        arcs[part.first[b] : part.first[b] + len(path.arcs)] = path.arcs
        paths[b] = replace(paths[b], arcs=arcs)
    new = {id(old): fresh for old, fresh in zip(part.kinks, fit.kinks, strict=True)}
    kinks = sorted((new.get(id(k), k) for k in sketch.kinks), key=lambda k: k.t_s)
    return Sketch(paths, kinks, sketch.slide, sketch.roll)
