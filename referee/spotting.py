"""Spotting balls (1.4): where they go when the foot spot is free, and where when it is not."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping

from calibration.table import Point, Table

CUE_GAP_M = 0.001  # a spotted ball keeps this gap to the cue ball, which it must not touch
_EPS = 1e-9


def spot_ball(positions: Mapping[int, Point], table: Table) -> Point:
    """Place of one ball to be spotted.

    On the foot spot, or on the long string as near to it as possible toward the foot cushion, touching an object ball in
    the way but not the cue ball; if that whole line is taken, toward the centre, as near the foot spot as possible (1.4).

    Parameters
    ----------
    positions : ball -> place of the balls on the table, metres; balls whose place is unknown block nothing.
    """
    x, y = table.foot_spot
    last = table.length_m - table.ball_radius
    taken = []
    for ball, (bx, by) in positions.items():
        apart = table.ball_m if ball else table.ball_m + CUE_GAP_M
        across = abs(bx - x)
        if across < apart - _EPS:
            if not ball and math.dist((bx, by), (x, y)) >= table.ball_m:
                taken.append((by, math.sqrt(max(0.0, table.ball_m**2 - across**2)), math.sqrt(apart**2 - across**2)))
            else:
                half = math.sqrt(apart**2 - across**2)
                taken.append((by, half, half))
    if not any(abs(y - by) < blocks - _EPS for by, blocks, _ in taken):
        return (x, y)
    toward_foot = sorted(by + leave for by, _, leave in taken if by + leave > y)
    toward_centre = sorted((by - leave for by, _, leave in taken if by - leave < y), reverse=True)
    for place in (*(p for p in toward_foot if p <= last + _EPS), *toward_centre):
        if all(abs(place - by) >= leave - _EPS for by, _, leave in taken):
            return (x, place)
    return (x, y)


def spot_all(balls: Iterable[int], positions: Mapping[int, Point], table: Table) -> dict[int, Point]:
    """Places of several balls, spotted one after the other in ascending order (the seed leaves the order open)."""
    places = dict(positions)
    spotted = {}
    for ball in sorted(balls):
        places.pop(ball, None)
        spotted[ball] = places[ball] = spot_ball(places, table)
    return spotted
