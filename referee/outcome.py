"""What a game's chapter makes of one shot, before the match takes it over."""

from __future__ import annotations

from dataclasses import dataclass

from referee.ruling import Choice, Pair
from referee.terms import Clause, CueBall, Fifteenth, Foul, Group, Option, Reason

KEEP, CLEAR, COUNT, RESET = "keep", "clear", "count", "reset"


@dataclass(frozen=True, slots=True)
class Outcome:
    """Consequences of one shot.

    Parameters
    ----------
    legal : whether the shot was.
    reason, clause : what made it come out so, and where the book says it.
    player, cue_ball : who plays on, and how the cue ball comes to him.
    enforced : the one foul that is penalised.
    third : the shot was the third foul in a row and counts as such.
    count : what happens to the shooter's fouls in a row: keep, clear, count or reset.
    spot : balls to be spotted; every other pocketed or off-table ball stays down.
    points : change of both players' points (14.1).
    choice : what a player is asked.
    rack_winner : who won the rack.
    loss : why the rack was lost, where no foul says so.
    rerack : balls racked anew; ``apex_empty`` racks fourteen.
    """

    legal: bool
    reason: Reason
    clause: Clause | Foul
    player: int
    cue_ball: CueBall = CueBall.AS_LIES
    enforced: Foul | None = None
    third: bool = False
    count: str = CLEAR
    spot: frozenset[int] = frozenset()
    points: Pair = (0, 0)
    groups: tuple[Group, Group] | None = None
    choice: Choice | None = None
    push_out_allowed: bool = False
    is_break: bool = False
    rack_winner: int | None = None
    loss: Reason | None = None
    rerack: int | None = None
    fifteenth: Fifteenth | None = None


def ask(player: int, *options: Option) -> Choice:
    """A choice put to a player; the first option is what stands until he chooses."""
    return Choice(player, options)
