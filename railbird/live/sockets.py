"""The socket that carries the state to pages and programs, and takes commands from programs."""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
from typing import Any

from fastapi import FastAPI, WebSocket, WebSocketDisconnect
from starlette.concurrency import run_in_threadpool

from calibration.errors import InputError
from railbird.live.access import Limit, Visitor
from railbird.live.guard import visitor_of
from railbird.live.hub import Listener
from railbird.live.parts import Parts
from railbird.live.store import StoreFault

log = logging.getLogger("railbird.live")
MESSAGE_BYTES = 8 * 1024  # the longest message a socket takes
TOO_BIG = 1009  # the close code of RFC 6455 for a longer one


def add_socket(app: FastAPI, parts: Parts) -> None:
    """``/socket``: state, balls and sentences out; commands in."""
    hub, desk = parts.hub, parts.desk

    @app.websocket("/socket")
    async def socket(socket: WebSocket) -> None:
        visitor = visitor_of(socket.scope, parts.access)
        if visitor is None:
            _refused(socket, parts, "not-joined")
            await socket.close(4403)
            return
        await socket.accept()
        listener = Listener()
        hub.join(listener)
        listener.offer("state", json.dumps({"type": "state", **desk.state()}, ensure_ascii=False))
        sending = asyncio.create_task(_send(socket, listener))
        try:
            await _receive(socket, visitor, parts)
        except WebSocketDisconnect:
            pass
        finally:
            hub.leave(listener)
            listener.close()
            sending.cancel()
            with contextlib.suppress(asyncio.CancelledError, WebSocketDisconnect, RuntimeError):
                await sending


def _refused(socket: WebSocket, parts: Parts, reason: str) -> None:
    parts.metrics.add("refused_total", label=f'reason="{reason}"')
    log.warning("refused (%s): %s /socket", reason, socket.client.host if socket.client else "?")


async def _send(socket: WebSocket, listener: Listener) -> None:
    while not listener.closed:
        for text in await listener.next():
            await socket.send_text(text)
    with contextlib.suppress(RuntimeError):
        await socket.close(1001)


async def _receive(socket: WebSocket, visitor: Visitor, parts: Parts) -> None:
    """Commands over the socket, for programs; a page that talks nonsense is shown out."""
    rate = Limit(burst=30, per_s=5)
    nonsense = 0
    while True:
        message = await socket.receive()
        if message["type"] == "websocket.disconnect":
            if message.get("code") == TOO_BIG:
                _refused(socket, parts, "size")
            return
        text = message.get("text")
        if not rate.allow("this") or text is None or len(text) > MESSAGE_BYTES:
            _refused(socket, parts, "message")
            await socket.close(1008)
            return
        answer: dict[str, Any] = {"type": "done"}
        try:
            document = json.loads(text)
            number = document.pop("id", None) if isinstance(document, dict) else None
            answer["id"] = number if isinstance(number, int) else None
            answer |= await run_in_threadpool(parts.desk.do, visitor, document)
        except (InputError, PermissionError, StoreFault, ValueError, RecursionError) as error:
            nonsense += 1
            text = " ".join(str(error).split())[:300] if isinstance(error, (InputError, PermissionError)) else "refused"
            answer |= {"type": "refused", "refused": text}
        await socket.send_text(json.dumps(answer, ensure_ascii=False))
        if nonsense >= 20:
            _refused(socket, parts, "message")
            await socket.close(1008)
            return
