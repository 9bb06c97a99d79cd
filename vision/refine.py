"""Sub-pixel centres of balls: the outline against the cloth, found along rays and fitted robustly.

Along each ray from the first guess, the place where the cloth ends gives a first circle; near it, the place where the colour
changes most gives the edge to a fraction of a pixel. Highlight, stripe and number lie inside, the shadow's rim and neighbours
outside: they become outliers and lose their weight (Tukey's biweight).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from vision import rays
from vision.detections import Detections, Floats

_ERROR_RANGE = (2 * np.log(0.005), 2 * np.log(0.4))  # log variance of a centre, in radii
_MOST_SHIFT = 0.4  # of a centre, radii
_GROWTH = (0.7, 1.4)  # of a radius
_LEAST_LEFT = 0.12  # of the rays, for an outline to be one


@dataclass(frozen=True, slots=True)
class RefineOptions:
    """How the outline is looked for.

    Parameters
    ----------
    rays, samples : rays per ball and samples along each.
    window : how far from the circle so far an edge is believed, in radii, one for each step of the fit; the first fit is to the
        places where the cloth ends.
    size_weight : how firmly the size of the first guess is held, in rays.
    error : log of the centre's variance in radii as a line in `Outlines.signs`; fitted on rendered pictures with whole,
        half-hidden, cut and moving balls (``python -m tests.vision.centres``, docs/training.md).
    """

    rays: int = 28
    samples: int = 20
    window: tuple[float, ...] = (0.12, 0.07)
    size_weight: float = 2.5
    error: tuple[float, ...] = (10.25, 1.18, 0.19, -1.35, -0.18, -2.08, 0.01, 1.76, -0.82, -0.04, 0.41)


@dataclass(frozen=True, slots=True, eq=False)
class Outlines:
    """Circles fitted to outlines, and all that tells how good they are.

    Parameters
    ----------
    centre, radius : (n, 2) and (n,), pixels.
    shape : (n, 2, 2) covariance of the centre but for its scale: the identity where rays are left all around, larger across
        where they are missing.
    signs : (n, 11) what foretells the error, see `_signs`.
    lost : (n,) where there is no outline to speak of.
    """

    centre: Floats
    radius: Floats
    shape: Floats
    signs: Floats
    lost: npt.NDArray[np.bool_]


def refine(
    image: npt.NDArray[np.uint8],
    detections: Detections,
    options: RefineOptions | None = None,
    others: Detections | None = None,
) -> Detections:
    """Move centres to the middle of the outline and say how well they are known.

    Parameters
    ----------
    image : (h, w, 3) BGR picture.
    detections : first guesses, good to about a fifth of a radius.
    options : see `RefineOptions`.
    others : balls that may hide these; the same ones where not given.

    Returns
    -------
    Detections
        With new ``centre``, ``radius`` and ``cov``. A ball whose outline cannot be found keeps its centre, with the covariance of
        the first guess.
    """
    if not len(detections):
        return detections
    o = options or RefineOptions()
    fit = outlines(image, detections, o, others)
    log_variance = np.minimum(np.maximum(fit.signs @ np.array(o.error), _ERROR_RANGE[0]), _ERROR_RANGE[1])
    scale = fit.radius**2 * np.exp(log_variance)
    first, lost = detections, fit.lost
    return first.with_(
        centre=np.where(lost[:, None], first.centre, fit.centre),
        radius=np.where(lost, first.radius, fit.radius),
        cov=np.where(lost[:, None, None], first.cov, fit.shape * scale[:, None, None]),
    )


def outlines(
    image: npt.NDArray[np.uint8], detections: Detections, options: RefineOptions, others: Detections | None = None
) -> Outlines:
    """The fits alone; parameters as of `refine`, at least one ball."""
    wheel = rays.Wheel.of(options.rays, options.samples)
    start, radius = detections.centre, detections.radius
    profile = rays.sample(image, start, radius, wheel)
    free = rays.unhidden(start, radius, wheel, None if others is None else (others.centre, others.radius))
    strength = rays.edges(profile)
    strength *= free[1:]
    coarse, sure = rays.where_cloth_ends(profile, wheel, free)

    # unknowns: the centre's shift and the change of size, in radii of the first guess
    prior = np.diag([1e-3, 1e-3, options.size_weight])
    beside = wheel.middle - 1
    edge, weight = coarse - 1, sure
    solved = _solve(wheel, weight, edge, prior)
    first = solved = _solve(wheel, weight * _biweight(edge - solved @ wheel.basis.T), edge, prior)
    for window in options.window:
        expected = solved @ wheel.basis.T
        belief = beside[:, None, None] - expected.astype(np.float32)
        belief *= belief
        belief *= np.float32(-0.5 / window**2)
        np.exp(belief, out=belief)
        belief *= strength
        total = belief.sum(axis=0) + np.float32(1e-9)
        edge = ((beside @ belief.reshape(len(beside), -1)).reshape(total.shape) / total).astype(np.float64)
        weight = total / (total + 0.5 * rays.median(total)[:, None]) * (0.3 + 0.7 * sure)
        solved = _solve(wheel, weight * _biweight(edge - expected), edge, prior)
    residual = edge - solved @ wheel.basis.T
    weight = weight * _biweight(residual)
    size = np.minimum(np.maximum(1 + solved[:, 2], _GROWTH[0]), _GROWTH[1])
    centre = start + radius[:, None] * solved[:, :2]
    normal = (weight @ wheel.products).reshape(-1, 3, 3)
    left = normal[:, 2, 2] + 1e-6
    width = rays.widths(strength, (edge + 1).astype(np.float32), wheel)
    signs = _signs(
        detections.score,
        radius,
        size,
        scatter=(weight * residual**2).sum(axis=1) / left,
        change=((solved[:, :2] - first[:, :2]) ** 2).sum(axis=1),
        sure=sure.mean(axis=1),
        left=left / options.rays,
        one_sided=np.hypot(normal[:, 0, 2], normal[:, 1, 2]) / left,
        blur=(weight * width).sum(axis=1) / left,
        beyond=_beyond(image, centre, radius * size),
    )
    shape = np.linalg.inv(normal + 0.02 * np.eye(3))[:, :2, :2] * (left / 2)[:, None, None]
    lost = (left < _LEAST_LEFT * options.rays) | ~np.isfinite(solved).all(axis=1)
    return Outlines(centre, radius * size, shape, signs, lost)


def _solve(wheel: rays.Wheel, weight: Floats, value: Floats, prior: Floats) -> Floats:
    """Weighted least squares of ``value`` (n, a), per ball (n, 3), drawn to zero by ``prior`` (3, 3); the shift is bounded."""
    normal = (weight @ wheel.products).reshape(-1, 3, 3) + prior
    solved = np.linalg.solve(normal, ((weight * value) @ wheel.basis)[:, :, None])[:, :, 0]
    shift = solved[:, :2]
    np.minimum(np.maximum(shift, -_MOST_SHIFT, out=shift), _MOST_SHIFT, out=shift)
    return np.asarray(solved)


def _biweight(residual: Floats) -> Floats:
    """Tukey's weights from residuals (n, a), scaled by their median absolute value per ball."""
    scale = np.maximum(1.4826 * rays.median(np.abs(residual)), 0.01) * 4.685
    share = residual / scale[:, None]
    share *= share
    left = np.maximum(1 - share, 0)
    return np.asarray(left * left)


def _signs(
    score: Floats,
    radius: Floats,
    size: Floats,
    scatter: Floats,
    change: Floats,
    sure: Floats,
    left: Floats,
    one_sided: Floats,
    blur: Floats,
    beyond: Floats,
) -> Floats:
    """What foretells a centre's error, (n, 11), logarithms of most.

    One; scatter of the rays; change between the fits; size in pixels; how surely the cloth ends; rays left; and what tells of
    trouble: rays on one side only, wide edges, a faint detection, a size that changed, and how far the picture's edge cuts the ball.
    """
    table = np.empty((len(score), 11))
    table[:, 0], table[:, 4], table[:, 10] = 1.0, sure, beyond
    table[:, 1], table[:, 2] = scatter + 1e-4, change + 1e-4
    table[:, 3], table[:, 5] = radius / 10, left + 1e-3
    table[:, 6], table[:, 7] = one_sided + 0.02, blur + 1e-3
    table[:, 8] = np.maximum(score, 1e-3)
    table[:, 9] = np.abs(np.log(size)) + 0.02
    for columns in (table[:, 1:4], table[:, 5:10]):
        np.log(columns, out=columns)
    return table


def _beyond(image: npt.NDArray[np.uint8], centre: Floats, radius: Floats) -> Floats:
    """(n,) how far a ball comes nearer to the picture's edge than 1.15 radii, in radii."""
    far = np.array(image.shape[1::-1]) - 0.5
    room = np.minimum(centre + 0.5, far - centre).min(axis=1) / radius
    return np.asarray(np.minimum(np.maximum(1.15 - room, 0.0), 2.0))
