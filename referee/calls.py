"""Calls (1.6): which are allowed, and whether one was made."""

from __future__ import annotations

from calibration.errors import InputError
from referee.facts import NO_CALL, PUSH_OUT, SAFETY, UNKNOWN_CALL, Call, Played, ShotFacts
from referee.state import Options, State
from referee.terms import Game, Group


def call_made(shot: Played, facts: ShotFacts) -> int | None:
    """The ball that was called and went down where it was called; without a call the obvious shot, if it was one."""
    call = shot.call
    if call.kind == "ball":
        return call.ball if (call.ball, call.pocket) in facts.pocketed else None
    return facts.obvious[0] if call is NO_CALL and facts.obvious is not None else None


def own_balls(state: State, player: int) -> frozenset[int]:
    """Balls of a player's group that are on the table (8-ball)."""
    return state.on_table & state.groups[player].balls if state.groups else frozenset()


def empty_groups(state: State) -> tuple[Group, ...]:
    """Groups that are all off the table (2025 4.4)."""
    return tuple(group for group in Group if not state.on_table & group.balls)


def check_call(shot: Played, state: State, options: Options) -> None:
    """Refuse a call that the rules do not allow here.

    Raises
    ------
    InputError
        Naming the call, why it is not allowed, and what is.
    """
    call, game = shot.call, options.game
    if shot.claim is not None:
        _check_claim(shot, state, options)
    if call is NO_CALL or call is UNKNOWN_CALL:
        return
    if call is PUSH_OUT:
        if game not in (Game.NINE_BALL, Game.TEN_BALL) or not state.push_out_allowed:
            raise InputError(
                "call: 'push-out' is not allowed on this shot; only on the one after a break without foul in 9-ball and 10-ball"
            )
        return
    if game is Game.NINE_BALL:
        return  # no calls in 9-ball; one that is made is ignored
    if state.is_break and game is not Game.STRAIGHT_POOL:
        raise InputError(f"call: {_told(call)}, but the {game} break is not called; give null")
    if call is SAFETY:
        if game is Game.TEN_BALL and not options.rules.ten_safety:
            raise InputError(
                f"call: 'safety' is not allowed in 10-ball by {options.rules.name}; give a ball and a pocket, or null"
            )
        return
    if call.ball not in state.object_balls:
        raise InputError(f"call.ball: {call.ball} is not on the table; on it: {sorted(state.object_balls)}")
    if game is Game.EIGHT_BALL and call.ball == 8 and shot.claim is None and state.groups_known:
        mine = own_balls(state, state.shooter)
        if state.groups is None or mine:
            left = f"own balls still on the table: {sorted(mine)}" if mine else "the table is open"
            raise InputError(f"call.ball: 8 may be called only when the shooter's group is gone ({left})")


def _check_claim(shot: Played, state: State, options: Options) -> None:
    group = shot.claim
    assert group is not None
    if options.game is not Game.EIGHT_BALL or not options.rules.claim_empty_group:
        raise InputError(f"claim: no group may be claimed in {options.game} by {options.rules.name}; leave it out")
    if state.is_break or state.groups is not None:
        raise InputError("claim: a group may be claimed only while the table is open; leave it out")
    if group not in empty_groups(state):
        raise InputError(f"claim: {group.value} are still on the table: {sorted(state.on_table & group.balls)}")
    if shot.call.kind != "ball" or shot.call.ball != 8:
        raise InputError('claim: the claimed group is gone, so the 8 must be called: "call": {"ball": 8, "pocket": …}')


def _told(call: Call) -> str:
    return repr(call.kind) if call.kind != "ball" else f"ball {call.ball} was called"
