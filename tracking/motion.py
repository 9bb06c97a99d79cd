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
EYE = np.eye(2)


@dataclass(slots=True)
class Flight:
    """Arcs evaluated: ``x``, ``v``, ``r`` (n, 2) place, velocity and rolling velocity to come; ``dx``, ``dv`` (n, 2, 9) their
    derivatives by p, v, r, start time, slide and roll (start time: one column, then slide, roll)."""

    x: Floats
    v: Floats
    r: Floats
    dx: Floats
    dv: Floats
    dr: Floats


def _outer(a: Floats, b: Floats) -> Floats:
    return a[:, :, None] * b[:, None, :]


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
    """As ``places``, with derivatives; ``where_only``: those of the places, the others left zero."""
    n = len(tau)
    p, v, r = arcs[:, :2], arcs[:, 2:4], arcs[:, 4:]
    d = r - v
    m = np.hypot(d[:, 0], d[:, 1])
    u = d / np.maximum(m, TINY)[:, None]
    ts = m / slide
    sliding = tau < ts
    one = np.broadcast_to(EYE, (n, 2, 2))
    bend = (one - _outer(u, u)) / np.maximum(m, TINY)[:, None, None]  # du/dd
    speed = np.hypot(r[:, 0], r[:, 1])
    way = r / np.maximum(speed, TINY)[:, None]
    turn = (one - _outer(way, way)) / np.maximum(speed, TINY)[:, None, None]
    t = tau[:, None, None]
    dx = np.zeros((n, 2, 9))
    dv, dr = (dx, dx) if where_only else (np.zeros((n, 2, 9)), np.zeros((n, 2, 9)))
    # sliding
    k = 0.5 * slide * t**2 * bend
    xs = p + v * tau[:, None] + 0.5 * slide * u * tau[:, None] ** 2
    vs = v + slide * u * tau[:, None]
    dx[:, :, 0:2] = one
    dx[:, :, 2:4] = one * t - k
    dx[:, :, 4:6] = k
    dx[:, :, 7] = 0.5 * u * tau[:, None] ** 2
    if not where_only:
        kv = slide * t * bend
        dv[:, :, 2:4] = one - kv
        dv[:, :, 4:6] = kv
        dv[:, :, 6] = -slide * u
        dv[:, :, 7] = u * tau[:, None]
        dr[:, :, 4:6] = one
    # rolling
    x, velocity, ahead = xs, vs, r.copy()
    g = np.flatnonzero(~sliding)
    if len(g):
        u, ts, r, v, way, turn = u[g], ts[g], r[g], v[g], way[g], turn[g]
        stop = speed[g] / roll
        b = np.clip(tau[g] - ts, 0, stop)
        stopped = (tau[g] - ts >= stop) | (speed[g] < TINY)
        half = 0.5 * (v + r)
        x = xs.copy()
        x[g] = p[g] + half * ts[:, None] + r * b[:, None] - 0.5 * roll * way * b[:, None] ** 2
        velocity = vs.copy()
        vel = r - roll * way * b[:, None]
        velocity[g] = vel
        ahead[g] = vel
        bb = b[:, None, None]
        rolled = one[g] * bb - 0.5 * roll * bb**2 * turn
        slide_v, slide_r = -u / slide, u / slide  # dts/dv, dts/dr
        cut = np.where(stopped[:, None], 0.0, vel)  # dx/d(b), where b depends on time
        dx[g, :, 2:4] = 0.5 * one[g] * ts[:, None, None] + _outer(half - cut, slide_v)
        dx[g, :, 4:6] = 0.5 * one[g] * ts[:, None, None] + _outer(half - cut, slide_r) + rolled
        dx[g, :, 7] = -(half - cut) * (ts / slide)[:, None]
        dx[g, :, 8] = -0.5 * way * b[:, None] ** 2
        s = np.flatnonzero(stopped)
        if len(s):
            gs = g[s]
            speed_s = np.maximum(speed[gs], TINY)[:, None, None]
            dx[gs, :, 4:6] += -rolled[s] + 0.5 * (one[gs] * speed_s + _outer(r[s], way[s])) / roll
            dx[gs, :, 8] = -0.5 * r[s] * speed[gs][:, None] / roll**2
        if not where_only:
            slow = np.where(stopped[:, None], 0.0, -roll * way)  # dvel/db
            still = np.where(stopped[:, None, None], 0.0, one[g] - roll * bb * turn)
            dv[g, :, 2:4] = -_outer(slow, slide_v)
            dv[g, :, 4:6] = still - _outer(slow, slide_r)
            dv[g, :, 6] = -slow
            dv[g, :, 7] = slow * (ts / slide)[:, None]
            dv[g, :, 8] = np.where(stopped[:, None], 0.0, -way * b[:, None])
            dr[g] = dv[g]
    dx[:, :, 6] = -velocity
    return Flight(x, velocity, ahead, dx, dv, dr)
