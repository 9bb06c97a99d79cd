"""Flat pictures of a table for tests that need no renderer: cloth, rails, balls as plain outlines."""

from __future__ import annotations

import cv2
import numpy as np
import numpy.typing as npt

from calibration.camera import Camera
from calibration.result import Calibration
from calibration.table import Table

CLOTH = (120, 90, 20)
COLOURS = [
    (235, 240, 240),
    (30, 190, 230),
    (150, 60, 20),
    (30, 30, 190),
    (90, 30, 80),
    (20, 90, 230),
    (40, 100, 20),
    (30, 40, 110),
]


def overhead(width: int = 960, height: int = 540) -> Calibration:
    """A 9-ft table seen from straight above, head to the left."""
    camera = Camera.looking(
        [0.635, 1.27, 3.6], [0.635, 1.27, 0.0], width=width, height=height, focal=1.25 * width, roll=np.pi / 2
    )
    return Calibration(Table(), camera, 0.3)


def oblique(width: int = 960, height: int = 540) -> Calibration:
    """A 9-ft table seen from its head end, 35 degrees above the horizon."""
    camera = Camera.looking([0.635, -1.9, 2.4], [0.635, 1.15, 0.0], width=width, height=height, focal=0.95 * width)
    return Calibration(Table(), camera, 0.3)


def draw(calibration: Calibration, balls: dict[int, tuple[float, float]]) -> npt.NDArray[np.uint8]:
    """(height, width, 3) BGR picture."""
    table, camera = calibration.table, calibration.camera
    image = np.full((camera.height, camera.width, 3), 45, np.uint8)
    for margin, height, colour in (
        (0.14, table.nose_height, (30, 50, 80)),
        (0.05, table.nose_height, (100, 74, 14)),
        (0.0, 0.0, CLOTH),
    ):
        w, length = table.width_m + margin, table.length_m + margin
        corners = camera.project([(-margin, -margin), (w, -margin), (w, length), (-margin, length)], height)
        cv2.fillPoly(image, [np.round(corners * 16).astype(np.int32)], colour, cv2.LINE_AA, 4)
    for ball, at in balls.items():
        outline = camera.outline(at, table.ball_radius)
        cv2.fillPoly(image, [np.round(outline * 16).astype(np.int32)], COLOURS[ball % 8], cv2.LINE_AA, 4)
    return image


def grain(image: npt.NDArray[np.uint8], seed: int, sigma: float = 2.0) -> npt.NDArray[np.uint8]:
    """The picture with sensor noise."""
    noise = np.random.default_rng(seed).normal(0, sigma, image.shape)
    return np.clip(image + noise, 0, 255).astype(np.uint8)
