"""Sub-pixel centres of balls: the outline against the cloth, found along rays and fitted robustly.

Along each ray from the first guess the colour profile is differentiated; the ball's edge is where it changes most near
the expected radius. Edges inside (highlight, stripe, number) and outside (the shadow's rim, a neighbour) become outliers of
the circle through all rays and lose their weight (Tukey's biweight). The spread of the edge along the rays grows with motion
during the exposure as the square of the cosine, which gives the streak.
"""

from __future__ import annotations

from dataclasses import dataclass

import cv2
import numpy as np
import numpy.typing as npt

from vision.detections import Detections, Floats

_INNER, _OUTER = 0.55, 1.5  # the stretch of a ray that is looked at, in radii


@dataclass(frozen=True, slots=True)
class RefineOptions:
    """How the outline is looked for.

    Parameters
    ----------
    rays, samples : rays per ball and samples along each.
    window : how far from the expected radius an edge is believed at first and at last, in radii.
    floor_px, floor_share : error of a centre that no residual shows (shading, shadow), pixels and share of the radius.
    inflate : factor on the standard deviation from the residuals (rays are not independent).
    """

    rays: int = 40
    samples: int = 32
    window: tuple[float, ...] = (0.22, 0.14, 0.09, 0.09)
    floor_px: float = 0.03
    floor_share: float = 0.012
    inflate: float = 1.6


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
        gives it (``outlines``); else a circle of free radius is fitted.
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
    shape = np.eye(2) * detections.radius[:, None, None] if outline is None else np.asarray(outline, dtype=np.float64)
    angle = np.arange(o.rays) * (2 * np.pi / o.rays)
    unit = np.stack([np.cos(angle), np.sin(angle)], axis=1)
    reach = np.linspace(_INNER, _OUTER, o.samples)
    spoke = np.einsum("nij,aj->nai", shape, unit)  # (n, a, 2) pixels for one radius
    profile = _sample(image, detections.centre[:, None, None] + spoke[:, :, None] * reach[:, None])
    strength = _edges(profile)  # (n, a, s - 1)
    middle = (reach[1:] + reach[:-1]) / 2
    strength *= _unhidden(detections, spoke, middle)

    # unknowns: the centre's shift and the change of size, in radii of the first guess
    size = np.ones(n)
    shift = np.zeros((n, 2))
    basis = np.concatenate([np.broadcast_to(unit, (n, *unit.shape)), np.ones((n, o.rays, 1))], axis=2)
    if outline is not None:
        basis = basis[:, :, :2]
    for step, window in enumerate(o.window):
        expected = size[:, None] + np.einsum("ai,ni->na", unit, shift)
        near = np.exp(-0.5 * ((middle - expected[:, :, None]) / window) ** 2)
        belief = strength * near
        total = belief.sum(axis=2) + 1e-9
        edge = (belief * middle).sum(axis=2) / total
        weight = total / (total + np.median(total, axis=1, keepdims=True))
        if step:
            weight = weight * _biweight(edge - expected)
        normal = np.einsum("nap,na,naq->npq", basis, weight, basis) + 1e-6 * np.eye(basis.shape[2])
        right = np.einsum("nap,na,na->np", basis, weight, edge - (1.0 if outline is not None else 0.0))
        solved = np.linalg.solve(normal, right[:, :, None])[:, :, 0]
        shift = np.clip(solved[:, :2], -0.35, 0.35)
        if outline is None:
            size = np.clip(solved[:, 2], 0.7, 1.35)
    expected = size[:, None] + np.einsum("ai,ni->na", unit, shift)
    residual = edge - expected
    return _report(detections, shape, o, basis, weight, residual, shift, size, strength, middle, edge, unit, spoke)


def outlines(camera_outline: Floats) -> Floats:
    """(n, 2, 2) matrices for `refine` from outlines sampled at even steps, (n, k, 2) pixels (``Camera.outline``).

    The matrix is the square root of twice the samples' covariance: for an ellipse, the map from the unit circle.
    """
    d = camera_outline - camera_outline.mean(axis=1, keepdims=True)
    spread = 2 * np.einsum("nki,nkj->nij", d, d) / camera_outline.shape[1]
    value, vector = np.linalg.eigh(spread)
    return np.asarray(np.einsum("nij,nj,nkj->nik", vector, np.sqrt(value), vector), dtype=np.float64)


def _sample(image: npt.NDArray[np.uint8], at: Floats) -> npt.NDArray[np.float32]:
    """Colours (n, a, s, 3) at pixels (n, a, s, 2), linearly interpolated."""
    n, a, s, _ = at.shape
    flat = at.reshape(n * a, s, 2).astype(np.float32)
    out = [
        cv2.remap(image, part[..., 0], part[..., 1], cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE)
        for part in np.array_split(flat, max(1, -(-len(flat) // 30000)))  # remap's limit is 32767 rows
    ]
    return np.concatenate(out).reshape(n, a, s, 3).astype(np.float32)


def _edges(profile: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
    """Squared change of colour along each ray (n, a, s - 1), a change of shade at one hue counting less.

    A shadow on the cloth scales all channels alike, a ball's edge seldom does: the part of the change along the colour
    itself (grey level) is kept at half weight.
    """
    p = profile.copy()
    p[:, :, 1:-1] = 0.25 * profile[:, :, :-2] + 0.5 * profile[:, :, 1:-1] + 0.25 * profile[:, :, 2:]
    change = np.diff(p, axis=2)
    hue = (p[:, :, 1:] + p[:, :, :-1]) / 2 + 8.0
    along = (change * hue).sum(axis=3) / np.sqrt((hue * hue).sum(axis=3))
    whole = (change * change).sum(axis=3)
    return np.asarray(np.maximum(whole - 0.5 * along * along, 0), dtype=np.float32)


def _unhidden(detections: Detections, spoke: Floats, middle: Floats) -> npt.NDArray[np.float32]:
    """0 where a sample lies well inside a neighbour's outline, else 1: that edge is the neighbour's, (n, a, s)."""
    n = len(detections)
    keep = np.ones((n, spoke.shape[1], len(middle)), dtype=np.float32)
    gap = np.linalg.norm(detections.centre[:, None] - detections.centre[None], axis=2)
    reach = detections.radius[:, None] * _OUTER + detections.radius[None]
    for i, j in zip(*np.nonzero((gap < reach) & ~np.eye(n, dtype=bool)), strict=True):
        at = detections.centre[i] + spoke[i][:, None] * middle[:, None]
        inside = ((at - detections.centre[j]) ** 2).sum(axis=2) < (0.97 * detections.radius[j]) ** 2
        keep[i][inside & (middle > 1.04)] = 0
    return keep


def _biweight(residual: Floats) -> Floats:
    """Tukey's weights from residuals (n, a), scaled by their median absolute value per ball."""
    scale = 4.685 * np.maximum(1.4826 * np.median(np.abs(residual), axis=1, keepdims=True), 0.01)
    return np.asarray(np.clip(1 - (residual / scale) ** 2, 0, None) ** 2, dtype=np.float64)


def _report(
    detections: Detections,
    shape: Floats,
    o: RefineOptions,
    basis: Floats,
    weight: Floats,
    residual: Floats,
    shift: Floats,
    size: Floats,
    strength: npt.NDArray[np.float32],
    middle: Floats,
    edge: Floats,
    unit: Floats,
    spoke: Floats,
) -> Detections:
    """Shift, covariance and streak in pixels, and the first guess where the outline was not found."""
    radius = np.sqrt(np.abs(np.linalg.det(shape)))
    parameters = basis.shape[2]
    degrees = np.maximum(weight.sum(axis=1) - parameters, 1.0)
    variance = (weight * residual**2).sum(axis=1) / degrees
    normal = np.einsum("nap,na,naq->npq", basis, weight, basis) + 1e-3 * np.eye(parameters)
    cov = np.linalg.inv(normal)[:, :2, :2] * variance[:, None, None]
    cov = np.einsum("nij,njk,nlk->nil", shape, cov, shape)
    # neighbouring rays share pixels: a circle holds about its length in pixels of independent ones
    crowding = np.maximum(1.0, o.rays / (2 * np.pi * radius / 1.5))
    floor = o.floor_px**2 + (o.floor_share * radius) ** 2
    cov = cov * (o.inflate**2 * crowding)[:, None, None] + np.eye(2) * floor[:, None, None]
    lost = (degrees < 0.15 * o.rays) | (np.sqrt(variance) > 0.15)
    moved = np.einsum("nij,nj->ni", shape, shift)
    centre = np.where(lost[:, None], detections.centre, detections.centre + moved)
    return detections.with_(
        centre=centre,
        radius=np.where(lost, detections.radius, radius * size),
        cov=np.where(lost[:, None, None], detections.cov, cov),
        streak=np.where(lost[:, None], np.nan, _streaks(strength, middle, edge, weight, unit, spoke)),
    )


def _streaks(
    strength: npt.NDArray[np.float32], middle: Floats, edge: Floats, weight: Floats, unit: Floats, spoke: Floats
) -> Floats:
    """(n, 2) motion during the exposure, pixels; NaN where the edges are as sharp across as along.

    An edge blurred by a streak of length L at angle p from its normal has variance L^2 cos^2(p) / 12 beside the lens's own.
    """
    near = np.exp(-0.5 * ((middle - edge[:, :, None]) / 0.25) ** 2) * np.sqrt(strength)
    spread = (near * (middle - edge[:, :, None]) ** 2).sum(axis=2) / (near.sum(axis=2) + 1e-9)
    length = np.linalg.norm(spoke, axis=2)
    spread = spread * length**2
    double = np.stack([np.ones(len(unit)), 2 * unit[:, 0] ** 2 - 1, 2 * unit[:, 0] * unit[:, 1]], axis=1)
    for _ in range(2):
        normal = np.einsum("ap,na,aq->npq", double, weight, double) + 1e-6 * np.eye(3)
        fit = np.linalg.solve(normal, np.einsum("ap,na,na->np", double, weight, spread)[:, :, None])[:, :, 0]
        left = spread - fit @ double.T
        scale = 1.4826 * np.median(np.abs(left), axis=1) + 1e-9
        weight = weight * np.clip(1 - (left / (4.685 * scale[:, None])) ** 2, 0, None) ** 2
    swing = np.hypot(fit[:, 1], fit[:, 2])
    direction = np.arctan2(fit[:, 2], fit[:, 1]) / 2
    streak = np.sqrt(24 * swing)[:, None] * np.stack([np.cos(direction), np.sin(direction)], axis=1)
    noise = scale * np.sqrt(2.0 / np.maximum(weight.sum(axis=1), 1.0))
    clear = (swing > 4 * noise) & (swing > 0.25)
    return np.where(clear[:, None], streak, np.nan)
