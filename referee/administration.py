"""Lines that are no shots: lag, warning, spot request, stalemate, concession, penalty, replay."""

from __future__ import annotations

from dataclasses import replace

from calibration.errors import InputError
from referee.aftermath import award_rack, new_rack, ruling_after
from referee.choices import resolve_pending
from referee.commands import Concede, Lag, Penalty, SpotRequest, Stalemate, Warn
from referee.facts import SAFETY, Played, ShotFacts
from referee.fold import judge, legal_first, settle
from referee.fouls import in_article_order
from referee.lag import lag_winner
from referee.outcome import ask
from referee.racks import RACK_SIZE
from referee.ruling import Ruling
from referee.spotting import spot_ball
from referee.state import Options, State, with_flag, with_player
from referee.terms import Clause, CueBall, Foul, Game, Level, Option, Reason

TURNS = 3  # each player's turns after a stalemate was announced (1.12)
_EQUAL_M = 1e-4  # balls this much alike are equally near the head string
_NO_SHOT = Played((), call=SAFETY)
_NO_FACTS = ShotFacts(None, -1, frozenset(), (), (), frozenset(), False, False, (), None, False, False, frozenset())


def _not_over(state: State, options: Options, what: str) -> None:
    if state.match_winner is not None:
        raise InputError(f"{what}: the match is over, {options.players[state.match_winner]} won it")


def lag(state: State, command: Lag, options: Options) -> tuple[State, Ruling]:
    """Winner of the lag chooses who breaks; else the players lag again (1.2)."""
    _not_over(state, options, "lag")
    if state.shots and not state.lag_needed:
        raise InputError("lag: the players lag before the first shot, or after a stalemate in 14.1")
    winner = lag_winner(command.lags, options.table, options.rules)
    if winner is None:
        after = replace(state, lag_needed=True, choice=None)
        return after, ruling_after(after, options, reason=Reason.LAG_AGAIN, clause=Clause.LAG)
    choice = ask(winner, Option.BREAK_SELF, Option.BREAK_OTHER)
    after = replace(state, lag_needed=False, shooter=winner, rack_breaker=winner, choice=choice)
    return after, ruling_after(after, options, reason=Reason.LAG_WON, clause=Clause.LAG, shooter=winner)


def warn(state: State, command: Warn, options: Options) -> State:
    """The warning that makes the next foul the third (6.14)."""
    _not_over(state, options, "warn")
    player = command.player
    if state.fouls_in_row[player] < 2 or not options.rules.has_foul(Foul.THREE_FOULS, options.game):
        raise InputError(
            f"warn: {options.players[player]} has {state.fouls_in_row[player]} fouls in a row in {options.game}; "
            "a player is warned at two, in 9-ball, 10-ball and 14.1"
        )
    return replace(state, warned=with_flag(state.warned, player, True))


def spot_request(state: State, command: SpotRequest, options: Options) -> tuple[State, Ruling]:
    """In the kitchen, with every legal ball there too: the one nearest the head string may be spotted (1.5, est 7.7)."""
    _not_over(state, options, "spot_request")
    state = resolve_pending(state, options)
    if state.cue_ball is not CueBall.KITCHEN or state.is_break:
        raise InputError("spot_request: only a shooter with the cue ball in hand in the kitchen may ask for it")
    legal = legal_first(state, _NO_SHOT, options)
    if command.ball not in legal:
        raise InputError(f"spot_request: {command.ball} is not a legal ball now; legal: {sorted(legal)}")
    places = {ball: state.positions.get(ball) for ball in legal}
    for ball, at in places.items():
        if ball in state.racked:
            raise InputError(
                f"spot_request: ball {ball} is racked, not in the kitchen, and can be played; nothing may be spotted"
            )
        if at is None:
            raise InputError(
                f"spot_request: where ball {ball} lies is not known; give its place in 'setup.positions' or 'rest'"
            )
        if not options.table.in_kitchen(at):
            raise InputError(
                f"spot_request: ball {ball} is not in the kitchen and can be played; nothing may be spotted"
            )
    nearest = max(at[1] for at in places.values() if at is not None)
    equal = sorted(b for b, at in places.items() if at is not None and nearest - at[1] <= _EQUAL_M)
    if command.ball not in equal:
        raise InputError(f"spot_request: {command.ball} is not the ball nearest the head string; that is {equal}")
    others = {ball: at for ball, at in state.positions.items() if ball != command.ball}
    at = spot_ball(others, options.table)
    after = replace(state, positions={**others, command.ball: at})
    return after, ruling_after(
        after,
        options,
        reason=Reason.SPOT_REQUEST,
        clause=Clause.SPOT_REQUEST,
        shooter=state.shooter,
        spotted={command.ball: at},
    )


def stalemate(state: State, command: Stalemate, options: Options) -> tuple[State, Ruling]:
    """Announced: three turns each. Declared: the original breaker breaks again; in 14.1 the players lag (1.12)."""
    _not_over(state, options, "stalemate")
    if command.announced:
        after = replace(state, stalemate_turns=(TURNS, TURNS))
        return after, ruling_after(after, options, reason=Reason.STALEMATE_ANNOUNCED, clause=Clause.STALEMATE)
    state = resolve_pending(state, options)
    straight = options.game is Game.STRAIGHT_POOL
    after = new_rack(state, state.rack_breaker, state.rack_breaker, options, keep_fouls=straight)
    after = replace(after, lag_needed=straight)
    return after, ruling_after(
        after, options, reason=Reason.STALEMATE, clause=Clause.GAME_STALEMATE, rerack=RACK_SIZE[options.game]
    )


def concede(state: State, command: Concede, options: Options) -> tuple[State, Ruling]:
    """Conceding loses the match (1.11)."""
    _not_over(state, options, "concede")
    after = replace(state, match_winner=1 - command.player, choice=None)
    return after, ruling_after(after, options, reason=Reason.CONCEDED, clause=Clause.CONCESSION, shooter=command.player)


def penalty(state: State, command: Penalty, options: Options) -> tuple[State, Ruling]:
    """Unsporting conduct (6.16): a warning, a foul that counts toward three, a serious foul, the rack or the match."""
    _not_over(state, options, "penalty")
    player, level = command.player, command.level
    found = in_article_order((Foul.UNSPORTING,), None, None, options)
    straight = options.game is Game.STRAIGHT_POOL
    common = {"reason": Reason.PENALTY, "clause": Foul.UNSPORTING, "shooter": player}
    if level is Level.WARNING:
        return state, ruling_after(state, options, reason=Reason.PENALTY, clause=Foul.UNSPORTING, shooter=player)
    state = resolve_pending(state, options)  # a warning takes no choice away, all else goes on from what stands
    if level is Level.MATCH:
        after = replace(state, match_winner=1 - player)
        return after, ruling_after(after, options, legal=False, fouls=found, enforced=Foul.UNSPORTING, **common)  # type: ignore[arg-type]
    if level is Level.RACK or (level is Level.SERIOUS and not straight):
        after = award_rack(state, 1 - player, options)
        return after, ruling_after(
            after,
            options,
            legal=False,
            fouls=found,
            enforced=Foul.UNSPORTING,
            points=(0, 0) if straight else with_player((0, 0), 1 - player, 1),
            rerack=RACK_SIZE[options.game] if after.match_winner is None else None,
            rack_winner=None if straight else 1 - player,
            **common,  # type: ignore[arg-type]
        )
    if level is Level.SERIOUS and not options.rules.deliberate_touch:
        at_two = replace(
            state,
            shooter=player,
            is_break=False,
            fouls_in_row=with_player(state.fouls_in_row, player, 2),
            warned=(True, True),
        )
        return _as_foul(state, at_two, Foul.UNSPORTING, options)
    foul = Foul.DELIBERATE_TOUCH if level is Level.SERIOUS else Foul.UNSPORTING
    return _as_foul(state, replace(state, shooter=player, is_break=False), foul, options)


def _as_foul(state: State, turned: State, foul: Foul, options: Options) -> tuple[State, Ruling]:
    """The consequences of a foul without a shot, by the game's own chapter."""
    ignore = frozenset({Foul.NO_RAIL})
    fouls, outcome = judge(turned, _NO_SHOT, _NO_FACTS, (foul,), frozenset(), options, ignore)
    after, ruling = settle(turned, _NO_SHOT, _NO_FACTS, fouls, outcome, options)
    after = replace(after, shots=state.shots, strokes=state.strokes, before=state.before)
    if outcome.rack_winner is None and outcome.rerack is None and outcome.choice is None:
        if state.is_break:
            after = replace(after, is_break=True, cue_ball=CueBall.KITCHEN)
        elif outcome.cue_ball is CueBall.AS_LIES:
            after = replace(after, cue_ball=state.cue_ball)
    if after.shooter == state.shooter:
        after = replace(after, innings=state.innings)
    following = ruling_after(after, options, reason=Reason.PENALTY, clause=Foul.UNSPORTING).next
    return after, replace(
        ruling,
        shot=None,
        next=following,
        reason=Reason.PENALTY,
        article=options.rules.article(Foul.UNSPORTING, options.game),
    )


def replay(state: State, options: Options) -> tuple[State, Ruling]:
    """Interference: the last shot does not count and is played again (1.9, 1.7)."""
    before = state.before
    if before is None:
        raise InputError("replay: there is no shot that could be played again")
    after = replace(before, shots=state.shots, before=None)
    points = (after.score[0] - state.score[0], after.score[1] - state.score[1])
    return after, ruling_after(
        after, options, reason=Reason.REPLAY, clause=Clause.INTERFERENCE, shooter=after.shooter, points=points
    )
