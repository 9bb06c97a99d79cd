"""What people ask of the desk, carried out: calls, choices, corrections, time-outs, set-up."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from calibration.errors import InputError
from railbird.live import commands as ask
from railbird.live.access import Role, Visitor
from railbird.live.config import clean_names
from railbird.live.seen import CameraState
from railbird.live.session import News, Session
from railbird.live.store import MatchRecord

if TYPE_CHECKING:
    from railbird.live.desk import Desk


def carry_out(desk: Desk, visitor: Visitor, command: ask.Command) -> dict[str, Any]:
    """Carry out a command; its role has been checked, its seat has not.

    Raises
    ------
    InputError
        Where it cannot be now.
    PermissionError
        Where it is another player who may give it.
    """
    who = visitor.name
    match command:
        case ask.NewMatch():
            return {"match": _new_match(desk, command).id}
        case ask.Sound():
            desk.volume = desk.volume if command.volume is None else command.volume
            desk.fouls_only = desk.fouls_only if command.fouls_only is None else command.fouls_only
            if desk.speaker is not None:
                desk.speaker.volume = desk.volume
            return {}
        case ask.Settle():
            desk.store.settle(command.dispute)
            return {}
        case ask.PutBack():
            desk.put_back = command.on
            return {}
        case ask.WatchHit():
            desk.watching = command.on
            return {}
    session, record = desk.session, desk.record
    if session is None or record is None:
        raise InputError("no match is being played: begin one on the set-up page")
    names = session.players
    news = News()
    match command:
        case ask.Call():
            _own_turn(desk, visitor, session)
            news = session.call(who, _call_of(command), command.claim)
        case ask.Choose():
            choice = session.view()["choice"]
            if choice is not None and visitor.seat is not None and names[visitor.seat] != choice["player"]:
                raise PermissionError(f"it is {choice['player']} who chooses")
            news = session.choose(who, command.option)
        case ask.Observed():
            _before_next_shot(desk)
            news = session.observed(who, command.code, command.there)
        case ask.Correct():
            news = _correct(desk, visitor, session, command)
        case ask.Undo():
            news = session.undo(who)
        case ask.Redo():
            news = session.redo(who)
        case ask.Concede():
            if visitor.seat is not None and visitor.seat != command.seat:
                raise PermissionError("a match is conceded by the one who loses it")
            news = session.enter(who, {"concede": names[command.seat]})
        case ask.Pause():
            session.pause(who, command.on)
            now = time.monotonic()
            desk.clock.hold(now) if command.on else desk.clock.go_on(now)
        case ask.Extension():
            _extend(desk, session)
        case ask.Dispute():
            if command.shot > session.shots:
                raise InputError(f"there is no shot {command.shot}; {session.shots} were played")
            desk.store.dispute(record.id, command.shot, who, {"text": command.text})
        case ask.Breaker():
            news = session.breaker(who, command.seat)
        case ask.Replay():
            news = session.enter(who, {"replay": True})
        case ask.SpotRequest():
            _own_turn(desk, visitor, session)
            news = session.enter(who, {"spot_request": command.ball})
        case ask.Stalemate():
            news = session.enter(who, {"stalemate": "announced" if command.announced else True})
        case ask.Warn():
            news = session.enter(who, {"warn": names[command.seat]})
        case ask.Penalty():
            news = session.enter(who, {"penalty": {"player": names[command.seat], "level": command.level}})
        case ask.SetState():
            news = _set_state(who, session, command)
    desk.after(news)
    return {"rulings": [r["announce"] for r in news.rulings]}


def _new_match(desk: Desk, command: ask.NewMatch) -> MatchRecord:
    names = clean_names(*command.players)
    straight = command.game == "14.1"
    opening = {
        "game": command.game,
        "rules": command.rules,
        "players": list(names),
        "breaker": None if command.breaker is None else names[command.breaker],
        "race_to": None if straight else command.race_to,
        "points_to": command.points_to if straight else None,
        "break_order": command.break_order,
        "three_ball_rule": command.three_ball_rule,
        "shot_clock_s": command.shot_clock_s,
        "table": desk.table_size,
    }
    return desk.begin(opening, command.language)


def _correct(desk: Desk, visitor: Visitor, session: Session, command: ask.Correct) -> News:
    if desk.club.page.corrections == "referee" and visitor.role is not Role.REFEREE:
        raise PermissionError("at this table only the referee corrects a shot")
    if command.reading is not None:
        return session.correct_by_reading(visitor.name, command.shot, command.reading)
    pocketed = None
    if command.pocketed is not None:
        if not all(key.isdecimal() and int(key) <= 15 for key in command.pocketed):
            raise InputError("pocketed: balls are keys from 0 to 15")
        pocketed = {int(key): pocket for key, pocket in command.pocketed.items()}
    call: Any = ... if command.call is None else _call_of(command.call)
    if pocketed is None and command.first is None and command.rail is None and call is ...:
        raise InputError("say what was different: first, rail, pocketed, call or one of the readings")
    return session.correct_facts(
        visitor.name,
        command.shot,
        first=command.first,
        rail=command.rail,
        pocketed=pocketed,
        off=command.off,
        call=call,
    )


def _set_state(who: str, session: Session, command: ask.SetState) -> News:
    names = session.players
    return session.set_state(
        who,
        shooter=names[command.shooter],
        on_table=command.on_table,
        cue_ball=command.cue_ball,
        score=_by_name(names, command.score),
        groups=_by_name(names, command.groups),
        **({"break": True} if command.is_break else {}),
    )


def _own_turn(desk: Desk, visitor: Visitor, session: Session) -> None:
    _before_next_shot(desk)
    shooter = session.view()["shooter"]
    if visitor.seat is not None and shooter is not None and session.players[visitor.seat] != shooter:
        raise PermissionError(f"it is {shooter} who is at the table")


def _before_next_shot(desk: Desk) -> None:
    if desk.camera_state is CameraState.SHOT:
        raise InputError("the shot is under way: say it when the balls are at rest")


def _extend(desk: Desk, session: Session) -> None:
    if desk.clock.limit_s is None:
        raise InputError("no shot clock is used in this match")
    state = session.state
    if desk.clock.extended or state.extensions[state.shooter]:
        raise InputError("the extension of this rack has been used")
    desk.clock.extend()
    desk.extension_taken = True


def _by_name(names: tuple[str, str], values: Sequence[Any] | None) -> dict[str, Any] | None:
    return None if values is None else dict(zip(names, values, strict=True))


def _call_of(command: ask.Call) -> Any:
    """The script's call; ``None`` takes it back."""
    if command.kind == "none":
        return None
    if command.kind != "ball":
        return command.kind
    if command.ball is None or command.pocket is None:
        raise InputError("call: a ball and a pocket")
    return {"ball": command.ball, "pocket": command.pocket}
