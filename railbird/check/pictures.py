"""Pictures of a disputed moment: frames enlarged with the balls' outlines, and slow motion with outlines in between."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import numpy.typing as npt
from PIL import Image

from calibration.errors import InputError
from calibration.table import Table
from railbird.annotate import write_video
from railbird.check.question import Dispute
from railbird.drawing.course import Cameras, Course
from railbird.drawing.lettering import WASH, WHITE, ball_colour, panel, write
from railbird.words import Words
from vision.video import open_video

Bytes = npt.NDArray[np.uint8]
AROUND_S = 0.45
LEAD_S = 0.5  # of the recording before the pictures that are kept: from it is told which frames repeat the one before
STILL = (640, 480)
FILM = (960, 540)
FILM_RATE = 30
FILM_S = 5.0
SLOWEST = 40.0
CUE_TONE = (70, 225, 255)  # white would be lost on the ball
SHARP = ((255, 170, 60), (120, 175, 255), (205, 150, 255))


@dataclass(frozen=True, slots=True)
class Window:
    """The part of the frames around the place of a dispute.

    Parameters
    ----------
    times : (n,) of the frames, seconds.
    crops : their pixels there, (h, w, 3) BGR.
    left, top : where the crops begin in the frame, pixels.
    """

    times: list[float]
    crops: list[Bytes]
    left: int
    top: int


@dataclass(frozen=True, slots=True)
class Still:
    """One enlarged frame.

    Parameters
    ----------
    t_s : the frame's time, seconds.
    offset_ms : from the instant, milliseconds.
    image : (h, w, 3) RGB.
    """

    t_s: float
    offset_ms: float
    image: Bytes


def look(video: str | Path, match: Mapping[str, Any], dispute: Dispute, cameras: Cameras) -> Window:
    """Read the frames around the moment and keep what lies around the place.

    Raises
    ------
    InputError
        Where the recording has no frame there.
    """
    table = Table.from_json(match["table"])
    camera = cameras.at(dispute.t_s)
    middle = camera.project([dispute.at], table.ball_radius)[0]
    radius = float(camera.ball_radius_px([dispute.at], table.ball_radius)[0])
    spread = max((abs(r.t_s - dispute.t_s) for r in dispute.rivals), default=0.0) + AROUND_S
    times: list[float] = []
    crops: list[Bytes] = []
    box: tuple[int, int, int, int] | None = None
    with open_video(video, dispute.t_s - spread - LEAD_S) as stream:
        for frame in stream:
            if frame.t_s < dispute.t_s - spread or frame.repeat:
                continue
            if frame.t_s > dispute.t_s + spread:
                break
            if box is None:
                box = crop_box(middle, radius, *frame.size)
            x0, y0, x1, y1 = box
            times.append(frame.t_s)
            crops.append(np.ascontiguousarray(frame.image[y0:y1, x0:x1]))
    if box is None:
        raise InputError(f"{video}: there is no frame at {dispute.t_s:.2f} s; give a moment inside the recording")
    return Window(times, crops, box[0], box[1])


def crop_box(middle: Any, radius: float, width: int, height: int) -> tuple[int, int, int, int]:
    """Left, top, right, bottom of a 4:3 part of the frame around ``middle``, some seven balls wide, inside the frame."""
    half_w = int(min(max(8.0 * radius, 64.0), width / 2))
    half_h = int(min(half_w * 0.75, height / 2))
    half_w = min(half_w, int(half_h / 0.75))
    if not np.isfinite(middle).all():
        middle = np.array([width / 2, height / 2])
    x = int(np.clip(round(float(middle[0])), half_w, width - half_w))
    y = int(np.clip(round(float(middle[1])), half_h, height - half_h))
    return x - half_w, y - half_h, x + half_w, y + half_h


def stills(
    window: Window, match: Mapping[str, Any], dispute: Dispute, course: Course, cameras: Cameras, count: int = 4
) -> list[Still]:
    """The frames that decide: the last before and the first after each of the rivals."""
    picked = decisive(window.times, [r.t_s for r in dispute.rivals] or [dispute.t_s], count)
    zero = dispute.rivals[0].t_s if dispute.rivals else dispute.t_s
    found = []
    for k in picked:
        t = window.times[k]
        image = enlarge(window.crops[k], STILL)
        _outlines(image, window, window.crops[k].shape, match, dispute, course, cameras, t)
        rgb = cv2.cvtColor(image, cv2.COLOR_BGR2RGB)
        found.append(Still(t, 1e3 * (t - zero), np.asarray(rgb, np.uint8)))
    return found


def decisive(times: Sequence[float], instants: Sequence[float], count: int) -> list[int]:
    """Indices of the ``count`` frames that lie nearest around the instants, in order of time."""
    wanted: list[int] = []
    after = [int(np.searchsorted(times, t)) for t in instants[:2]]
    for reach in range(len(times)):
        for k in after:
            for place in (k - 1 - reach, k + reach):
                if 0 <= place < len(times) and place not in wanted:
                    wanted.append(place)
        if len(wanted) >= count:
            break
    return sorted(wanted[:count])


def enlarge(crop: Bytes, size: tuple[int, int]) -> Bytes:
    """A crop brought to ``size`` (width, height), cut to its shape first, smoothly."""
    h, w = crop.shape[:2]
    want = size[0] / size[1]
    if w / h > want:
        cut = int(h * want)
        crop = crop[:, (w - cut) // 2 : (w - cut) // 2 + cut]
    else:
        cut = int(w / want)
        crop = crop[(h - cut) // 2 : (h - cut) // 2 + cut]
    return np.asarray(cv2.resize(crop, size, interpolation=cv2.INTER_CUBIC), np.uint8)


def _outlines(
    image: Bytes,
    window: Window,
    shape: tuple[int, ...],
    match: Mapping[str, Any],
    dispute: Dispute,
    course: Course,
    cameras: Cameras,
    t: float,
) -> None:
    """Draw the outlines of the balls in dispute at time ``t`` onto an enlarged crop, in place."""
    table = Table.from_json(match["table"])
    camera = cameras.at(t)
    places = course.balls(t)
    h, w = shape[:2]
    size = (image.shape[1], image.shape[0])
    zoom = max(size[0] / w, size[1] / h)
    cut_x, cut_y = (w - size[0] / zoom) / 2, (h - size[1] / zoom) / 2
    for ball in dispute.balls:
        if ball not in places:
            continue
        rim = camera.outline(places[ball], table.ball_radius, 72)
        if not np.isfinite(rim).all():
            continue
        points = (rim - [window.left + cut_x, window.top + cut_y] + 0.5) * zoom - 0.5
        tone = tone_of(ball, dispute)
        packed = [np.round(points * 16).astype(np.int32)]
        cv2.polylines(image, packed, True, (20, 24, 22), 5, cv2.LINE_AA, 4)
        cv2.polylines(image, packed, True, tone[::-1], 3, cv2.LINE_AA, 4)


def tone_of(ball: int, dispute: Dispute) -> tuple[int, int, int]:
    """RGB of a ball's outline: its own for the cue ball, the same tones as in the diagram for the others."""
    if ball == 0:
        return CUE_TONE
    order = [r.ball for r in dispute.rivals]
    return SHARP[order.index(ball) % len(SHARP)] if ball in order else ball_colour(ball)


def slow_motion(
    window: Window,
    match: Mapping[str, Any],
    dispute: Dispute,
    course: Course,
    cameras: Cameras,
    out: Path,
    words: Words,
) -> float:
    """Write the slow motion; returns how many times slower it is."""
    instants = [r.t_s for r in dispute.rivals] or [dispute.t_s]
    step = float(np.median(np.diff(window.times))) if len(window.times) > 1 else 1 / 30
    begin = max(window.times[0], min(instants) - max(0.06, 3 * step))
    begin = max(t for t in window.times if t <= begin)  # with a picture of that very moment
    end = min(window.times[-1], max(instants) + max(0.06, 3 * step))
    end = max(end, begin + 1e-3)
    factor = min(SLOWEST, FILM_S / (end - begin))
    factor = float(round(factor)) if factor >= 2 else 2.0
    count = max(2, round((end - begin) * factor * FILM_RATE))

    def frames() -> Iterator[tuple[float, Bytes]]:
        held, base = -1, None
        for n in range(count):
            t = begin + (end - begin) * n / (count - 1)
            k = max(0, int(np.searchsorted(window.times, t + 1e-9)) - 1)
            if k != held:
                held, base = k, enlarge(window.crops[k], FILM)
            assert base is not None
            image = base.copy()
            _outlines(image, window, window.crops[k].shape, match, dispute, course, cameras, t)
            _ruler(image, t, begin, end, window.times, instants, words)
            yield n / FILM_RATE, np.asarray(cv2.cvtColor(image, cv2.COLOR_BGR2YUV_I420), np.uint8)

    write_video(out, frames(), rate=float(FILM_RATE))
    return factor


def _ruler(
    image: Bytes, t: float, begin: float, end: float, times: Sequence[float], instants: Sequence[float], words: Words
) -> None:
    """A strip of time under the picture: frames as ticks, instants as marks, now as a knob; the time in milliseconds."""
    height, width = image.shape[:2]
    strip = image[height - 58 :]
    wash = np.empty_like(strip)
    wash[:] = WASH[::-1]
    cv2.addWeighted(strip, 0.25, wash, 0.5, 0.0, dst=strip)
    left, right, y = 24, width - 170, height - 28

    def x(at: float) -> int:
        return round(left + (right - left) * float(at - begin) / (end - begin))

    cv2.line(image, (left, y), (right, y), (170, 190, 184), 2, cv2.LINE_AA)
    for at in times:
        if begin <= at <= end:
            cv2.line(image, (x(at), y - 7), (x(at), y + 7), (170, 190, 184), 2, cv2.LINE_AA)
    for k, at in enumerate(instants[:2]):
        cv2.circle(image, (x(at), y), 9, SHARP[k][::-1], 3, cv2.LINE_AA)
    cv2.circle(image, (x(t), y), 7, (255, 255, 255), -1, cv2.LINE_AA)
    label = panel(140, 40, WASH, 0.0)
    write(label, (134, 20), f"{words.number(1e3 * (t - instants[0]), 1)} ms", 26, WHITE, anchor="rm")
    part = image[height - 48 : height - 8, width - 150 : width - 10]
    ink = np.asarray(label)
    alpha = ink[..., 3:].astype(np.float64) / 255
    part[:] = (part * (1 - alpha) + ink[..., 2::-1] * alpha).astype(np.uint8)


def jpeg(image: Bytes, quality: int = 88) -> bytes:
    """(h, w, 3) RGB as JPEG bytes."""
    done, data = cv2.imencode(".jpg", cv2.cvtColor(image, cv2.COLOR_RGB2BGR), [cv2.IMWRITE_JPEG_QUALITY, quality])
    if not done:
        raise ValueError("the picture could not be encoded")
    return bytes(data)


def as_image(image: Bytes) -> Image.Image:
    """For Pillow."""
    return Image.fromarray(image)
