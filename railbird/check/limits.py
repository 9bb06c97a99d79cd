"""What a recording cannot show about a moment, in plain words: frame rate, smear, angle, size, what was hidden."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from calibration.table import Table
from railbird.check.question import Dispute
from railbird.drawing.course import Cameras, Course
from railbird.words import Words

PIXEL_SIGMA = 0.35  # of a ball's centre in one picture, pixels, where nothing better is known
FLAT_DEG = 30.0
SIMULTANEOUS_S = 0.003
SURE = 0.95
TIP_RATE = 120.0  # pictures a second below which a second touch of the tip cannot be seen
FINE_MM = 2.0


@dataclass(frozen=True, slots=True)
class Sight:
    """How well the view shows a place and a moment.

    Parameters
    ----------
    frame_s : time between two pictures there, seconds.
    travel_m : way of the fastest ball of the dispute in that time, metres.
    mm_per_px : size of a pixel on the table, along the worse direction.
    elevation_deg : angle of the view above the cloth.
    gap_s : longest stretch without a picture of the balls around the moment, seconds.
    """

    frame_s: float
    travel_m: float
    mm_per_px: float
    elevation_deg: float
    gap_s: float


def sight(
    match: Mapping[str, Any], i: int, dispute: Dispute, course: Course, cameras: Cameras, times: list[float]
) -> Sight:
    """Measure the view at the moment of a dispute; ``times`` are those of the frames around it, seconds."""
    table = Table.from_json(match["table"])
    camera = cameras.at(dispute.t_s)
    near = sorted(times, key=lambda t: abs(t - dispute.t_s))[:7]
    steps = np.diff(sorted(near))
    frame_s = float(np.median(steps)) if len(steps) else 1 / 30
    # Just before the impact: after it the ball that mattered has given its speed away.
    speeds = [course.speed(ball, dispute.t_s - 0.03) for ball in dispute.balls]
    speeds += [course.speed(ball, dispute.t_s + 0.03) for ball in dispute.balls]
    travel = max(speeds, default=0.0) * frame_s
    jacobian = camera.jacobian([dispute.at], table.ball_radius)[0]
    mm = 1e3 / max(1e-6, float(np.linalg.svd(jacobian, compute_uv=False).min())) if np.isfinite(jacobian).all() else 0.0
    to_ball = camera.position - np.array([*dispute.at, table.ball_radius])
    elevation = math.degrees(math.asin(np.clip(to_ball[2] / np.linalg.norm(to_ball), -1, 1)))
    gap = 0.0
    for ball in dispute.balls:
        path = course.path(i, ball)
        if path is not None and len(path) > 1:
            around = path[(path[:, 0] > dispute.t_s - 0.3) & (path[:, 0] < dispute.t_s + 0.3)]
            # At rest a path keeps only its ends: that is no gap.
            moved = np.hypot(*np.diff(around[:, 1:], axis=0).T) > 0.004
            gap = max(gap, float(np.diff(around[:, 0])[moved].max(initial=0.0)))
    return Sight(frame_s, travel, mm, elevation, gap)


def position_covariance(
    match: Mapping[str, Any], at: tuple[float, float], camera: Any, velocity: Any, sigma_s: float
) -> Any:
    """(2, 2) covariance (square metres) of a ball's place at an instant: what a pixel is worth there, and when it was."""
    table = Table.from_json(match["table"])
    inverse = np.linalg.pinv(camera.jacobian([at], table.ball_radius)[0])
    v = np.asarray(velocity, np.float64)
    return PIXEL_SIGMA**2 * inverse @ inverse.T + sigma_s**2 * np.outer(v, v)


def cannot_show(dispute: Dispute, seen: Sight, hidden: tuple[int, ...], words: Words) -> list[str]:
    """The limits that bear on this question, most important first."""
    said = []
    if len(dispute.rivals) > 1 and dispute.question == "first-contact":
        gap = abs(dispute.rivals[1].t_s - dispute.rivals[0].t_s)
        if gap < SIMULTANEOUS_S and dispute.p < SURE:
            said.append(words("limit.simultaneous", ms=words.number(1e3 * gap, 1)))
    if seen.travel_m > 0.003:
        said.append(
            words(
                "limit.rate",
                ms=words.number(1e3 * seen.frame_s, 1),
                mm=words.number(1e3 * seen.travel_m),
                rate=words.number(1 / seen.frame_s),
            )
        )
        said.append(words("limit.smear"))
    else:
        said.append(
            words("limit.rate_only", ms=words.number(1e3 * seen.frame_s, 1), rate=words.number(1 / seen.frame_s))
        )
    if seen.elevation_deg < FLAT_DEG:
        said.append(words("limit.angle", degrees=words.number(seen.elevation_deg)))
    if seen.mm_per_px > FINE_MM:
        said.append(words("limit.pixel", mm=words.number(seen.mm_per_px, 1)))
    if hidden:
        said.append(words("limit.hidden", balls=", ".join(words.ball(b) for b in hidden)))
    if seen.gap_s > 2.6 * seen.frame_s:
        said.append(words("limit.unseen", ms=words.number(1e3 * seen.gap_s)))
    if dispute.question == "double-hit" and 1 / seen.frame_s < TIP_RATE:
        said.append(words("limit.tip", rate=words.number(1 / seen.frame_s), least=words.number(TIP_RATE)))
    if dispute.question in ("first-contact", "rail"):
        said.append(words("limit.one_camera"))
    return said


def hidden_balls(dispute: Dispute, course: Course, cameras: Cameras, table: Table) -> tuple[int, ...]:
    """Balls of the dispute that another ball covers in the picture, by more than a third of their width, at the moment."""
    places = course.balls(dispute.t_s)
    camera = cameras.at(dispute.t_s)
    found = []
    for ball in dispute.balls:
        if ball not in places:
            continue
        me = np.array([*places[ball], table.ball_radius])
        my_way = float(np.linalg.norm(me - camera.position))
        my_px = camera.project([places[ball]], table.ball_radius)[0]
        my_r = float(camera.ball_radius_px([places[ball]], table.ball_radius)[0])
        for other, at in places.items():
            way = float(np.linalg.norm(np.array([*at, table.ball_radius]) - camera.position))
            if other == ball or way >= my_way:
                continue
            gap = float(np.hypot(*(camera.project([at], table.ball_radius)[0] - my_px)))
            if gap < 1.3 * my_r:
                found.append(ball)
                break
    return tuple(found)
