"""Impacts worth trying on a fitted reading: where paths touch, where a kink has no cause, where a ball cannot give way."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from calibration.table import Table
from tracking.amend import Sketch, Trial
from tracking.joint import Fit, Kink
from tracking.observations import Floats

NEAR = 0.004  # metres from touching at which an impact is tried
BLIND = 0.6  # of a frame by which a kink of a ball seen once or twice before it may be told wrong
ROLLS, AFTER_S = 0.95, 0.3  # of its speed that a ball rolls with; seconds of looks that tell how it came back
TURNED = 6.0  # sigmas of a look from a nose at which a ball that turns back may have met it
ILL = 8.0  # mean squared misfit / 2 of an arc that the looks refuse
BACK_FRAMES = 1.5  # the way of a ball pushed to a cushion and back that no look need show, in frames of its speed
SQUEEZED = 0.004  # metres from a nose from which a ball pushed toward it bounces at once


def noses(table: Table) -> tuple[tuple[int, float, float], ...]:
    """Axis, place of a touching ball's centre on it, and the sign of the way back, of the four cushions."""
    r = table.ball_radius
    return (0, r, 1.0), (0, table.width_m - r, -1.0), (1, r, 1.0), (1, table.length_m - r, -1.0)


def candidates(
    fit: Fit, table: Table, frame_s: float, places: Callable[[int, Floats], Floats], balls: list[int],
    ends: dict[int, float], until_s: float,
) -> list[Trial]:  # fmt: skip
    """Impacts worth trying, the likeliest first.

    Parameters
    ----------
    places : (n, 2) of a ball at times (n,); ``balls``: all on the table.
    ends : ball -> when it was last seen, where it was not seen to the end.
    until_s : when all rest.
    """
    if not fit.kinks:
        return []
    r = table.ball_radius
    t = np.arange(min(k.t_s for k in fit.kinks), until_s, frame_s / 4)
    if len(t) < 3:
        return []
    xy = np.stack([places(b, t) for b in balls])
    step = np.hypot(*np.diff(xy, axis=1, append=xy[:, -1:]).transpose(2, 0, 1)) / (frame_s / 4)
    gone = np.array([ends.get(b, np.inf) for b in balls])
    xy[t[None] > gone[:, None] + frame_s] = np.nan
    rough = [float(np.sqrt(np.trace(c) / 2)) for p in fit.paths.values() for c in p.cov[1:]]
    noise = float(np.median(rough)) if rough else 0.0
    near, turned_back = max(NEAR, noise), max(NEAR, TURNED * noise)
    found: list[tuple[float, Trial]] = []
    contacts = [k for k in fit.kinks if k.kind == "contact"]
    for i, a in enumerate(balls[:-1]):
        d = np.hypot(*(xy[i + 1 :] - xy[i]).transpose(2, 0, 1)) - 2 * r
        for j in np.flatnonzero(np.nanmin(np.where(np.isnan(d), 9.0, d), axis=1) < near):
            c = balls[i + 1 + j]
            pair = (min(a, c), max(a, c))
            known = np.array([k.t_s for k in contacts if k.balls == pair])
            for k in _closest(d[j], near):
                if len(known) and np.abs(known - t[k]).min() < frame_s:
                    continue
                if step[i, k] + step[i + 1 + j, k] < 0.02:
                    continue
                found.append((abs(float(d[j, k])), Trial(Kink("contact", float(t[k]), pair, p=0.9))))
    mouths = [(np.array(p.centre), p.radius) for p in table.pockets.values()]
    for i, b in enumerate(balls):
        for axis, place, sign in noses(table):
            gap = (xy[i, :, axis] - place) * sign
            known = np.array([k.t_s for k in fit.kinks if b in k.balls and (k.kind == "jaw" or k.wall is not None)])
            for k in _closest(gap, turned_back):
                if len(known) and np.abs(known - t[k]).min() < 1.5 * frame_s:
                    continue
                if step[i, k] < 0.02 or any(np.hypot(*(xy[i, k] - m)) < 0.125 for m, _ in mouths):
                    continue
                kink = Kink("rail", float(t[k]), (b,), (axis, place, sign), p=0.9)
                turned = gap[k] > near  # the arc bends back before it: tried with straight ways there and back
                found.append((abs(float(gap[k])), Trial(kink, change=_bounce(kink) if turned else None)))
    return [trial for _, trial in sorted(found, key=lambda f: f[0])]


def _bounce(kink: Kink) -> Callable[[Sketch], Sketch]:
    def change(sketch: Sketch) -> Sketch:
        b = kink.balls[0]
        mine = sketch.kinks_of(b)
        j = sum(k.t_s <= kink.t_s for k in mine)
        path = sketch.paths[b]
        end = min(mine[j].t_s if j < len(mine) else np.inf, kink.t_s + AFTER_S)
        on = (path.times > kink.t_s) & (path.times < end)
        if on.sum() < 3:
            return sketch
        t = path.times[on] - kink.t_s
        v = np.polyfit(t, path.xy[on], 1)[0]
        place = sketch.state(b, kink.t_s)[:2]
        arcs = path.arcs.copy()
        arcs[j, 4:] = ROLLS * arcs[j, 2:4]
        sketch = replace(sketch, paths=sketch.paths | {b: replace(path, arcs=arcs)})
        return sketch.plus(kink, {b: np.concatenate([place, v, ROLLS * v])})

    return change


def _closest(gap: Floats, within: float) -> list[int]:
    """Where a distance from touching is least and under ``within``, or first below zero."""
    near = np.flatnonzero(gap < within)
    if not len(near):
        return []
    out = []
    for run in np.split(near, np.flatnonzero(np.diff(near) > 1) + 1):
        values = gap[run]
        under = np.flatnonzero(values < -0.0005)
        if len(under):
            out.append(int(run[under[0]]))
            continue
        k = int(np.argmin(values))
        if 0 < run[k] < len(gap) - 1 and gap[run[k] - 1] >= values[k] and gap[run[k] + 1] >= values[k]:
            out.append(int(run[k]))
    return out


def explanations(fit: Fit, frame_s: float, table: Table, places: Callable[[int, Floats], Floats], balls: list[int], ends: dict[int, float]) -> list[Trial]:  # fmt: skip
    """For each kink that nothing explained: the balls and noses that it may have been."""
    out: list[tuple[float, Trial]] = []
    r = table.ball_radius
    for i, kink in enumerate(fit.kinks):
        if kink.kind != "free" or kink.crowd or fit.push[i] < 0.03:
            continue
        b = kink.balls[0]
        t = kink.t_s + np.linspace(-1.2, 1.2, 13) * frame_s
        mine = places(b, t)
        for c in balls:
            if c == b or kink.t_s > ends.get(c, np.inf) + frame_s:
                continue
            off = np.abs(np.hypot(*(mine - places(c, t)).T) - 2 * r)
            k = int(np.argmin(off))
            if off[k] < 0.03:
                twins = [
                    o for o in fit.kinks if o.kind == "free" and o.balls == (c,) and abs(o.t_s - kink.t_s) < 2 * frame_s
                ]
                trial = Trial(Kink("contact", float(t[k]), (min(b, c), max(b, c)), p=0.9), (kink, *twins[:1]))
                out.append((float(off[k]), trial))
        for axis, place, sign in noses(table):
            gap = np.abs(mine[:, axis] - place)
            k = int(np.argmin(gap))
            fastest = float(np.abs(np.diff(mine[:, axis])).max()) / (t[1] - t[0])
            if gap[k] < 0.02 + BLIND * frame_s * fastest:
                out.append((float(gap[k]), Trial(Kink("rail", float(t[k]), (b,), (axis, place, sign), p=0.9), (kink,))))
    return [trial for _, trial in sorted(out, key=lambda f: f[0])]


def squeezes(fit: Fit, frame_s: float, table: Table, places: Callable[[int, Floats], Floats], balls: list[int]) -> list[Trial]:  # fmt: skip
    """Contacts that pushed a ball against a cushion it touched, where no bounce and no second contact are told yet."""
    out: list[Trial] = []
    r = table.ball_radius
    for i, kink in enumerate(fit.kinks):
        if kink.kind not in ("contact", "free") or kink.crowd or fit.push[i] < 0.1:
            continue
        moment = np.array([kink.t_s])
        for c in balls:
            here = places(c, moment)[0]
            others = [b for b in kink.balls if b != c]
            if len(others) == 2 or not others or (kink.kind == "contact" and c not in kink.balls):
                continue
            a = others[0]
            line = here - places(a, moment)[0]
            if abs(float(np.hypot(*line)) - 2 * r) > 0.01:
                continue
            # off a cushion that it does not touch it comes back a frame or two later: tried where the arcs do not fit without
            beside = [(b, j) for b in (a, c) if b in fit.paths for j in _beside(fit, b, i)]
            worst = max((fit.misfit.get(arc, 0.0) for arc in beside), default=0.0)
            room = BACK_FRAMES * frame_s * float(fit.push[i]) if worst > ILL else SQUEEZED
            for axis, place, sign in noses(table):
                if (here[axis] - place) * sign > room or line[axis] * sign > -0.1 * r:
                    continue
                pair = (min(a, c), max(a, c))
                near = [
                    k
                    for k in fit.kinks
                    if abs(k.t_s - kink.t_s) < 1.6 * frame_s
                    and (
                        k.balls == pair or (k.kind == "free" and set(k.balls) <= {a, c}) or (k.balls == (c,) and k.wall)
                    )
                ]
                if sum(k.kind == "contact" for k in near) > 1:
                    continue
                wall = (axis, place, sign)
                start = min(k.t_s for k in near)
                out.append(Trial(Kink("contact", start, pair, p=0.9), tuple(near), c, wall))
    return out


def _beside(fit: Fit, ball: int, kink: int) -> tuple[int, int]:
    """The arcs of a ball before and after a kink (or the last, where the kink is not its own)."""
    ks = fit.kinks_of(ball)
    j = ks.index(kink) if kink in ks else len(ks) - 1
    return j, j + 1


def swaps(fit: Fit, frame_s: float) -> list[Trial]:
    """Contacts of one ball with two others less than a frame apart: either may have been the first."""
    contacts = sorted((k for k in fit.kinks if k.kind == "contact" and not k.crowd), key=lambda k: k.t_s)
    out = []
    for i, first in enumerate(contacts):
        for second in contacts[i + 1 :]:
            if second.t_s - first.t_s < frame_s and len(set(first.balls) & set(second.balls)) == 1:
                out.append(Trial(Kink("contact", 0.5 * (first.t_s + second.t_s), first.balls), swapped=(first, second)))
    return out
