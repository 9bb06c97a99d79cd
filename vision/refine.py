"""Sub-pixel centres of balls: the outline against the cloth, found along rays and fitted robustly.

Along each ray from the first guess, the place where the cloth ends gives a first circle; near it, the place where the colour
changes most gives the edge to a fraction of a pixel. Highlight, stripe and number lie inside, the shadow's rim and neighbours
outside: they become outliers and lose their weight (Tukey's biweight). How far the edge is spread along the rays grows with
motion during the exposure as the square of the cosine, which gives the streak.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from vision import rays
from vision.detections import Detections, Floats

_INNER, _OUTER = 0.55, 1.5  # the stretch of a ray that is looked at, in radii
_ERROR_RANGE = (2 * np.log(0.005), 2 * np.log(0.4))  # log variance of a centre, in radii


@dataclass(frozen=True, slots=True)
class RefineOptions:
    """How the outline is looked for.

    Parameters
    ----------
    rays, samples : rays per ball and samples along each.
    window : how far from the circle so far an edge is believed, in radii, one for each step of the fit; 0 stands for the
        place where the cloth ends.
    size_weight : how firmly the size of the first guess is held, in rays.
    error : log of the centre's variance in radii as a line in what `_signs` measures; fitted on rendered pictures with
        whole, half-hidden, cut and moving balls (docs/training.md).
    """

    rays: int = 28
    samples: int = 26
    window: tuple[float, ...] = (0.0, 0.12, 0.07)
    size_weight: float = 2.5
    error: tuple[float, ...] = (11.44, 1.33, 0.18, -1.31, -0.72, -1.16, 0.22, 1.34, -1.34, -0.2, 0.76, 0.32)


def refine(
    image: npt.NDArray[np.uint8],
    detections: Detections,
    outline: Floats | None = None,
    options: RefineOptions | None = None,
) -> Detections:
    """Move centres to the middle of the outline and say how well they are known.

    Parameters
    ----------
    image : (h, w, 3) BGR picture.
    detections : first guesses, good to about a fifth of a radius.
    outline : (n, 2, 2) matrices that take the unit circle to each ball's outline in pixels, where a calibrated camera
        gives it (`outlines`); else a circle of free radius is fitted.
    options : see `RefineOptions`.

    Returns
    -------
    Detections
        With new ``centre``, ``radius`` (kept where ``outline`` is given), ``cov`` and ``streak``. A ball whose outline cannot
        be found keeps its centre, with the covariance of the first guess.
    """
    o = options or RefineOptions()
    n = len(detections)
    if n == 0:
        return detections
    free_size = outline is None
    shape = np.eye(2) * detections.radius[:, None, None] if outline is None else np.asarray(outline, dtype=np.float64)
    angle = np.arange(o.rays) * (2 * np.pi / o.rays)
    unit = np.stack([np.cos(angle), np.sin(angle)], axis=1)
    reach = np.linspace(_INNER, _OUTER, o.samples)
    middle = ((reach[1:] + reach[:-1]) / 2).astype(np.float32)  # single precision where arrays are large: twice as fast
    beside = middle - np.float32(1)
    spoke = unit @ shape.transpose(0, 2, 1)  # (n, a, 2) pixels for one radius
    at = spoke.astype(np.float32)[:, :, None] * reach.astype(np.float32)[:, None]
    profile = rays.sample(image, at + detections.centre.astype(np.float32)[:, None, None])
    free = rays.unhidden(detections, spoke, reach)
    strength = rays.edges(profile) * free[:, :, 1:]
    coarse, sure = rays.where_cloth_ends(profile, reach, free)

    # unknowns: the centre's shift and, where free, the change of size, in radii of the first guess
    basis = np.column_stack([unit, np.ones(o.rays)])[:, : 3 if free_size else 2]
    prior = np.array([1e-3, 1e-3, o.size_weight])[: basis.shape[1]]
    edge, weight = coarse - 1.0, sure
    solved = first = _solve(basis, weight, edge, prior)
    for window in o.window:
        expected = solved @ basis.T
        if window > 0:
            off = (beside - expected.astype(np.float32)[:, :, None]) * np.float32(1 / window)
            belief = strength * np.exp(off * off * np.float32(-0.5))
            total = belief.sum(axis=2).astype(np.float64) + 1e-9
            edge = belief @ beside / total
            weight = total / (total + 0.5 * rays.median(total)[:, None]) * (0.3 + 0.7 * sure)
        solved = _solve(basis, weight * _biweight(edge - expected), edge, prior)
        solved[:, :2] = np.clip(solved[:, :2], -0.4, 0.4)
        if window == 0:
            first = solved
    residual = edge - solved @ basis.T
    weight = weight * _biweight(residual)
    size = np.clip(1 + solved[:, 2], 0.7, 1.4) if free_size else np.ones(n)
    streak, blur = _streaks(strength, middle, edge + 1.0, weight, unit, spoke)
    centre = detections.centre + np.einsum("nij,nj->ni", shape, solved[:, :2])
    signs = np.column_stack(
        [
            _signs(detections, weight, residual, sure, solved[:, :2] - first[:, :2]),
            _signs_of_trouble(
                weight, unit, blur, detections.score, size, _beyond(image, centre, detections.radius * size)
            ),
            np.log(np.hypot(*np.nan_to_num(streak).T) / (detections.radius * size) + 0.05),
        ]
    )
    lost = (weight.sum(axis=1) < 0.12 * o.rays) | ~np.isfinite(solved).all(axis=1)
    cov = _covariance(shape, basis, weight, np.clip(signs @ np.array(o.error), *_ERROR_RANGE))
    return detections.with_(
        centre=np.where(lost[:, None], detections.centre, centre),
        radius=np.where(lost, detections.radius, detections.radius * size),
        cov=np.where(lost[:, None, None], detections.cov, cov),
        streak=np.where(lost[:, None], np.nan, streak),
    )


def outlines(rims: Floats) -> Floats:
    """(n, 2, 2) matrices for `refine` from outlines sampled at even steps, (n, k, 2) pixels (``Camera.outlines``).

    The matrix is the square root of twice the samples' covariance: for an ellipse, the map from the unit circle.
    """
    d = rims - rims.mean(axis=1, keepdims=True)
    spread = 2 * (d.transpose(0, 2, 1) @ d) / rims.shape[1]
    value, vector = np.linalg.eigh(spread)
    return np.asarray(vector * np.sqrt(value)[:, None] @ vector.transpose(0, 2, 1), dtype=np.float64)


def _solve(basis: Floats, weight: Floats, value: Floats, prior: Floats) -> Floats:
    """Weighted least squares of ``value`` (n, a) in ``basis`` (a, p), per ball (n, p), drawn to zero by ``prior`` (p,)."""
    scaled = weight[:, :, None] * basis
    normal = scaled.transpose(0, 2, 1) @ basis + np.diag(prior)
    return np.asarray(np.linalg.solve(normal, scaled.transpose(0, 2, 1) @ value[:, :, None])[:, :, 0])


def _biweight(residual: Floats) -> Floats:
    """Tukey's weights from residuals (n, a), scaled by their median absolute value per ball."""
    scale = 4.685 * np.maximum(1.4826 * rays.median(np.abs(residual))[:, None], 0.01)
    return np.asarray(np.maximum(1 - (residual / scale) ** 2, 0) ** 2, dtype=np.float64)


def _signs(detections: Detections, weight: Floats, residual: Floats, sure: Floats, change: Floats) -> Floats:
    """What foretells a centre's error, (n, 6): 1, scatter of the rays, change between the two fits, size, sureness, rays left."""
    total = weight.sum(axis=1) + 1e-6
    scatter = (weight * residual**2).sum(axis=1) / total
    return np.stack(
        [
            np.ones(len(total)),
            np.log(scatter + 1e-4),
            np.log((change**2).sum(axis=1) + 1e-4),
            np.log(detections.radius / 10),
            sure.mean(axis=1),
            np.log(total / weight.shape[1] + 1e-3),
        ],
        axis=1,
    )


def _signs_of_trouble(
    weight: Floats, unit: Floats, blur: Floats, score: Floats, size: Floats, beyond: Floats
) -> Floats:
    """(n, 5), large where a ball is hidden on one side, blurred, faint, not of the size it seemed, or cut by the picture's edge."""
    one_sided = np.hypot(*(weight @ unit).T) / (weight.sum(axis=1) + 1e-6)
    return np.column_stack(
        [
            np.log(one_sided + 0.02),
            np.log(blur + 1e-3),
            np.log(np.maximum(score, 1e-3)),
            np.log(np.abs(np.log(size)) + 0.02),
            beyond,
        ]
    )


def _beyond(image: npt.NDArray[np.uint8], centre: Floats, radius: Floats) -> Floats:
    """(n,) how far a ball comes nearer to the picture's edge than 1.15 radii, in radii."""
    far = np.array(image.shape[1::-1]) - 0.5
    room = np.minimum(centre + 0.5, far - centre).min(axis=1) / radius
    return np.asarray(np.clip(1.15 - room, 0.0, 2.0))


def _covariance(shape: Floats, basis: Floats, weight: Floats, log_variance: Floats) -> Floats:
    """(n, 2, 2) square pixels: larger across where rays are missing."""
    scaled = weight[:, :, None] * basis
    normal = scaled.transpose(0, 2, 1) @ basis + 0.02 * np.eye(basis.shape[1])
    inverse = np.linalg.inv(normal)[:, :2, :2]
    inverse *= (weight.sum(axis=1) / 2)[:, None, None]  # the identity where rays are left all around
    return np.asarray(shape @ inverse @ shape.transpose(0, 2, 1) * np.exp(log_variance)[:, None, None])


def _streaks(
    strength: rays.Floats32, middle: rays.Floats32, edge: Floats, weight: Floats, unit: Floats, spoke: Floats
) -> tuple[Floats, Floats]:
    """(n, 2) motion during the exposure, pixels, NaN where the edges are as sharp across as along; and (n,) how wide edges are.

    The width is the mean square distance of the change of colour from the edge, in square radii.

    An edge blurred by a streak of length L at angle p from its normal has variance L^2 cos^2(p) / 12 beside the lens's own.
    """
    off = middle - edge.astype(np.float32)[:, :, None]
    square = off * off
    # only what lies outside the edge: inside are stripe, number and highlight
    near = np.exp(np.float32(-4.0) * square) * np.sqrt(strength) * (off > -0.04)
    width = (near * square).sum(axis=2) / (near.sum(axis=2) + 1e-9)
    blur = (weight * width).sum(axis=1) / (weight.sum(axis=1) + 1e-6)
    spread = width * (spoke**2).sum(axis=2)
    # a shadow widens the edge on one side, motion on two: the single angle takes up the former
    double = np.column_stack([np.ones(len(unit)), 2 * unit[:, 0] ** 2 - 1, 2 * unit[:, 0] * unit[:, 1], unit])
    small = np.full(5, 1e-6)
    fit = _solve(double, weight, spread, small)
    left = spread - fit @ double.T
    scale = 1.4826 * rays.median(np.abs(left)) + 1e-9
    weight = weight * np.maximum(1 - (left / (4.685 * scale[:, None])) ** 2, 0) ** 2
    fit = _solve(double, weight, spread, small)
    swing = np.hypot(fit[:, 1], fit[:, 2])
    direction = np.arctan2(fit[:, 2], fit[:, 1]) / 2
    streak = np.sqrt(24 * swing)[:, None] * np.stack([np.cos(direction), np.sin(direction)], axis=1)
    noise = scale * np.sqrt(2.0 / np.maximum(weight.sum(axis=1), 1.0))
    clear = (swing > 6 * noise) & (swing > 0.25) & (swing > np.hypot(fit[:, 3], fit[:, 4]))
    return np.where(clear[:, None], streak, np.nan), np.asarray(blur, dtype=np.float64)
