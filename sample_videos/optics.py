"""Rays, lamps and light for the renderer: small compiled functions shared by everything that is drawn.

Colours are linear light, blue-green-red, 1.0 about a white ball under the table's own lamps. A camera is handed to
compiled code as one array (``camera_array``): focal, centre, k1, k2, rotation (row by row), position.

numba keeps compiled code on disk and looks only at the file of the function that was called from Python: after a change
of a function that others call, remove ``sample_videos/__pycache__``.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numba
import numpy as np
import numpy.typing as npt

from calibration.camera import Camera

F32 = npt.NDArray[np.float32]
F64 = npt.NDArray[np.float64]


def compiled(function: Callable[..., Any]) -> Any:
    """``function`` compiled by numba; kept on disk, so that only the first run on a machine waits for it."""
    return numba.njit(cache=True, fastmath=True, nogil=True, error_model="numpy")(function)


def inlined(function: Callable[..., Any]) -> Any:
    """A small compiled function that is called from others."""
    return numba.njit(cache=True, fastmath=True, nogil=True, error_model="numpy", inline="never")(function)


def camera_array(camera: Camera) -> F64:
    """(17,) focal, cx, cy, k1, k2, nine of the rotation, three of the position."""
    return np.concatenate(
        [[camera.focal], camera.centre, camera.distortion, camera.rotation.ravel(), camera.position]
    ).astype(np.float64)


@inlined
def ray(cam, u, v):  # type: ignore[no-untyped-def]
    """Unit direction in the table frame of the ray through pixel (u, v)."""
    dx = (u - cam[1]) / cam[0]
    dy = (v - cam[2]) / cam[0]
    k1 = cam[3]
    k2 = cam[4]
    if k1 != 0.0 or k2 != 0.0:
        d = math.sqrt(dx * dx + dy * dy)
        if d > 1e-9:
            r = d
            for _ in range(6):
                r2 = r * r
                g = r * (1 + k1 * r2 + k2 * r2 * r2) - d
                h = 1 + 3 * k1 * r2 + 5 * k2 * r2 * r2
                if h < 0.2:
                    h = 0.2
                r -= g / h
            dx *= r / d
            dy *= r / d
    x = cam[5] * dx + cam[8] * dy + cam[11]
    y = cam[6] * dx + cam[9] * dy + cam[12]
    z = cam[7] * dx + cam[10] * dy + cam[13]
    n = 1.0 / math.sqrt(x * x + y * y + z * z)
    return x * n, y * n, z * n


@inlined
def pixel(cam, x, y, z):  # type: ignore[no-untyped-def]
    """Pixel (u, v) and depth along the axis of a point in the table frame."""
    x -= cam[14]
    y -= cam[15]
    z -= cam[16]
    cx = cam[5] * x + cam[6] * y + cam[7] * z
    cy = cam[8] * x + cam[9] * y + cam[10] * z
    cz = cam[11] * x + cam[12] * y + cam[13] * z
    if cz < 0.02:
        return 0.0, 0.0, cz
    nx = cx / cz
    ny = cy / cz
    r2 = nx * nx + ny * ny
    g = 1 + cam[3] * r2 + cam[4] * r2 * r2
    return cam[0] * nx * g + cam[1], cam[0] * ny * g + cam[2], cz


@inlined
def light_at(lamps, px, py, pz, nx, ny, nz, wrap, out):  # type: ignore[no-untyped-def]
    """Add to ``out`` (3,) the light of all lamps falling on a point with a normal; ``wrap`` softens the terminator.

    A lamp is a row: x, y, z, half width in x, half width in y, blue, green, red.
    """
    for k in range(lamps.shape[0]):
        lx = lamps[k, 0] - px
        ly = lamps[k, 1] - py
        lz = lamps[k, 2] - pz
        d2 = lx * lx + ly * ly + lz * lz
        d = math.sqrt(d2)
        c = (lx * nx + ly * ny + lz * nz) / d
        c = (c + wrap) / (1 + wrap)
        if c <= 0:
            continue
        down = lz / d
        if down < 0.05:
            down = 0.05
        e = c * down / d2
        out[0] += e * lamps[k, 5]
        out[1] += e * lamps[k, 6]
        out[2] += e * lamps[k, 7]


@inlined
def lamp_seen(rects, px, py, pz, rx, ry, rz, soft, out):  # type: ignore[no-untyped-def]
    """Add to ``out`` (3,) the brightness of the lamp that a reflected ray meets (rows as in ``light_at``)."""
    for k in range(rects.shape[0]):
        t = (rects[k, 2] - pz) / rz
        if t <= 0:
            continue
        hx = rects[k, 3]
        hy = rects[k, 4]
        ax = (hx - abs(px + rx * t - rects[k, 0])) / (soft * hx + 0.01) + 0.5
        ay = (hy - abs(py + ry * t - rects[k, 1])) / (soft * hy + 0.01) + 0.5
        if ax <= 0 or ay <= 0:
            continue
        a = min(ax, 1.0) * min(ay, 1.0)
        out[0] += a * rects[k, 5]
        out[1] += a * rects[k, 6]
        out[2] += a * rects[k, 7]
