"""Tells which end of the table is the head: the rack stands on the foot spot, the break is played from the kitchen."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import numpy.typing as npt

from calibration.result import Calibration

RACK_P = 0.98
BREAK_P = 0.95


def head_from_rack(calibration: Calibration, rack_xy: npt.ArrayLike) -> Calibration:
    """Turns the table so that a set rack lies at the foot.

    Parameters
    ----------
    rack_xy : (n, 2) places of the racked balls, metres in the calibration's present frame.
    """
    middle = float(np.median(np.atleast_2d(np.asarray(rack_xy, dtype=np.float64))[:, 1]))
    return _with_foot_at(calibration, middle, RACK_P)


def head_from_break(calibration: Calibration, cue_ball_xy: npt.ArrayLike) -> Calibration:
    """Turns the table so that a break, or ball in hand behind the string, is played from the head.

    Parameters
    ----------
    cue_ball_xy : (2,) where the cue ball lay before the stroke, metres in the calibration's present frame.
    """
    y = float(np.asarray(cue_ball_xy, dtype=np.float64).ravel()[1])
    return _with_foot_at(calibration, calibration.table.length_m - y, BREAK_P)


def _with_foot_at(calibration: Calibration, y: float, p: float) -> Calibration:
    right_way = y >= calibration.table.centre_string
    return replace(calibration if right_way else calibration.turned(), head_p=p)
