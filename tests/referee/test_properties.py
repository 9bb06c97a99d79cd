"""Properties that hold whatever happens on the table."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from typing import Any

from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from calibration.errors import InputError
from calibration.table import POCKETS, RAILS
from referee.facts import in_order
from referee.match import Match
from referee.racks import balls_of
from referee.rulesets import RULE_SETS
from referee.script_shot import parse_shot
from referee.state import State
from referee.terms import Foul, Game

GAMES = [(game.value, rules.name) for rules in RULE_SETS.values() for game in Game if game in rules.games]
CODES = ["no-foot", "double-hit", "touched-ball", "push", "balls-moving", "unsporting", "deliberate-touch", "template"]
EXAMPLES = int(os.environ.get("RAILBIRD_EXAMPLES", "25"))  # more of them before a release
COMMON = settings(max_examples=EXAMPLES, deadline=None, suppress_health_check=list(HealthCheck))


@st.composite
def shots(draw: st.DrawFn, on_table: frozenset[int], *, doubtful: bool = False) -> dict[str, Any]:
    """A shot that could be played with these balls on the table: any events, in time order."""
    ball = st.sampled_from(sorted(on_table))
    objects = st.sampled_from(sorted(on_table - {0}))
    events: list[dict[str, Any]] = [{"t_s": 0.0, "kind": "strike", "ball": 0}]
    time = 0.0
    if draw(st.booleans()):  # most shots hit something
        time = 0.3
        events.append({"t_s": time, "kind": "contact", "balls": [0, draw(objects)]})
    for _ in range(draw(st.integers(0, 7))):
        time = round(time + draw(st.sampled_from([0.0, 0.0, 0.001, 0.2, 0.7, 5.5])), 4)
        kind = draw(st.sampled_from(["contact", "rail", "rail", "pocket", "off-table", "cross"]))
        event: dict[str, Any] = {"t_s": time, "kind": kind}
        if kind == "contact":
            pair = draw(st.lists(ball, min_size=2, max_size=2, unique=True))
            event["balls"] = pair
        elif kind == "rail":
            event |= {"ball": draw(ball), "rail": draw(st.sampled_from(RAILS))}
        elif kind == "pocket":
            event |= {"ball": draw(ball), "pocket": draw(st.sampled_from(POCKETS))}
        elif kind == "off-table":
            event["ball"] = draw(ball)
        else:
            event |= {"ball": draw(ball), "line": "head-string", "toward": draw(st.sampled_from(["head", "foot"]))}
        if doubtful and draw(st.booleans()):
            event["p"] = draw(st.sampled_from([0.1, 0.5, 0.9, 0.97]))
        if doubtful and draw(st.booleans()):
            event["sigma_s"] = 0.002
        events.append(event)
    place = st.tuples(st.floats(0.03, 1.24), st.floats(0.03, 2.51)).map(list)
    shot: dict[str, Any] = {"events": events}
    if draw(st.booleans()):
        shot["call"] = draw(
            st.one_of(
                st.just("safety"),
                st.just("push-out"),
                st.builds(lambda b, p: {"ball": b, "pocket": p}, objects, st.sampled_from(POCKETS)),
            )
        )
    if draw(st.integers(0, 3)) == 0:
        shot["observed"] = draw(st.lists(st.sampled_from(CODES), max_size=2, unique=True))
    if draw(st.integers(0, 3)) == 0:
        shot["rest"] = {str(b): draw(place) for b in draw(st.lists(ball, max_size=3, unique=True))}
    if draw(st.integers(0, 5)) == 0:
        shot["frozen"] = {"rails": {str(draw(ball)): [draw(st.sampled_from(RAILS))]}, "cue": [draw(objects)]}
    return shot


def play(match: Match, data: st.DataObject, count: int, *, doubtful: bool = False) -> int:
    """Play random lines; what the rules refuse must leave the match as it was. Returns how many were taken."""
    taken = 0
    for _ in range(count):
        state = match.state
        if state.match_winner is not None or state.lag_needed:
            break
        if state.choice is not None and data.draw(st.booleans()):
            line: dict[str, Any] = {"choose": data.draw(st.sampled_from([o.value for o in state.choice.options]))}
        elif data.draw(st.integers(0, 11)) == 0:
            line = data.draw(
                st.sampled_from(
                    [
                        {"penalty": {"player": "Ann", "level": "foul"}},
                        {"penalty": {"player": "Bo", "level": "serious"}},
                        {"penalty": {"player": "Bo", "level": "warning"}},
                        {"replay": True},
                        {"warn": "Ann"},
                        {"stalemate": "announced"},
                    ]
                )
            )
        else:
            line = {
                "shot": data.draw(shots(state.on_table | ({8} if state.choice else frozenset()), doubtful=doubtful))
            }
        log = list(match.log)
        try:
            for ruling in match.apply(line):
                check(match, state, ruling.to_json())
            taken += 1
        except InputError:
            assert match.state == state
            assert match.log == log
    return taken


def check(match: Match, before: State, ruling: dict[str, Any]) -> None:
    """What every ruling must satisfy."""
    state, options = match.state, match.options
    balls = balls_of(options.game)
    json.dumps(ruling)
    assert state.on_table <= balls
    assert 0 in state.on_table
    assert set(state.positions) <= state.on_table
    assert state.racked <= state.on_table
    assert 0.0 <= ruling["p"] <= 1.0
    if ruling["next"] is None:
        assert ruling["match_winner"] is not None
    else:
        assert ruling["next"]["player"] in (*options.players, None)
        assert ruling["match_winner"] is None
    if ruling["choice"] is not None:
        assert len(ruling["choice"]["options"]) > 1
    for name, points in ruling["points"].items():
        was = before.score[options.players.index(name)]
        if ruling["sets"] is None:
            assert ruling["score"][name] == was + points
    if ruling["legal"]:
        assert not ruling["fouls"]
        assert all(points >= 0 for points in ruling["points"].values())
    if ruling["fouls"]:
        assert not ruling["legal"]
    if ruling["enforced"] is not None:
        assert ruling["enforced"] in [foul["code"] for foul in ruling["fouls"]]
    codes = [foul["code"] for foul in ruling["fouls"]]
    assert len(codes) == len(set(codes))
    # Spotted balls are on the table, and none of them overlaps another ball whose place is known.
    for spot in ruling["spotted"]:
        if ruling["rerack"] is None:
            assert spot["ball"] in state.on_table
    if (
        options.game is not Game.STRAIGHT_POOL
        and ruling["rerack"] is None
        and ruling["shot"] is not None
        and ruling["match_winner"] is None
    ):
        assert state.on_table <= before.on_table | ({8} if options.game is Game.EIGHT_BALL else set())
    if options.game is Game.STRAIGHT_POOL and ruling["shot"] is not None:
        assert len(state.on_table) >= 3 or ruling["match_winner"] is not None or len(before.on_table) < 4
    for key in ("announce", "announce_full"):
        assert all(ruling[key][language] for language in ("en", "hu", "et"))


def new_match(game: tuple[str, str], **more: Any) -> Match:
    return Match({"game": game[0], "rules": game[1], "players": ["Ann", "Bo"], "race_to": 3, "points_to": 12, **more})


@COMMON
@given(st.sampled_from(GAMES), st.data())
def test_random_play_never_breaks_the_rules_of_bookkeeping(game: tuple[str, str], data: st.DataObject) -> None:
    play(new_match(game), data, 8)


@COMMON
@given(st.sampled_from(GAMES), st.data())
def test_doubtful_play_never_breaks_them_either(game: tuple[str, str], data: st.DataObject) -> None:
    play(new_match(game), data, 4, doubtful=True)


@COMMON
@given(st.sampled_from(GAMES), st.data())
def test_the_log_is_the_match_and_a_prefix_its_past(game: tuple[str, str], data: st.DataObject) -> None:
    match = new_match(game)
    states = [match.state]
    for _ in range(5):
        if play(match, data, 1):
            states.append(match.state)
    assert len(match.log) == len(states)
    for length, state in enumerate(states):
        assert Match.replayed(match.log[: length + 1]).state == state


@COMMON
@given(st.sampled_from(GAMES), st.data())
def test_undo_is_exact(game: tuple[str, str], data: st.DataObject) -> None:
    match = new_match(game)
    past = [(match.state, list(match.log), match.rulings)]
    for _ in range(5):
        if play(match, data, 1):
            past.append((match.state, list(match.log), match.rulings))
    shots_played = match.state.shots
    if shots_played:
        before = (match.state, list(match.log), match.rulings)
        try:
            match.overrule(data.draw(st.integers(1, shots_played)), {"observed": ["no-foot"]})
            match.undo()
        except InputError:
            pass
        assert (match.state, list(match.log), match.rulings) == before
    for state, log, rulings in reversed(past[:-1]):
        match.undo()
        assert (match.state, list(match.log), match.rulings) == (state, log, rulings)


@COMMON
@given(st.sampled_from(GAMES), st.data())
def test_the_listed_order_of_simultaneous_events_does_not_matter(game: tuple[str, str], data: st.DataObject) -> None:
    match = new_match(game)
    play(match, data, 2)
    if match.state.match_winner is not None or match.state.lag_needed or match.state.choice:
        return
    shot = data.draw(shots(match.state.on_table, doubtful=data.draw(st.booleans())))
    mixed = dict(shot)
    groups: dict[float, list[Any]] = {}
    for event in shot["events"]:
        groups.setdefault(event["t_s"], []).append(event)
    mixed["events"] = [event for group in groups.values() for event in data.draw(st.permutations(group))]
    outcomes = []
    for one in (shot, mixed):
        again = Match.replayed(match.log)
        try:
            outcomes.append([ruling.to_json() for ruling in again.apply({"shot": one})])
        except InputError:
            outcomes.append([{"refused": True}])
    assert outcomes[0] == outcomes[1]


@COMMON
@given(st.sampled_from(GAMES), st.data())
def test_a_legal_shot_never_costs_the_opponent(game: tuple[str, str], data: st.DataObject) -> None:
    match = new_match(game)
    before = match.state
    if play(match, data, 1) and match.rulings and match.rulings[-1].legal and match.rulings[-1].shot:
        other = 1 - match.rulings[-1].shooter  # type: ignore[operator]
        assert match.state.score[other] == before.score[other]


def seen_after_leaving(events: list[dict[str, Any]]) -> Iterator[int]:
    """Balls that take part in something after they have left the table."""
    gone: set[int] = set()
    for event in sorted(events, key=lambda e: e["t_s"]):
        yield from gone & set(event.get("balls", [event.get("ball")]))
        if event["kind"] in ("pocket", "off-table"):
            gone.add(event["ball"])


@COMMON
@given(st.data())
def test_certain_and_nearly_certain_events_give_one_ruling(data: st.DataObject) -> None:
    """Doubt too small to matter must come out as certainty does."""
    match = new_match(("9-ball", "wpa-2008"))
    shot = data.draw(shots(match.state.on_table))
    # certainty takes a ball that leaves and then meets another at its word, doubt rather doubts that it left: nothing to agree on
    assume(not any(seen_after_leaving(shot["events"])))
    faint = {**shot, "events": [{**event, "p": 0.9999} for event in shot["events"]]}
    try:
        certain = match.apply({"shot": shot})[0]
    except InputError:
        return
    match.undo()
    almost = match.apply({"shot": faint})[0]
    if certain.needs_referee is None:
        assert (certain.legal, certain.enforced, certain.next) == (almost.legal, almost.enforced, almost.next)
        assert almost.p > 0.99


def test_random_shots_parse() -> None:
    options = new_match(("9-ball", "wpa-2025")).options
    shot = parse_shot(
        {
            "events": [
                {"t_s": 0.3, "kind": "rail", "ball": 0, "rail": "left"},
                {"t_s": 0.3, "kind": "contact", "balls": [5, 0]},
            ]
        },
        options,
    )
    assert shot.events == in_order(reversed(shot.events))
    assert Foul.SCRATCH.value == "scratch"
