"""Balls that the match has on the table but that nobody has seen for some shots: they went down unseen. And those that come back."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from calibration.table import Table
from referee.commands import Shoot
from referee.match import Match, Step
from tracking.events import Shot

UNSEEN_SHOTS = 2  # before and after which a ball was not seen: a hand hides one for one shot, not for two
GONE_P = 0.9  # that such a ball is down


@dataclass(frozen=True, slots=True)
class Gone:
    """A ball that went down unseen in a shot, or did not after all: the shot's number, and its events as they must be."""

    ball: int
    shot: int
    events: list[dict[str, Any]]


def went_unseen(match: Match, notes: Mapping[int, Mapping[str, Any]], shot: Shot) -> list[Gone]:
    """Balls that must have gone down in the break.

    A ball is one of them if the match has it on the table, the break told of it or showed it, and neither the start nor the end of
    the ``UNSEEN_SHOTS`` shots since shows it, nor does the start of the one that is about to be ruled on. After other shots a ball
    that is missing is more often hidden, or named wrongly, than down: where a ball is seen that cannot be there, names are mixed up.

    Parameters
    ----------
    match : as it stands before the shot.
    notes : by shot number, what the camera noted beside the facts (paths).
    shot : the one about to be ruled on.
    """
    if match.state.is_break or not shot.start or set(shot.start) - match.state.on_table:
        return []
    rack = _this_rack(match)
    found = []
    for ball in sorted(match.state.on_table - {0} - set(shot.start) - set(shot.end)):
        last = next((k for k in range(len(rack) - 1, -1, -1) if _shows(rack[k][1], ball)), None)
        if last != 0 or not _breaks(match, rack[0][0]) or len(rack) - 1 - last != UNSEEN_SHOTS - 1:
            continue  # too soon, or it was found out and said
        number, facts = rack[last]
        if str(ball) in facts.get("rest", {}) or _went_down(facts, ball):
            continue  # it lay there at the end of that shot: it was taken away since, or is hidden where it lies
        pocket = _pocket(ball, facts, notes.get(number, {}), match.options.table)
        if pocket is None:
            continue
        events = list(facts["events"])
        t_s = max((float(e["t_s"]) for e in events), default=0.0)
        events.append({"t_s": t_s, "kind": "pocket", "ball": ball, "pocket": pocket, "p": GONE_P})
        found.append(Gone(ball, number, events))
    return found


def came_back(match: Match, gone: Mapping[int, int], shot: Shot) -> list[Gone]:
    """Balls of this rack that were taken for down unseen, and lie on the table before and after the shot about to be ruled on.

    Parameters
    ----------
    gone : balls taken for down, and the number of the shot.
    """
    rack = {} if match.state.is_break else dict(_this_rack(match))
    found = []
    for ball in sorted((set(shot.start) & set(shot.end)) - match.state.on_table):
        facts = rack.get(gone.get(ball, 0))
        if facts is not None and _went_down(facts, ball):
            events = [e for e in facts["events"] if not (e["kind"] == "pocket" and e["ball"] == ball)]
            found.append(Gone(ball, gone[ball], events))
    return found


def _breaks(match: Match, number: int) -> bool:
    """Whether a shot of the match was a break."""
    shots = [at for at, one in enumerate(match.steps) if isinstance(one.command, Shoot)]
    at = shots[number - 1]
    return match.steps[at - 1].state.is_break if at else match.start.is_break


def _this_rack(match: Match) -> list[tuple[int, Mapping[str, Any]]]:
    """Numbers and facts of the shots since the last break, the break included."""
    steps: Sequence[Step] = match.steps
    rows: list[tuple[int, Mapping[str, Any]]] = []
    number = 0
    for at, one in enumerate(steps):
        if not isinstance(one.command, Shoot):
            continue
        number += 1
        if at and steps[at - 1].state.is_break:
            rows.clear()
        rows.append((number, one.line["shot"]))
    return rows


def _shows(facts: Mapping[str, Any], ball: int) -> bool:
    told = any(ball in (e.get("balls") or [e.get("ball")]) for e in facts["events"] if e.get("p", 1.0) >= 0.5)
    return told or str(ball) in facts.get("start", {}) or str(ball) in facts.get("rest", {})


def _went_down(facts: Mapping[str, Any], ball: int) -> bool:
    return any(e["kind"] in ("pocket", "off-table") and e["ball"] == ball for e in facts["events"])


def _pocket(ball: int, facts: Mapping[str, Any], note: Mapping[str, Any], table: Table) -> str | None:
    """The pocket nearest to where a ball was last seen in a shot."""
    path = (note.get("paths") or {}).get(str(ball))
    place = path[-1][1:3] if path else facts.get("start", {}).get(str(ball))
    if place is None:
        return None
    return min(table.pockets, key=lambda name: math.dist(place, table.pockets[name].centre))
