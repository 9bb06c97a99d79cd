"""Frames with the stream's own timestamps from files, picture folders, cameras and network streams.

PyAV is used rather than OpenCV's reader: both decode equally fast, but only PyAV hands over the luma plane without
a colour conversion (the change test needs no more), the rotation flag, the colour matrix and exact presentation times.
"""

from __future__ import annotations

import hashlib
import os
import queue
import threading
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from types import TracebackType
from typing import Any

import av
import cv2
import numpy as np
import numpy.typing as npt
from av.error import FFmpegError
from av.video.reformatter import Interpolation

from calibration.errors import InputError

Bytes = npt.NDArray[np.uint8]

PICTURES = {".jpg", ".jpeg", ".png", ".bmp"}
FOLDER_RATE = 30.0  # pictures a second assumed for a folder, which has no clock of its own


class Frame:
    """One picture of a stream; pixels are converted only when asked for.

    Attributes
    ----------
    index : place in the stream, from 0.
    t_s : presentation time, seconds after the first frame; stands for the middle of the exposure.
    repeat : the picture before, shown again (a 25 pictures/s recording in a 60 frames/s file): it carries no news.
    """

    __slots__ = ("_image", "_luma", "_raw", "index", "repeat", "t_s")

    def __init__(self, index: int, t_s: float, raw: av.VideoFrame | None, image: Bytes | None = None) -> None:
        self.index = index
        self.t_s = t_s
        self.repeat = False
        self._raw = raw
        self._image = image
        self._luma: Bytes | None = None

    @property
    def image(self) -> Bytes:
        """(height, width, 3) BGR, upright."""
        if self._image is None:
            assert self._raw is not None
            image = self._raw.to_ndarray(format="bgr24")
            self._image = _upright(image, self._raw.rotation)
        return self._image

    @property
    def luma(self) -> Bytes:
        """(height, width) brightness, upright; no colour conversion where the stream is planar YUV."""
        if self._luma is None:
            raw = self._raw
            if raw is None:
                self._luma = np.asarray(cv2.cvtColor(self.image, cv2.COLOR_BGR2GRAY), np.uint8)
            elif raw.format.name.startswith(("yuv4", "yuvj4", "nv12")) and raw.format.components[0].bits == 8:
                plane = raw.planes[0]
                flat = np.frombuffer(plane, np.uint8).reshape(-1, plane.line_size)  # type: ignore[call-overload]
                self._luma = _upright(flat[: raw.height, : raw.width], raw.rotation)
            else:
                self._luma = _upright(raw.to_ndarray(format="gray"), raw.rotation)
        return self._luma

    @property
    def i420(self) -> Bytes:
        """(height * 3 / 2, width) planar YUV 4:2:0, limited range, upright: what an encoder takes; a fresh copy, even sizes."""
        if self._raw is None:
            height, width = (n & ~1 for n in self.image.shape[:2])
            return np.asarray(cv2.cvtColor(self.image[:height, :width], cv2.COLOR_BGR2YUV_I420), np.uint8)
        raw = self._raw
        width, height = raw.width & ~1, raw.height & ~1
        flat = np.asarray(raw.reformat(width=width, height=height, format="yuv420p").to_ndarray(), np.uint8)
        turns = round(raw.rotation / 90) % 4
        if not turns:
            return flat
        luma, chroma = flat[:height], flat[height:].reshape(2, height // 2, width // 2)
        planes = [np.rot90(plane, turns).ravel() for plane in (luma, *chroma)]
        return np.concatenate(planes).reshape(-1, height if turns % 2 else width)

    def scaled(self, width: int, height: int) -> av.VideoFrame:
        """The picture upright in another size (even), planar YUV 4:2:0, for an encoder; without a detour over colours where it can be."""
        if self._raw is not None and not self._raw.rotation:
            return self._raw.reformat(width, height, "yuv420p", interpolation=Interpolation.FAST_BILINEAR)
        small = cv2.resize(self.image, (width, height), interpolation=cv2.INTER_LINEAR)
        return av.VideoFrame.from_ndarray(small, format="bgr24").reformat(format="yuv420p")

    @property
    def size(self) -> tuple[int, int]:
        """(width, height) upright, pixels."""
        if self._raw is None:
            height, width = self.image.shape[:2]
            return width, height
        width, height = self._raw.width, self._raw.height
        return (height, width) if self._raw.rotation % 180 else (width, height)


def _upright(image: Bytes, rotation: int) -> Bytes:
    """Undo the display matrix: ``rotation`` is in degrees, counter-clockwise, as the decoder tells it."""
    turns = round(rotation / 90) % 4
    return np.ascontiguousarray(np.rot90(image, turns)) if turns else image


@dataclass(frozen=True, slots=True)
class SourceInfo:
    """What is known of a stream before it is read through; ``rate`` is nominal and never used as a clock."""

    name: str
    width: int
    height: int
    rate: float | None
    frames: int | None
    duration_s: float | None


class RepeatFilter:
    """Marks frames that show the picture before once more.

    A repeat changes next to nothing while its neighbours change much. Nothing is marked while the picture is still
    (then it does not matter), so the test compares with the largest change of the last few frames.
    """

    STEP = 2
    LEVEL = 12
    BUSY = 24  # changed samples of a moving picture, at least
    SHARE = 0.06

    def __init__(self) -> None:
        self._last: npt.NDArray[np.int16] | None = None
        self._recent: deque[int] = deque(maxlen=5)

    def __call__(self, luma: Bytes) -> bool:
        step = max(self.STEP, luma.shape[1] // 640)
        now = luma[::step, ::step].astype(np.int16)
        last, self._last = self._last, now
        if last is None or last.shape != now.shape:
            return False
        changed = int(np.count_nonzero(np.abs(now - last) > self.LEVEL))
        busy = max(self._recent, default=0)
        self._recent.append(changed)
        return busy >= self.BUSY and changed < self.SHARE * busy


@dataclass
class Video:
    """An open source; iterate it once for its frames, in a ``with`` block.

    Decoding runs in a thread of its own so that it overlaps with what is done to the frames. Damage in the stream ends
    it: what decoded before is given, and ``problem`` says what happened.
    """

    info: SourceInfo
    _frames: Iterator[Frame]
    _close: Any
    ahead: int = 6
    problem: str | None = None
    decoded: int = 0
    last_t_s: float = 0.0
    _stop: threading.Event = field(default_factory=threading.Event)

    def __enter__(self) -> Video:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        self._stop.set()

    def __iter__(self) -> Iterator[Frame]:
        waiting: queue.Queue[Frame | None] = queue.Queue(self.ahead)

        def put(item: Frame | None) -> bool:
            while not self._stop.is_set():
                try:
                    waiting.put(item, timeout=0.2)
                    return True
                except queue.Full:
                    continue
            return False

        def work() -> None:
            repeated = RepeatFilter()
            try:
                for frame in self._frames:
                    frame.repeat = repeated(frame.luma)
                    if not put(frame):
                        break
            except (FFmpegError, OSError, ValueError) as error:
                self.problem = str(error)
            finally:
                self._close()
                put(None)

        thread = threading.Thread(target=work, name="decode", daemon=True)
        thread.start()
        try:
            while (frame := waiting.get()) is not None:
                self.decoded += 1
                self.last_t_s = frame.t_s
                yield frame
        finally:
            self._stop.set()
            thread.join(timeout=5)


def open_video(source: str | os.PathLike[str], since_s: float = 0.0) -> Video:
    """Open a video file, a folder of pictures, a camera (``0``, ``/dev/video0``) or a stream's address.

    Parameters
    ----------
    source : what to open.
    since_s : where nothing before this time is wanted, seconds from the first frame; a file that can be entered there begins
        with the key frame before it. Times are still told from the first frame, `Frame.index` and `Video.decoded` are not.

    Raises
    ------
    InputError
        Where there is no such source, or nothing in it decodes to a picture; the message says which and why.
    """
    name = os.fspath(source)
    if name.isdigit() or name.startswith("/dev/video"):
        device = f"/dev/video{name}" if name.isdigit() else name
        return _open_container(device, name, {"format": "v4l2"})
    if "://" in name:
        options = {"rtsp_transport": "tcp"} if name.startswith("rtsp") else {}
        return _open_container(name, name, {"options": options, "timeout": (10.0, 10.0)})
    path = Path(name)
    if path.is_dir():
        return _open_folder(path)
    if not path.exists():
        raise InputError(f"{name}: no such file; give a video, a folder of pictures, a camera number or an address")
    if path.stat().st_size == 0:
        raise InputError(f"{name}: the file is empty (0 bytes); copy or record it again")
    return _open_container(name, name, {}, since_s)


def _open_container(address: str, name: str, options: dict[str, Any], since_s: float = 0.0) -> Video:
    try:
        container = av.open(address, **options)
    except (FFmpegError, OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise InputError(f"{name}: cannot be read as a video ({reason}); give a file that a player can play") from None
    if not container.streams.video:
        container.close()
        raise InputError(f"{name}: holds no video stream; give a file with pictures")
    stream = container.streams.video[0]
    stream.thread_type = "AUTO"
    frames = _decode(container, stream)
    try:
        first = next(frames)
    except (StopIteration, FFmpegError, OSError, ValueError) as error:
        container.close()
        reason = "" if isinstance(error, StopIteration) else f" ({getattr(error, 'strerror', None) or error})"
        raise InputError(f"{name}: not one frame of it decodes{reason}; record or export it again") from None
    width, height = first.size
    rate = float(stream.average_rate) if stream.average_rate and stream.average_rate > 0 else None
    duration = float(stream.duration * stream.time_base) if stream.duration and stream.time_base else None
    count = stream.frames if 0 < (stream.frames or 0) < 10**8 else None
    if count is None and duration and rate:
        count = max(1, round(duration * rate))
    info = SourceInfo(name, width, height, rate, count, duration)
    if since_s > 0:
        entered = _enter(container, stream, first, since_s)
        if entered is None:
            container.close()
            return _open_container(address, name, options)
        first, frames = entered

    def rest() -> Iterator[Frame]:
        yield first
        yield from frames

    return Video(info, rest(), container.close)


def _enter(container: Any, stream: Any, first: Frame, since_s: float) -> tuple[Frame, Iterator[Frame]] | None:
    """The first frame from the key frame before ``since_s`` on and those after it; None where the stream cannot be entered there."""
    origin = _stamp(first)
    if origin is None or not stream.time_base:
        return None
    try:
        container.seek(int((origin + since_s) / stream.time_base), stream=stream, backward=True)
        frames = _decode(container, stream, origin)
        entry = next(frames)
    except (StopIteration, FFmpegError, OSError, ValueError):
        return None
    return None if _stamp(entry) is None or entry.t_s > since_s else (entry, frames)


def _stamp(frame: Frame) -> float | None:
    """A decoded frame's own presentation time, seconds by the stream's clock."""
    raw = frame._raw
    return None if raw is None or raw.pts is None or not raw.time_base else float(raw.pts * Fraction(raw.time_base))


def _decode(container: Any, stream: Any, origin: float | None = None) -> Iterator[Frame]:
    """Frames in order of presentation; missing or backward timestamps are mended from the frame before.

    Times count from ``origin`` by the stream's clock; where that is not given, from the first frame.
    """
    step = float(1 / stream.average_rate) if stream.average_rate and stream.average_rate > 0 else 1 / 30
    entered = origin is not None
    last = -np.inf
    for index, raw in enumerate(container.decode(stream)):
        at = float(raw.pts * Fraction(raw.time_base)) if raw.pts is not None and raw.time_base else None
        if origin is None:
            origin = at or 0.0
        t = last + step if at is None else at - origin
        if t <= last:
            t = last + step / 2
        if last == -np.inf and not (entered and at is not None):
            t = 0.0
        last = t
        yield Frame(index, t, raw)


def _open_folder(path: Path) -> Video:
    files = sorted(p for p in path.iterdir() if p.suffix.lower() in PICTURES)
    if not files:
        raise InputError(f"{path}: no pictures (.jpg, .png) in this folder; give one that holds frames, named in order")
    first = cv2.imread(str(files[0]))
    if first is None:
        raise InputError(f"{files[0]}: cannot be read as a picture; take it out of the folder")
    height, width = first.shape[:2]

    def frames() -> Iterator[Frame]:
        for index, file in enumerate(files):
            image = cv2.imread(str(file))
            if image is None:
                raise ValueError(f"{file}: cannot be read as a picture")
            yield Frame(index, index / FOLDER_RATE, None, np.asarray(image, np.uint8))

    info = SourceInfo(str(path), width, height, FOLDER_RATE, len(files), len(files) / FOLDER_RATE)
    return Video(info, frames(), lambda: None)


def file_sha256(path: str | os.PathLike[str]) -> str | None:
    """SHA-256 of a file's bytes, hexadecimal; None for what is not a file."""
    if not Path(path).is_file():
        return None
    with open(path, "rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()
