"""The diagram of a dispute: both balls' paths around the instant, where they were and how surely, and the time axis.

It is made once as plain shapes and then drawn as SVG for the page and with Pillow for the picture to send.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from typing import Any

import numpy as np
from PIL import Image, ImageDraw

from calibration.table import Table
from railbird.check.limits import position_covariance
from railbird.check.question import Dispute, Rival
from railbird.drawing.course import Cameras, Course
from railbird.drawing.lettering import font, rgb
from railbird.report.top_view import IVORY, colour
from railbird.words import Words

INK, CLOTH, NOSE, PALE = "#18211f", "#14786a", "#0b5a4e", "#d9efe9"
NEAR_M = 0.13  # of the ways, what lies so near to the place sets the scale
TONES = ("#b3541e", "#3e5fa8", "#6b4a8e")


@dataclass(frozen=True, slots=True)
class Layout:
    """Where things lie in a diagram, in its own units.

    Parameters
    ----------
    width, height : of the whole.
    above : height of the map from above, which is as wide as the diagram.
    axis : left, top, width and height of the time axis.
    small : size of the names beside it.
    """

    width: int
    height: int
    above: int
    axis: tuple[int, int, int, int]
    small: int


#: The same texts are readable on a desk and, in half the width, on a phone.
WIDE = Layout(880, 604, 400, (70, 482, 740, 80), 16)
NARROW = Layout(440, 520, 320, (34, 402, 352, 76), 13)


@dataclass(frozen=True, slots=True)
class Shape:
    """A line, an area or a text; coordinates are the diagram's own, y down."""

    points: tuple[tuple[float, float], ...] = ()
    stroke: str = ""
    width: float = 0.0
    fill: str = ""
    opacity: float = 1.0
    closed: bool = False
    dashed: bool = False
    text: str = ""
    size: int = 0
    anchor: str = "start"
    bold: bool = False


@dataclass(slots=True)
class Diagram:
    """A list of shapes; the first ``inside`` of them belong to the map and end where it ends."""

    layout: Layout = WIDE
    shapes: list[Shape] = field(default_factory=list)
    inside: int = 0

    def line(self, points: Any, stroke: str, width: float, *, dashed: bool = False, opacity: float = 1.0) -> None:
        self.shapes.append(Shape(_tuples(points), stroke, width, dashed=dashed, opacity=opacity))

    def area(self, points: Any, fill: str, opacity: float = 1.0, stroke: str = "", width: float = 0.0) -> None:
        self.shapes.append(Shape(_tuples(points), stroke, width, fill, opacity, closed=True))

    def ring(
        self,
        centre: Sequence[float],
        radius: float,
        stroke: str,
        width: float,
        *,
        fill: str = "",
        opacity: float = 1.0,
        dashed: bool = False,
    ) -> None:
        a = np.linspace(0, 2 * np.pi, 49)[:-1]
        points = np.column_stack([centre[0] + radius * np.cos(a), centre[1] + radius * np.sin(a)])
        self.shapes.append(Shape(_tuples(points), stroke, width, fill, opacity, closed=True, dashed=dashed))

    def write(
        self, at: Sequence[float], text: str, size: int, fill: str = INK, *, anchor: str = "start", bold: bool = False
    ) -> None:
        self.shapes.append(Shape((tuple(map(float, at)),), fill=fill, text=text, size=size, anchor=anchor, bold=bold))  # type: ignore[arg-type]

    def svg(self, title: str, name: str = "diagram") -> str:
        """The diagram as an ``<svg>`` element of class ``name``; texts are escaped."""
        parts = [_element(shape) for shape in self.shapes]
        width, height, above = self.layout.width, self.layout.height, self.layout.above
        inner = (
            f'<svg width="{width}" height="{above}" viewBox="0 0 {width} {above}">{"".join(parts[: self.inside])}</svg>'
        )
        return (
            f'<svg class="diagram {name}" viewBox="0 0 {width} {height}" role="img" aria-labelledby="{name}-title"'
            f' font-family="system-ui, sans-serif"><title id="{name}-title">{escape(title)}</title>'
            f"{inner}{''.join(parts[self.inside :])}</svg>"
        )

    def paint(self, scale: float) -> Image.Image:
        """The diagram as an RGB picture, ``scale`` pixels a unit."""
        over = 2
        k = scale * over
        width, height = self.layout.width, self.layout.height
        image = Image.new("RGBA", (round(width * k), round(height * k)), (255, 255, 255, 255))
        for s in self.shapes:
            _brush(image, s, k)
        return image.resize((round(width * scale), round(height * scale)), Image.Resampling.LANCZOS).convert("RGB")


def _brush(image: Image.Image, s: Shape, k: float) -> None:
    """Draw a shape into an RGBA picture of ``k`` pixels a unit."""
    points = [(x * k, y * k) for x, y in s.points]
    if s.text:
        anchor = {"start": "ls", "middle": "ms", "end": "rs"}[s.anchor]
        ink = (*rgb(s.fill), 255)
        ImageDraw.Draw(image).text(points[0], s.text, font=font(round(s.size * k), s.bold), fill=ink, anchor=anchor)
        return
    pen = max(1, round(s.width * k))
    layer, left, top = image, 0, 0
    if s.opacity < 1:  # on a sheet of its own, no larger than the shape
        xs, ys = zip(*points, strict=True)
        left, top = max(0, math.floor(min(xs)) - pen), max(0, math.floor(min(ys)) - pen)
        right, foot = min(image.width, math.ceil(max(xs)) + pen + 1), min(image.height, math.ceil(max(ys)) + pen + 1)
        if right <= left or foot <= top:
            return
        layer = Image.new("RGBA", (right - left, foot - top), (255, 255, 255, 0))
        points = [(x - left, y - top) for x, y in points]
    draw, alpha = ImageDraw.Draw(layer), round(255 * s.opacity)
    if s.fill and len(points) > 2:
        draw.polygon(points, fill=(*rgb(s.fill), alpha))
    if s.stroke:
        row = [*points, points[0]] if s.closed else points
        for piece in _dashes(row, 7 * k, 6 * k) if s.dashed else [row]:
            draw.line(piece, fill=(*rgb(s.stroke), alpha), width=pen, joint="curve")
    if layer is not image:
        image.alpha_composite(layer, (left, top))


def _element(s: Shape) -> str:
    if s.text:
        x, y = s.points[0]
        weight = ' font-weight="700"' if s.bold else ""
        return (
            f'<text x="{x:.1f}" y="{y:.1f}" font-size="{s.size}" text-anchor="{s.anchor}" fill="{s.fill}"{weight}>'
            f"{escape(s.text)}</text>"
        )
    path = "M" + "L".join(f"{x:.1f} {y:.1f}" for x, y in s.points) + ("Z" if s.closed else "")
    paint = f'fill="{s.fill or "none"}"' + (f' stroke="{s.stroke}" stroke-width="{s.width}"' if s.stroke else "")
    dash = ' stroke-dasharray="7 6"' if s.dashed else ""
    faint = f' opacity="{s.opacity}"' if s.opacity < 1 else ""
    return f'<path d="{path}" {paint}{dash}{faint} stroke-linejoin="round" stroke-linecap="round"/>'


def draw(
    match: Mapping[str, Any],
    i: int,
    dispute: Dispute,
    course: Course,
    cameras: Cameras,
    times: Sequence[float],
    words: Words,
    layout: Layout = WIDE,
) -> Diagram:
    """The diagram of a dispute at shot ``i``; ``times`` are those of the frames around it, seconds."""
    table = Table.from_json(match["table"])
    diagram = Diagram(layout)
    span = 0.09 if len(dispute.rivals) < 2 else max(0.09, 1.6 * abs(dispute.rivals[-1].t_s - dispute.rivals[0].t_s))
    _map(diagram, match, i, dispute, course, cameras, times, table, span, words)
    diagram.inside = len(diagram.shapes)
    # What runs out of the map below would cross the time axis.
    foot, end, right = layout.above, layout.height, layout.width
    diagram.area([(0, foot), (right, foot), (right, end), (0, end)], "#ffffff")
    _axis(diagram, dispute, times, words)
    return diagram


def _map(
    diagram: Diagram,
    match: Mapping[str, Any],
    i: int,
    dispute: Dispute,
    course: Course,
    cameras: Cameras,
    times: Sequence[float],
    table: Table,
    span: float,
    words: Words,
) -> None:
    left, top, width, height = 0, 0, diagram.layout.width, diagram.layout.above
    ways = {ball: _way(course, i, ball, dispute.t_s, span) for ball in dispute.balls}
    middle, scale = _frame(ways, dispute, table, width, height)

    def place(at: Any) -> Any:
        """Metres to the diagram: head to the left, as in the report."""
        p = np.atleast_2d(np.asarray(at, np.float64))
        x = left + width / 2 + scale * (p[:, 1] - middle[1])
        y = top + height / 2 + scale * (p[:, 0] - middle[0])
        return np.column_stack([x, y])

    w, length = table.width_m, table.length_m
    diagram.area([(left, top), (left + width, top), (left + width, top + height), (left, top + height)], NOSE)
    diagram.area(place([(0, 0), (w, 0), (w, length), (0, length)]), CLOTH)
    for pocket in table.pockets.values():
        a = np.linspace(0, 2 * np.pi, 90)
        rim = np.array(pocket.centre) + pocket.radius * np.column_stack([np.cos(a), np.sin(a)])
        if math.dist(pocket.centre, middle) * scale < width:
            diagram.area(place(rim), "#0d0f0f")
    radius = scale * table.ball_radius
    camera = cameras.at(dispute.t_s)
    for ball, way in ways.items():
        if way is None:
            continue
        tone = "#ffffff" if ball == 0 else colour(ball)
        points = place(way[:, 1:])
        if ball == 0:
            diagram.line(points, "#06352e", 7, opacity=0.6)
        else:  # a green or a black ball's way would be lost on the cloth
            diagram.line(points, "#f1f7f4", 6.5)
        diagram.line(points, tone, 3.5)
        for t in times:
            if way[0, 0] <= t <= way[-1, 0]:
                at = place(_at(way, t))[0]
                diagram.ring(at, 4.5, "#06352e", 1.2, fill="#ffffff")
    taken = [place(way[:, 1:]) for way in ways.values() if way is not None]
    named: dict[int, Any] = {}
    for k, rival in enumerate(dispute.rivals):
        for ball in dict.fromkeys((0, rival.ball) if rival.event["kind"] == "contact" else (rival.ball,)):
            way = course.path(i, ball)
            at = (
                _at(way, rival.t_s)
                if way is not None
                else np.array(match["shots"][i]["start"].get(str(ball), dispute.at))
            )
            tone = "#ffffff" if ball == 0 else colour(ball)
            middle_px = place(at)[0]
            if k == 0 or ball:
                diagram.ring(middle_px, radius, tone, 2.5, fill=tone, opacity=0.62)
            diagram.ring(middle_px, radius, IVORY, 2.5, dashed=bool(k))
            velocity = _velocity(way, rival.t_s) if way is not None else np.zeros(2)
            cov = position_covariance(match, (float(at[0]), float(at[1])), camera, velocity, rival.sigma_s)
            diagram.area(place(ellipse(at, cov)), "#ffffff", 0.35, "#ffffff", 1.5)
            if k == 0 or ball:
                named[ball] = middle_px
    if not dispute.rivals:  # no contact was told: the balls lie where they were at that moment
        for ball, way in ways.items():
            if way is not None:
                named[ball] = place(_at(way, dispute.t_s))[0]
                diagram.ring(named[ball], radius, IVORY, 2.5, fill="#ffffff" if ball == 0 else colour(ball))
    for ball, centre in named.items():
        others = [at for other, at in named.items() if other != ball]
        _name_ball(diagram, ball, centre, radius, taken, others, words)
    bar = 0.05 if scale < 1500 else 0.02
    x0, y0 = left + 20, top + height - 18
    diagram.line([(x0, y0), (x0 + bar * scale, y0)], "#ffffff", 3)
    diagram.write((x0, y0 - 8), f"{round(1000 * bar)} mm", 15, "#ffffff")
    if dispute.rivals:
        diagram.write((left + width - 16, top + height - 12), words("check.ellipse"), 15, "#ffffff", anchor="end")


def _name_ball(
    diagram: Diagram, ball: int, at: Any, radius: float, ways: Sequence[Any], others: Sequence[Any], words: Words
) -> None:
    """A ball's name beside it, at the side that is farthest from ways, other balls and the texts along the foot."""
    text, size = words("ball.cue") if ball == 0 else str(ball), 17
    half = np.array([0.29 * size * len(text), 0.5 * size])
    width, height = diagram.layout.width, diagram.layout.above
    points = [_dense(way) for way in ways]
    points += [np.array([[x, height - 20.0] for x in (30.0, 90.0, width - 40.0, width - 150.0, width - 260.0)])]
    crowd = np.vstack(points)
    best, room = np.asarray(at, np.float64), -math.inf
    for angle in np.linspace(0, 2 * np.pi, 24, endpoint=False):
        way = np.array([math.cos(angle), math.sin(angle)])
        centre = np.asarray(at) + way * (radius + 6 + abs(way[0]) * half[0] + abs(way[1]) * half[1])
        if (centre - half < 4).any() or (centre + half > np.array([width, height]) - 4).any():
            continue
        free = float(np.hypot(*np.maximum(np.abs(crowd - centre) - half, 0).T).min())
        for other in others:
            free = min(free, float(np.hypot(*np.maximum(np.abs(np.asarray(other) - centre) - half, 0))) - radius)
        if free > room:
            best, room = centre, free
    diagram.write((best[0], best[1] + 0.35 * size), text, size, "#ffffff", anchor="middle", bold=True)


def _dense(way: Any, step: float = 6.0) -> Any:
    """A polyline (n, 2) with a point at least every ``step`` units."""
    parts = [way[:1]]
    for a, b in itertools.pairwise(way):
        n = max(1, math.ceil(math.dist(a, b) / step))
        parts.append(a + (b - a) * (np.arange(1, n + 1) / n)[:, None])
    return np.vstack(parts)


def _frame(ways: Mapping[int, Any], dispute: Dispute, table: Table, width: float, height: float) -> tuple[Any, float]:
    """Middle (metres) and scale (units a metre) that show the ways, the balls and some cloth around them."""
    points = [np.array([dispute.at])] + [way[:, 1:] for way in ways.values() if way is not None]
    every = np.vstack(points)
    near = every[np.abs(every - np.array(dispute.at)).max(axis=1) < NEAR_M]
    low, high = near.min(axis=0) - table.ball_m, near.max(axis=0) + table.ball_m
    extent = high - low
    scale = min(width / extent[1], height / extent[0], 2600.0)
    return (low + high) / 2, scale


def _axis(diagram: Diagram, dispute: Dispute, times: Sequence[float], words: Words) -> None:
    """Milliseconds from the first rival: what happened when, how surely, and when the pictures were taken."""
    left, top, width, height = diagram.layout.axis
    rivals = dispute.rivals
    zero = rivals[0].t_s if rivals else dispute.t_s
    reach = max([4 * r.sigma_s + abs(r.t_s - zero) for r in rivals] + [0.004])
    step = float(np.median(np.diff(sorted(times)))) if len(times) > 1 else 1 / 30
    reach = max(reach, 0.55 * step)

    def x(t: float) -> float:
        return left + width * (t - zero + reach) / (2 * reach)

    base = top + height
    diagram.line([(left, base), (left + width, base)], INK, 1.5)
    for ms in _ticks(1e3 * reach, width / 120):
        at = x(zero + ms / 1e3)
        diagram.line([(at, base), (at, base + 6)], INK, 1.5)
        diagram.write((at, base + 24), words.number(ms), 15, anchor="middle")
    diagram.write((left + width + 14, base + 24), "ms", 15)
    frames = [t for t in times if abs(t - zero) <= reach]
    for t in frames:
        diagram.line([(x(t), top - 6), (x(t), base)], "#7c8985", 1.2, dashed=True)
    # Where they stand too close for a word on each, one says what they all are.
    crowded = any(x(b) - x(a) < 8.0 * len(words("check.frame")) + 8 for a, b in itertools.pairwise(frames))
    for t in [min(frames, key=lambda at: abs(at - zero))] if crowded else frames:
        diagram.write((x(t), top - 12), words("check.frame"), 13, "#55605c", anchor="middle")
    for k, rival in enumerate(rivals):
        grid = np.linspace(zero - reach, zero + reach, 241)
        bell = np.exp(-0.5 * ((grid - rival.t_s) / rival.sigma_s) ** 2)
        tall = height * 0.86 * min(1.0, rival.p + 0.15)
        points = [(x(t), base - tall * b) for t, b in zip(grid, bell, strict=True)]
        diagram.area([(left, base), *points, (left + width, base)], TONES[k], 0.3)
        diagram.line(points, TONES[k], 2.2)
    _names(diagram, rivals, zero, words)
    if not rivals:
        line = diagram.layout.above + 26
        diagram.write((diagram.layout.width / 2, line), dispute.words, diagram.layout.small, anchor="middle")


def _names(diagram: Diagram, rivals: Sequence[Rival], zero: float, words: Words) -> None:
    left = diagram.layout.axis[0]
    for k, rival in enumerate(rivals[:2]):
        ms = words.number(1e3 * (rival.t_s - zero), 1)
        spread = words.number(1e3 * rival.sigma_s, 1)
        label = f"{rival.label}: {ms} ± {spread} ms"
        y = diagram.layout.above + 26 + 22 * k
        diagram.area([(left, y - 12), (left + 14, y - 12), (left + 14, y + 2), (left, y + 2)], TONES[k])
        diagram.write((left + 24, y), label, diagram.layout.small, bold=True)


def ellipse(at: Any, cov: Any, sigmas: float = 2.448) -> Any:
    """(48, 2) outline of the ellipse that holds a place with 95 % probability (2.448 standard deviations in the plane)."""
    values, vectors = np.linalg.eigh(np.asarray(cov, np.float64))
    a = np.linspace(0, 2 * np.pi, 49)[:-1]
    unit = np.column_stack([np.cos(a), np.sin(a)]) * np.sqrt(np.maximum(values, 0)) * sigmas
    return np.asarray(at, np.float64) + unit @ vectors.T


def _way(course: Course, i: int, ball: int, t: float, span: float) -> Any:
    path = course.path(i, ball)
    if path is None:
        return None
    since, until = max(t - span, path[0, 0]), min(t + span, path[-1, 0])
    if since >= until:
        return None
    inner = path[(path[:, 0] > since) & (path[:, 0] < until)]
    return np.vstack([[since, *_at(path, since)], inner, [until, *_at(path, until)]])


def _at(way: Any, t: float) -> Any:
    return np.array([np.interp(t, way[:, 0], way[:, k]) for k in (1, 2)])


def _velocity(way: Any, t: float, back: float = 0.03) -> Any:
    """Metres a second just before ``t``: an impact is over at once, so the side before it counts."""
    return (_at(way, t) - _at(way, t - back)) / back


def _ticks(reach: float, most: float = 6.0) -> list[float]:
    """Round numbers on both sides of zero, ``most`` on each at the most."""
    step = next(s for s in (0.5, 1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 1e9) if reach / s <= most)
    n = math.floor(reach / step)
    return [k * step for k in range(-n, n + 1)]


def _tuples(points: Any) -> tuple[tuple[float, float], ...]:
    return tuple((float(x), float(y)) for x, y in points)


def _dashes(points: Sequence[tuple[float, float]], on: float, off: float) -> list[list[tuple[float, float]]]:
    """A polyline cut into dashes."""
    pieces: list[list[tuple[float, float]]] = [[]]
    pen, left = True, on
    for (x0, y0), (x1, y1) in itertools.pairwise(points):
        way = math.hypot(x1 - x0, y1 - y0)
        done = 0.0
        if pen and not pieces[-1]:
            pieces[-1].append((x0, y0))
        while way - done > left:
            done += left
            at = (x0 + (x1 - x0) * done / way, y0 + (y1 - y0) * done / way)
            if pen:
                pieces[-1].append(at)
                pieces.append([])
            else:
                pieces[-1].append(at)
            pen, left = not pen, off if pen else on
        left -= way - done
        if pen:
            pieces[-1].append((x1, y1))
    return [piece for piece in pieces if len(piece) > 1]
