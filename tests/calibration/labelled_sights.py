"""Labelled diamonds against where they belong along their rails: from four corners alone, and what the rails' height does to that."""

from __future__ import annotations

from dataclasses import dataclass

import cv2
import numpy as np
import numpy.typing as npt

from calibration.camera import Floats
from calibration.result import Calibration

SIGHT = 0.0937
WIDTH, LENGTH = 1.27, 2.54


@dataclass(frozen=True, slots=True)
class Labelled:
    """One picture's labelled diamonds.

    Parameters
    ----------
    flat : (n,) distance along the rail from the nearest mark, the corners taken alone, as if rails were as low as noses; millimetres.
    true : (n,) the same by the camera, at the rails' height found.
    signed : (m,) as ``flat``, with its sign; those near a rail only.
    predicted : (m,) what the rails' height alone would make of ``signed``, no label looked at but to name the mark.
    """

    flat: Floats
    true: Floats
    signed: Floats
    predicted: Floats


def labelled(found: Calibration, pixels: Floats) -> Labelled:
    """What the labels (n, 2), pixels, say of a calibration of a 9 ft table."""
    square = np.array([[0, 0], [WIDTH, 0], [WIDTH, LENGTH], [0, LENGTH]], dtype=np.float32)
    to_table = cv2.getPerspectiveTransform(np.array(list(found.corners_px.values()), dtype=np.float32), square)

    def level(px: Floats) -> Floats:
        return np.asarray(cv2.perspectiveTransform(px[None].astype(np.float32), to_table)[0], dtype=np.float64)

    true = found.camera.unproject(pixels, found.rail_top_m)
    flat_places = level(pixels)
    along, mark, by_rail = _nearest(true)
    ideal = level(found.camera.project(mark, found.rail_top_m))
    every = np.arange(len(pixels))
    signed = (flat_places - mark)[every, along] * 1e3
    predicted = (ideal - mark)[every, along] * 1e3
    return Labelled(along_mm(flat_places), along_mm(true), signed[by_rail], predicted[by_rail])


def _nearest(places: Floats) -> tuple[npt.NDArray[np.int64], Floats, npt.NDArray[np.bool_]]:
    """For each place (n, 2) the axis its rail runs along, the mark it must be, and whether it lies by a rail at all."""
    axes, marks, near = [], [], []
    for x, y in places:
        side, end = min(abs(x + SIGHT), abs(x - WIDTH - SIGHT)), min(abs(y + SIGHT), abs(y - LENGTH - SIGHT))
        axis = 1 if side < end else 0
        step = LENGTH / 8 if axis else WIDTH / 4
        mark = [x, y]
        mark[axis] = step * round(mark[axis] / step)
        across = WIDTH if axis else LENGTH
        mark[1 - axis] = -SIGHT if mark[1 - axis] < across / 2 else across + SIGHT
        axes.append(axis)
        marks.append(mark)
        near.append(min(side, end) < 0.15)
    return np.array(axes), np.array(marks), np.array(near)


def along_mm(places: Floats) -> Floats:
    """(n,) distance of each sight along its rail from the nearest mark; half a step for what lies by no rail."""
    out = []
    for x, y in places:
        side, end = min(abs(x + SIGHT), abs(x - WIDTH - SIGHT)), min(abs(y + SIGHT), abs(y - LENGTH - SIGHT))
        value, step, whole = (y, LENGTH / 8, LENGTH) if side < end else (x, WIDTH / 4, WIDTH)
        near = min(side, end) < 0.15 and -step / 2 < value < whole + step / 2
        out.append(1e3 * (abs(value - step * round(value / step)) if near else step / 2))
    return np.array(out)
