"""The match that is played and those that were, over HTTP."""

from __future__ import annotations

from fastapi import FastAPI, Request
from fastapi.responses import FileResponse, JSONResponse, PlainTextResponse, Response
from starlette.concurrency import run_in_threadpool

from calibration.table import Table
from railbird.live.access import Role
from railbird.live.checks import CHECK_POLICY
from railbird.live.parts import Parts, json_body, need


def add_match(app: FastAPI, parts: Parts) -> None:
    """State, commands, readings, clips and pictures of the match that is played."""
    desk, access = parts.desk, parts.access

    @app.get("/api/state")
    async def state(request: Request) -> JSONResponse:
        need(request, access, Role.VIEWER)
        return JSONResponse(await run_in_threadpool(desk.state))

    @app.post("/api/do")
    async def do(request: Request) -> JSONResponse:
        visitor = need(request, access, Role.PLAYER)
        return JSONResponse(await run_in_threadpool(desk.do, visitor, await json_body(request)))

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


def add_past(app: FastAPI, parts: Parts) -> None:
    """The list of matches, and one of them as script, document or report."""
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
        return Response(page, media_type="text/html; charset=utf-8", headers={"content-security-policy": CHECK_POLICY})

    @app.post("/api/matches/{match}/resume")
    async def resume(request: Request, match: str) -> JSONResponse:
        need(request, access, Role.REFEREE)
        await run_in_threadpool(lambda: desk.open(store.match(match)))
        return JSONResponse({"match": match})

    @app.get("/api/disputes")
    async def disputes(request: Request) -> JSONResponse:
        need(request, access, Role.PLAYER)
        return JSONResponse(await run_in_threadpool(store.disputes))
