"""Finds the edges that run along a rail: the cushion's nose and the line where the cloth meets the rail's top.

The cloth goes over the cushion up to the rail, so the strongest edge is not the nose. The nose is a step in shading
about 5 cm inside it, seen from above as the border between cushion top and bed or the shadow on it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import cv2
import numpy as np
import numpy.typing as npt

from calibration.camera import Camera, Floats
from calibration.cloth import Picture
from calibration.evidence import EdgeRun
from calibration.strips import RAIL_TOP_M, cut, free_stretches, rail_length, rail_point
from calibration.table import RAILS, Table


@dataclass(frozen=True, slots=True)
class Ridge:
    """An edge of a straightened strip.

    Parameters
    ----------
    offset : metres inside the nose line, where the strip's mean gradient peaks.
    strength : of the mean gradient there, L*a*b* units per pixel.
    s, d : (n,) where it was found, place by place.
    share : of the places along the rail where it was found.
    """

    offset: float
    strength: float
    s: Floats
    d: Floats
    share: float


def ridges(
    image: Picture,
    camera: Camera,
    table: Table,
    rail: str,
    reach: tuple[float, float],
    height: float,
    wander_m: float = 0.012,
) -> list[Ridge]:
    """Edges parallel to a rail between two distances from its nose line, strongest first."""
    length = rail_length(table, rail)
    ends = camera.project(rail_point(table, rail, np.array([0.1, length - 0.1]), 0.0), height)
    extent = float(np.linalg.norm(ends[1] - ends[0]))
    if not np.isfinite(extent) or extent < 40:
        return []
    group = 4
    places = int(np.clip(extent / 6, 40, 160))
    s_all = free_stretches(table, rail, places * group)
    s_all = s_all[: len(s_all) // group * group]
    margin = 0.012
    strip = cut(image, camera, table, rail, s_all, (reach[0] - margin, reach[1] + margin), height)
    rows = len(s_all) // group
    lab = strip.lab.reshape(rows, group, len(strip.d), 3).mean(axis=1)
    seen = np.asarray(strip.seen.reshape(rows, group, len(strip.d)).all(axis=(1, 2)), dtype=np.bool_)
    s = s_all.reshape(rows, group).mean(axis=1)
    if np.count_nonzero(seen) < 8:
        return []
    sigma = max(0.9 / strip.step_px, 0.8)
    smooth = cv2.GaussianBlur(lab.reshape(rows, len(strip.d), 3).astype(np.float32), (0, 0), sigmaX=sigma, sigmaY=0.6)
    gradient = np.gradient(smooth, axis=1) / max(strip.step_px, 1e-6)
    gradient[~seen] = 0
    clipped = np.clip(gradient[seen], -12, 12)
    mean = clipped.mean(axis=0)
    power = np.linalg.norm(mean, axis=1)
    dd = float(strip.d[1] - strip.d[0])
    found: list[Ridge] = []
    inside = (strip.d >= reach[0]) & (strip.d <= reach[1])
    for j in range(1, len(strip.d) - 1):
        if inside[j] and power[j] >= power[j - 1] and power[j] > power[j + 1] and power[j] > 0.15:
            ridge = _follow(gradient, mean[j], j, s, strip.d, seen, max(2, round(wander_m / dd)))
            if ridge is not None:
                found.append(ridge)
    return sorted(found, key=lambda r: -r.strength * r.share)


def _follow(
    gradient: npt.NDArray[np.float32],
    mean: npt.NDArray[np.float32],
    column: int,
    s: Floats,
    d: Floats,
    seen: npt.NDArray[np.bool_],
    wander: int,
) -> Ridge | None:
    strength = float(np.linalg.norm(mean))
    signed = gradient @ (mean / max(strength, 1e-9))
    lo, hi = max(1, column - wander), min(len(d) - 1, column + wander + 1)
    best = signed[:, lo:hi].argmax(axis=1) + lo
    rows = np.arange(len(s))
    height = signed[rows, best]
    good = seen & (height > 0.4 * strength) & (best > lo) & (best < hi - 1)
    if np.count_nonzero(good) < 8:
        return None
    left, right = signed[rows, np.maximum(best - 1, 0)], signed[rows, np.minimum(best + 1, len(d) - 1)]
    bend = left - 2 * height + right
    shift = np.where(bend < 0, np.clip((left - right) / np.where(bend < 0, 2 * bend, -1), -0.6, 0.6), 0.0)
    at = d[best] + shift * (d[1] - d[0])
    bow = np.vander((s - s[0]) / (s[-1] - s[0]), 3)
    for _ in range(3):
        some = bow[good]
        off = at - bow @ np.linalg.solve(some.T @ some + 1e-12 * np.eye(3), some.T @ at[good])
        limit = max(3 * 1.48 * float(np.median(np.abs(off[good]))), 1.2 * (d[1] - d[0]))
        again = good & (np.abs(off) < limit)
        if np.count_nonzero(again) < 8:
            return None
        good = again
    share = float(good.sum()) / max(float(seen.sum()), 1.0)
    return Ridge(float(np.median(at[good])), strength, s[good], at[good], float(share))


def as_run(camera: Camera, table: Table, rail: str, ridge: Ridge, kind: str, height: float) -> EdgeRun:
    pixels = camera.project(rail_point(table, rail, ridge.s, ridge.d), height)
    return EdgeRun(rail, kind, ridge.s, pixels, ridge.offset)


def nose_runs(image: Picture, camera: Camera, table: Table, windows: Mapping[str, float]) -> list[EdgeRun]:
    """The nose edge of some rails: of the edges within so many metres of where the camera puts it, the likeliest."""
    runs = []
    height = table.nose_height
    for rail, window_m in windows.items():
        reach = max(0.03, 1.5 * window_m)
        wide = ridges(image, camera, table, rail, (-reach, reach), height)
        # a wriggle on the flank of a much stronger edge is no edge of its own
        strong = max((r.strength for r in wide), default=0.0)
        some = [r for r in wide if abs(r.offset) < window_m and r.share > 0.35 and r.strength > 0.3 * strong]
        if some:
            weights = [r.strength * r.share * np.exp(-0.5 * (r.offset / (0.5 * window_m)) ** 2) for r in some]
            # the nose throws a shadow on the bed: of a pair of edges the outer one is the nose
            best = min(
                (r for r, w in zip(some, weights, strict=True) if w > 0.4 * max(weights)), key=lambda r: r.offset
            )
            runs.append(as_run(camera, table, rail, best, "nose", height))
    return runs


def joint_runs(
    image: Picture, camera: Camera, table: Table, joint_m: float, window_m: float, top_m: float = RAIL_TOP_M
) -> list[EdgeRun]:
    """The line where cloth meets the rail's top, for each rail where there is one near ``joint_m``, ``top_m`` high."""
    runs = []
    for rail in RAILS:
        some = ridges(image, camera, table, rail, (-joint_m - 1.5 * window_m, -joint_m + 1.5 * window_m), top_m)
        some = [r for r in some if r.share > 0.35]
        if some:
            best = max(some, key=lambda r: r.strength * r.share * np.exp(-0.5 * ((r.offset + joint_m) / window_m) ** 2))
            runs.append(as_run(camera, table, rail, best, "joint", top_m))
    return runs
