"""Where the balls of a rack stand: 2.2, 3.2, 4.2, 9.2 and the Estonian 4."""

from __future__ import annotations

import math
from collections.abc import Mapping

from calibration.table import Point, Table
from referee.rulesets import RuleSet
from referee.terms import Game

RACK_SIZE = {Game.EIGHT_BALL: 15, Game.NINE_BALL: 9, Game.TEN_BALL: 10, Game.STRAIGHT_POOL: 15}
_ROWS = {
    Game.EIGHT_BALL: (1, 2, 3, 4, 5),
    Game.NINE_BALL: (1, 2, 3, 2, 1),
    Game.TEN_BALL: (1, 2, 3, 4),
    Game.STRAIGHT_POOL: (1, 2, 3, 4, 5),
}


def balls_of(game: Game) -> frozenset[int]:
    """Cue ball and object balls of a game."""
    return _BALLS[game]


_BALLS = {game: frozenset(range(size + 1)) for game, size in RACK_SIZE.items()}


def slots(game: Game, table: Table, rules: RuleSet) -> tuple[Point, ...]:
    """Centres of the racked balls, metres, apex first, row by row toward the foot, left to right.

    The apex stands on the foot spot; in the 2025 9-ball the 9 does, so the rack stands two rows nearer the head (5.2).
    """
    pitch = table.ball_m * math.sqrt(3) / 2
    x, y = table.foot_spot
    if game is Game.NINE_BALL and rules.nine_on_foot_spot:
        y -= 2 * pitch
    return tuple(
        (x + (place - (count - 1) / 2) * table.ball_m, y + row * pitch)
        for row, count in enumerate(_ROWS[game])
        for place in range(count)
    )


def fixed_balls(game: Game, rules: RuleSet) -> Mapping[int, int]:
    """Slot -> ball, for the balls that have a place of their own; the others are random (in 8-ball the two back corners
    also take one ball of each group).
    """
    if game is Game.NINE_BALL:
        return {0: 1, 4: 9}
    if game is Game.TEN_BALL:
        return {0: 1, 4: 10}
    if game is Game.EIGHT_BALL:
        return {4: 8}
    # The racker stands at the foot and looks to the head: his right corner is the one at x = 0.
    return {10: 1, 14: 5} if rules.near_rail_rule else {}


def in_outline(at: Point | None, table: Table) -> bool:
    """Whether a ball lies in, or overlaps, the outline of the full triangle (4.8).

    The outline is that of the racked balls: every point within a ball's radius of the triangle of their centres. A ball
    whose place is unknown is not in the way.
    """
    if at is None:
        return False
    x, y = table.foot_spot
    half, depth = 2 * table.ball_m, 2 * math.sqrt(3) * table.ball_m
    corners = ((x, y), (x - half, y + depth), (x + half, y + depth))
    return _distance_to_triangle(at, corners) < table.ball_m - 1e-9


def on_spot(at: Point | None, spot: Point, table: Table) -> bool:
    """Whether a ball would not let another be put on a spot (the star of the table in 4.8)."""
    return at is not None and math.dist(at, spot) < table.ball_m - 1e-9


def _distance_to_triangle(at: Point, corners: tuple[Point, Point, Point]) -> float:
    a, b, c = corners
    sides = [(b[0] - a[0]) * (at[1] - a[1]) - (b[1] - a[1]) * (at[0] - a[0]) for a, b in ((a, b), (b, c), (c, a))]
    if all(s >= 0 for s in sides) or all(s <= 0 for s in sides):
        return 0.0
    return min(_distance_to_segment(at, p, q) for p, q in ((a, b), (b, c), (c, a)))


def _distance_to_segment(at: Point, a: Point, b: Point) -> float:
    dx, dy = b[0] - a[0], b[1] - a[1]
    t = max(0.0, min(1.0, ((at[0] - a[0]) * dx + (at[1] - a[1]) * dy) / (dx * dx + dy * dy)))
    return math.dist(at, (a[0] + t * dx, a[1] + t * dy))
