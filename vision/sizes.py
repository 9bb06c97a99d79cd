"""Balls are of one size: what is too small or too large for its place among the others is none.

In perspective the apparent radius of balls on one plane is close to linear in the picture. A robust plane through the radii
tells the size expected anywhere, and how well it is known there, without any calibration.
"""

from __future__ import annotations

from collections.abc import Callable

import cv2
import numpy as np
import numpy.typing as npt

from calibration.result import Calibration
from vision.detections import Detections, Floats

WHOLE = (0.8, 1.3)  # of the radius expected: a box of that size is a ball's
GRID = (
    16  # pixels between the places where a camera is asked for sizes beforehand: undistorting takes long at every look
)
FEWEST = 4  # balls, for a plane or a level to mean anything
GROWN = (0.5, 0.87)  # of the radius expected: what is as small as that may be a part of a ball, a stripe's white cap
TOLD = 0.1  # relative standard deviation of the radius expected, at most, for a part to be told from a whole
AGREES = 0.13  # deviation of the log of a radius from the one expected, for a second fit to be believed
CLEAR = 0.21  # standard deviation of its centre in radii, likewise: that of a dome behind a cushion is larger
ONE = 0.5  # of a radius: two whole balls are never so near to each other
FREE = 0.2  # deviation of the log of the radius that costs nothing: cut and half-hidden balls
SPREAD = 0.18  # beyond that, one standard deviation
#: The same two where a camera and most of the balls agree on the size: a round mark on the cloth is firmly outlined at its own.
FREE_KNOWN, SPREAD_KNOWN = 0.12, 0.06
FIRM = 2.0  # times the relative standard deviation of a centre, that the size of its outline is known to
ALIKE = 0.4  # deviation of the log of a radius, up to which a thing may tell by how much the camera's sizes are wrong
SCATTER = 0.08  # of a radius about the plane, relative
#: Standard deviation of the radius' relative change over the balls' own extent, across and down the picture: cameras are
#: held level, so that the horizon lies across and balls grow towards the picture's foot.
SLOPE_DOUBT = (0.25, 0.6)
MOST_STARTS = 24  # of the surest balls, every two of which suggest a plane
LEAST = 0.15  # of the level: no plane is followed further down


def expected_radius(found: Detections) -> tuple[Floats, Floats] | None:
    """Radius that each ball should have by the others.

    Returns
    -------
    (n,) radius in pixels and (n,) its relative standard deviation, large far away from the balls that told it; None where
    there are too few to say.
    """
    vote = _votes(found)
    if (vote > 0.3).sum() < FEWEST:
        return None
    middle = np.average(found.centre, axis=0, weights=vote)
    reach = np.sqrt(np.average(((found.centre - middle) ** 2).sum(axis=1), weights=vote)) + 1e-6
    basis = np.column_stack([np.ones(len(found)), (found.centre - middle) / reach])
    level = _weighted_median(found.radius, vote)
    value = found.radius / level
    prior = np.diag([0.0, *(1 / np.array(SLOPE_DOUBT) ** 2)]) * SCATTER**2
    fit = _best_start(basis, value, vote, prior)
    weight = vote
    for _ in range(8):
        size = np.maximum(basis @ fit, LEAST)
        weight = vote / (1 + ((value - size) / (SCATTER * size)) ** 2) ** 2 / size**2
        fit = np.linalg.solve((basis * weight[:, None]).T @ basis + prior, (basis * weight[:, None]).T @ value)
    size = np.maximum(basis @ fit, LEAST)
    cov = SCATTER**2 * np.linalg.inv((basis * weight[:, None]).T @ basis + prior)
    doubt = np.sqrt(np.einsum("ni,ij,nj->n", basis, cov, basis)) / size
    return size * level, doubt


def by_camera(calibration: Calibration) -> Callable[[Floats], Floats]:
    """What tells the radius (n,) of balls on a calibrated table seen at pixels (n, 2), NaN where none can be or beside the picture."""
    camera, radius = calibration.camera, calibration.table.ball_radius
    across, down = (np.arange(-GRID, side + 2 * GRID, GRID) for side in (camera.width, camera.height))
    pixels = np.stack(np.meshgrid(across, down), axis=-1).reshape(-1, 2).astype(np.float64)
    xy = camera.unproject(pixels, radius)
    there = np.where(np.isfinite(xy).all(axis=1), camera.ball_radius_px(np.nan_to_num(xy), radius), np.nan)
    grid = there.reshape(len(down), len(across)).astype(np.float32)

    def radius_at(pixels: Floats) -> Floats:
        if not len(pixels):
            return np.zeros(0)
        at = (pixels / GRID + 1).astype(np.float32)
        found = cv2.remap(
            grid, at[:, :1], at[:, 1:], cv2.INTER_LINEAR, borderMode=cv2.BORDER_CONSTANT, borderValue=np.nan
        )
        return np.asarray(found[:, 0], dtype=np.float64)

    return radius_at


def _votes(found: Detections) -> Floats:
    """(n,) scores, shared among detections that lie on one another: pieces of one thing have one vote."""
    gap = np.hypot(*(found.centre[:, None] - found.centre[None]).transpose(2, 0, 1))
    over = gap < np.maximum(found.radius[:, None], found.radius[None])
    return np.asarray(found.score * found.score / np.maximum((over * found.score[None]).sum(axis=1), 1e-9))


def _best_start(basis: Floats, value: Floats, vote: Floats, prior: Floats) -> Floats:
    """The plane, among levels and slopes down the picture that two balls suggest, that most of the others agree with."""
    first = np.argsort(-vote)[:MOST_STARTS]
    a, b = (first[k] for k in np.triu_indices(len(first)))
    run = basis[b, 2] - basis[a, 2]
    slope = np.where(np.abs(run) > 0.2, (value[b] - value[a]) / np.where(np.abs(run) > 0.2, run, 1.0), 0.0)
    starts = np.column_stack([value[a] - slope * basis[a, 2], np.zeros(len(a)), slope])
    size = np.maximum(starts @ basis.T, LEAST)
    loss = np.log1p(((value - size) / (SCATTER * size)) ** 2) @ vote
    loss += np.einsum("ki,ij,kj->k", starts, prior, starts) / SCATTER**2
    return np.asarray(starts[loss.argmin()])


def _weighted_median(value: Floats, weight: Floats) -> float:
    order = np.argsort(value)
    share = np.cumsum(weight[order])
    return float(value[order][np.searchsorted(share, share[-1] / 2)])


def parts(found: Detections, expected: Floats, doubt: Floats | float = 0.0) -> npt.NDArray[np.bool_]:
    """(n,) which may be parts of balls, for being smaller than ``expected`` (n,) pixels, known to ``doubt`` relative."""
    share = found.radius / expected
    return np.asarray((share > GROWN[0]) & (share < GROWN[1]) & (doubt < TOLD))


def whole(found: Detections, small: npt.NDArray[np.bool_], again: Detections, expected: Floats) -> Detections:
    """The same detections with parts replaced where a second fit, begun at the size expected, found a ball of that size.

    Parameters
    ----------
    found : the balls.
    small : (n,) which were fitted again.
    again : their second fits.
    expected : (n,) radius, pixels.
    """
    size = expected[small]
    sigma = np.sqrt(np.trace(again.cov, axis1=1, axis2=2) / 2) / size
    good = (np.abs(np.log(again.radius / size)) < AGREES) & (sigma < CLEAR)
    rows, fits = np.flatnonzero(small)[good], again[good]
    columns = {name: getattr(found, name).copy() for name in ("centre", "radius", "cov")}
    for name, column in columns.items():
        column[rows] = getattr(fits, name)
    return found.with_(**columns)


def surer(one: Detections, other: Detections) -> Detections:
    """Of two fits to each ball (n,) the one whose centre is better known."""
    take = np.trace(other.cov, axis1=1, axis2=2) < np.trace(one.cov, axis1=1, axis2=2)
    rows = np.arange(len(one)) + len(one) * take
    return Detections.merge([one, other])[rows] if len(one) else one


def single(found: Detections) -> Detections:
    """Without those that lie on a surer one: two parts of a ball make one ball."""
    order = np.argsort(-found.score, kind="stable")
    centre, radius = found.centre[order], found.radius[order]
    gap = np.hypot(*(centre[:, None] - centre[None]).transpose(2, 0, 1))
    covered = np.tril(gap < ONE * np.minimum(radius[:, None], radius[None]), -1)
    if not covered.any():
        return found
    keep = np.ones(len(found), dtype=bool)
    for k in range(len(found)):
        keep[k] = not (covered[k] & keep).any()
    return found[np.sort(order[keep])]


def weigh_known(found: Detections, seen: Floats, expected: Floats) -> Detections:
    """The same detections with scores lowered where the size is none that a ball can have there, by a calibrated camera.

    A sticker on a spot is a round thing of seven tenths of a ball, sharply outlined; what shows of a ball behind a cushion is as
    small, but its outline is vague.

    Parameters
    ----------
    found : the balls; those begun small that were found to be whole have their whole radius.
    seen : (n,) radius that each was seen with at first, pixels.
    expected : (n,) radius that a ball there has, pixels, NaN where none can be.
    """
    with np.errstate(invalid="ignore", divide="ignore"):
        log = np.log(found.radius / expected)
        begun = np.log(seen / expected)
        tells = (found.score > 0.5) & (np.abs(log) < ALIKE)
        grown = found.radius != seen
        if tells.sum() < FEWEST:
            return weigh(found.with_(radius=np.where(grown, np.sqrt(seen * found.radius), seen)), expected).with_(
                radius=found.radius
            )
        level = float(np.median(log[tells]))
        sigma = np.sqrt(np.trace(found.cov, axis1=1, axis2=2) / 2) / expected
        free = np.where(grown, FREE, FREE_KNOWN)
        spread = np.where(grown, SPREAD, np.hypot(SPREAD_KNOWN, FIRM * sigma))
        off = np.maximum(np.abs(np.where(grown, 0.5 * (begun + log), log) - level) - free, 0) / spread
    return found.with_(score=found.score * np.exp(-0.5 * np.nan_to_num(off) ** 2))


def weigh(found: Detections, expected: Floats | None = None) -> Detections:
    """The same detections with scores lowered where the size does not fit in with the others.

    Parameters
    ----------
    found : the balls.
    expected : (n,) radius that a ball there has by a calibrated camera, pixels, NaN where none can be; where not given, the
        others tell. Diamonds and triangles on the cloth can outnumber the balls, so a camera knows better.
    """
    doubt: Floats | float = 0.0
    if expected is None:
        told = expected_radius(found)
        if told is None:
            return found
        expected, doubt = told
    with np.errstate(invalid="ignore", divide="ignore"):
        off = np.maximum(np.abs(np.log(found.radius / expected)) - FREE, 0) / np.hypot(SPREAD, doubt)
    return found.with_(score=found.score * np.exp(-0.5 * np.nan_to_num(off) ** 2))
