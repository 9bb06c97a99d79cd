"""Records each shot's clip beside the refereeing: a short look back, then every frame until the balls rest."""

from __future__ import annotations

import logging
import queue
import threading
from collections import deque
from collections.abc import Callable
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
TICKS = 90_000
Done = Callable[[Path, float], None]


class ClipRecorder:
    """Encodes in a thread of its own; never makes the referee wait.

    Parameters
    ----------
    width : of the clip's pictures, pixels; larger ones are made smaller.
    """

    def __init__(self, width: int) -> None:
        self.width = width
        self.left_out = 0
        self._back: deque[Frame] = deque()
        self._queue: queue.Queue[tuple[str, Any]] = queue.Queue(WAITING)
        self._on = False
        self._began = 0.0
        self._last_s = -1.0
        self._thread = threading.Thread(target=self._work, name="clips", daemon=True)
        self._thread.start()

    @property
    def recording(self) -> bool:
        return self._on

    def frame(self, frame: Frame) -> None:
        """Take in a frame."""
        if 0 <= frame.t_s - self._last_s < EVERY_S:
            return
        self._last_s = frame.t_s
        if not self._on:
            self._back.append(frame)
            while self._back and frame.t_s - self._back[0].t_s > BACK_S:
                self._back.popleft()
            return
        if frame.t_s - self._began > LONGEST_S:
            self.drop()
            return
        self._put("frame", frame)

    def begin(self, path: Path) -> None:
        """Start a clip with the look back."""
        if self._on:
            return
        self._on = True
        self._began = self._back[0].t_s if self._back else 0.0
        self._queue.put(("begin", path))
        for frame in self._back:
            self._put("frame", frame)
        self._back.clear()

    def finish(self, done: Done) -> None:
        """End the clip; ``done`` is called with the file and its first picture's time when it is written."""
        if self._on:
            self._on = False
            self._queue.put(("end", done))

    def drop(self) -> None:
        """It was no shot: throw the clip away."""
        if self._on:
            self._on = False
            self._queue.put(("end", None))

    def close(self) -> None:
        self.drop()
        self._queue.put(("stop", None))
        self._thread.join(timeout=5)

    def _put(self, kind: str, frame: Frame) -> None:
        try:
            self._queue.put_nowait((kind, frame))
        except queue.Full:
            self.left_out += 1

    def _work(self) -> None:
        writer: _Writer | None = None
        while True:
            kind, what = self._queue.get()
            try:
                if kind == "stop":
                    return
                if kind == "begin":
                    writer = _Writer(what, self.width)
                elif kind == "frame" and writer is not None:
                    writer.add(what)
                elif kind == "end" and writer is not None:
                    ended, writer = writer, None
                    if ended.close() and what is not None:
                        what(ended.path, ended.began_s)
                    else:
                        ended.path.unlink(missing_ok=True)
            except (FFmpegError, OSError, ValueError) as error:
                log.warning("clip not written: %s", error)
                if writer is not None:
                    writer.path.unlink(missing_ok=True)
                writer = None


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
        picture = av.VideoFrame.from_ndarray(frame.image, format="bgr24")
        picture = picture.reformat(self._stream.width, self._stream.height, "yuv420p")
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
