"""What is drawn over a match's frames: numbers, trails, flashes, ruling banner, score bug and a small top view."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from calibration.camera import Camera
from calibration.table import Table
from railbird.drawing.canvas import Canvas, Sprite
from railbird.drawing.course import Course
from railbird.drawing.lettering import WHITE, ball_colour, ball_picture
from railbird.drawing.panels import Panels
from railbird.drawing.placing import hides_table, place_panels
from railbird.report.statistics import is_break
from railbird.report.top_view import doubtful_numbers, numbered_events

TRAIL_S = 0.9
FLASH_S = 0.45
NUMBER_S = 1.4
BANNER_S = 4.5
SMALL_VIEW = 270  # width of the top view at 1080 lines where a larger one would hide a pocket
LATE_S = 1.6  # where a clip ends with its shot, the banner shows over the last of it
DARK = (10, 22, 20)
FLASH = {"contact": (255, 255, 255), "rail": (250, 214, 130), "pocket": (111, 208, 191), "off-table": (255, 120, 100)}


@dataclass(frozen=True, slots=True)
class Flash:
    """An event to be drawn: when, what, where (metres), and its number in the shot."""

    t_s: float
    kind: str
    at: tuple[float, float]
    number: int | None


class Overlay:
    """Draws everything onto a frame's canvas; knows the match, not the video.

    Parameters
    ----------
    size : (width, height) of the frames, pixels.
    weights : their colour matrix.
    factor : how much smaller than the recording they are drawn.
    """

    def __init__(
        self,
        match: Mapping[str, Any],
        words: Any,
        size: tuple[int, int],
        weights: tuple[float, float, float],
        factor: float = 1.0,
    ) -> None:
        self.match = match
        self.table = Table.from_json(match["table"])
        self.size = size
        self.weights = weights
        self.scale = max(0.5, min(size[1] / 1080, size[0] / 1280))
        self.panels = Panels(match, words, self.scale)
        self.corners = place_panels(match, size, self.panels.sizes(), factor)
        if hides_table(match, size, (*self.corners["view"], *self.panels.sizes()["view"]), factor):
            self.panels = Panels(match, words, self.scale, view=SMALL_VIEW)
            self.corners = place_panels(match, size, self.panels.sizes(), factor)
        self.flashes = [_flashes(shot, self.table) for shot in match["shots"]]
        self.unsure = [set(doubtful_numbers(shot)) for shot in match["shots"]] or [set()]
        self.breaks = [is_break(match["shots"], i) for i in range(len(match["shots"]))]
        self.duration = float((match.get("source") or {}).get("duration_s") or 1e9)
        self._sprite = cache(self._make_sprite)

    def draw(self, canvas: Canvas, t: float, course: Course, camera: Camera) -> None:
        """Everything that belongs on the frame at ``t`` seconds."""
        radius = self.table.ball_radius
        places = course.balls(t)
        i = course.shot_at(t)
        trails = course.trails(t, TRAIL_S)
        for ball, way in trails.items():
            pixels = camera.project(way, radius)
            room = float(camera.ball_radius_px(way[-1:], radius)[0]) if ball in places else 0.0
            self._trail(canvas, ball, short_of_end(pixels, 1.15 * room))
        if places:
            balls = list(places)
            pixels = camera.project([places[b] for b in balls], radius)
            sizes = camera.ball_radius_px([places[b] for b in balls], radius)
            for ball, at, size in zip(balls, pixels, sizes, strict=True):
                if np.isfinite(at).all():
                    self._number(canvas, ball, at, float(size), unsure=ball in self.unsure[i or 0])
        if i is not None:
            self._flash(canvas, t, self.flashes[i], camera)
        self._top_view(canvas, places, trails)
        self._panels(canvas, t, i)

    # -- on the table --------------------------------------------------------------------------------------------------
    def _trail(self, canvas: Canvas, ball: int, way: Any) -> None:
        """A ribbon that swells toward the ball; two strokes, so that it stands out on any cloth."""
        if len(way) < 2:
            return
        colour = ball_colour(ball) if ball else WHITE
        parts = 4 if len(way) > 8 else 1
        cuts = np.linspace(0, len(way) - 1, parts + 1).round().astype(int)
        for k in range(parts):
            piece = way[cuts[k] : cuts[k + 1] + 1]
            thick = self.scale * (2 + 4 * (k + 1) / parts)
            canvas.line(piece, DARK, thick + 2 * self.scale)
        for k in range(parts):
            piece = way[cuts[k] : cuts[k + 1] + 1]
            canvas.line(piece, colour, self.scale * (2 + 4 * (k + 1) / parts))

    def _number(self, canvas: Canvas, ball: int, at: Any, radius: float, *, unsure: bool) -> None:
        """The ball's number on a small disc above it; the cue ball needs none."""
        if ball == 0:
            return
        size = 2 * round(min(max(0.95 * radius, 9 * self.scale), 20 * self.scale))
        x, y = at[0] - size / 2, at[1] - radius * 1.25 - size
        if not (-50 < x < self.size[0] + 50 and -50 < y < self.size[1] + 50):
            return
        canvas.lay(self._sprite("unsure" if unsure else "ball", ball, size), x, y)

    def _flash(self, canvas: Canvas, t: float, flashes: list[Flash], camera: Camera) -> None:
        """Rings that grow from the true instant: the first frame after it shows how long ago that was."""
        height = self.table.ball_radius
        for flash in flashes:
            age = t - flash.t_s
            if not 0 <= age < NUMBER_S:
                continue
            at = camera.project([flash.at], height)[0]
            if not np.isfinite(at).all():
                continue
            r = float(camera.ball_radius_px([flash.at], height)[0])
            if age < FLASH_S:
                grown = age / FLASH_S
                ring = r * (0.5 + 3.0 * (1 - (1 - grown) ** 2))
                thick = max(1.0, self.scale * 6 * (1 - grown))
                canvas.ring(at, ring, DARK, thick + 2 * self.scale)
                canvas.ring(at, ring, FLASH[flash.kind], thick)
            if flash.number is not None:
                size = 2 * round(13 * self.scale)
                # Contacts close together would cover each other's numbers: each has its own corner.
                right, below = flash.number % 2, (flash.number - 1) // 2 % 2 == 0
                x = at[0] + (1.1 * r if right else -1.1 * r - size)
                y = at[1] + (1.1 * r if below else -1.1 * r - size)
                canvas.lay(self._sprite("number", flash.number, size), x, y)

    # -- panels --------------------------------------------------------------------------------------------------------
    def _top_view(self, canvas: Canvas, places: Mapping[int, tuple[float, float]], trails: Mapping[int, Any]) -> None:
        x0, y0 = self.corners["view"]
        canvas.lay(self._sprite("table", 0, 0), x0, y0)
        view = self.panels.view
        for ball, way in trails.items():
            points = [(x0 + px, y0 + py) for px, py in (view.place(p) for p in way[:: max(1, len(way) // 24)])]
            canvas.line(points, ball_colour(ball) if ball else WHITE, 2 * self.scale)
        size = 2 * round(view.ball_px / 2)
        for ball, at in places.items():
            px, py = view.place(at)
            canvas.lay(self._sprite("ball", ball, size), x0 + px - size / 2, y0 + py - size / 2)

    def _panels(self, canvas: Canvas, t: float, i: int | None) -> None:
        now = -1 if i is None else i
        ended = i is not None and t > self.match["shots"][i]["end_s"]
        bug = self._sprite("bug", now, int(ended))
        canvas.lay(bug, *self.corners["bug"])
        if i is None:
            return
        shot = self.match["shots"][i]
        begin = max(shot["start_s"], min(shot["end_s"] + 0.15, self.duration - LATE_S))
        if begin <= t < begin + BANNER_S and shot.get("ruling"):
            banner = self._sprite("banner", i, 0)
            width, height = banner.size
            # It rises into its place in a quarter of a second, and that is all the show.
            lift = 1 - (1 - min(1.0, (t - begin) / 0.25)) ** 3
            canvas.lay(banner, (self.size[0] - width) / 2, self.corners["banner"][1] + (1 - lift) * height * 0.4)

    def _make_sprite(self, kind: str, which: int, size: int) -> Sprite:
        if kind in ("ball", "unsure"):
            image = np.asarray(ball_picture(which, size, kind == "unsure"), np.uint8)
        elif kind == "number":
            image = self.panels.number(which, size)
        elif kind == "table":
            image = self.panels.table()
        elif kind == "bug":
            image = self.panels.bug(which, bool(size))
        else:
            image = self.panels.banner(which, opening=self.breaks[which])
        return Sprite.of(image, self.weights)


def short_of_end(way: Any, room: float) -> Any:
    """(n, 2) pixels of a line that stops ``room`` pixels before its end, so that it does not cover the ball there."""
    if len(way) < 2 or room <= 0:
        return way
    away = np.hypot(*(way - way[-1]).T)
    outside = np.flatnonzero(away >= room)
    if not len(outside):
        return way[:0]
    k = int(outside[-1])
    if k + 1 >= len(way):
        return way
    share = (away[k] - room) / max(1e-9, away[k] - away[k + 1])
    return np.vstack([way[: k + 1], way[k] + share * (way[k + 1] - way[k])])


def _flashes(shot: Mapping[str, Any], table: Table) -> list[Flash]:
    """The shot's events that have a place; of a break only the first contact is numbered."""
    rows = numbered_events(shot)
    many = sum(number is not None for number, _ in rows) > 9
    found = []
    for number, event in rows:
        at = event.get("at")
        if event["kind"] == "pocket":
            pocket = table.pockets[event["pocket"]]
            middle = (table.long_string, pocket.centre[1])
            pull = table.ball_m / max(1e-6, float(np.hypot(middle[0] - pocket.centre[0], 0)))
            at = (pocket.centre[0] + pull * (middle[0] - pocket.centre[0]), pocket.centre[1])
        if at is None or event["kind"] not in FLASH:
            continue
        shown = number if not many or number == 1 else None
        found.append(Flash(float(event["t_s"]), event["kind"], (float(at[0]), float(at[1])), shown))
    return found
