"""Finds the pockets' mouths along the rails: where the cushions end, which tells where along a rail the camera looks.

A cushion's top is one colour from jaw to jaw; at a pocket it breaks off. A mouth's width differs from table to table, its
middle does not: side pockets are halfway, and corner mouths cut the two ends of a rail alike.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import cv2
import numpy as np
import numpy.typing as npt

from calibration.camera import Camera, Floats
from calibration.cloth import Picture
from calibration.strips import cut, rail_length, rail_point
from calibration.table import RAILS, Table

TOP_M = (-0.034, -0.010)  # across a cushion's top, metres inside the nose line, clear of nose and rail
STEP_M = 0.004
OWN_M = 0.25  # along a rail, over which a cushion's own shading is followed
BREAK = 5.0  # times its own usual deviation by which a cushion's colour must change where it ends
LEAST = 5.0  # and at least so many L*a*b* units
ENOUGH, ENOUGH_TOLD = 8, 6  # jaws that say it all, of twelve; and where the focal length is known beforehand
OFF_M, OFF_TOLD_M = 0.02, 0.03  # that they may be off
GONE_M = 0.032  # for so long: a ball or chalk is no pocket


@dataclass(frozen=True, slots=True)
class Jaw:
    """The end of a cushion at a pocket.

    Parameters
    ----------
    rail : the rail it lies on.
    side : whether it bounds a side pocket; a corner pocket else.
    before : whether the pocket lies before it, seen along the rail.
    along_m : where it was found, metres along the rail as the camera has it.
    pixel : (2,) where.
    """

    rail: str
    side: bool
    before: bool
    along_m: float
    pixel: Floats


def find_jaws(picture: Picture, camera: Camera, table: Table, window_m: float = 0.1) -> list[Jaw]:
    """Where cushions end at pockets, at most 12.

    Parameters
    ----------
    picture : (h, w, 3) uint8 BGR.
    camera, table : as known so far.
    window_m : how far an end may lie from where the camera puts it.
    """
    found: list[Jaw] = []
    half, corner = table.pocket_shape.side_mouth / 2, table.pocket_shape.corner_mouth / np.sqrt(2)
    for rail in RAILS:
        length = rail_length(table, rail)
        places = [(corner, False, True), (length - corner, False, False)]
        if rail in ("left", "right"):
            places += [(length / 2 - half, True, False), (length / 2 + half, True, True)]
        s, off = _strangeness(picture, camera, table, rail)
        if not len(s):
            continue
        for at, side, before in places:
            end = _end(s, off, at, before, window_m)
            if end is not None:
                pixel = camera.project(rail_point(table, rail, np.array([end]), sum(TOP_M) / 2), table.nose_height)[0]
                found.append(Jaw(rail, side, before, end, pixel))
    return found


def placed(jaws: list[Jaw], table: Table) -> list[Jaw]:
    """The jaws at the places, along their rails, where a table has them whose mouths are as wide as these are in the middle."""
    half, corner = table.pocket_shape.side_mouth / 2, table.pocket_shape.corner_mouth / np.sqrt(2)
    ends = [j.along_m if j.before else rail_length(table, j.rail) - j.along_m for j in jaws if not j.side]
    sides = [abs(j.along_m - table.length_m / 2) for j in jaws if j.side]
    end = float(np.clip(np.median(ends or [corner]), 0.5 * corner, 1.4 * corner))
    side = float(np.clip(np.median(sides or [half]), 0.6 * half, 1.4 * half))
    out = []
    for j in jaws:
        middle = table.length_m / 2
        at = (
            (middle + side if j.before else middle - side)
            if j.side
            else end
            if j.before
            else rail_length(table, j.rail) - end
        )
        out.append(replace(j, along_m=at))
    return out


def halves(jaws: list[Jaw], table: Table) -> list[tuple[bool, float]]:
    """How far, metres, the middle of each pair of jaws lies from the middle of its rail; with whether it is a side pocket's.

    A wrong camera has them off or sees none; in a right one a side pocket is halfway and a rail's two ends are alike.
    """
    found = []
    for rail in RAILS:
        for side in (True, False):
            pair = [j.along_m for j in jaws if j.rail == rail and j.side == side]
            if len(pair) == 2:
                found.append((side, sum(pair) / 2 - rail_length(table, rail) / 2))
    return found


def aside(jaws: list[Jaw], table: Table, rails: tuple[str, str]) -> float | None:
    """How far, metres, cushions lie aside along that of two opposite rails where they do less; None where none is seen whole.

    An edge of the cloth taken for a cushion's other one moves a rail by 5 cm, which the middles of both that meet it show
    by half as much; a single one may be misread where it is far or dark.
    """
    means = []
    for rail in rails:
        off = [middle for _, middle in halves([j for j in jaws if j.rail == rail], table)]
        means += [sum(off) / len(off)] if off else []
    return min(means, key=abs, default=None)


def agree(jaws: list[Jaw], table: Table, told: bool = False) -> bool:
    """Whether so many jaws lie where those of a table do that no other reading can be meant, though they had a part in it.

    Where the focal length is ``told``, a quadrilateral leaves far fewer readings, and somewhat fewer jaws say it.
    """
    least, most = (ENOUGH_TOLD, OFF_TOLD_M) if told else (ENOUGH, OFF_M)
    pairs = halves(jaws, table)
    off = [j.along_m - p.along_m for j, p in zip(jaws, placed(jaws, table), strict=True)]
    return (
        len(jaws) >= least
        and len(pairs) >= ENOUGH // 2 - 1
        and any(side for side, _ in pairs)
        and max(abs(middle) for _, middle in pairs) < most
        and float(np.mean(np.abs(off) < most)) > 0.8
    )


def _strangeness(picture: Picture, camera: Camera, table: Table, rail: str) -> tuple[Floats, Floats]:
    """Along a rail, (n,) places and by how many usual deviations the cushion's top is not its own colour; NaN if unseen."""
    length = rail_length(table, rail)
    s = np.arange(-0.06, length + 0.06, STEP_M)
    strip = cut(picture, camera, table, rail, s, TOP_M, table.nose_height + 0.003)
    if np.count_nonzero(strip.seen.any(axis=1)) < 20:
        return np.zeros(0), np.zeros(0)
    colour = np.median(strip.lab, axis=1)
    seen = strip.seen.mean(axis=1) > 0.5
    cushion = seen & (s > 0.15) & (s < length - 0.15)
    if rail in ("left", "right"):
        cushion &= np.abs(s - length / 2) > 0.15
    own = _followed(colour, cushion, round(OWN_M / STEP_M))
    off = np.linalg.norm((colour - own) * [0.5, 1.0, 1.0], axis=1)
    usual = max(1.48 * float(np.median(off[cushion])), LEAST / BREAK) if cushion.any() else np.inf
    return s, np.where(seen, off / usual, np.nan)


def _followed(colour: npt.NDArray[np.float32], some: npt.NDArray[np.bool_], reach: int) -> Floats:
    """(n, 3) the cushion's colour around each place, from the places that surely are cushion; its ends' beyond them."""
    weight = cv2.GaussianBlur(some.astype(np.float64)[:, None], (1, 0), sigmaX=0.1, sigmaY=reach / 2)
    total = cv2.GaussianBlur(
        np.where(some[:, None], colour, 0).astype(np.float64), (1, 0), sigmaX=0.1, sigmaY=reach / 2
    )
    return np.asarray(total / np.maximum(weight.reshape(-1, 1), 1e-9), dtype=np.float64)


def _end(s: Floats, off: Floats, at: float, before: bool, window_m: float) -> float | None:
    """Where the cushion ends near ``at``, walking off it toward the pocket; None where it does not, or not surely."""
    step = -1 if before else 1
    start = int(np.argmin(np.abs(s - (at - step * window_m))))
    stop = int(np.argmin(np.abs(s - (at + step * window_m))))
    need = round(GONE_M / STEP_M)
    values = off[start : stop + step * need : step] if stop + step * need >= 0 else off[start::step]
    begin = values[: max(4, need // 2)]
    if len(values) < need + 4 or not np.isfinite(begin).all() or np.median(begin) > BREAK:
        return None
    gone = values > BREAK
    for k in range(len(values) - need):
        if gone[k] and gone[k : k + need].mean() > 0.85:
            return float(s[start] + step * (k - 0.5) * STEP_M)
    return None
