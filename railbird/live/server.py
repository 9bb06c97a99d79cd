"""The page: what is served to browsers and programs, who may ask for it, and the socket that carries the state."""

from __future__ import annotations

import asyncio
import contextlib
import io
import json
import logging
import re
import secrets
import shutil
import time
from collections.abc import AsyncIterator
from dataclasses import dataclass, replace
from importlib.resources import files
from pathlib import Path
from typing import Any

import segno
from fastapi import FastAPI, Request, WebSocket, WebSocketDisconnect
from fastapi.responses import FileResponse, JSONResponse, PlainTextResponse, RedirectResponse, Response
from starlette.concurrency import run_in_threadpool

from calibration.errors import InputError
from calibration.table import Table
from railbird.games import GAMES, RULE_SETS, one_of
from railbird.live.access import COOKIE, COOKIE_S, Access, Limit, Role, Visitor
from railbird.live.catalogue import page_words
from railbird.live.desk import Desk
from railbird.live.guard import Guard, visitor_of
from railbird.live.hub import Hub, Listener
from railbird.live.limits import UPLOAD_BYTES, check_clip, probe_clip
from railbird.live.metrics import Metrics, resident_bytes
from railbird.live.seen import Camera, CameraState
from railbird.live.store import Store, StoreFault
from railbird.validation import LANGUAGES

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
MESSAGE_BYTES = 8 * 1024  # the longest message a socket takes
TICK_S = 0.25
CHECKS_KEPT = 20
#: A check's page is made elsewhere and may carry scripts; it gets an origin of its own and no way out.
CHECK_POLICY = (
    "sandbox allow-scripts; default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline';"
    " img-src data: 'self'; media-src data: 'self'; frame-ancestors 'self'"
)


@dataclass(slots=True)
class Parts:
    """What the page is made of."""

    desk: Desk
    store: Store
    hub: Hub
    access: Access
    metrics: Metrics
    camera: Camera | None
    base_url: str  # how phones reach the page


def create_app(parts: Parts) -> Any:
    """The ASGI application, its guard around it."""
    app = FastAPI(openapi_url=None, docs_url=None, redoc_url=None, lifespan=_lifespan(parts))
    _errors(app)
    _joining(app, parts)
    _match(app, parts)
    _past(app, parts)
    _checks(app, parts)
    _service(app, parts)
    _socket(app, parts)
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


# -- joining -----------------------------------------------------------------------------------------------------------
def _joining(app: FastAPI, parts: Parts) -> None:
    access, metrics = parts.access, parts.metrics
    tries = Limit(burst=6, per_s=1 / 20)
    all_tries = Limit(burst=60, per_s=1)

    @app.post("/api/join")
    async def join(request: Request) -> Response:
        caller = request.client.host if request.client else "?"
        if not tries.allow(caller, cost=0) or not all_tries.allow("all", cost=0):
            metrics.add("refused_total", label='reason="join-rate"')
            log.warning("refused (join-rate): %s", caller)
            return JSONResponse({"refused": "too many wrong codes; wait a minute"}, 429)
        body = await _json(request)
        code, seat = body.get("code"), body.get("seat")
        role = access.role_of(code) if isinstance(code, str) else None
        if role is None:
            tries.allow(caller)
            all_tries.allow("all")
            metrics.add("refused_total", label='reason="code"')
            log.warning("refused (code): %s", caller)
            await asyncio.sleep(0.3)
            return JSONResponse({"refused": "this code opens nothing"}, 403)
        return _seated(request, Visitor(role, seat if seat in (0, 1) else None), access)

    @app.post("/api/seat")
    async def seat(request: Request) -> Response:
        visitor = _visitor(request, Role.PLAYER)
        chosen = (await _json(request)).get("seat")
        if chosen not in (0, 1, None) or isinstance(chosen, bool):
            raise InputError("seat: 0, 1 or null")
        return _seated(request, replace(visitor, seat=chosen), access)

    @app.get("/api/me")
    async def me(request: Request) -> JSONResponse:
        visitor = visitor_of(request.scope, access)
        if visitor is None:
            return JSONResponse({"role": None})
        answer: dict[str, Any] = {"role": visitor.role.value, "seat": visitor.seat}
        if visitor.role is Role.REFEREE and access.locked:
            answer["codes"] = {role.value: code for role, code in access.codes.items()}
        answer["join"] = access.locked and visitor.role is Role.REFEREE
        return JSONResponse(answer)

    @app.get("/qr.svg")
    async def qr(request: Request) -> Response:
        visitor = _visitor(request, Role.REFEREE)
        # After the sign: browsers never send it to a server, so the code stands in no log.
        text = f"{parts.base_url}/phone"
        if access.locked and visitor.role is Role.REFEREE:
            text += f"#{access.codes[Role.PLAYER]}"
        out = io.BytesIO()
        segno.make(text, error="m").save(
            out, kind="svg", scale=8, border=2, dark="#101512", light="#f6f3ea", xmldecl=False
        )
        return Response(out.getvalue(), media_type="image/svg+xml")

    def _visitor(request: Request, least: Role) -> Visitor:
        return need(request, access, least)


def need(request: Request, access: Access, least: Role) -> Visitor:
    """Who asks, if he may.

    Raises
    ------
    PermissionError
        Where he has not joined, or with too small a role.
    """
    visitor = visitor_of(request.scope, access)
    if visitor is None:
        raise PermissionError("join first: the code is on the wall")
    if not visitor.role.covers(least):
        raise PermissionError(f"not for a {visitor.role.value}")
    return visitor


def _seated(request: Request, visitor: Visitor, access: Access) -> JSONResponse:
    answer = JSONResponse({"role": visitor.role.value, "seat": visitor.seat})
    answer.set_cookie(
        COOKIE,
        access.cookie(visitor),
        max_age=COOKIE_S,
        httponly=True,
        samesite="strict",
        secure=request.url.scheme == "https",
        path="/",
    )
    return answer


async def _json(request: Request) -> dict[str, Any]:
    if not request.headers.get("content-type", "").startswith("application/json"):
        raise InputError("the body must be application/json")
    try:
        document = json.loads(await request.body())
    except (ValueError, RecursionError):
        raise InputError("the body is no JSON") from None
    if not isinstance(document, dict):
        raise InputError("the body must be a JSON object")
    return document


# -- the match that is played --------------------------------------------------------------------------------------
def _match(app: FastAPI, parts: Parts) -> None:
    desk, access = parts.desk, parts.access

    @app.get("/api/state")
    async def state(request: Request) -> JSONResponse:
        need(request, access, Role.VIEWER)
        return JSONResponse(await run_in_threadpool(desk.state))

    @app.post("/api/do")
    async def do(request: Request) -> JSONResponse:
        visitor = need(request, access, Role.PLAYER)
        return JSONResponse(await run_in_threadpool(desk.do, visitor, await _json(request)))

    @app.get("/api/offers/{shot}")
    async def offers(request: Request, shot: int) -> JSONResponse:
        need(request, access, Role.PLAYER)
        return JSONResponse(await run_in_threadpool(desk.offers, shot))

    @app.get("/clips/{match}/{shot}.mp4")
    async def clip(request: Request, match: str, shot: int) -> Response:
        need(request, access, Role.VIEWER)
        parts.store.match(match)
        found = parts.store.clip(match, shot)
        if found is None:
            return PlainTextResponse("this clip is not kept any more", 404)
        return FileResponse(found.file, media_type="video/mp4")

    @app.get("/api/moment/{shot}.jpg")
    async def moment(request: Request, shot: int, at: float) -> Response:
        from railbird.live.moments import moment_strip

        need(request, access, Role.VIEWER)
        session, record = desk.session, desk.record
        found = parts.store.clip(record.id, shot) if record is not None else None
        if session is None or found is None:
            return PlainTextResponse("this clip is not kept any more", 404)
        place = session.place_of(shot, at)
        corners = place["corners"]
        picture = await run_in_threadpool(
            moment_strip,
            found.file,
            at,
            began_s=found.began_s,
            point=place["point"],
            corners=corners,
            table=Table.from_json(session.view()["table"]),
        )
        return Response(picture, media_type="image/jpeg")

    @app.get("/api/picture")
    async def picture(request: Request) -> Response:
        need(request, access, Role.REFEREE)
        data = await run_in_threadpool(parts.camera.picture) if parts.camera is not None else None
        return Response(data, media_type="image/jpeg") if data else PlainTextResponse("no picture yet", 404)


# -- past matches --------------------------------------------------------------------------------------------------
def _past(app: FastAPI, parts: Parts) -> None:
    desk, store, access = parts.desk, parts.store, parts.access

    @app.get("/api/matches")
    async def matches(request: Request) -> JSONResponse:
        need(request, access, Role.VIEWER)
        rows = await run_in_threadpool(store.matches)
        return JSONResponse(
            [
                {
                    "id": m.id,
                    "table": m.table,
                    "began": m.began,
                    "ended": m.ended,
                    "winner": m.winner,
                    "players": m.options.get("players"),
                    "game": m.options.get("game"),
                    "rules": m.options.get("rules"),
                }
                for m in rows
            ]
        )

    @app.get("/api/matches/{match}/script")
    async def script(request: Request, match: str) -> Response:
        from railbird.live.export import script_lines

        need(request, access, Role.VIEWER)
        text = await run_in_threadpool(script_lines, store, match)
        headers = {"content-disposition": f'attachment; filename="{match}.jsonl"'}
        return Response(text, media_type="application/x-ndjson", headers=headers)

    @app.get("/api/matches/{match}/match.json")
    async def document(request: Request, match: str) -> Response:
        from railbird.live.export import match_document

        need(request, access, Role.VIEWER)
        found = await run_in_threadpool(match_document, store, match)
        headers = {"content-disposition": f'attachment; filename="{match}.match.json"'}
        return JSONResponse(found, headers=headers)

    @app.get("/api/matches/{match}/report")
    async def report(request: Request, match: str) -> Response:
        from railbird.live.export import report_page

        need(request, access, Role.VIEWER)
        page = await run_in_threadpool(report_page, store, match)
        return Response(page, media_type=_TYPES["html"], headers={"content-security-policy": CHECK_POLICY})

    @app.post("/api/matches/{match}/resume")
    async def resume(request: Request, match: str) -> JSONResponse:
        need(request, access, Role.REFEREE)
        await run_in_threadpool(lambda: desk.open(store.match(match)))
        return JSONResponse({"match": match})

    @app.get("/api/disputes")
    async def disputes(request: Request) -> JSONResponse:
        need(request, access, Role.PLAYER)
        return JSONResponse(await run_in_threadpool(store.disputes))


# -- checks of clips -----------------------------------------------------------------------------------------------
def _checks(app: FastAPI, parts: Parts) -> None:
    access, folder = parts.access, parts.store.folder / "checks"
    one_at_a_time = asyncio.Lock()
    rate = Limit(burst=3, per_s=1 / 30)

    @app.post("/api/check")
    async def check(request: Request, at: float, game: str, rules: str = "wpa-2025", language: str = "en") -> Response:
        """An uploaded clip: the body is the file itself, so that no name of it ever comes here."""
        need(request, access, Role.PLAYER)
        one_of("game", game, GAMES)
        one_of("rules", rules, RULE_SETS)
        one_of("language", language, LANGUAGES)
        if not 0 <= at <= 600:
            raise InputError("at: seconds from the clip's start, 0 to 600")
        caller = request.client.host if request.client else "?"
        if one_at_a_time.locked() or not rate.allow(caller):
            return JSONResponse({"refused": "another clip is being checked; try again in a minute"}, 429)
        async with one_at_a_time:
            name = secrets.token_hex(8)
            home = folder / name
            home.mkdir(parents=True)
            clip = home / "clip.video"
            try:
                with clip.open("wb") as file:
                    async for part in request.stream():
                        await run_in_threadpool(file.write, part)
                await run_in_threadpool(probe_clip, clip)
                result = await run_in_threadpool(
                    lambda: check_clip(clip, home / "page", at_s=at, game=game, rules=rules, language=language)
                )
            except BaseException:
                shutil.rmtree(home, ignore_errors=True)
                raise
            _thin(folder)
        shown = {k: result.get(k) for k in ("question", "answer", "p", "ruling", "alternative", "cannot_show")}
        return JSONResponse({**shown, "page": f"/checks/{name}/check.html"})

    @app.post("/api/check/shot/{shot}")
    async def check_shot(request: Request, shot: int, at: float) -> Response:
        """The full check of a shot of this match, from its own clip."""
        need(request, access, Role.PLAYER)
        session, record = parts.desk.session, parts.desk.record
        found = parts.store.clip(record.id, shot) if record is not None else None
        if session is None or record is None or found is None:
            raise InputError("the clip of this shot is not kept any more")
        if one_at_a_time.locked():
            return JSONResponse({"refused": "another clip is being checked; try again in a minute"}, 429)
        async with one_at_a_time:
            name = secrets.token_hex(8)
            home = folder / name
            home.mkdir(parents=True)
            try:
                moment = max(0.0, at - found.began_s)
                result = await run_in_threadpool(
                    lambda: check_clip(
                        found.file,
                        home / "page",
                        at_s=moment,
                        game=session.game.value,
                        rules=session.view()["rules"],
                        language=parts.desk.language,
                    )
                )
            except BaseException:
                shutil.rmtree(home, ignore_errors=True)
                raise
            _thin(folder)
        shown = {k: result.get(k) for k in ("question", "answer", "p", "ruling", "alternative", "cannot_show")}
        return JSONResponse({**shown, "page": f"/checks/{name}/check.html"})

    @app.get("/checks/{name}/{file}")
    async def page(request: Request, name: str, file: str) -> Response:
        need(request, access, Role.VIEWER)
        if not re.fullmatch(r"[0-9a-f]{16}", name) or not re.fullmatch(r"[A-Za-z0-9_-]{1,40}\.[a-z0-9]{2,4}", file):
            return PlainTextResponse("not here", 404)
        path = folder / name / "page" / file
        if not path.is_file():
            return PlainTextResponse("not here", 404)
        return FileResponse(path, headers={"content-security-policy": CHECK_POLICY})

    def _thin(folder: Path) -> None:
        homes = sorted((p for p in folder.iterdir() if p.is_dir()), key=lambda p: p.stat().st_mtime)
        for home in homes[:-CHECKS_KEPT]:
            shutil.rmtree(home, ignore_errors=True)


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


# -- the socket ----------------------------------------------------------------------------------------------------
def _socket(app: FastAPI, parts: Parts) -> None:
    hub, desk, metrics = parts.hub, parts.desk, parts.metrics

    @app.websocket("/socket")
    async def socket(socket: WebSocket) -> None:
        visitor = visitor_of(socket.scope, parts.access)
        if visitor is None:
            metrics.add("refused_total", label='reason="not-joined"')
            log.warning("refused (not-joined): %s", socket.client.host if socket.client else "?")
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
            return
        text = message.get("text")
        if not rate.allow("this") or text is None or len(text) > MESSAGE_BYTES:
            parts.metrics.add("refused_total", label='reason="message"')
            log.warning("refused (message): %s", socket.client.host if socket.client else "?")
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
            parts.metrics.add("refused_total", label='reason="message"')
            await socket.close(1008)
            return
