"""How a free ball moves: it slides under constant friction, then rolls, then stops; with all derivatives.

An arc is six numbers: where the ball is when the arc begins (``p``), its velocity then (``v``), and the velocity with which it
would begin to roll (``r``), metres and metres a second. While it slides, ``5 v + 2 w = 7 r`` is conserved, ``w`` being the speed of
the spin at the cloth; so ``r`` carries the spin (Mathavan, Jackson, Parkin 2010; Coriolis 1835). The deceleration is ``slide``
(friction coefficient times g) against the slip ``v - r``, then ``roll`` against the velocity.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tracking.observations import Floats

SLIDE = 2.0  # m/s², usual on cloth
ROLL = 0.1
TINY = 1e-9


@dataclass(slots=True)
class Flight:
    """Arcs evaluated. ``state`` (6, n): place, velocity and rolling velocity to come, x before y. ``slopes`` (6, 9, n): their derivatives
    by p, v, r, start time, slide and roll."""

    state: Floats
    slopes: Floats

    @property
    def x(self) -> Floats:
        """(n, 2) places."""
        return self.state[:2].T

    @property
    def v(self) -> Floats:
        """(n, 2) velocities."""
        return self.state[2:4].T

    @property
    def r(self) -> Floats:
        """(n, 2) rolling velocities to come."""
        return self.state[4:].T


def places(arcs: Floats, tau: Floats, slide: float, roll: float) -> tuple[Floats, Floats]:
    """Places and velocities (n, 2) of arcs (n, 6), ``tau`` (n,) seconds after each began."""
    p, v, r = arcs[:, :2], arcs[:, 2:4], arcs[:, 4:]
    d = r - v
    m = np.hypot(d[:, 0], d[:, 1])
    u = d / np.maximum(m, TINY)[:, None]
    ts = m / slide
    a = np.minimum(tau, ts)[:, None]
    speed = np.hypot(r[:, 0], r[:, 1])
    way = r / np.maximum(speed, TINY)[:, None]
    b = np.clip(tau - ts, 0, speed / roll)[:, None]
    x = p + v * a + 0.5 * slide * u * a**2 + r * b - 0.5 * roll * way * b**2
    velocity = np.where((tau < ts)[:, None], v + slide * u * a, r - roll * way * b)
    return x, velocity


def fly(arcs: Floats, tau: Floats, slide: float, roll: float, *, where_only: bool = False) -> Flight:
    """As ``places``, with derivatives; ``where_only``: places alone, (2, n) and (2, 9, n)."""
    px, py, vx, vy, rx, ry = np.ascontiguousarray(arcs.T)
    dx, dy = rx - vx, ry - vy
    slip = np.sqrt(dx * dx + dy * dy)
    over = 1 / np.maximum(slip, TINY)
    ux, uy = dx * over, dy * over
    until = slip / slide  # it slides
    sliding = tau < until
    a = np.minimum(tau, until)
    speed = np.sqrt(rx * rx + ry * ry)
    under = 1 / np.maximum(speed, TINY)
    wx, wy = rx * under, ry * under
    b = np.minimum(np.maximum(tau - until, 0.0), speed / roll)
    half_a, half_b = 0.5 * a * a, 0.5 * roll * b * b
    now_x = np.where(sliding, vx + slide * a * ux, rx - roll * b * wx)
    now_y = np.where(sliding, vy + slide * a * uy, ry - roll * b * wy)
    n = len(tau)
    state = np.empty((2 if where_only else 6, n))
    state[0] = px + vx * a + slide * half_a * ux + rx * b - half_b * wx
    state[1] = py + vy * a + slide * half_a * uy + ry * b - half_b * wy
    # a slide that ends later moves a ball by its mean speed then less its speed now
    late = np.where(sliding, 0.0, 1 / slide)
    ex, ey = (0.5 * (vx + rx) - now_x) * late, (0.5 * (vy + ry) - now_y) * late
    k = np.where(sliding, slide * half_a * over, 0.0)  # how far the slide's way turns with its direction
    q = half_b * under
    straight = np.where(sliding, a, 0.5 * until)  # by v
    ahead = np.where(sliding, 0.0, 0.5 * until + b)  # by r
    xx, xy, yy = uy * uy, -ux * uy, ux * ux  # what turns: across the slide
    cross = q * wx * wy
    d = np.zeros((len(state), 9, n))
    d[0, 0] = d[1, 1] = 1.0
    d[0, 2], d[0, 3] = straight - k * xx - ex * ux, -k * xy - ex * uy
    d[1, 2], d[1, 3] = -k * xy - ey * ux, straight - k * yy - ey * uy
    d[0, 4], d[0, 5] = ahead + k * xx + ex * ux - q * wy * wy, k * xy + ex * uy + cross
    d[1, 4], d[1, 5] = k * xy + ey * ux + cross, ahead + k * yy + ey * uy - q * wx * wx
    d[0, 6], d[1, 6] = -now_x, -now_y
    d[0, 7], d[1, 7] = np.where(sliding, half_a * ux, -ex * until), np.where(sliding, half_a * uy, -ey * until)
    d[0, 8], d[1, 8] = -half_b / roll * wx, -half_b / roll * wy
    if where_only:
        return Flight(state, d)
    state[2], state[3] = now_x, now_y
    state[4], state[5] = np.where(sliding, rx, now_x), np.where(sliding, ry, now_y)
    slides = sliding.astype(float)
    rolls = (~sliding & (tau - until < speed / roll) & (speed >= TINY)).astype(float)
    k = slides * (slide * a * over)
    q = rolls * (roll * b * under)
    sx, sy = -roll * rolls * wx, -roll * rolls * wy  # acceleration while it rolls
    lx, ly = ux / slide, uy / slide
    d[2, 2], d[2, 3] = slides - k * xx + sx * lx, -k * xy + sx * ly
    d[3, 2], d[3, 3] = -k * xy + sy * lx, slides - k * yy + sy * ly
    cross = q * wx * wy
    d[2, 4], d[2, 5] = k * xx + rolls - q * wy * wy - sx * lx, k * xy + cross - sx * ly
    d[3, 4], d[3, 5] = k * xy + cross - sy * lx, k * yy + rolls - q * wx * wx - sy * ly
    d[2, 6], d[3, 6] = -slides * slide * ux - sx, -slides * slide * uy - sy
    d[2, 7], d[3, 7] = slides * ux * a + sx * until / slide, slides * uy * a + sy * until / slide
    d[2, 8], d[3, 8] = -rolls * wx * b, -rolls * wy * b
    d[4:, 2:] = np.where(sliding, 0.0, d[2:4, 2:])
    d[4, 4] += slides
    d[5, 5] += slides
    return Flight(state, d)
