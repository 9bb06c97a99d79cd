"""Starts everything for one table and keeps it running until it is told to stop."""

from __future__ import annotations

import asyncio
import logging
import socket
import sys
from dataclasses import dataclass
from typing import Any

import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

from calibration.errors import InputError
from railbird.live.access import Access, Role
from railbird.live.config import Club
from railbird.live.desk import Desk
from railbird.live.hub import Hub
from railbird.live.metrics import Metrics
from railbird.live.parts import Parts
from railbird.live.seen import Camera
from railbird.live.server import create_app
from railbird.live.sockets import MESSAGE_BYTES
from railbird.live.speech import Speaker
from railbird.live.store import Store

log = logging.getLogger("railbird.live")
HALF_OPEN_S = 10.0
MOST_CONNECTIONS = 256


class PatientProtocol(H11Protocol):
    """Hangs up on a connection that has sent no whole request after ten seconds: half-open sockets cost nothing."""

    def connection_made(self, transport: Any) -> None:
        super().connection_made(transport)
        self._waiting = self.loop.call_later(HALF_OPEN_S, self._give_up)

    def handle_websocket_upgrade(self, event: Any) -> None:
        self._waiting.cancel()
        super().handle_websocket_upgrade(event)

    def send_400_response(self, msg: str) -> None:
        log.warning("refused (malformed): %s", (self.client or ("?",))[0])
        super().send_400_response(msg)

    def _give_up(self) -> None:
        if self.cycle is None and not self.transport.is_closing():
            log.warning("refused (half-open): %s", (self.client or ("?",))[0])
            self.transport.abort()

    def connection_lost(self, exc: Exception | None) -> None:
        self._waiting.cancel()
        super().connection_lost(exc)


@dataclass(slots=True)
class Running:
    """What ``assemble`` put together."""

    parts: Parts
    config: uvicorn.Config


def assemble(club: Club, camera: Camera | None, metrics: Metrics | None = None, *, resume: bool = True) -> Running:
    """Open the log, take up the match that was being played, and make the page.

    Raises
    ------
    InputError
        Where the data folder or the voice cannot be used.
    """
    store = Store(club.folder)
    access = Access(club.folder, locked=club.on_network, names=club.page.names)
    speaker = Speaker(club.sound.volume) if club.sound.speak else None
    hub, metrics = Hub(), metrics or Metrics()
    desk = Desk(club, store, hub, metrics, speaker)
    if resume:
        desk.resume()
    parts = Parts(desk, store, hub, access, metrics, camera, _base_url(club))
    config = uvicorn.Config(create_app(parts), host=club.page.host, port=club.page.port, **server_options())
    return Running(parts, config)


def server_options() -> dict[str, Any]:
    """How the server is run: sizes, waits and numbers are limited, and it tells nothing about itself."""
    return {
        "http": PatientProtocol,
        "ws": "websockets-sansio",
        "ws_max_size": MESSAGE_BYTES,
        "ws_ping_interval": 20.0,
        "ws_ping_timeout": 20.0,
        "limit_concurrency": MOST_CONNECTIONS,
        "timeout_keep_alive": 15,
        "timeout_graceful_shutdown": 3,
        "access_log": False,
        "log_config": None,
        "server_header": False,
        "proxy_headers": False,
    }


def run(running: Running) -> None:
    """Serve until interrupted."""
    server = uvicorn.Server(running.config)
    try:
        asyncio.run(server.serve())
    finally:
        running.parts.store.close()


def begin_if_asked(desk: Desk, club: Club) -> None:
    """Without a match to take up, begin the one that settings and command line describe."""
    if desk.session is not None:
        return
    match = club.match
    straight = match.game == "14.1"
    desk.begin(
        {
            "game": match.game,
            "rules": match.rules,
            "players": list(match.players),
            "breaker": match.breaker,
            "race_to": None if straight else match.race_to,
            "points_to": match.points_to if straight else None,
            "break_order": match.break_order,
            "shot_clock_s": match.shot_clock_s,
        },
        club.language,
    )


def addresses(parts: Parts, club: Club) -> list[str]:
    """What the person at the machine is told: links that open the pages, codes included where one is needed."""
    base = parts.base_url
    if not parts.access.locked:
        return [f"wall   {base}/wall", f"phone  {base}/phone", f"set-up {base}/setup"]
    codes = parts.access.codes
    return [
        f"wall and set-up (referee)  {base}/join?to=wall#{codes[Role.REFEREE]}",
        f"players' phones            {base}/phone#{codes[Role.PLAYER]}",
        f"viewers                    {base}/join?to=wall#{codes[Role.VIEWER]}",
        f"overlay for a broadcast    {base}/overlay#{codes[Role.VIEWER]}",
    ]


def _base_url(club: Club) -> str:
    host = club.page.names[0] if club.page.names else club.page.host
    if host in ("0.0.0.0", "::"):
        host = own_address()
    if ":" in host:
        host = f"[{host}]"
    return f"http://{host}:{club.page.port}"


def own_address() -> str:
    """This machine's address on its network; nothing is sent to find it out."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(("192.0.2.1", 9))
            return str(probe.getsockname()[0])
        except OSError:
            return "127.0.0.1"


def log_to_stderr() -> None:
    """Logs that help: time, level, what happened; the journal of a service keeps them."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(message)s"))
    root = logging.getLogger("railbird")
    if not root.handlers:
        root.addHandler(handler)
        root.setLevel(logging.INFO)


def check_free(club: Club) -> None:
    """Fail early where somebody else has the port.

    Raises
    ------
    InputError
        Naming the port and the way out.
    """
    family = socket.AF_INET6 if ":" in club.page.host else socket.AF_INET
    with socket.socket(family, socket.SOCK_STREAM) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((club.page.host, club.page.port))
        except OSError as error:
            reason = error.strerror or str(error)
            raise InputError(f"--host {club.page.host} --port {club.page.port}: cannot be used ({reason})") from None


__all__ = ["Running", "addresses", "assemble", "begin_if_asked", "check_free", "log_to_stderr", "run"]
