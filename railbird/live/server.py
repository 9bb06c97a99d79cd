"""The page as one application: static pages, words, health and numbers, and everything else hung into it."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import re
import time
from collections.abc import AsyncIterator
from importlib.resources import files
from typing import Any

from fastapi import FastAPI, Request
from fastapi.responses import JSONResponse, PlainTextResponse, RedirectResponse, Response
from starlette.concurrency import run_in_threadpool

from calibration.errors import InputError
from railbird.live.access import Role
from railbird.live.catalogue import page_words
from railbird.live.checks import add_checks
from railbird.live.guard import Guard
from railbird.live.joining import add_joining
from railbird.live.limits import UPLOAD_BYTES
from railbird.live.metrics import resident_bytes
from railbird.live.parts import Parts, need
from railbird.live.routes import add_match, add_past
from railbird.live.seen import CameraState
from railbird.live.sockets import add_socket
from railbird.live.store import StoreFault

log = logging.getLogger("railbird.live")

PAGES = ("wall", "phone", "overlay", "setup", "matches", "join")
_STATIC = re.compile(r"^[a-z][a-z-]{0,30}\.(js|css|svg)$")
_TYPES = {
    "js": "text/javascript; charset=utf-8",
    "css": "text/css; charset=utf-8",
    "svg": "image/svg+xml",
    "html": "text/html; charset=utf-8",
    "ttf": "font/ttf",
}
FONTS = ("Inter-Bold.ttf", "Inter-Medium.ttf")
_KEEP = {"cache-control": "private, max-age=300"}
TICK_S = 0.25


def create_app(parts: Parts) -> Any:
    """The ASGI application, its guard around it."""
    app = FastAPI(openapi_url=None, docs_url=None, redoc_url=None, lifespan=_lifespan(parts))
    _errors(app)
    add_joining(app, parts)
    add_match(app, parts)
    add_past(app, parts)
    add_checks(app, parts)
    _service(app, parts)
    add_socket(app, parts)
    _pages(app)  # last: it answers any name of one part
    return Guard(app, parts.access, parts.metrics, UPLOAD_BYTES)


def _lifespan(parts: Parts) -> Any:
    @contextlib.asynccontextmanager
    async def life(app: FastAPI) -> AsyncIterator[None]:
        parts.hub.attach(asyncio.get_running_loop())

        async def tick() -> None:
            while True:
                await asyncio.sleep(TICK_S)
                parts.desk.tick()

        ticking = asyncio.create_task(tick())
        if parts.camera is not None:
            parts.camera.start(parts.desk)
        try:
            yield
        finally:
            ticking.cancel()
            parts.hub.close()
            if parts.camera is not None:
                await run_in_threadpool(parts.camera.stop)

    return life


def _errors(app: FastAPI) -> None:
    @app.exception_handler(InputError)
    async def bad_input(request: Request, error: InputError) -> JSONResponse:
        return JSONResponse({"refused": " ".join(str(error).split())[:400]}, 422)

    @app.exception_handler(PermissionError)
    async def forbidden(request: Request, error: PermissionError) -> JSONResponse:
        return JSONResponse({"refused": str(error)[:200]}, 403)

    @app.exception_handler(StoreFault)
    async def broken_store(request: Request, error: StoreFault) -> JSONResponse:
        log.error("%s", error)
        return JSONResponse({"refused": "the match log cannot be written; nothing was changed"}, 503)


# -- pages -------------------------------------------------------------------------------------------------------------
def _pages(app: FastAPI) -> None:
    folder = files("railbird.live") / "pages"
    fonts = files("railbird.drawing") / "fonts"

    @app.get("/")
    async def front() -> Response:
        return RedirectResponse("/wall", 307)

    @app.get("/static/{name}")
    async def static(name: str) -> Response:
        place = fonts if name in FONTS else folder
        if (name not in FONTS and not _STATIC.match(name)) or not (place / name).is_file():
            return PlainTextResponse("not here", 404)
        return Response((place / name).read_bytes(), media_type=_TYPES[name.rpartition(".")[2]], headers=_KEEP)

    @app.get("/words/{language}")
    async def catalogue(language: str) -> Response:
        return JSONResponse(dict(page_words(language)), headers=_KEEP)

    @app.get("/{page}")
    async def html(page: str) -> Response:
        # The page itself tells nothing; what it shows comes over the socket, which asks who is there.
        if page not in PAGES:
            return PlainTextResponse("not here", 404)
        return Response((folder / f"{page}.html").read_bytes(), media_type=_TYPES["html"])


# -- the service ---------------------------------------------------------------------------------------------------
def _service(app: FastAPI, parts: Parts) -> None:
    began = time.time()

    @app.get("/health")
    async def health() -> JSONResponse:
        """For a watchdog: 200 while the table is watched, 503 while it is not."""
        camera = parts.desk.state()["camera"]["state"]
        fine = camera not in (CameraState.LOST.value, CameraState.NO_TABLE.value)
        return JSONResponse({"ok": fine, "camera": camera, "up_s": round(time.time() - began)}, 200 if fine else 503)

    @app.get("/metrics")
    async def metrics(request: Request) -> Response:
        need(request, parts.access, Role.VIEWER)
        now = parts.desk.state()["camera"]["state"]
        gauges: dict[tuple[str, str], float] = {
            ("state", f'state="{state.value}"'): float(state.value == now) for state in CameraState
        }
        gauges["pages", ""] = parts.hub.count
        gauges["memory_bytes", ""] = resident_bytes()
        return PlainTextResponse(parts.metrics.text(gauges), media_type="text/plain; version=0.0.4")
