"""Holds what lies on the table against what the rules expect: racks, balls that were moved, a state put right."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from calibration.table import Table
from railbird.script import KEY_BALL, looks_racked
from referee.match import Match
from referee.state import State
from referee.terms import Game, Option
from tracking.events import Contact, Shot, Strike

#: Choices that a rack being set up answers by itself.
SET_UP = (Option.RERACK_SELF, Option.RERACK_OTHER, Option.REBREAK)
STRAYED_M = 0.006  # a ball at rest that is seen this far from where it lay has been moved
STROKE, MET = 0.5, 0.3  # probabilities of strike and contact from which balls were played, not carried
MOST = 0.8  # of the balls have to be there for a rack

Remarks = list[dict[str, Any]]


def fit_rack(match: Match, shot: Shot) -> tuple[dict[str, Any] | None, Remarks]:
    """The script line that a shot's first picture asks for before the shot, if any, and what people are told of it.

    A rack that stands answers an open choice of a re-rack; one that nobody expected means that the end of the rack
    before was missed; none where a break is due means that the match was taken up in mid-rack.
    """
    state, game = match.state, match.options.game
    if state.match_winner is not None or state.lag_needed:
        return None, []
    start = {str(ball): at for ball, at in shot.start.items()}
    racked = looks_racked(start, match.options.table, game.value)
    if racked and state.choice is not None:
        again = next((option.value for option in state.choice.options if option in SET_UP), None)
        if again is not None:
            return {"choose": again}, [{"code": "choice-read", "what": again}]
    if racked and not state.is_break and game is not Game.STRAIGHT_POOL:
        return {"setup": setup_line(match, {"break": True})}, [{"code": "rack-unexpected"}]
    few = len(start) < MOST * (len(state.on_table) - 1)
    if state.is_break and state.choice is None and start and not racked and few:
        on_table = sorted({0, KEY_BALL.get(game.value, 0), *(set(shot.start) & state.on_table)})
        if len(on_table) > 2:
            given: dict[str, Any] = {"on_table": on_table, "cue_ball": "as-lies"}
            if game is Game.EIGHT_BALL:
                given["groups"] = "unknown"
            return {"setup": setup_line(match, given)}, [{"code": "mid-rack"}]
    return None, []


def only_moved(shot: Shot) -> bool:
    """Whether one object ball stirred and nothing else came of it: a hand, a sleeve, a rack being pressed; no stroke."""
    return bool(shot.events) and all(isinstance(event, Strike) and event.ball != 0 for event in shot.events)


def being_racked(state: State, shot: Shot, table: Table, game: Game) -> bool:
    """Whether a break is due and balls moved, but it was no break: no rack stood and no stroke is to be seen, they were carried
    there; or the rack stood and the cue ball had no part in it, hands pressed it together.

    Where a stroke is, a rack that was not seen well, or a break that was missed, must not hold up the match.
    """
    if not state.is_break or game is Game.STRAIGHT_POOL or not shot.start:
        return False
    if looks_racked({str(ball): at for ball, at in shot.start.items()}, table, game.value):
        return _cue_ball_lay(shot)
    struck = any(isinstance(e, Strike) and e.ball == 0 and e.p >= STROKE for e in shot.events)
    met = any(isinstance(e, Contact) and 0 in e.balls and e.p >= MET for e in shot.events)
    return not (struck and met and shot.partial not in ("end", "both"))


def _cue_ball_lay(shot: Shot) -> bool:
    """Whether the cue ball was seen to lie in one place through all that moved, and nothing is told of it."""
    before, after = shot.start.get(0), shot.end.get(0)
    told = any(
        0 in (event.balls if isinstance(event, Contact) else (getattr(event, "ball", -1),)) for event in shot.events
    )
    return before is not None and after is not None and not told and math.dist(before, after) < STRAYED_M


def forget_hands(facts: dict[str, Any]) -> None:
    """Take out of a break's facts that a ball was touched before it: until the stroke, hands set the rack and the cue ball."""
    facts["observed"] = [code for code in facts.get("observed", ()) if code != "touched-ball"]
    suspected = {code: p for code, p in facts.get("suspected", {}).items() if code != "touched-ball"}
    facts.pop("suspected", None)
    if suspected:
        facts["suspected"] = suspected


def strayed(state: State, shot: Shot) -> Remarks:
    """Balls that lie elsewhere than the shot before left them: somebody moved them (3.6), or a bump did."""
    if state.choice is not None or state.is_break:
        return []
    found = []
    for ball, at in sorted(shot.start.items()):
        was = state.positions.get(ball)
        if ball == 0 or was is None:
            continue
        moved = math.dist(at, was)
        if moved > STRAYED_M:
            found.append({"code": "moved-at-rest", "ball": ball, "mm": round(1000 * moved)})
    return found


def setup_line(match: Match, given: Mapping[str, Any]) -> dict[str, Any]:
    """A ``setup`` that changes what is given and leaves the rest as it is (``None`` is not given)."""
    state, names = match.state, match.options.players
    line: dict[str, Any] = {
        "shooter": names[state.shooter],
        "break": False,
        "on_table": sorted(state.on_table),
        "positions": {str(ball): list(at) for ball, at in state.positions.items() if ball in state.on_table},
        "cue_ball": state.cue_ball.value,
        "fouls_in_row": dict(zip(names, state.fouls_in_row, strict=True)),
        "warned": dict(zip(names, state.warned, strict=True)),
        "score": dict(zip(names, state.score, strict=True)),
        "sets": dict(zip(names, state.sets, strict=True)),
        "breaker": names[state.rack_breaker],
        **{key: value for key, value in given.items() if value is not None},
    }
    if state.groups and "groups" not in line:
        line["groups"] = {name: group.value for name, group in zip(names, state.groups, strict=True)}
    if line["break"]:
        for key in ("on_table", "positions", "groups", "fouls_in_row", "warned", "cue_ball", "breaker"):
            line.pop(key, None)
    else:
        on = set(line["on_table"]) | {0}
        line["positions"] = {ball: at for ball, at in line["positions"].items() if int(ball) in on}
    return line
