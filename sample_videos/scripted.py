"""Paths that pooltool cannot play: a jump, a ball off the table, one that hangs and drops, one that comes out again."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from calibration.errors import InputError
from sample_videos.motion import SLIDING, STATIONARY, still
from sample_videos.optics import F64
from sample_videos.simulate import Flight, Played, Simulator
from tracking.events import OffTable, Pocketed, RailHit

G = 9.81
FLOOR_Z = -0.79


def jump(simulator: Simulator, played: Played, stroke: Any, *, length_m: float, speed: float | None = None) -> Flight:
    """The struck ball flies ``length_m`` metres, then slides on with its horizontal speed.

    Raises
    ------
    InputError
        Where it would meet another ball in the air.
    """
    t = played.start_s
    ball = stroke.ball
    x, y = played.start[ball]
    v = (0.75 * stroke.speed) if speed is None else speed
    d = np.array([math.cos(math.radians(stroke.direction)), math.sin(math.radians(stroke.direction)), 0.0])
    lasts = length_m / v
    up = G * lasts / 2
    r = simulator.table.ball_radius
    start = np.array([x, y, r])
    spin = np.cross([0, 0, 1.0], d) * (-0.2 * v / r)

    def path(s: float) -> F64:
        p = start + d * v * s + np.array([0, 0, up * s - G * s * s / 2])
        return np.stack([p, d * v + [0, 0, up - G * s], spin])

    for other, at in played.start.items():
        for s in np.linspace(0, lasts, 200):
            if other != ball and np.linalg.norm(path(float(s))[0] - [*at, r]) < 2 * r:
                raise InputError(f"jump of {length_m} m meets ball {other} in the air: jump farther or slower")
    end = path(lasts)[0]
    if not simulator.table.on_surface((float(end[0]), float(end[1])), r):
        raise InputError(f"jump of {length_m} m lands off the table: jump less far")
    end[2] = r
    return Flight(ball, t, lasts, path, (SLIDING, np.stack([end, d * v, spin])))


def off_table(
    simulator: Simulator, played: Played, stroke: Any, *, ball: int, up: float = 1.6, keep: float = 0.8
) -> Flight:
    """``ball`` climbs over the first rail it meets and falls to the floor.

    The event is the instant at which its centre passes the outer edge of the rail.
    """
    hits = [e for e in played.events if isinstance(e, RailHit) and e.ball == ball]
    if not hits:
        raise InputError(f"ball {ball} meets no rail in this shot: it cannot leave the table over one")
    hit = hits[0]
    track = simulator.tracks[ball]
    before = track.rvw(hit.t_s - 1e-6)
    if before is None or float(np.linalg.norm(before[1])) < 0.8:
        raise InputError(f"ball {ball} meets the {hit.rail} rail too slowly to leave the table: strike harder")
    start, speed, spin = before[0].copy(), before[1] * keep, before[2].copy()
    table = simulator.table

    def path(s: float) -> F64:
        z = start[2] + up * s - G * s * s / 2
        p = start + speed * s
        p[2] = z if z > FLOOR_Z + table.ball_radius else FLOOR_Z + table.ball_radius
        return np.stack([p, speed, spin])

    outward = {"left": (0, -1), "right": (0, 1), "head": (1, -1), "foot": (1, 1)}[hit.rail]
    edge = 0.135
    gap = edge - abs(float(start[outward[0]] - (0 if outward[1] < 0 else (table.width_m, table.length_m)[outward[0]])))
    when = (edge + abs(edge - gap)) / max(0.05, abs(float(speed[outward[0]])))
    if path(when)[0][2] < table.nose_height + table.ball_radius:
        raise InputError(
            f"ball {ball} does not clear the {hit.rail} rail: give more lift than {up} m/s or strike harder"
        )
    falls = (up + math.sqrt(up * up + 2 * G * (start[2] - FLOOR_Z))) / G
    return Flight(ball, hit.t_s, falls + 1.0, path, None, (OffTable(t_s=when, ball=ball),))


def hang(simulator: Simulator, played: Played, stroke: Any, *, ball: int, seconds: float = 5.0) -> Flight:
    """``ball``, at rest at a pocket's edge after the shot, drops ``seconds`` after it came to rest."""
    track = simulator.tracks[ball]
    rest_s = track.pieces[-1].start_s if not track.pieces[-1].moving else played.start_s
    rest_s = max(rest_s, played.start_s)
    t = rest_s + seconds
    state = track.rvw(t)
    if state is None:
        raise InputError(f"ball {ball} is not on the table after the shot: it cannot hang")
    at = state[0]
    pocket = simulator.table.nearest_pocket((float(at[0]), float(at[1])))
    way = np.array([*pocket.centre]) - at[:2]
    gap = float(np.linalg.norm(way)) - pocket.radius
    if gap > 0.02:
        raise InputError(
            f"ball {ball} rests {gap * 1000:.0f} mm from the edge of pocket {pocket.name}: too far to hang"
        )
    d = np.append(way / np.linalg.norm(way), 0)
    a = 0.35  # m/s², it tips slowly
    over = math.sqrt(2 * max(gap, 0.0) / a)
    r = simulator.table.ball_radius
    crossing = np.stack([at + d * max(gap, 0.0), d * a * over, np.cross([0, 0, 1.0], d) * a * over / r])

    def path(s: float) -> F64:
        if s <= over:
            return np.stack([at + d * a * s * s / 2, d * a * s, np.cross([0, 0, 1.0], d) * a * s / r])
        u = s - over
        p = crossing[0] + crossing[1] * u + d * 0.6 * u * u
        away = p[:2] - np.array(pocket.centre)
        far = float(np.linalg.norm(away))
        if far > pocket.radius - r and u > 0.15:
            p[:2] = np.array(pocket.centre) + away / far * (pocket.radius - r)
        p[2] = max(r - 0.4 * G * u * u, -0.13)
        return np.stack([p, crossing[1], crossing[2]])

    return Flight(ball, t, over + 0.45, path, None, (Pocketed(t_s=over, ball=ball, pocket=pocket.name),))  # type: ignore[arg-type]


def out_again(
    simulator: Simulator, played: Played, stroke: Any, *, ball: int, keep: float = 0.35, depth_m: float = 0.02
) -> Flight:
    """``ball`` crosses a pocket's edge by ``depth_m``, meets the back and comes out onto the table again."""
    falls = [e for e in played.events if isinstance(e, Pocketed) and e.ball == ball]
    if not falls:
        raise InputError(f"ball {ball} enters no pocket in this shot: it cannot come out again")
    fall = falls[0]
    before = simulator.tracks[ball].rvw(fall.t_s - 1e-7)
    if before is None:
        raise InputError(f"ball {ball} is not on the table before {fall.t_s:.3f} s")
    v = float(np.linalg.norm(before[1][:2]))
    d = before[1] / v
    inside = 2 * depth_m / v  # slows down evenly to nothing at the depth
    back_speed = keep * v
    out_s = 2 * depth_m / back_speed
    start = before[0].copy()
    r = simulator.table.ball_radius

    def path(s: float) -> F64:
        if s <= inside:
            q, w = v * s - v * s * s / (2 * inside), v * (1 - s / inside)
        else:
            u = s - inside
            q, w = depth_m - back_speed * u * u / (2 * out_s), -back_speed * u / out_s
        p = start + d * q
        return np.stack([p, d * w, np.cross([0, 0, 1.0], d) * w / r])

    then = np.stack([start - d * 1e-5, -d * back_speed, np.cross([0, 0, 1.0], -d) * back_speed / r])
    return Flight(ball, fall.t_s, inside + out_s, path, (SLIDING, then))


#: what a scene file may name
SCRIPTS = {"jump": jump, "off-table": off_table, "hang": hang, "out-again": out_again}

__all__ = ["SCRIPTS", "STATIONARY", "hang", "jump", "off_table", "out_again", "still"]
