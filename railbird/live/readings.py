"""What else a shot may have been: the readings its own doubt allows, and a person's corrections as script events."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from calibration.errors import InputError

JUST_BEFORE_S = 1e-4
CLOSE_SIGMAS = 3.0
CLOSE_S = 0.003
DOUBTFUL = (0.02, 0.98)

Events = list[dict[str, Any]]


@dataclass(frozen=True, slots=True)
class Reading:
    """One way the shot may have been.

    Parameters
    ----------
    id : names it within its shot.
    kind : ``first`` (ball hit first), ``event`` (whether one happened), ``suspected`` (a foul only people can tell),
        ``call`` (a ball that went down was called after all).
    detail : what a page needs to say it in words.
    facts : script keys that replace the shot's own.
    at_s : the instant it hangs on, seconds of the stream.
    """

    id: str
    kind: str
    detail: dict[str, Any]
    facts: dict[str, Any]
    at_s: float | None


def first_contact(events: Sequence[Mapping[str, Any]]) -> int | None:
    """The object ball that the cue ball meets first, as the events stand."""
    meetings = _meetings(events)
    return _other(meetings[0][1]) if meetings else None


def readings(shot: Mapping[str, Any], *, call_shot: bool = False) -> list[Reading]:
    """The readings of a shot that its events leave open, the weightiest question first.

    Parameters
    ----------
    shot : the ``shot`` object of a script line.
    call_shot : the game is one where a shot is called.
    """
    events = list(shot.get("events", ()))
    found: list[Reading] = []
    meetings = _meetings(events)
    if meetings:
        t0, sigma0 = float(meetings[0][1]["t_s"]), float(meetings[0][1].get("sigma_s") or 0.0)
        rivals = [
            event
            for _, event in meetings[1:]
            if float(event["t_s"]) - t0
            <= max(CLOSE_S, CLOSE_SIGMAS * math.hypot(sigma0, float(event.get("sigma_s") or 0.0)))
        ]
        if rivals:
            for event in (meetings[0][1], *rivals):
                ball = _other(event)
                found.append(Reading(f"first:{ball}", "first", {"ball": ball}, {"events": hit_first(events, ball)}, t0))
    for number, event in enumerate(events):
        p = float(event.get("p", 1.0))
        if event["kind"] != "strike" and DOUBTFUL[0] < p < DOUBTFUL[1]:
            for there in (True, False):
                changed = [dict(e) for e in events]
                if there:
                    changed[number]["p"] = 1.0
                else:
                    del changed[number]
                about = {"event": dict(event), "there": there}
                name = f"event:{number}:{'yes' if there else 'no'}"
                found.append(Reading(name, "event", about, {"events": changed}, float(event["t_s"])))
    observed, suspected = list(shot.get("observed", ())), dict(shot.get("suspected", {}))
    for code, p in sorted(suspected.items(), key=lambda item: -item[1]):
        for there in (True, False):
            codes = [c for c in observed if c != code] + ([code] if there else [])
            facts = {"observed": codes, "suspected": {c: q for c, q in suspected.items() if c != code}}
            detail: dict[str, Any] = {"code": code, "there": there, "p": round(float(p), 3)}
            found.append(Reading(f"suspected:{code}:{'yes' if there else 'no'}", "suspected", detail, facts, None))
    if call_shot and shot.get("call") is None:
        for event in events:
            if event["kind"] == "pocket" and event["ball"] != 0:
                call = {"ball": event["ball"], "pocket": event["pocket"]}
                found.append(Reading(f"call:{event['ball']}", "call", call, {"call": call}, float(event["t_s"])))
    return found


def hit_first(events: Sequence[Mapping[str, Any]], ball: int) -> Events:
    """The events with ``ball`` as the one hit first; 0 means that nothing was hit."""
    rows = [dict(event) for event in events]
    meetings = _meetings(rows)
    if ball == 0:
        gone = {number for number, _ in meetings}
        return [row for number, row in enumerate(rows) if number not in gone]
    if meetings and _other(meetings[0][1]) == ball:
        # It is the first already: say so for certain, and keep the others behind it.
        meetings[0][1].update(p=1.0, sigma_s=0.0)
        _settle_others(rows, meetings, float(meetings[0][1]["t_s"]), ball)
        return rows
    at = float(meetings[0][1]["t_s"]) if meetings else _strike_s(rows) + 0.1
    own = next((row for _, row in meetings if _other(row) == ball), None)
    row = own if own is not None else {"kind": "contact", "balls": [0, ball]}
    if own is None:
        rows.append(row)
    row |= {"t_s": at - JUST_BEFORE_S, "sigma_s": 0.0, "p": 1.0}
    _settle_others(rows, meetings, at, ball)
    return _in_order(rows)


def _settle_others(rows: Events, meetings: Sequence[tuple[int, dict[str, Any]]], at: float, ball: int) -> None:
    for _, row in meetings:
        if _other(row) != ball:
            row["sigma_s"] = 0.0
            row["t_s"] = max(float(row["t_s"]), at)


def reached_rail(events: Sequence[Mapping[str, Any]], there: bool) -> Events:
    """The events with, or without, a ball driven to a rail after the cue ball's first contact.

    Raises
    ------
    InputError
        Where no ball was hit, so that nothing can have been driven anywhere.
    """
    rows = [dict(event) for event in events]
    meetings = _meetings(rows)
    if not meetings:
        raise InputError("no ball was hit in this shot: say first which one was")
    at = float(meetings[0][1]["t_s"])
    after = [n for n, row in enumerate(rows) if row["kind"] == "rail" and float(row["t_s"]) >= at]
    if not there:
        return [row for n, row in enumerate(rows) if n not in after]
    if after:
        for number in after:
            rows[number]["p"] = 1.0
        return rows
    ball = _other(meetings[0][1])
    rows.append({"kind": "rail", "ball": ball, "rail": "foot", "t_s": at + 0.2, "sigma_s": 0.0, "p": 1.0})
    return _in_order(rows)


def went_down(
    events: Sequence[Mapping[str, Any]], pocketed: Mapping[int, str], off: Sequence[int] | None = None
) -> Events:
    """The events with just these balls pocketed (ball -> pocket), and these off the table."""
    rows: Events = []
    have: set[int] = set()
    for event in events:
        row = dict(event)
        if row["kind"] == "pocket":
            pocket = pocketed.get(int(row["ball"]))
            if pocket is None or int(row["ball"]) in have:
                continue
            have.add(int(row["ball"]))
            row |= {"pocket": pocket, "p": 1.0}
        elif row["kind"] == "off-table" and off is not None:
            continue
        rows.append(row)
    last = max((float(row["t_s"]) for row in rows), default=0.0)
    for ball, pocket in sorted(pocketed.items()):
        if ball not in have:
            rows.append(
                {"kind": "pocket", "ball": ball, "pocket": pocket, "t_s": last + 0.05, "sigma_s": 0.0, "p": 1.0}
            )
    for ball in off or ():
        rows.append({"kind": "off-table", "ball": ball, "t_s": last + 0.05, "sigma_s": 0.0, "p": 1.0})
    return _in_order(rows)


def _meetings(events: Sequence[Mapping[str, Any]]) -> list[tuple[int, Any]]:
    """Number and event of the cue ball's contacts in order of time."""
    rows = [(n, e) for n, e in enumerate(events) if e["kind"] == "contact" and 0 in e["balls"]]
    return sorted(rows, key=lambda row: float(row[1]["t_s"]))


def _other(event: Mapping[str, Any]) -> int:
    one, other = event["balls"]
    return int(other if one == 0 else one)


def _strike_s(events: Sequence[Mapping[str, Any]]) -> float:
    return min((float(e["t_s"]) for e in events), default=0.0)


def _in_order(rows: Events) -> Events:
    return sorted(rows, key=lambda row: float(row["t_s"]))
