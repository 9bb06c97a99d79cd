"""Finds tables by their diamonds alone: rows of small marks, equally spaced in perspective, two of which fix a camera.

Where cloth, rails and floor have one colour no region says where the table is. The diamonds do: six on each long rail,
the side pocket's place left out, are a pattern that little else makes.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import cv2
import numpy as np
import numpy.typing as npt
from scipy.spatial import cKDTree

from calibration.camera import Camera, Floats
from calibration.cloth import Picture
from calibration.pose import STRETCH_COST, WORST_COST, camera_from_corners, rectangle, stretched_cameras
from calibration.table import SIGHT_SETBACK_M, Table

MARKS = 700  # at most so many small marks are looked at, the clearest
SCALES = (1.2, 1.9, 3.0)  # standard deviations, pixels, of marks at 1920
GRAIN = 5.0  # times the picture's texture around it that a mark must stand out
ROUND = 0.22  # least over most bend of a mark's top: a line has 0
SPACING = (0.012, 0.16)  # of the picture's longer side between neighbouring diamonds
PLACES = np.array([1.0, 2.0, 3.0, 5.0, 6.0, 7.0])  # of the diamonds along a long rail, in eighths
ALIKE = 8.0  # times at most that the clearest diamond of a row stands out more than the faintest
CROWD = 3  # marks as near as no two diamonds are that make letters or an audience
BETWEEN = 0.3  # what a mark between the diamonds of a row costs
ROWS = 30
FIRSTS = 6
CLEAR = 20.0  # worth of two rows, diamonds at both ends with them, that needs no other polarity looked at
DOUBT = 8.0  # of worth, by which the right rows may stand behind others


@dataclass(frozen=True, slots=True)
class Row:
    """Marks that lie as the diamonds of one long rail do.

    Parameters
    ----------
    places : (n,) which of ``PLACES`` they are.
    pixels : (n, 2) where.
    off : root mean square distance from an equally spaced row in perspective, pixels.
    """

    places: Floats
    pixels: Floats
    off: float


def small_marks(grey: Picture, limit: int = MARKS) -> list[tuple[Floats, Floats]]:
    """Small round spots, the bright ones and the dark ones: (n, 2) pixels and (n,) strength, clearest first.

    Parameters
    ----------
    grey : (h, w) uint8.
    limit : how many of each at most.
    """
    height, width = grey.shape
    unit = max(height, width) / 1920
    light = np.sqrt(grey.astype(np.float32) + 4.0)  # noise is alike in shade and light then
    best = np.zeros((2, height, width), np.float32)
    for scale in SCALES:
        sigma = max(scale * unit, 0.8)
        inner = cv2.GaussianBlur(light, (0, 0), sigma)
        blob = inner - cv2.GaussianBlur(light, (0, 0), 1.8 * sigma)
        around = max(int(24 * sigma) | 1, 15)
        texture = cv2.blur(np.minimum(np.abs(blob), 0.5), (around, around)) + 0.02
        xx, yy, xy = (cv2.Sobel(inner, cv2.CV_32F, i, j, ksize=3) for i, j in ((2, 0), (0, 2), (1, 1)))
        # of the two bends of a round top the lesser is over ROUND of the larger
        plump = np.abs(xx + yy) > cv2.magnitude(xx - yy, 2 * xy) * ((1 + ROUND) / (1 - ROUND))
        ratio = blob / texture
        np.maximum(best[0], ratio, out=best[0], where=plump)
        np.negative(ratio, out=ratio)
        np.maximum(best[1], ratio, out=best[1], where=plump)
    reach = 2 * max(2, round(3 * unit)) + 1
    found = []
    for response in best:
        peak = (response >= cv2.dilate(response, np.ones((reach, reach), np.uint8))) & (response > GRAIN)
        peak[:3] = peak[-3:] = False
        peak[:, :3] = peak[:, -3:] = False
        y, x = np.nonzero(peak)
        strength = response[y, x].astype(np.float64)
        order = np.argsort(-strength)[:limit]
        found.append((_centred(response, x[order], y[order]), strength[order]))
    return found


def _centred(response: npt.NDArray[np.float32], x: npt.NDArray[np.int64], y: npt.NDArray[np.int64]) -> Floats:
    """Centres of gravity of the peaks over their 5 x 5 surroundings."""
    step = np.arange(-2, 3)
    total, sx, sy = np.full(len(x), 1e-9), np.zeros(len(x)), np.zeros(len(x))
    for i in step:
        for j in step:
            value = response[y + j, x + i].astype(np.float64)
            value = np.maximum(value, 0)
            total += value
            sx += i * value
            sy += j * value
    return np.column_stack([x + sx / total, y + sy / total])


def find_rows(points: Floats, strength: Floats, unit: float, limit: int = ROWS) -> list[Row]:
    """Rows of at least five marks that lie as the diamonds of a long rail do, the fullest and truest first.

    Parameters
    ----------
    points, strength : (n, 2) pixels of marks and (n,) how clearly each stands out.
    unit : the picture's longer side, pixels.
    """
    if len(points) < 5:
        return []
    alone = _alone(points, strength, unit)
    points, strength = points[alone], strength[alone]
    if len(points) < 5:
        return []
    tree = cKDTree(points)
    slack = max(1.2, 0.0011 * unit)
    found: list[tuple[float, tuple[int, ...], Row]] = []
    taken: set[tuple[int, ...]] = set()
    clear = np.log(strength)
    for a, b, c in _triples(points, clear, tree, unit, slack):
        # where a diamond is hidden something near its place may be taken for it, and the row lost: try without that place
        indices = next((r for skip in (-1, 3, 4) if (r := _extended(points, tree, (a, b, c), slack, skip))), None)
        if indices is None:
            continue
        key = tuple(sorted(k for k in indices if k >= 0))
        if key in taken:
            continue
        taken.add(key)
        here = [n for n, k in enumerate(indices) if k >= 0]
        which = np.array([indices[n] for n in here])
        uneven = float(np.ptp(clear[which]))
        off = _row_error(PLACES[here], points[which])
        if off < 1.5 * slack and uneven < np.log(ALIKE):
            worth = len(here) - off / slack - 0.1 * uneven + float(clear[which].mean() - np.log(GRAIN))
            worth -= BETWEEN * _between(points, strength, which, 2 * slack)
            found.append((worth, key, Row(PLACES[here], points[which], off)))
    found.sort(key=lambda f: -f[0])
    kept: list[tuple[tuple[int, ...], Row]] = []
    for _, key, row in found:
        # the same diamonds with another's mark among them are not another row
        if all(len(set(key) & set(other)) < 4 for other, _ in kept):
            kept.append((key, row))
        if len(kept) == limit:
            break
    return [row for _, row in kept]


def _alone(points: Floats, strength: Floats, unit: float) -> npt.NDArray[np.bool_]:
    """(n,) which marks are no part of a crowd, as letters and audiences make, and no other's flank."""
    tree: Any = cKDTree(points)
    near = tree.query_ball_point(points, SPACING[0] * unit)
    rivals = [sum(strength[k] > 0.5 * strength[n] for k in some) - 1 for n, some in enumerate(near)]
    close = tree.query_ball_point(points, 0.4 * SPACING[0] * unit)
    flank = [any(strength[k] > strength[n] for k in some) for n, some in enumerate(close)]
    return (np.asarray(rivals, dtype=np.int64) < CROWD) & ~np.asarray(flank, dtype=np.bool_)


def _between(points: Floats, strength: Floats, which: npt.NDArray[np.int64], aside: float) -> int:
    """How many other marks as clear as a row's own lie on its line, between its ends."""
    start, end = points[which[0]], points[which[-1]]
    way = (end - start) / max(float(np.linalg.norm(end - start)), 1e-9)
    off = points - start
    along, across = off @ way, np.abs(off[:, 0] * way[1] - off[:, 1] * way[0])
    on = (across < aside) & (along > 0) & (along < float((end - start) @ way))
    return int(np.count_nonzero(on & (strength > 0.6 * strength[which].min()))) - len(which) + 2


def _triples(points: Floats, clear: Floats, tree: Any, unit: float, slack: float) -> Iterator[tuple[int, int, int]]:
    """Three marks in line, the middle one about halfway, with marks about where two more of their row would be."""
    near = tree.query_ball_point(points, SPACING[1] * unit)
    parts: list[npt.NDArray[np.int64]] = []
    for b, neighbours in enumerate(near):
        others = np.array([k for k in neighbours if k != b], dtype=np.int64)
        if len(others) < 2:
            continue
        way = points[others] - points[b]
        far = np.hypot(way[:, 0], way[:, 1])
        keep = (far > SPACING[0] * unit) & (np.abs(clear[others] - clear[b]) < np.log(ALIKE))
        others, way, far = others[keep], way[keep], far[keep]
        cross = np.abs(way[:, None, 0] * way[None, :, 1] - way[:, None, 1] * way[None, :, 0])
        apart = cross / np.maximum(far[:, None] + far[None], 1e-9)  # of the middle from the line through the outer two
        ratio = far[:, None] / far[None]
        first, last = np.nonzero((way @ way.T < 0) & (apart < slack) & (ratio > 0.72) & (ratio < 1.39))
        parts.append(np.column_stack([others[first], np.full(len(first), b), others[last]]))
    triples = np.concatenate(parts) if parts else np.zeros((0, 3), np.int64)
    if not len(triples):
        return
    one, two, three = (points[triples[:, k]] for k in range(3))
    before, after = np.linalg.norm(two - one, axis=1), np.linalg.norm(three - two, axis=1)
    bend = (before - after) / (before + after)
    rate = 2 * before * after / (before + after)
    along = (three - one) / np.linalg.norm(three - one, axis=1)[:, None]
    hits = np.zeros(len(triples), np.int64)
    for n in PLACES[3:] - 2:
        below = 1 + bend * n
        at = two + along * (rate * n / np.maximum(below, 0.1))[:, None]
        gap, _ = tree.query(at)
        # a place foretold from three marks errs with the square of how far away it is, a lens adds its share
        reach = np.minimum(0.4 * n**2 * slack + 0.03 * n * after, 0.2 * (n - 1) * after) + slack
        hits += (gap < reach) & (below > 0.1)
    for a, b, c in triples[hits >= 2].tolist():
        yield a, b, c


def _extended(
    points: Floats, tree: Any, triple: tuple[int, int, int], slack: float, skip: int = -1
) -> list[int] | None:
    """Indices for all six places (-1: none there) of a row that begins with a triple; None with under five.

    Place number ``skip`` is left empty.
    """
    indices = [*triple, -1, -1, -1]
    for n in (3, 4, 5):
        here = [m for m in range(6) if indices[m] >= 0]
        line = _projective(PLACES[here], points[[indices[m] for m in here]])
        if line is None:
            return None
        at = line(PLACES[n : n + 1])[0]
        step = float(np.linalg.norm(points[triple[2]] - points[triple[1]]))
        # from the first three alone the next is foretold poorly along the row, but well across it
        known = sum(k >= 0 for k in indices[3:])
        ahead = 1.7 if indices[n - 1] < 0 else 1.0  # rows bend by the lens: it tells the more the farther one looks
        loose = step * (0.3, 0.12, 0.08)[known] * ahead if np.isfinite(at).all() else 0.0
        candidates = tree.query_ball_point(at, loose + slack) if loose and n != skip else []
        along = points[triple[2]] - points[triple[0]]
        along = along / np.linalg.norm(along)
        best, least = -1, np.inf
        for k in candidates:
            off = points[k] - at
            aside = abs(float(off[0] * along[1] - off[1] * along[0]))
            if aside < (3.0 - known * 0.5) * slack * ahead and k not in indices:
                value = abs(float(off @ along)) + 2 * aside
                if value < least:
                    best, least = int(k), value
        indices[n] = best
        if sum(k < 0 for k in indices[3 : n + 1]) > 1:
            return None
    return indices


def _projective(places: Floats, pixels: Floats) -> _Line | None:
    """Least squares of ``pixel = (p + q n) / (1 + r n)``; None where the row is degenerate."""
    n = places - 4.0
    middle, size = pixels.mean(axis=0), max(float(np.ptp(pixels, axis=0).max()), 1.0)
    x, y = ((pixels - middle) / size).T
    count = len(n)
    rows = np.zeros((2 * count, 5))
    rows[:count, 0] = rows[count:, 2] = 1
    rows[:count, 1] = rows[count:, 3] = n
    rows[:count, 4], rows[count:, 4] = -n * x, -n * y
    # far quicker than a general least squares; what little is added keeps marks at one place from having no answer
    solved = np.linalg.solve(rows.T @ rows + 1e-12 * np.eye(5), rows.T @ np.concatenate([x, y]))
    if abs(solved[4]) > 0.2:  # the row would vanish within the table
        return None
    return _Line(np.asarray(solved, dtype=np.float64), middle, size)


@dataclass(frozen=True, slots=True)
class _Line:
    """An equally spaced row in perspective."""

    solved: Floats
    middle: Floats
    size: float

    def __call__(self, places: Floats) -> Floats:
        n = places - 4.0
        p, q, s, t, r = self.solved
        below = 1 + r * n
        return np.column_stack([(p + q * n) / below, (s + t * n) / below]) * self.size + self.middle


def _row_error(places: Floats, pixels: Floats) -> float:
    line = _projective(places, pixels)
    if line is None:
        return float("inf")
    return float(np.sqrt(np.mean(np.sum((line(places) - pixels) ** 2, axis=1))))


@dataclass(frozen=True, slots=True)
class _Pair:
    """Two rows that face each other, how well they make a table, and the homography from its plane."""

    worth: float
    homography: Floats


def cameras_from_rows(plane: Picture, table: Table) -> list[Camera]:
    """Cameras under which two rows of marks in the picture are the diamonds of a table's long rails, likeliest first.

    Parameters
    ----------
    plane : (h, w) uint8, the picture's brightness or one of its colours.
    table : its size is taken as given.
    """
    height, width = plane.shape
    unit = float(max(width, height))
    pairs: list[_Pair] = []
    for pixels, strength in small_marks(plane):
        rows = find_rows(pixels, strength, unit)
        for i, first in enumerate(rows):
            for second in rows[i + 1 :]:
                pair = _pair(first, second, pixels, table, unit)
                pairs += [pair] if pair is not None else []
        if any(p.worth > CLEAR for p in pairs):
            break
    pairs.sort(key=lambda p: -p.worth)
    pairs = [p for p in pairs if p.worth > pairs[0].worth - DOUBT]
    firsts: list[tuple[float, Camera]] = []
    for pair in pairs[: 2 * FIRSTS]:
        corners = _mapped(pair.homography, rectangle(table.width_m, table.length_m, 0.045))
        try:
            start = camera_from_corners(corners, table, (width, height))
        except ValueError:
            continue
        fits = [start]
        if start.cost > STRETCH_COST:
            fits += stretched_cameras(start.camera, corners, table)
        firsts += [(pair.worth - 0.3 * f.cost, f.camera) for f in fits if f.cost < WORST_COST]
    firsts.sort(key=lambda f: -f[0])
    return [camera for _, camera in firsts[:FIRSTS]]


def _pair(a: Row, b: Row, marks: Floats, table: Table, unit: float) -> _Pair | None:
    """Two rows as the diamonds of a table's long rails, where they can be that."""
    if len({tuple(p) for p in np.vstack([a.pixels, b.pixels]).round(1)}) < len(a.places) + len(b.places):
        return None
    along_a, along_b = a.pixels[-1] - a.pixels[0], b.pixels[-1] - b.pixels[0]
    if along_a @ along_b < 0:
        b = Row(8 - b.places[::-1], b.pixels[::-1], b.off)
        along_b = -along_b
    if along_a @ along_b < 0.5 * np.linalg.norm(along_a) * np.linalg.norm(along_b):
        return None
    across = b.pixels.mean(axis=0) - a.pixels.mean(axis=0)
    if along_a[0] * across[1] - along_a[1] * across[0] < 0:
        a, b = b, a  # seen from above, left is left of the way from head to foot
    out, w, length = SIGHT_SETBACK_M, table.width_m, table.length_m
    world = np.vstack(
        [
            np.column_stack([np.full(len(a.places), -out), a.places * length / 8]),
            np.column_stack([np.full(len(b.places), w + out), b.places * length / 8]),
        ]
    )
    pixels = np.vstack([a.pixels, b.pixels])
    h, _ = cv2.findHomography(world, pixels)
    if h is None:
        return None
    rms = float(np.sqrt(np.mean(((_mapped(h, world) - pixels) ** 2).sum(axis=1))))
    corners = _mapped(h, rectangle(w, length, 0.045))
    if (
        rms > 0.004 * unit or np.abs(corners - pixels.mean(axis=0)).max() > 2 * unit
    ):  # a lens bends rows, but not so much
        return None
    if not cv2.isContourConvex(corners.astype(np.float32).reshape(-1, 1, 2)):
        return None
    try:
        on_table = _mapped(np.linalg.inv(h), marks)
    except np.linalg.LinAlgError:
        return None
    # the three diamonds of each end are where those of the sides have them
    ends = np.array([(w * k / 4, y) for k in (1, 2, 3) for y in (-out, length + out)])
    gap = np.abs(on_table[:, None] - ends[None])
    seen = int(np.count_nonzero(((gap[..., 0] < 0.025) & (gap[..., 1] < 0.05)).any(axis=0)))
    worth = seen + 1.5 * (len(a.places) + len(b.places)) - rms / (0.0008 * unit)
    return _Pair(worth, np.asarray(h, dtype=np.float64))


def _mapped(h: npt.ArrayLike, points: Floats) -> Floats:
    return np.asarray(cv2.perspectiveTransform(points[None].astype(np.float64), np.asarray(h))[0], dtype=np.float64)


__all__ = ["Row", "cameras_from_rows", "find_rows", "small_marks"]
