"""What every request passes first: known host, own origin, size, rate; and the headers every answer bears."""

from __future__ import annotations

import json
import logging
from collections.abc import Awaitable, Callable, MutableMapping
from http.cookies import CookieError, SimpleCookie
from typing import Any

from starlette.exceptions import HTTPException

from railbird.live.access import COOKIE, Access, Limit, Visitor
from railbird.live.metrics import Metrics

log = logging.getLogger("railbird.live")
Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

BODY_BYTES = 64 * 1024
UPLOAD_PATH = "/api/check"
HEADERS = {
    "content-security-policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self';"
        " media-src 'self'; font-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
    ),
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), microphone=(), geolocation=(), payment=()",
    "cache-control": "no-store",
}


#: Answers by which what lies behind refuses: counted and logged here, like what is refused at the door (sizes are already).
REFUSALS = {400: "malformed", 403: "not-allowed", 404: "path", 405: "path", 422: "input"}


class Guard:
    """ASGI middleware around the whole page.

    Parameters
    ----------
    app : what lies behind.
    access : hosts, origins, codes.
    metrics : counts refusals.
    upload_bytes : the largest upload of a clip.
    """

    def __init__(self, app: App, access: Access, metrics: Metrics, upload_bytes: int) -> None:
        self._app, self._access, self._metrics, self._upload = app, access, metrics, upload_bytes
        self._rate = Limit(burst=120, per_s=30)
        self._sockets = Limit(burst=20, per_s=1)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        headers = _headers(scope)
        caller = (scope.get("client") or ("?", 0))[0]
        reason = self._fault(scope, headers, caller)
        if reason is not None:
            status, code, text = reason
            self.refused(code, caller, scope.get("path", ""))
            await _refuse(scope, receive, send, status, text)
            return
        if scope["type"] == "websocket":
            await self._app(scope, receive, send)
            return
        limit = self._upload if scope["path"] == UPLOAD_PATH else BODY_BYTES

        def too_large() -> HTTPException:
            self.refused("size", caller, scope["path"])
            return HTTPException(413, f"too large: {limit // 1024} KB at most")

        def told(status: int) -> None:
            if status in REFUSALS:
                self.refused(REFUSALS[status], caller, scope["path"])

        await self._app(scope, _limited(receive, limit, too_large), _dressed(send, told))

    def refused(self, code: str, caller: str, path: str) -> None:
        """Count and log a refusal."""
        self._metrics.add("refused_total", label=f'reason="{code}"')
        log.warning("refused (%s): %s %s", code, caller, path[:80].encode("ascii", "replace").decode())

    def _fault(self, scope: Scope, headers: dict[str, str], caller: str) -> tuple[int, str, str] | None:
        host, origin = headers.get("host"), headers.get("origin")
        if not self._access.known_host(host):
            return 421, "host", "this name does not lead to railbird; use its address, or add the name to page.names"
        if scope["type"] == "websocket":
            if not self._access.same_origin(origin, host):
                return 403, "origin", "other pages may not open a socket here"
            return None if self._sockets.allow(caller) else (429, "rate", "too many sockets opened; wait a little")
        if not self._rate.allow(caller):
            return 429, "rate", "too many requests; wait a little"
        if scope["method"] not in ("GET", "HEAD"):
            if not self._access.same_origin(origin, host) or headers.get("sec-fetch-site") in (
                "cross-site",
                "same-site",
            ):
                return 403, "origin", "other pages may not do this"
            # A form of another page cannot set this header without being asked first, and it is never allowed to.
            if headers.get("x-railbird") != "1":
                return 403, "csrf", "the header X-Railbird: 1 is missing"
        limit = self._upload if scope["path"] == UPLOAD_PATH else BODY_BYTES
        length = headers.get("content-length", "0")
        if not length.isdecimal() or len(length) > 12 or int(length) > limit:
            return 413, "size", f"too large: {limit // 1024} KB at most"
        return None


def visitor_of(scope: Scope, access: Access) -> Visitor | None:
    """Who sent this: by cookie, or a program by ``Authorization: Bearer CODE``."""
    headers = _headers(scope)
    bearer = headers.get("authorization", "")
    if bearer.startswith("Bearer "):
        role = access.role_of(bearer[7:])
        return None if role is None else Visitor(role)
    try:
        jar: SimpleCookie = SimpleCookie(headers.get("cookie", "")[:4096])
    except CookieError:
        jar = SimpleCookie()
    morsel = jar.get(COOKIE)
    return access.visitor(morsel.value if morsel else None)


def _headers(scope: Scope) -> dict[str, str]:
    return {k.decode("latin-1").lower(): v.decode("latin-1") for k, v in scope.get("headers", ())}


def _limited(receive: Receive, limit: int, too_large: Callable[[], HTTPException]) -> Receive:
    """A body that claims no length, or a wrong one, is cut off at the limit."""
    total = 0

    async def inner() -> MutableMapping[str, Any]:
        nonlocal total
        message = await receive()
        if message["type"] == "http.request":
            total += len(message.get("body", b""))
            if total > limit:
                raise too_large()
        return message

    return inner


def _dressed(send: Send, told: Callable[[int], None]) -> Send:
    """Adds the security headers to an answer that lacks them; ``told`` hears its status."""

    async def inner(message: MutableMapping[str, Any]) -> None:
        if message["type"] == "http.response.start":
            told(message["status"])
            given = {k.lower() for k, _ in message["headers"]}
            extra = [(k.encode(), v.encode()) for k, v in HEADERS.items() if k.encode() not in given]
            message = {**message, "headers": [*message["headers"], *extra]}
        await send(message)

    return inner


async def _refuse(scope: Scope, receive: Receive, send: Send, status: int, text: str) -> None:
    if scope["type"] == "websocket":
        await receive()
        await send({"type": "websocket.close", "code": 4000 + status % 1000, "reason": text[:100]})
        return
    body = json.dumps({"refused": text}).encode()
    headers = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
    headers += [(k.encode(), v.encode()) for k, v in HEADERS.items()]
    if status in (413, 429):
        headers.append((b"connection", b"close"))
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
