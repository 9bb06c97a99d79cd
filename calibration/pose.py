"""A first camera from four corners of a rectangle of known shape: focal length and pose, before anything is refined."""

from __future__ import annotations

import cv2
import numpy as np
from scipy.optimize import least_squares

from calibration.camera import Camera, Floats

FOCAL_PRIOR = (1.1, 0.4)  # of the picture's longer side: median, and standard deviation of the logarithm


def rectangle(width_m: float, length_m: float, margin: float) -> Floats:
    """(4, 2) corners of the table frame's rectangle grown by ``margin``: head-left, head-right, foot-right, foot-left."""
    m = margin
    return np.array([[-m, -m], [width_m + m, -m], [width_m + m, length_m + m], [-m, length_m + m]])


def focal_from_square(corners: Floats, world: Floats, size: tuple[int, int]) -> float:
    """Focal length (pixels) for which the homography ``world`` -> ``corners`` keeps right angles and lengths.

    The principal point is the picture's centre (Zhang 2000, the two constraints on the image of the absolute conic).
    Where they hardly constrain it, as from straight above, the prior decides.
    """
    width, height = size
    unit = float(max(width, height))
    centred = (corners - ((width - 1) / 2, (height - 1) / 2)) / unit
    h, _ = cv2.findHomography(world.astype(np.float64), centred.astype(np.float64))
    if h is None:
        return FOCAL_PRIOR[0] * unit
    h1, h2 = h[:, 0], h[:, 1]
    scale = float(np.linalg.norm(h[:2, :2])) ** 2
    candidates = np.exp(np.linspace(np.log(0.35), np.log(8.0), 90))
    x = 1 / candidates**2
    right = (h1[:2] @ h2[:2]) * x + h1[2] * h2[2]
    equal = (h1[:2] @ h1[:2] - h2[:2] @ h2[:2]) * x + h1[2] ** 2 - h2[2] ** 2
    cost = (right**2 + equal**2 / 4) / (x * scale) ** 2 / 0.01**2
    cost += (np.log(candidates / FOCAL_PRIOR[0]) / FOCAL_PRIOR[1]) ** 2
    return float(candidates[int(cost.argmin())] * unit)


def camera_from_corners(
    corners: Floats,
    width_m: float,
    length_m: float,
    height_m: float,
    size: tuple[int, int],
    *,
    margin: tuple[float, float] = (0.0, 1e-4),
    sigma_px: float | None = None,
) -> tuple[Camera, float, float]:
    """Camera that sees the corners of the playing surface, grown by an uncertain margin, at four pixels.

    Parameters
    ----------
    corners : (4, 2) pixels of head-left, head-right, foot-right, foot-left.
    width_m, length_m : playing surface, metres.
    height_m : of the four points above the cloth.
    size : picture's width and height.
    margin : how far outside the playing surface the corners lie, metres, and its standard deviation.
    sigma_px : standard deviation of the corners; 0.3 % of the picture's longer side if left out.

    Returns
    -------
    The camera (no distortion, principal point in the middle), the root of the cost per corner (in ``sigma_px``) and
    the margin found.

    Raises
    ------
    ValueError
        Where no camera above the table sees these corners.
    """
    width, height = size
    unit = float(max(width, height))
    sigma = sigma_px or 0.003 * unit
    centre = np.array([(width - 1) / 2, (height - 1) / 2])
    signs = np.array([[-1.0, -1], [1, -1], [1, 1], [-1, 1]])
    base = rectangle(width_m, length_m, 0.0)

    def build(p: Floats) -> Camera:
        rotation, _ = cv2.Rodrigues(p[1:4])
        return Camera(width, height, float(np.exp(p[0])), centre, np.zeros(2), rotation, p[4:7])

    def residual(p: Floats) -> Floats:
        world = np.column_stack([base + p[7] * signs, np.full(4, height_m)])
        off = (build(p).project(world) - corners).ravel() / sigma
        prior = (p[0] - np.log(FOCAL_PRIOR[0] * unit)) / FOCAL_PRIOR[1]
        return np.nan_to_num(np.concatenate([off, [prior, (p[7] - margin[0]) / margin[1]]]), nan=1e3)

    start = focal_from_square(corners, rectangle(width_m, length_m, margin[0]), size)
    best: tuple[float, Floats] | None = None
    for guess in {start, FOCAL_PRIOR[0] * unit}:
        matrix = np.array([[guess, 0, centre[0]], [0, guess, centre[1]], [0, 0, 1.0]])
        flat = np.column_stack([rectangle(width_m, length_m, margin[0]), np.zeros(4)])
        solved = cv2.solvePnPGeneric(flat, corners.astype(np.float64), matrix, None, flags=cv2.SOLVEPNP_IPPE)
        for rvec, tvec in zip(solved[1], solved[2], strict=True):
            rotation, _ = cv2.Rodrigues(rvec)
            t = tvec.ravel() - rotation @ np.array([0, 0, height_m])
            p0 = np.concatenate([[np.log(guess)], rvec.ravel(), t, [margin[0]]])
            fit = least_squares(residual, p0, x_scale="jac", max_nfev=30)
            if build(fit.x).position[2] > 0.2 and (best is None or fit.cost < best[0]):
                best = (float(fit.cost), fit.x)
    if best is None:
        raise ValueError("no camera above the table sees these corners")
    return build(best[1]), float(np.sqrt(best[0] / 2)), float(best[1][7])
