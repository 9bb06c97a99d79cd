"""Calibrates from four corners that a person gives, in any order: the fallback where the table is not found."""

from __future__ import annotations

from collections.abc import Sequence

import cv2
import numpy as np

from calibration.errors import InputError
from calibration.pose import camera_from_corners
from calibration.result import Calibration
from calibration.table import Table

WORST_COST = 12.0  # of the fit, lens included
WORST_PX = 0.012  # of the picture's longer side: how far corners may be from any picture of a table


def from_corners(
    size: tuple[int, int], corners: Sequence[Sequence[float]], length_m: float | None = None
) -> Calibration:
    """Calibration from the four points where the extended nose lines meet.

    Parameters
    ----------
    size : picture's width and height, pixels.
    corners : four (x, y), pixels, in any order.
    length_m : playing length; 2.54 if left out.

    Raises
    ------
    InputError
        Where the corners cannot be those of a table that is twice as long as wide.
    """
    points = np.asarray(corners, dtype=np.float64)
    if points.shape != (4, 2) or not np.isfinite(points).all():
        raise InputError(f"corners are {corners!r}: give four points X,Y in pixels")
    width, height = size
    reach = 2.0 * max(width, height)
    for x, y in points:
        if not (-reach < x < width + reach and -reach < y < height + reach):
            raise InputError(
                f"corner {x:g},{y:g} is far outside the picture of {width}x{height}: give pixels of this picture"
            )
    ordered = _counter_clockwise(points)
    table = Table() if length_m is None else Table(length_m, length_m / 2)
    best = None
    for roll in (0, 1):
        turned = np.roll(ordered, roll, axis=0)
        try:
            found = camera_from_corners(turned, table, size, sigma_m=0.012, joint_m=0.0, joint_tied=False)
        except ValueError:
            continue
        if best is None or found.cost < best.cost:
            best = found
    if best is None:
        raise InputError("corners cannot be those of a table seen from above: check their places")
    world = np.array([table.corners[name] for name in ("head-left", "head-right", "foot-right", "foot-left")])
    seen = best.camera.project(world, table.nose_height)
    off = np.array([np.linalg.norm(ordered - point, axis=1).min() for point in seen])
    if off.max() > WORST_PX * max(width, height) or best.cost > WORST_COST:
        raise InputError(
            f"corners are {off.max():.0f} pixels from any usual view of a table twice as long as wide: check their places"
        )
    notes = ("corners-by-hand",) if length_m is not None else ("corners-by-hand", "length-assumed")
    return Calibration(table, best.camera, float(np.sqrt(np.mean(off**2))), {}, 0.5, notes)


def _counter_clockwise(
    points: np.ndarray[tuple[int, ...], np.dtype[np.float64]],
) -> np.ndarray[tuple[int, ...], np.dtype[np.float64]]:
    """The four points around their hull, against the clock as seen.

    Raises
    ------
    InputError
        Where one lies inside the triangle of the others or two coincide.
    """
    hull = cv2.convexHull(points.astype(np.float32), returnPoints=False).ravel()
    if len(hull) != 4:
        raise InputError("corners do not bound a four-sided surface: two coincide or one lies between the others")
    ring = points[hull]
    x, y = ring.T
    area = float(np.sum(x * np.roll(y, -1) - np.roll(x, -1) * y)) / 2
    longest = float(np.linalg.norm(ring - np.roll(ring, 1, axis=0), axis=1).max())
    if abs(area) < 0.02 * longest**2:
        raise InputError("corners lie nearly on one line: check their places")
    return np.asarray(ring[::-1] if area > 0 else ring, dtype=np.float64)
