"""What a line leaves behind: racks won and set up anew, and the ruling that shows the state after it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from calibration.table import Point
from referee.racks import balls_of
from referee.ruling import FoulFound, Next, Pair, Ruling
from referee.state import Options, State, with_player
from referee.terms import BreakOrder, Clause, CueBall, Fifteenth, Foul, Game, Option, Reason

_CUE = frozenset({0})
_NOTHING: Mapping[int, Point] = {}


def award_rack(state: State, winner: int, options: Options) -> State:
    """The state after a rack (14.1: the game) was won: score, set, match, and the next rack with its breaker."""
    straight = options.game is Game.STRAIGHT_POOL
    score, sets, match_winner = state.score, state.sets, None
    if not straight:
        score = with_player(score, winner, score[winner] + 1)
    if straight or (options.race_to is not None and score[winner] >= options.race_to):
        if options.sets_to is None:
            match_winner = winner
        else:
            sets = with_player(sets, winner, sets[winner] + 1)
            if sets[winner] >= options.sets_to:
                match_winner = winner
            else:
                score = (0, 0)
    if match_winner is not None:
        return replace(
            state,
            score=score,
            sets=sets,
            match_winner=match_winner,
            choice=None,
            fouls_in_row=(0, 0),
            groups=None,
            warned=(False, False),
            stalemate_turns=None,
        )
    if options.break_order is BreakOrder.ALTERNATE:
        breaker = 1 - state.rack_breaker
    else:
        breaker = winner if options.break_order is BreakOrder.WINNER else 1 - winner
    return new_rack(replace(state, score=score, sets=sets), breaker, breaker, options)


def new_rack(state: State, breaker: int, original: int, options: Options, *, keep_fouls: bool = False) -> State:
    """A rack set up anew: ``breaker`` breaks it, ``original`` counts as the rack's breaker for stalemate and turns."""
    balls = balls_of(options.game)
    return replace(
        state,
        shooter=breaker,
        on_table=balls,
        positions={},
        racked=balls - _CUE,
        cue_ball=CueBall.KITCHEN,
        is_break=True,
        push_out_allowed=False,
        groups=None,
        groups_known=True,
        group_odds=None,
        fouls_in_row=state.fouls_in_row if keep_fouls else (0, 0),
        warned=state.warned if keep_fouls else (False, False),
        rack_breaker=original,
        choice=None,
        stalemate_turns=None,
        near_rail=(None, None),
        extensions=(False, False),
    )


def ruling_after(
    state: State,
    options: Options,
    *,
    reason: Reason,
    clause: Clause | Foul,
    shot: int | None = None,
    shooter: int | None = None,
    legal: bool | None = None,
    fouls: tuple[FoulFound, ...] = (),
    enforced: Foul | None = None,
    pocketed: tuple[int, ...] = (),
    points: Pair = (0, 0),
    spotted: Mapping[int, Point] = _NOTHING,
    rerack: int | None = None,
    fifteenth: Fifteenth | None = None,
    rack_winner: int | None = None,
    loss: Reason | None = None,
    needs_referee: str | None = None,
    chosen: Option | None = None,
) -> Ruling:
    """A ruling that shows the state after a line."""
    following: Next | None = None
    warning: int | None = None
    if state.match_winner is None:
        player = None if state.lag_needed else state.shooter
        following = Next(player, state.cue_ball, state.is_break, state.push_out_allowed, _partner(state, options))
        if player is not None and state.fouls_in_row[player] == 2 and not state.warned[player]:
            warning = player if options.rules.has_foul(Foul.THREE_FOULS, options.game) else None
        if state.stalemate_turns == (0, 0):
            needs_referee = needs_referee or "stalemate-turns-over"
    return Ruling(
        shot,
        shooter,
        legal,
        fouls,
        enforced,
        options.rules.name,
        options.game,
        options.players,
        reason,
        options.rules.article(clause, options.game),
        pocketed,
        points,
        state.score,
        state.fouls_in_row,
        state.groups,
        spotted,
        rerack,
        fifteenth,
        following,
        state.choice,
        rack_winner,
        state.match_winner,
        1.0,
        None,
        needs_referee,
        loss,
        warning,
        state.stalemate_turns,
        state.sets if options.sets_to is not None else None,
        chosen,
    )


def _partner(state: State, options: Options) -> str | None:
    """Who of a team plays next: partners alternate, at each shot or at each turn."""
    if options.partners is None or state.lag_needed:
        return None
    team = options.partners[state.shooter]
    played = state.innings if options.alternate_innings else state.strokes
    return team[played[state.shooter] % len(team)]
