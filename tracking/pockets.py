"""Balls that go down: into which pocket and when, from a path that ends at a mouth."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.stats import norm

from calibration.table import POCKETS, Table
from tracking import motion
from tracking.events import PocketName
from tracking.joint import Fit
from tracking.observations import Floats

INSIDE = 0.008  # metres a centre lies within an opening's circle when the ball is surely dropping
AHEAD_S = 1.2  # how far beyond its last look a ball is followed
NEAR = 0.06  # metres from an opening within which a ball that vanishes has most likely gone down
FACING_M = 0.06  # length of a facing, metres
CORNER_FACING = np.radians(180 - 142)
SIDE_FACING = np.radians(180 - 104)
GRAZE_M = 0.003  # one sigma of where a path ends in a mouth
LATE_S = 0.05  # a touch so long before the last look may not have shown as a kink
RIM = 0.005  # metres from an opening's circle at which a ball is on its very edge
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


@dataclass(frozen=True, slots=True)
class Touch:
    """A point or facing that a ball touched on its way down; ``p`` that it did."""

    t_s: float
    sigma_s: float
    p: float


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
    # between the points and beyond the noses there is no way but down, even where the opening is passed by on the fitted path
    within = bool(np.any((xy[k] < 0) | (xy[k] > (table.width_m, table.length_m))))
    p = 0.99 if len(crossed) else 0.97 if within else 0.85
    seen = fit.paths[ball]
    out = np.hypot(*(seen.xy - centres[name]).T) > radii[name]
    last_out = float(seen.times[out][-1]) if out.any() else -np.inf
    rim = len(seen.times) > 0 and float(np.hypot(*(seen.xy[-1] - centres[name]))) - radii[name] < RIM
    if (
        when < last_out
    ):  # a slow ball, seen outside after its path would have led it in: it went between that look and the next
        when, sigma = last_out + 0.5 * frame_s, max(sigma, 0.5 * frame_s)
    elif rim and when > last_s + 1.5 * frame_s:  # seen at the very edge, and then no more
        when, sigma = last_s + 0.75 * frame_s, max(sigma, 0.75 * frame_s)
    elif when > last_s + 3 * frame_s:
        # it should have been seen on the way: either the mouth hides it, or the opening begins nearer than we think
        sigma = max(sigma, (when - last_s) / 4)
        when = 0.5 * (when + last_s + 0.5 * frame_s)
        p = min(p, 0.95)
    return Drop(when, min(sigma, 0.2), POCKETS_[name], p)


def facings(table: Table) -> dict[PocketName, list[tuple[Floats, Floats]]]:
    """The two cushion ends at each pocket, as segments (2,), (2,) in metres: from the point outward along the facing.

    Facings stand at 142 degrees to the nose at corner pockets and at 104 degrees at side pockets (WPA equipment
    specifications, 9); the rounding of the point, a millimetre, is left out.
    """
    out: dict[PocketName, list[tuple[Floats, Floats]]] = {}
    for name in POCKETS_:
        pocket = table.pockets[name]
        turn = SIDE_FACING if name.startswith("side") else CORNER_FACING
        mid = np.mean(np.array(pocket.points), axis=0)
        rows = []
        for point in pocket.points:
            p = np.array(point)
            # the nose runs on from the point toward the pocket: along x at the short rails, along y at the long ones
            along = np.array([1.0, 0.0]) if point[1] in (0.0, table.length_m) else np.array([0.0, 1.0])
            along *= np.sign((mid - p) @ along) or 1.0
            outward = np.array([along[1], along[0]])
            outward = np.abs(outward) * np.where(p < np.array([table.width_m, table.length_m]) / 2, -1.0, 1.0)
            rows.append((p, p + FACING_M * (np.cos(turn) * along + np.sin(turn) * outward)))
        out[name] = rows
    return out


def touch(ball: int, fit: Fit, drop: Drop, last_s: float, table: Table) -> Touch | None:
    """The point or facing that a ball touched between its last look and its drop, if its path led so close."""
    if drop.pocket is None:
        return None
    ks = fit.kinks_of(ball)
    start = fit.kinks[ks[-1]].t_s if ks else fit.paths[ball].begin_s
    t = np.arange(max(start + 0.004, last_s - LATE_S), drop.t_s, 0.0005)
    if not len(t):
        return None
    arc = np.repeat(fit.paths[ball].arcs[-1:], len(t), axis=0)
    xy, v = motion.places(arc, t - start, fit.slide, fit.roll)
    best: Touch | None = None
    r = table.ball_radius
    for a, b in facings(table)[drop.pocket]:
        along = (b - a) / np.hypot(*(b - a))
        s = np.clip((xy - a) @ along, 0.0, FACING_M)
        gap = np.hypot(*(xy - a - s[:, None] * along).T) - r
        k = int(np.argmin(gap))
        p = float(norm.cdf(-gap[k] / GRAZE_M))
        if best is not None and p <= best.p:
            continue
        under = np.flatnonzero(gap < 0)
        k = int(under[0]) if len(under) else k
        sigma = float(np.clip(GRAZE_M / max(np.hypot(*v[k]), 0.05), 0.001, 0.03))
        best = Touch(float(t[k]), sigma, p)
    return best


POCKETS_: tuple[PocketName, ...] = ("head-left", "head-right", "side-left", "side-right", "foot-left", "foot-right")
