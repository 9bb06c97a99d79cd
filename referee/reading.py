"""Small checks of what a script gives, each naming the field, the value and what is allowed."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping
from enum import Enum
from typing import Any, TypeVar

from calibration.errors import InputError
from calibration.table import Point, Table

E = TypeVar("E", bound=Enum)


def told(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."


def object_of(value: Any, allowed: Collection[str], where: str) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        raise InputError(f"{where} is {told(value)}: give an object")
    for key in value:
        if key not in allowed:
            raise InputError(f"{where}: unknown key {key!r}; allowed: {', '.join(sorted(allowed))}")
    return value


def real(value: Any, where: str, low: float = -math.inf, high: float = math.inf) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not low <= value <= high or not _finite(value):
        span = (
            f" from {low:g} to {high:g}" if math.isfinite(high) else f", {low:g} or more" if math.isfinite(low) else ""
        )
        raise InputError(f"{where} is {told(value)}: give a number{span}")
    return float(value)


def _finite(value: float) -> bool:
    try:
        return math.isfinite(value)
    except OverflowError:  # a whole number beyond every float
        return False


def integer(value: Any, where: str, low: int | None = None) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or (low is not None and value < low):
        raise InputError(
            f"{where} is {told(value)}: give a whole number" + (f", {low} or more" if low is not None else "")
        )
    return value


def flag(value: Any, where: str) -> bool:
    if not isinstance(value, bool):
        raise InputError(f"{where} is {told(value)}: give true or false")
    return value


def one_of(value: Any, allowed: Collection[str], where: str) -> str:
    if not isinstance(value, str) or value not in allowed:
        raise InputError(f"{where} is {told(value)}: one of {', '.join(allowed)}")
    return value


def term(value: Any, kind: type[E], where: str) -> E:
    return kind(one_of(value, [member.value for member in kind], where))


def ball_number(value: Any, where: str, balls: Collection[int]) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or value not in balls:
        raise InputError(f"{where} is {told(value)}: a ball of this game, {min(balls)} to {max(balls)}")
    return value


def ball_key(value: Any, where: str, balls: Collection[int]) -> int:
    if value not in (names := {str(ball): ball for ball in balls}):
        raise InputError(f'{where}: key {told(value)} is no ball; balls are keys like "{min(balls)}" to "{max(balls)}"')
    return names[value]


def point(value: Any, where: str, table: Table, margin: float = 0.0) -> Point:
    if not isinstance(value, (list, tuple)) or len(value) != 2:
        raise InputError(f"{where} is {told(value)}: give [x, y] in metres")
    at = (real(value[0], f"{where}[0]"), real(value[1], f"{where}[1]"))
    if not table.on_surface(at, -margin):
        raise InputError(
            f"{where} is {list(at)}: not on the table, x 0 to {table.width_m:g} and y 0 to {table.length_m:g} metres"
        )
    return at


def places_of(value: Any, where: str, balls: Collection[int], table: Table) -> dict[int, Point]:
    if not isinstance(value, Mapping):
        raise InputError(f"{where} is {told(value)}: give an object, ball -> [x, y]")
    return {
        (b := ball_key(key, where, balls)): point(at, f"{where}.{b}", table, 2 * table.ball_m)
        for key, at in value.items()
    }


def player_of(value: Any, where: str, players: tuple[str, str]) -> int:
    if value not in players:
        raise InputError(f"{where} is {told(value)}: one of the players {players[0]!r}, {players[1]!r}")
    return players.index(value)


def per_player(value: Any, where: str, players: tuple[str, str], read: Callable[[Any, str], int]) -> tuple[int, int]:
    given = object_of(value, players, where)
    return tuple(read(given[name], f"{where}.{name}") if name in given else 0 for name in players)  # type: ignore[return-value]


def list_of(value: Any, where: str) -> list[Any]:
    if isinstance(value, str):
        return [value]
    if not isinstance(value, (list, tuple)):
        raise InputError(f"{where} is {told(value)}: give a list")
    return list(value)
