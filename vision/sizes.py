"""Balls are of one size: what is too small or too large for its place among the others is none.

In perspective the apparent radius of balls on one plane is close to linear in the picture. A robust plane through the radii
tells the size expected anywhere, without any calibration.
"""

from __future__ import annotations

import numpy as np

from vision.detections import Detections, Floats

FEWEST = 4  # balls, for a plane or a level to mean anything
FREE = 0.2  # deviation of the log of the radius that costs nothing: cut and half-hidden balls
SPREAD = 0.18  # beyond that, one standard deviation
SLOPE_DOUBT = 0.6  # standard deviation of the radius' relative change over the balls' own extent


def expected_radius(found: Detections) -> Floats | None:
    """(n,) radius that each ball should have by the others, pixels; None where there are too few to say."""
    weight = found.score.copy()
    if (weight > 0.3).sum() < FEWEST:
        return None
    middle = np.average(found.centre, axis=0, weights=weight)
    reach = np.sqrt(np.average(((found.centre - middle) ** 2).sum(axis=1), weights=weight)) + 1e-6
    basis = np.column_stack([np.ones(len(found)), (found.centre - middle) / reach])
    level = _weighted_median(found.radius, weight)
    value = found.radius / level
    prior = np.diag([0.0, 1.0, 1.0]) * (0.1 / SLOPE_DOUBT) ** 2
    fit = np.array([1.0, 0.0, 0.0])
    for _ in range(8):
        left = value - basis @ fit
        w = weight / (1 + (left / 0.08) ** 2) ** 2
        fit = np.linalg.solve((basis * w[:, None]).T @ basis + prior, (basis * w[:, None]).T @ value)
    return np.asarray(np.maximum(basis @ fit, 0.15) * level)


def _weighted_median(value: Floats, weight: Floats) -> float:
    order = np.argsort(value)
    share = np.cumsum(weight[order])
    return float(value[order][np.searchsorted(share, share[-1] / 2)])


def weigh(found: Detections, expected: Floats | None = None) -> Detections:
    """The same detections with scores lowered where the size does not fit in with the others.

    Parameters
    ----------
    found : the balls.
    expected : (n,) radius that a ball there has by a calibrated camera, pixels, NaN where none can be; where not given, the
        others tell. Diamonds and triangles on the cloth can outnumber the balls, so a camera knows better.
    """
    if expected is None:
        expected = expected_radius(found)
    if expected is None:
        return found
    with np.errstate(invalid="ignore", divide="ignore"):
        off = np.maximum(np.abs(np.log(found.radius / expected)) - FREE, 0) / SPREAD
    return found.with_(score=found.score * np.exp(-0.5 * np.nan_to_num(off) ** 2))
