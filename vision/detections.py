"""Balls seen in one picture, as parallel arrays with validated shapes.

Pixels have their origin at the centre of the top-left pixel, ``u`` to the right and ``v`` down, as in
``calibration.camera``. A centre is the centre of the ball's *outline*, which for an oblique view is not quite the picture
of the ball's centre (``Camera.outline_centre_offset``).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]

NUMBERS = 16  # the cue ball is 0, object balls are 1 to 15
KINDS = ("cue", "solid", "stripe", "eight")

#: Index into ``KINDS`` of each ball number.
KIND_OF = np.array([0] + [1] * 7 + [3] + [2] * 7)

_WIDTHS: dict[str, tuple[int, ...]] = {
    "centre": (2,),
    "radius": (),
    "score": (),
    "cov": (2, 2),
    "evidence": (NUMBERS,),
    "unnumbered": (2,),
}


@dataclass(frozen=True, slots=True, eq=False)
class Detections:
    """Balls of one picture.

    Parameters
    ----------
    centre : (n, 2) centre of the outline, pixels.
    radius : (n,) radius of the outline (geometric mean of its half axes), pixels.
    score : (n,) probability that this is a ball at all.
    cov : (n, 2, 2) covariance of ``centre``, square pixels.
    evidence : (n, 16) log-likelihood of what is seen under each ball number, nats, up to a constant per row.
    unnumbered : (n, 2) the same, for a red and for a yellow ball without a number; the same constant per row.

    Raises
    ------
    ValueError
        Where a shape does not fit.
    """

    centre: Floats
    radius: Floats
    score: Floats
    cov: Floats
    evidence: Floats
    unnumbered: Floats

    def __post_init__(self) -> None:
        n = len(self.centre)
        for name, width in _WIDTHS.items():
            shape = getattr(self, name).shape
            if shape != (n, *width):
                raise ValueError(f"Detections.{name} has shape {shape}, wanted {(n, *width)}")

    @classmethod
    def of(cls, centre: npt.ArrayLike, radius: npt.ArrayLike, score: npt.ArrayLike, **more: Any) -> Detections:
        """Detections whose other columns are what is known before a closer look.

        The covariance is that of a network's box (a tenth of the radius), the evidence says nothing.
        """
        c = np.asarray(centre, dtype=np.float64).reshape(-1, 2)
        n = len(c)
        r = np.asarray(radius, dtype=np.float64).reshape(n)
        columns: dict[str, Any] = {
            "cov": np.eye(2) * ((0.1 * r) ** 2)[:, None, None],
            "evidence": np.zeros((n, NUMBERS)),
            "unnumbered": np.full((n, 2), -20.0),
        }
        columns.update(more)
        return cls(c, r, np.asarray(score, dtype=np.float64).reshape(n), **columns)

    @classmethod
    def empty(cls) -> Detections:
        return cls.of(np.zeros((0, 2)), np.zeros(0), np.zeros(0))

    @classmethod
    def merge(cls, parts: Sequence[Detections]) -> Detections:
        """All rows of several, in order."""
        if not parts:
            return cls.empty()
        return cls(*(np.concatenate([getattr(p, f.name) for p in parts]) for f in fields(cls)))

    def __len__(self) -> int:
        return len(self.centre)

    def __getitem__(self, index: Any) -> Detections:
        """Rows by boolean mask, integer array or slice."""
        if isinstance(index, (int, np.integer)):
            index = [index]
        return Detections(*(getattr(self, f.name)[index] for f in fields(self)))

    def with_(self, **columns: Any) -> Detections:
        """The same balls with some columns replaced."""
        return replace(self, **columns)

    @property
    def boxes(self) -> Floats:
        """(n, 4) x, y, width, height of the outline's box in COCO's convention (the first pixel spans 0 … 1)."""
        corner = self.centre + 0.5 - self.radius[:, None]
        return np.column_stack([corner, 2 * self.radius, 2 * self.radius])

    @property
    def number_p(self) -> Floats:
        """(n, 16) probability of each number for each ball by itself, all numbers equally likely before the look."""
        e = np.exp(self.evidence - self.evidence.max(axis=1, keepdims=True, initial=-np.inf))
        return np.asarray(e / e.sum(axis=1, keepdims=True), dtype=np.float64)

    @property
    def kind_p(self) -> Floats:
        """(n, 4) probability of each of ``KINDS``."""
        p = self.number_p
        return np.stack([p[:, k == KIND_OF].sum(axis=1) for k in range(len(KINDS))], axis=1)
