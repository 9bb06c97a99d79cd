"""What a stranger on the club's network may try: refused, counted, and the match goes on."""

from __future__ import annotations

import asyncio
import contextlib
import io
import json
import os
import socket
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import av
import httpx
import pytest
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import ClientConnection, connect

from calibration.errors import InputError
from railbird.live import service
from railbird.live.access import COOKIE, Limit, Role, Visitor
from railbird.live.commands import parse
from railbird.live.hub import Listener
from railbird.live.limits import UPLOAD_BYTES, probe_clip
from tests.railbird.live.rig import Player, Served, parts


@pytest.fixture
def served(tmp_path: Path) -> Iterator[Served]:
    with Served(parts(tmp_path, locked=True)) as running:
        running.parts.desk.on_shot(Player().break_shot((3, "foot-left")))
        yield running
        # Whatever was tried, the match stands and the page answers.
        assert running.parts.desk.session is not None
        assert running.parts.desk.session.shots == 1
        assert httpx.get(f"{running.url}/health").status_code == 200


def cookie(served: Served, role: Role = Role.PLAYER) -> dict[str, str]:
    return {COOKIE: served.parts.access.cookie(Visitor(role))}


def post(served: Served, path: str, *, role: Role | None = Role.PLAYER, **more: object) -> httpx.Response:
    headers = {"x-railbird": "1", **more.pop("headers", {})}  # type: ignore[dict-item]
    jar = cookie(served, role) if role is not None else {}
    return httpx.post(f"{served.url}{path}", headers=headers, cookies=jar, **more)  # type: ignore[arg-type]


def socket_of(served: Served, role: Role | None = Role.PLAYER, **headers: str) -> ClientConnection:
    extra = dict(headers)
    if role is not None:
        extra["Cookie"] = f"{COOKIE}={served.parts.access.cookie(Visitor(role))}"
    return connect(served.url.replace("http", "ws") + "/socket", additional_headers=extra, open_timeout=5)


def hear_out(talk: ClientConnection, *messages: str | bytes) -> None:
    """Send, then listen until the other side hangs up (or for a while)."""
    for message in messages:
        talk.send(message)
    for _ in range(400):
        talk.recv(timeout=5)


def refused(served: Served, reason: str) -> float:
    return served.parts.metrics.get("refused_total", f'reason="{reason}"')


def test_01_a_wrong_code_is_refused_and_guessing_is_slowed_down(
    served: Served, caplog: pytest.LogCaptureFixture
) -> None:
    answers = [post(served, "/api/join", role=None, json={"code": f"GUESS{n}"}).status_code for n in range(9)]
    assert answers[:3] == [403, 403, 403]
    assert answers[-1] == 429
    # The right one does not get through either until the wait is over.
    right = served.parts.access.codes[Role.PLAYER]
    assert post(served, "/api/join", role=None, json={"code": right}).status_code == 429
    assert refused(served, "code") >= 5
    assert "refused (code)" in caplog.text


def test_02_a_socket_without_a_code(served: Served) -> None:
    with pytest.raises(InvalidStatus) as caught:
        socket_of(served, role=None)
    assert caught.value.response.status_code == 403
    assert refused(served, "not-joined") == 1


def test_03_a_socket_from_another_page(served: Served) -> None:
    with pytest.raises(InvalidStatus):
        socket_of(served, Origin="https://evil.example")
    assert refused(served, "origin") == 1


def test_04_a_request_from_another_page(served: Served) -> None:
    for headers in ({"origin": "https://evil.example"}, {"sec-fetch-site": "cross-site"}, {"origin": "null"}):
        assert post(served, "/api/do", json={"do": "undo"}, headers=headers).status_code == 403
    form = httpx.post(
        f"{served.url}/api/do", content='{"do":"undo"}', headers={"content-type": "text/plain"}, cookies=cookie(served)
    )
    assert form.status_code == 403  # no X-Railbird header: what a form can send


def test_05_a_name_that_was_pointed_here(served: Served) -> None:
    answer = httpx.get(f"{served.url}/api/me", headers={"host": "evil.example"})
    assert answer.status_code == 421
    with pytest.raises(InvalidStatus):
        socket_of(served, Host="evil.example")


def test_06_an_oversized_message_on_the_socket(served: Served) -> None:
    with socket_of(served) as talk:
        talk.recv()
        with pytest.raises(ConnectionClosed):
            hear_out(talk, "x" * 1_000_000)


def test_07_nonsense_on_the_socket(served: Served) -> None:
    with socket_of(served) as talk:
        talk.recv()
        answers = []
        with pytest.raises(ConnectionClosed):  # noqa: PT012 - which of the messages is the last one is not the point
            for text in ["", "{", "[]", "null", '{"do": 5}', '{"do":"undo","x":1}', "[" * 3000, '"\\ud800"'] * 5:
                talk.send(text)
                answers.append(json.loads(talk.recv(timeout=3))["type"])
        assert set(answers) == {"refused"}


def test_08_bytes_on_the_socket(served: Served) -> None:
    with socket_of(served) as talk:
        talk.recv()
        with pytest.raises(ConnectionClosed):
            hear_out(talk, b"\x00\xff" * 100)


def test_09_a_flood_on_the_socket(served: Served) -> None:
    with socket_of(served) as talk, pytest.raises(ConnectionClosed):
        hear_out(talk, *['{"do":"extension"}'] * 200)
    assert refused(served, "message") >= 1


def test_10_a_flood_of_sockets(served: Served) -> None:
    served.guard._sockets = Limit(burst=5, per_s=0.1)
    with contextlib.ExitStack() as opened:
        for _ in range(5):
            opened.enter_context(socket_of(served))
        with pytest.raises(InvalidStatus):
            opened.enter_context(socket_of(served))
    assert refused(served, "rate") == 1


def test_11_a_flood_of_requests(served: Served) -> None:
    served.guard._rate = Limit(burst=15, per_s=0.5)
    with httpx.Client(cookies=cookie(served)) as client:
        codes = [client.get(f"{served.url}/api/me").status_code for _ in range(30)]
    assert codes[:10] == [200] * 10
    assert codes[-1] == 429
    served.guard._rate = Limit(burst=120, per_s=30)


def test_12_a_body_that_is_too_large(served: Served) -> None:
    assert (
        post(served, "/api/do", content=b"{" + b" " * 200_000, headers={"content-type": "application/json"}).status_code
        == 413
    )

    def chunks() -> Iterator[bytes]:  # claims no length
        for _ in range(100):
            yield b" " * 10_000

    answer = post(served, "/api/do", content=chunks(), headers={"content-type": "application/json"})
    assert answer.status_code == 413
    deep = post(served, "/api/do", content="[" * 60_000, headers={"content-type": "application/json"})
    assert deep.status_code == 422


def test_13_script_in_a_name_stays_text(served: Served) -> None:
    name = "<img src=x onerror=alert(1)>"
    answer = post(
        served,
        "/api/do",
        role=Role.REFEREE,
        json={"do": "new-match", "game": "8-ball", "rules": "wpa-2025", "players": [name, "{{7*7}}"]},
    )
    assert answer.status_code == 200
    match = served.parts.store.matches()[0].id
    page = httpx.get(f"{served.url}/api/matches/{match}/report", cookies=cookie(served))
    assert "<img src=x" not in page.text
    assert "&lt;img src=x" in page.text
    assert "sandbox" in page.headers["content-security-policy"]
    wall = httpx.get(f"{served.url}/wall").text
    assert name not in wall
    post(served, f"/api/matches/{served.parts.store.matches()[1].id}/resume", role=Role.REFEREE, json={})


def test_14_names_too_long_or_unseen(served: Served) -> None:
    for players in (["x" * 41, "B"], ["\u202e\u200b", "B"], ["A", "A"], ["A", "B", "C"], ["A", 5], "AB"):
        document = {"do": "new-match", "game": "8-ball", "rules": "wpa-2025", "players": players}
        assert post(served, "/api/do", role=Role.REFEREE, json=document).status_code == 422


@pytest.mark.parametrize(
    "path",
    [
        "/static/../server.py", "/static/..%2fserver.py", "/static/%2e%2e/config.py", "/..%2f..%2fetc%2fpasswd",
        "/clips/..%2f..%2fcodes.json/1.mp4", "/clips/20260101-000000-deadbeef/1.mp4", "/checks/..%2f..%2f/codes.json",
        "/checks/0123456789abcdef/..%2f..%2fcodes.json", "/wall?page=../../config", "/api/matches/..%2f/script", "/words/..%2fen",
        "/static/Inter-Bold.ttf%00.js",
    ],
)  # fmt: skip
def test_15_paths_lead_nowhere(served: Served, path: str) -> None:
    answer = httpx.get(f"{served.url}{path}", cookies=cookie(served))
    assert answer.status_code in (404, 422) or path.startswith("/wall")
    assert "PLAYER" not in answer.text
    assert served.parts.access.codes[Role.REFEREE] not in answer.text


def test_16_an_upload_that_is_no_video(served: Served) -> None:
    for body in (b"", os.urandom(50_000), b"#EXTM3U\n#EXTINF:1,\nfile:///etc/passwd\n"):
        answer = post(served, "/api/check?at=1&game=8-ball", content=body)
        assert answer.status_code == 422, answer.text
        assert "root:" not in answer.text
    assert not any((served.parts.store.folder / "checks").iterdir())


def test_17_an_upload_with_a_path_in_its_name(served: Served) -> None:
    headers = {"content-disposition": 'attachment; filename="../../../../tmp/owned.mp4"'}
    answer = post(served, "/api/check?at=1&game=8-ball&filename=../../owned", content=b"x" * 100, headers=headers)
    assert answer.status_code == 422
    assert not list(served.parts.store.folder.rglob("owned*"))


def test_18_an_upload_that_claims_too_much(served: Served) -> None:
    with socket.create_connection(("127.0.0.1", served.port), timeout=5) as raw:
        raw.sendall(
            f"POST /api/check?at=1&game=8-ball HTTP/1.1\r\nHost: 127.0.0.1:{served.port}\r\nX-Railbird: 1\r\n"
            f"Content-Length: {UPLOAD_BYTES + 1}\r\n\r\n".encode()
        )
        assert b" 413 " in raw.recv(200)


@pytest.mark.parametrize(("side", "frames"), [(8000, 2), (16, 31_000)])
def test_19_a_bomb_of_a_video(tmp_path: Path, side: int, frames: int) -> None:
    """A file that unfolds into gigabytes is stopped before it does."""
    bomb = tmp_path / "bomb.mp4"
    with av.open(str(bomb), "w") as box:
        stream = box.add_stream("mpeg4", rate=1000)
        stream.width = stream.height = side
        stream.pix_fmt = "yuv420p"
        picture = av.VideoFrame(side, side, "yuv420p")
        for number in range(frames):
            picture.pts = number
            box.mux(stream.encode(picture))
        box.mux(stream.encode())
    assert bomb.stat().st_size < 5_000_000
    began = time.monotonic()
    with pytest.raises(InputError, match=r"pictures are 8000x8000|more than 30000 frames"):
        probe_clip(bomb)
    assert time.monotonic() - began < 30


def test_20_half_open_sockets_are_hung_up_on(served: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(service, "HALF_OPEN_S", 0.5)
    raws = [socket.create_connection(("127.0.0.1", served.port), timeout=5) for _ in range(40)]
    for raw in raws[::2]:
        raw.sendall(b"GET /wall HTTP/1.1\r\nHost: local")
    began = time.monotonic()
    for raw in raws:
        with contextlib.suppress(ConnectionResetError):
            assert raw.recv(10) == b""
        raw.close()
    assert time.monotonic() - began < 5
    # A page that stays on the socket is not hung up on.
    with socket_of(served) as talk:
        talk.recv()
        time.sleep(0.8)
        served.parts.desk.publish()
        assert json.loads(talk.recv(timeout=3))["type"] == "state"


def test_21_forged_and_old_cookies(served: Served) -> None:
    good = cookie(served, Role.VIEWER)[COOKIE]
    for bad in (
        good.replace("viewer", "referee"),
        good + "x",
        "referee.-.9999999999.00000000.AAAAAAAAAAAAAAAAAAAAAAAA",
    ):
        answer = httpx.get(f"{served.url}/api/state", cookies={COOKIE: bad})
        assert answer.status_code == 403


def test_22_headers_that_break_requests_apart(served: Served) -> None:
    with socket.create_connection(("127.0.0.1", served.port), timeout=5) as raw:
        raw.sendall(
            f"POST /api/do HTTP/1.1\r\nHost: 127.0.0.1:{served.port}\r\nX-Railbird: 1\r\nContent-Length: 5\r\n"
            "Transfer-Encoding: chunked\r\n\r\n0\r\n\r\nGET /api/state HTTP/1.1\r\n\r\n".encode()
        )
        data = raw.recv(4000)
        assert b" 200 " not in data


@pytest.mark.parametrize(
    "document",
    [
        None, 5, [], {}, {"do": "call", "ball": True, "pocket": "side-left"}, {"do": "call", "ball": "3", "pocket": "side-left"},
        {"do": "dispute", "shot": 1, "text": "x" * 301}, {"do": "correct", "shot": 1, "pocketed": {"99": "side-left"}, "z": 1},
        {"do": "correct", "shot": 10**30}, {"do": "set-state", "shooter": 0, "on_table": list(range(17))}, {"do": "__class__"},
        {"do": "sound", "volume": float("nan")}, {"do": "penalty", "seat": -1, "level": "match"},
    ],
)  # fmt: skip
def test_23_commands_that_are_none(document: object) -> None:
    with pytest.raises(InputError) as caught:
        parse(document)
    assert len(str(caught.value)) < 300


def test_24_a_pipe_full_of_nothing(served: Served) -> None:
    """A page that never reads does not fill the memory: it gets the newest state when it reads again."""
    with socket_of(served) as talk:
        talk.recv()
        for n in range(3000):
            served.parts.desk.on_balls(float(n), {0: (0.5, 0.5)})
            served.parts.hub.publish("balls", {"balls": {}, "t_s": n, "pad": "x" * 1000})
        time.sleep(0.3)
        assert sum(len(listener._says) for listener in served.parts.hub._listeners) == 0
        kinds = set()
        with contextlib.suppress(TimeoutError):
            while True:
                kinds.add(json.loads(talk.recv(timeout=0.5))["type"])
        assert kinds == {"balls"}


def test_25_sentences_do_not_pile_up() -> None:
    """What a page that does not read would have heard is forgotten but for the last few."""
    listener = Listener()
    for n in range(1000):
        listener.offer("say", str(n))
        listener.offer("state", f"state {n}")
    assert asyncio.run(listener.next()) == ["state 999", *(str(n) for n in range(992, 1000))]


def _raw(served: Served, text: str) -> None:
    with socket.create_connection(("127.0.0.1", served.port), timeout=5) as raw:
        raw.sendall(text.encode())
        with contextlib.suppress(OSError):
            raw.recv(4000)


def _over_the_socket(served: Served, *messages: str | bytes) -> None:
    with socket_of(served) as talk:
        talk.recv()
        with pytest.raises(ConnectionClosed):
            hear_out(talk, *messages)


def _open(served: Served, role: Role | None = Role.PLAYER, **headers: str) -> None:
    with pytest.raises(InvalidStatus):
        socket_of(served, role, **headers)


def _bomb(served: Served) -> None:
    buffer = io.BytesIO()
    with av.open(buffer, "w", format="mp4") as box:
        stream = box.add_stream("mpeg4", rate=1000)
        stream.width = stream.height = 8000
        stream.pix_fmt = "yuv420p"
        picture = av.VideoFrame(8000, 8000, "yuv420p")
        picture.pts = 0
        box.mux(stream.encode(picture))
        box.mux(stream.encode())
    assert post(served, "/api/check?at=1&game=8-ball", content=buffer.getvalue(), timeout=60).status_code == 422


def _new_match(served: Served, **more: object) -> None:
    document = {"do": "new-match", "game": "8-ball", "rules": "wpa-2025", "players": ["A", "B"], **more}
    assert post(served, "/api/do", role=Role.REFEREE, json=document).status_code == 422


Attack = Callable[[Served], object]
JSON = {"content-type": "application/json"}
ATTACKS: dict[str, tuple[str, Attack]] = {
    "a wrong code": ("code", lambda s: post(s, "/api/join", role=None, json={"code": "GUESS"})),
    "no code, socket": ("not-joined", lambda s: _open(s, None)),
    "no code, command": ("not-allowed", lambda s: post(s, "/api/do", role=None, json={"do": "undo"})),
    "too small a role": ("not-allowed", lambda s: post(s, "/api/do", role=Role.VIEWER, json={"do": "undo"})),
    "a forged cookie": ("not-allowed", lambda s: httpx.get(f"{s.url}/api/state", cookies={COOKIE: "referee.-.9.0.A"})),
    "another origin, socket": ("origin", lambda s: _open(s, Origin="https://evil.example")),
    "another origin, request": ("origin", lambda s: post(s, "/api/do", json={}, headers={"origin": "https://evil.example"})),
    "a form of another page": ("csrf", lambda s: httpx.post(f"{s.url}/api/do", content="{}", cookies=cookie(s))),
    "a rebound name": ("host", lambda s: httpx.get(f"{s.url}/api/me", headers={"host": "evil.example"})),
    "an oversized message": ("size", lambda s: _over_the_socket(s, "x" * 1_000_000)),
    "nonsense over and over": ("message", lambda s: _over_the_socket(s, *["{"] * 25)),
    "bytes": ("message", lambda s: _over_the_socket(s, b"\x00\xff" * 100)),
    "a flood of messages": ("message", lambda s: _over_the_socket(s, *['{"do":"extension"}'] * 200)),
    "an oversized body": ("size", lambda s: post(s, "/api/do", content=b" " * 200_000, headers=JSON)),
    "an oversized upload": ("size", lambda s: _raw(s, f"POST /api/check HTTP/1.1\r\nHost: 127.0.0.1:{s.port}\r\nX-Railbird: 1\r\nContent-Length: {UPLOAD_BYTES + 1}\r\n\r\n")),
    "a deep document": ("input", lambda s: post(s, "/api/do", content="[" * 60_000, headers=JSON)),
    "an unknown command": ("input", lambda s: post(s, "/api/do", json={"do": "__class__"})),
    "script in too long a name": ("input", lambda s: _new_match(s, players=["<script>alert(1)</script>" * 3, "B"])),
    "a name that turns the text round": ("input", lambda s: _new_match(s, players=["\u202e\u200b", "B"])),
    "a path out of the pages": ("path", lambda s: httpx.get(f"{s.url}/static/..%2fserver.py")),
    "a path out of the clips": ("path", lambda s: httpx.get(f"{s.url}/clips/..%2f..%2fcodes.json/1.mp4", cookies=cookie(s))),
    "an upload that is no video": ("input", lambda s: post(s, "/api/check?at=1&game=8-ball", content=os.urandom(5000))),
    "an upload with a path in its name": ("input", lambda s: post(s, "/api/check?at=1&game=8-ball&filename=../../owned", content=b"x" * 100)),
    "a playlist for a video": ("input", lambda s: post(s, "/api/check?at=1&game=8-ball", content=b"#EXTM3U\n#EXTINF:1,\nfile:///etc/passwd\n")),
    "a bomb of a video": ("input", _bomb),
    "a request broken apart": ("malformed", lambda s: _raw(s, "GET / HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\n")),
    "a half-open socket": ("half-open", lambda s: _raw(s, "GET /wall HTTP/1.1\r\nHost: local")),
}  # fmt: skip


@pytest.mark.parametrize("name", ATTACKS)
def test_26_what_is_refused_is_logged(
    served: Served, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setattr(service, "HALF_OPEN_S", 1.0)
    reason, attack = ATTACKS[name]
    assert len(ATTACKS) >= 20
    caplog.clear()
    attack(served)
    end = time.monotonic() + 5
    while f"refused ({reason})" not in caplog.text and time.monotonic() < end:
        time.sleep(0.02)
    assert f"refused ({reason})" in caplog.text
    for code in served.parts.access.codes.values():
        assert code not in caplog.text
