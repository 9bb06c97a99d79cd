"""A seen shot as the part of match.json that scoring needs."""

from __future__ import annotations

from typing import Any

from calibration.table import Table
from tracking.events import AnyEvent, Contact, OffTable, Pocketed, RailHit, Strike
from tracking.shots import SeenShot


def event_json(event: AnyEvent) -> dict[str, Any]:
    out: dict[str, Any] = {"t_s": event.t_s, "sigma_s": event.sigma_s, "p": event.p}
    if isinstance(event, Strike):
        return {**out, "kind": "strike", "ball": event.ball}
    if isinstance(event, Contact):
        return {**out, "kind": "contact", "balls": list(event.balls), "at": event.at}
    if isinstance(event, RailHit):
        return {**out, "kind": "rail", "ball": event.ball, "rail": event.rail, "at": event.at}
    if isinstance(event, Pocketed):
        return {**out, "kind": "pocket", "ball": event.ball, "pocket": event.pocket}
    if isinstance(event, OffTable):
        return {**out, "kind": "off-table", "ball": event.ball}
    raise TypeError(event)


def match_json(shots: list[SeenShot], table: Table) -> dict[str, Any]:
    rows = []
    for seen in shots:
        s = seen.shot
        rows.append(
            {"number": s.number, "start_s": s.start_s, "end_s": s.end_s, "start": {str(b): list(p) for b, p in s.start.items()},
             "end": {str(b): list(p) for b, p in s.end.items()}, "events": [event_json(e) for e in s.events],
             "order": [{"events": [o.first, o.second], "p": o.p} for o in seen.order]}
        )  # fmt: skip
    return {"format": "railbird/1", "table": table.to_json(), "shots": rows}
