"""Reading a script: JSON lines into frozen commands, with exact messages for what cannot be."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from calibration.errors import InputError
from calibration.table import Table
from referee.commands import (
    Choose,
    Command,
    Concede,
    Lag,
    Overrule,
    Penalty,
    Replay,
    Setup,
    Shoot,
    SpotRequest,
    Stalemate,
    Warn,
)
from referee.lag import Lagged
from referee.racks import balls_of
from referee.reading import (
    ball_number,
    flag,
    integer,
    list_of,
    object_of,
    one_of,
    per_player,
    places_of,
    player_of,
    point,
    real,
    term,
    told,
)
from referee.rulesets import RULE_SETS
from referee.script_shot import SHOT_KEYS, events_of, parse_shot
from referee.state import Options, State, first_state
from referee.terms import BreakOrder, CueBall, Foul, Game, Group, Level, Option

_MATCH_KEYS = frozenset(
    [
        "game",
        "rules",
        "players",
        "breaker",
        "race_to",
        "points_to",
        "sets_to",
        "break_order",
        "three_ball_rule",
        "shot_clock_s",
        "table",
        "sure",
        "partners",
        "partners_alternate",
    ]
)
_SETUP_KEYS = frozenset(
    [
        "shooter",
        "break",
        "on_table",
        "positions",
        "cue_ball",
        "fouls_in_row",
        "warned",
        "score",
        "sets",
        "groups",
        "push_out_allowed",
        "breaker",
    ]
)


# -- the match line ---------------------------------------------------------------------------------------------


def parse_match(line: Mapping[str, Any]) -> Options:
    """Options of a match from its opening line.

    Raises
    ------
    InputError
        Naming the field, its value and what is allowed.
    """
    given = object_of(_only(line, "match", "the first line opens the match"), _MATCH_KEYS, "match")
    for key in ("game", "players"):
        if key not in given:
            raise InputError(f"match.{key} is missing")
    game = term(given["game"], Game, "match.game")
    rules = RULE_SETS[one_of(given.get("rules", next(iter(RULE_SETS))), RULE_SETS, "match.rules")]
    if game not in rules.games:
        raise InputError(
            f"match.game is {game.value!r}: {rules.name} has {', '.join(sorted(g.value for g in rules.games))}"
        )
    players = given["players"]
    if (
        not isinstance(players, (list, tuple))
        or len(players) != 2
        or not all(isinstance(name, str) and name.strip() for name in players)
        or players[0] == players[1]
    ):
        raise InputError(f"match.players is {told(players)}: give two different names that are not empty")
    pair = (players[0], players[1])

    def optional(key: str) -> int | None:
        return None if given.get(key) is None else integer(given[key], f"match.{key}", 1)

    clock = given.get("shot_clock_s")
    table = given.get("table")
    if table is not None:
        table = Table.from_json(object_of(table, ("length_m", "width_m", "ball_m"), "match.table"))
    three = given.get("three_ball_rule")
    three_ball = three is None or flag(three, "match.three_ball_rule")
    sure = given.get("sure")
    return Options(
        game,
        rules,
        pair,
        player_of(given["breaker"], "match.breaker", pair) if given.get("breaker") is not None else 0,
        optional("race_to"),
        optional("points_to"),
        optional("sets_to"),
        term(given.get("break_order", "alternate"), BreakOrder, "match.break_order"),
        rules.three_ball_rule and game is Game.NINE_BALL and three_ball,
        None if clock is None else _positive(clock, "match.shot_clock_s"),
        table or Table(),
        0.95 if sure is None else real(sure, "match.sure", 0.5, 1.0),
        _partners(given.get("partners"), pair),
        one_of(given.get("partners_alternate", "shots"), ("shots", "innings"), "match.partners_alternate") == "innings",
    )


def _positive(value: Any, where: str) -> float:
    number = real(value, where)
    if number <= 0:
        raise InputError(f"{where} is {told(value)}: give a number above 0")
    return number


def _partners(value: Any, players: tuple[str, str]) -> tuple[tuple[str, ...], tuple[str, ...]] | None:
    if value is None:
        return None
    given = object_of(value, players, "match.partners")
    teams = []
    for name in players:
        team = given.get(name)
        if not isinstance(team, (list, tuple)) or not team or not all(isinstance(one, str) and one for one in team):
            raise InputError(f"match.partners.{name} is {told(team)}: give the names of the team, in their order")
        teams.append(tuple(team))
    return teams[0], teams[1]


def _only(line: Any, name: str, why: str) -> Any:
    if not isinstance(line, Mapping) or set(line) != {name}:
        raise InputError(f'{told(line)}: {why}; give {{"{name}": …}}')
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
        raise InputError(f"{told(line)}: a line is an object with one key, one of {', '.join(sorted(_READERS))}")
    ((name, value),) = line.items()
    if name == "match":
        raise InputError("match: the match has begun; a script holds one match")
    reader = _READERS.get(name)
    if reader is None:
        raise InputError(f"unknown line {name!r}; one of {', '.join(sorted(_READERS))}")
    return reader(value, options, state)


def _setup(value: Any, options: Options, state: State) -> Command:
    given = object_of(value, _SETUP_KEYS, "setup")
    players, game = options.players, options.game
    balls = balls_of(game)
    fresh = first_state(options)
    on_table = balls
    if "on_table" in given:
        listed = given["on_table"]
        if not isinstance(listed, (list, tuple)):
            raise InputError(f"setup.on_table is {told(listed)}: give a list of balls")
        numbers = [ball_number(ball, f"setup.on_table[{i}]", balls) for i, ball in enumerate(listed)]
        if len(set(numbers)) != len(numbers):
            raise InputError(f"setup.on_table is {numbers}: a ball is named twice")
        on_table = frozenset(numbers) | {0}
        needed = {Game.EIGHT_BALL: 8, Game.NINE_BALL: 9, Game.TEN_BALL: 10}.get(game)
        if (needed is not None and needed not in on_table) or len(on_table) < 2:
            raise InputError(
                f"setup.on_table is {numbers}: the {needed or 'rack'} is not on the table, so the rack would be over"
            )
    # Left out, the next shot is a break, unless what else is given can only be mid-rack.
    mid_rack = on_table != balls or given.get("push_out_allowed") is True or bool(given.get("groups"))
    is_break = flag(given.get("break", not mid_rack), "setup.break")
    if is_break and on_table != balls:
        raise InputError(
            f'setup.on_table is {sorted(on_table)}: a break has all balls of the rack; leave it out or give "break": false'
        )
    positions = places_of(given.get("positions", {}), "setup.positions", balls, options.table)
    for ball in positions:
        if ball not in on_table:
            raise InputError(f"setup.positions.{ball}: ball {ball} is not in setup.on_table {sorted(on_table)}")
    cue_ball = term(given.get("cue_ball", "kitchen" if is_break else "as-lies"), CueBall, "setup.cue_ball")
    groups, known = _groups(given.get("groups"), options)
    breaker = state.rack_breaker
    shooter = player_of(given["shooter"], "setup.shooter", players) if "shooter" in given else options.breaker
    if "breaker" in given:
        breaker = player_of(given["breaker"], "setup.breaker", players)
    elif is_break:
        breaker = shooter
    fouls = per_player(given.get("fouls_in_row", {}), "setup.fouls_in_row", players, lambda v, w: integer(v, w, 0))
    if game is not Game.EIGHT_BALL and max(fouls) > 2:
        raise InputError(f"setup.fouls_in_row is {told(given['fouls_in_row'])}: 0 to 2; the third has had its penalty")
    warned = given.get("warned", False)
    score = per_player(given.get("score", {}), "setup.score", players, integer)
    target = options.points_to if game is Game.STRAIGHT_POOL else options.race_to
    for name, points in zip(players, score, strict=True):
        if game is not Game.STRAIGHT_POOL and points < 0:
            raise InputError(f"setup.score.{name} is {points}: racks won are 0 or more")
        if target is not None and points >= target:
            raise InputError(f"setup.score.{name} is {points}: the match to {target} would be over")
    if isinstance(warned, Mapping):
        object_of(warned, players, "setup.warned")
        flags = tuple(flag(warned.get(name, False), f"setup.warned.{name}") for name in players)
    else:
        flags = (flag(warned, "setup.warned"),) * 2
    push_out = flag(given.get("push_out_allowed", False), "setup.push_out_allowed")
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
            per_player(given.get("sets", {}), "setup.sets", players, lambda v, w: integer(v, w, 0)),
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
        raise InputError(f"setup.groups is {told(value)}: only 8-ball has groups")
    if value == "unknown":
        return None, False
    given = object_of(value, options.players, "setup.groups")
    found = {name: term(group, Group, f"setup.groups.{name}") for name, group in given.items()}
    if not found:
        return None, True
    first = found[options.players[0]] if options.players[0] in found else found[options.players[1]].other
    if len(found) == 2 and len(set(found.values())) == 1:
        raise InputError(f"setup.groups is {told(value)}: the players have different groups")
    return (first, first.other), True


def _shot(value: Any, options: Options, state: State) -> Command:
    return Shoot(parse_shot(value, options))


def _choose(value: Any, options: Options, state: State) -> Command:
    return Choose(term(value, Option, "choose"))


def _lag(value: Any, options: Options, state: State) -> Command:
    given = object_of(value, options.players, "lag")
    lags = {}
    for index, name in enumerate(options.players):
        if name not in given:
            raise InputError(f"lag.{name} is missing: both players lag")
        one = object_of(given[name], ("events", "rest", "start", "observed"), f"lag.{name}")
        events, _ = events_of(one.get("events"), f"lag.{name}.events", (0, 1), options.table)
        points = {
            key: point(one[key], f"lag.{name}.{key}", options.table, 2 * options.table.ball_m)
            if one.get(key) is not None
            else None
            for key in ("rest", "start")
        }
        seen = [
            term(code, Foul, f"lag.{name}.observed[{i}]")
            for i, code in enumerate(list_of(one.get("observed") or [], f"lag.{name}.observed"))
        ]
        lags[index] = Lagged(events, points["rest"], points["start"], tuple(seen))
    return Lag(lags)


def _warn(value: Any, options: Options, state: State) -> Command:
    return Warn(player_of(value, "warn", options.players))


def _spot_request(value: Any, options: Options, state: State) -> Command:
    return SpotRequest(ball_number(value, "spot_request", balls_of(options.game) - {0}))


def _stalemate(value: Any, options: Options, state: State) -> Command:
    if value is not True and value != "announced":
        raise InputError(f'stalemate is {told(value)}: true (declared) or "announced"')
    return Stalemate(value == "announced")


def _concede(value: Any, options: Options, state: State) -> Command:
    return Concede(player_of(value, "concede", options.players))


def _penalty(value: Any, options: Options, state: State) -> Command:
    given = object_of(value, ("player", "level"), "penalty")
    return Penalty(
        player_of(given.get("player"), "penalty.player", options.players),
        term(given.get("level"), Level, "penalty.level"),
    )


def _replay(value: Any, options: Options, state: State) -> Command:
    if value is not True:
        raise InputError(f"replay is {told(value)}: true")
    return Replay()


def _overrule(value: Any, options: Options, state: State) -> Command:
    given = object_of(value, ("shot", "shot_facts"), "overrule")
    facts = object_of(given.get("shot_facts"), SHOT_KEYS, "overrule.shot_facts")
    return Overrule(integer(given.get("shot"), "overrule.shot", 1), facts)


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
