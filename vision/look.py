"""A long look at one picture: all of it first, then closer at where the balls lie.

Without a calibration nothing says where the table is. A first look at the whole picture finds most balls; the rectangle
around them is then looked at again, larger.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from vision.detections import Detections
from vision.seer import Seer

SURE = 0.4  # balls of a first look that say where the table is
CLOSER = 1.25  # gain in scale that is worth a second look


class Looker:
    """Looks at single pictures.

    Parameters
    ----------
    seer : detector, refinement and identity.
    """

    def __init__(self, seer: Seer) -> None:
        self.seer = seer

    def __call__(self, image: npt.NDArray[np.uint8]) -> Detections:
        """Balls of a BGR picture."""
        first = self.seer.look(image)
        region = self._around(first, image.shape)
        if region is None:
            return first
        second = self.seer.look(image, region)
        # what lies outside the second view keeps what the first saw
        x0, y0, x1, y1 = region
        c = first.centre
        outside = (c[:, 0] < x0) | (c[:, 0] > x1) | (c[:, 1] < y0) | (c[:, 1] > y1)
        return Detections.merge([second, first[outside]])

    def _around(self, found: Detections, shape: tuple[int, ...]) -> tuple[int, int, int, int] | None:
        sure = found[found.score > SURE]
        height, width = shape[:2]
        if len(sure) < 2:
            return None
        reach = 3.0 * float(np.median(sure.radius)) + 0.06 * width
        low = np.maximum(sure.centre.min(axis=0) - reach, 0).astype(int)
        high = np.minimum(sure.centre.max(axis=0) + reach + 1, (width, height)).astype(int)
        gain = np.sqrt(width * height / max(float(np.prod(high - low)), 1.0))
        small = float(np.median(sure.radius)) * np.sqrt(self.seer.detect.pixels / (width * height))
        if gain < CLOSER or small > 16:
            return None
        return int(low[0]), int(low[1]), int(high[0]), int(high[1])
