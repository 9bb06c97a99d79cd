"""What a picture says about where the table is: sights, edges along the rails, pockets' jaws, corners."""

from __future__ import annotations

from dataclasses import dataclass, field

from calibration.camera import Floats
from calibration.jaws import Jaw
from calibration.sights import Sight


@dataclass(frozen=True, slots=True)
class EdgeRun:
    """An edge along a rail, found at places ``s``.

    Parameters
    ----------
    rail : name.
    kind : ``nose``, ``joint`` (cloth meets rail) or ``bed`` (where the bed ends at a cushion that faces the camera).
    s : (n,) metres along the rail.
    pixels : (n, 2) where the edge was found.
    offset : distance inside the nose line, metres, as first seen.
    """

    rail: str
    kind: str
    s: Floats
    pixels: Floats
    offset: float = 0.0


@dataclass(frozen=True, slots=True)
class Evidence:
    """Everything that the picture says about where the table is.

    Parameters
    ----------
    sights, edges : as found.
    jaws : where cushions end at pockets, at the places along the rails where they belong.
    corners : (4, 2) pixels where the joint lines meet, head-left, head-right, foot-right, foot-left; or None.
    corner_sigma_m : their standard deviation, metres.
    corners_at_nose : whether the corners are those of the nose lines, at the noses' height.
    """

    sights: list[Sight] = field(default_factory=list)
    edges: list[EdgeRun] = field(default_factory=list)
    jaws: list[Jaw] = field(default_factory=list)
    corners: Floats | None = None
    corner_sigma_m: float = 0.03
    corners_at_nose: bool = False
