"""A source of drawn frames with a detector that knows where it drew the balls, and a desk that writes down what it is told."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import cv2
import numpy as np

from calibration.camera import Camera
from calibration.result import Calibration
from calibration.table import Table
from railbird.games import BALLS
from railbird.live.camera import LiveCamera
from railbird.live.seen import CameraState, SeenShot
from vision.detections import Detections
from vision.video import Frame, SourceInfo, Video

WIDTH, HEIGHT = 640, 360
TABLE = Table()


def overhead() -> Calibration:
    view = Camera.looking((0.635, 1.27, 3.2), (0.635, 1.271, 0), width=WIDTH, height=HEIGHT, focal=420, roll=np.pi / 2)
    return Calibration(TABLE, view, 0.3)


@cache
def empty_table() -> np.ndarray[Any, Any]:
    """A floor with a pattern, rails and a cloth: what the watch over the camera holds on to."""
    calibration = overhead()
    rng = np.random.default_rng(5)
    floor = cv2.resize(
        rng.integers(20, 200, (45, 80, 3), dtype=np.uint8), (WIDTH, HEIGHT), interpolation=cv2.INTER_NEAREST
    )
    for margin, colour in ((0.15, (30, 50, 80)), (0.0, (90, 110, 30))):
        w, length = TABLE.width_m + margin, TABLE.length_m + margin
        corners = [(-margin, -margin), (w, -margin), (w, length), (-margin, length)]
        pixels = calibration.camera.project(corners, TABLE.nose_height)
        cv2.fillPoly(floor, [np.round(pixels).astype(np.int32)], colour)
    for x, y in calibration.camera.project(TABLE.sights, TABLE.nose_height):
        cv2.circle(floor, (round(x), round(y)), 2, (220, 230, 230), -1)
    for pocket in TABLE.pockets.values():
        x, y = calibration.camera.project([pocket.centre], 0.0)[0]
        cv2.circle(floor, (round(x), round(y)), 8, (5, 5, 5), -1)
    return floor


def picture(places: dict[int, tuple[float, float]], calibration: Calibration) -> np.ndarray[Any, Any]:
    """The table with discs on it: enough for the change gate."""
    image = empty_table().copy()
    for ball, at in places.items():
        x, y = calibration.camera.project([at], TABLE.ball_radius)[0]
        cv2.circle(
            image, (round(x * 16), round(y * 16)), 5 * 16, (40 + 12 * ball, 230 - 9 * ball, 200), -1, cv2.LINE_AA, 4
        )
    return image


class Ears:
    """A desk that writes down what it is told."""

    game = "9-ball"
    rack_due = False

    @property
    def in_play(self) -> frozenset[int]:
        return frozenset({0, *BALLS[self.game]})

    def __init__(self, folder: Path) -> None:
        self.states: list[CameraState] = []
        self.shots: list[SeenShot] = []
        self.clips: list[tuple[int, Path]] = []
        self.balls: dict[int, tuple[float, float]] = {}
        self.latency: list[float] = []
        self.faults: list[str] = []
        self.table: dict[str, float] = {}
        self._folder = folder

    def on_table(self, table: Any) -> None:
        self.table = dict(table)

    def on_state(self, state: CameraState, text: str = "") -> None:
        if not self.states or self.states[-1] is not state:
            self.states.append(state)

    def on_balls(self, t_s: float, balls: Any) -> None:
        self.balls = dict(balls)

    def on_shot(self, seen: SeenShot) -> tuple[str, int] | None:
        self.shots.append(seen)
        if seen.rest_wall_s is not None:
            self.latency.append(time.monotonic() - seen.rest_wall_s)
        return ("m", len(self.shots))

    def on_fault(self, text: str) -> None:
        self.faults.append(text)

    def clip_file(self) -> Path | None:
        return self._folder / f"clip{len(self.shots)}.mp4"

    def on_clip(self, match: str, shot: int, file: Path, began_s: float) -> None:
        self.clips.append((shot, file))


Places = Callable[[float], dict[int, tuple[float, float]]]


SLIDE, ROLL = 2.0, 0.1  # decelerations of a ball that slides and of one that rolls, m/s²


def travelled(v: float, spin: float, t: float) -> tuple[float, float]:
    """Way and speed after ``t`` seconds of a ball that began with speed ``v`` and surface speed ``spin`` (m/s)."""
    rolling = (5 * v + 2 * spin) / 7
    slides = abs(rolling - v) / SLIDE
    push = SLIDE if rolling > v else -SLIDE
    if t < slides:
        return v * t + push * t * t / 2, v + push * t
    way = v * slides + push * slides**2 / 2
    rest = min(t - slides, rolling / ROLL)
    return way + rolling * rest - ROLL * rest**2 / 2, rolling - ROLL * rest


def shots_at(*strokes: tuple[float, float], period: float | None = None) -> Places:
    """The cue ball is struck at given times with given speeds, each time head on into the 1, from where both lie.

    With ``period`` everything begins anew after so many seconds, the balls put back at once.
    """
    played: list[tuple[float, float, float, float, float, float]] = []
    cue, one = 0.6, 1.2
    for start_s, speed in strokes:
        gap = one - cue - TABLE.ball_m
        low, high = 0.0, 6.0
        for _ in range(50):
            middle = (low + high) / 2
            low, high = (middle, high) if travelled(speed, 0.0, middle)[0] < gap else (low, middle)
        met = travelled(speed, 0.0, high)[1]
        played.append((start_s, speed, high, met, cue, one))
        cue, one = cue + gap + travelled(0.05 * met, met, 99.0)[0], one + travelled(0.95 * met, 0.0, 99.0)[0]

    def places(t: float) -> dict[int, tuple[float, float]]:
        t = t if period is None else t % period
        cue, one = 0.6, 1.2
        for start_s, speed, hit_s, met, cue0, one0 in played:
            u = t - start_s
            if u <= 0:
                break
            cue = cue0 + travelled(speed, 0.0, min(u, hit_s))[0]
            one = one0
            if u > hit_s:
                cue += travelled(0.05 * met, met, u - hit_s)[0]
                one += travelled(0.95 * met, 0.0, u - hit_s)[0]
        return {0: (0.5, cue), 1: (0.5, one), 9: (0.9, 2.0), 5: (0.3, 1.9)}

    return places


STILL, ONE_SHOT, TWO_SHOTS = shots_at(), shots_at((2.0, 1.0)), shots_at((2.0, 1.0), (9.0, 0.75))


class Drawn:
    """A source of drawn frames that can be opened again and again, and a detector for them."""

    def __init__(self, places: Places, seconds: float, rate: float = 30.0, fail_after: int | None = None) -> None:
        self.places, self.seconds, self.rate = places, seconds, rate
        self.calibration = overhead()
        self.opened = 0
        self.fail_after = fail_after
        self.spoil: Callable[[float, np.ndarray[Any, Any]], np.ndarray[Any, Any]] = lambda t, image: image
        self._where: dict[int, dict[int, tuple[float, float]]] = {}
        self._pictures: dict[Any, np.ndarray[Any, Any]] = {}
        rng = np.random.default_rng(3)
        self._noise = rng.normal(0, 0.0006, (4096, 2))
        self._k = 0

    def open(self, source: str) -> Video:
        self.opened += 1
        if self.opened == 2 and self.fail_after is not None:
            from calibration.errors import InputError

            raise InputError("no route to the camera")
        count = round(self.seconds * self.rate) if self.fail_after is None or self.opened > 2 else self.fail_after
        return Video(SourceInfo("drawn", WIDTH, HEIGHT, self.rate, None, None), self._frames(count), lambda: None)

    def _frames(self, count: int) -> Iterator[Frame]:
        for n in range(count):
            t = n / self.rate
            where = self.places(t)
            key = tuple(round(v, 4) for at in where.values() for v in at)
            if len(self._pictures) > 12:  # few, so that what a test of memory sees is the camera
                self._pictures.clear()
            if key not in self._pictures:
                self._pictures[key] = picture(where, self.calibration)
            image = self.spoil(t, self._pictures[key])
            frame = Frame(n, t, None, image)
            self._where[id(image)] = where
            if len(self._where) > 4096:
                self._where.clear()
                self._where[id(image)] = where
            yield frame

    def see(self, frame: Frame, region: tuple[int, int, int, int]) -> Detections:
        where = self._where.get(id(frame.image)) or self.places(frame.t_s)
        balls = list(where)
        xy = np.array([where[b] for b in balls])
        self._k = (self._k + len(balls)) % 4000
        xy = xy + self._noise[self._k : self._k + len(balls)]
        camera = self.calibration.camera
        centre = camera.project(xy, TABLE.ball_radius) + camera.outline_centre_offset(xy, TABLE.ball_radius)
        radius = camera.ball_radius_px(xy, TABLE.ball_radius)
        evidence = np.full((len(balls), 16), -6.0)
        evidence[np.arange(len(balls)), balls] = 0.0
        cov = np.tile(np.eye(2) * 0.04, (len(balls), 1, 1))
        return Detections(
            centre=centre,
            radius=radius,
            score=np.full(len(balls), 0.95),
            cov=cov,
            evidence=evidence,
            unnumbered=np.full((len(balls), 2), -6.0),
        )


def run(camera: LiveCamera, ears: Ears, until: Callable[[], bool], seconds: float) -> None:
    camera.start(ears)
    end = time.monotonic() + seconds
    while time.monotonic() < end and not until():
        time.sleep(0.05)
    camera.stop()
