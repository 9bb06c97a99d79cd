"""What one look at the table gave: arrays over the balls seen, in the table frame."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Observation:
    """One frame's balls.

    Parameters
    ----------
    t_s : seconds from the first frame; the middle of the exposure.
    xy : (n, 2) ball centres, metres, table frame.
    cov : (n, 2, 2) covariance of ``xy``, square metres.
    score : (n,) probability that this is a ball at all.
    evidence : (n, 16) log-likelihood of the crop under each ball number, nats, up to a constant per row.
    hidden : (rows, cols) True where somebody or something hides that cell of the table; rows along y, cols along x,
        cells of equal size over the playing surface. Empty array: nothing is hidden.
    exposure_s : the shutter's open time, seconds (0 where unknown).
    """

    t_s: float
    xy: Floats
    cov: Floats
    score: Floats
    evidence: Floats
    hidden: Bools = field(default_factory=lambda: np.zeros((0, 0), dtype=np.bool_))
    exposure_s: float = 0.0

    def __post_init__(self) -> None:
        n = len(self.xy)
        for name, shape in (("xy", (n, 2)), ("cov", (n, 2, 2)), ("score", (n,)), ("evidence", (n, 16))):
            if getattr(self, name).shape != shape:
                raise ValueError(f"Observation.{name} has shape {getattr(self, name).shape}, wanted {shape}")

    def __len__(self) -> int:
        return len(self.xy)
