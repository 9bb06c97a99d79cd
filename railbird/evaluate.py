"""Compares two ``match.json``: events one to one, first contacts, rulings, places and identities."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import median
from typing import Any

from railbird import result

TOLERANCE_S = 0.050  # an event this near in time may be the same
SHOT_S = 1.0  # a shot that begins this near may be the same
SAME_TOUCH_S = 0.020  # touches of one ball on the rails within this are one
JAW_M = 0.15  # this near a pocket either neighbouring rail is right
OPEN_S = 0.003  # the cue ball meets two balls within this: first contact is not asked
CROWD_S, CROWD, BREAK_S = 0.060, 6, 1.0  # so many contacts so soon are a break; inside it contacts count neither way
SAID = 0.5
SURE = 0.95
KINDS = ("contact", "rail", "pocket")
NEEDED = ("table", "shots")

Event = Mapping[str, Any]
Row = Mapping[str, Any]


def run(found: str | Path, truth: str | Path) -> dict[str, Any]:
    """Compare two files; :func:`compare` says how.

    Raises
    ------
    InputError
        Where one of them cannot be read or a field is wrong.
    """
    return compare(result.read(found, required=NEEDED), result.read(truth, required=NEEDED))


def compare(found: Mapping[str, Any], truth: Mapping[str, Any]) -> dict[str, Any]:
    """How well ``found`` tells what ``truth`` says; keys as in FORMATS.

    Which end of the table is the head cannot always be known from a clip: both ways round are tried, the better counts.
    Rates are ``None`` where there was nothing to count. A ruling is right where ``legal``, ``enforced`` and what comes
    next agree; a shot that was missed has a wrong one.
    """
    ways = [_compare(found, truth, turned) for turned in (False, True)]
    return max(ways, key=lambda way: way[0])[1]


def _compare(found: Mapping[str, Any], truth: Mapping[str, Any], turned: bool) -> tuple[float, dict[str, Any]]:
    table = _size(truth["table"])
    pairs = pair_shots(truth["shots"], found["shots"])
    scale = table[1] / _size(found["table"])[1]
    counts = {kind: [0, 0, 0] for kind in KINDS}  # hit, in truth, too many
    errors: dict[str, list[float]] = {kind: [] for kind in KINDS}
    first, rulings, sure = [0, 0], [0, 0], 0
    off: list[float] = []
    identity = [0, 0]
    for want, got in pairs:
        events = [turn(e) for e in got["events"]] if turned else got["events"]
        _events(counted(events), with_jaws(counted(want["events"]), table), counts, errors)
        order = cue_contacts(counted(want["events"]))
        if want.get("vain"):
            continue
        if not (len(order) > 1 and order[1][0] - order[0][0] < OPEN_S):
            first[1] += 1
            first[0] += bool(got is not MISSED) and _first(cue_contacts(counted(events))) == _first(order)
        for ball, (x, y) in want["start"].items():
            identity[1] += 1
            at = got["start"].get(ball)
            if at is None:
                continue
            gx, gy = scale * at[0], scale * at[1]
            gap = math.hypot((table[0] - gx if turned else gx) - x, (table[1] - gy if turned else gy) - y)
            if gap < _ball(truth["table"]):
                identity[0] += 1
                off.append(1e3 * gap)
        if want.get("ruling"):
            rulings[1] += 1
            right = same_ruling(want["ruling"], got.get("ruling"))
            rulings[0] += right
            sure += not right and bool(got.get("ruling")) and (got["ruling"].get("p") or 0.0) > SURE
    hits = sum(c[0] for c in counts.values()) + identity[0]
    return hits, {
        "format": "railbird/1",
        "shots": {"truth": len(truth["shots"]), "found": len(found["shots"])},
        "events": {kind: _rates(counts[kind], errors[kind]) for kind in KINDS},
        "first_contact": {"right": first[0], "of": first[1]},
        "rulings": {"right": rulings[0], "of": rulings[1], "wrong_and_sure": sure},
        "position_error_mm": _spread(off),
        "identity": {"right": identity[0], "of": identity[1]},
        "turned": turned,
    }


MISSED: dict[str, Any] = {"events": [], "start": {}}


def pair_shots(truth: Sequence[Row], found: Sequence[Row]) -> list[tuple[Row, Row]]:
    """Every true shot with the one found that begins nearest to it, within a second; shots found in vain come last."""
    left = list(found)
    pairs: list[tuple[Row, Row]] = []
    for want in truth:
        near = [shot for shot in left if abs(shot["start_s"] - want["start_s"]) <= SHOT_S]
        if near:
            got = min(near, key=lambda shot: abs(float(shot["start_s"]) - float(want["start_s"])))
            left.remove(got)
            pairs.append((want, got))
        else:
            pairs.append((want, MISSED))
    # What was found where nothing was played counts against precision, as a shot of which nothing is true.
    return pairs + [({"events": [], "start": {}, "vain": True}, shot) for shot in left]


def counted(events: Sequence[Event]) -> list[Event]:
    """Events that are said (p at least 0.5) in time order, with repeated touches of a ball on the rails as one."""
    said: list[Event] = []
    for event in sorted((e for e in events if (e.get("p", 1) or 0) >= SAID), key=lambda e: float(e["t_s"])):
        again = event["kind"] == "rail" and any(
            e["kind"] == "rail" and e["ball"] == event["ball"] and event["t_s"] - e["t_s"] < SAME_TOUCH_S for e in said
        )
        if not again:
            said.append(event)
    return said


def with_jaws(events: Sequence[Event], table: tuple[float, float]) -> list[Event]:
    """True rails near a pocket get the names (``jaw``) that are right there as well."""
    width, length = table
    out: list[Event] = []
    for event in events:
        if event["kind"] == "rail" and event.get("at"):
            x, y = event["at"]
            gaps = {"left": x, "right": width - x, "head": y, "foot": length - y}
            pockets = [(px, py) for px in (0, width) for py in (0, length / 2, length)]
            if min(math.dist((x, y), p) for p in pockets) < JAW_M:
                event = {**event, "jaw": [rail for rail, gap in gaps.items() if gap < JAW_M]}
        out.append(event)
    return out


def cue_contacts(events: Sequence[Event]) -> list[tuple[float, int]]:
    """Time and ball of the cue ball's contacts."""
    return [(e["t_s"], max(e["balls"])) for e in events if e["kind"] == "contact" and 0 in e["balls"]]


def same_ruling(want: Mapping[str, Any], got: Mapping[str, Any] | None) -> bool:
    """Whether two rulings agree: legal, the foul enforced, who plays on and how, and who won."""
    if not got:
        return False
    keys = ("legal", "enforced", "rack_winner", "match_winner")
    if any(want.get(key) != got.get(key) for key in keys if key in want):
        return False
    upcoming, ours = want.get("next"), got.get("next") or {}
    return not upcoming or all(ours.get(key) == upcoming[key] for key in ("player", "cue_ball") if key in upcoming)


def turn(event: Event) -> Event:
    """The same event with the table turned end for end."""
    other = {"head": "foot", "foot": "head", "left": "right", "right": "left"}
    names = {
        key: "-".join(other.get(part, part) for part in event[key].split("-"))
        for key in ("rail", "pocket")
        if event.get(key)
    }
    return {**event, **names}


def _events(
    got: Sequence[Event], want: Sequence[Event], counts: dict[str, list[int]], errors: dict[str, list[float]]
) -> None:
    hits = [e for e in want if e["kind"] == "contact"]
    crowd = bool(hits) and sum(e["t_s"] < hits[0]["t_s"] + CROWD_S for e in hits) > CROWD

    def skipped(event: Event) -> bool:
        inside = crowd and hits[0]["t_s"] - TOLERANCE_S < event["t_s"] < hits[0]["t_s"] + BREAK_S
        return inside and event["kind"] == "contact" and not _same(event, hits[0])

    pool = [e for e in got if e["kind"] in KINDS and not skipped(e)]
    asked = [e for e in want if e["kind"] in KINDS and not skipped(e)]
    for event in asked:
        counts[event["kind"]][1] += 1
    # Nearest pairs first, so that one late event does not take the partner of the next.
    candidates = sorted(
        (abs(a["t_s"] - b["t_s"]), i, j)
        for i, a in enumerate(asked)
        for j, b in enumerate(pool)
        if _same(b, a) and abs(a["t_s"] - b["t_s"]) <= TOLERANCE_S
    )
    used: tuple[set[int], set[int]] = (set(), set())
    for gap, i, j in candidates:
        if i in used[0] or j in used[1]:
            continue
        used[0].add(i)
        used[1].add(j)
        counts[asked[i]["kind"]][0] += 1
        errors[asked[i]["kind"]].append(1e3 * gap)
    for j, event in enumerate(pool):
        counts[event["kind"]][2] += j not in used[1]


def _same(event: Event, truth: Event) -> bool:
    if event["kind"] != truth["kind"]:
        return False
    if event["kind"] == "contact":
        return sorted(event["balls"]) == sorted(truth["balls"])
    if event["kind"] == "pocket":
        return bool(event["ball"] == truth["ball"] and event["pocket"] == truth["pocket"])
    return event["ball"] == truth["ball"] and (event["rail"] == truth["rail"] or event["rail"] in truth.get("jaw", ()))


def _first(contacts: Sequence[tuple[float, int]]) -> int | None:
    return contacts[0][1] if contacts else None


def _rates(count: Sequence[int], errors: Sequence[float]) -> dict[str, Any]:
    hit, want, extra = count
    precision = hit / (hit + extra) if hit + extra else None
    recall = hit / want if want else None
    f1 = None if precision is None and recall is None else 2 * hit / (2 * hit + extra + (want - hit))
    return {
        "precision": _short(precision),
        "recall": _short(recall),
        "f1": _short(f1),
        "time_error_ms": _spread(errors),
    }


def _short(value: float | None) -> float | None:
    return None if value is None else round(value, 4)


def _spread(values: Sequence[float]) -> dict[str, float | None]:
    if not values:
        return {"median": None, "p95": None}
    ranked = sorted(values)
    place = 0.95 * (len(ranked) - 1)
    low = math.floor(place)
    high = min(low + 1, len(ranked) - 1)
    return {
        "median": round(median(ranked), 3),
        "p95": round(ranked[low] + (place - low) * (ranked[high] - ranked[low]), 3),
    }


def _size(table: Mapping[str, Any]) -> tuple[float, float]:
    length = float(table["length_m"])
    return float(table.get("width_m") or length / 2), length


def _ball(table: Mapping[str, Any]) -> float:
    return float(table.get("ball_m") or 0.05715)
