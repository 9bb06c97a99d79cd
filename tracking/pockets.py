"""Balls that go down: into which pocket and when, from a path that ends at a mouth."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from calibration.table import POCKETS, Table
from tracking import motion
from tracking.events import PocketName
from tracking.joint import Fit
from tracking.observations import Floats

INSIDE = 0.008  # metres a centre lies within an opening's circle when the ball is surely dropping
AHEAD_S = 1.2  # how far beyond its last look a ball is followed
NEAR = 0.06  # metres from an opening within which a ball that vanishes has most likely gone down
WIDE = 0.04  # metres by which a path may miss the circle and still have gone in


@dataclass(frozen=True, slots=True)
class Drop:
    """A ball into a pocket (``pocket`` None: off the table); ``p`` that it did, ``hung_s`` how long it hung still before."""

    t_s: float
    sigma_s: float
    pocket: PocketName | None
    p: float
    hung_s: float | None = None


def mouth_gap(xy: Floats, table: Table) -> float:
    """How far a ball's centre (2,) is from the nearest pocket's opening, metres; negative inside."""
    return min(float(np.hypot(*(xy - np.array(p.centre)))) - p.radius for p in table.pockets.values())


def on_cloth(times: Floats, xy: Floats, cov: Floats, table: Table) -> tuple[Floats, Floats, Floats]:
    """The looks up to the first that shows the ball dropping for good."""
    inside = np.zeros(len(times), dtype=np.bool_)
    for pocket in table.pockets.values():
        inside |= np.hypot(*(xy - np.array(pocket.centre)).T) < pocket.radius - INSIDE
    if len(inside) and inside[-1]:
        keep = len(inside)
        while keep > 0 and inside[keep - 1]:
            keep -= 1
        return times[:keep], xy[:keep], cov[:keep]
    return times[~inside], xy[~inside], cov[~inside]


def find(ball: int, fit: Fit, last_s: float, table: Table, frame_s: float) -> Drop | None:
    """The pocket a ball went into after it was last seen, if its path led to one."""
    ks = fit.kinks_of(ball)
    start = fit.kinks[ks[-1]].t_s if ks else fit.paths[ball].begin_s
    arc = fit.paths[ball].arcs[-1:]
    t = np.arange(last_s - 4 * frame_s, last_s + AHEAD_S, 0.002)
    t = t[t >= start] if (t >= start).any() else t[-1:]
    xy, v = motion.places(np.repeat(arc, len(t), axis=0), np.maximum(t - start, 0), fit.slide, fit.roll)
    centres = np.array([table.pockets[n].centre for n in POCKETS])
    radii = np.array([table.pockets[n].radius for n in POCKETS])
    d = np.hypot(xy[:, None, 0] - centres[None, :, 0], xy[:, None, 1] - centres[None, :, 1]) - radii
    # a path is followed only while it is over the table or in a mouth
    m = 0.02
    inside = (xy[:, 0] > -m) & (xy[:, 0] < table.width_m + m) & (xy[:, 1] > -m) & (xy[:, 1] < table.length_m + m)
    outside = np.flatnonzero(~(inside | (d < 0.03).any(axis=1)))
    if len(outside):
        d = d[: max(outside[0], 1)]
    near = d.min(axis=0)
    name = int(np.argmin(near))
    here = d[min(int(np.searchsorted(t, last_s)), len(d) - 1)]
    if near[name] > WIDE:
        name = int(np.argmin(here))
        if here[name] > 0.09:
            return None
        return Drop(last_s + frame_s, 0.02, POCKETS_[name], 0.6)
    crossed = np.flatnonzero(d[:, name] < 0)
    k = int(crossed[0]) if len(crossed) else int(np.argmin(d[:, name]))
    when = float(t[k])
    speed = float(np.hypot(*v[k]))
    sigma = 0.003 / max(speed, 0.05) + 0.001
    p = 0.99 if len(crossed) else 0.85
    if when > last_s + 3 * frame_s:
        # it should have been seen on the way: either the mouth hides it, or the opening begins nearer than we think
        sigma = max(sigma, (when - last_s) / 4)
        when = 0.5 * (when + last_s + 0.5 * frame_s)
        p = min(p, 0.95)
    return Drop(when, min(sigma, 0.2), POCKETS_[name], p)


POCKETS_: tuple[PocketName, ...] = ("head-left", "head-right", "side-left", "side-right", "foot-left", "foot-right")
