"""Other readings of a push among balls that lie close together: passed on by one to the next, or begun by a ball too near to be seen coming."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from tracking.amend import Sketch, Trial, ending, outcome, pushed
from tracking.checks import uncaused
from tracking.joint import Fit, Kink
from tracking.observations import Floats

CLOSE = 0.012  # metres between balls one of which may have passed a push on to the other at once
WITHIN = 3.0  # frames between contacts that may be one push passed on
EARLY = 6.0  # frames too early at which a contact of two balls at rest may be read: nothing pins it down
NEAR_BY = 3.5  # frames of a stroke before a contact, in which its approach is hardly seen
SLOWEST = 0.1  # m/s


def relays(fit: Fit, frame_s: float, places: Callable[[int, Floats], Floats], radius: float) -> list[Trial]:
    """Where a ball met two others that lie close: it may have met one, which met the other; and the reverse of that.

    Parameters
    ----------
    places : (n, 2) of a ball at times (n,).
    """
    contacts = sorted((k for k in fit.kinks if k.kind == "contact" and not k.crowd), key=lambda k: k.t_s)
    out = []
    for i, one in enumerate(contacts):
        for two in contacts[i + 1 :]:
            shared = set(one.balls) & set(two.balls)
            if two.t_s - one.t_s > (EARLY if uncaused(fit, one) else WITHIN) * frame_s or len(shared) != 1:
                continue
            m = shared.pop()
            ends = [next(b for b in k.balls if b != m) for k in (one, two)]
            t = np.linspace(one.t_s - 0.5 * frame_s, two.t_s + 0.5 * frame_s, 13)
            gap = float(np.hypot(*(places(ends[0], t) - places(ends[1], t)).T).min()) - 2 * radius
            if gap > CLOSE:
                continue
            for via, to in (ends, ends[::-1]):
                for pairs in (((m, via), (via, to)), ((via, to), (m, via))):
                    out.append(Trial(_contact(*pairs[1], two.t_s), replaced=(one, two), change=_relay(one, two, pairs), name=f"relay{pairs}"))  # fmt: skip
    return out


def approaches(fit: Fit, frame_s: float, radius: float) -> list[Trial]:
    """Where balls at rest set out with nobody to send them, just after a stroke beside them: the struck ball met one of them."""
    out = []
    for strike in (k for k in fit.kinks if k.kind == "strike"):
        m = strike.balls[0]
        if m not in fit.paths or not fit.paths[m].resting:
            continue
        for kink in fit.kinks:
            near = -EARLY * frame_s < kink.t_s - strike.t_s < NEAR_BY * frame_s
            if kink.kind not in ("contact", "free") or kink.crowd or m in kink.balls or not near:
                continue
            if not uncaused(fit, kink):
                continue
            for b in kink.balls:
                instead = (kink,) if kink.kind == "free" else ()
                out.append(Trial(_contact(m, b, kink.t_s), replaced=(strike, kink), change=_approach(strike, kink, b, radius), instead=instead, name=f"approach{m}-{b}"))  # fmt: skip
    return out


def _contact(a: int, b: int, t_s: float) -> Kink:
    return Kink("contact", t_s, (min(a, b), max(a, b)), p=0.9)


def _relay(one: Kink, two: Kink, pairs: tuple[tuple[int, int], tuple[int, int]]) -> Callable[[Sketch], Sketch]:
    def change(sketch: Sketch) -> Sketch:
        finals = {b: sketch.paths[b].arcs[sketch.kinks_of(b).index(k) + 1] for k in (one, two) for b in k.balls}
        t_s = 0.5 * (one.t_s + two.t_s)
        sketch = sketch.without(one).without(two)
        sketch = outcome(sketch, Trial(_contact(*pairs[0], t_s)))
        sketch = outcome(sketch, Trial(_contact(*pairs[1], t_s + 1e-4)))
        return ending(sketch, finals, t_s + 1e-4)

    return change


def _approach(strike: Kink, kink: Kink, b: int, radius: float) -> Callable[[Sketch], Sketch]:
    def change(sketch: Sketch) -> Sketch:
        m = strike.balls[0]
        gone = {c: sketch.paths[c].arcs[sketch.kinks_of(c).index(kink) + 1] for c in kink.balls}
        momentum = np.sum([arc[2:4] for arc in gone.values()], axis=0)
        t_s = kink.t_s
        after = sketch.state(m, max(t_s, strike.t_s) + 1e-5)
        v = after[2:4] + momentum
        speed, size = float(np.hypot(*v)), float(np.hypot(*momentum))
        if speed < SLOWEST or size < SLOWEST:
            return sketch
        rest = sketch.paths[m].arcs[0]
        place = sketch.paths[b].arcs[0][:2] - 2 * radius * momentum / size
        way = max(float(np.hypot(*(place - rest[:2]))), 1e-4)
        finals = gone | {m: np.concatenate([place, after[2:]])}
        sketch = sketch.without(kink).without(strike)
        struck = Kink("strike", t_s - way / speed - 2e-5, strike.balls, p=strike.p)
        sketch = sketch.plus(struck, {m: pushed(rest, v, 0.0)})
        hit = _contact(m, b, t_s - 1e-5)
        states = {c: sketch.state(c, hit.t_s) for c in hit.balls}
        sent = {m: np.concatenate([place, after[2:]]), b: pushed(states[b], momentum, 1.0)}
        sketch = sketch.plus(hit, sent)
        if kink.kind == "contact":
            sketch = outcome(sketch, Trial(Kink("contact", t_s + 1e-4, kink.balls, p=kink.p)))
        return ending(sketch, finals, t_s + 2e-4)

    return change
