"""Straightened strips of a picture along the four rails, as the present camera sees them.

A strip has one row per place along the rail and one column per distance ``d`` from the nose line (negative: outside,
over the cushion and the rail; positive: over the bed).
"""

from __future__ import annotations

from dataclasses import dataclass

import cv2
import numpy as np
import numpy.typing as npt

from calibration.camera import Camera, Floats
from calibration.cloth import Picture
from calibration.table import Table

RAIL_TOP_M = 0.043  # height above the cloth of the rail's top and of the line where cloth meets rail, until told apart


def rail_point(table: Table, rail: str, s: Floats, d: Floats | float) -> Floats:
    """(n, 2) table points at ``s`` metres along a rail and ``d`` metres inside its nose line."""
    d = np.broadcast_to(np.asarray(d, dtype=np.float64), np.shape(s))
    w, length = table.width_m, table.length_m
    if rail == "head":
        return np.column_stack([s, d])
    if rail == "foot":
        return np.column_stack([s, length - d])
    if rail == "left":
        return np.column_stack([d, s])
    return np.column_stack([w - d, s])


def rail_axes(rail: str) -> tuple[Floats, Floats]:
    """Unit vectors (3,) of the table frame: along a rail, and from its nose outward over the cushion."""
    return {
        "head": (np.array([1.0, 0, 0]), np.array([0, -1.0, 0])),
        "foot": (np.array([1.0, 0, 0]), np.array([0, 1.0, 0])),
        "left": (np.array([0, 1.0, 0]), np.array([-1.0, 0, 0])),
        "right": (np.array([0, 1.0, 0]), np.array([1.0, 0, 0])),
    }[rail]


def rail_length(table: Table, rail: str) -> float:
    return table.width_m if rail in ("head", "foot") else table.length_m


@dataclass(frozen=True, slots=True)
class Strip:
    """A rail straightened.

    Parameters
    ----------
    rail : name.
    s : (n,) metres along the rail from its left or head end.
    d : (m,) metres inside the nose line, rising.
    lab : (n, m, 3) L*a*b*, or (n, m, 1) brightness 0 … 100 where cut from a grey picture.
    seen : (n, m) whether the picture covers the place.
    step_px : pixels per column, in the middle of the rail.
    """

    rail: str
    s: Floats
    d: Floats
    lab: npt.NDArray[np.float32]
    seen: npt.NDArray[np.bool_]
    step_px: float


def free_stretches(table: Table, rail: str, count: int) -> Floats:
    """Places along a rail that lie on a straight cushion, away from pockets."""
    length = rail_length(table, rail)
    s = np.linspace(0.11, length - 0.11, count)
    if rail in ("left", "right"):
        s = s[np.abs(s - length / 2) > 0.12]
    return s


def cut(
    image: Picture,
    camera: Camera,
    table: Table,
    rail: str,
    s: Floats,
    reach: tuple[float, float],
    height: float,
    fine: float = 0.6,
) -> Strip:
    """Cuts the strip ``reach`` metres across (from, to) at ``height`` above the cloth, ``fine`` pixels per column."""
    middle = np.array([rail_length(table, rail) / 2])
    ends = [camera.project(rail_point(table, rail, middle, r), height)[0] for r in reach]
    across = float(np.linalg.norm(ends[1] - ends[0]))
    columns = int(np.clip(across / fine, 48, 640)) if np.isfinite(across) else 48
    d = np.linspace(reach[0], reach[1], columns)
    u, v = _maps(camera, table, rail, s, d, height)
    seen = (u >= 0) & (v >= 0) & (u <= image.shape[1] - 1) & (v <= image.shape[0] - 1)
    picture = cv2.remap(image, u, v, cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE)
    if picture.ndim == 3:
        lab = np.asarray(cv2.cvtColor(picture.astype(np.float32) / 255, cv2.COLOR_BGR2LAB), dtype=np.float32)
    else:
        lab = np.asarray(picture.astype(np.float32)[..., None] * (100 / 255), dtype=np.float32)
    return Strip(rail, s, d, lab, seen, across / max(columns - 1, 1))


def _maps(
    camera: Camera, table: Table, rail: str, s: Floats, d: Floats, height: float
) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.float32]]:
    """(n, m) pixels u and v of a strip's cells: projected on a coarse grid and interpolated, to some hundredths of a pixel."""
    nodes_s = np.linspace(s[0], s[-1], min(len(s), 80))
    nodes_d = np.linspace(d[0], d[-1], min(len(d), 7))
    places = rail_point(table, rail, np.repeat(nodes_s, len(nodes_d)), np.tile(nodes_d, len(nodes_s)))
    coarse = np.nan_to_num(camera.project(places, height), nan=-1e4)
    along = _between(s, nodes_s) @ coarse.reshape(len(nodes_s), -1).astype(np.float32)
    across = _between(d, nodes_d).T
    return along[:, 0::2] @ across, along[:, 1::2] @ across


def _between(x: Floats, nodes: Floats) -> npt.NDArray[np.float32]:
    """(n, k) weights of evenly spaced nodes in the straight line between those next to each place."""
    at = np.clip((x - nodes[0]) / max(nodes[1] - nodes[0], 1e-9), 0, len(nodes) - 1.000001)
    low = at.astype(np.int64)
    weight = np.zeros((len(x), len(nodes)), np.float32)
    here = np.arange(len(x))
    weight[here, low] = 1 - (at - low)
    weight[here, low + 1] = at - low
    return weight
