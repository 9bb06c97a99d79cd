"""Speaks on this machine through espeak-ng, one sentence after another; old sentences give way to new ones."""

from __future__ import annotations

import logging
import queue
import shutil
import subprocess
import threading

from calibration.errors import InputError

log = logging.getLogger("railbird.live")
_VOICES = {"en": "en", "hu": "hu", "et": "et"}
_SENTENCE_S = 20.0  # a sentence that takes longer is cut off: the loudspeaker is stuck
WAITING = 3


class Speaker:
    """A voice in a thread of its own.

    Parameters
    ----------
    volume : 0 … 100.
    program : the speech program.

    Raises
    ------
    InputError
        Where the program is not installed.
    """

    def __init__(self, volume: int = 80, program: str = "espeak-ng") -> None:
        path = shutil.which(program)
        if path is None:
            raise InputError(f"--speak needs {program}: apt-get install espeak-ng, or let the wall page speak")
        self._program = path
        self.volume = volume
        self._waiting: queue.Queue[tuple[str, str] | None] = queue.Queue(WAITING)
        self._thread = threading.Thread(target=self._work, name="speech", daemon=True)
        self._thread.start()

    def say(self, text: str, language: str) -> None:
        """Queue a sentence; never waits. If people cannot keep up, the oldest sentence is left out."""
        while True:
            try:
                self._waiting.put_nowait((text, language))
                return
            except queue.Full:
                try:
                    self._waiting.get_nowait()
                except queue.Empty:
                    continue

    def close(self) -> None:
        self._waiting.put(None)

    def _work(self) -> None:
        while (item := self._waiting.get()) is not None:
            text, language = item
            if not self.volume:
                continue
            # The text goes in on stdin: a name that looks like an option stays a name.
            command = [self._program, "-v", _VOICES.get(language, "en"), "-a", str(2 * self.volume), "--stdin"]
            try:
                subprocess.run(command, input=text.encode(), timeout=_SENTENCE_S, check=True, capture_output=True)
            except (OSError, subprocess.SubprocessError) as error:
                log.warning("speech failed: %s", error)
