"""Between the camera and the referee: the newest frames win, and what was passed over is counted."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Iterator
from time import monotonic

from vision.video import Frame

SILENT_S = 12.0  # a camera that gives no frame for so long is taken for dead
HOLDS = 12  # frames: evens out a slow look without falling behind by more than a fraction of a second


class Mailbox:
    """Holds a few frames; a new one pushes the oldest out.

    Parameters
    ----------
    holds : how many frames wait at most.
    patient : make the giver wait instead of dropping, for sources that can be read at any pace.
    """

    def __init__(self, holds: int = HOLDS, *, patient: bool = False) -> None:
        self._holds = holds
        self.patient = patient
        self._frames: deque[tuple[Frame, float]] = deque()
        self._change = threading.Condition()
        self._closed = False
        self.given = 0
        self.dropped = 0
        self.taken = 0
        #: When the frame that was taken last came in, ``time.monotonic`` seconds.
        self.taken_at = monotonic()

    def give(self, frame: Frame) -> bool:
        """Put a frame in; False once nobody takes any more."""
        with self._change:
            while self.patient and len(self._frames) >= self._holds and not self._closed:
                self._change.wait(0.2)
            if self._closed:
                return False
            self.given += 1
            if len(self._frames) >= self._holds:
                self._frames.popleft()
                self.dropped += 1
            self._frames.append((frame, monotonic()))
            self._change.notify_all()
            return True

    def waiting(self) -> Frame | None:
        """The frame that comes next, if it is here already."""
        with self._change:
            return self._frames[0][0] if self._frames else None

    def close(self) -> None:
        """No more frames: who takes gets what is left, then the end."""
        with self._change:
            self._closed = True
            self._change.notify_all()

    def __iter__(self) -> Iterator[Frame]:
        """Frames until the mailbox is closed, or until none has come for twelve seconds."""
        while True:
            with self._change:
                since = monotonic()
                while not self._frames and not self._closed:
                    self._change.wait(0.2)
                    if monotonic() - since > SILENT_S:
                        self._closed = True
                if not self._frames:
                    return
                frame, self.taken_at = self._frames.popleft()
                self.taken += 1
                self._change.notify_all()
            yield frame
