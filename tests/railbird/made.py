"""A small match made by hand, and a clip drawn from it: what report, annotation and check are tried on."""

from __future__ import annotations

import math
from fractions import Fraction
from pathlib import Path
from typing import Any

import av
import cv2
import numpy as np

from calibration.camera import Camera
from calibration.result import Calibration
from calibration.table import Table
from railbird.drawing.course import Course
from railbird.report.top_view import colour
from railbird.script import rule

TABLE = Table()
R = TABLE.ball_radius
SIZE = (640, 360)
FPS = 30
ANN, BO = "Ann", "Bő"
STARTS = {1: (1.0, 3.2), 2: (4.5, 6.5), 3: (8.0, 10.0), 4: (11.5, 12.9)}
DURATION_S = 14.0


def camera() -> Camera:
    return Camera.looking([0.635, -1.3, 2.6], [0.635, 1.2, 0], width=SIZE[0], height=SIZE[1], focal=520.0)


def way(*points: tuple[float, float, float]) -> list[list[float]]:
    """Rows of t, x, y at the frame times between the given points, and at the points."""
    times = sorted(
        {p[0] for p in points} | {k / FPS for k in range(math.ceil(points[0][0] * FPS), int(points[-1][0] * FPS) + 1)}
    )
    t, x, y = (np.array([p[k] for p in points]) for k in range(3))
    return [[round(s, 5), round(float(np.interp(s, t, x)), 5), round(float(np.interp(s, t, y)), 5)] for s in times]


def event(kind: str, t: float, *, p: float = 0.99, sigma: float = 0.001, **more: Any) -> dict[str, Any]:
    return {"kind": kind, "t_s": t, "sigma_s": sigma, "p": p, **more}


def close_contacts(gap_s: float, sigma: float = 0.001) -> dict[str, Any]:
    """A shot at the 2 where the cue ball meets the 2 and the 5 within ``gap_s`` (negative: the 5 first)."""
    t2, t5 = 8.3, 8.3 + gap_s
    last = max(t2, t5)
    return {
        "number": 3,
        "start_s": 8.0,
        "end_s": 10.0,
        "shooter": None,
        "call": None,
        "start": {"0": [0.6, 0.9], "2": [0.63, 1.3], "5": [0.57, 1.3], "9": [0.3, 2.0]},
        "end": {"0": [0.6, 1.0], "2": [0.9, 2.3], "5": [0.3, 2.2], "9": [0.3, 2.0]},
        "events": sorted(
            [
                event("strike", 8.0, ball=0),
                event("contact", t2, sigma=sigma, balls=[0, 2], at=[0.615, 1.275]),
                event("contact", t5, sigma=sigma, balls=[0, 5], at=[0.585, 1.275]),
                event("rail", 9.1, ball=2, rail="foot", at=[0.8, 2.51]),
            ],
            key=lambda e: e["t_s"],
        ),
        "paths": {
            "0": way((8.0, 0.6, 0.9), (t2, 0.6, 1.25), (last, 0.6, 1.25), (10.0, 0.6, 1.0)),
            "2": way((8.0, 0.63, 1.3), (t2, 0.63, 1.3), (9.1, 0.8, 2.51), (10.0, 0.9, 2.3)),
            "5": way((8.0, 0.57, 1.3), (t5, 0.57, 1.3), (10.0, 0.3, 2.2)),
        },
    }


def a_match(gap_s: float = 0.0012, *, players: tuple[str, str] = (ANN, BO)) -> dict[str, Any]:
    """Four shots of 9-ball in mid-rack: a pot, a foul (5 before the 2), a close one, a scratch; not ruled yet.

    ``gap_s`` is the time between the two contacts of the third.
    """
    calibration = Calibration(TABLE, camera(), 0.4, {}, 0.9)
    pot = {
        "number": 1,
        "start_s": 1.0,
        "end_s": 3.2,
        "shooter": None,
        "call": None,
        "start": {"0": [0.635, 0.6], "1": [0.9, 1.9], "2": [0.63, 1.3], "5": [0.3, 0.8], "9": [0.3, 2.0]},
        "end": {"0": [0.5, 1.1], "2": [0.63, 1.3], "5": [0.3, 0.8], "9": [0.3, 2.0]},
        "events": [
            event("strike", 1.0, ball=0),
            event("contact", 1.6, balls=[0, 1], at=[0.892, 1.873]),
            event("rail", 1.9, ball=0, rail="foot", at=[1.0, 2.511]),
            event("pocket", 2.4, ball=1, pocket="foot-right", p=0.98),
        ],
        "paths": {
            "0": way((1.0, 0.635, 0.6), (1.6, 0.884, 1.846), (1.9, 1.0, 2.511), (3.2, 0.5, 1.1)),
            "1": way((1.0, 0.9, 1.9), (1.6, 0.9, 1.9), (2.4, 1.25, 2.52)),
        },
    }
    foul = {
        "number": 2,
        "start_s": 4.5,
        "end_s": 6.5,
        "shooter": None,
        "call": None,
        "start": {"0": [0.5, 1.1], "2": [0.63, 1.3], "5": [0.3, 0.8], "9": [0.3, 2.0]},
        "end": {"0": [0.2, 0.4], "2": [0.63, 1.3], "5": [0.57, 1.3], "9": [0.3, 2.0]},
        "events": [
            event("strike", 4.5, ball=0),
            event("contact", 4.8, balls=[0, 5], at=[0.32, 0.82]),
            event("rail", 5.4, ball=5, rail="left", at=[0.0286, 0.7]),
        ],
        "paths": {
            "0": way((4.5, 0.5, 1.1), (4.8, 0.34, 0.84), (6.5, 0.2, 0.4)),
            "5": way((4.5, 0.3, 0.8), (4.8, 0.3, 0.8), (5.4, 0.0286, 0.7), (6.5, 0.57, 1.3)),
        },
    }
    scratch = {
        "number": 4,
        "start_s": 11.5,
        "end_s": 12.9,
        "shooter": None,
        "call": None,
        "start": {"0": [0.6, 1.0], "2": [0.9, 2.3], "5": [0.3, 2.2], "9": [0.3, 2.0]},
        "end": {"2": [0.95, 2.4], "5": [0.3, 2.2], "9": [0.3, 2.0]},
        "events": [
            event("strike", 11.5, ball=0),
            event("contact", 12.0, balls=[0, 2], at=[0.888, 2.274]),
            event("pocket", 12.6, ball=0, pocket="foot-right", p=0.995),
        ],
        "paths": {
            "0": way((11.5, 0.6, 1.0), (12.0, 0.876, 2.248), (12.6, 1.26, 2.53)),
            "2": way((11.5, 0.9, 2.3), (12.0, 0.9, 2.3), (12.9, 0.95, 2.4)),
        },
    }
    return {
        "format": "railbird/1",
        "source": {
            "file": "made.mp4",
            "sha256": "0" * 64,
            "width": SIZE[0],
            "height": SIZE[1],
            "frames": int(DURATION_S * FPS),
            "duration_s": DURATION_S,
        },
        "table": calibration.to_json(),
        "game": "9-ball",
        "rules": "wpa-2025",
        "players": list(players),
        "language": "en",
        "shots": [pot, foul, close_contacts(gap_s), scratch],
        "warnings": [{"t_s": 6.8, "code": "light-changed", "text": "The light changed."}],
    }


def ruled(gap_s: float = 0.0012, **more: Any) -> dict[str, Any]:
    return rule(a_match(gap_s, **more))


def bgr(ball: int) -> tuple[int, int, int]:
    css = colour(ball)
    return int(css[5:7], 16), int(css[3:5], 16), int(css[1:3], 16)


def a_clip(
    path: Path,
    match: dict[str, Any],
    *,
    times: list[float] | None = None,
    sound: str | None = "aac",
    until: float = DURATION_S,
    pixel: Fraction | None = None,
) -> Path:
    """Draw the match plainly: discs on cloth. ``times`` of the frames may be uneven; ``sound`` names an audio codec."""
    times = [k / FPS for k in range(int(until * FPS))] if times is None else times
    course, view = Course(match), Camera.from_json(match["table"]["camera"])
    ground = np.full((SIZE[1], SIZE[0], 3), (40, 36, 38), np.uint8)
    corners = view.project(list(TABLE.corners.values()))
    cv2.fillPoly(ground, [np.round(corners).astype(np.int32)], (106, 120, 20))
    with av.open(str(path), "w") as out:
        video = out.add_stream("libx264", rate=FPS, options={"preset": "ultrafast", "crf": "18"})
        video.width, video.height, video.pix_fmt = *SIZE, "yuv420p"
        video.codec_context.time_base = Fraction(1, 90_000)
        if pixel is not None:
            video.codec_context.sample_aspect_ratio = pixel
        audio = out.add_stream(sound, rate=48_000) if sound else None
        for t in times:
            image = ground.copy()
            for ball, at in course.balls(t).items():
                rim = view.outline(at, R)
                cv2.fillPoly(image, [np.round(rim * 16).astype(np.int32)], bgr(ball), cv2.LINE_AA, 4)
            frame = av.VideoFrame.from_ndarray(image, format="bgr24")
            frame.pts, frame.time_base = round(t * 90_000), Fraction(1, 90_000)
            out.mux(video.encode(frame))
        out.mux(video.encode())
        if audio is not None:
            wave = (np.sin(np.arange(int(until * 48_000)) / 20) * 8000).astype(np.int16)
            for k in range(0, len(wave), 1024):
                piece = av.AudioFrame.from_ndarray(wave[None, k : k + 1024], format="s16", layout="mono")
                piece.sample_rate, piece.pts, piece.time_base = 48_000, k, Fraction(1, 48_000)
                out.mux(audio.encode(piece))
            out.mux(audio.encode())
    return path
