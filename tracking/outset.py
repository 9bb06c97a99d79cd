"""Since when each ball may have moved: detections of balls that touch hop about before anything has happened to them."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from tracking.looks import Looks
from tracking.observations import Floats

FAR = 0.075  # metres from its place of rest where a ball is only if it moved: two taken for one lie half a diameter off
NEAR = (3.0, 0.004)  # sigmas, metres within which a look agrees with the place of rest
CLUSTER = 0.012  # metres between balls that may hide each other or pass a push on without a gap to be seen
SHIFTED = (0.003, 4.0)  # metres and sigmas of a median by which a ball lies elsewhere


def outsets(looks: Mapping[int, Looks], begin_s: float, radius: float) -> tuple[float, dict[int, float]]:
    """When the first ball set out, and for balls at rest since when they may have moved.

    A ball that travels left its place after its last look there. What rested beside it cannot have set out sooner than the
    first of the cluster, and nothing sooner than the first of all. Where a ball lies elsewhere just before that time than
    where it rested, it was moved, and nothing is concluded.

    Parameters
    ----------
    looks : of a stretch of motion, by track.
    begin_s : when the first look away from a place of rest was seen.
    radius : of a ball, metres.

    Returns
    -------
    Start of the motion (at or after ``begin_s``), and a time for each track that rested.
    """
    left = {b: when for b, seen in looks.items() if (when := departure(seen, begin_s)) is not None}
    first = min(left.values(), default=begin_s)
    if first > begin_s and any(shifted(seen, begin_s, first) or wandered(seen, first) for seen in looks.values()):
        first = begin_s
    first = max(first, begin_s)
    resting = [b for b, seen in looks.items() if seen.rest is not None]
    out = dict.fromkeys(resting, first)
    for group in clusters({b: looks[b].rest for b in resting}, 2 * radius + CLUSTER):  # type: ignore[misc]
        if len(group) == 1:
            continue
        since = min((left[b] for b in group if b in left), default=first)
        if since > first and not any(shifted(looks[b], first, since) for b in group):
            out |= dict.fromkeys(group, since)
    return first, out


def departure(seen: Looks, begin_s: float) -> float | None:
    """Time of the last look at its place of rest of a ball that then goes far; None of one that does not."""
    if seen.rest is None:
        return None
    off = np.hypot(*(seen.xy - seen.rest).T)
    sigma = np.sqrt(np.trace(seen.cov, axis1=1, axis2=2) / 2)
    away = off > np.maximum(FAR, 8 * sigma)
    away &= seen.times >= begin_s
    pairs = np.flatnonzero(away[1:] & away[:-1])
    if not len(pairs):
        return None
    home = np.flatnonzero(off[: pairs[0]] < np.maximum(NEAR[0] * sigma[: pairs[0]], NEAR[1]))
    return float(seen.times[home[-1]]) if len(home) else None


def shifted(seen: Looks, begin_s: float, until_s: float) -> bool:
    """Whether a ball that rested lies elsewhere at the end of a while in which it may have moved."""
    if seen.rest is None:
        return False
    on = np.flatnonzero((seen.times > begin_s) & (seen.times <= until_s))[-7:]
    if len(on) < 3:
        return False
    off = float(np.hypot(*(np.median(seen.xy[on], axis=0) - seen.rest)))
    sigma = float(np.sqrt(np.trace(seen.cov[on].mean(axis=0)) / 2 / len(on)))
    return off > max(SHIFTED[0], SHIFTED[1] * sigma)


def wandered(seen: Looks, until_s: float) -> bool:
    """Whether a ball that nobody saw at rest went about before ``until_s``."""
    before = seen.xy[seen.times <= until_s]
    if seen.rest is not None or len(before) < 2:
        return False
    off = np.hypot(*(before - np.median(before, axis=0)).T)
    return bool(np.sort(off)[-2] > 0.5 * FAR)  # one look may stray


def clusters(places: Mapping[int, Floats], reach: float) -> list[list[int]]:
    """Groups of balls joined by distances under ``reach`` metres."""
    left, out = set(places), []
    while left:
        group, edge = [], [left.pop()]
        while edge:
            b = edge.pop()
            group.append(b)
            near = {c for c in left if float(np.hypot(*(places[b] - places[c]))) < reach}
            left -= near
            edge += near
        out.append(sorted(group))
    return out
