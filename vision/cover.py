"""What hides parts of the table: arms, players, cues, told from cloth by a background learnt while the table is clear."""

from __future__ import annotations

import cv2
import numpy as np
import numpy.typing as npt

from calibration.result import Calibration

Bytes = npt.NDArray[np.uint8]
Bools = npt.NDArray[np.bool_]
CELL_M = 0.02
LEAST_AREA_M2 = 0.010  # about four balls: smaller things hide little and may be balls not yet found


class Cover:
    """Cells of the table that something covers.

    Parameters
    ----------
    calibration : where the table is in the picture.
    """

    def __init__(self, calibration: Calibration) -> None:
        table, camera = calibration.table, calibration.camera
        self._radius = table.ball_radius
        self._cols = max(8, round(table.width_m / CELL_M))
        self._rows = max(16, round(table.length_m / CELL_M))
        x = (np.arange(self._cols) + 0.5) * table.width_m / self._cols
        y = (np.arange(self._rows) + 0.5) * table.length_m / self._rows
        self._xy = np.stack(np.meshgrid(x, y), axis=2)
        pixels = camera.project(self._xy.reshape(-1, 2), 0.0).reshape(self._rows, self._cols, 2)
        self._map = np.nan_to_num(pixels, nan=-1e4).astype(np.float32)
        # A ball stands in front of the cloth behind it: how far its top is shifted over the cloth, per metre of height.
        top = camera.unproject(camera.project(self._xy.reshape(-1, 2), table.ball_m), 0.0)
        self._lean = np.nan_to_num(top - self._xy.reshape(-1, 2)).reshape(self._rows, self._cols, 2)
        self._background: npt.NDArray[np.float32] | None = None
        self._weight = np.zeros((self._rows, self._cols), np.float32)
        self.outside: Bools = ~(
            (pixels[..., 0] >= 0)
            & (pixels[..., 0] < camera.width)
            & (pixels[..., 1] >= 0)
            & (pixels[..., 1] < camera.height)
        )

    def _colours(self, image: Bytes) -> npt.NDArray[np.float32]:
        cells = cv2.remap(image, self._map, None, cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE)
        return np.asarray(cv2.cvtColor(cells, cv2.COLOR_BGR2LAB), np.float32)

    def _balls(self, xy: npt.NDArray[np.float64]) -> Bools:
        mask = np.zeros((self._rows, self._cols), np.uint8)
        size = np.array(
            [
                self._cols / (self._xy[-1, -1, 0] + self._xy[0, 0, 0]),
                self._rows / (self._xy[-1, -1, 1] + self._xy[0, 0, 1]),
            ]
        )
        for centre in xy:
            col, row = np.clip((centre * size).astype(int), 0, [self._cols - 1, self._rows - 1])
            tip = centre + self._lean[row, col]
            a, b = (np.round(p * size - 0.5).astype(int) for p in (centre, tip))
            cv2.line(mask, tuple(map(int, a)), tuple(map(int, b)), 1, int(np.ceil(3.4 * self._radius / CELL_M)))
        return mask.astype(bool)

    def hidden(self, image: Bytes, balls: npt.NDArray[np.float64], *, still: bool) -> Bools:
        """(rows, cols) cells that something other than a ball covers, or that lie outside the picture.

        Parameters
        ----------
        image : (height, width, 3) BGR.
        balls : (n, 2) centres of the balls found, metres.
        still : nothing moves, so what is seen may be learnt as the clear table.
        """
        colours = self._colours(image)
        balls_here = self._balls(balls)
        if self._background is None:
            blurred = np.stack(
                [cv2.medianBlur(np.ascontiguousarray(colours[..., k]).astype(np.uint8), 5) for k in range(3)], axis=2
            )
            middle = np.median(colours.reshape(-1, 3), axis=0)
            cloth = np.abs(blurred[..., 1:].astype(np.float32) - middle[1:]).max(axis=2) < 22
            self._background = np.where(cloth[..., None], blurred.astype(np.float32), middle).astype(np.float32)
        difference = np.abs(colours - self._background)
        odd = (difference[..., 1:].max(axis=2) > 16) | (difference[..., 0] > 55)
        odd &= ~balls_here
        opened = cv2.morphologyEx(odd.astype(np.uint8), cv2.MORPH_OPEN, np.ones((3, 3), np.uint8))
        count, labels, stats, _ = cv2.connectedComponentsWithStats(opened, connectivity=8)
        least = LEAST_AREA_M2 / CELL_M**2
        big = np.array([k > 0 and stats[k, cv2.CC_STAT_AREA] >= least for k in range(count)])
        covered = cv2.dilate(big[labels].astype(np.uint8), np.ones((5, 5), np.uint8)).astype(bool)
        if still and not covered.any():
            clear = ~(balls_here | odd)
            self._background[clear] += 0.05 * (colours[clear] - self._background[clear])
        return np.asarray(covered | self.outside, np.bool_)
