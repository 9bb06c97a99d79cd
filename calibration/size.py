"""Tells a table's size from what does not grow with it: the balls' diameter, the cushions' and the rails' width."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import numpy.typing as npt

from calibration.result import Calibration
from calibration.table import SIGHT_SETBACK_M, SIZES

#: How common the trade sizes are where somebody films: pro tables are 9 ft, bar tables 7 ft.
COMMON = {"7ft": 0.22, "8ft": 0.14, "8ft-pro": 0.14, "9ft": 0.50}
BALL_SPREAD = 0.035  # of the apparent radius, all balls of a picture together: outlines and detectors differ
JOINT_M, JOINT_SPREAD = 0.050, 0.16
SETBACK_SPREAD = 0.11
SURE = 0.6


def length_probabilities(
    calibration: Calibration, centres_px: npt.ArrayLike | None = None, radii_px: npt.ArrayLike | None = None
) -> dict[str, float]:
    """Probability of each trade size.

    Parameters
    ----------
    calibration : fitted with any size.
    centres_px : (n, 2) centres of balls' outlines, pixels.
    radii_px : (n,) their radii (geometric mean of the half axes), pixels.
    """
    log_p = {name: float(np.log(p)) for name, p in COMMON.items()}
    now = calibration.table.length_m
    for name, (length, _) in SIZES.items():
        if calibration.setback_m is not None:
            log_p[name] -= 0.5 * (np.log(calibration.setback_m * length / now / SIGHT_SETBACK_M) / SETBACK_SPREAD) ** 2
        if calibration.joint_m is not None:
            log_p[name] -= 0.5 * (np.log(calibration.joint_m * length / now / JOINT_M) / JOINT_SPREAD) ** 2
    centres = np.zeros((0, 2)) if centres_px is None else np.asarray(centres_px, dtype=np.float64).reshape(-1, 2)
    radii = np.zeros(0) if radii_px is None else np.asarray(radii_px, dtype=np.float64).ravel()
    if len(radii) >= 2 and len(radii) == len(centres):
        for name, (length, _) in SIZES.items():
            trial = calibration.resized(length)
            ball = trial.table.ball_radius
            expected = trial.camera.ball_radius_px(trial.camera.unproject(centres, ball), ball)
            ratio = radii / expected
            ratio = ratio[np.isfinite(ratio) & (ratio > 0)]
            if len(ratio) < 2:
                continue
            middle = float(np.log(np.median(ratio)))
            noise = 1.25 * float(np.std(np.log(ratio))) / np.sqrt(len(ratio))
            log_p[name] -= 0.5 * (middle / np.hypot(BALL_SPREAD, min(noise, 0.1))) ** 2
    top = max(log_p.values())
    weight = {name: float(np.exp(v - top)) for name, v in log_p.items()}
    total = sum(weight.values())
    return {name: w / total for name, w in weight.items()}


def size_from_balls(calibration: Calibration, centres_px: npt.ArrayLike, radii_px: npt.ArrayLike) -> Calibration:
    """The calibration at the size that the balls tell, with each size's probability; the size it has where they do not.

    Parameters
    ----------
    calibration : found without a length given.
    centres_px, radii_px : as in `length_probabilities`.
    """
    p = length_probabilities(calibration, centres_px, radii_px)
    best = max(p, key=lambda name: p[name])
    notes = tuple(n for n in calibration.notes if n != "length-assumed")
    if p[best] >= SURE:
        return replace(calibration.resized(SIZES[best][0]), length_p=p, notes=notes)
    return replace(calibration, length_p=p, notes=(*notes, "length-assumed"))
