"""The lag (1.2): which are bad, who won, and when the players lag again."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from calibration.table import Point, Table
from referee.rulesets import RuleSet
from referee.terms import Foul
from tracking.events import AnyEvent, Crossing, OffTable, Pocketed, RailHit, Strike

TIE_M = 0.001  # nearer together than this, the referee cannot tell which ball is closer
_JAWS_M = 0.09  # along the head cushion from the corner, where a ball can lie past its nose
_PAST_M = 0.001


@dataclass(frozen=True, slots=True)
class Lagged:
    """One player's lag: events of his ball (number 0), where it came to rest, fouls seen on it."""

    events: tuple[AnyEvent, ...]
    rest: Point | None = None
    start: Point | None = None
    observed: tuple[Foul, ...] = ()


def lag_faults(lag: Lagged, table: Table, rules: RuleSet) -> tuple[str, ...]:
    """Why a lag cannot win; empty if it can (1.2 a to e, and in 2025 any further foul but balls still moving)."""
    faults = []
    foot = sum(isinstance(e, RailHit) and e.rail == "foot" for e in lag.events)
    if _crosses_long_string(lag, table):
        faults.append("long-string")
    if foot != 1:
        faults.append("foot-cushion")
    if any(isinstance(e, Pocketed | OffTable) for e in lag.events):
        faults.append("pocketed")
    if any(isinstance(e, RailHit) and e.rail in ("left", "right") for e in lag.events):
        faults.append("side-cushion")
    if (
        lag.rest is not None
        and lag.rest[1] < table.ball_radius - _PAST_M
        and min(lag.rest[0], table.width_m - lag.rest[0]) < _JAWS_M
    ):
        faults.append("jaws")
    if rules.lag_fouls and any(foul is not Foul.BALLS_MOVING for foul in lag.observed):
        faults.append("foul")
    return tuple(faults)


def _crosses_long_string(lag: Lagged, table: Table) -> bool:
    if any(isinstance(e, Crossing) and e.line == "long-string" for e in lag.events):
        return True
    places = [lag.start, *(getattr(e, "at", None) for e in lag.events), lag.rest]
    sides = [at[0] > table.long_string for at in places if at is not None and at[0] != table.long_string]
    return any(sides) and not all(sides)


def lag_winner(lags: Mapping[int, Lagged], table: Table, rules: RuleSet) -> int | None:
    """Who won the lag; ``None`` where the players lag again (1.2).

    Again: one ball struck after the other had touched the foot cushion; the referee cannot tell which is closer; both
    lags bad.
    """
    for one, other in ((0, 1), (1, 0)):
        struck = min((e.t_s for e in lags[one].events if isinstance(e, Strike)), default=None)
        touched = min((e.t_s for e in lags[other].events if isinstance(e, RailHit) and e.rail == "foot"), default=None)
        if struck is not None and touched is not None and struck > touched:
            return None
    bad = {player: bool(lag_faults(lag, table, rules)) for player, lag in lags.items()}
    if bad[0] or bad[1]:
        return None if bad[0] and bad[1] else (1 if bad[0] else 0)
    first, second = lags[0].rest, lags[1].rest
    if first is None or second is None or abs(first[1] - second[1]) < TIE_M:
        return None
    return 0 if first[1] < second[1] else 1
