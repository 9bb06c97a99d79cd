"""One shot folded into the match: facts -> fouls -> the game's chapter -> the next state and the ruling."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from calibration.errors import InputError
from calibration.table import Point
from referee import eight_ball, nine_ball, straight_pool, ten_ball
from referee.aftermath import award_rack, ruling_after
from referee.calls import check_call
from referee.choices import resolve_pending
from referee.facts import Played, ShotFacts, Situation
from referee.fouls import find_fouls, in_article_order, near_rail_after
from referee.outcome import COUNT, KEEP, Outcome
from referee.racks import RACK_SIZE, balls_of
from referee.rulesets import article_order
from referee.ruling import Pair, Ruling
from referee.spotting import spot_all
from referee.state import Options, State, with_flag, with_player
from referee.terms import CueBall, Fifteenth, Foul, Game
from tracking.events import Contact

_CUE = frozenset({0})
_NOTHING: Mapping[int, Point] = {}
_CHAPTERS = {
    Game.EIGHT_BALL: eight_ball.judge,
    Game.NINE_BALL: nine_ball.judge,
    Game.TEN_BALL: ten_ball.judge,
    Game.STRAIGHT_POOL: straight_pool.judge,
}


def ready(state: State, shot: Played, options: Options) -> tuple[State, Played]:
    """The state in which a shot begins: a pending choice falls to its first option, a wrong turn to who really played.

    Raises
    ------
    InputError
        Where the match is over, the lag is due, or the shot names balls or calls that cannot be.
    """
    if state.match_winner is not None:
        raise InputError(f"shot: the match is over, {options.players[state.match_winner]} won it")
    if state.lag_needed:
        raise InputError("shot: the players lag for the break first; give a 'lag' line")
    if state.choice is not None:
        state = resolve_pending(state, options)
    if shot.shooter is not None and options.players[state.shooter] != shot.shooter:
        state = replace(state, shooter=state.opponent)
    elif shot.shooter is not None:
        shot = replace(shot, shooter=None)
    if shot.extension and state.extensions[state.shooter]:
        raise InputError(f"shot.extension: {options.players[state.shooter]} has used the one extension of this rack")
    _check_balls(state, shot)
    check_call(shot, state, options)
    return state, shot


def _check_balls(state: State, shot: Played) -> None:
    on = state.on_table
    if not shot.balls <= on:
        for number, event in enumerate(shot.events):
            for ball in event.balls if isinstance(event, Contact) else (event.ball,):
                if ball not in on:
                    raise InputError(f"events[{number}]: ball {ball} is not on the table; on it: {sorted(on)}")
    if shot.rest or shot.start or shot.frozen_rails or shot.frozen_cue:
        for name, given in (
            ("rest", shot.rest),
            ("start", shot.start),
            ("frozen.rails", shot.frozen_rails),
            ("frozen.cue", shot.frozen_cue),
        ):
            for ball in given:
                if ball not in on:
                    raise InputError(f"{name}: ball {ball} is not on the table; on it: {sorted(on)}")


def legal_first(state: State, shot: Played, options: Options) -> frozenset[int]:
    """Balls that may be hit first on this shot (6.2)."""
    if options.game is Game.EIGHT_BALL:
        return eight_ball.legal_first(state, shot.claim, options)
    if options.game is Game.STRAIGHT_POOL:
        return straight_pool.legal_first(state)
    return nine_ball.legal_first(state)


def situation(state: State, shot: Played, options: Options) -> Situation:
    """What the facts need to know of the state before the shot."""
    return Situation(
        options.table,
        legal_first(state, shot, options),
        state.positions,
        state.cue_ball is CueBall.KITCHEN,
        state.racked,
    )


def judge(
    state: State,
    shot: Played,
    facts: ShotFacts,
    entered: tuple[Foul, ...],
    legal: frozenset[int],
    options: Options,
    ignore: frozenset[Foul] = frozenset(),
) -> tuple[tuple[Foul, ...], Outcome]:
    """Fouls of a shot and what the game's chapter makes of it; fouls in ``ignore`` are left out as not established."""
    game = options.game
    fouls = find_fouls(facts, shot, entered, state, options, legal)
    if state.is_break:
        if game is Game.STRAIGHT_POOL:
            fouls += straight_pool.break_fouls(facts, shot)
        elif game is not Game.EIGHT_BALL:
            fouls += nine_ball.break_fouls(facts)
    if ignore:
        fouls = tuple(f for f in fouls if f not in ignore)
    if not fouls:
        return fouls, _CHAPTERS[game](state, facts, fouls, False, None, shot, options)
    third = (
        state.fouls_in_row[state.shooter] >= 2
        and Foul.BREAKING_FOUL not in fouls
        and options.rules.has_foul(Foul.THREE_FOULS, game)
        and (not options.rules.warning_needed or state.warned[state.shooter])
    )
    first = min(fouls, key=lambda foul: article_order(options.rules.article(foul, game)))
    outcome = _CHAPTERS[game](state, facts, fouls, third, first, shot, options)
    if outcome.third:
        fouls += (Foul.THREE_FOULS,)
    return fouls, outcome


def settle(
    state: State, shot: Played, facts: ShotFacts, fouls: tuple[Foul, ...], outcome: Outcome, options: Options
) -> tuple[State, Ruling]:
    """The state after a shot, and the ruling that shows it."""
    me = state.shooter
    gone = facts.pocketed_balls | facts.off
    spotted: Mapping[int, Point] = _NOTHING
    positions: dict[int, Point] = {}
    racked = state.racked
    on_table = state.on_table - (gone - outcome.spot) if gone else state.on_table
    if racked and not racked.isdisjoint(shot.balls):
        racked = frozenset()
    if state.positions or shot.rest or shot.start or outcome.spot:
        positions = straight_pool.resting(state.positions, shot)
        for ball in gone:
            positions.pop(ball, None)
        if outcome.cue_ball is not CueBall.AS_LIES or facts.cue_pocketed or facts.cue_off:
            positions.pop(0, None)
        if outcome.spot:
            spotted = spot_all(outcome.spot, positions, options.table)
            positions.update(spotted)
    if outcome.rerack is not None:
        on_table, racked = _rerack(state, outcome, options, positions, on_table)
    passes = outcome.player != me
    after = State(
        outcome.player,
        on_table,
        positions,
        racked,
        outcome.cue_ball,
        outcome.is_break,
        outcome.push_out_allowed,
        outcome.groups if options.game is Game.EIGHT_BALL else None,
        state.groups_known,
        _count(state, me, outcome.count, options),
        state.warned,
        _added(state.score, outcome.points) if outcome.points != (0, 0) else state.score,
        state.sets,
        state.rack_breaker,
        state.shots + 1,
        outcome.choice,
        False,
        _stalemate_turns(state, facts, outcome, passes) if state.stalemate_turns else None,
        (
            (near_rail_after(facts, bool(fouls), state, options), state.near_rail[1])
            if me == 0
            else (state.near_rail[0], near_rail_after(facts, bool(fouls), state, options))
        )
        if options.rules.near_rail_rule
        else state.near_rail,
        with_flag(state.extensions, me, True) if shot.extension else state.extensions,
        with_player(state.strokes, me, state.strokes[me] + 1) if options.partners else state.strokes,
        with_player(state.innings, me, state.innings[me] + 1) if options.partners and passes else state.innings,
        None,
        state.group_odds,
        state,
    )
    if after.warned != (False, False) and after.fouls_in_row != state.fouls_in_row:
        after = replace(
            after,
            warned=(after.warned[0] and after.fouls_in_row[0] == 2, after.warned[1] and after.fouls_in_row[1] == 2),
        )
    winner, rerack, points = outcome.rack_winner, outcome.rerack, outcome.points
    if winner is not None:
        after = award_rack(after, winner, options)
        if options.game is not Game.STRAIGHT_POOL:
            points = (1, 0) if winner == 0 else (0, 1)
        if after.match_winner is None:
            rerack = RACK_SIZE[options.game]
    found = in_article_order(fouls, facts, shot, options) if fouls else ()
    ruling = ruling_after(
        after,
        options,
        reason=outcome.reason,
        clause=outcome.clause,
        shot=after.shots,
        shooter=me,
        legal=outcome.legal,
        fouls=found,
        enforced=outcome.enforced,
        pocketed=tuple(ball for ball, _ in facts.pocketed),
        points=points,
        spotted=spotted,
        rerack=rerack,
        fifteenth=outcome.fifteenth,
        rack_winner=winner if options.game is not Game.STRAIGHT_POOL else None,
        loss=outcome.loss,
    )
    return after, ruling


def _added(one: Pair, other: Pair) -> Pair:
    return one[0] + other[0], one[1] + other[1]


def _count(state: State, player: int, how: str, options: Options) -> Pair:
    """Fouls in a row after a shot; unwarned at two, a further one counts as the second again (6.14)."""
    before = state.fouls_in_row[player]
    if how == KEEP:
        return state.fouls_in_row
    if how != COUNT:
        return state.fouls_in_row if before == 0 else with_player(state.fouls_in_row, player, 0)
    unwarned = (
        before >= 2
        and options.rules.warning_needed
        and not state.warned[player]
        and options.rules.has_foul(Foul.THREE_FOULS, options.game)
    )
    return with_player(state.fouls_in_row, player, 2 if unwarned else before + 1)


def _stalemate_turns(state: State, facts: ShotFacts, outcome: Outcome, passes: bool) -> Pair | None:
    """Turns left after a stalemate was announced (1.12); a ball legally pocketed is progress and ends the count."""
    turns = state.stalemate_turns
    if turns is None or outcome.rack_winner is not None or outcome.rerack is not None:
        return None
    if outcome.legal and facts.pocketed_balls - outcome.spot:
        return None
    return with_player(turns, state.shooter, max(0, turns[state.shooter] - 1)) if passes else turns


def _rerack(
    state: State, outcome: Outcome, options: Options, positions: dict[int, Point], on_table: frozenset[int]
) -> tuple[frozenset[int], frozenset[int]]:
    """14.1: balls on the table and in the rack after a re-rack (4.8, est 7.3, 12); places in ``positions`` are mended."""
    everything = balls_of(options.game)
    left = on_table - _CUE
    fifteenth = min(left) if outcome.rerack == 14 and len(left) == 1 else None
    racked = everything - _CUE - ({fifteenth} if fifteenth is not None else frozenset())
    keep = {b: at for b, at in positions.items() if b == fifteenth or (b == 0 and outcome.cue_ball is CueBall.AS_LIES)}
    spots = {Fifteenth.HEAD_SPOT: options.table.head_spot, Fifteenth.CENTRE_SPOT: options.table.centre_spot}
    if fifteenth is not None and outcome.fifteenth in spots:
        keep[fifteenth] = spots[outcome.fifteenth]
    if outcome.cue_ball is CueBall.HEAD_SPOT:
        keep[0] = options.table.head_spot
    elif outcome.cue_ball is CueBall.CENTRE_SPOT:
        keep[0] = options.table.centre_spot
    positions.clear()
    positions.update(keep)
    return everything, racked
