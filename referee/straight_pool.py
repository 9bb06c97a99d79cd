"""Chapter 4: 14.1, and the Estonian text where it differs."""

from __future__ import annotations

from collections.abc import Mapping

from calibration.table import Point, Table
from referee.calls import call_made
from referee.facts import SAFETY, Played, ShotFacts
from referee.outcome import COUNT, KEEP, RESET, Outcome, ask
from referee.racks import in_outline, on_spot
from referee.ruling import Pair
from referee.state import Options, State
from referee.terms import Clause, CueBall, Fifteenth, Foul, Option, Reason

DELIBERATE_POINTS = 16  # est 7.5: one for the foul and fifteen besides


def legal_first(state: State) -> frozenset[int]:
    """Any object ball may be hit first (4.4)."""
    return state.object_balls


def break_fouls(facts: ShotFacts, shot: Played) -> tuple[Foul, ...]:
    """4.3 (b), est 6: the called ball, or cue ball and two object balls to a rail after the contact."""
    if call_made(shot, facts) is not None:
        return ()
    met = facts.first is not None and 0 in facts.railed and facts.objects_to_rail >= 2
    return () if met else (Foul.BREAKING_FOUL,)


def enforced(fouls: tuple[Foul, ...], third: bool, kitchen: bool, first_by_article: Foul | None) -> Foul | None:
    """The most serious foul: what costs most, then what puts the cue ball in the kitchen, then the rest (4.10, 6.)."""
    if Foul.DELIBERATE_TOUCH in fouls:
        return Foul.DELIBERATE_TOUCH
    if Foul.BREAKING_FOUL in fouls:
        return Foul.BREAKING_FOUL
    if third:
        return Foul.THREE_FOULS
    if kitchen:
        return Foul.SCRATCH if Foul.SCRATCH in fouls else Foul.BAD_KITCHEN_PLAY
    return first_by_article


def judge(
    state: State,
    facts: ShotFacts,
    fouls: tuple[Foul, ...],
    third: bool,
    first_by_article: Foul | None,
    shot: Played,
    options: Options,
) -> Outcome:
    """What chapter 4 makes of a shot."""
    me, other = state.shooter, state.opponent
    pocketed = facts.pocketed_balls
    if fouls:
        return _foul(state, facts, fouls, third, first_by_article, options)
    if call_made(shot, facts) is None:  # 4.5, 4.6
        safety = shot.call is SAFETY
        clause = Clause.GAME_CALLS if safety else Clause.CONTINUING
        return Outcome(True, Reason.SAFETY if safety else Reason.MISS, clause, other, spot=pocketed)
    points = _points(me, len(pocketed))
    if options.points_to is not None and state.score[me] + len(pocketed) >= options.points_to:
        return Outcome(True, Reason.POINTS_REACHED, Clause.SCORING, me, points=points, rack_winner=me)
    left = state.object_balls - pocketed
    if len(left) > 1:
        return Outcome(True, Reason.CONTINUES, Clause.CONTINUING, me, points=points)
    fifteenth, cue_ball = fifteenth_ball(min(left, default=None), resting(state.positions, shot), options.table)
    return Outcome(
        True,
        Reason.RERACK,
        Clause.RERACK,
        me,
        cue_ball,
        points=points,
        rerack=15 if fifteenth is Fifteenth.RACKED else 14,
        fifteenth=fifteenth,
    )


def _foul(
    state: State,
    facts: ShotFacts,
    fouls: tuple[Foul, ...],
    third: bool,
    first_by_article: Foul | None,
    options: Options,
) -> Outcome:
    """4.9 to 4.11; est 7.5, 10, 11 and 12."""
    me, other = state.shooter, state.opponent
    kitchen = facts.scratch or (Foul.BAD_KITCHEN_PLAY in fouls and facts.stayed_in_kitchen)
    worst = enforced(fouls, third, kitchen, first_by_article)
    spot = facts.pocketed_balls | facts.off
    cue = CueBall.KITCHEN if kitchen else CueBall.AS_LIES
    if worst is Foul.DELIBERATE_TOUCH:
        return Outcome(
            False,
            Reason.DELIBERATE,
            Foul.DELIBERATE_TOUCH,
            other,
            CueBall.KITCHEN,
            enforced=worst,
            third=third,
            count=RESET if third else COUNT,
            spot=spot,
            points=_points(me, -DELIBERATE_POINTS),
            choice=ask(other, Option.KITCHEN, Option.RERACK_OTHER),
        )
    if worst is Foul.BREAKING_FOUL:
        return Outcome(
            False,
            Reason.BREAKING_FOUL,
            Clause.BREAK,
            other,
            cue,
            enforced=worst,
            count=KEEP,
            spot=spot,
            points=_points(me, -2),
            choice=ask(other, Option.ACCEPT, Option.REBREAK),
        )
    if third:
        return Outcome(
            False,
            Reason.THIRD_FOUL,
            Clause.SERIOUS,
            me,
            CueBall.KITCHEN,
            enforced=worst,
            third=True,
            count=RESET,
            points=_points(me, -options.rules.three_fouls_points),
            is_break=True,
            rerack=15,
        )
    return Outcome(
        False,
        Reason.STANDARD_FOUL,
        Clause.FOULS,
        other,
        cue,
        enforced=worst,
        count=COUNT,
        spot=spot,
        points=_points(me, -1),
    )


def resting(positions: Mapping[int, Point], shot: Played) -> dict[int, Point]:
    """Where balls lie after a shot, as far as known: what did not move lies where it lay."""
    return {ball: at for ball, at in {**positions, **shot.start}.items() if ball not in shot.balls} | dict(shot.rest)


def fifteenth_ball(fifteenth: int | None, places: Mapping[int, Point], table: Table) -> tuple[Fifteenth, CueBall]:
    """The table of 4.8: where the fifteenth ball and the cue ball go when fourteen are racked.

    Parameters
    ----------
    fifteenth : the ball that is left, ``None`` if it was pocketed with the fourteenth.
    places : ball -> place, metres; a ball whose place is unknown is not in the way.
    """
    cue_at = places.get(0)
    cue_in_rack = in_outline(cue_at, table)
    if fifteenth is None:
        return Fifteenth.RACKED, CueBall.KITCHEN if cue_in_rack else CueBall.AS_LIES
    at = places.get(fifteenth)
    if in_outline(at, table):
        if cue_in_rack:
            return Fifteenth.RACKED, CueBall.KITCHEN
        return (
            Fifteenth.CENTRE_SPOT if on_spot(cue_at, table.head_spot, table) else Fifteenth.HEAD_SPOT
        ), CueBall.AS_LIES
    if not cue_in_rack:
        return Fifteenth.STAYS, CueBall.AS_LIES
    if on_spot(at, table.head_spot, table):
        return Fifteenth.STAYS, CueBall.CENTRE_SPOT
    if at is not None and table.in_kitchen(at):
        return Fifteenth.STAYS, CueBall.HEAD_SPOT
    return Fifteenth.STAYS, CueBall.KITCHEN


def _points(player: int, change: int) -> Pair:
    return (change, 0) if player == 0 else (0, change)
