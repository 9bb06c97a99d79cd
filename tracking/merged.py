"""Two balls that touch, seen as one: a look halfway between two places of rest is neither ball on the move."""

from __future__ import annotations

import numpy as np

from tracking.observations import Floats

BESIDE = 0.008  # metres between balls that a detector may take for one
HALFWAY = (0.25, 3.0)  # radii, sigmas that such a look may lie off the middle
ITS_OWN = 0.6  # radii from its place within which a ball has a look of its own


def merged(rests: Floats, z: Floats, noise: Floats, radius: float) -> list[tuple[int, int, int]]:
    """Pairs of resting balls that one look was taken of.

    Parameters
    ----------
    rests : (n, 2) places of balls at rest; ``z`` (m, 2), ``noise`` (m, 2, 2): the looks.

    Returns
    -------
    ``(i, j, k)``: look ``k`` lies halfway between balls ``i`` and ``j``, and at least one of them has no look of its own.
    """
    if len(rests) < 2 or not len(z):
        return []
    apart = np.hypot(*(rests[:, None] - rests[None]).transpose(2, 0, 1))
    one, other = np.nonzero(np.triu(apart < 2 * radius + BESIDE, 1))
    if not len(one):
        return []
    off = np.hypot(*(rests[:, None] - z[None]).transpose(2, 0, 1))
    alone = ~(off < ITS_OWN * radius).any(axis=1)
    middle = 0.5 * (rests[one] + rests[other])
    gap = np.hypot(*(middle[:, None] - z[None]).transpose(2, 0, 1))
    sigma = np.sqrt(np.trace(noise, axis1=1, axis2=2) / 2)
    near = (gap < np.maximum(HALFWAY[0] * radius, np.minimum(HALFWAY[1] * sigma, 0.5 * radius))) & (
        alone[one] | alone[other]
    )[:, None]
    return [(int(one[p]), int(other[p]), int(k)) for p, k in zip(*np.nonzero(near), strict=True)]
