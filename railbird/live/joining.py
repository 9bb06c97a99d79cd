"""How people come in: codes, cookies, seats, and the QR code on the wall."""

from __future__ import annotations

import asyncio
import io
import logging
from dataclasses import replace
from typing import Any

import segno
from fastapi import FastAPI, Request
from fastapi.responses import JSONResponse, Response

from calibration.errors import InputError
from railbird.live.access import COOKIE, COOKIE_S, Access, Limit, Role, Visitor
from railbird.live.guard import visitor_of
from railbird.live.parts import Parts, json_body, need

log = logging.getLogger("railbird.live")


def add_joining(app: FastAPI, parts: Parts) -> None:
    """Codes, seats, and the QR code that carries one."""
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
        body = await json_body(request)
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
        chosen = (await json_body(request)).get("seat")
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
