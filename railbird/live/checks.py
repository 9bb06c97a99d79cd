"""The disputed call over HTTP: a clip that somebody sends, or the clip of a shot that was just played."""

from __future__ import annotations

import asyncio
import re
import secrets
import shutil
from pathlib import Path

from fastapi import FastAPI, Request
from fastapi.responses import FileResponse, JSONResponse, PlainTextResponse, Response
from starlette.concurrency import run_in_threadpool

from calibration.errors import InputError
from railbird.games import GAMES, RULE_SETS, one_of
from railbird.live.access import Limit, Role
from railbird.live.limits import check_clip, probe_clip
from railbird.live.parts import Parts, need
from railbird.validation import LANGUAGES

CHECKS_KEPT = 20
#: A check's page is made elsewhere and may carry scripts; it gets an origin of its own and no way out.
CHECK_POLICY = (
    "sandbox allow-scripts; default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline';"
    " img-src data: 'self'; media-src data: 'self'; frame-ancestors 'self'"
)


def add_checks(app: FastAPI, parts: Parts) -> None:
    """An uploaded clip or a shot of this match, worked out in a process of its own."""
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
