"""Draws a calibration on its picture so that a person can judge it at a glance."""

from __future__ import annotations

import cv2
import numpy as np

from calibration.camera import Floats
from calibration.cloth import Picture
from calibration.result import Calibration
from calibration.strips import rail_length, rail_point
from calibration.table import RAILS

GOOD_PX, FAIR_PX = 0.9, 1.8  # residual at 1920 pixels up to which the banner is green, amber
GREEN, AMBER, RED = (60, 170, 60), (0, 170, 240), (50, 50, 220)


def verdict(calibration: Calibration) -> tuple[str, tuple[int, int, int]]:
    """One line on how good the fit is, and green, amber or red (BGR)."""
    unit = max(calibration.camera.width, calibration.camera.height) / 1920
    level = calibration.rms_px / max(unit, 0.5)
    colour = GREEN if level <= GOOD_PX else AMBER if level <= FAIR_PX else RED
    if "corners-by-hand" in calibration.notes and colour == GREEN:
        colour = AMBER
    word = {GREEN: "good", AMBER: "check the lines", RED: "do not trust"}[colour]
    length = calibration.table.length_m
    assumed = " (assumed)" if "length-assumed" in calibration.notes else ""
    return f"{word}: residual {calibration.rms_px:.2f} px, {length:.2f} m long{assumed}", colour


def preview(image: Picture, calibration: Calibration) -> Picture:
    """The picture with nose lines, grid, strings, spots, pockets, the 18 diamonds and a banner.

    Parameters
    ----------
    image : (h, w, 3) BGR, of the calibrated view.
    """
    out = image.copy()
    camera, table = calibration.camera, calibration.table
    unit = max(1, round(max(image.shape[:2]) / 1400))
    w, length = table.width_m, table.length_m

    def line(points: Floats, height: float, colour: tuple[int, int, int], thick: int) -> None:
        pixels = camera.project(points, height)
        if np.isfinite(pixels).all() and np.abs(pixels).max() < 1e5:
            cv2.polylines(out, [(pixels * 16).round().astype(np.int32)], False, colour, thick, cv2.LINE_AA, 4)

    for k in range(1, 8):
        string = {2: "head", 4: "centre", 6: "foot"}.get(k)
        row = np.column_stack([np.linspace(0, w, 24), np.full(24, length * k / 8)])
        line(row, 0.0, (255, 255, 255) if string else (170, 170, 170), unit)
    for k in range(1, 4):
        column = np.column_stack([np.full(48, w * k / 4), np.linspace(0, length, 48)])
        line(column, 0.0, (255, 255, 255) if k == 2 else (170, 170, 170), unit)
    for rail in RAILS:
        s = np.linspace(0, rail_length(table, rail), 60)
        line(rail_point(table, rail, s, 0.0), table.nose_height, (60, 60, 255), 2 * unit)
        if calibration.joint_m is not None:
            line(rail_point(table, rail, s, -calibration.joint_m), calibration.rail_top_m, (60, 220, 255), unit)
    for pocket in table.pockets.values():
        turn = np.linspace(0, 2 * np.pi, 40)
        ring = np.column_stack([np.cos(turn), np.sin(turn)]) * pocket.radius + pocket.centre
        line(ring, calibration.rail_top_m, (255, 120, 255), 2 * unit)
    for spot in (table.head_spot, table.centre_spot, table.foot_spot):
        _dot(out, camera.project([spot])[0], 4 * unit, (60, 60, 255))
    setback = calibration.setback_m
    for x, y in table.sights:
        if setback is not None:
            x = -setback if x < 0 else w + setback if x > w else x
            y = -setback if y < 0 else length + setback if y > length else y
        _dot(out, camera.project([(x, y)], calibration.rail_top_m)[0], 5 * unit, (255, 255, 0))
    # names stand inside the corners, clear of the pockets, and whole in the picture
    middle = np.mean(list(calibration.corners_px.values()), axis=0)
    for name, pixel in calibration.corners_px.items():
        if np.isfinite(pixel).all() and np.abs(pixel).max() < 1e5:
            (wide, high), _ = cv2.getTextSize(name, cv2.FONT_HERSHEY_SIMPLEX, 0.5 * unit, unit)
            inward = np.sign(middle - pixel) * (wide / 2 + 12 * unit, high / 2 + 12 * unit)
            at = pixel + inward + (-wide / 2, high / 2)
            at = np.clip(at, (4, 40 * unit), (out.shape[1] - wide - 4, out.shape[0] - 6)).round().astype(int).tolist()
            cv2.putText(out, name, at, cv2.FONT_HERSHEY_SIMPLEX, 0.5 * unit, (30, 30, 30), 3 * unit, cv2.LINE_AA)
            cv2.putText(out, name, at, cv2.FONT_HERSHEY_SIMPLEX, 0.5 * unit, (255, 255, 255), unit, cv2.LINE_AA)
    text, colour = verdict(calibration)
    bar = 26 * unit
    out[:bar] = colour
    cv2.putText(
        out, text, (10 * unit, 19 * unit), cv2.FONT_HERSHEY_SIMPLEX, 0.6 * unit, (255, 255, 255), unit, cv2.LINE_AA
    )
    return out


def _dot(out: Picture, pixel: Floats, radius: int, colour: tuple[int, int, int]) -> None:
    if np.isfinite(pixel).all() and np.abs(pixel).max() < 1e5:
        cv2.circle(
            out, (pixel * 16).round().astype(int).tolist(), radius * 16, colour, max(1, radius // 3), cv2.LINE_AA, 4
        )
