"""Where the panels of an annotated video go: beside the table, or over what says the least; pockets are never worth hiding."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import cv2
import numpy as np
import numpy.typing as npt

CELL = 4  # pixels of the frame to one of the map
POCKET = 30  # how much more a pocket's place weighs than cloth
POCKET_SHARE = 0.055  # radius of what belongs to a pocket, of the table's sides' mean length
BESIDE = (0.27, 0.73)  # of the frame's width: between a corner pocket and a side pocket
HIDDEN = 0.015  # share of the cloth that a panel may cover


def place_panels(
    match: Mapping[str, Any], size: tuple[int, int], sizes: Mapping[str, tuple[int, int]], factor: float = 1.0
) -> dict[str, tuple[int, int]]:
    """Top left corners of top view, score bug and banner, where they hide the least of the table.

    Parameters
    ----------
    size : (width, height) of the frames, pixels.
    sizes : (width, height) of ``view``, ``bug`` and ``banner``, pixels.
    factor : how much smaller than the recording the frames are.
    """
    width, height = size
    gap = round(0.02 * height) + 4
    taken = _worth(match, size, factor)

    def cost(x: int, y: int, w: int, h: int) -> int:
        return int(taken[_cells(x, y, w, h)].sum())

    def spots(w: int, h: int) -> list[tuple[int, int]]:
        right, bottom = width - w - gap, height - h - gap
        corners = [(right, gap), (gap, gap), (right, bottom), (gap, bottom)]
        # where a table fills the frame its pockets lie in the corners: then beside them, over the rails
        return corners + [(round(share * width - w / 2), y) for y in (gap, bottom) for share in BESIDE]

    found: dict[str, tuple[int, int]] = {}
    w, h = sizes["banner"]
    low, high = ((width - w) // 2, height - h - gap), ((width - w) // 2, gap)
    at = low if cost(*low, w, h) <= cost(*high, w, h) + cost(0, 0, width, height) // 20 else high
    found["banner"] = at
    taken[_cells(*at, w, h)] += 3
    for name in ("view", "bug"):
        w, h = sizes[name]
        x, y = min(spots(w, h), key=lambda p: cost(p[0], p[1], w, h))
        found[name] = (x, y)
        taken[_cells(x, y, w, h)] += 1000
    return found


def hides_table(
    match: Mapping[str, Any], size: tuple[int, int], place: tuple[int, int, int, int], factor: float = 1.0
) -> bool:
    """Whether a panel at ``place`` (left, top, width, height) covers a pocket, or more of the cloth than one does without."""
    worth = _worth(match, size, factor)
    part = worth[_cells(*place)]
    return bool((part >= POCKET).any() or part.sum() > HIDDEN * (worth > 0).sum())


def _cells(x: int, y: int, w: int, h: int) -> tuple[slice, slice]:
    return slice(max(y, 0) // CELL, (y + h) // CELL + 1), slice(max(x, 0) // CELL, (x + w) // CELL + 1)


def _worth(match: Mapping[str, Any], size: tuple[int, int], factor: float) -> npt.NDArray[np.int64]:
    """What there is to be seen in each cell of the frame: nothing, cloth, or a pocket."""
    width, height = size
    worth = np.zeros((height // CELL + 1, width // CELL + 1), np.uint8)
    corners = match["table"].get("corners_px") or {}
    if len(corners) < 4:
        return worth.astype(np.int64)
    outline = np.array([corners[c] for c in ("head-left", "head-right", "foot-right", "foot-left")]) * factor / CELL
    if not np.isfinite(outline).all():
        return worth.astype(np.int64)
    cv2.fillPoly(worth, [np.round(np.clip(outline, -1e4, 1e4)).astype(np.int32)], 1)
    table = np.array([[0, 0], [1, 0], [1, 2], [0, 2]], np.float32)
    pockets = np.array([[[0, 0]], [[1, 0]], [[1, 1]], [[1, 2]], [[0, 2]], [[0, 1]]], np.float32)
    seen = cv2.perspectiveTransform(pockets, cv2.getPerspectiveTransform(table, outline.astype(np.float32)))
    radius = POCKET_SHARE * float(np.hypot(*(outline - np.roll(outline, 1, axis=0)).T).mean())
    for x, y in np.clip(seen[:, 0], -1e4, 1e4):
        cv2.circle(worth, (round(float(x)), round(float(y))), max(1, round(radius)), POCKET, -1)
    return worth.astype(np.int64)
