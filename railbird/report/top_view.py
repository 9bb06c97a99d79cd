"""Draws a shot from above as SVG: where balls lay, their paths, contacts numbered in order, pockets, where they came to rest.

The picture lies on its side: the head rail to the left, the foot rail to the right, so that it suits a page. One unit
is a millimetre. Everything drawn comes from numbers, so nothing in it needs escaping but the title, which is escaped.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping, Sequence
from html import escape
from typing import Any

from calibration.table import Table

#: Colours of the balls as they are sold; 9 … 15 are the same with a white band.
COLOURS = {
    0: "#f7f4ea",
    1: "#f2b705",
    2: "#1646a0",
    3: "#d6221f",
    4: "#5a2a82",
    5: "#f0761a",
    6: "#0c7a43",
    7: "#8a1f24",
    8: "#17181a",
}
IVORY = "#f7f4ea"
RIM_MM = 140
TOLERANCE_MM = 3.0
#: Above so many contacts (a break) only the first is numbered; the list beside the picture has them all.
NUMBERED = 9
NUMBER_LIKELY = 0.9  # a number less sure than this is drawn as a question


def colour(ball: int) -> str:
    """A ball's colour as CSS; a stripe has that of its solid."""
    return COLOURS[ball if ball <= 8 else ball - 8]


def symbols() -> str:
    """The sixteen balls as SVG symbols (``#ball-0`` … ``#ball-15``) and the mark of a doubtful number, to be put once into a page."""
    parts = []
    for ball in range(16):
        body = f'<circle cx="50" cy="50" r="49" fill="{colour(ball) if ball <= 8 else IVORY}"/>'
        if ball > 8:
            body += f'<path d="M6.2 28H93.8A49 49 0 0 1 93.8 72H6.2A49 49 0 0 1 6.2 28z" fill="{colour(ball)}"/>'
        if ball:
            size = 38 if ball < 10 else 32
            body += (
                f'<circle cx="50" cy="50" r="25" fill="{IVORY}"/>'
                f'<text x="50" y="{50 + size * 0.36:.1f}" font-size="{size}" font-weight="700" text-anchor="middle"'
                f' fill="#17181a" font-family="system-ui, sans-serif">{ball}</text>'
            )
        else:
            body += '<circle cx="62" cy="36" r="6" fill="#d6221f" opacity="0.55"/>'
        body += '<circle cx="50" cy="50" r="48" fill="none" stroke="#000" stroke-opacity="0.35" stroke-width="3"/>'
        parts.append(f'<symbol id="ball-{ball}" viewBox="0 0 100 100">{body}</symbol>')
    parts.append(
        '<symbol id="ball-doubt" viewBox="0 0 150 150">'
        '<circle cx="75" cy="75" r="62" fill="none" stroke="#06352e" stroke-width="17"/>'
        f'<circle cx="75" cy="75" r="62" fill="none" stroke="{IVORY}" stroke-width="9" stroke-dasharray="21 11.5"/>'
        f'<circle cx="121" cy="29" r="27" fill="{IVORY}" stroke="#17181a" stroke-width="4"/>'
        '<text x="121" y="44" font-size="44" font-weight="700" text-anchor="middle" fill="#17181a"'
        ' font-family="system-ui, sans-serif">?</text></symbol>'
    )
    return f'<svg width="0" height="0" style="position:absolute" aria-hidden="true" focusable="false">{"".join(parts)}</svg>'


def doubtful_numbers(shot: Mapping[str, Any]) -> dict[int, float]:
    """The balls of a shot whose number is not sure, and how likely each is."""
    known = {int(ball): float(p) for ball, p in (shot.get("identity_p") or {}).items()}
    return {ball: p for ball, p in sorted(known.items()) if p < NUMBER_LIKELY}


def simplify(points: Sequence[Sequence[float]], tolerance: float) -> list[Sequence[float]]:
    """Douglas and Peucker's line: the fewest of ``points`` that keep within ``tolerance`` of all of them."""
    if len(points) < 3:
        return list(points)
    keep = {0, len(points) - 1}
    stack = [(0, len(points) - 1)]
    while stack:
        first, last = stack.pop()
        (x0, y0), (x1, y1) = points[first][:2], points[last][:2]
        dx, dy = x1 - x0, y1 - y0
        norm = (dx * dx + dy * dy) ** 0.5
        worst, at = tolerance, None
        for i in range(first + 1, last):
            x, y = points[i][:2]
            gap = abs(dx * (y - y0) - dy * (x - x0)) / norm if norm else ((x - x0) ** 2 + (y - y0) ** 2) ** 0.5
            if gap > worst:
                worst, at = gap, i
        if at is not None:
            keep.add(at)
            stack += [(first, at), (at, last)]
    return [points[i] for i in sorted(keep)]


class Sheet:
    """Collects SVG elements in millimetres; ``x`` on the page is ``y`` on the table and the other way round.

    Balls that are ``unsure`` bear the mark of a doubtful number.
    """

    def __init__(self, table: Table, unsure: Container[int] = ()) -> None:
        self.table = table
        self.unsure = unsure
        self.parts: list[str] = []

    def place(self, at: Sequence[float]) -> tuple[float, float]:
        """A point in metres on the table as ``x, y`` in millimetres on the page."""
        return 1000 * at[1], 1000 * at[0]

    def add(self, *parts: str) -> None:
        self.parts += parts

    def line(self, points: Iterable[Sequence[float]], css: str, extra: str = "") -> None:
        path = " ".join(f"{x:.0f},{y:.0f}" for x, y in (self.place(p) for p in points))
        self.add(f'<polyline class="{css}" points="{path}"{extra}/>')

    def ball(self, ball: int, at: Sequence[float], scale: float = 1.0) -> None:
        size = 1000 * self.table.ball_m * scale
        parts = [_use(f"ball-{ball}", size)]
        if ball in self.unsure:
            parts.append(_use("ball-doubt", 1.5 * size))
        self.mark(at, "tv-ball", *parts)

    def mark(self, at: Sequence[float], css: str, *parts: str) -> None:
        """Something of its own size at a point: the style sheet may draw it larger on a phone."""
        x, y = self.place(at)
        self.add(f'<g transform="translate({x:.0f} {y:.0f})"><g class="{css}">', *parts, "</g></g>")


def _use(name: str, size: float) -> str:
    """A symbol in its middle."""
    return f'<use href="#{name}" x="{-size / 2:.0f}" y="{-size / 2:.0f}" width="{size:.0f}" height="{size:.0f}"/>'


def bare_table(sheet: Sheet) -> None:
    """Rail caps, cloth, cushions, pockets, sights, strings and spots."""
    table = sheet.table
    length, width = 1000 * table.length_m, 1000 * table.width_m
    r = RIM_MM
    sheet.add(
        f'<rect class="tv-wood" x="{-r}" y="{-r}" width="{length + 2 * r:.0f}" height="{width + 2 * r:.0f}" rx="70"/>',
        f'<rect class="tv-bed" x="-52" y="-52" width="{length + 104:.0f}" height="{width + 104:.0f}"/>',
        f'<rect class="tv-cloth" x="0" y="0" width="{length:.0f}" height="{width:.0f}"/>',
    )
    for y in (table.head_string, table.foot_string):
        sheet.line([(0, y), (table.width_m, y)], "tv-string")
    for spot in (table.foot_spot, table.head_spot):
        x, y = sheet.place(spot)
        sheet.add(f'<circle class="tv-spot" cx="{x:.0f}" cy="{y:.0f}" r="7"/>')
    for sight in table.sights:
        x, y = sheet.place(sight)
        sheet.add(f'<circle class="tv-sight" cx="{x:.0f}" cy="{y:.0f}" r="8"/>')
    for pocket in table.pockets.values():
        x, y = sheet.place(pocket.centre)
        sheet.add(f'<circle class="tv-pocket" cx="{x:.0f}" cy="{y:.0f}" r="{1000 * pocket.radius + 8:.0f}"/>')


def rail_mark(sheet: Sheet, at: Sequence[float], rail: str) -> None:
    """A short bar on the nose where a ball met it."""
    x, y = sheet.place(at)
    reach = 1000 * sheet.table.ball_radius
    dx, dy = {"head": (-1, 0), "foot": (1, 0), "left": (0, -1), "right": (0, 1)}[rail]
    px, py = x + dx * reach, y + dy * reach
    sheet.add(
        f'<path class="tv-rail" d="M{px - 34 * dy:.0f} {py - 34 * dx:.0f}L{px + 34 * dy:.0f} {py + 34 * dx:.0f}"/>'
    )


def numbered_events(shot: Mapping[str, Any]) -> list[tuple[int | None, Mapping[str, Any]]]:
    """Events that are said (p at least 0.5) in time order; contacts and pockets carry their number in the picture."""
    said = sorted((e for e in shot["events"] if e.get("p", 1) >= 0.5), key=lambda e: e["t_s"])
    rows: list[tuple[int | None, Mapping[str, Any]]] = []
    number = 0
    for event in said:
        if event["kind"] == "contact":
            number += 1
            rows.append((number, event))
        else:
            rows.append((None, event))
    return rows


def contact_marks(sheet: Sheet, shot: Mapping[str, Any]) -> None:
    """Numbered discs where balls met, moved apart where they would cover each other."""
    rows = [(n, e) for n, e in numbered_events(shot) if n is not None and e.get("at")]
    if len(rows) > NUMBERED:
        for _, event in rows[1:]:
            x, y = sheet.place(event["at"])
            sheet.add(f'<circle class="tv-touch" cx="{x:.0f}" cy="{y:.0f}" r="9"/>')
        rows = rows[:1]
    taken: list[tuple[float, float]] = []
    width = 1000 * sheet.table.width_m
    for number, event in rows:
        x, y = sheet.place(event["at"])
        side = -1 if y > width / 2 else 1
        cx, cy = x + 52, y + side * 62
        while any((cx - a) ** 2 + (cy - b) ** 2 < 84**2 for a, b in taken):
            cx += 84
        taken.append((cx, cy))
        sheet.add(
            f'<path class="tv-lead" d="M{x:.0f} {y:.0f}L{cx:.0f} {cy:.0f}"/>',
            f'<circle class="tv-touch" cx="{x:.0f}" cy="{y:.0f}" r="9"/>',
        )
        sheet.mark(
            (cy / 1000, cx / 1000),
            "tv-disc",
            '<circle class="tv-number" r="38"/>',
            f'<text class="tv-numeral" y="17">{number}</text>',
        )


def moved_paths(shot: Mapping[str, Any], table: Table) -> dict[int, list[Sequence[float]]]:
    """Simplified lines (metres) of the balls that moved, through the places where they met a rail, into their pocket."""
    paths: Mapping[str, Sequence[Sequence[float]]] = shot.get("paths") or {}
    start, end = shot["start"], shot.get("end") or {}
    said = [event for event in shot["events"] if event.get("p", 1) >= 0.5]
    moved: dict[int, list[Sequence[float]]] = {}
    for ball in sorted({int(b) for b in start} | {int(b) for b in paths}):
        timed = [tuple(row) for row in paths.get(str(ball), ())]
        if timed:
            # Between two frames a rail would be cut off as a corner; the event knows where the ball was.
            timed += [(e["t_s"], *e["at"]) for e in said if e["kind"] == "rail" and e["ball"] == ball and e.get("at")]
        rows: list[Sequence[float]] = [row[1:] for row in sorted(timed)]
        if not rows and str(ball) in start and str(ball) in end:
            rows = [start[str(ball)], end[str(ball)]]
        if len(rows) < 2 or max(abs(x - rows[0][0]) + abs(y - rows[0][1]) for x, y in rows) <= table.ball_m / 4:
            continue
        fell = next((e["pocket"] for e in said if e["kind"] == "pocket" and e["ball"] == ball), None)
        if fell:
            rows.append(table.pockets[fell].centre)
        moved[ball] = simplify(rows, TOLERANCE_MM / 1000)
    return moved


def top_view(shot: Mapping[str, Any], table: Table, *, title: str, ident: str) -> str:
    """One shot from above.

    Parameters
    ----------
    shot : as in ``match.json``, with ``paths`` where they are known (straight lines from start to end where not).
    title : what a screen reader says; escaped here.
    ident : unique in the page, for the title's reference.

    Returns
    -------
    An ``<svg>`` element that uses the page's ball symbols (:func:`symbols`) and its style sheet.
    """
    sheet = Sheet(table, doubtful_numbers(shot))
    bare_table(sheet)
    start, end = shot["start"], shot.get("end") or {}
    moved = moved_paths(shot, table)
    for ball in start:
        if int(ball) not in moved:
            sheet.ball(int(ball), start[ball], 1.25)
    for rows in moved.values():
        sheet.line(rows, "tv-casing")
    for ball, rows in sorted(moved.items(), reverse=True):
        dashed = ' stroke-dasharray="44 20"' if ball > 8 else ""
        sheet.line(rows, "tv-path", f' stroke="{colour(ball)}"{dashed}')
    for event in shot["events"]:
        if event["kind"] == "rail" and event.get("at") and event.get("p", 1) >= 0.5:
            rail_mark(sheet, event["at"], event["rail"])
    for ball, rows in moved.items():
        x, y = sheet.place(rows[0])
        sheet.add(
            f'<circle class="tv-start" cx="{x:.0f}" cy="{y:.0f}" r="{500 * table.ball_m:.0f}" stroke="{colour(ball)}"/>'
        )
    gone = {e["ball"]: e["pocket"] for e in shot["events"] if e["kind"] == "pocket" and e.get("p", 1) >= 0.5}
    in_pocket: dict[str, int] = {}
    for ball, rows in sorted(moved.items(), reverse=True):
        if ball not in gone:
            sheet.ball(ball, end.get(str(ball), rows[-1]), 1.25)
    for ball, name in gone.items():
        pocket = table.pockets[name]
        k = in_pocket[name] = in_pocket.get(name, -1) + 1
        toward_middle = 1 if pocket.centre[1] < table.centre_string else -1
        sheet.ball(ball, (pocket.centre[0], pocket.centre[1] + toward_middle * k * table.ball_m * 1.1), 1.25)
    contact_marks(sheet, shot)
    length, width = 1000 * table.length_m, 1000 * table.width_m
    box = f"{-RIM_MM} {-RIM_MM} {length + 2 * RIM_MM:.0f} {width + 2 * RIM_MM:.0f}"
    return (
        f'<svg class="top-view" viewBox="{box}" role="img" aria-labelledby="{ident}-title">'
        f'<title id="{ident}-title">{escape(title)}</title>{"".join(sheet.parts)}</svg>'
    )


#: How the parts of a top view look; a page puts it into its style sheet.
STYLE = f"""
.top-view {{ display: block; width: 100%; height: auto; }}
@media screen and (max-width: 40rem) {{
  .tv-ball {{ transform: scale(1.5); }} .tv-disc {{ transform: scale(1.7); }}
  .tv-path {{ stroke-width: 16 !important; }} .tv-casing {{ stroke-width: 27 !important; }} .tv-start {{ stroke-width: 14 !important; }}
}}
.tv-wood {{ fill: #4a3023; }}
.tv-bed {{ fill: #0b5a4e; }}
.tv-cloth {{ fill: #14786a; }}
.tv-pocket {{ fill: #0d0f0f; }}
.tv-sight {{ fill: #e9dfc8; }}
.tv-spot {{ fill: #fff; fill-opacity: .45; }}
.tv-string {{ fill: none; stroke: #fff; stroke-opacity: .22; stroke-width: 4; stroke-dasharray: 14 14; }}
.tv-casing {{ fill: none; stroke: #06352e; stroke-opacity: .55; stroke-width: 20; stroke-linejoin: round; stroke-linecap: round; }}
.tv-path {{ fill: none; stroke-width: 11; stroke-linejoin: round; stroke-linecap: round; }}
.tv-start {{ fill: none; stroke-width: 9; }}
.tv-rail {{ fill: none; stroke: #f2e6c4; stroke-width: 13; stroke-linecap: round; }}
.tv-lead {{ fill: none; stroke: #fff; stroke-width: 5; stroke-opacity: .8; }}
.tv-touch {{ fill: #fff; }}
.tv-number {{ fill: {IVORY}; stroke: #17181a; stroke-width: 5; }}
.tv-numeral {{ font: 700 48px system-ui, sans-serif; text-anchor: middle; fill: #17181a; }}
"""
