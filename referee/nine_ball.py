"""Chapter 2: 9-ball (today's chapter 5)."""

from __future__ import annotations

from referee.facts import PUSH_OUT, Played, ShotFacts
from referee.fouls import FEW
from referee.outcome import COUNT, Outcome, ask
from referee.state import Options, State
from referee.terms import Clause, CueBall, Foul, Option, Reason

MONEY_BALL = 9
THREE = 3  # balls pocketed or past the head string that the three-ball rule asks for (Regulation 16)


def legal_first(state: State) -> frozenset[int]:
    """The lowest ball on the table (6.2)."""
    return frozenset({min(state.object_balls)})


def break_fouls(facts: ShotFacts) -> tuple[Foul, ...]:
    """2.3 (b): nothing pocketed and fewer than four object balls driven to a rail."""
    return (Foul.FEW_RAILS,) if not facts.pocketed and facts.objects_to_rail < FEW else ()


def judge(
    state: State,
    facts: ShotFacts,
    fouls: tuple[Foul, ...],
    third: bool,
    first_by_article: Foul | None,
    shot: Played,
    options: Options,
) -> Outcome:
    """What chapter 2 makes of a shot."""
    me, other = state.shooter, state.opponent
    pocketed = facts.pocketed_balls
    nine = frozenset({MONEY_BALL}) & (pocketed | facts.off)
    if fouls:
        return foul_outcome(state, third, first_by_article, nine)
    if shot.call is PUSH_OUT:  # 2.4
        return Outcome(
            True, Reason.PUSHED_OUT, Clause.PUSH_OUT, other, spot=nine, choice=ask(other, Option.PLAY, Option.HAND_BACK)
        )
    if state.is_break and options.three_ball_rule and len(pocketed | facts.past_head_string) < THREE:
        return Outcome(
            True, Reason.THREE_BALL, Clause.BREAK, other, spot=nine, choice=ask(other, Option.ACCEPT, Option.HAND_BACK)
        )
    if nine:  # 2.5
        return Outcome(True, Reason.RACK_WON, Clause.CONTINUING, me, rack_winner=me)
    if pocketed:
        return Outcome(True, Reason.CONTINUES, Clause.CONTINUING, me, push_out_allowed=state.is_break)
    return Outcome(True, Reason.MISS, Clause.CONTINUING, other, push_out_allowed=state.is_break)


def foul_outcome(state: State, third: bool, enforced: Foul | None, spot: frozenset[int]) -> Outcome:
    """2.7 and 2.8, and the same in 10-ball: the opponent in hand anywhere; the third foul in a row loses the rack."""
    if third:
        return Outcome(
            False,
            Reason.THIRD_FOUL,
            Clause.SERIOUS,
            state.opponent,
            enforced=Foul.THREE_FOULS,
            third=True,
            count=COUNT,
            rack_winner=state.opponent,
        )
    return Outcome(
        False,
        Reason.STANDARD_FOUL,
        Clause.FOULS,
        state.opponent,
        CueBall.IN_HAND,
        enforced=enforced,
        count=COUNT,
        spot=spot,
    )
