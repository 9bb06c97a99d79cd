"""Staged looks at a table: places by closed form or by hand, with the noise of a detector, for what no simulated shot does."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from calibration.table import Table
from tracking.observations import Observation

TABLE = Table()
Place = Callable[[float], tuple[float, float] | None]


def look(
    t: float, balls: dict[int, tuple[float, float] | None], rng: np.random.Generator, *, sigma: float = 0.0015,
    scores: dict[int, float] | None = None, hidden: np.ndarray | None = None,
) -> Observation:  # fmt: skip
    """One look at balls by number; a ball at None is not seen."""
    seen = {n: p for n, p in balls.items() if p is not None}
    evidence = rng.normal(-5.0, 0.5, (len(seen), 16))
    evidence[np.arange(len(seen)), list(seen)] = 0.0
    xy = np.array(list(seen.values()), dtype=float).reshape(-1, 2) + rng.normal(0, sigma, (len(seen), 2))
    score = np.array([(scores or {}).get(n, 0.9) for n in seen], dtype=float)
    cov = np.tile(np.eye(2) * sigma**2, (len(seen), 1, 1))
    more = {} if hidden is None else {"hidden": hidden}
    return Observation(t, xy, cov, score, evidence, **more)


def film(
    places: dict[int, Place | tuple[float, float]],
    until_s: float,
    *,
    fps: float = 60.0,
    seed: int = 1,
    sigma: float = 0.0015,
) -> list[Observation]:
    """Looks at ``fps``; each ball at a fixed place or at a function of time."""
    rng = np.random.default_rng(seed)
    out = []
    for k in range(int(until_s * fps)):
        t = k / fps + 0.003
        out.append(look(t, {n: p(t) if callable(p) else p for n, p in places.items()}, rng, sigma=sigma))
    return out


def travelled(v: float, t: float, *, rolls: float | None = None, slide: float = 2.0, roll: float = 0.1) -> float:
    """Metres on a straight way ``t`` seconds after starting at ``v`` m/s; sliding till it rolls at ``rolls`` (5/7 of v)."""
    if t <= 0:
        return 0.0
    r = 5 / 7 * v if rolls is None else rolls
    a = np.sign(r - v) * slide
    slips = abs(r - v) / slide
    if t < slips:
        return v * t + 0.5 * a * t * t
    on = min(t - slips, abs(r) / roll)
    return v * slips + 0.5 * a * slips**2 + r * on - 0.5 * np.sign(r) * roll * on * on
