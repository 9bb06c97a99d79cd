"""What the page is made of, and who may ask it for what."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from fastapi import Request

from calibration.errors import InputError
from railbird.live.access import Access, Role, Visitor
from railbird.live.desk import Desk
from railbird.live.guard import visitor_of
from railbird.live.hub import Hub
from railbird.live.metrics import Metrics
from railbird.live.seen import Camera
from railbird.live.store import Store


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


async def json_body(request: Request) -> dict[str, Any]:
    """The JSON object of a request.

    Raises
    ------
    InputError
        Where it is none.
    """
    if not request.headers.get("content-type", "").startswith("application/json"):
        raise InputError("the body must be application/json")
    try:
        document = json.loads(await request.body())
    except (ValueError, RecursionError):
        raise InputError("the body is no JSON") from None
    if not isinstance(document, dict):
        raise InputError("the body must be a JSON object")
    return document
