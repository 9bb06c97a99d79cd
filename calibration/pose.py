"""A first camera from four corners of a rectangle of known shape: focal length and pose, before anything is refined."""

from __future__ import annotations

from dataclasses import replace

import cv2
import numpy as np

from calibration.camera import Camera, Floats
from calibration.evidence import Evidence
from calibration.lens import USUAL, Lens
from calibration.model import Fit, fit
from calibration.strips import RAIL_TOP_M
from calibration.table import Table

STRETCHES = (9 / 10, 10 / 9)
FEW = 6  # rounds of a fit that tell which of several is worth going on with
WORST_COST = 16.0  # of a first camera that is worth a look
STRETCH_COST = 4.0  # of a first camera, from which on the picture may have been stretched


def rectangle(width_m: float, length_m: float, margin: float) -> Floats:
    """(4, 2) corners of the table frame's rectangle grown by ``margin``: head-left, head-right, foot-right, foot-left."""
    m = margin
    return np.array([[-m, -m], [width_m + m, -m], [width_m + m, length_m + m], [-m, length_m + m]])


def focal_from_square(corners: Floats, world: Floats, size: tuple[int, int], lens: Lens = USUAL) -> float:
    """Focal length (pixels) for which the homography ``world`` -> ``corners`` keeps right angles and lengths.

    The principal point is the picture's centre (Zhang 2000, the two constraints on the image of the absolute conic).
    Where they hardly constrain it, as from straight above, the prior decides.
    """
    width, height = size
    unit = float(max(width, height))
    centred = (corners - ((width - 1) / 2, (height - 1) / 2)) / unit
    h, _ = cv2.findHomography(world.astype(np.float64), centred.astype(np.float64))
    if h is None:
        return lens.focal * unit
    h1, h2 = h[:, 0], h[:, 1]
    scale = float(np.linalg.norm(h[:2, :2])) ** 2
    candidates = np.exp(np.linspace(np.log(0.35), np.log(8.0), 90))
    x = 1 / candidates**2
    right = (h1[:2] @ h2[:2]) * x + h1[2] * h2[2]
    equal = (h1[:2] @ h1[:2] - h2[:2] @ h2[:2]) * x + h1[2] ** 2 - h2[2] ** 2
    cost = (right**2 + equal**2 / 4) / (x * scale) ** 2 / 0.01**2
    cost += (np.log(candidates / lens.focal) / lens.spread) ** 2
    return float(candidates[int(cost.argmin())] * unit)


def camera_from_corners(
    corners: Floats,
    table: Table,
    size: tuple[int, int],
    *,
    sigma_m: float = 0.01,
    joint_m: float = 0.045,
    joint_tied: bool = True,
    lens: Lens = USUAL,
) -> Fit:
    """Camera that sees the corners where cloth meets rail, or where the nose lines meet, at four pixels.

    Parameters
    ----------
    corners : (4, 2) pixels of head-left, head-right, foot-right, foot-left.
    table : sizes.
    size : picture's width and height.
    sigma_m : standard deviation of the corners.
    joint_m : how far outside the nose lines they lie, to begin with.
    joint_tied : false where the corners are those of the nose lines themselves.
    lens : what is known of it.

    Raises
    ------
    ValueError
        Where no camera above the table sees these corners.
    """
    width, height = size
    unit = float(max(width, height))
    centre = np.array([(width - 1) / 2, (height - 1) / 2])
    world = rectangle(table.width_m, table.length_m, joint_m)
    flat = np.column_stack([world, np.zeros(4)])
    level = RAIL_TOP_M if joint_tied else table.nose_height
    raised = np.array([0, 0, level])
    starts: list[tuple[float, Camera]] = []
    others = unit * np.array([0.5, 0.75, lens.focal, 1.7, 2.6, 4.0])
    for focal in [focal_from_square(corners, world, size, lens), *others]:
        matrix = np.array([[focal, 0, centre[0]], [0, focal, centre[1]], [0, 0, 1.0]])
        solved = cv2.solvePnPGeneric(flat, corners.astype(np.float64), matrix, None, flags=cv2.SOLVEPNP_IPPE)
        for rvec, tvec in zip(solved[1], solved[2], strict=True):
            rotation = np.asarray(cv2.Rodrigues(rvec)[0], dtype=np.float64)
            camera = Camera(
                width, height, float(focal), centre, np.zeros(2), rotation, tvec.ravel() - rotation @ raised, lens=lens
            )
            off = camera.project(world, level) - corners
            prior = (np.log(focal / lens.focal / unit) / lens.spread) ** 2
            if np.isfinite(off).all() and camera.position[2] > 0.15:
                starts.append((float((off**2).sum()) / (0.003 * unit) ** 2 + prior, camera))
    if not starts:
        raise ValueError("no camera above the table sees these corners")
    starts.sort(key=lambda s: s[0])
    # from near straight above, tilt with a long lens looks much like a little error: begin with the usual lens too
    usual = min(starts, key=lambda s: abs(np.log(s[1].focal / lens.focal / unit)) + 1e-3 * s[0])
    evidence = Evidence(corners=corners, corner_sigma_m=sigma_m, corners_at_nose=not joint_tied)
    begins = starts[:2] if any(usual is s for s in starts[:2]) else [*starts[:2], usual]
    fits = [fit(c, table, evidence, joint_m=joint_m, distortion=False, rounds=FEW) for _, c in begins]
    best = min(fits, key=lambda f: f.cost)
    found = fit(best.camera, table, evidence, joint_m=best.joint_m, distortion=False, rounds=15)
    if found.camera.position[2] < 0.15:
        raise ValueError("no camera above the table sees these corners")
    return found


def stretched_cameras(start: Camera, corners: Floats, table: Table, *, sigma_m: float = 0.01) -> list[Fit]:
    """Cameras for a stretched picture, as recordings of a screen are, 16:10 to 16:9 or the like.

    Only those from above: from the side a stretch cannot be told from a tilt.

    Parameters
    ----------
    start : camera that sees the corners best with square pixels.
    corners, table, sigma_m : as in `camera_from_corners`.
    """
    evidence = Evidence(corners=corners, corner_sigma_m=sigma_m)
    unit = float(max(start.width, start.height))
    middle = np.array([table.width_m / 2, table.length_m / 2, 0.0])
    found = []
    for aspect in STRETCHES:
        # begin straight above, with the usual lens, turned as the corners are
        centre = corners.mean(axis=0)
        side = float(np.linalg.norm(np.diff(corners[[0, 1, 2, 3, 0]], axis=0), axis=1).sum())
        focal = start.lens.focal * unit
        height = focal * 2 * (table.width_m + table.length_m) / side
        x, y = corners[1] - corners[0]
        turn = float(np.arctan2(y, x))
        rotation = np.array([[np.cos(turn), np.sin(turn), 0], [np.sin(turn), -np.cos(turn), 0], [0, 0, -1.0]])
        shift = np.array([*(centre - start.centre) / focal * height, height])
        above = replace(start, focal=focal, aspect=aspect, rotation=rotation, translation=shift - rotation @ middle)
        trial = fit(above, table, evidence, distortion=False, stretched=True, rounds=FEW)
        if _aslant(trial.camera, middle) < 0.9 and trial.cost < 2 * WORST_COST:
            trial = fit(trial.camera, table, evidence, joint_m=trial.joint_m, distortion=False, stretched=True)
            if _aslant(trial.camera, middle) < 0.6:
                found.append(trial)
    return sorted(found, key=lambda f: f.cost)[:1]


def _aslant(camera: Camera, middle: Floats) -> float:
    """How far aside of the table's middle a camera stands, in its own height."""
    eye = camera.position - middle
    return float(np.hypot(eye[0], eye[1]) / max(eye[2], 1e-6))
