"""What a shot's facts leave open: balls of which too little was seen, and those whose numbers a ruling rests on."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from calibration.table import RAILS, Table

NUMBER_SURE = 0.995
UNSEEN_AT_RAIL = 0.2  # probability that a ball of which too little was seen met a rail in a shot without any other
ELSEWHERE_M = 0.005  # metres between a ball's places before and after a shot that are no noise: a rail at 7 mm was missed once, for sure
AT_CUSHION_M = (
    0.015  # metres between ball and nose: half of a ball at a cushion is hidden or dark, and its place errs by as much
)


def mentioned(events: Iterable[Mapping[str, Any]]) -> set[int]:
    """Balls that likely events are about."""
    found: set[int] = set()
    for event in events:
        if event.get("p", 1.0) >= 0.5:
            found |= set(event.get("balls") or [event.get("ball", 0)])
    return found


def decisive(shot: Mapping[str, Any]) -> set[int]:
    """Object balls whose numbers a ruling rests on: the first two that the cue ball met, and those that went down."""
    said = sorted((e for e in shot["events"] if e.get("p", 1.0) >= 0.5), key=lambda e: float(e["t_s"]))
    met = [ball for e in said if e["kind"] == "contact" and 0 in e["balls"] for ball in e["balls"] if ball]
    return {*met[:2], *(e["ball"] for e in said if e["kind"] in ("pocket", "off-table") and e["ball"])}


def mistaken_for(shot: Mapping[str, Any], ball: int, among: Collection[int] | None = None) -> int | None:
    """The ball that one of uncertain number may really be: the one whose own number is the least certain.

    Parameters
    ----------
    shot : of match.json.
    ball : number as told.
    among : balls on the table; all that the shot knows of where not given.

    Returns
    -------
    ``None`` where the number is sure, or there is no other such ball.
    """
    known = {int(b): float(p) for b, p in (shot.get("identity_p") or {}).items()}
    if known.get(ball, 1.0) >= NUMBER_SURE:
        return None
    on = set(known) if among is None else set(among)
    others = [b for b, p in known.items() if b not in (0, ball) and p < NUMBER_SURE and b in on]
    return min(others, key=lambda b: known[b], default=None)


def rail_unseen(
    events: Sequence[Mapping[str, Any]],
    start: Mapping[str, Sequence[float]],
    end: Mapping[str, Sequence[float]],
    on_table: Collection[int],
    table: Table,
) -> list[dict[str, Any]]:
    """What a ball may have done for all anybody saw: met a rail, in a shot in which none was told.

    That is a ball which lies on the table but was not seen before the shot, or not after it though it did not go down, or which
    lies elsewhere though nothing is told of it, or one that was played and lay or lies so near a cushion that its place decides. It is no event of the shot; it keeps the referee from being sure that no rail was
    met (a blue ball at the cushion of a blue table was hit, and the shot ruled a foul).

    Parameters
    ----------
    events, start, end : of a shot, as in match.json.
    on_table : balls that the match has on the table before it.
    table : geometry.

    Returns
    -------
    One doubtful event of kind ``rail``, or none.
    """
    met = any(e["kind"] == "contact" and 0 in e["balls"] for e in events)
    if not start or not met or any(e["kind"] == "rail" for e in events):
        return []
    on, told = set(on_table), mentioned(events)
    down = {e["ball"] for e in events if e["kind"] in ("pocket", "off-table")}
    doubtful = sorted(on - {int(ball) for ball in start}) if len(start) < len(on) else []
    for name, at in start.items():
        ball = int(name)
        if name not in end:
            if end and ball in on - down:
                doubtful.append(ball)
        elif ball in told:  # a ball that is hit at a cushion may come back from it to where it lay
            if min(_gap(at, table), _gap(end[name], table)) < AT_CUSHION_M:
                doubtful.append(ball)
        elif math.dist(at, end[name]) > ELSEWHERE_M:
            doubtful.append(ball)
    if not doubtful:
        return []
    ball = doubtful[-1]
    if str(ball) not in start:  # it may be found to have been down already; for the rules any ball at a rail will do
        ball = 0
        if ball in down:
            return []
    last_s = max(float(e["t_s"]) for e in events)
    # any cushion will do, but not the one that the ball may be thought frozen to: that would not count, and it is what nobody knows
    at = start.get(str(ball))
    rail = next(r for r in ("foot", "head") if at is None or table.rail_gap((at[0], at[1]), r) >= AT_CUSHION_M)
    return [{"t_s": last_s + 0.1, "kind": "rail", "ball": ball, "rail": rail, "p": UNSEEN_AT_RAIL}]


def _gap(place: Sequence[float], table: Table) -> float:
    """Distance of a ball from the nearest cushion nose, metres."""
    return min(table.rail_gap((float(place[0]), float(place[1])), rail) for rail in RAILS)
