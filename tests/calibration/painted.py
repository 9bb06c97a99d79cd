"""Simple painted tables for tests: flat colours, projected through a known camera, no renderer needed."""

from __future__ import annotations

from dataclasses import dataclass

import cv2
import numpy as np
import numpy.typing as npt

from calibration.camera import Camera, Floats
from calibration.table import Table

Picture = npt.NDArray[np.uint8]
RAIL_TOP = 0.040
CUSHION = 0.05
RAIL = 0.135


@dataclass(frozen=True, slots=True)
class Paint:
    """Colours (BGR) of what is painted."""

    cloth: tuple[int, int, int] = (170, 110, 30)
    rail: tuple[int, int, int] = (40, 45, 50)
    floor: tuple[int, int, int] = (95, 105, 115)
    sight: tuple[int, int, int] = (235, 235, 235)


def rectangle(table: Table, margin: float) -> Floats:
    w, length, m = table.width_m, table.length_m, margin
    return np.array([[-m, -m], [w + m, -m], [w + m, length + m], [-m, length + m]])


def paint(
    camera: Camera,
    table: Table,
    colours: Paint | None = None,
    noise: float = 2.0,
    seed: int = 0,
    top: float = RAIL_TOP,
) -> Picture:
    """(h, w, 3) picture of a table: floor, rails with sights, cushions lighter than the bed, shadow, pockets.

    ``top`` is how high the rails, their sights and the cloth's edge are, metres.
    """
    colours = colours or Paint()
    factor = 4  # filled polygons grow by half a pixel, which must not matter
    big = camera.scaled(factor)
    out = np.full((big.height, big.width, 3), colours.floor, dtype=np.uint8)

    def fill(points: Floats, height: float, colour: npt.ArrayLike) -> None:
        steps = np.linspace(0, 1, 24, endpoint=False)[:, None]
        dense = np.concatenate([a + steps * (b - a) for a, b in zip(points, np.roll(points, -1, axis=0), strict=True)])
        pixels = (big.project(dense, height) * 16).round().astype(np.int32)
        cv2.fillPoly(out, [pixels], np.asarray(colour, dtype=np.float64).tolist(), cv2.LINE_AA, 4)

    cloth = np.array(colours.cloth, dtype=np.float64)
    fill(rectangle(table, CUSHION + RAIL), top, colours.rail)
    fill(rectangle(table, CUSHION), top, cloth * 0.93)
    fill(rectangle(table, 0.0), table.nose_height, cloth * 0.55)  # the cushions' faces, in shade
    fill(rectangle(table, 0.0), 0.0, cloth * 0.8)
    fill(rectangle(table, -0.012), 0.0, cloth)
    # near rails and noses hide the bed behind them: paint rails' and cushions' tops again as four strips
    for colour, (out_m, out_z), (in_m, in_z) in (
        (np.array(colours.rail), (CUSHION + RAIL, top), (CUSHION, top)),
        (cloth * 0.93, (CUSHION, top), (0.0, table.nose_height)),
    ):
        for outer, inner in zip(_sides(rectangle(table, out_m)), _sides(rectangle(table, in_m)), strict=True):
            steps = np.linspace(0, 1, 40)[:, None]
            back = np.column_stack([outer[0] + steps * (outer[1] - outer[0]), np.full(40, out_z)])
            nose = np.column_stack([inner[1] + steps * (inner[0] - inner[1]), np.full(40, in_z)])
            pixels = (big.project(np.concatenate([back, nose])) * 16).round().astype(np.int32)
            cv2.fillPoly(out, [pixels], colour.tolist(), cv2.LINE_AA, 4)
    turn = np.linspace(0, 2 * np.pi, 40, endpoint=False)
    for pocket in table.pockets.values():
        fill(np.column_stack([np.cos(turn), np.sin(turn)]) * pocket.radius + pocket.centre, top, (12, 12, 14))
    for place in table.sights:
        fill(np.column_stack([np.cos(turn), np.sin(turn)]) * 0.007 + place, top, colours.sight)
    small = cv2.resize(out, (camera.width, camera.height), interpolation=cv2.INTER_AREA).astype(np.float64)
    rng = np.random.default_rng(seed)
    small += rng.normal(0, noise, small.shape)
    return np.asarray(np.clip(small, 0, 255), dtype=np.uint8)


def _sides(ring: Floats) -> list[Floats]:
    return [ring[[k, (k + 1) % 4]] for k in range(4)]


def error_mm(found: Camera, true: Camera, table: Table) -> Floats:
    """(n,) how far places on the bed come out from where they are, millimetres, the table turned as fits best."""
    x, y = np.meshgrid(np.linspace(0.1, table.width_m - 0.1, 6), np.linspace(0.1, table.length_m - 0.1, 10))
    places = np.column_stack([x.ravel(), y.ravel()])
    seen = found.unproject(true.project(places, table.ball_radius), table.ball_radius)
    turned = np.array([table.width_m, table.length_m]) - seen
    errors = [np.linalg.norm(option - places, axis=1) * 1e3 for option in (seen, turned)]
    return np.asarray(min(errors, key=lambda e: float(np.median(e))))
