"""Finds the diamonds (sights) on the rails: small marks, equally spaced, that pin where the nose lines meet."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import cv2
import numpy as np
import numpy.typing as npt

from calibration.camera import Camera, Floats
from calibration.cloth import Picture
from calibration.lens import USUAL, Lens
from calibration.strips import RAIL_TOP_M, cut, rail_length, rail_point
from calibration.table import RAILS, Table

FAINT = 11.0  # strength under which a mark may well be the rail's own texture
BLOB_M = 0.007  # half the size of a sight, roughly: round ones are 12 mm wide, diamonds 11 by 25 mm
BAND_M = (-0.18, -0.03)  # where sights are looked for, metres inside the nose line (negative: on the rail)


@dataclass(frozen=True, slots=True)
class Sight:
    """One diamond in the picture.

    Parameters
    ----------
    rail : the rail it lies on.
    along_m : where it belongs on a table of the size assumed, metres along the rail.
    pixel : (2,) its centre.
    strength : of its contrast, in standard deviations of the rail's texture.
    """

    rail: str
    along_m: float
    pixel: Floats
    strength: float


@dataclass(frozen=True)
class Planes:
    """A picture with the planes in which diamonds are looked for, each made when it is first asked for.

    Parameters
    ----------
    picture : (h, w, 3) uint8 BGR.
    lens : what is known of the lens that took it.
    """

    picture: Picture
    lens: Lens = USUAL

    @cached_property
    def grey(self) -> Picture:
        """(h, w) uint8 brightness."""
        return np.asarray(cv2.cvtColor(self.picture, cv2.COLOR_BGR2GRAY), dtype=np.uint8)

    @cached_property
    def yellow(self) -> Picture:
        """(h, w) uint8: how yellow, against blue; CIE b* about 128. Brass or ivory on white shows by it alone."""
        return np.ascontiguousarray(cv2.cvtColor(self.picture, cv2.COLOR_BGR2LAB)[..., 2], dtype=np.uint8)


def find_sights(
    planes: Planes,
    camera: Camera,
    table: Table,
    window_m: float = 0.08,
    top_m: float = RAIL_TOP_M,
    by_colour: bool = True,
) -> list[Sight]:
    """Diamonds on all rails.

    Parameters
    ----------
    planes : the picture.
    camera, table : as known so far.
    window_m : how far a sight may lie from where the camera puts it, along the rail.
    top_m : height of the rails' tops above the cloth, metres.
    by_colour : whether rails on which brightness shows no clear diamonds are looked at by colour.
    """
    found: list[Sight] = []
    for rail in RAILS:
        row = _on_rail(planes.grey, camera, table, rail, window_m, top_m)
        if by_colour and (not row or float(np.mean([x.strength for x in row])) < 0.6 * FAINT):
            row = max(row, _on_rail(planes.yellow, camera, table, rail, window_m, top_m), key=_weight)
        found += row
    return found


def _weight(row: list[Sight]) -> float:
    return sum(min(x.strength, 25.0) for x in row)


def marks(table: Table, rail: str) -> Floats:
    """Places of the sights along a rail, metres."""
    length = rail_length(table, rail)
    if rail in ("head", "foot"):
        return length * np.array([1, 2, 3]) / 4
    return length * np.array([1, 2, 3, 5, 6, 7]) / 8


def _on_rail(image: Picture, camera: Camera, table: Table, rail: str, window_m: float, top_m: float) -> list[Sight]:
    length = rail_length(table, rail)
    ends = camera.project(rail_point(table, rail, np.array([0.1, length - 0.1]), -0.09), top_m)
    extent = float(np.linalg.norm(ends[1] - ends[0]))
    if not np.isfinite(extent) or extent < 60:
        return []
    # while the place is only roughly known there is no need to look finely at a large picture
    fine = float(np.clip(extent / 700, 0.9, 1.6)) if window_m > 0.05 else 0.9
    s = np.linspace(0.02, length - 0.02, int(np.clip(extent / fine, 200, 2200)))
    strip = cut(image, camera, table, rail, s, BAND_M, top_m, fine=fine)
    light = np.ascontiguousarray(strip.lab[..., 0])
    ds, dd = float(s[1] - s[0]), float(strip.d[1] - strip.d[0])
    px_s, px_d = extent / len(s), max(strip.step_px, 0.05)
    sigma_s = max(BLOB_M / ds, 0.8 / px_s)
    sigma_d = max(BLOB_M / dd, 0.8 / px_d)
    inner = cv2.GaussianBlur(light, (0, 0), sigmaX=sigma_d, sigmaY=sigma_s)
    outer = cv2.GaussianBlur(light, (0, 0), sigmaX=sigma_d * 2.2, sigmaY=sigma_s * 2.2)
    blob = inner - outer
    blob[~strip.seen] = 0
    # a line along the rail answers everywhere; a sight is what stands out from its own line
    blob -= np.median(np.ascontiguousarray(blob.T), axis=1)
    noise = max(float(np.median(np.abs(blob))) * 1.48, 0.25)
    best: tuple[float, list[tuple[float, float, float, float]]] = (0.0, [])
    for sign in (1.0, -1.0):
        chosen = _row(sign * blob / noise, s, strip.d, marks(table, rail), window_m, ds, dd, px_s)
        score = sum(min(c[3], 25.0) for c in chosen)
        if score > best[0]:
            best = (score, chosen)
    if not best[1]:
        return []
    places = np.array([(c[1], c[2]) for c in best[1]])
    pixels = camera.project(rail_point(table, rail, places[:, 0], places[:, 1]), top_m)
    return [Sight(rail, c[0], px, c[3]) for c, px in zip(best[1], pixels, strict=True)]


def _row(
    response: npt.NDArray[np.float32],
    s: Floats,
    d: Floats,
    expected: Floats,
    window_m: float,
    ds: float,
    dd: float,
    px_s: float,
) -> list[tuple[float, float, float, float]]:
    """The most convincing equally spaced row of marks: (expected s, s, d, strength) each."""
    kernel = np.ones((2 * max(1, round(0.02 / ds)) + 1, 2 * max(1, round(0.012 / dd)) + 1), np.uint8)
    top = cv2.dilate(response, kernel)
    rows, cols = np.nonzero((response >= top) & (response > 5.0))
    peaks = []
    for i, j in zip(rows, cols, strict=True):
        if 1 <= i < len(s) - 1 and 1 <= j < len(d) - 1:
            si = s[i] + ds * _vertex(response[i - 1, j], response[i, j], response[i + 1, j])
            dj = d[j] + dd * _vertex(response[i, j - 1], response[i, j], response[i, j + 1])
            peaks.append((si, dj, float(response[i, j])))
    slots = []
    for mark in expected:
        near = sorted((p for p in peaks if abs(p[0] - mark) < window_m), key=lambda p: -p[2])[:4]
        slots.append(near)
    tolerance = max(0.006, 1.3 * ds / px_s)
    need = 3 if len(expected) > 3 else 2
    best: tuple[float, list[tuple[float, float, float, float]]] = (0.0, [])
    count = len(expected)
    for k in range(count):
        for m in range(k + 1, count):
            for p in slots[k]:
                for q in slots[m]:
                    rate = (q[0] - p[0]) / (expected[m] - expected[k])
                    slope = (q[1] - p[1]) / (expected[m] - expected[k])
                    if abs(rate - 1) > max(0.05, 1.25 * window_m) or abs(slope) > max(0.03, 0.6 * window_m):
                        continue
                    row = []
                    for n in range(count):
                        at = p[0] + rate * (expected[n] - expected[k])
                        off = p[1] + slope * (expected[n] - expected[k])
                        close = [c for c in slots[n] if abs(c[0] - at) < tolerance and abs(c[1] - off) < 0.011]
                        if close:
                            c = max(close, key=lambda c: c[2])
                            row.append((float(expected[n]), c[0], c[1], c[2]))
                    # faint marks must be more to be a row
                    faint = len(row) > 0 and float(np.mean([c[3] for c in row])) < FAINT
                    enough = len(row) >= need + (1 if faint else 0)
                    score = sum(min(c[3], 25.0) for c in row) * (1 if enough else 0)
                    if score > best[0]:
                        best = (score, row)
    return best[1]


def _vertex(a: float, b: float, c: float) -> float:
    """Offset, in samples, of the vertex of a parabola through three equally spaced values."""
    bend = a - 2 * b + c
    return 0.0 if bend >= 0 else float(np.clip((a - c) / (2 * bend), -0.6, 0.6))
