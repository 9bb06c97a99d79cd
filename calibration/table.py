"""Where things are on a pool table, in metres; standard library only, shared by all packages.

Table frame: origin at the corner of the playing surface (cushion noses) on the left of a player who stands at the head
end looking to the foot; ``x`` across (0 … width, growing to his right), ``y`` along (0 at the head cushion's nose …
length at the foot cushion's). ``z`` is up, 0 on the cloth. A ball's place is its centre's.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from calibration.errors import InputError

Point = tuple[float, float]

BALL_M = 0.05715
NOSE_HEIGHT = 0.635  # of a ball's diameter above the cloth
SIGHT_SETBACK_M = 0.0937  # from the nose line to the centre of a diamond (3 11/16 in)

#: Playing surface, nose to nose: length and width in metres.
SIZES: dict[str, Point] = {
    "7ft": (1.98, 0.99),
    "8ft": (2.235, 1.118),
    "8ft-pro": (2.337, 1.168),
    "9ft": (2.54, 1.27),
}

RAILS = ("head", "foot", "left", "right")
POCKETS = ("head-left", "head-right", "side-left", "side-right", "foot-left", "foot-right")
CORNERS = ("head-left", "head-right", "foot-right", "foot-left")


@dataclass(frozen=True, slots=True)
class Pocket:
    """One pocket: the circle of its opening and the two points where the cushion noses end.

    Parameters
    ----------
    name : as in ``POCKETS``.
    centre : of the opening's circle, metres (it lies outside the playing surface).
    radius : of the opening, metres. A ball is pocketed when its centre crosses this circle for good.
    points : where the noses of the two adjoining cushions end (the "points" of the pocket).
    """

    name: str
    centre: Point
    radius: float
    points: tuple[Point, Point]


@dataclass(frozen=True, slots=True)
class PocketShape:
    """Sizes of pockets in metres; a depth is how far the opening's centre lies outside the corner of the nose lines
    (corner pockets, along the diagonal) or outside the nose line (side pockets). Defaults: a common tournament table.
    """

    corner_mouth: float = 0.118
    corner_radius: float = 0.062
    corner_depth: float = 0.0417
    side_mouth: float = 0.137
    side_radius: float = 0.0645
    side_depth: float = 0.0685


@dataclass(frozen=True, slots=True)
class Table:
    """A table's geometry.

    Raises
    ------
    InputError
        Where a size is not a positive number or the surface is not longer than wide.
    """

    length_m: float = 2.54
    width_m: float = 1.27
    ball_m: float = BALL_M
    pocket_shape: PocketShape = field(default_factory=PocketShape)

    def __post_init__(self) -> None:
        for name in ("length_m", "width_m", "ball_m"):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value) or value <= 0:
                raise InputError(f"table.{name} is {value!r}: give a positive number of metres")
        if self.length_m <= self.width_m:
            raise InputError(f"table.length_m {self.length_m} is not more than width_m {self.width_m}: swap them")
        if self.ball_m * 4 > self.width_m:
            raise InputError(f"table.ball_m {self.ball_m} is too large for a table {self.width_m} m wide")

    @classmethod
    def of_size(cls, name: str) -> Table:
        """Table of a trade size: 7ft, 8ft, 8ft-pro, 9ft."""
        try:
            length, width = SIZES[name]
        except KeyError:
            raise InputError(f"unknown table size {name!r}: one of {', '.join(SIZES)}") from None
        return cls(length, width)

    # -- lines ---------------------------------------------------------------------------------------------------
    @property
    def ball_radius(self) -> float:
        return self.ball_m / 2

    @property
    def nose_height(self) -> float:
        """Height of the cushion's nose above the cloth, metres."""
        return NOSE_HEIGHT * self.ball_m

    @property
    def head_string(self) -> float:
        """``y`` of the head string; the string itself does not belong to the kitchen."""
        return self.length_m / 4

    @property
    def centre_string(self) -> float:
        return self.length_m / 2

    @property
    def foot_string(self) -> float:
        return 3 * self.length_m / 4

    @property
    def long_string(self) -> float:
        """``x`` of the long string."""
        return self.width_m / 2

    # -- points --------------------------------------------------------------------------------------------------
    @property
    def head_spot(self) -> Point:
        return (self.long_string, self.head_string)

    @property
    def centre_spot(self) -> Point:
        return (self.long_string, self.centre_string)

    @property
    def foot_spot(self) -> Point:
        return (self.long_string, self.foot_string)

    @property
    def corners(self) -> dict[str, Point]:
        """Where the extended nose lines meet."""
        w, length = self.width_m, self.length_m
        return {"head-left": (0.0, 0.0), "head-right": (w, 0.0), "foot-right": (w, length), "foot-left": (0.0, length)}

    @property
    def sights(self) -> list[Point]:
        """The 18 diamonds on the rails (side-pocket places left out)."""
        w, length, off = self.width_m, self.length_m, SIGHT_SETBACK_M
        along = [(x, length * k / 8) for k in (1, 2, 3, 5, 6, 7) for x in (-off, w + off)]
        across = [(w * k / 4, y) for k in (1, 2, 3) for y in (-off, length + off)]
        return along + across

    @property
    def pockets(self) -> dict[str, Pocket]:
        """The six pockets by name."""
        s, w, length = self.pocket_shape, self.width_m, self.length_m
        out = s.corner_depth / math.sqrt(2)
        cut = s.corner_mouth / math.sqrt(2)
        side = s.side_depth
        found: dict[str, Pocket] = {}
        for end, y, toward in (("head", 0.0, 1), ("foot", length, -1)):
            for hand, x, across in (("left", 0.0, 1), ("right", w, -1)):
                name = f"{end}-{hand}"
                points = ((x + across * cut, y), (x, y + toward * cut))
                found[name] = Pocket(name, (x - across * out, y - toward * out), s.corner_radius, points)
        for hand, x, across in (("left", 0.0, 1), ("right", w, -1)):
            half = s.side_mouth / 2
            points = ((x, length / 2 - half), (x, length / 2 + half))
            found[f"side-{hand}"] = Pocket(f"side-{hand}", (x - across * side, length / 2), s.side_radius, points)
        return {name: found[name] for name in POCKETS}

    # -- regions -------------------------------------------------------------------------------------------------
    def in_kitchen(self, at: Point) -> bool:
        """Whether a ball at ``at`` lies in the kitchen (the head string itself does not belong to it)."""
        return at[1] < self.head_string

    def on_surface(self, at: Point, margin: float = 0.0) -> bool:
        """Whether ``at`` is inside the nose lines by at least ``margin`` metres."""
        return margin <= at[0] <= self.width_m - margin and margin <= at[1] <= self.length_m - margin

    def rail_gap(self, at: Point, rail: str) -> float:
        """Gap between a ball's edge and a rail's nose, metres (negative: pressed in)."""
        x, y = at
        to_nose = {"head": y, "foot": self.length_m - y, "left": x, "right": self.width_m - x}[rail]
        return to_nose - self.ball_radius

    def nearest_rail(self, at: Point) -> str:
        return min(RAILS, key=lambda rail: self.rail_gap(at, rail))

    def nearest_pocket(self, at: Point) -> Pocket:
        return min(self.pockets.values(), key=lambda p: math.dist(at, p.centre))

    # -- JSON ----------------------------------------------------------------------------------------------------
    def to_json(self) -> dict[str, float]:
        return {"length_m": self.length_m, "width_m": self.width_m, "ball_m": self.ball_m}

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> Table:
        given = {k: value[k] for k in ("length_m", "width_m", "ball_m") if k in value}
        if "length_m" in given and "width_m" not in given:
            given["width_m"] = given["length_m"] / 2
        return cls(**given)
