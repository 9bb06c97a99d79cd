"""A desk with a scripted camera: shots are handed to it as a real camera would, without pictures."""

from __future__ import annotations

import json
import socket
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import uvicorn

from calibration.table import Table
from railbird.live import service
from railbird.live.access import Access
from railbird.live.config import Club, club_from
from railbird.live.desk import Desk
from railbird.live.hub import Hub
from railbird.live.metrics import Metrics
from railbird.live.parts import Parts
from railbird.live.seen import CameraState, SeenShot
from railbird.live.server import create_app
from railbird.live.store import Store
from tracking.events import AnyEvent, Contact, Pocketed, Point, RailHit, Shot, Strike

TABLE = Table()


class ScriptedCamera:
    """A camera whose shots come from a test."""

    def __init__(self) -> None:
        self.desk: Any = None
        self.started = threading.Event()

    def start(self, desk: Any) -> None:
        self.desk = desk
        desk.on_state(CameraState.READY)
        self.started.set()

    def stop(self) -> None:
        pass

    def picture(self) -> bytes | None:
        return None


def racked(game: str = "8-ball", skip: Sequence[int] = ()) -> dict[int, Point]:
    """Where the balls stand before a break."""
    x, y = TABLE.foot_spot
    rows = {"8-ball": (1, 2, 3, 4, 5), "9-ball": (1, 2, 3, 2, 1), "10-ball": (1, 2, 3, 4), "14.1": (1, 2, 3, 4, 5)}[
        game
    ]
    places: dict[int, Point] = {0: (0.6, 0.4)}
    ball = 0
    for row, count in enumerate(rows):
        for k in range(count):
            ball += 1
            places[ball] = (x + (k - (count - 1) / 2) * TABLE.ball_m, y + row * TABLE.ball_m * 0.8660254)
    return {b: at for b, at in places.items() if b not in skip}


def spread(balls: Sequence[int]) -> dict[int, Point]:
    """The balls apart from one another."""
    return {b: (0.15 + 0.24 * (b % 5), 0.3 + 0.55 * (b // 5)) for b in balls}


class Player:
    """Makes shots that follow from one another: who is down stays down, the cue ball lies where it stopped."""

    def __init__(self, game: str = "8-ball") -> None:
        self.game = game
        self.t = 10.0
        self.number = 0
        self.places = racked(game)

    def rack(self) -> None:
        self.places = racked(self.game)

    def shot(self, *events: AnyEvent | tuple[Any, ...], gone: Sequence[int] = (), **more: Any) -> SeenShot:
        """A shot with events whose times count from the stroke; pocketed balls leave the table."""
        start = dict(self.places)
        full: list[AnyEvent] = [Strike(t_s=self.t)]
        for event in events:
            assert not isinstance(event, tuple)
            full.append(_later(event, self.t))
        down = {e.ball for e in full if isinstance(e, Pocketed)} | set(gone)
        broken = self.places == racked(self.game)
        left = [b for b in self.places if b not in down]
        self.places = spread(left) if broken else {b: self.places[b] for b in left}
        self.number += 1
        end_s = max(e.t_s for e in full) + 1.0
        shot = Shot(
            number=self.number,
            start_s=self.t,
            end_s=end_s,
            start=start,
            end=dict(self.places),
            events=tuple(sorted(full, key=lambda e: e.t_s)),
            **more,
        )
        if 0 not in self.places:
            self.places[0] = (0.5, 0.9)
        self.t = end_s + 12.0
        paths = {0: [[shot.start_s, *start.get(0, (0.5, 0.5))], [end_s, *self.places[0]]]}
        return SeenShot(shot, paths, time.monotonic() - 0.2)

    def break_shot(self, *down: tuple[int, str]) -> SeenShot:
        """A legal break."""
        rails = [RailHit(t_s=0.6 + 0.05 * b, ball=b, rail="foot", at=(0.1 * b, 2.51)) for b in (2, 3, 4, 5)]
        return self.shot(hit(1), *rails, *(into(b, p, 1.5) for b, p in down))

    def pot(self, ball: int, pocket: str = "foot-left", first: int | None = None) -> SeenShot:
        """A ball hit and pocketed."""
        return self.shot(hit(ball if first is None else first), into(ball, pocket))

    def miss(self, ball: int) -> SeenShot:
        """A legal shot that pockets nothing."""
        return self.shot(hit(ball), RailHit(t_s=0.8, ball=ball, rail="foot", at=(0.4, 2.51)))

    def scratch(self, ball: int) -> SeenShot:
        """The cue ball goes down."""
        return self.shot(hit(ball), into(0, "side-right", 1.4))


def hit(ball: int, t_s: float = 0.2, sigma_s: float = 0.0, p: float = 1.0) -> Contact:
    return Contact(t_s=t_s, sigma_s=sigma_s, p=p, balls=(0, ball), at=(0.6, 1.2))


def into(ball: int, pocket: Any = "foot-left", t_s: float = 1.0, p: float = 1.0) -> Pocketed:
    return Pocketed(t_s=t_s, ball=ball, pocket=pocket, p=p)


def rail(ball: int, t_s: float = 0.8, p: float = 1.0) -> RailHit:
    return RailHit(t_s=t_s, ball=ball, rail="foot", at=(0.4, 2.51), p=p)


def _later(event: AnyEvent, by: float) -> AnyEvent:
    from dataclasses import replace

    return replace(event, t_s=event.t_s + by)


OPENING: dict[str, Any] = {
    "game": "8-ball",
    "rules": "wpa-2025",
    "players": ["Ann", "Bo"],
    "breaker": "Ann",
    "race_to": 3,
}


def club(folder: Path, *, port: int = 0, host: str = "127.0.0.1", **more: Any) -> Club:
    """Settings for a test."""
    document: dict[str, Any] = {"keep": {"folder": str(folder)}, "page": {"port": port, "host": host}}
    for section, values in more.items():
        document[section] = {**document.get(section, {}), **values} if isinstance(values, Mapping) else values
    return club_from(document)


def parts(folder: Path, *, locked: bool = False, opening: Mapping[str, Any] | None = OPENING, **more: Any) -> Parts:
    """A desk and everything around it, in this process."""
    settings = club(folder, host="0.0.0.0" if locked else "127.0.0.1", **more)
    store, hub, metrics, camera = Store(folder), Hub(), Metrics(), ScriptedCamera()
    desk = Desk(settings, store, hub, metrics)
    if not desk.resume() and opening is not None:
        desk.begin(opening)
    return Parts(desk, store, hub, Access(folder, locked=locked), metrics, camera, "http://192.0.2.7:8765")


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


class Served:
    """A real server in a thread."""

    def __init__(self, things: Parts) -> None:
        self.parts = things
        self.port = free_port()
        self.guard = create_app(things)
        config = uvicorn.Config(self.guard, host="127.0.0.1", port=self.port, **service.server_options())
        self.server = uvicorn.Server(config)
        self.thread = threading.Thread(target=self.server.run, daemon=True)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def __enter__(self) -> Served:
        self.thread.start()
        for _ in range(200):
            if self.server.started:
                return self
            time.sleep(0.02)
        raise RuntimeError("the server did not start")

    def __exit__(self, *_: object) -> None:
        self.server.should_exit = True
        self.thread.join(timeout=10)
        self.parts.store.close()


def main(folder: str, port: str, opening: str) -> None:
    """A live process of its own, to be killed: commands come as lines of Python-free JSON on stdin.

    ``["pot", 3, "side-left"]`` and the like make the scripted player's shots; every line is answered by ``ok``.
    """
    settings = club(Path(folder), port=int(port))
    camera = ScriptedCamera()
    running = service.assemble(settings, camera)
    desk = running.parts.desk
    if desk.session is None:
        desk.begin(json.loads(opening))

    def listen() -> None:
        camera.started.wait()
        player = Player()
        for text in sys.stdin:
            name, *arguments = json.loads(text)
            if name == "at":
                player.places = {int(b): tuple(at) for b, at in arguments[0].items()}
                player.t = float(arguments[1])
            elif name == "rack":
                player.rack()
            else:
                made = getattr(player, name)(*(tuple(a) if isinstance(a, list) else a for a in arguments))
                camera.desk.on_shot(made)
            print("ok", flush=True)

    threading.Thread(target=listen, daemon=True).start()
    service.run(running)


if __name__ == "__main__":
    main(*sys.argv[1:])
