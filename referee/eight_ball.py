"""Chapter 3: 8-ball (today's chapter 4)."""

from __future__ import annotations

from referee.calls import call_made, empty_groups, own_balls
from referee.facts import SAFETY, Played, ShotFacts
from referee.fouls import FEW
from referee.outcome import COUNT, Outcome, ask
from referee.state import Options, State
from referee.terms import SOLIDS, Clause, CueBall, Foul, Group, Option, Reason

EIGHT = 8
_EIGHT = frozenset({EIGHT})


def legal_first(state: State, claim: Group | None, options: Options) -> frozenset[int]:
    """Own group, the 8 once it is gone; open table anything but the 8; on the break any ball (3.3b, 3.4, 6.2)."""
    balls = state.object_balls
    if state.is_break:
        return balls
    if claim is not None:
        return _EIGHT
    if state.groups is None:
        return balls if options.rules.claim_empty_group and empty_groups(state) else balls - _EIGHT
    return own_balls(state, state.shooter) or _EIGHT


def judge(
    state: State,
    facts: ShotFacts,
    fouls: tuple[Foul, ...],
    third: bool,
    first_by_article: Foul | None,
    shot: Played,
    options: Options,
) -> Outcome:
    """What chapter 3 makes of a shot."""
    if state.is_break:
        return _break(state, facts, fouls, first_by_article, options)
    me, other = state.shooter, state.opponent
    made = call_made(shot, facts)
    loss = _loss(state, facts, fouls, made, shot)
    if loss is not None:  # 3.8
        return Outcome(
            False,
            Reason.RACK_WON,
            Clause.LOSS,
            other,
            enforced=first_by_article,
            count=COUNT,
            rack_winner=other,
            loss=loss,
        )
    if fouls:  # 3.9
        return Outcome(
            False,
            Reason.STANDARD_FOUL,
            Clause.FOULS,
            other,
            CueBall.IN_HAND,
            enforced=first_by_article,
            count=COUNT,
            groups=state.groups,
        )
    if made == EIGHT:
        return Outcome(True, Reason.RACK_WON, Clause.CONTINUING, me, rack_winner=me)
    groups = state.groups
    if made is not None:
        if groups is None:  # 3.4
            mine = Group.SOLIDS if made in SOLIDS else Group.STRIPES
            groups = (mine, mine.other) if me == 0 else (mine.other, mine)
        if made in groups[me].balls:
            clause = Clause.CONTINUING if state.groups is not None else Clause.OPEN_TABLE
            return Outcome(True, Reason.CONTINUES, clause, me, groups=groups)
    if shot.call is SAFETY:
        return Outcome(True, Reason.SAFETY, Clause.GAME_CALLS, other, groups=groups)
    return Outcome(True, Reason.MISS, Clause.CONTINUING, other, groups=groups)


def _loss(state: State, facts: ShotFacts, fouls: tuple[Foul, ...], made: int | None, shot: Played) -> Reason | None:
    """3.8: how a player loses the rack with the 8, if he does."""
    if EIGHT in facts.off:
        return Reason.EIGHT_OFF_TABLE
    if EIGHT not in facts.pocketed_balls:
        return None
    if fouls:
        return Reason.EIGHT_ON_FOUL
    if shot.claim is None and (state.groups is None or own_balls(state, state.shooter)):
        return Reason.EIGHT_EARLY
    if shot.call is SAFETY:
        return Reason.EIGHT_ON_SAFETY
    return None if made == EIGHT else Reason.EIGHT_WRONG_POCKET


def _break(state: State, facts: ShotFacts, fouls: tuple[Foul, ...], enforced: Foul | None, options: Options) -> Outcome:
    """3.3, its cases in the order in which they are judged: e, f, d, g, h, c."""
    me, other = state.shooter, state.opponent
    eight_down = EIGHT in facts.pocketed_balls
    eight_off = _EIGHT & facts.off
    if eight_down and not fouls:  # (e)
        return Outcome(True, Reason.EIGHT_ON_BREAK, Clause.BREAK, me, choice=ask(me, Option.SPOT_8, Option.RERACK_SELF))
    if eight_down and (Foul.SCRATCH in fouls or options.rules.eight_break_any_foul):  # (f)
        return Outcome(
            False,
            Reason.EIGHT_ON_BREAK,
            Clause.BREAK,
            other,
            CueBall.KITCHEN,
            enforced=enforced,
            count=COUNT,
            choice=ask(other, Option.SPOT_8, Option.RERACK_SELF),
        )
    spot = eight_off | (_EIGHT if eight_down else frozenset())
    cue = CueBall.KITCHEN if fouls else CueBall.AS_LIES
    if not facts.pocketed and facts.objects_to_rail < FEW:  # (d)
        return Outcome(
            False,
            Reason.ILLEGAL_BREAK,
            Clause.BREAK,
            other,
            cue,
            enforced=enforced,
            count=COUNT if fouls else "keep",
            spot=spot,
            choice=ask(other, Option.ACCEPT, Option.RERACK_SELF, Option.RERACK_OTHER),
        )
    if fouls:  # (g), (h)
        reason = Reason.BALL_OFF_ON_BREAK if Foul.BALL_OFF_TABLE in fouls else Reason.FOUL_ON_BREAK
        if facts.scratch:
            return Outcome(
                False, reason, Clause.BREAK, other, CueBall.KITCHEN, enforced=enforced, count=COUNT, spot=spot
            )
        return Outcome(
            False,
            reason,
            Clause.BREAK,
            other,
            enforced=enforced,
            count=COUNT,
            spot=spot,
            choice=ask(other, Option.ACCEPT, Option.KITCHEN),
        )
    if facts.pocketed:  # (c)
        return Outcome(True, Reason.BREAK_OPEN, Clause.BREAK, me)
    return Outcome(True, Reason.BREAK_OPEN, Clause.BREAK, other)
