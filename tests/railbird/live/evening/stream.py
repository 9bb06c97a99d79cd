"""A club's network camera: sends a filmed evening as MPEG-TS over TCP, at the pace of a camera, to whoever is connected.

The film goes on whether anybody looks or not. Between shots the players wait: the still part is shown again until they are told to go
on. When the network goes, the connection breaks off and nobody gets in for some seconds.
"""

from __future__ import annotations

import contextlib
import socket
import threading
import time
from fractions import Fraction
from pathlib import Path
from typing import Any

import av

from tests.railbird.live.evening.film import name_of, read_truth

LOST_S = 3.0


class Viewer:
    """One connection; what it is sent begins with a key picture."""

    def __init__(self, connection: socket.socket, template: Any) -> None:
        self.connection = connection
        self.began = False
        connection.settimeout(20)
        options = {"flush_packets": "1"}
        self._out = av.open(self, "w", format="mpegts", options=options, buffer_size=1316)
        self._stream = self._out.add_stream_from_template(template)

    def write(self, data: bytes) -> int:
        """What the muxer calls."""
        self.connection.sendall(data)
        return len(data)

    def send(self, data: bytes, pts: int, base: Fraction, key: bool) -> None:
        """One coded picture; ``OSError`` where the other side has gone."""
        if not (self.began or key):
            return
        self.began = True
        packet = av.Packet(data)
        packet.stream, packet.time_base = self._stream, base
        packet.pts = packet.dts = pts
        packet.is_keyframe = key
        self._out.mux(packet)

    def close(self) -> None:
        self.connection.close()
        with contextlib.suppress(Exception):  # the muxer wants to write its last bytes to a socket that is gone
            self._out.close()


class Broadcast(threading.Thread):
    """Plays the parts of a folder; ``at`` is the part on now, ``go_on`` ends the wait of a still part.

    Parameters
    ----------
    pace : seconds of film a second; the pictures' own times stay the camera's.
    """

    def __init__(self, folder: Path, pace: float = 1.0, first: int = 0, last: int | None = None) -> None:
        super().__init__(name="broadcast", daemon=True)
        self.folder, self.pace = folder, pace
        self.truth = read_truth(folder)
        self.parts = self.truth["parts"][:last]
        self.fps = Fraction(self.truth["fps"]).limit_denominator(1001)
        self.at = first
        self.over = False
        self.fault: BaseException | None = None
        self._first = first
        self._allowed = first - 1
        self._changed = threading.Condition()
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listener.getsockname()[1]
        self._viewer: Viewer | None = None
        self._sent = 0
        self._due = 0.0
        self._ended = threading.Event()

    @property
    def url(self) -> str:
        return f"tcp://127.0.0.1:{self.port}"

    def go_on(self, part: int) -> None:
        """Let the film go on past the still part of that number."""
        with self._changed:
            self._allowed = max(self._allowed, part)

    def stop(self) -> None:
        self._ended.set()
        self.join(timeout=10)

    def run(self) -> None:
        try:
            self._play()
        except BaseException as fault:
            self.fault = fault
            raise
        finally:
            self.over = True
            self._hang_up()
            self._listener.close()

    def _play(self) -> None:
        self._due = time.monotonic()
        for k in range(self._first, len(self.parts)):
            self.at = k
            kind = self.parts[k]["kind"]
            if kind == "lost":
                self._lose()
            path = self.folder / name_of(k)
            self._show(path)
            while kind == "still" and self._waits(k):
                self._show(path)
            if self._ended.is_set():
                return

    def _waits(self, part: int) -> bool:
        with self._changed:
            return self._allowed < part and not self._ended.is_set()

    def _show(self, path: Path) -> None:
        with av.open(str(path)) as film:
            stream = film.streams.video[0]
            for packet in film.demux(stream):
                if packet.dts is None or self._ended.is_set():
                    continue
                self._due += float(1 / self.fps) / self.pace
                wait = self._due - time.monotonic()
                if wait > 0:
                    self._ended.wait(wait)
                elif wait < -1:
                    self._due = time.monotonic()  # this machine was held up; a camera does not hurry afterwards
                self._answer(stream)
                self._send(packet)
                self._sent += 1

    def _send(self, packet: Any) -> None:
        if self._viewer is None:
            return
        try:
            ticks = round(self._sent * 90_000 / self.fps)
            self._viewer.send(bytes(packet), ticks, Fraction(1, 90_000), bool(packet.is_keyframe))
        except (OSError, av.FFmpegError):
            self._hang_up()

    def _answer(self, template: Any) -> None:
        """Take whoever knocks; one at a time, the newest."""
        self._listener.settimeout(0)
        try:
            connection, _ = self._listener.accept()
        except (BlockingIOError, TimeoutError):
            return
        self._hang_up()
        self._viewer = Viewer(connection, template)

    def _hang_up(self) -> None:
        if self._viewer is not None:
            self._viewer.close()
            self._viewer = None

    def _lose(self) -> None:
        """The network is gone for a while: connections break, nobody is let in; the camera's clock runs on."""
        self._hang_up()
        port = self.port
        self._listener.close()
        self._ended.wait(LOST_S)
        self._sent += round(LOST_S * self.pace * self.fps)
        self._listener = socket.create_server(("127.0.0.1", port))
        self._due = time.monotonic()
