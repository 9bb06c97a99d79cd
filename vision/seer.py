"""Detector, refinement and identity as one: a frame and where the table is in it, to detections.

Of a video only as many pixels are looked at as the smallest balls need: a camera overhead sees them larger than one at the end of
the table, and a look costs what it has pixels.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from vision import identity, sizes, yolo
from vision.detections import Detections, Floats
from vision.refine import RefineOptions, refine

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
        self._radius_at: Callable[[Floats], Floats] | None = None
        self._beside = ThreadPoolExecutor(1, thread_name_prefix="detector")
        self._begun: deque[tuple[Frame, yolo.Region | None, Future[Detections]]] = deque(maxlen=2)

    def calibrated(self, radius_at: Callable[[Floats], Floats] | None) -> None:
        """From now on ``radius_at`` tells the radius of a ball seen at pixels (n, 2); None: the balls tell it among themselves."""
        self._radius_at = radius_at

    def expect(self, frame: Frame, region: yolo.Region | None = None) -> None:
        """Begin to look at a frame that will be asked for next; the network runs beside what is done to the one before."""
        self._begun.append((frame, region, self._beside.submit(lambda: self.detect(frame.image, region))))

    def _settle(self) -> None:
        """Wait for the looks that were begun: the network serves one at a time."""
        for _, _, look in self._begun:
            look.result()

    def __call__(self, frame: Frame, region: yolo.Region | None = None) -> Detections:
        """Balls of a frame (or of the part of it that holds the table)."""
        begun = next((look for of, where, look in self._begun if of is frame and where == region), None)
        if begun is not None:
            first = begun.result()
        else:
            self._settle()
            first = self.detect(frame.image, region)
        image = frame.image
        found = self._finish(image, first, self._radius_at)
        self._adapt(found, region or (0, 0, image.shape[1], image.shape[0]))
        return found

    def look(
        self, image: npt.NDArray[np.uint8], region: yolo.Region | None = None, pixels: int | None = None
    ) -> Detections:
        """The same for a bare BGR picture; ``pixels`` as in `vision.yolo.Detector`, for this look only."""
        self._settle()
        return self._finish(image, self.detect(image, region, pixels), twice=True)

    def _finish(
        self,
        image: npt.NDArray[np.uint8],
        first: Detections,
        radius_at: Callable[[Floats], Floats] | None = None,
        twice: bool = False,
    ) -> Detections:
        """Refinement, evidence and sizes for what the detector found."""
        expected = None if radius_at is None else radius_at(first.centre)
        balls, radius = fitted(image, first, expected)
        return self.judge(self.identify(image, balls, twice), radius, expected)

    def judge(self, balls: Detections, radius: Floats, expected: Floats | None = None) -> Detections:
        """What is left of ``balls`` when sizes are compared; ``radius`` (n,) is what each was seen with, ``expected`` as in `fitted`."""
        if expected is not None:
            found = sizes.weigh_known(balls, radius, expected)
        else:  # a thing is weighed by the size that it was seen with: a mark on the cloth can be fitted as a ball, too
            found = sizes.weigh(balls.with_(radius=radius)).with_(radius=balls.radius)
        return sizes.single(found[found.score > self.doubtful])

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


def fitted(
    image: npt.NDArray[np.uint8],
    first: Detections,
    expected: Floats | None = None,
    options: RefineOptions | None = None,
) -> tuple[Detections, Floats]:
    """Balls fitted to their outlines, and the radius (n,) that each thing was seen with, pixels.

    A thing may be a part of a ball (the white of a stripe seen from its end, what a neighbour leaves in view). So where it is
    known how large a ball there is, the outline is looked for from that size on, and from the size seen as well where the two differ
    much: all in one pass.

    Parameters
    ----------
    image : BGR picture.
    first : what the detector found.
    expected : (n,) radius of a ball there by a calibrated camera, pixels, NaN where none can be; without it the balls tell it
        among themselves, which takes a second pass.
    options : of the fit.
    """
    if expected is None:
        fine = refine(image, first, options)
        told = sizes.expected_radius(fine)
        if told is None:
            return fine, fine.radius
        expected, doubt = told
        small = sizes.parts(fine, expected, doubt)
        if not small.any():
            return fine, fine.radius
        again = refine(image, fine[small].with_(radius=expected[small]), options, fine)
    else:
        share = first.radius / expected
        small = (share > sizes.GROWN[0]) & (share <= sizes.WHOLE[0])
        usual = (share > sizes.WHOLE[0]) & (share < sizes.WHOLE[1])
        start = first.with_(radius=np.where(usual, expected, first.radius))
        part, size = first[small], expected[small]
        # what hides a ball is nearer to the camera and so lower in the picture: its upper edge is in view
        below = np.column_stack([np.zeros(len(part)), size - part.radius])
        guesses = [start, part.with_(radius=size), part.with_(radius=size, centre=part.centre + below)]
        fits = refine(image, Detections.merge(guesses) if len(part) else start, options, first)
        fine, upright, hidden = (
            fits[: len(first)],
            fits[len(first) : len(first) + len(part)],
            fits[len(first) + len(part) :],
        )
        again = sizes.surer(upright, hidden)
    return sizes.whole(fine, small, again, expected), fine.radius


def pixels_for(needed: float, usual: int) -> int:
    """The least of the levels around ``usual`` that gives ``needed`` pixels, or the highest."""
    levels = [round(level * usual) for level in LEVELS]
    return next((level for level in levels if level >= 0.97 * needed), levels[-1])
