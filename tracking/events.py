"""The vocabulary of what happens on a table: frozen facts with a time, its error and a probability.

Standard library only, so that the rules can use it without NumPy. Times are seconds from the first frame, places are
metres in the table frame (``calibration.table``), balls are integers with the cue ball 0.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

Point = tuple[float, float]
RailName = Literal["head", "foot", "left", "right"]
PocketName = Literal["head-left", "head-right", "side-left", "side-right", "foot-left", "foot-right"]
LineName = Literal["head-string", "centre-string", "foot-string", "long-string"]

RAILS: tuple[RailName, ...] = ("head", "foot", "left", "right")
POCKETS: tuple[PocketName, ...] = ("head-left", "head-right", "side-left", "side-right", "foot-left", "foot-right")
LINES: tuple[LineName, ...] = ("head-string", "centre-string", "foot-string", "long-string")
CUE_BALL = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """Anything that happened: when, how exactly known, and how surely.

    Parameters
    ----------
    t_s : seconds from the first frame.
    sigma_s : one standard deviation of ``t_s``, seconds.
    p : probability that it happened at all.
    """

    t_s: float
    sigma_s: float = 0.0
    p: float = 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Strike(Event):
    """The tip's contact with a ball (the cue ball, unless somebody struck another)."""

    ball: int = CUE_BALL


@dataclass(frozen=True, slots=True, kw_only=True)
class Contact(Event):
    """Two balls' centres are a diameter apart; ``at`` is the point midway between them."""

    balls: tuple[int, int]
    at: Point | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RailHit(Event):
    """A ball meets a cushion's nose, a pocket's point or its facing; ``at`` is the ball's centre."""

    ball: int
    rail: RailName
    at: Point | None = None
    leaves_first: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Pocketed(Event):
    """A ball's centre crosses the edge of a pocket's opening for good.

    ``hung_s``: seconds it had hung still in the jaws, where that was seen; None: not known.
    """

    ball: int
    pocket: PocketName
    hung_s: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class OffTable(Event):
    """A ball leaves the table other than into a pocket."""

    ball: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Crossing(Event):
    """A ball's centre crosses one of the strings, toward a side."""

    ball: int
    line: LineName
    toward: Literal["head", "foot", "left", "right"]


AnyEvent = Strike | Contact | RailHit | Pocketed | OffTable | Crossing


@dataclass(frozen=True, slots=True, kw_only=True)
class Shot:
    """One shot as it was seen, from the tip's contact to the last ball at rest.

    ``start`` and ``end`` are centres at rest, metres, for the balls on the table then. ``partial`` says which end the
    clip cut off. ``observed`` holds foul codes that were seen (``touched-ball``, ``balls-moving``); ``suspected`` holds
    codes with a probability that a person must decide (``double-hit``, ``push``).
    """

    number: int
    start_s: float
    end_s: float
    start: dict[int, Point]
    end: dict[int, Point]
    events: tuple[AnyEvent, ...]
    frozen_rails: dict[int, tuple[RailName, ...]] = field(default_factory=dict)
    frozen_cue: tuple[int, ...] = ()
    observed: tuple[str, ...] = ()
    suspected: dict[str, float] = field(default_factory=dict)
    partial: Literal["", "start", "end", "both"] = ""
    identity_p: dict[int, float] = field(default_factory=dict)
