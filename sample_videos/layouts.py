"""Where balls and cameras may be: racks, random lies, random poses."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from calibration.camera import Camera
from calibration.table import Table
from sample_videos.optics import F64


def rack_places(table: Table, kind: str, gap: float = 0.0) -> F64:
    """(n, 2) places of a rack with its apex on the foot spot: ``triangle`` (15), ``diamond`` (9), ``ten`` (10)."""
    x, y = table.foot_spot
    d = table.ball_m + gap
    rows = {"triangle": (1, 2, 3, 4, 5), "ten": (1, 2, 3, 4), "diamond": (1, 2, 3, 2, 1)}[kind]
    return np.array(
        [(x + (k - (n - 1) / 2) * d, y + i * d * math.sqrt(3) / 2) for i, n in enumerate(rows) for k in range(n)]
    )


def free_place(table: Table, taken: npt.ArrayLike, rng: np.random.Generator, near: npt.ArrayLike | None = None,
               spread: float = 0.3) -> F64 | None:  # fmt: skip
    """(2,) a place on the cloth that touches no ball of ``taken`` (n, 2), or None."""
    others = np.asarray(taken, dtype=np.float64).reshape(-1, 2)
    r = table.ball_radius
    for _ in range(60):
        if near is None:
            p = rng.uniform([r, r], [table.width_m - r, table.length_m - r])
        else:
            p = np.asarray(near) + rng.normal(0, spread, 2)
        if not table.on_surface((float(p[0]), float(p[1])), r):
            continue
        if len(others) and np.min(((others - p) ** 2).sum(axis=1)) < (2 * r) ** 2 * 1.0001:
            continue
        if min(math.dist((float(p[0]), float(p[1])), q.centre) - q.radius for q in table.pockets.values()) < 0.001:
            continue
        return np.asarray(p)
    return None


def random_rotation(rng: np.random.Generator) -> F64:
    """(3, 3) a turn drawn evenly from all turns."""
    q = rng.standard_normal(4)
    return quaternion_matrix(q / np.linalg.norm(q))


def quaternion_matrix(q: npt.ArrayLike) -> F64:
    """(3, 3) rotation of a unit quaternion (w, x, y, z)."""
    w, x, y, z = np.asarray(q, dtype=np.float64)
    return np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
            [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
            [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
        ]
    )


def turn_by(vector: npt.ArrayLike) -> F64:
    """(3, 3) rotation about ``vector`` (3,) by its length in radians (Rodrigues)."""
    v = np.asarray(vector, dtype=np.float64)
    angle = float(np.linalg.norm(v))
    if angle < 1e-12:
        return np.eye(3)
    h = math.sin(angle / 2) / angle
    return quaternion_matrix([math.cos(angle / 2), *(v * h)])


def random_camera(rng: np.random.Generator, table: Table, size: tuple[int, int]) -> Camera:
    """A pose from straight above to 25 degrees above the horizon; balls of 4 to 36 px radius."""
    width, height = size
    w, length, r = table.width_m, table.length_m, table.ball_radius
    above = rng.random() < 0.38
    quarter = rng.choice([0, 180, 90, 270], p=[0.43, 0.43, 0.07, 0.07])
    if width < height:
        quarter += 90
    if above:
        elevation = math.radians(float(rng.uniform(80, 89.9)))
        azimuth = math.radians(float(quarter + rng.normal(0, 3)))
    else:
        elevation = math.radians(25 + 55 * float(rng.beta(1.0, 1.6)))
        end_on = rng.random() < 0.6
        azimuth = (
            math.radians(float(rng.choice([90, 270]) + rng.normal(0, 10)))
            if end_on
            else float(rng.uniform(0, 2 * math.pi))
        )
    whole = rng.random() < 0.62
    focal = width * math.exp(rng.uniform(math.log(0.5), math.log(1.8)))
    side = np.array(
        [math.cos(elevation) * math.cos(azimuth), math.cos(elevation) * math.sin(azimuth), math.sin(elevation)]
    )
    middle = np.array([w / 2, length / 2, 0.0])
    if whole:
        target = middle + np.append(rng.normal(0, 0.06, 2), 0)
        distance = 3.0
        wanted = float(rng.uniform(0.78, 1.12))
        e = 0.14
        rim = np.array([(x, y, 0.03) for x in (-e, w + e) for y in (-e, length + e)])
        for _ in range(4):
            px = Camera.looking(target + distance * side, target, width=width, height=height, focal=focal).project(rim)
            low, high = np.nanmin(px, axis=0), np.nanmax(px, axis=0)
            if not np.isfinite(px).all():
                distance *= 1.5
                continue
            distance *= max((high[0] - low[0]) / width, (high[1] - low[1]) / height) / wanted
            if not above:
                target = middle + np.array([math.cos(azimuth), math.sin(azimuth), 0]) * 0.06 * distance * float(
                    rng.uniform(-1, 1)
                )
        distance = max(distance, 0.8)
    else:
        radius_px = math.exp(rng.uniform(math.log(9), math.log(36)))
        target = np.array([float(rng.uniform(0, w)), float(rng.uniform(0, length)), 0])
        distance = min(9.0, max(0.8, focal * r / radius_px))
        focal = radius_px * distance / r
    radius_px = focal * r / distance
    focal *= min(36.0, max(4.0, radius_px)) / radius_px
    bend = float(rng.choice([0.0, rng.uniform(-0.08, 0.02), rng.uniform(-0.3, -0.05)], p=[0.4, 0.4, 0.2]))
    corner = (math.hypot(width, height) / 2 / focal) ** 2
    k1 = bend / max(corner, 0.05) * 0.6
    k2 = float(rng.normal(0, 0.1)) * k1 * 0.3
    roll = float(rng.normal(0, 0.03)) if rng.random() < 0.85 else float(rng.normal(0, 0.2))
    return Camera.looking(
        target + distance * side, target, width=width, height=height, focal=focal, roll=roll, distortion=(k1, k2)
    )
