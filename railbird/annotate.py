"""Writes ``annotated.mp4``: numbers, trails, event flashes at their true times, ruling banner, score bug, top view."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import av
import cv2
import numpy as np
from av.error import FFmpegError

from calibration.errors import InputError
from railbird.drawing.canvas import BT601, BT709, Canvas
from railbird.drawing.course import Cameras, Course
from railbird.drawing.overlay import Overlay
from railbird.words import words
from vision.video import Frame, open_video

CLOCK = 90_000  # ticks a second of the video we write: every usual frame rate fits
AUDIO_THAT_FITS = ("aac", "mp3", "ac3", "eac3", "opus", "alac")
#: x264: a picture that stands up to a still at a pace that two cores keep with real time at 1080p.
ENCODER = {"preset": "superfast", "crf": "23"}
HOLD_S = 3.0
LARGEST = 1440  # lines; what phones record in 4K is written smaller, or it would neither be drawn nor sent in time


def annotate(
    match: Mapping[str, Any],
    video: str | Path,
    out: str | Path,
    *,
    language: str | None = None,
    step: Callable[[], None] | None = None,
    span: tuple[float, float] | None = None,
) -> Path:
    """Draw a match document over its recording.

    Parameters
    ----------
    match : with rulings, and with ``paths`` in its shots.
    video : the recording that ``match`` was made from.
    out : the MP4 to write (H.264, yuv420p, index in front, so that it plays while it loads); sound is copied.
    language : en, hu, et; the match's own where not given.
    step : called once a frame, for a progress bar.
    span : only from here to there, seconds; the whole where not given.

    Returns
    -------
    ``out``.

    Raises
    ------
    InputError
        Where the recording cannot be read or ``out`` cannot be written; no half file stays behind.
    """
    catalogue = words(language or match.get("language"))
    target = Path(out)
    with open_video(video) as stream:
        width, height = stream.info.width & ~1, stream.info.height & ~1
        factor = min(1.0, LARGEST / height)
        size = (round(width * factor) & ~1, round(height * factor) & ~1)
        weights = BT709 if size[1] >= 720 else BT601
        overlay = Overlay(match, catalogue, size, weights, factor)
        course, cameras = Course(match), Cameras(match)

        def drawn() -> Iterator[tuple[float, np.ndarray[Any, Any]]]:
            canvas: Canvas | None = None
            for frame in stream:
                if step is not None:
                    step()
                if span is not None and frame.t_s < span[0]:
                    continue
                if span is not None and frame.t_s > span[1]:
                    break
                planes = frame.i420 if factor == 1.0 else shrunk(frame.i420, size)
                canvas = Canvas(planes, weights) if canvas is None else canvas.renew(planes)
                camera = cameras.at(frame.t_s)
                overlay.draw(canvas, frame.t_s, course, camera if factor == 1.0 else camera.scaled(factor))
                yield frame.t_s, planes

        rate = stream.info.rate or 30.0
        write_video(
            target, drawn(), rate=rate, sound=Path(video), shift=span[0] if span else 0.0, until=span and span[1]
        )
    return target


def shrunk(planes: np.ndarray[Any, Any], size: tuple[int, int]) -> np.ndarray[Any, Any]:
    """A planar frame resized to ``size`` (width, height)."""
    before = Canvas(planes)
    after = np.empty((size[1] * 3 // 2, size[0]), np.uint8)
    canvas = Canvas(after)
    for old, new in ((before.y, canvas.y), (before.u, canvas.u), (before.v, canvas.v)):
        new[:] = cv2.resize(old, new.shape[::-1], interpolation=cv2.INTER_AREA)
    return after


# -- files -------------------------------------------------------------------------------------------------------------
@dataclass(slots=True)
class Sound:
    """A recording's sound, packet by packet, beside the pictures that are written."""

    source: Any
    stream: Any
    out: Any
    resampler: Any | None
    first_s: float  # what the first picture's clock says in the source


def write_video(
    target: Path,
    frames: Iterator[tuple[float, np.ndarray[Any, Any]]],
    *,
    rate: float,
    sound: Path | None = None,
    shift: float = 0.0,
    until: float | None = None,
) -> None:
    """Encode planar frames with their times (seconds) as H.264 MP4, whole or not at all.

    Parameters
    ----------
    sound : a file whose sound is copied (as it is where MP4 can hold it, else as AAC).
    shift, until : span of the source that the frames come from, seconds; times are written from ``shift`` on.

    Raises
    ------
    InputError
        Where there is no frame, or the file cannot be written.
    """
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        handle, part = tempfile.mkstemp(dir=target.parent, prefix=f".{target.stem}.", suffix=".mp4")
        os.close(handle)
    except OSError as problem:
        raise InputError(f"{target.parent}: cannot be written to ({problem.strerror or problem})") from None
    try:
        if not _encode(part, frames, rate=rate, sound=sound, shift=shift, until=until):
            raise InputError(f"{target.name}: there is no frame to write")
        os.chmod(part, 0o644)
        os.replace(part, target)
    except (OSError, FFmpegError) as problem:
        raise InputError(f"{target}: cannot be written ({problem})") from None
    finally:
        Path(part).unlink(missing_ok=True)


def _encode(
    part: str,
    frames: Iterator[tuple[float, np.ndarray[Any, Any]]],
    *,
    rate: float,
    sound: Path | None,
    shift: float,
    until: float | None,
) -> int:
    count, last = 0, -1
    video: Any = None
    track: SoundTrack | None = None
    waiting: Future[Any] | None = None
    # One frame is encoded while the next is decoded and drawn.
    with av.open(part, "w", format="mp4", options={"movflags": "+faststart"}) as out, ThreadPoolExecutor(1) as pool:
        for t, planes in frames:
            if video is None:
                video = _video_stream(out, planes, rate, _pixel_shape(sound))
                heard = _sound(out, sound) if sound is not None else None
                track = SoundTrack(heard, shift, until) if heard is not None else None
            picture = av.VideoFrame.from_ndarray(planes, format="yuv420p")
            # Two frames with the same time, as a broken clock gives, would end the file here.
            last = max(last + 1, round((t - shift) * CLOCK))
            picture.pts, picture.time_base = last, Fraction(1, CLOCK)
            if waiting is not None:
                out.mux(waiting.result())
            if track is not None:
                track.feed(out, t - shift - 0.5)
            waiting = pool.submit(video.encode, picture)
            count += 1
        if waiting is not None:
            out.mux(waiting.result())
        if video is not None:
            out.mux(video.encode())
        if track is not None:
            track.feed(out, float("inf"))
            track.close()
    return count


def _pixel_shape(path: Path | None) -> Fraction | None:
    """Width of the source's pixels over their height, where they are not square."""
    if path is None or not path.is_file():
        return None
    try:
        with av.open(str(path)) as source:
            ratio = source.streams.video[0].sample_aspect_ratio
            turned = round(next(source.decode(video=0)).rotation / 90) % 2
    except (FFmpegError, OSError, ValueError, IndexError, StopIteration):
        return None
    if not ratio or ratio == 1:
        return None
    return 1 / ratio if turned else ratio


def _video_stream(out: Any, planes: np.ndarray[Any, Any], rate: float, shape: Fraction | None = None) -> Any:
    stream = out.add_stream("libx264", rate=Fraction(rate).limit_denominator(1001), options=dict(ENCODER))
    stream.width, stream.height = planes.shape[1], planes.shape[0] * 2 // 3
    stream.pix_fmt = "yuv420p"
    context = stream.codec_context
    context.time_base = Fraction(1, CLOCK)
    if shape is not None:
        context.sample_aspect_ratio = shape
    context.gop_size = max(1, round(rate))  # a key frame a second: stepping back stays quick
    high = stream.height >= 720
    context.color_range = 1
    context.colorspace = context.color_primaries = context.color_trc = 1 if high else 6
    return stream


def _sound(out: Any, path: Path) -> Sound | None:
    """The sound's stream in ``out``, or ``None`` where the source is silent or no file."""
    if not path.is_file():
        return None
    try:
        source = av.open(str(path))
    except (FFmpegError, OSError, ValueError):
        return None
    if not source.streams.audio or not source.streams.video:
        source.close()
        return None
    stream, picture = source.streams.audio[0], source.streams.video[0]
    first = float(picture.start_time * (picture.time_base or 0)) if picture.start_time is not None else 0.0
    if stream.codec_context.name in AUDIO_THAT_FITS:
        return Sound(source, stream, out.add_stream_from_template(stream), None, first)
    copy = out.add_stream("aac", rate=stream.rate or 48_000)
    return Sound(
        source, stream, copy, av.AudioResampler(format="fltp", layout="stereo", rate=stream.rate or 48_000), first
    )


class SoundTrack:
    """Gives a recording's sound to the film bit by bit, as far as the pictures have come: players need both close together."""

    def __init__(self, sound: Sound, begin: float, end: float | None) -> None:
        self._sound = sound
        self._begin = sound.first_s + begin
        self._end = None if end is None else sound.first_s + end
        self._pieces = self._copied() if sound.resampler is None else self._recoded()
        self._next: tuple[float, Any] | None = None

    def feed(self, out: Any, until: float) -> None:
        """Write all sound up to ``until`` seconds of the film."""
        while True:
            if self._next is None:
                try:
                    self._next = next(self._pieces, None)
                except (FFmpegError, ValueError):
                    return  # a truncated recording: what sound there was is in
                if self._next is None:
                    return
            at, packet = self._next
            if at > until:
                return
            out.mux(packet)
            self._next = None

    def close(self) -> None:
        self._sound.source.close()

    def _copied(self) -> Iterator[tuple[float, Any]]:
        for packet in self._sound.source.demux(self._sound.stream):
            if packet.dts is None or packet.pts is None:
                continue
            at = float(packet.pts * packet.time_base)
            if at < self._begin - 0.05:
                continue
            if self._end is not None and at > self._end:
                return
            offset = round(self._begin / packet.time_base)
            packet.pts -= offset
            packet.dts -= offset
            packet.stream = self._sound.out
            yield at - self._begin, packet

    def _recoded(self) -> Iterator[tuple[float, Any]]:
        resampler = self._sound.resampler
        assert resampler is not None
        at = 0.0
        for frame in self._sound.source.decode(self._sound.stream):
            if frame.pts is None or frame.time < self._begin:
                continue
            if self._end is not None and frame.time > self._end:
                break
            at = frame.time - self._begin
            frame.pts -= round(self._begin / frame.time_base)
            for piece in resampler.resample(frame):
                yield from ((at, packet) for packet in self._sound.out.encode(piece))
        yield from ((at, packet) for packet in self._sound.out.encode())


# -- clips -------------------------------------------------------------------------------------------------------------
def cut_clips(
    match: Mapping[str, Any],
    video: str | Path,
    folder: str | Path,
    *,
    only_fouls: bool = False,
    language: str | None = None,
    step: Callable[[], None] | None = None,
) -> list[Path]:
    """One annotated clip a shot, ``shot-004.mp4``: of all shots, or only of those that were fouls.

    Parameters
    ----------
    step : called once a frame that is read.
    """
    made = []
    for shot in match["shots"]:
        if only_fouls and not (shot.get("ruling") or {}).get("enforced"):
            continue
        path = Path(folder) / f"shot-{shot['number']:03d}.mp4"
        span = (max(0.0, shot["start_s"] - 1.5), shot["end_s"] + HOLD_S)
        annotate(match, video, path, language=language, step=step, span=span)
        made.append(path)
    return made


def still(
    match: Mapping[str, Any], video: str | Path, t: float, *, language: str | None = None
) -> np.ndarray[Any, Any]:
    """(height, width, 3) BGR: the annotated frame nearest after ``t`` seconds, as for a README."""
    found: Frame | None = None
    with open_video(video) as stream:
        for found in stream:
            if found.t_s >= t:
                break
    if found is None:
        raise InputError(f"{video}: no frame at {t} s")
    planes = found.i420
    height = planes.shape[0] * 2 // 3
    weights = BT601  # OpenCV converts with these, so a still keeps its colours
    overlay = Overlay(match, words(language or match.get("language")), (planes.shape[1], height), weights)
    overlay.draw(Canvas(planes, weights), found.t_s, Course(match), Cameras(match).at(found.t_s))
    return np.asarray(cv2.cvtColor(planes, cv2.COLOR_YUV2BGR_I420), np.uint8)
