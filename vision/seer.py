"""Detector, refinement and identity as one: a frame and where the table is in it, to detections."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from vision import identity, yolo
from vision.detections import Detections
from vision.refine import refine

if TYPE_CHECKING:
    from vision.video import Frame


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

    def __call__(self, frame: Frame, region: yolo.Region | None = None) -> Detections:
        """Balls of a frame (or of the part of it that holds the table)."""
        return self.look(frame.image, region)

    def look(self, image: npt.NDArray[np.uint8], region: yolo.Region | None = None) -> Detections:
        """The same for a bare BGR picture."""
        found = self.identify(image, refine(image, self.detect(image, region)))
        return found[found.score > self.doubtful]
