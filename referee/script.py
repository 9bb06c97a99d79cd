"""Reading a script: JSON lines into frozen commands, with exact messages for what cannot be."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping
from enum import Enum
from typing import Any, TypeVar

from calibration.errors import InputError
from calibration.table import POCKETS, RAILS, Point, Table
from referee.commands import Choose, Command, Concede, Lag, Overrule, Penalty, Replay, Setup, Shoot, SpotRequest, Stalemate, Warn
from referee.facts import NO_CALL, PUSH_OUT, SAFETY, UNKNOWN_CALL, Alternative, Call, Played, in_order
from referee.lag import Lagged
from referee.racks import balls_of
from referee.rulesets import RULE_SETS
from referee.state import Options, State, first_state
from referee.terms import DERIVED_FOULS, BreakOrder, CueBall, Foul, Game, Group, Level, Option
from tracking.events import AnyEvent, Contact, Crossing, OffTable, Pocketed, RailHit, Strike

E = TypeVar("E", bound=Enum)
_LINES = ("head-string", "centre-string", "foot-string", "long-string")
_SIDES = ("head", "foot", "left", "right")
_EVENT_KEYS = frozenset({"t_s", "kind", "sigma_s", "p", "at"})
_KEYS_OF = {
    "strike": _EVENT_KEYS | {"ball"},
    "contact": _EVENT_KEYS | {"balls", "balls_alt"},
    "rail": _EVENT_KEYS | {"ball", "rail", "leaves_first", "ball_alt"},
    "pocket": _EVENT_KEYS | {"ball", "pocket", "ball_alt"},
    "off-table": _EVENT_KEYS | {"ball", "ball_alt"},
    "cross": _EVENT_KEYS | {"ball", "line", "toward", "ball_alt"},
}
_SHOT_KEYS = frozenset(
    "call claim cue_ball_at frozen events observed suspected start rest partial clock_s extension shooter "
    "number start_s end_s end ruling".split()
)
_MATCH_KEYS = frozenset(
    "game rules players breaker race_to points_to sets_to break_order three_ball_rule shot_clock_s table sure partners partners_alternate".split()
)
_SETUP_KEYS = frozenset(
    "shooter break on_table positions cue_ball fouls_in_row warned score sets groups push_out_allowed breaker".split()
)


# -- small checks, each naming the field, the value and what is allowed ---------------------------------------------


def _told(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."


def _keys(value: Any, allowed: Collection[str], where: str) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        raise InputError(f"{where} is {_told(value)}: give an object")
    for key in value:
        if key not in allowed:
            raise InputError(f"{where}: unknown key {key!r}; allowed: {', '.join(sorted(allowed))}")
    return value


def _number(value: Any, where: str, low: float = -math.inf, high: float = math.inf) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value) or not low <= value <= high:
        span = f" from {low:g} to {high:g}" if math.isfinite(high) else f", {low:g} or more" if math.isfinite(low) else ""
        raise InputError(f"{where} is {_told(value)}: give a number{span}")
    return float(value)


def _integer(value: Any, where: str, low: int | None = None) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or (low is not None and value < low):
        raise InputError(f"{where} is {_told(value)}: give a whole number" + (f", {low} or more" if low is not None else ""))
    return value


def _flag(value: Any, where: str) -> bool:
    if not isinstance(value, bool):
        raise InputError(f"{where} is {_told(value)}: give true or false")
    return value


def _one_of(value: Any, allowed: Collection[str], where: str) -> str:
    if not isinstance(value, str) or value not in allowed:
        raise InputError(f"{where} is {_told(value)}: one of {', '.join(allowed)}")
    return value


def _term(value: Any, kind: type[E], where: str) -> E:
    return kind(_one_of(value, [member.value for member in kind], where))


def _ball(value: Any, where: str, balls: Collection[int]) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or value not in balls:
        raise InputError(f"{where} is {_told(value)}: a ball of this game, {min(balls)} to {max(balls)}")
    return value


def _ball_key(value: Any, where: str, balls: Collection[int]) -> int:
    if not isinstance(value, str) or not value.isdecimal() or str(int(value)) != value or int(value) not in balls:
        raise InputError(f'{where}: key {_told(value)} is no ball; balls are keys like "{min(balls)}" to "{max(balls)}"')
    return int(value)


def _point(value: Any, where: str, table: Table, margin: float = 0.0) -> Point:
    if not isinstance(value, (list, tuple)) or len(value) != 2:
        raise InputError(f"{where} is {_told(value)}: give [x, y] in metres")
    at = (_number(value[0], f"{where}[0]"), _number(value[1], f"{where}[1]"))
    if not table.on_surface(at, -margin):
        raise InputError(f"{where} is {list(at)}: not on the table, x 0 to {table.width_m:g} and y 0 to {table.length_m:g} metres")
    return at


def _places(value: Any, where: str, balls: Collection[int], table: Table) -> dict[int, Point]:
    if not isinstance(value, Mapping):
        raise InputError(f'{where} is {_told(value)}: give an object, ball -> [x, y]')
    return {(b := _ball_key(key, where, balls)): _point(at, f"{where}.{b}", table, 2 * table.ball_m) for key, at in value.items()}


def _player(value: Any, where: str, players: tuple[str, str]) -> int:
    if value not in players:
        raise InputError(f"{where} is {_told(value)}: one of the players {players[0]!r}, {players[1]!r}")
    return players.index(value)


def _per_player(value: Any, where: str, players: tuple[str, str], read: Callable[[Any, str], int]) -> tuple[int, int]:
    given = _keys(value, players, where)
    return tuple(read(given[name], f"{where}.{name}") if name in given else 0 for name in players)  # type: ignore[return-value]


# -- the match line ---------------------------------------------------------------------------------------------


def parse_match(line: Mapping[str, Any]) -> Options:
    """Options of a match from its opening line.

    Raises
    ------
    InputError
        Naming the field, its value and what is allowed.
    """
    given = _keys(_only(line, "match", "the first line opens the match"), _MATCH_KEYS, "match")
    for key in ("game", "players"):
        if key not in given:
            raise InputError(f"match.{key} is missing")
    game = _term(given["game"], Game, "match.game")
    rules = RULE_SETS[_one_of(given.get("rules", next(iter(RULE_SETS))), RULE_SETS, "match.rules")]
    if game not in rules.games:
        raise InputError(f"match.game is {game.value!r}: {rules.name} has {', '.join(sorted(g.value for g in rules.games))}")
    players = given["players"]
    if (
        not isinstance(players, (list, tuple))
        or len(players) != 2
        or not all(isinstance(name, str) and name.strip() for name in players)
        or players[0] == players[1]
    ):
        raise InputError(f"match.players is {_told(players)}: give two different names that are not empty")
    pair = (players[0], players[1])

    def optional(key: str) -> int | None:
        return None if given.get(key) is None else _integer(given[key], f"match.{key}", 1)

    clock = given.get("shot_clock_s")
    table = given.get("table")
    if table is not None:
        table = Table.from_json(_keys(table, ("length_m", "width_m", "ball_m"), "match.table"))
    three = given.get("three_ball_rule")
    sure = given.get("sure")
    return Options(
        game,
        rules,
        pair,
        _player(given["breaker"], "match.breaker", pair) if given.get("breaker") is not None else 0,
        optional("race_to"),
        optional("points_to"),
        optional("sets_to"),
        _term(given.get("break_order", "alternate"), BreakOrder, "match.break_order"),
        rules.three_ball_rule and game is Game.NINE_BALL and (three is None or _flag(three, "match.three_ball_rule")),
        None if clock is None else _positive(clock, "match.shot_clock_s"),
        table or Table(),
        0.95 if sure is None else _number(sure, "match.sure", 0.5, 1.0),
        _partners(given.get("partners"), pair),
        _one_of(given.get("partners_alternate", "shots"), ("shots", "innings"), "match.partners_alternate") == "innings",
    )


def _positive(value: Any, where: str) -> float:
    number = _number(value, where)
    if number <= 0:
        raise InputError(f"{where} is {_told(value)}: give a number above 0")
    return number


def _partners(value: Any, players: tuple[str, str]) -> tuple[tuple[str, ...], tuple[str, ...]] | None:
    if value is None:
        return None
    given = _keys(value, players, "match.partners")
    teams = []
    for name in players:
        team = given.get(name)
        if not isinstance(team, (list, tuple)) or not team or not all(isinstance(one, str) and one for one in team):
            raise InputError(f"match.partners.{name} is {_told(team)}: give the names of the team, in their order")
        teams.append(tuple(team))
    return teams[0], teams[1]


def _only(line: Any, name: str, why: str) -> Any:
    if not isinstance(line, Mapping) or set(line) != {name}:
        raise InputError(f'{_told(line)}: {why}; give {{"{name}": …}}')
    return line[name]


# -- all other lines --------------------------------------------------------------------------------------------


def parse_line(line: Any, options: Options, state: State) -> Command:
    """The command that a line is; ``state`` is the one before it (a setup keeps its shot count).

    Raises
    ------
    InputError
        Naming the field, its value and what is allowed.
    """
    if not isinstance(line, Mapping) or len(line) != 1:
        raise InputError(f"{_told(line)}: a line is an object with one key, one of {', '.join(sorted(_READERS))}")
    (name, value), = line.items()
    if name == "match":
        raise InputError("match: the match has begun; a script holds one match")
    reader = _READERS.get(name)
    if reader is None:
        raise InputError(f"unknown line {name!r}; one of {', '.join(sorted(_READERS))}")
    return reader(value, options, state)


def _setup(value: Any, options: Options, state: State) -> Command:
    given = _keys(value, _SETUP_KEYS, "setup")
    players, game = options.players, options.game
    balls = balls_of(game)
    fresh = first_state(options)
    is_break = _flag(given.get("break", True), "setup.break")
    on_table = balls
    if "on_table" in given:
        listed = given["on_table"]
        if not isinstance(listed, (list, tuple)):
            raise InputError(f"setup.on_table is {_told(listed)}: give a list of balls")
        numbers = [_ball(ball, f"setup.on_table[{i}]", balls) for i, ball in enumerate(listed)]
        if len(set(numbers)) != len(numbers):
            raise InputError(f"setup.on_table is {numbers}: a ball is named twice")
        on_table = frozenset(numbers) | {0}
        needed = {Game.EIGHT_BALL: 8, Game.NINE_BALL: 9, Game.TEN_BALL: 10}.get(game)
        if (needed is not None and needed not in on_table) or len(on_table) < 2:
            raise InputError(f"setup.on_table is {numbers}: the {needed or 'rack'} is not on the table, so the rack would be over")
        if is_break and on_table != balls:
            raise InputError(f"setup.on_table is {numbers}: a break has all balls of the rack; leave it out or give \"break\": false")
    positions = _places(given.get("positions", {}), "setup.positions", balls, options.table)
    for ball in positions:
        if ball not in on_table:
            raise InputError(f"setup.positions.{ball}: ball {ball} is not in setup.on_table {sorted(on_table)}")
    cue_ball = _term(given.get("cue_ball", "kitchen" if is_break else "as-lies"), CueBall, "setup.cue_ball")
    groups, known = _groups(given.get("groups"), options)
    breaker = state.rack_breaker
    shooter = _player(given["shooter"], "setup.shooter", players) if "shooter" in given else options.breaker
    if "breaker" in given:
        breaker = _player(given["breaker"], "setup.breaker", players)
    elif is_break:
        breaker = shooter
    fouls = _per_player(given.get("fouls_in_row", {}), "setup.fouls_in_row", players, lambda v, w: _integer(v, w, 0))
    if game is not Game.EIGHT_BALL and max(fouls) > 2:
        raise InputError(f"setup.fouls_in_row is {_told(given['fouls_in_row'])}: 0 to 2; the third has had its penalty")
    warned = given.get("warned", False)
    score = _per_player(given.get("score", {}), "setup.score", players, _integer)
    target = options.points_to if game is Game.STRAIGHT_POOL else options.race_to
    for name, points in zip(players, score, strict=True):
        if game is not Game.STRAIGHT_POOL and points < 0:
            raise InputError(f"setup.score.{name} is {points}: racks won are 0 or more")
        if target is not None and points >= target:
            raise InputError(f"setup.score.{name} is {points}: the match to {target} would be over")
    if isinstance(warned, Mapping):
        _keys(warned, players, "setup.warned")
        flags = tuple(_flag(warned.get(name, False), f"setup.warned.{name}") for name in players)
    else:
        flags = (_flag(warned, "setup.warned"),) * 2
    push_out = _flag(given.get("push_out_allowed", False), "setup.push_out_allowed")
    if push_out and (is_break or game not in (Game.NINE_BALL, Game.TEN_BALL)):
        raise InputError("setup.push_out_allowed is true: only after the break in 9-ball and 10-ball")
    return Setup(
        State(
            shooter,
            on_table,
            positions,
            fresh.racked if is_break else frozenset(),
            cue_ball,
            is_break,
            push_out,
            groups,
            known,
            fouls,
            tuple(flag and count >= 2 for flag, count in zip(flags, fouls, strict=True)),  # type: ignore[arg-type]
            score,
            _per_player(given.get("sets", {}), "setup.sets", players, lambda v, w: _integer(v, w, 0)),
            breaker,
            state.shots,
            strokes=state.strokes,
            innings=state.innings,
        )
    )


def _groups(value: Any, options: Options) -> tuple[tuple[Group, Group] | None, bool]:
    if value is None:
        return None, True
    if options.game is not Game.EIGHT_BALL:
        raise InputError(f"setup.groups is {_told(value)}: only 8-ball has groups")
    if value == "unknown":
        return None, False
    given = _keys(value, options.players, "setup.groups")
    found = {name: _term(group, Group, f"setup.groups.{name}") for name, group in given.items()}
    if not found:
        return None, True
    first = found[options.players[0]] if options.players[0] in found else found[options.players[1]].other
    if len(found) == 2 and len(set(found.values())) == 1:
        raise InputError(f"setup.groups is {_told(value)}: the players have different groups")
    return (first, first.other), True


def parse_shot(value: Any, options: Options) -> Played:
    """A shot from its script object."""
    given = _keys(value, _SHOT_KEYS, "shot")
    if "events" not in given:
        raise InputError("shot.events is missing")
    balls, table = balls_of(options.game), options.table
    events, alternatives = _events(given["events"], "shot.events", balls, table)
    frozen = _keys(given.get("frozen") or {}, ("rails", "cue"), "shot.frozen")
    rails = frozen.get("rails") or {}
    if not isinstance(rails, Mapping):
        raise InputError(f"shot.frozen.rails is {_told(rails)}: give an object, ball -> list of rails")
    cue = frozen.get("cue") or []
    if not isinstance(cue, (list, tuple)):
        raise InputError(f"shot.frozen.cue is {_told(cue)}: give a list of balls")
    observed = given.get("observed") or []
    if not isinstance(observed, (list, tuple)):
        raise InputError(f"shot.observed is {_told(observed)}: give a list of foul codes")
    enterable = [foul.value for foul in Foul if foul not in DERIVED_FOULS]
    seen = [(Foul(_one_of(code, enterable, f"shot.observed[{i}]")), 1.0) for i, code in enumerate(observed)]
    suspected = _keys(given.get("suspected") or {}, enterable, "shot.suspected")
    seen += [(Foul(code), _number(p, f"shot.suspected.{code}", 0, 1)) for code, p in suspected.items()]
    at = given.get("cue_ball_at")
    shooter = given.get("shooter")
    partial = given.get("partial") or ""
    clock = given.get("clock_s")
    if given.get("extension") and options.shot_clock_s is None:
        raise InputError("shot.extension is true: no shot clock is in use; give match.shot_clock_s")
    return Played(
        events,
        _call(given.get("call"), balls),
        _term(given["claim"], Group, "shot.claim") if given.get("claim") is not None else None,
        _point(at, "shot.cue_ball_at", table) if at is not None else None,
        {
            _ball_key(key, "shot.frozen.rails", balls): frozenset(
                _one_of(r, RAILS, f"shot.frozen.rails.{key}") for r in _list(value, f"shot.frozen.rails.{key}")
            )
            for key, value in rails.items()
        },
        frozenset(_ball(ball, f"shot.frozen.cue[{i}]", balls - {0}) for i, ball in enumerate(cue)),
        tuple(seen),
        _places(given.get("start") or {}, "shot.start", balls, table),
        _places(given.get("rest") or given.get("end") or {}, "shot.rest", balls, table),
        "both" if partial is True else _one_of(partial, ("", "start", "end", "both"), "shot.partial"),
        alternatives,
        None if clock is None else _number(clock, "shot.clock_s", 0),
        _flag(given.get("extension", False), "shot.extension"),
        options.players[_player(shooter, "shot.shooter", options.players)] if shooter is not None else None,
    )


def _list(value: Any, where: str) -> list[Any]:
    if isinstance(value, str):
        return [value]
    if not isinstance(value, (list, tuple)):
        raise InputError(f"{where} is {_told(value)}: give a list")
    return list(value)


def _call(value: Any, balls: Collection[int]) -> Call:
    if value is None:
        return NO_CALL
    if isinstance(value, str):
        named = {"safety": SAFETY, "push-out": PUSH_OUT, "unknown": UNKNOWN_CALL}
        return named[_one_of(value, named, "shot.call")]
    given = _keys(value, ("ball", "pocket"), "shot.call")
    for key in ("ball", "pocket"):
        if key not in given:
            raise InputError(f"shot.call.{key} is missing: a call names a ball and a pocket")
    return Call("ball", _ball(given["ball"], "shot.call.ball", set(balls) - {0}), _one_of(given["pocket"], POCKETS, "shot.call.pocket"))


def _events(value: Any, where: str, balls: Collection[int], table: Table) -> tuple[tuple[AnyEvent, ...], tuple[Alternative, ...]]:
    if not isinstance(value, (list, tuple)):
        raise InputError(f"{where} is {_told(value)}: give a list of events")
    events: list[AnyEvent] = []
    others: list[tuple[AnyEvent, tuple[int, ...], float]] = []
    last = -math.inf
    for number, one in enumerate(value):
        here = f"{where}[{number}]"
        if not isinstance(one, Mapping) or one.get("kind") not in _KEYS_OF:
            kind = one.get("kind") if isinstance(one, Mapping) else one
            raise InputError(f"{here}.kind is {_told(kind)}: one of {', '.join(_KEYS_OF)}")
        event = _event(one, here, balls, table)
        if event.t_s < last:
            raise InputError(f"{here}.t_s is {event.t_s:g}, before the event above it ({last:g}): events come in time order")
        last = event.t_s
        events.append(event)
        for listed in one.get("balls_alt") or one.get("ball_alt") or ():
            others.append((event, *_alternative(listed, f"{here}.{'balls_alt' if 'balls_alt' in one else 'ball_alt'}", balls)))
    ordered = in_order(events)
    places = {id(event): index for index, event in enumerate(ordered)}
    return ordered, tuple(Alternative(places[id(event)], instead, p) for event, instead, p in others)


def _alternative(value: Any, where: str, balls: Collection[int]) -> tuple[tuple[int, ...], float]:
    given = _keys(value, ("balls", "ball", "p"), where)
    named = given["balls"] if "balls" in given else [given.get("ball")]
    return tuple(_ball(ball, where, balls) for ball in _list(named, where)), _number(given.get("p"), f"{where}.p", 0, 1)


def _event(one: Mapping[str, Any], here: str, balls: Collection[int], table: Table) -> AnyEvent:
    kind = one["kind"]
    _keys(one, _KEYS_OF[kind], here)
    if "t_s" not in one:
        raise InputError(f"{here}.t_s is missing")
    t = _number(one["t_s"], f"{here}.t_s")
    sigma = _number(one["sigma_s"], f"{here}.sigma_s", 0) if one.get("sigma_s") is not None else 0.0
    p = _number(one["p"], f"{here}.p", 0, 1) if one.get("p") is not None else 1.0
    at = _point(one["at"], f"{here}.at", table, 4 * table.ball_m) if one.get("at") is not None else None
    if kind == "contact":
        pair = one.get("balls")
        if not isinstance(pair, (list, tuple)) or len(pair) != 2 or pair[0] == pair[1]:
            raise InputError(f"{here}.balls is {_told(pair)}: give two different balls")
        a, b = (_ball(ball, f"{here}.balls", balls) for ball in pair)
        return Contact(t_s=t, sigma_s=sigma, p=p, balls=(min(a, b), max(a, b)), at=at)
    ball = _ball(one.get("ball"), f"{here}.ball", balls)
    if kind == "strike":
        return Strike(t_s=t, sigma_s=sigma, p=p, ball=ball)
    if kind == "rail":
        leaves = _flag(one.get("leaves_first", False), f"{here}.leaves_first")
        return RailHit(t_s=t, sigma_s=sigma, p=p, ball=ball, rail=_one_of(one.get("rail"), RAILS, f"{here}.rail"), at=at, leaves_first=leaves)  # type: ignore[arg-type]
    if kind == "pocket":
        return Pocketed(t_s=t, sigma_s=sigma, p=p, ball=ball, pocket=_one_of(one.get("pocket"), POCKETS, f"{here}.pocket"))  # type: ignore[arg-type]
    if kind == "off-table":
        return OffTable(t_s=t, sigma_s=sigma, p=p, ball=ball)
    line = _one_of(one.get("line"), _LINES, f"{here}.line")
    toward = _one_of(one.get("toward"), _SIDES, f"{here}.toward")
    return Crossing(t_s=t, sigma_s=sigma, p=p, ball=ball, line=line, toward=toward)  # type: ignore[arg-type]


def _shot(value: Any, options: Options, state: State) -> Command:
    return Shoot(parse_shot(value, options))


def _choose(value: Any, options: Options, state: State) -> Command:
    return Choose(_term(value, Option, "choose"))


def _lag(value: Any, options: Options, state: State) -> Command:
    given = _keys(value, options.players, "lag")
    lags = {}
    for index, name in enumerate(options.players):
        if name not in given:
            raise InputError(f"lag.{name} is missing: both players lag")
        one = _keys(given[name], ("events", "rest", "start", "observed"), f"lag.{name}")
        events, _ = _events(one.get("events"), f"lag.{name}.events", (0, 1), options.table)
        points = {
            key: _point(one[key], f"lag.{name}.{key}", options.table, 2 * options.table.ball_m) if one.get(key) is not None else None
            for key in ("rest", "start")
        }
        seen = [_term(code, Foul, f"lag.{name}.observed[{i}]") for i, code in enumerate(one.get("observed") or [])]
        lags[index] = Lagged(events, points["rest"], points["start"], tuple(seen))
    return Lag(lags)


def _warn(value: Any, options: Options, state: State) -> Command:
    return Warn(_player(value, "warn", options.players))


def _spot_request(value: Any, options: Options, state: State) -> Command:
    return SpotRequest(_ball(value, "spot_request", balls_of(options.game) - {0}))


def _stalemate(value: Any, options: Options, state: State) -> Command:
    if value is not True and value != "announced":
        raise InputError(f'stalemate is {_told(value)}: true (declared) or "announced"')
    return Stalemate(value == "announced")


def _concede(value: Any, options: Options, state: State) -> Command:
    return Concede(_player(value, "concede", options.players))


def _penalty(value: Any, options: Options, state: State) -> Command:
    given = _keys(value, ("player", "level"), "penalty")
    return Penalty(_player(given.get("player"), "penalty.player", options.players), _term(given.get("level"), Level, "penalty.level"))


def _replay(value: Any, options: Options, state: State) -> Command:
    if value is not True:
        raise InputError(f"replay is {_told(value)}: true")
    return Replay()


def _overrule(value: Any, options: Options, state: State) -> Command:
    given = _keys(value, ("shot", "shot_facts"), "overrule")
    facts = _keys(given.get("shot_facts"), _SHOT_KEYS, "overrule.shot_facts")
    return Overrule(_integer(given.get("shot"), "overrule.shot", 1), facts)


_READERS: dict[str, Callable[[Any, Options, State], Command]] = {
    "setup": _setup,
    "shot": _shot,
    "choose": _choose,
    "lag": _lag,
    "warn": _warn,
    "spot_request": _spot_request,
    "stalemate": _stalemate,
    "concede": _concede,
    "penalty": _penalty,
    "replay": _replay,
    "overrule": _overrule,
}
