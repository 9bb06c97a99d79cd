"""Chapter 9: 10-ball (today's chapter 6)."""

from __future__ import annotations

from referee.calls import call_made
from referee.facts import PUSH_OUT, SAFETY, Played, ShotFacts
from referee.nine_ball import break_fouls, foul_outcome, legal_first
from referee.outcome import Outcome, ask
from referee.state import Options, State
from referee.terms import Clause, Foul, Option, Reason

MONEY_BALL = 10

__all__ = ["break_fouls", "judge", "legal_first"]


def judge(
    state: State,
    facts: ShotFacts,
    fouls: tuple[Foul, ...],
    third: bool,
    first_by_article: Foul | None,
    shot: Played,
    options: Options,
) -> Outcome:
    """What chapter 9 makes of a shot; from 9.5 on the seed breaks off and the rules are completed from the English book."""
    me, other = state.shooter, state.opponent
    pocketed = facts.pocketed_balls
    ten = frozenset({MONEY_BALL}) & (pocketed | facts.off)
    early = options.rules.ten_wins_early
    if fouls:
        return foul_outcome(state, third, first_by_article, ten)
    if shot.call is PUSH_OUT:  # 9.4
        return Outcome(
            True, Reason.PUSHED_OUT, Clause.PUSH_OUT, other, spot=ten, choice=ask(other, Option.PLAY, Option.HAND_BACK)
        )
    if state.is_break:
        if ten and early:
            return Outcome(True, Reason.RACK_WON, Clause.BREAK, me, rack_winner=me)
        return Outcome(
            True,
            Reason.CONTINUES if pocketed else Reason.MISS,
            Clause.BREAK,
            me if pocketed else other,
            spot=ten,
            push_out_allowed=True,
        )
    made = call_made(shot, facts)
    if made is not None:
        if made == MONEY_BALL and (early or state.object_balls == {MONEY_BALL}):
            return Outcome(True, Reason.RACK_WON, Clause.CONTINUING, me, rack_winner=me)
        return Outcome(True, Reason.CONTINUES, Clause.CONTINUING, me, spot=ten)
    if pocketed:
        return Outcome(
            True,
            Reason.SAFETY if shot.call is SAFETY else Reason.WRONGLY_POCKETED,
            Clause.WRONGLY_POCKETED,
            other,
            spot=ten,
            choice=ask(other, Option.PLAY, Option.HAND_BACK),
        )
    safety = shot.call is SAFETY
    return Outcome(
        True, Reason.SAFETY if safety else Reason.MISS, Clause.GAME_CALLS if safety else Clause.CONTINUING, other
    )
