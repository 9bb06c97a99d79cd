"""A constant-velocity Kalman filter over all balls at once, with a second prediction for the bounce that may come.

State of a ball: ``x, y, vx, vy`` in metres and metres a second. The filter's steps are arrays over balls because
filterpy's own step costs 0.1 ms a ball; its noise comes from filterpy.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from filterpy.common import Q_discrete_white_noise

from calibration.table import Table
from tracking.observations import Bools, Floats

SLIDING = 3.0  # m/s², about the friction of a sliding ball: the acceleration a free ball may show
BOUNCE = 0.8  # of its speed a ball keeps at a cushion


@lru_cache(maxsize=256)
def process_noise(dt: float, acceleration: float = SLIDING) -> Floats:
    """(4, 4) covariance added in ``dt`` seconds by an unknown acceleration of ``acceleration`` m/s² (one sigma)."""
    q = Q_discrete_white_noise(2, dt=dt, var=acceleration**2)
    return np.asarray(np.kron(q, np.eye(2)), dtype=np.float64)


def transition(dt: float) -> Floats:
    """(4, 4) constant velocity over ``dt`` seconds."""
    f = np.eye(4)
    f[0, 2] = f[1, 3] = dt
    return f


def predict(mean: Floats, cov: Floats, dt: float) -> tuple[Floats, Floats]:
    """States (n, 4) and covariances (n, 4, 4) of free balls ``dt`` seconds on."""
    f = transition(dt)
    return mean @ f.T, f @ cov @ f.T + process_noise(round(dt, 5))


def update(mean: Floats, cov: Floats, z: Floats, noise: Floats) -> tuple[Floats, Floats]:
    """States after measuring places ``z`` (n, 2) with covariances ``noise`` (n, 2, 2)."""
    s = cov[:, :2, :2] + noise
    gain = cov[:, :, :2] @ np.linalg.inv(s)
    innovation = z - mean[:, :2]
    new = mean + np.einsum("nij,nj->ni", gain, innovation)
    keep = cov - gain @ cov[:, :2, :]
    return new, (keep + keep.transpose(0, 2, 1)) / 2


def collide(mean: Floats, dt: float, moving: Bools, table: Table) -> tuple[Floats, Bools]:
    """Where balls are ``dt`` seconds on if those about to meet do meet, and which those are.

    Parameters
    ----------
    mean : (n, 4) states now.
    dt : seconds.
    moving : (n,) balls that move.
    table : its nose lines and ball size.

    Returns
    -------
    (n, 4) states after the first frictionless elastic contact or cushion bounce of each ball within ``dt``, and (n,)
    whether a ball has one. One contact a ball: what comes after is left to the next frame.
    """
    n = len(mean)
    out = mean.copy()
    out[:, :2] += mean[:, 2:] * dt
    hit = np.zeros(n, dtype=np.bool_)
    r = table.ball_radius
    if not moving.any():
        return out, hit
    first = np.full(n, np.inf)
    movers = np.flatnonzero(moving)
    gap = mean[None, :, :2] - mean[movers, None, :2]
    rel = mean[None, :, 2:] - mean[movers, None, 2:]
    closing = gap[..., 0] * rel[..., 0] + gap[..., 1] * rel[..., 1]
    speed2 = rel[..., 0] ** 2 + rel[..., 1] ** 2
    root = closing**2 - speed2 * (gap[..., 0] ** 2 + gap[..., 1] ** 2 - (2.1 * r) ** 2)
    meet = (root > 0) & (closing < 0)
    when = np.full(root.shape, np.inf)
    when[meet] = (-closing[meet] - np.sqrt(root[meet])) / speed2[meet]
    when[np.arange(len(movers)), movers] = np.inf
    for i, b in zip(*np.nonzero(when < dt), strict=True):
        a = movers[i]
        t = max(float(when[i, b]), 0.0)
        if t >= min(first[a], first[b]):
            continue
        first[a] = first[b] = t
        axis = gap[i, b] + rel[i, b] * t
        axis = axis / np.hypot(axis[0], axis[1])
        push = (rel[i, b] @ axis) * axis
        for ball, sign in ((a, 1.0), (b, -1.0)):
            v = mean[ball, 2:] + sign * push
            out[ball, :2] = mean[ball, :2] + mean[ball, 2:] * t + v * (dt - t)
            out[ball, 2:] = v
            hit[ball] = True
    for axis, size in ((0, table.width_m), (1, table.length_m)):
        for nose, sign in ((r, 1.0), (size - r, -1.0)):
            beyond = (nose - out[:, axis]) * sign
            over = (beyond > 0) & moving & (out[:, 2 + axis] * sign < 0)
            out[over, axis] += sign * (1 + BOUNCE) * beyond[over]
            out[over, 2 + axis] *= -BOUNCE
            hit |= over
    return out, hit
