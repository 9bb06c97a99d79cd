"""Reading a shot of a script: call, events, what was declared and entered."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from typing import Any, cast

from calibration.errors import InputError
from calibration.table import POCKETS, RAILS, Table
from referee.facts import NO_CALL, PUSH_OUT, SAFETY, UNKNOWN_CALL, Alternative, Call, Played, in_order
from referee.racks import balls_of
from referee.reading import (
    ball_key,
    ball_number,
    flag,
    list_of,
    object_of,
    one_of,
    places_of,
    player_of,
    point,
    real,
    term,
    told,
)
from referee.state import Options
from referee.terms import DERIVED_FOULS, Foul, Group
from tracking.events import AnyEvent, Contact, Crossing, OffTable, Pocketed, PocketName, RailHit, RailName, Strike

_LINES = ("head-string", "centre-string", "foot-string", "long-string")
_ACROSS, _ALONG = ("head", "foot"), ("left", "right")  # where a line can be crossed toward
_EVENT_KEYS = frozenset({"t_s", "kind", "sigma_s", "p", "at"})
_KEYS_OF = {
    "strike": _EVENT_KEYS | {"ball"},
    "contact": _EVENT_KEYS | {"balls", "balls_alt"},
    "rail": _EVENT_KEYS | {"ball", "rail", "leaves_first", "ball_alt"},
    "pocket": _EVENT_KEYS | {"ball", "pocket", "hung_s", "ball_alt"},
    "off-table": _EVENT_KEYS | {"ball", "ball_alt"},
    "cross": _EVENT_KEYS | {"ball", "line", "toward", "ball_alt"},
}
SHOT_KEYS = frozenset(
    [
        "call",
        "claim",
        "cue_ball_at",
        "frozen",
        "events",
        "observed",
        "suspected",
        "start",
        "rest",
        "partial",
        "trust",
        "clock_s",
        "extension",
        "shooter",
        "number",
        "start_s",
        "end_s",
        "end",
        "ruling",
    ]
)


def parse_shot(value: Any, options: Options) -> Played:
    """A shot from its script object."""
    given = object_of(value, SHOT_KEYS, "shot")
    if "events" not in given:
        raise InputError("shot.events is missing")
    balls, table = balls_of(options.game), options.table
    events, alternatives = events_of(given["events"], "shot.events", balls, table)
    frozen = object_of(_given(given, "frozen", {}), ("rails", "cue"), "shot.frozen")
    rails = _given(frozen, "rails", {})
    if not isinstance(rails, Mapping):
        raise InputError(f"shot.frozen.rails is {told(rails)}: give an object, ball -> list of rails")
    cue = _given(frozen, "cue", [])
    if not isinstance(cue, (list, tuple)):
        raise InputError(f"shot.frozen.cue is {told(cue)}: give a list of balls")
    observed = _given(given, "observed", [])
    if not isinstance(observed, (list, tuple)):
        raise InputError(f"shot.observed is {told(observed)}: give a list of foul codes")
    enterable = [foul.value for foul in Foul if foul not in DERIVED_FOULS]
    seen = [(Foul(one_of(code, enterable, f"shot.observed[{i}]")), 1.0) for i, code in enumerate(observed)]
    suspected = object_of(_given(given, "suspected", {}), enterable, "shot.suspected")
    seen += [(Foul(code), real(p, f"shot.suspected.{code}", 0, 1)) for code, p in suspected.items()]
    at = given.get("cue_ball_at")
    shooter = given.get("shooter")
    partial = given.get("partial") or ""
    clock = given.get("clock_s")
    if given.get("extension") and options.shot_clock_s is None:
        raise InputError("shot.extension is true: no shot clock is in use; give match.shot_clock_s")
    return Played(
        events,
        _call(given.get("call"), balls),
        term(given["claim"], Group, "shot.claim") if given.get("claim") is not None else None,
        point(at, "shot.cue_ball_at", table) if at is not None else None,
        {
            ball_key(key, "shot.frozen.rails", balls): frozenset(
                one_of(r, RAILS, f"shot.frozen.rails.{key}") for r in list_of(value, f"shot.frozen.rails.{key}")
            )
            for key, value in rails.items()
        },
        frozenset(ball_number(ball, f"shot.frozen.cue[{i}]", balls - {0}) for i, ball in enumerate(cue)),
        tuple(seen),
        places_of(_given(given, "start", {}), "shot.start", balls, table),
        places_of(_given(given, "rest", _given(given, "end", {})), "shot.rest", balls, table),
        "both" if partial is True else one_of(partial, ("", "start", "end", "both"), "shot.partial"),
        alternatives,
        None if clock is None else real(clock, "shot.clock_s", 0),
        flag(given.get("extension", False), "shot.extension"),
        options.players[player_of(shooter, "shot.shooter", options.players)] if shooter is not None else None,
        real(_given(given, "trust", 1.0), "shot.trust", 0, 1),
    )


def _given(where: Mapping[str, Any], key: str, otherwise: Any) -> Any:
    """A value that may be left out, ``null`` being the same; anything else is checked for its kind."""
    value = where.get(key)
    return otherwise if value is None else value


def _call(value: Any, balls: Collection[int]) -> Call:
    if value is None:
        return NO_CALL
    if isinstance(value, str):
        named = {"safety": SAFETY, "push-out": PUSH_OUT, "unknown": UNKNOWN_CALL}
        return named[one_of(value, named, "shot.call")]
    given = object_of(value, ("ball", "pocket"), "shot.call")
    for key in ("ball", "pocket"):
        if key not in given:
            raise InputError(f"shot.call.{key} is missing: a call names a ball and a pocket")
    return Call(
        "ball",
        ball_number(given["ball"], "shot.call.ball", set(balls) - {0}),
        one_of(given["pocket"], POCKETS, "shot.call.pocket"),
    )


def events_of(
    value: Any, where: str, balls: Collection[int], table: Table
) -> tuple[tuple[AnyEvent, ...], tuple[Alternative, ...]]:
    """Events in the book's order, and the other readings of who they are about."""
    if not isinstance(value, (list, tuple)):
        raise InputError(f"{where} is {told(value)}: give a list of events")
    events: list[AnyEvent] = []
    others: list[tuple[AnyEvent, tuple[int, ...], float]] = []
    down: set[int] = set()  # balls gone for certain; one that came out again is heard of before it can go again
    last = -math.inf
    for number, one in enumerate(value):
        here = f"{where}[{number}]"
        if not isinstance(one, Mapping) or not isinstance(one.get("kind"), str) or one["kind"] not in _KEYS_OF:
            kind = one.get("kind") if isinstance(one, Mapping) else one
            raise InputError(f"{here}.kind is {told(kind)}: one of {', '.join(_KEYS_OF)}")
        event = _event(one, here, balls, table)
        if event.t_s < last:
            raise InputError(
                f"{here}.t_s is {event.t_s:g}, before the event above it ({last:g}): events come in time order"
            )
        last = event.t_s
        if down or isinstance(event, (Pocketed, OffTable)):
            _gone_once(event, down, here)
        events.append(event)
        for listed in list_of(one.get("balls_alt") or one.get("ball_alt") or [], f"{here}.balls_alt"):
            others.append(
                (event, *_alternative(listed, f"{here}.{'balls_alt' if 'balls_alt' in one else 'ball_alt'}", balls))
            )
    ordered = in_order(events)
    places = {id(event): index for index, event in enumerate(ordered)}
    return ordered, tuple(Alternative(places[id(event)], instead, p) for event, instead, p in others)


def _gone_once(event: AnyEvent, down: set[int], here: str) -> None:
    """Refuse a ball that is pocketed or leaves the table where it certainly lies in a pocket or off the table already."""
    if isinstance(event, Contact):
        down.difference_update(event.balls)
        return
    if not isinstance(event, (Pocketed, OffTable)):
        down.discard(event.ball)
    elif event.p >= 1.0:
        if event.ball in down:
            raise InputError(
                f"{here}: ball {event.ball} is not on the table any more, it was pocketed or left it above"
            )
        down.add(event.ball)


def _alternative(value: Any, where: str, balls: Collection[int]) -> tuple[tuple[int, ...], float]:
    given = object_of(value, ("balls", "ball", "p"), where)
    named = given["balls"] if "balls" in given else [given.get("ball")]
    return tuple(ball_number(ball, where, balls) for ball in list_of(named, where)), real(
        given.get("p"), f"{where}.p", 0, 1
    )


def _event(one: Mapping[str, Any], here: str, balls: Collection[int], table: Table) -> AnyEvent:
    kind = one["kind"]
    object_of(one, _KEYS_OF[kind], here)
    if "t_s" not in one:
        raise InputError(f"{here}.t_s is missing")
    t = real(one["t_s"], f"{here}.t_s")
    sigma = real(one["sigma_s"], f"{here}.sigma_s", 0) if one.get("sigma_s") is not None else 0.0
    p = real(one["p"], f"{here}.p", 0, 1) if one.get("p") is not None else 1.0
    at = point(one["at"], f"{here}.at", table, 4 * table.ball_m) if one.get("at") is not None else None
    if kind == "contact":
        pair = one.get("balls")
        if not isinstance(pair, (list, tuple)) or len(pair) != 2 or pair[0] == pair[1]:
            raise InputError(f"{here}.balls is {told(pair)}: give two different balls")
        a, b = (ball_number(ball, f"{here}.balls", balls) for ball in pair)
        return Contact(t_s=t, sigma_s=sigma, p=p, balls=(min(a, b), max(a, b)), at=at)
    ball = ball_number(one.get("ball"), f"{here}.ball", balls)
    if kind == "strike":
        return Strike(t_s=t, sigma_s=sigma, p=p, ball=ball)
    if kind == "rail":
        leaves = flag(one.get("leaves_first", False), f"{here}.leaves_first")
        return RailHit(
            t_s=t,
            sigma_s=sigma,
            p=p,
            ball=ball,
            rail=cast(RailName, one_of(one.get("rail"), RAILS, f"{here}.rail")),
            at=at,
            leaves_first=leaves,
        )
    if kind == "pocket":
        return Pocketed(
            t_s=t,
            sigma_s=sigma,
            p=p,
            ball=ball,
            pocket=cast(PocketName, one_of(one.get("pocket"), POCKETS, f"{here}.pocket")),
            hung_s=real(one["hung_s"], f"{here}.hung_s", 0) if one.get("hung_s") is not None else None,
        )
    if kind == "off-table":
        return OffTable(t_s=t, sigma_s=sigma, p=p, ball=ball)
    line = one_of(one.get("line"), _LINES, f"{here}.line")
    toward = one_of(one.get("toward"), _ALONG if line == "long-string" else _ACROSS, f"{here}.toward")
    return Crossing(t_s=t, sigma_s=sigma, p=p, ball=ball, line=cast(Any, line), toward=cast(Any, toward))
