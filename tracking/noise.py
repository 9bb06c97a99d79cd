"""How wrong the looks really are: a scale for their covariances and the jitter of their time stamps, from the looks themselves.

A frame-rate conversion shifts frames by milliseconds; at 3 m/s that is a centimetre along the way and nothing across it. So
the second differences of fast balls along and across their motion tell the two apart. Medians keep the impacts out.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from tracking.observations import Floats

FAST = 0.4  # m/s
GAP_S = 0.13  # three looks in a row lie within twice this
MAD = 1.4826  # a normal distribution's sigma over the median of its size
ENOUGH = 8
CLEAR = 1.6  # along the motion the looks must scatter this much more than said before time stamps are blamed


@dataclass(frozen=True, slots=True)
class Noise:
    """``scale`` of the stated sigmas and ``jitter_s`` of the time stamps, one sigma."""

    scale: float = 1.0
    jitter_s: float = 0.0


def measure(tracks: Iterable[tuple[Floats, Floats, Floats]]) -> Noise:
    """Noise of a shot's looks: times (k,), places (k, 2), covariances (k, 2, 2) of each ball."""
    across, along = [], []
    for t, xy, cov in tracks:
        if len(t) < 3:
            continue
        a, b = t[1:-1] - t[:-2], t[2:] - t[1:-1]
        ok = (a < GAP_S) & (b < GAP_S)
        if not ok.any():
            continue
        part = (a / (a + b))[:, None]
        off = xy[1:-1] - (1 - part) * xy[:-2] - part * xy[2:]
        v = (xy[2:] - xy[:-2]) / (a + b)[:, None]
        speed = np.hypot(v[:, 0], v[:, 1])
        way = v / np.maximum(speed, 1e-9)[:, None]
        side = np.stack([-way[:, 1], way[:, 0]], axis=1)
        weight = 1 + (part[:, 0] ** 2 + (1 - part[:, 0]) ** 2)
        side_var = np.einsum("ni,nij,nj->n", side, cov[1:-1], side) * weight
        way_var = np.einsum("ni,nij,nj->n", way, cov[1:-1], way) * weight
        moves = ok & (speed > 0.1)
        across.append(np.abs(np.einsum("ni,ni->n", off, side))[moves] / np.sqrt(side_var[moves]))
        fast = ok & (speed > FAST)
        rows = np.stack([np.abs(np.einsum("ni,ni->n", off, way)), np.sqrt(way_var), speed * np.sqrt(weight)], axis=1)
        along.append(rows[fast])
    pulls = np.concatenate(across) if across else np.zeros(0)
    scale = float(np.clip(MAD * np.median(pulls), 1.0, 6.0)) if len(pulls) >= ENOUGH else 1.0
    rows = np.vstack(along) if along else np.zeros((0, 3))
    if len(rows) < ENOUGH or MAD * float(np.median(rows[:, 0] / (scale * rows[:, 1]))) < CLEAR:
        return Noise(scale, 0.0)
    # the bend of a sliding ball within three looks is a millimetre at most and stays in the scale
    excess = (MAD * rows[:, 0]) ** 2 - (scale * rows[:, 1]) ** 2
    jitter2 = float(np.median(excess / rows[:, 2] ** 2))
    return Noise(scale, float(np.sqrt(np.clip(jitter2, 0.0, 0.015**2))))


def widen(t: Floats, xy: Floats, cov: Floats, noise: Noise) -> Floats:
    """Covariances (k, 2, 2) with the noise found: scaled, and longer along the motion by the jitter."""
    out = cov * noise.scale**2
    if noise.jitter_s > 3e-4 and len(t) > 2:
        step = np.maximum(t[2:] - t[:-2], 1e-6)[:, None]
        v = np.zeros_like(xy)
        v[1:-1] = (xy[2:] - xy[:-2]) / step
        v[np.hypot(v[:, 0], v[:, 1]) > 12.0] = 0.0
        out = out + noise.jitter_s**2 * v[:, :, None] * v[:, None, :]
    return np.asarray(out)
