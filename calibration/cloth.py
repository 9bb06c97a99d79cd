"""Finds regions of a picture that could be the cloth of a pool table, whatever its colour.

A cloth is a large, smooth region of one hue, lit unevenly; its outline is close to a quadrilateral, cut perhaps by the
picture's edge or by somebody who leans over it. Nothing here knows which colours cloths have.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations

import cv2
import numpy as np
import numpy.typing as npt

from calibration.camera import Floats

Mask = npt.NDArray[np.uint8]
Picture = npt.NDArray[np.uint8]
Plane = npt.NDArray[np.float32]

FADED = 0.4  # of a cloth's own chroma, to which it may pale into the dark
TURNED = 0.5  # radians by which its hue may turn there
WORK_SIDE = 560  # pixels of the longer side in which regions are looked for


@dataclass(frozen=True, slots=True)
class Region:
    """One smooth region of one hue.

    Parameters
    ----------
    mask : (h, w) uint8, 255 inside, in the reduced picture.
    contour : (n, 2) outline of the region, pixels of the reduced picture.
    hull : (m, 2) its convex hull.
    area : pixels of the reduced picture, holes filled.
    scale : pixels of the whole picture per pixel of the reduced one.
    """

    mask: Mask
    contour: Floats
    hull: Floats
    area: float
    scale: float


@dataclass(frozen=True, slots=True)
class Quad:
    """Four sides around a region.

    Parameters
    ----------
    corners : (4, 2) pixels of the whole picture, clockwise as seen.
    overlap : intersection over union of the quadrilateral and the region's hull, within the picture.
    support : (4,) share of each side (as far as it lies in the picture) along which the region really ends.
    area_share : share of the picture that the region covers.
    """

    corners: Floats
    overlap: float
    support: Floats
    area_share: float


def perceptual(image: Picture) -> npt.NDArray[np.float32]:
    """BGR uint8 picture to CIE L*a*b*, float32 (L 0 … 100)."""
    return np.asarray(cv2.cvtColor(image.astype(np.float32) / 255, cv2.COLOR_BGR2LAB), dtype=np.float32)


def reduced(image: Picture, side: int = WORK_SIDE) -> tuple[Picture, float]:
    """The picture with its longer side at most ``side`` pixels, and the factor back to the whole picture."""
    scale = max(1.0, max(image.shape[:2]) / side)
    if scale == 1.0:
        return image, 1.0
    size = (round(image.shape[1] / scale), round(image.shape[0] / scale))
    return np.asarray(cv2.resize(image, size, interpolation=cv2.INTER_AREA), dtype=np.uint8), scale


def cloth_regions(image: Picture, limit: int = 6, *, hazy: bool = False) -> list[Region]:
    """Regions that could be a cloth, most promising first.

    Parameters
    ----------
    image : (h, w, 3) uint8 BGR.
    limit : how many at most.
    hazy : whether a cloth may fade and pale into the dark, as through a hazy lens: more candidates.
    """
    small, scale = reduced(image)
    lab = np.asarray(cv2.GaussianBlur(perceptual(small), (0, 0), 1.2), dtype=np.float32)
    light, *chroma = planes = _planes(lab)
    # chroma grows with light on one and the same cloth; dividing it out keeps a shaded corner with the lit middle
    even = 60.0 / (light + 15.0)
    hue = [part * even for part in chroma]
    found: list[Region] = []
    grown: list[Mask] = []
    for seed in _components(_seed_masks(light, hue)):
        covered = max((np.count_nonzero(seed & mask) for mask in grown), default=0)
        if covered > 0.9 * np.count_nonzero(seed):
            continue  # grown from another seed already
        grown.append(_settle(seed, planes, hue))
        masks = [grown[-1], _same_hue(grown[-1], light, hue)]
        if hazy:
            masks.append(_faded(grown[-1], light, hue))
        for mask in masks:
            region = _outlined(mask, scale) if mask is not None else None
            if region is not None:
                found.append(region)
    found.sort(key=lambda r: -_promise(r))
    kept: list[Region] = []
    for region in found:
        if all(_same(region, other) < 0.93 for other in kept):
            kept.append(region)
        if len(kept) == limit:
            break
    return kept


def _seed_masks(light: Plane, hue: list[Plane]) -> list[Mask]:
    """Masks of the picture's dominant hues (and greys by lightness)."""
    masks: list[Mask] = []
    bins = 64
    reach = 80.0
    a, b = (np.clip(((part + reach) * (bins / (2 * reach))).astype(np.int32), 0, bins - 1) for part in hue)
    lit = light > 6
    counts = np.bincount((a * bins + b)[lit], minlength=bins * bins).reshape(bins, bins).astype(np.float32)
    left = np.asarray(cv2.GaussianBlur(counts, (0, 0), 1.0), dtype=np.float32)
    for _ in range(6):
        peak = np.unravel_index(int(left.argmax()), left.shape)
        if left[peak] <= 0:
            break
        centre = np.asarray((np.array(peak) + 0.5) * (2 * reach / bins) - reach, dtype=np.float64)
        rows, cols = np.ogrid[:bins, :bins]
        near = (rows - peak[0]) ** 2 + (cols - peak[1]) ** 2
        left[near <= 9] = 0
        chroma = float(np.hypot(*centre))
        distance = _distance(hue, centre)
        for width in (7.0, 13.0):
            member = lit & (distance < width)
            if chroma > 14:
                masks.append(member.astype(np.uint8) * 255)
                continue
            values = light[member]
            if values.size < 200:
                continue
            tally, edges = np.histogram(values, bins=25, range=(0, 100))
            for level in np.argsort(tally)[::-1][:2]:
                middle = (edges[level] + edges[level + 1]) / 2
                masks.append((member & (np.abs(light - middle) < 11)).astype(np.uint8) * 255)
    return masks


def _components(seeds: list[Mask], limit: int = 12) -> list[Mask]:
    """The largest connected parts of the seed masks, largest first."""
    kernel = cv2.getStructuringElement(cv2.MORPH_ELLIPSE, (5, 5))
    parts: list[tuple[int, Mask]] = []
    for seed in seeds:
        opened = cv2.morphologyEx(seed, cv2.MORPH_OPEN, kernel)
        count, labels, stats, _ = cv2.connectedComponentsWithStats(opened)
        for label in sorted(range(1, count), key=lambda k: -stats[k, cv2.CC_STAT_AREA])[:2]:
            size = int(stats[label, cv2.CC_STAT_AREA])
            if size >= 0.012 * seed.size:
                parts.append((size, (labels == label).astype(np.uint8) * 255))
    parts.sort(key=lambda p: -p[0])
    return [mask for _, mask in parts[:limit]]


def _settle(mask: Mask, lab: list[Plane], hue: list[Plane]) -> Mask:
    """Lets the region follow its own shading: a pixel belongs if it is like the region's mean around it."""
    height, width = mask.shape
    coarse = (max(width // 8, 4), max(height // 8, 4))
    size = max(coarse) / 12
    kernel = cv2.getStructuringElement(cv2.MORPH_ELLIPSE, (5, 5))
    before = 0
    own = _median_of(hue, np.flatnonzero(mask))
    gate = _distance(hue, own) < 12 + 0.25 * np.hypot(*own)
    for _ in range(5):
        inside = (mask > 0).astype(np.float32)
        packed = cv2.resize(cv2.merge([*(part * inside for part in lab), inside]), coarse, interpolation=cv2.INTER_AREA)
        packed = cv2.GaussianBlur(packed, (0, 0), size)
        weight = cv2.resize(packed[..., 3], (width, height))
        means = np.asarray(packed[..., :3] / np.maximum(packed[..., 3:], 1e-4), dtype=np.float32)
        local = _planes(np.asarray(cv2.resize(means, (width, height)), dtype=np.float32))
        off = [part - mean for part, mean in zip(lab, local, strict=True)]
        some = np.flatnonzero(mask)[::5]
        # of the light's and the hue's spread around the mean, in the region itself
        spread = 1.48 * np.maximum(_median_of([np.abs(part.ravel()[some]) for part in off]), [1.0, 0.8, 0.8])
        far = np.zeros_like(off[0])
        for part, reach in zip(off, spread * [4.5, 4.0, 4.0] + [4.0, 3.0, 3.0], strict=True):
            part /= np.float32(reach)
            far += part * part
        member = (gate & (far < 1) & (weight > 0.06)).astype(np.uint8) * 255
        member = cv2.morphologyEx(member, cv2.MORPH_OPEN, kernel)
        count, labels = cv2.connectedComponents(member)
        if count < 2:
            return mask
        votes = np.bincount(labels[mask > 0], minlength=count)
        votes[0] = 0
        mask = (labels == int(votes.argmax())).astype(np.uint8) * 255
        now = int(np.count_nonzero(mask))
        if abs(now - before) < 0.01 * now:
            break
        before = now
    return mask


def _planes(picture: npt.NDArray[np.float32]) -> list[Plane]:
    """The channels of a picture, each by itself: arithmetic on them is several times faster."""
    return [np.asarray(part, dtype=np.float32) for part in cv2.split(picture)]


def _median_of(planes: list[Plane], some: npt.NDArray[np.int64] | None = None) -> Floats:
    """Median of each plane, over all or some of its pixels."""
    return np.array([float(np.median(p if some is None else p.ravel()[some])) for p in planes])


def _distance(hue: list[Plane], centre: Floats) -> Plane:
    a, b = (part - np.float32(middle) for part, middle in zip(hue, centre, strict=True))
    return np.asarray(np.sqrt(a * a + b * b), dtype=np.float32)


def _same_hue(mask: Mask, light: Plane, hue: list[Plane]) -> Mask | None:
    """The region and what joins it in the same hue at any light; None for a grey region, whose hue says nothing."""
    inside = np.flatnonzero(mask)
    own = _median_of(hue, inside)
    chroma = float(np.hypot(*own))
    if chroma < 12:
        return None
    level = float(np.median(light.ravel()[inside]))
    near = _distance(hue, own) < max(9.0, 0.3 * chroma)
    return _joined(mask, near & (light > 0.35 * level) & (light < 1.6 * level))


def _faded(mask: Mask, light: Plane, hue: list[Plane]) -> Mask | None:
    """The region and what joins it in a like hue, however dark and pale; None for a region whose hue is too pale to tell."""
    inside = np.flatnonzero(mask)
    own = _median_of(hue, inside)
    chroma = float(np.hypot(*own))
    if chroma < 18:
        return None
    # along its own direction and across it
    along, across = own / chroma, np.array([-own[1], own[0]]) / chroma
    strength = hue[0] * np.float32(along[0]) + hue[1] * np.float32(along[1])
    aside = np.abs(hue[0] * np.float32(across[0]) + hue[1] * np.float32(across[1]))
    level = float(np.median(light.ravel()[inside]))
    near = (strength > FADED * chroma) & (strength < 1.5 * chroma) & (aside < np.tan(TURNED) * strength)
    return _joined(mask, near & (light > FADED * FADED * level) & (light < 1.6 * level))


def _joined(mask: Mask, member: npt.NDArray[np.bool_]) -> Mask | None:
    """The part of ``member`` that most of the mask lies in."""
    opened = cv2.morphologyEx(
        member.astype(np.uint8) * 255, cv2.MORPH_OPEN, cv2.getStructuringElement(cv2.MORPH_ELLIPSE, (5, 5))
    )
    count, labels = cv2.connectedComponents(opened)
    if count < 2:
        return None
    votes = np.bincount(labels[mask > 0], minlength=count)
    votes[0] = 0
    return np.asarray((labels == int(votes.argmax())).astype(np.uint8) * 255, dtype=np.uint8)


def _outlined(mask: Mask, scale: float) -> Region | None:
    kernel = cv2.getStructuringElement(cv2.MORPH_ELLIPSE, (9, 9))
    padded = cv2.copyMakeBorder(mask, 10, 10, 10, 10, cv2.BORDER_REPLICATE)
    closed = cv2.morphologyEx(padded, cv2.MORPH_CLOSE, kernel)[10:-10, 10:-10]
    contours, _ = cv2.findContours(np.ascontiguousarray(closed), cv2.RETR_EXTERNAL, cv2.CHAIN_APPROX_NONE)
    if not contours:
        return None
    contour = max(contours, key=cv2.contourArea)
    area = float(cv2.contourArea(contour))
    if area < 0.012 * mask.size:
        return None
    filled = np.zeros_like(mask)
    cv2.drawContours(filled, [contour], -1, 255, -1)
    hull = cv2.convexHull(contour)
    return Region(filled, _points(contour), _points(hull), area, scale)


def _points(contour: npt.ArrayLike) -> Floats:
    return np.asarray(contour, dtype=np.float64).reshape(-1, 2)


def bed_region(corners: Floats, size: tuple[int, int]) -> tuple[Region, Quad]:
    """The region that a bed with these four corners (4, 2), pixels, covers in a picture of this width and height."""
    width, height = size
    scale = max(1.0, max(size) / WORK_SIDE)
    mask = np.zeros((round(height / scale), round(width / scale)), np.uint8)
    small = (corners + 0.5) / scale - 0.5
    cv2.fillConvexPoly(mask, (small * 16).round().astype(np.int32), 255, shift=4)
    area = float(np.count_nonzero(mask))
    return Region(mask, small, small, area, scale), Quad(corners, 1.0, np.ones(4), area / mask.size)


def _promise(region: Region) -> float:
    """Large, convex, four-sided regions in the picture's middle first."""
    height, width = region.mask.shape
    hull_area = max(float(cv2.contourArea(region.hull.astype(np.float32))), 1.0)
    solidity = region.area / hull_area
    corners = cv2.approxPolyN(region.hull.astype(np.int32).reshape(-1, 1, 2), 4, ensure_convex=True).reshape(-1, 2)
    four = hull_area / max(float(cv2.contourArea(corners.astype(np.float32))), 1.0)
    middle = region.contour.mean(axis=0) / (width, height) - 0.5
    return float(
        np.sqrt(region.area / region.mask.size) * solidity**3 * min(four, 1.0) ** 2 * (1 - 0.5 * np.hypot(*middle))
    )


def _same(a: Region, b: Region) -> float:
    both = np.count_nonzero(a.mask & b.mask)
    return float(both) / max(float(np.count_nonzero(a.mask | b.mask)), 1.0)


# -- four sides ------------------------------------------------------------------------------------------------------
def quads(region: Region, limit: int = 3) -> list[Quad]:
    """Quadrilaterals whose sides are straight stretches of the region's outline, best first."""
    height, width = region.mask.shape
    lines = _side_lines(region)
    found: list[Quad] = []
    hull_mask = np.zeros_like(region.mask)
    cv2.fillConvexPoly(hull_mask, region.hull.astype(np.int32), 255)
    line_art = np.full_like(region.mask, 255)
    line_art[region.contour[:, 1].astype(np.int64), region.contour[:, 0].astype(np.int64)] = 0
    far = np.asarray(cv2.distanceTransform(line_art, cv2.DIST_L2, 3), dtype=np.float32)
    for four in combinations(range(len(lines)), 4):
        corners = _corners_of([lines[k] for k in four])
        if corners is None or np.abs(corners - (width / 2, height / 2)).max() > 3 * max(width, height):
            continue
        drawn = np.zeros_like(region.mask)
        cv2.fillConvexPoly(drawn, (corners * 16).round().astype(np.int32), 255, shift=4)
        union = np.count_nonzero(drawn | hull_mask)
        overlap = float(np.count_nonzero(drawn & hull_mask)) / max(float(union), 1.0)
        if overlap < 0.6:
            continue
        support = np.array([_support(far, corners[k], corners[(k + 1) % 4]) for k in range(4)])
        found.append(Quad((corners + 0.5) * region.scale - 0.5, overlap, support, region.area / region.mask.size))
    found.sort(key=lambda q: -(q.overlap + 0.5 * float(q.support.mean())))
    return found[:limit]


def _side_lines(region: Region) -> list[Floats]:
    """Lines (a, b, c), ``a x + b y = c`` with unit normal, that long stretches of the outline follow."""
    height, width = region.mask.shape
    contour = region.contour
    margin = 2.5
    free = (
        (contour[:, 0] > margin)
        & (contour[:, 0] < width - 1 - margin)
        & (contour[:, 1] > margin)
        & (contour[:, 1] < height - 1 - margin)
    )
    points = contour[free]
    if len(points) < 20:
        return []
    lines: list[Floats] = []
    hull = region.hull.astype(np.int32).reshape(-1, 1, 2)
    for sides in (4, 5, 6, 7):
        if len(hull) < sides:
            continue
        polygon = cv2.approxPolyN(hull, sides, ensure_convex=True).reshape(-1, 2).astype(np.float64)
        for k in range(len(polygon)):
            line = _line_through(points, polygon[k], polygon[(k + 1) % len(polygon)])
            if line is None:
                continue
            if all(
                abs(line[:2] @ other[:2]) < 0.9995 or abs(line[2] - np.sign(line[:2] @ other[:2]) * other[2]) > 4
                for other in lines
            ):
                lines.append(line)
    return lines[:9]


def _line_through(points: Floats, start: Floats, end: Floats) -> Floats | None:
    direction = end - start
    length = float(np.linalg.norm(direction))
    if length < 12:
        return None
    direction /= length
    normal = np.array([-direction[1], direction[0]])
    offset = float(normal @ start)
    for tolerance in (6.0, 3.5, 2.5):
        along, off = (points - start) @ direction, points @ normal - offset
        near = (np.abs(off) < tolerance) & (along > -0.02 * length) & (along < 1.02 * length)
        if np.count_nonzero(near) < max(10, 0.15 * length):
            return None
        vx, vy, x0, y0 = cv2.fitLine(points[near].astype(np.float32), cv2.DIST_HUBER, 0, 0.01, 0.01).ravel()
        direction = np.array([vx, vy], dtype=np.float64) * np.sign(direction @ (vx, vy))
        normal = np.array([-direction[1], direction[0]])
        offset = float(normal @ (x0, y0))
    return np.array([normal[0], normal[1], offset])


def _corners_of(lines: list[Floats]) -> Floats | None:
    """Corners of the convex quadrilateral that four lines bound (sides in angular order), clockwise as seen; or None."""
    order = sorted(lines, key=lambda v: float(np.arctan2(v[1], v[0])))
    corners = []
    for k in range(4):
        a, b = order[k], order[(k + 1) % 4]
        det = a[0] * b[1] - a[1] * b[0]
        if abs(det) < 0.02:
            return None
        corners.append([(a[2] * b[1] - a[1] * b[2]) / det, (a[0] * b[2] - a[2] * b[0]) / det])
    quad = np.array(corners)
    if not cv2.isContourConvex(quad.astype(np.float32).reshape(-1, 1, 2)):
        return None
    x, y = quad[:, 0], quad[:, 1]
    signed = float(np.sum(x * np.roll(y, -1) - np.roll(x, -1) * y))
    return quad if signed > 0 else quad[::-1]


def _support(far: npt.NDArray[np.float32], a: Floats, b: Floats) -> float:
    """Share of a side, as far as it lies in the picture, near which the outline runs."""
    height, width = far.shape
    points = a + np.linspace(0.03, 0.97, 60)[:, None] * (b - a)
    points = points[((points > 3) & (points < (width - 4, height - 4))).all(axis=1)].astype(np.int64)
    if len(points) < 5:
        return 0.0
    return float(np.mean(far[points[:, 1], points[:, 0]] < 3))
