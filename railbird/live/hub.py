"""Carries the state to every open page; a slow page gets the newest state later, never a growing queue."""

from __future__ import annotations

import asyncio
import json
from collections import deque
from collections.abc import Mapping
from typing import Any

SAYS_KEPT = 8


class Listener:
    """One open socket: the newest state, the newest balls, and the last few things to say."""

    def __init__(self) -> None:
        self._state: str | None = None
        self._balls: str | None = None
        self._says: deque[str] = deque(maxlen=SAYS_KEPT)
        self._wake = asyncio.Event()
        self.closed = False

    def offer(self, kind: str, text: str) -> None:
        """Take a message; an older one of the same kind that was not sent yet is dropped."""
        if kind == "state":
            self._state = text
        elif kind == "balls":
            self._balls = text
        else:
            self._says.append(text)
        self._wake.set()

    def close(self) -> None:
        self.closed = True
        self._wake.set()

    async def next(self) -> list[str]:
        """What is to be sent now: state first, so that a page knows what is being spoken about."""
        await self._wake.wait()
        self._wake.clear()
        texts = [text for text in (self._state, *self._says, self._balls) if text is not None]
        self._state = self._balls = None
        self._says.clear()
        return texts


class Hub:
    """All open sockets. ``publish`` may be called from any thread."""

    def __init__(self) -> None:
        self._listeners: dict[Listener, Any] = {}
        self._loop: asyncio.AbstractEventLoop | None = None

    def attach(self, loop: asyncio.AbstractEventLoop) -> None:
        """Bind to the server's event loop once it runs."""
        self._loop = loop

    def join(self, listener: Listener, view: Any = None) -> None:
        self._listeners[listener] = view

    def leave(self, listener: Listener) -> None:
        self._listeners.pop(listener, None)

    @property
    def count(self) -> int:
        return len(self._listeners)

    def publish(self, kind: str, message: Mapping[str, Any]) -> None:
        """Hand a message to every page; it is made into text once."""
        loop = self._loop
        if loop is None or loop.is_closed() or not self._listeners:
            return
        text = json.dumps({"type": kind, **message}, ensure_ascii=False, allow_nan=False)
        loop.call_soon_threadsafe(self._deliver, kind, text)

    def _deliver(self, kind: str, text: str) -> None:
        for listener in list(self._listeners):
            listener.offer(kind, text)

    def close(self) -> None:
        """Wake every socket so that its task ends."""
        for listener in list(self._listeners):
            listener.close()
