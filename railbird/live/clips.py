"""Records each shot's clip beside the refereeing: a short look back, then every frame until the balls rest."""

from __future__ import annotations

import logging
import queue
import threading
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import av
from av.error import FFmpegError

from vision.video import Frame

log = logging.getLogger("railbird.live")
EVERY_S = 0.028  # a clip has thirty pictures a second at most
BACK_S = 0.8  # kept from before the first motion
WAITING = 48  # frames that may wait for the encoder; what comes on top is left out of the clip
LONGEST_S = 90.0
MOST_SEALED = 3  # clips whose shots are still being worked out
TICKS = 90_000
Done = Callable[[Path, float], None]


@dataclass(frozen=True, slots=True)
class _Sealed:
    """A clip that has ended while its shot is still being worked out; times of the stream."""

    key: int
    began_s: float
    until_s: float


class ClipRecorder:
    """Encodes in a thread of its own; never makes the referee wait. Methods may be called from any thread.

    Parameters
    ----------
    width : of the clip's pictures, pixels; larger ones are made smaller.
    """

    def __init__(self, width: int) -> None:
        self.width = width
        self.left_out = 0
        self._lock = threading.Lock()
        self._back: deque[Frame] = deque()
        self._queue: queue.Queue[tuple[str, int, Any]] = queue.Queue(WAITING)
        self._on = False
        self._key = 0
        self._began = 0.0
        self._last_s = -1.0
        self._sealed: deque[_Sealed] = deque()
        self._thread = threading.Thread(target=self._work, name="clips", daemon=True)
        self._thread.start()

    @property
    def recording(self) -> bool:
        return self._on

    def frame(self, frame: Frame, *, still: bool = False) -> None:
        """Take in a frame; a clip under way waits while nothing moves any more."""
        with self._lock:
            if 0 <= frame.t_s - self._last_s < EVERY_S:
                return
            self._last_s = frame.t_s
            if not self._on or still:
                self._back.append(frame)
                while self._back and frame.t_s - self._back[0].t_s > BACK_S:
                    self._back.popleft()
            elif frame.t_s - self._began > LONGEST_S:
                self._end(None)
            else:
                self._put(frame)

    def begin(self, path: Path) -> None:
        """Start a clip with the look back."""
        with self._lock:
            if self._on:
                return
            self._on = True
            self._key += 1
            self._began = self._back[0].t_s if self._back else self._last_s
            self._queue.put(("begin", self._key, path))
            for frame in self._back:
                self._put(frame)
            self._back.clear()

    def seal(self) -> None:
        """End the clip, whose shot is not known yet: another one begins."""
        with self._lock:
            if not self._on:
                return
            self._on = False
            self._sealed.append(_Sealed(self._key, self._began, self._last_s))
            if len(self._sealed) > MOST_SEALED:
                self._queue.put(("end", self._sealed.popleft().key, None))

    def finish(self, start_s: float, done: Done | None) -> None:
        """End the clip of the shot that began at ``start_s``, sealed or not; clips from before it are of no shot.

        ``done`` is called with the file and its first picture's time when it is written; ``None`` throws the clip away.
        """
        with self._lock:
            while self._sealed and self._sealed[0].began_s <= start_s:
                sealed = self._sealed.popleft()
                if start_s <= sealed.until_s:
                    self._queue.put(("end", sealed.key, done))
                    return
                self._queue.put(("end", sealed.key, None))
            if self._on and self._began <= start_s:
                self._end(done)

    def drop(self) -> None:
        """It was no shot: throw the clip away, and those that are sealed."""
        with self._lock:
            self._drop_sealed()
            if self._on:
                self._end(None)

    def drop_sealed(self) -> None:
        """All shots are worked out: clips that are sealed are of none."""
        with self._lock:
            self._drop_sealed()

    def close(self) -> None:
        self.drop()
        self._queue.put(("stop", 0, None))
        self._thread.join(timeout=5)

    def _drop_sealed(self) -> None:
        while self._sealed:
            self._queue.put(("end", self._sealed.popleft().key, None))

    def _end(self, done: Done | None) -> None:
        self._on = False
        self._queue.put(("end", self._key, done))

    def _put(self, frame: Frame) -> None:
        try:
            self._queue.put_nowait(("frame", self._key, frame))
        except queue.Full:
            self.left_out += 1

    def _work(self) -> None:
        writers: dict[int, _Writer] = {}
        while True:
            kind, key, what = self._queue.get()
            try:
                if kind == "stop":
                    return
                if kind == "begin":
                    writers[key] = _Writer(what, self.width)
                elif kind == "frame" and key in writers:
                    writers[key].add(what)
                elif kind == "end" and key in writers:
                    ended = writers.pop(key)
                    if ended.close() and what is not None:
                        what(ended.path, ended.began_s)
                    else:
                        ended.path.unlink(missing_ok=True)
            except (FFmpegError, OSError, ValueError) as error:
                log.warning("clip not written: %s", error)
                failed = writers.pop(key, None)
                if failed is not None:
                    failed.path.unlink(missing_ok=True)


class _Writer:
    """One clip that is being written: H.264, plays in every browser."""

    def __init__(self, path: Path, width: int) -> None:
        self.path = path
        self.began_s = 0.0
        self._width = width
        self._box: Any = None
        self._stream: Any = None
        self._last = -1

    def add(self, frame: Frame) -> None:
        full_width, full_height = frame.size
        if self._box is None:
            scale = min(1.0, self._width / full_width)
            self.began_s = frame.t_s
            self._box = av.open(str(self.path), "w", options={"movflags": "+faststart"})
            options = {"preset": "ultrafast", "crf": "24", "threads": "1"}
            self._stream = self._box.add_stream("libx264", rate=30, options=options)
            self._stream.width = round(full_width * scale) // 2 * 2
            self._stream.height = round(full_height * scale) // 2 * 2
            self._stream.pix_fmt = "yuv420p"
            self._stream.codec_context.time_base = Fraction(1, TICKS)
        picture = frame.scaled(self._stream.width, self._stream.height)
        picture.pts = max(self._last + 1, round((frame.t_s - self.began_s) * TICKS))
        self._last = picture.pts
        picture.time_base = Fraction(1, TICKS)
        for packet in self._stream.encode(picture):
            self._box.mux(packet)

    def close(self) -> bool:
        """Whether there is a clip."""
        if self._box is None:
            return False
        for packet in self._stream.encode():
            self._box.mux(packet)
        self._box.close()
        return True
