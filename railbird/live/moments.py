"""The instant a doubtful call hangs on: frames of the shot's clip around it, enlarged, side by side."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import av
import cv2
import numpy as np
import numpy.typing as npt

from calibration.errors import InputError
from calibration.table import CORNERS, Table

FRAMES = 6
TILE = 300
SPAN_M = 0.42  # of the table shown in a tile


def moment_strip(
    clip: Path,
    at_s: float,
    *,
    began_s: float = 0.0,
    point: Sequence[float] | None = None,
    corners: Mapping[str, Sequence[float]] | None = None,
    table: Table | None = None,
) -> bytes:
    """A JPEG of the frames just before and after an instant, the place in question in the middle of each.

    Parameters
    ----------
    clip : the shot's clip.
    at_s : the instant, seconds of the stream; ``began_s`` is the stream's time of the clip's first picture.
    point : the place, metres, table frame; without it the whole picture is shown.
    corners : the table's corners in the clip's pictures, pixels.

    Raises
    ------
    InputError
        Where the clip is gone or holds no picture near that instant.
    """
    window = _window(point, corners, table) if point is not None and corners and table is not None else None
    frames = _around(clip, at_s - began_s)
    tiles = []
    for t, image in frames:
        tile = _tile(image, window)
        text = f"{1000 * (t - (at_s - began_s)):+.0f} ms"
        cv2.rectangle(tile, (0, TILE - 26), (TILE, TILE), (20, 24, 22), -1)
        cv2.putText(tile, text, (8, TILE - 8), cv2.FONT_HERSHEY_SIMPLEX, 0.55, (235, 240, 236), 1, cv2.LINE_AA)
        tiles.append(tile)
    rows = [np.hstack(tiles[k : k + 3]) for k in range(0, len(tiles) - len(tiles) % 3, 3)] or [np.hstack(tiles)]
    done, data = cv2.imencode(".jpg", np.vstack(rows), [cv2.IMWRITE_JPEG_QUALITY, 88])
    if not done:
        raise InputError("the frames could not be written as a picture")
    return bytes(data.tobytes())


def _around(clip: Path, at: float) -> list[tuple[float, npt.NDArray[np.uint8]]]:
    """The six frames nearest to an instant of the clip, in order."""
    kept: list[tuple[float, npt.NDArray[np.uint8]]] = []
    try:
        with av.open(str(clip)) as box:
            stream = box.streams.video[0]
            box.seek(int(max(0.0, at - 1.0) / float(stream.time_base or 1)), stream=stream)
            for frame in box.decode(stream):
                t = float(frame.time or 0.0)
                if t > at + 1.0:
                    break
                kept.append((t, np.asarray(frame.to_ndarray(format="bgr24"), np.uint8)))
                if len(kept) > FRAMES and kept[FRAMES // 2 + 1][0] <= at:
                    kept.pop(0)
                elif len(kept) >= FRAMES and kept[-1][0] > at and sum(t > at for t, _ in kept) >= FRAMES // 2:
                    break
    except (OSError, av.error.FFmpegError, IndexError) as error:
        raise InputError(f"the clip of this shot cannot be read ({error})") from None
    if not kept:
        raise InputError("the clip of this shot holds no picture near that instant")
    return kept[-FRAMES:]


def _window(
    point: Sequence[float], corners: Mapping[str, Sequence[float]], table: Table
) -> npt.NDArray[np.float32] | None:
    """A square around the place, as four picture points."""
    if not all(name in corners for name in CORNERS):
        return None
    here = np.array([table.corners[name] for name in CORNERS], np.float32)
    there = np.array([corners[name] for name in CORNERS], np.float32)
    homography = cv2.getPerspectiveTransform(here, there)
    middle = cv2.perspectiveTransform(np.array([[point]], np.float32), homography)[0, 0]
    side = np.array([[[point[0] + SPAN_M / 2, point[1]]], [[point[0], point[1] + SPAN_M / 2]]], np.float32)
    reach = np.linalg.norm(cv2.perspectiveTransform(side, homography)[:, 0] - middle, axis=1).max()
    box = [[-reach, -reach], [reach, -reach], [reach, reach], [-reach, reach]]
    return np.asarray(middle + np.array(box), np.float32)


def _tile(image: npt.NDArray[np.uint8], window: npt.NDArray[np.float32] | None) -> npt.NDArray[np.uint8]:
    if window is None:
        height, width = image.shape[:2]
        scale = TILE / max(height, width)
        small = cv2.resize(image, (round(width * scale), round(height * scale)), interpolation=cv2.INTER_AREA)
        tile = np.zeros((TILE, TILE, 3), np.uint8)
        tile[: small.shape[0], : small.shape[1]] = small
        return tile
    goal = np.array([[0, 0], [TILE, 0], [TILE, TILE], [0, TILE]], np.float32)
    warp = cv2.getPerspectiveTransform(window, goal)
    return np.asarray(cv2.warpPerspective(image, warp, (TILE, TILE), flags=cv2.INTER_CUBIC), np.uint8)
