"""A long look at one picture: all of it first, then again at where the balls lie, at the scale that suits their size.

Without a calibration nothing says where the table is. A first look at the whole picture finds most balls; where they are
smaller or larger than the network likes them, the rectangle around them is looked at again.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from vision.detections import Detections
from vision.seer import Seer

SURE = 0.4  # balls of a first look that say where the table is
FINE = (8.0, 20.0)  # radius at the network's input, pixels, at which one look is enough
AIM = 12.0  # radius that a second look is scaled for


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
        sure = first[first.score > SURE]
        if len(sure) < 2:
            return first
        height, width = image.shape[:2]
        pixels = self.seer.detect.pixels
        radius = float(np.median(sure.radius))
        if FINE[0] <= radius * np.sqrt(pixels / (width * height)) <= FINE[1]:
            return first
        reach = 3.0 * radius + 0.06 * width
        low = np.maximum(sure.centre.min(axis=0) - reach, 0).astype(int)
        high = np.minimum(sure.centre.max(axis=0) + reach + 1, (width, height)).astype(int)
        region = (int(low[0]), int(low[1]), int(high[0]), int(high[1]))
        wanted = float(np.prod(high - low)) * (AIM / radius) ** 2
        second = self.seer.look(image, region, int(np.clip(wanted, 128 * 128, pixels)))
        # what lies outside the second view keeps what the first saw
        outside = ((first.centre < low) | (first.centre > high)).any(axis=1)
        return Detections.merge([second, first[outside]])
