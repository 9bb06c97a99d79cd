"""Chapter 8, definitions: the rule book's predicates, each by itself."""

from __future__ import annotations

from collections.abc import Collection

from calibration.table import Point, Table
from tracking.events import AnyEvent

HANG_S = 5.0  # a ball that hangs this long and then drops was not pocketed by the shot (8.3)
SETTLED_S = 0.05  # a pocketed ball lies still this long after crossing the edge; before, a touch is a kiss in the air
BOUNCE_S = 0.1  # a rail this long after the pocket is proof that the ball came out again; before, it is the jaws


def driven_to_rail(rail: str, frozen_to: Collection[str], leaves_first: bool) -> bool:
    """Whether a touch of a rail counts as being driven to it (8.4).

    A ball frozen to a rail at the start counts only if it leaves and comes back, or reaches another rail.
    """
    return leaves_first or rail not in frozen_to


def bounced_out(pocket_t: float, later_rail_t: float | None, at_rest_on_cloth: bool) -> bool:
    """Whether a ball that went over a pocket's edge came out again, and so is not pocketed (8.3)."""
    return at_rest_on_cloth or (later_rail_t is not None and later_rail_t > pocket_t + BOUNCE_S)


def hung_and_dropped(pocket_t: float, still_since: float) -> bool:
    """Whether a ball hung still for five seconds before it dropped: not pocketed by the shot, put back (8.3, 1.7)."""
    return pocket_t - still_since >= HANG_S


def touches_pocketed_ball(contact_t: float, pocket_t: float) -> bool:
    """Whether the cue ball's contact is with a ball that already lies in a pocket: then it is pocketed itself (8.6)."""
    return contact_t > pocket_t + SETTLED_S


def leans_into_pocket(ball: Point, support: Point, pocket: Point, radius: float) -> bool:
    """Whether a ball that leans on another over a pocket would drop without it, and so is pocketed (8.3).

    Parameters
    ----------
    ball, support : places of the leaning ball and of the one it leans on, metres.
    pocket, radius : the pocket's opening.
    """
    over = (ball[0] - pocket[0]) ** 2 + (ball[1] - pocket[1]) ** 2 < radius**2
    return over and support != ball


def off_table(at_rest_on: str, foreign_touch: bool) -> bool:
    """Whether a ball is off the table (8.5): at rest elsewhere than on cloth or in a pocket, or back off something foreign.

    ``at_rest_on`` is ``cloth``, ``pocket``, ``rail-top`` or ``elsewhere``; touching the rail's top and coming back is
    none.
    """
    return foreign_touch or at_rest_on not in ("cloth", "pocket")


def simultaneous(first: AnyEvent, second: AnyEvent) -> bool:
    """Whether two events happen at the same instant and cannot be told apart (Regulation 26)."""
    return first.t_s == second.t_s and not first.sigma_s and not second.sigma_s


def hits_legal_ball_first(first: int | None, legal: Collection[int]) -> bool:
    """Whether the object ball hit first is one that may be (6.2); hitting none is another foul (6.3)."""
    return first is None or first in legal


def off_the_break(table: Table, at: Point) -> bool:
    """Whether a ball's centre lies past the head string, toward the head (Regulation 16)."""
    return at[1] < table.head_string
