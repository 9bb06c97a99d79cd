"""Checks a ``match.json`` field by field and names the first one that is wrong; standard library only."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from typing import Any

from calibration.errors import InputError
from calibration.table import POCKETS, RAILS
from tracking.events import LINES

FORMAT = "railbird/1"
GAMES = ("8-ball", "9-ball", "10-ball", "14.1")
RULE_SETS = ("wpa-2025", "wpa-2008", "est-14.1")
LANGUAGES = ("en", "hu", "et")
KINDS = ("strike", "contact", "rail", "pocket", "off-table", "cross")
TOWARD = ("head", "foot", "left", "right")
PARTIAL = ("", "start", "end", "both")
BALLS = range(16)

#: What a whole ``match.json`` must hold; a truth written elsewhere may be asked for less.
REQUIRED = ("format", "table", "game", "rules", "players", "shots")


def check(match: Mapping[str, Any], *, name: str = "match", required: Sequence[str] = REQUIRED) -> None:
    """Raise ``InputError`` at the first field that is missing or wrong, named by its path (``shots[2].events[0].rail``)."""
    if not isinstance(match, Mapping):
        raise InputError(f"{name}: holds {kind_of(match)}, wanted a JSON object")
    for key in required:
        if key not in match:
            raise InputError(f"{name}: {key} is missing")
    if match.get("format", FORMAT) != FORMAT:
        raise InputError(f'{name}: format is {show(match["format"])}: this railbird reads "{FORMAT}"')
    if "table" in match:
        _check_table(match["table"], f"{name}: table")
    if "game" in match:
        one_of(match["game"], GAMES, f"{name}: game")
    if "rules" in match:
        one_of(match["rules"], RULE_SETS, f"{name}: rules")
    if match.get("language") is not None:
        one_of(match["language"], LANGUAGES, f"{name}: language")
    if "players" in match:
        _check_players(match["players"], f"{name}: players")
    last = 0
    for i, shot in enumerate(_list(match.get("shots", []), f"{name}: shots")):
        check_shot(shot, f"{name}: shots[{i}]")
        if shot["number"] <= last:
            raise InputError(f"{name}: shots[{i}].number is {shot['number']} after {last}: numbers must grow")
        last = shot["number"]
    for i, warning in enumerate(_list(match.get("warnings", []), f"{name}: warnings")):
        where = f"{name}: warnings[{i}]"
        _object(warning, where)
        _text(warning.get("code"), f"{where}.code")


def check_shot(shot: Any, where: str = "shot") -> None:
    """Raise ``InputError`` where a shot's fields are not those of FORMATS."""
    _object(shot, where)
    for key in ("number", "start_s", "end_s", "start", "events"):
        if key not in shot:
            raise InputError(f"{where}.{key} is missing")
    number = shot["number"]
    if isinstance(number, bool) or not isinstance(number, int) or number < 1:
        raise InputError(f"{where}.number is {show(number)}: a whole number from 1")
    start, end = (_number(shot[key], f"{where}.{key}") for key in ("start_s", "end_s"))
    if end < start:
        raise InputError(f"{where}.end_s is {end}, before start_s {start}")
    for key in ("start", "end"):
        for ball, at in _object(shot.get(key) or {}, f"{where}.{key}").items():
            _ball_key(ball, f"{where}.{key}")
            _point(at, f"{where}.{key}.{ball}")
    for i, event in enumerate(_list(shot["events"], f"{where}.events")):
        check_event(event, f"{where}.events[{i}]")
    for ball, rows in _object(shot.get("paths") or {}, f"{where}.paths").items():
        _ball_key(ball, f"{where}.paths")
        for i, row in enumerate(_list(rows, f"{where}.paths.{ball}")):
            if not isinstance(row, list) or len(row) != 3 or not all(_is_number(v) for v in row):
                raise InputError(f"{where}.paths.{ball}[{i}] is {show(row)}: wanted [t_s, x, y]")
    frozen = _object(shot.get("frozen") or {}, f"{where}.frozen")
    for ball, rails in _object(frozen.get("rails") or {}, f"{where}.frozen.rails").items():
        _ball_key(ball, f"{where}.frozen.rails")
        for rail in _list(rails, f"{where}.frozen.rails.{ball}"):
            one_of(rail, RAILS, f"{where}.frozen.rails.{ball}")
    for ball in _list(frozen.get("cue") or [], f"{where}.frozen.cue"):
        _ball(ball, f"{where}.frozen.cue")
    if shot.get("shooter") is not None:
        _text(shot["shooter"], f"{where}.shooter")
    check_call(shot.get("call"), f"{where}.call")
    _object(shot.get("ruling") or {}, f"{where}.ruling")


def check_call(call: Any, where: str = "call") -> None:
    """Raise ``InputError`` where ``call`` is none of: null, "safety", "push-out", {"ball", "pocket"}."""
    if call is None or call in ("safety", "push-out"):
        return
    if not isinstance(call, Mapping) or not {"ball", "pocket"} <= set(call):
        raise InputError(f'{where} is {show(call)}: null, "safety", "push-out" or {{"ball", "pocket"}}')
    _ball(call["ball"], f"{where}.ball")
    one_of(call["pocket"], POCKETS, f"{where}.pocket")


def check_event(event: Any, where: str = "event") -> None:
    """Raise ``InputError`` where an event's fields are not those of FORMATS."""
    _object(event, where)
    kind = one_of(event.get("kind"), KINDS, f"{where}.kind")
    _number(event.get("t_s"), f"{where}.t_s")
    if event.get("sigma_s") is not None and _number(event["sigma_s"], f"{where}.sigma_s") < 0:
        raise InputError(f"{where}.sigma_s is {event['sigma_s']}: a deviation is not negative")
    if event.get("p") is not None and not 0 <= _number(event["p"], f"{where}.p") <= 1:
        raise InputError(f"{where}.p is {event['p']}: a probability is between 0 and 1")
    if kind == "contact":
        balls = event.get("balls")
        if not isinstance(balls, list) or len(balls) != 2:
            raise InputError(f"{where}.balls is {show(balls)}: two different balls, as [0, 3]")
        for ball in balls:
            _ball(ball, f"{where}.balls")
        if balls[0] == balls[1]:
            raise InputError(f"{where}.balls is {show(balls)}: a ball does not meet itself")
    else:
        _ball(event.get("ball"), f"{where}.ball")
    if kind == "rail":
        one_of(event.get("rail"), RAILS, f"{where}.rail")
    if kind == "pocket":
        one_of(event.get("pocket"), POCKETS, f"{where}.pocket")
        if event.get("hung_s") is not None and _number(event["hung_s"], f"{where}.hung_s") < 0:
            raise InputError(f"{where}.hung_s is {event['hung_s']}: seconds, not negative")
    if kind == "cross":
        one_of(event.get("line"), LINES, f"{where}.line")
        one_of(event.get("toward"), TOWARD, f"{where}.toward")
    if event.get("at") is not None:
        _point(event["at"], f"{where}.at")


def one_of(value: Any, allowed: Sequence[str], where: str) -> str:
    """``value``, or an ``InputError`` that lists what is allowed."""
    if not isinstance(value, str) or value not in allowed:
        raise InputError(f"{where} is {show(value)}: one of {', '.join(allowed)}")
    return value


def _check_table(table: Any, where: str) -> None:
    _object(table, where)
    for key in ("length_m", "width_m", "ball_m"):
        if key in table and _number(table[key], f"{where}.{key}") <= 0:
            raise InputError(f"{where}.{key} is {table[key]}: metres, more than 0")
    if "length_m" not in table:
        raise InputError(f"{where}.length_m is missing")
    for corner, at in _object(table.get("corners_px") or {}, f"{where}.corners_px").items():
        _point(at, f"{where}.corners_px.{corner}")


def _check_players(players: Any, where: str) -> None:
    if not isinstance(players, list) or len(players) != 2 or not all(isinstance(p, str) and p.strip() for p in players):
        raise InputError(f'{where} is {show(players)}: two names, as ["Ann", "Bo"]')
    if players[0] == players[1]:
        raise InputError(f"{where} are both {show(players[0])}: two different names")


def _object(value: Any, where: str) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        raise InputError(f"{where} is {kind_of(value)}, wanted an object")
    return value


def _list(value: Any, where: str) -> list[Any]:
    if not isinstance(value, list):
        raise InputError(f"{where} is {kind_of(value)}, wanted a list")
    return value


def _text(value: Any, where: str) -> str:
    if not isinstance(value, str) or not value:
        raise InputError(f"{where} is {show(value)}, wanted a text")
    return value


def _is_number(value: Any) -> bool:
    return not isinstance(value, bool) and isinstance(value, (int, float)) and math.isfinite(value)


def _number(value: Any, where: str) -> float:
    if not _is_number(value):
        raise InputError(f"{where} is {show(value)}, wanted a number")
    return float(value)


def _point(value: Any, where: str) -> None:
    if not isinstance(value, (list, tuple)) or len(value) != 2 or not all(_is_number(v) for v in value):
        raise InputError(f"{where} is {show(value)}, wanted [x, y]")


def _ball(value: Any, where: str) -> None:
    if isinstance(value, bool) or not isinstance(value, int) or value not in BALLS:
        raise InputError(f"{where} is {show(value)}: a ball is a whole number, 0 (cue ball) to 15")


def _ball_key(value: Any, where: str) -> None:
    if not isinstance(value, str) or not value.isdecimal() or int(value) not in BALLS or str(int(value)) != value:
        raise InputError(f'{where} has the key {show(value)}: a ball is "0" (cue ball) to "15"')


def kind_of(value: Any) -> str:
    names = {dict: "an object", list: "a list", str: "a text", bool: "true or false", type(None): "null"}
    return names.get(type(value), "a number")


def show(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= 60 else text[:57] + "…"
