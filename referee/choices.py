"""What follows when a player chooses: 1.2, 2.4, 3.3, 4.3, 9.4, est 7.5 and Regulation 16."""

from __future__ import annotations

from dataclasses import replace

from calibration.errors import InputError
from calibration.table import Point
from referee.aftermath import new_rack, ruling_after
from referee.racks import RACK_SIZE
from referee.ruling import Ruling
from referee.spotting import spot_all
from referee.state import Options, State
from referee.terms import Clause, CueBall, Option, Reason

_RERACKS = (Option.RERACK_SELF, Option.RERACK_OTHER, Option.REBREAK)
_CLAUSES = {
    Option.PLAY: Clause.PUSH_OUT,
    Option.HAND_BACK: Clause.PUSH_OUT,
    Option.BREAK_SELF: Clause.LAG,
    Option.BREAK_OTHER: Clause.LAG,
}


def resolve_pending(state: State, options: Options) -> State:
    """A shot that is played while a choice is open: the first option, which ``next`` showed, was taken."""
    choice = state.choice
    return state if choice is None else chosen(state, choice.options[0], options)[0]


def chosen(state: State, option: Option, options: Options) -> tuple[State, dict[int, Point]]:
    """The state after an option was taken, and the balls spotted for it.

    Raises
    ------
    InputError
        Where nothing is to be chosen, or not this.
    """
    choice = state.choice
    if choice is None:
        raise InputError(f"choose: {option.value!r}, but nothing is to be chosen now")
    if option not in choice.options:
        raise InputError(
            f"choose: {option.value!r} is not offered; one of {', '.join(o.value for o in choice.options)}"
        )
    me, other = choice.player, 1 - choice.player
    done = replace(state, choice=None)
    if option in (Option.BREAK_SELF, Option.BREAK_OTHER):
        breaker = me if option is Option.BREAK_SELF else other
        return new_rack(done, breaker, breaker, options, keep_fouls=True), {}
    if option in _RERACKS:
        breaker = me if option is Option.RERACK_SELF else other
        return new_rack(done, breaker, state.rack_breaker, options, keep_fouls=True), {}
    if option is Option.HAND_BACK:
        three_ball = Option.ACCEPT in choice.options
        return replace(done, shooter=other, push_out_allowed=three_ball), {}
    if option is Option.KITCHEN:
        places = {ball: at for ball, at in done.positions.items() if ball}
        return replace(done, shooter=me, cue_ball=CueBall.KITCHEN, positions=places), {}
    if option is Option.SPOT_8:
        spotted = spot_all((8,), done.positions, options.table)
        return replace(done, on_table=done.on_table | {8}, positions={**done.positions, **spotted}), spotted
    return done, {}


def choose(state: State, option: Option, options: Options) -> tuple[State, Ruling]:
    """Take an option; the ruling has no shot and shows the state after it."""
    after, spotted = chosen(state, option, options)
    player = state.choice.player if state.choice else None
    rerack = RACK_SIZE[options.game] if option in _RERACKS else None
    ruling = ruling_after(
        after,
        options,
        reason=Reason.CHOSEN,
        clause=_CLAUSES.get(option, Clause.BREAK),
        shooter=player,
        spotted=spotted,
        rerack=rerack,
        chosen=option,
    )
    return after, ruling
