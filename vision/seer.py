"""Detector, refinement and identity as one: a frame and where the table is in it, to detections.

Of a video only as many pixels are looked at as the smallest balls need: a camera overhead sees them larger than one at the end of
the table, and a look costs what it has pixels.
"""

from __future__ import annotations

from collections import deque
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from vision import identity, sizes, yolo
from vision.detections import Detections
from vision.refine import refine

if TYPE_CHECKING:
    from vision.video import Frame


NEEDED_RADIUS = 4.8  # at the network's input, pixels, of the smaller balls
LEVELS = (0.75, 1.0, 1.3)  # of the pixels asked for; few, as the network is compiled for each
PATIENCE = 15  # looks between changes


class Seer:
    """Looks at frames.

    Parameters
    ----------
    weights : a detector's ``.onnx`` or ``.pt``, or a folder with ``detector`` and ``identity``; the shipped ones where not
        given.
    backend, pixels, threshold, threads : see `vision.yolo.load`.
    doubtful : score under which a ball is dropped after a look at its crop.
    """

    def __init__(
        self,
        weights: Path | None = None,
        backend: str | None = None,
        pixels: int = yolo.VIDEO_PIXELS,
        threshold: float = 0.25,
        threads: int | None = None,
        doubtful: float = 0.15,
    ) -> None:
        self.detect = yolo.load(weights, backend, pixels, threshold, threads)
        own = weights if weights is not None and (Path(weights) / "identity.onnx").exists() else None
        self.identify = identity.load(own, backend, threads)
        self.doubtful = doubtful
        self._pixels = pixels
        self._needed: deque[float] = deque(maxlen=PATIENCE)
        self._waited = 0

    def __call__(self, frame: Frame, region: yolo.Region | None = None) -> Detections:
        """Balls of a frame (or of the part of it that holds the table)."""
        image = frame.image
        found = self.look(image, region)
        self._adapt(found, region or (0, 0, image.shape[1], image.shape[0]))
        return found

    def look(
        self, image: npt.NDArray[np.uint8], region: yolo.Region | None = None, pixels: int | None = None
    ) -> Detections:
        """The same for a bare BGR picture; ``pixels`` as in `vision.yolo.Detector`, for this look only."""
        found = sizes.weigh(self.identify(image, refine(image, self.detect(image, region, pixels))))
        return found[found.score > self.doubtful]

    def _adapt(self, found: Detections, region: yolo.Region) -> None:
        """Choose how many pixels the next looks take, from how large the smaller balls of the last ones were."""
        sure = found.radius[found.score > 0.5]
        if len(sure):
            area = (region[2] - region[0]) * (region[3] - region[1])
            self._needed.append(area * (NEEDED_RADIUS / float(np.percentile(sure, 20))) ** 2)
        self._waited += 1
        if self._waited >= PATIENCE and self._needed:
            self._waited = 0
            self.detect.pixels = pixels_for(float(np.median(self._needed)), self._pixels)


def pixels_for(needed: float, usual: int) -> int:
    """The least of the levels around ``usual`` that gives ``needed`` pixels, or the highest."""
    levels = [round(level * usual) for level in LEVELS]
    return next((level for level in levels if level >= 0.97 * needed), levels[-1])
