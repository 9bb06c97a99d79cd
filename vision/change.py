"""Where anything moves: a cheap test on the table's brightness that decides whether a frame needs the detector."""

from __future__ import annotations

import cv2
import numpy as np
import numpy.typing as npt

from calibration.result import Calibration
from calibration.table import CORNERS

Bytes = npt.NDArray[np.uint8]
MARGIN_M = 0.09  # beyond the noses: pockets and the rail's inner half
SAMPLES_ACROSS = 640


def table_outline(calibration: Calibration, margin: float = MARGIN_M) -> npt.NDArray[np.float64]:
    """(n, 2) pixels around the playing surface, ``margin`` metres beyond the noses, side by side with lens bow."""
    w, length = calibration.table.width_m, calibration.table.length_m
    low, x1, y1 = -margin, w + margin, length + margin
    steps = np.linspace(0, 1, 12, endpoint=False)
    turn = [(low, low), (x1, low), (x1, y1), (low, y1)]
    points = [
        np.array(a) + steps[:, None] * (np.array(b) - np.array(a))
        for a, b in zip(turn, turn[1:] + turn[:1], strict=True)
    ]
    pixels = calibration.camera.project(np.concatenate(points), calibration.table.nose_height)
    return pixels[np.isfinite(pixels).all(axis=1)]


def table_region(calibration: Calibration, margin: float = 0.12) -> tuple[int, int, int, int]:
    """x0, y0, x1, y1 in pixels of the rectangle that holds the table and the balls on it, inside the picture."""
    camera = calibration.camera
    pixels = table_outline(calibration, margin)
    corners = [calibration.table.corners[name] for name in CORNERS]
    tops = camera.project(corners, calibration.table.ball_m)
    both = np.concatenate([pixels, tops])
    x0, y0 = np.floor(both.min(axis=0)).astype(int)
    x1, y1 = np.ceil(both.max(axis=0)).astype(int)
    return max(0, x0), max(0, y0), min(camera.width, x1 + 1), min(camera.height, y1 + 1)


class ChangeGate:
    """Compares the table's brightness with the last picture that was looked at.

    Slow balls add up against that reference, so they are seen too. The noise of the source is learnt from still
    pictures, so that a grainy camera does not look like play.

    Parameters
    ----------
    calibration : where the table is in the picture.
    """

    def __init__(self, calibration: Calibration) -> None:
        self.region = table_region(calibration)
        x0, y0, x1, y1 = self.region
        self._step = max(1, round((x1 - x0) / SAMPLES_ACROSS))
        polygon = (table_outline(calibration) - (x0, y0)) / self._step
        height, width = len(range(y0, y1, self._step)), len(range(x0, x1, self._step))
        self._mask = np.zeros((height, width), np.uint8)
        cv2.fillPoly(self._mask, [np.round(polygon).astype(np.int32)], 255)
        radius = float(
            np.median(calibration.camera.ball_radius_px([calibration.table.centre_spot], calibration.table.ball_radius))
        )
        # A ball that moves by a pixel changes a thin crescent of samples at its rim.
        self._least = max(3, round(0.8 * radius / self._step))
        self._noise = 2.0
        self._reference: Bytes | None = None

    def samples(self, luma: Bytes) -> Bytes:
        """The table's part of a picture, every ``step``-th pixel."""
        x0, y0, x1, y1 = self.region
        return np.ascontiguousarray(luma[y0 : y1 : self._step, x0 : x1 : self._step])

    def changed(self, samples: Bytes) -> bool:
        """Whether anything on the table differs from the reference picture."""
        if self._reference is None:
            return True
        difference = cv2.absdiff(samples, self._reference)
        level = max(9.0, 5.0 * self._noise)
        _, hot = cv2.threshold(difference, level, 255, cv2.THRESH_BINARY)
        hot = cv2.bitwise_and(hot, self._mask)
        count = cv2.countNonZero(hot)
        if count < self._least:
            mean, _ = cv2.meanStdDev(difference, mask=self._mask)
            self._noise = 0.95 * self._noise + 0.05 * max(1.0, float(mean[0, 0]) * 1.25)
            return False
        # Grain is spread out, a ball's rim is not: ask for a place where samples changed together.
        together = cv2.boxFilter(hot, cv2.CV_32F, (7, 7), normalize=False)
        return float(together.max()) >= 255 * min(self._least, 6)

    def look(self, samples: Bytes) -> None:
        """Make this picture the reference."""
        self._reference = samples
