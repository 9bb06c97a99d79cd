"""From ``match.json`` to the referee and back: set-up, shots and choices in, rulings out, for recordings that begin in mid-rack."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from copy import deepcopy
from pathlib import Path
from typing import Any

from calibration.errors import InputError
from calibration.table import Table
from railbird import result
from railbird.calls import Calls, put_calls, read_calls
from railbird.doubts import NUMBER_SURE, decisive, mentioned, mistaken_for, rail_unseen
from railbird.games import BALLS
from railbird.validation import LANGUAGES
from referee.announce import hinge_text
from referee.match import Match, step
from referee.ruling import Ruling
from referee.script import parse_line

ROTATION = ("9-ball", "10-ball")  # the lowest ball on the table is the one to hit
CALL_SHOT = ("8-ball", "10-ball", "14.1")
#: Without its key ball a rack would be over, so it is on the table even where nobody sees it.
KEY_BALL = {"8-ball": 8, "9-ball": 9, "10-ball": 10}
EVENT_KEYS = (
    "t_s",
    "sigma_s",
    "p",
    "kind",
    "at",
    "ball",
    "balls",
    "rail",
    "leaves_first",
    "pocket",
    "hung_s",
    "line",
    "toward",
)
OTHER_READINGS = ("balls_alt", "ball_alt")
#: Nearer to the head string than this a camera cannot say on which side a ball lay; unknown is never a foul.
STRING_MARGIN_M = 0.012
#: A stroke at an object ball, or a cue ball that nobody saw struck, is as likely a mix-up of two balls' numbers.
STRUCK_OBJECT_BALL = 0.5
RACK_REACH_M = 0.36  # from the foot spot to the farthest ball of a full triangle, with room


def rule(
    match: Mapping[str, Any],
    *,
    calls: str | Path | Calls | None = None,
    setup: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """A copy of ``match`` with a ruling on every shot.

    Parameters
    ----------
    match : a match document; rulings already in it are made again.
    calls : file of calls, or calls already read; what the shots hold stands where none is given.
    setup : what a ``setup`` line says about the start of a recording that begins in mid-rack; kept in the document, so
        that it can be ruled again from the file alone.

    Raises
    ------
    InputError
        Where calls or set-up do not fit. A shot that the rules refuse is left without a ruling, with a warning.
    """
    ruled: dict[str, Any] = deepcopy(dict(match))
    if calls is not None:
        put_calls(ruled, calls if isinstance(calls, Calls) else read_calls(calls))
    if setup is not None:
        ruled["setup"] = dict(setup)
    ruled["warnings"] = [w for w in ruled.get("warnings") or () if w.get("from") != "rules"]
    Fold(ruled).run()
    result.check(ruled)
    return ruled


def opening_lines(match: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The ``match`` line, and the ``setup`` line where the recording does not begin with a break."""
    options = dict(match.get("options") or {})
    table = {key: match["table"][key] for key in ("length_m", "width_m", "ball_m") if key in match["table"]}
    options |= {"game": match["game"], "rules": match["rules"], "players": list(match["players"]), "table": table}
    if "sure" in match:
        options["sure"] = match["sure"]
    lines: list[dict[str, Any]] = [{"match": options}]
    if match.get("setup"):
        lines.append({"setup": dict(match["setup"])})
    elif match["shots"] and not begins_with_break(match):
        lines.append({"setup": setup_from(match)})
    return lines


def begins_with_break(match: Mapping[str, Any]) -> bool:
    """Whether the first shot opens a rack: a full rack lies before it."""
    if match.get("rack_seen"):
        return True
    shot = match["shots"][0]
    return bool(match.get("rack_seen")) or looks_racked(shot["start"], Table.from_json(match["table"]), match["game"])


def setup_from(match: Mapping[str, Any]) -> dict[str, Any]:
    """The set-up that the first still frame shows: what lies there is on the table; groups are unknown."""
    game = match["game"]
    balls = {int(ball) for ball in match["shots"][0]["start"]} | mentioned(match["shots"][0]["events"])
    on_table = sorted((balls & set(BALLS[game])) | {0, *([KEY_BALL[game]] if game in KEY_BALL else [])})
    if len(on_table) < 2:
        on_table = sorted({0, *BALLS[game]})
    setup: dict[str, Any] = {
        "break": False,
        "shooter": match["players"][0],
        "on_table": on_table,
        "cue_ball": "as-lies",
    }
    if game == "8-ball":
        setup["groups"] = "unknown"
    return setup


def looks_racked(start: Mapping[str, Sequence[float]], table: Table, game: str) -> bool:
    """Whether a full rack stands at the foot spot: most balls of the game are there, close together, beyond the centre."""
    balls = [at for ball, at in start.items() if ball != "0"]
    whole = len(BALLS[game])
    packed = [at for at in balls if math.dist(at, table.foot_spot) < RACK_REACH_M and at[1] > table.centre_string]
    if len(packed) < 0.8 * whole or len(balls) > whole:
        return False
    touching = sum(any(a is not b and math.dist(a, b) < 1.25 * table.ball_m for b in packed) for a in packed)
    return touching >= 0.8 * len(packed)


class Fold:
    """One pass over a document's shots that keeps the referee's state and what the camera sees in step."""

    def __init__(self, match: dict[str, Any]) -> None:
        self.match = match
        self.shots: list[dict[str, Any]] = match["shots"]
        self.table = Table.from_json(match["table"])
        self.game: str = match["game"]
        opening, *rest = opening_lines(match)
        self.referee = Match(opening)
        for line in rest:
            self.referee.apply(line)

    def run(self) -> None:
        """Rule every shot in turn; the document is changed in place."""
        for i, shot in enumerate(self.shots):
            for key in ("ruling", "if_called", "break"):
                shot.pop(key, None)
            try:
                self._reconcile(i)
                self._rule(shot)
            except InputError as problem:
                shot["ruling"] = None
                self._warn(shot, "not-ruled", f"could not be ruled: {problem}")
        self.match["warnings"].sort(key=lambda warning: warning.get("t_s") or 0.0)

    # -- one shot ------------------------------------------------------------------------------------------------------
    def _rule(self, shot: dict[str, Any]) -> None:
        state = self.referee.state
        if state.choice is not None:
            state = self._settle_choice(shot)
        shot["break"] = state.is_break
        line = {"shot": self.line(shot)}
        rulings = self.referee.apply(line)
        ruling = rulings[-1]
        shot["ruling"] = ruling.to_json()
        self._name_doubt(shot, line["shot"]["events"])
        if ruling.alternative is not None:
            hinge = ruling.alternative.hinge
            shot["ruling"]["alternative"]["hangs_on_in"] = {lang: hinge_text(hinge, lang) for lang in LANGUAGES}
        if shot.get("by") is None:
            shot["shooter"] = shot["ruling"]["shooter"]
        shot["if_called"] = self._if_called(shot, ruling, line["shot"])
        if not shot["if_called"]:
            del shot["if_called"]
        if shot.get("choice") and ruling.choice is not None:
            self.referee.apply({"choose": shot["choice"]})

    def _trust(self, shot: Mapping[str, Any]) -> float:
        """How sure the numbers of the balls are that decide a ruling (in 14.1 any object ball will do): it can be no surer."""
        known = shot.get("identity_p") or {}
        balls = {0, *decisive(shot)} if self.game != "14.1" else {0}
        told = {ball for ball in balls if ball and self._mistaken_for(shot, ball) is not None}
        share = math.prod(float(known.get(str(ball), 1.0)) for ball in balls - told)
        struck = [e["ball"] for e in shot["events"] if e["kind"] == "strike"]
        if (known and "0" not in known) or any(struck) or (known and not struck and not shot.get("partial")):
            share *= STRUCK_OBJECT_BALL
        return share

    @staticmethod
    def _name_doubt(shot: Mapping[str, Any], events: Iterable[Mapping[str, Any]]) -> None:
        """A first contact that is in doubt only for the numbers of the balls is told as such: the picture shows what was hit."""
        needs = shot["ruling"]["needs_referee"]
        events = list(events)
        met = {ball for e in events if e["kind"] == "contact" and 0 in e["balls"] for ball in e["balls"]}
        others = {ball for e in events for other in e.get("balls_alt") or () for ball in other["balls"]}
        if needs is not None and needs["reason"] == "first-contact" and others - met:
            needs["reason"] = "ball-numbers"

    def line(self, shot: Mapping[str, Any]) -> dict[str, Any]:
        """The script object of a shot: its facts, without what the rules do not know of."""
        on = self.referee.state.on_table
        unseen = rail_unseen(shot["events"], shot.get("start") or {}, shot.get("end") or {}, on, self.table)
        line: dict[str, Any] = {"call": self._call(shot), "events": [*self._events(shot, on), *unseen]}
        for key in ("observed", "suspected", "claim", "clock_s", "extension"):
            if shot.get(key):
                line[key] = shot[key]
        trust = self._trust(shot)
        if trust < 1.0:
            line["trust"] = round(trust, 6)
        if shot.get("partial"):
            line["partial"] = shot.get("cut") or "both"
        if shot.get("by"):
            line["shooter"] = shot["by"]
        line["start"] = self._places(shot.get("start") or {}, on)
        line["rest"] = self._places(shot.get("end") or {}, on)
        cue_ball = line["start"].get("0")
        if cue_ball and abs(cue_ball[1] - self.table.head_string) > STRING_MARGIN_M:
            line["cue_ball_at"] = cue_ball
        frozen = shot.get("frozen") or {}
        rails = {ball: where for ball, where in (frozen.get("rails") or {}).items() if int(ball) in on}
        cue = [ball for ball in frozen.get("cue") or () if ball in on]
        if rails or cue:
            line["frozen"] = {"rails": rails, "cue": cue}
        return line

    def _call(self, shot: Mapping[str, Any]) -> Any:
        """A call that nobody gave is unknown where it matters; ``"none"`` says that none was made."""
        call = shot.get("call")
        if call is None:
            return "unknown" if self.game in CALL_SHOT else None
        return None if call == "none" else call

    def _mistaken_for(self, shot: Mapping[str, Any], ball: int) -> int | None:
        """The ball that an uncertain one may really be: the one whose own number is the least certain."""
        return mistaken_for(shot, ball, self.referee.state.on_table if not shot.get("ruling") else None)

    def _other_numbers(self, shot: Mapping[str, Any], event: Mapping[str, Any], ball: int) -> dict[str, Any]:
        """Another reading of which ball an event is about, for the referee to weigh; empty where the number is sure."""
        other = self._mistaken_for(shot, ball)
        if ball not in decisive(shot) or self.game == "14.1":
            return {}
        if other is None:
            return self._lowest_unsure(shot, event, ball)
        p = round(1 - float(shot["identity_p"][str(ball)]), 4)
        if event["kind"] == "contact":
            return {"balls_alt": [{"balls": [0, other], "p": p}]} if 0 in event["balls"] else {}
        return {"ball_alt": [{"ball": other, "p": p}]} if event["kind"] == "pocket" else {}

    def _lowest_unsure(self, shot: Mapping[str, Any], event: Mapping[str, Any], ball: int) -> dict[str, Any]:
        """Where the lowest ball decides and may be another: the one that was hit may have been the lowest (a 9 seen from its
        end was taken for the 1, and the 2 called a wrong ball for sure). To the rules that is as if the lowest was hit."""
        known = shot.get("identity_p") or {}
        lower = [b for b in self.referee.state.on_table - {0} if b < ball]
        cue_contact = event["kind"] == "contact" and 0 in event["balls"]
        p = math.prod(1 - float(known.get(str(b), 1.0)) for b in lower) if lower else 0.0
        if self.game not in ROTATION or not cue_contact or p < 1 - NUMBER_SURE:
            return {}
        return {"balls_alt": [{"balls": [0, min(lower)], "p": round(p, 4)}]}

    def _events(self, shot: Mapping[str, Any], on: Iterable[int]) -> Iterable[dict[str, Any]]:
        on = set(on)
        for event in sorted(shot["events"], key=lambda e: float(e["t_s"])):
            if not set(event.get("balls") or [event.get("ball", 0)]) <= on:
                continue
            row = {key: event[key] for key in EVENT_KEYS if event.get(key) is not None}
            if "at" in row and not self.table.on_surface(tuple(row["at"]), -3 * self.table.ball_m):
                del row["at"]
            row |= self._other_numbers(shot, event, max(event.get("balls") or [event.get("ball", 0)]))
            for key in OTHER_READINGS:
                if event.get(key):
                    row[key] = event[key]
            yield row

    def _places(self, places: Mapping[str, Sequence[float]], on: Iterable[int]) -> dict[str, list[float]]:
        on = set(on)
        return {
            ball: [float(at[0]), float(at[1])]
            for ball, at in places.items()
            if int(ball) in on and self.table.on_surface((at[0], at[1]), -1.5 * self.table.ball_m)
        }

    # -- between shots -------------------------------------------------------------------------------------------------
    def _settle_choice(self, shot: Mapping[str, Any]) -> Any:
        """A choice that was not told is read from what the table shows next; else the first option stands."""
        choice = self.referee.choice
        racked = looks_racked(shot["start"], self.table, self.game)
        options = [option.value for option in choice[1]] if choice else []
        if racked:
            again = next((o for o in options if o.startswith("rerack") or o == "rebreak"), None)
            if again:
                self.referee.apply({"choose": again})
        return self.referee.state

    def _reconcile(self, i: int) -> None:
        """Where the table shows other balls than the rules expect, set the state to what is there, and say so."""
        if i == 0 and (self.match.get("setup") or {}).get("on_table"):
            return  # a person said what lies there
        shot = self.shots[i]
        state = self.referee.state
        seen = ({int(ball) for ball in shot["start"]} | mentioned(shot["events"])) & {0, *BALLS[self.game]}
        racked = looks_racked(shot["start"], self.table, self.game)
        if racked and not state.is_break and i and not self._may_rerack(state):
            self._set(shot, {"break": True})
            self._warn(shot, "rack-unseen-end", "a full rack was set up; the end of the rack before was not seen")
            return
        if state.is_break and not racked and len(seen) < 0.8 * (len(state.on_table) - 1) and i:
            on_table = sorted(seen | {0, *([KEY_BALL[self.game]] if self.game in KEY_BALL else [])})
            self._set(shot, {"on_table": on_table, **self._unknown_groups()})
            self._warn(shot, "break-unseen", "the break was not seen")
            return
        if state.is_break or self.game == "14.1":
            return
        appeared = seen - state.on_table
        gone = {ball for ball in state.object_balls if ball not in seen and not self._seen_later(ball, i)}
        gone -= {KEY_BALL.get(self.game, 0)}
        if appeared or gone:
            self._set(shot, {"on_table": sorted((state.on_table | appeared) - gone)})
        if appeared:
            self._warn(shot, "balls-appeared", f"on the table again: {_list(appeared)}", balls=_list(appeared))
        if gone:
            self._warn(shot, "balls-gone", f"gone since the shot before: {_list(gone)}", balls=_list(gone))

    def _may_rerack(self, state: Any) -> bool:
        return state.choice is not None or self.game == "14.1"

    def _seen_later(self, ball: int, i: int) -> bool:
        """Whether a ball lies on the table before a later shot of the same rack."""
        for later in self.shots[i:]:
            if later is not self.shots[i] and looks_racked(later["start"], self.table, self.game):
                return False
            if str(ball) in later["start"] or ball in mentioned(later["events"]):
                return True
        return False

    def _unknown_groups(self) -> dict[str, Any]:
        return {"groups": "unknown"} if self.game == "8-ball" else {}

    def _set(self, shot: Mapping[str, Any], change: Mapping[str, Any]) -> None:
        """A ``setup`` line that keeps everything of the state but what changes."""
        state, players = self.referee.state, self.match["players"]
        setup: dict[str, Any] = {
            "shooter": players[state.shooter],
            "break": False,
            "cue_ball": state.cue_ball.value,
            "fouls_in_row": dict(zip(players, state.fouls_in_row, strict=True)),
            "warned": dict(zip(players, state.warned, strict=True)),
            "score": dict(zip(players, state.score, strict=True)),
            "push_out_allowed": state.push_out_allowed,
        }
        if self.game == "8-ball" and "break" not in change:
            known = state.groups is not None
            setup["groups"] = (
                {name: group.value for name, group in zip(players, state.groups, strict=True)}
                if known and state.groups
                else "unknown"
            )
            if not known and state.groups_known:
                del setup["groups"]  # the table is open, and known to be
        setup |= change
        if setup["break"]:
            setup |= {
                "cue_ball": "kitchen",
                "push_out_allowed": False,
                "fouls_in_row": dict.fromkeys(players, 0),
                "warned": False,
            }
        elif setup["cue_ball"] == "kitchen" and state.is_break:
            setup["cue_ball"] = "as-lies"
        self.referee.apply({"setup": setup})

    def _warn(self, shot: Mapping[str, Any], code: str, text: str, **more: Any) -> None:
        text = f"shot {shot['number']}: {text}"
        row = {"t_s": shot["start_s"], "code": code, "text": text, "from": "rules", "shot": shot["number"]}
        self.match["warnings"].append(row | more)

    # -- calls that nobody gave ----------------------------------------------------------------------------------------
    def _if_called(self, shot: Mapping[str, Any], ruling: Ruling, line: Mapping[str, Any]) -> list[dict[str, Any]]:
        """What a call that is missing would change: rulings that differ from the one printed, by call."""
        if line["call"] != "unknown" or shot["break"]:
            return []
        before = self.referee.steps[-2].state if len(self.referee.steps) > 1 else None
        if before is None:
            return []
        pocketed = [e for e in line["events"] if e["kind"] == "pocket" and e["ball"] and e.get("p", 1.0) >= 0.5]
        calls: list[Any] = [{"ball": e["ball"], "pocket": e["pocket"]} for e in pocketed]
        calls += ["safety", None] if pocketed else []
        found: list[dict[str, Any]] = []
        for call in calls:
            try:
                command = parse_line({"shot": {**line, "call": call}}, self.referee.options, before)
                _, other = step(before, command, self.referee.options)
            except InputError:
                continue  # a call that the game does not allow, as a safety in 10-ball of 2025
            if other is not None and other.key() != ruling.key():
                row = other.to_json()
                found.append({"call": call} | {key: row[key] for key in ("legal", "enforced", "next", "rack_winner")})
        return found


def _list(balls: Iterable[int]) -> str:
    return ", ".join(str(ball) for ball in sorted(balls))
