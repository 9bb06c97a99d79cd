"""The page through HTTP and the socket: roles, commands, state, past matches, numbers for a watchdog."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient

from railbird.live.access import Role
from railbird.live.catalogue import page_words
from railbird.live.parts import Parts
from railbird.live.seen import CameraState
from railbird.live.server import PAGES, create_app
from tests.railbird.live.rig import Player, hit, parts, rail

HEADERS = {"x-railbird": "1"}


@pytest.fixture
def local(tmp_path: Path) -> Iterator[tuple[TestClient, Parts]]:
    things = parts(tmp_path)
    with TestClient(create_app(things), base_url="http://localhost:8765", headers=HEADERS) as client:
        yield client, things
    things.store.close()


@pytest.fixture
def network(tmp_path: Path) -> Iterator[tuple[TestClient, Parts]]:
    things = parts(tmp_path, locked=True)
    with TestClient(create_app(things), base_url="http://192.0.2.7:8765", headers=HEADERS) as client:
        yield client, things
    things.store.close()


def join(client: TestClient, things: Parts, role: Role, seat: int | None = None) -> None:
    client.cookies.clear()
    answer = client.post("/api/join", json={"code": things.access.codes[role], "seat": seat})
    assert answer.status_code == 200
    assert answer.json() == {"role": role.value, "seat": seat}


def do(client: TestClient, **command: Any) -> Any:
    return client.post("/api/do", json=command)


@pytest.mark.parametrize("page", PAGES)
def test_pages_are_self_contained(local: tuple[TestClient, Parts], page: str) -> None:
    answer = local[0].get(f"/{page}")
    assert answer.status_code == 200
    text = answer.text
    assert "http://" not in text
    assert "https://" not in text
    assert "<script>" not in text
    assert " style=" not in text
    assert "'unsafe-inline'" not in answer.headers["content-security-policy"]
    for name in ("x-content-type-options", "x-frame-options", "referrer-policy"):
        assert name in answer.headers


def test_every_word_of_the_pages_is_in_all_languages(local: tuple[TestClient, Parts]) -> None:
    english = page_words("en")
    for language in ("hu", "et"):
        other = page_words(language)
        assert set(other) == set(english)
        assert local[0].get(f"/words/{language}").json() == dict(other)
        for key, text in english.items():
            if key.startswith("live."):
                assert sorted(part.split("}")[0] for part in text.split("{")[1:]) == sorted(
                    part.split("}")[0] for part in other[key].split("{")[1:]
                ), key
    assert local[0].get("/words/xx").status_code == 422


def test_a_match_over_http(local: tuple[TestClient, Parts]) -> None:
    client, things = local
    player = Player()
    things.desk.on_shot(player.break_shot((3, "foot-left")))
    assert do(client, do="call", ball=1, pocket="side-left").status_code == 200
    assert client.get("/api/state").json()["match"]["call"] == {"ball": 1, "pocket": "side-left"}
    things.desk.on_shot(player.pot(1, "side-left"))
    state = client.get("/api/state").json()
    assert state["match"]["groups"] == {"Ann": "solids", "Bo": "stripes"}
    assert do(client, do="undo").status_code == 200
    assert client.get("/api/state").json()["match"]["shots"] == 1
    assert do(client, do="redo").status_code == 200
    refused = do(client, do="call", ball=1, pocket="side-left")
    assert refused.status_code == 422
    assert "not on the table" in refused.json()["refused"]


def test_a_new_match_from_the_set_up(local: tuple[TestClient, Parts]) -> None:
    client, things = local
    answer = do(
        client, do="new-match", game="9-ball", rules="wpa-2008", players=[" Éva ", "<i>Bo</i>"], breaker=1, race_to=7,
        shot_clock_s=30, language="hu",
    )  # fmt: skip
    assert answer.status_code == 200
    state = client.get("/api/state").json()
    assert state["language"] == "hu"
    assert state["match"]["players"] == ["Éva", "<i>Bo</i>"]
    assert state["match"]["shooter"] == "<i>Bo</i>"
    assert [m.ended is None for m in things.store.matches()] == [True, False]
    for wrong in ({"players": ["A", "A"]}, {"players": ["A", ""]}, {"race_to": 0}, {"game": "snooker"}, {"extra": 1}):
        base = {"do": "new-match", "game": "9-ball", "rules": "wpa-2008", "players": ["A", "B"]}
        assert client.post("/api/do", json={**base, **wrong}).status_code == 422
    assert do(client, do="new-match", game="8-ball", rules="est-14.1", players=["A", "B"]).status_code == 422
    assert things.desk.session is not None
    assert things.desk.session.players == ("Éva", "<i>Bo</i>")


def test_nobody_comes_in_from_the_network_without_a_code(network: tuple[TestClient, Parts]) -> None:
    client, _ = network
    assert client.get("/api/me").json() == {"role": None}
    for path in ("/api/state", "/api/offers/1", "/api/matches", "/qr.svg", "/api/picture", "/metrics", "/api/disputes"):
        assert client.get(path).status_code == 403, path
    assert do(client, do="undo").status_code == 403
    assert client.get("/health").status_code == 200


def test_roles_may_do_what_is_theirs(network: tuple[TestClient, Parts]) -> None:
    client, things = network
    player = Player()
    things.desk.on_shot(player.break_shot((3, "foot-left")))
    join(client, things, Role.VIEWER)
    assert client.get("/api/state").status_code == 200
    assert do(client, do="undo").status_code == 403
    assert client.get("/qr.svg").status_code == 403
    join(client, things, Role.PLAYER, 1)
    assert do(client, do="call", ball=1, pocket="side-left").status_code == 403  # Ann is at the table
    assert do(client, do="concede", seat=0).status_code == 403
    assert do(client, do="penalty", seat=0, level="match").status_code == 403
    assert do(client, do="new-match", game="8-ball", rules="wpa-2025", players=["A", "B"]).status_code == 403
    join(client, things, Role.PLAYER, 0)
    assert do(client, do="call", ball=1, pocket="side-left").status_code == 200
    me = client.get("/api/me").json()
    assert "codes" not in me
    join(client, things, Role.REFEREE)
    me = client.get("/api/me").json()
    assert set(me["codes"]) == {"referee", "player", "viewer"}
    qr = client.get("/qr.svg")
    assert qr.headers["content-type"] == "image/svg+xml"
    assert do(client, do="penalty", seat=0, level="warning").status_code == 200


def test_a_seat_can_be_taken_later(network: tuple[TestClient, Parts]) -> None:
    client, things = network
    join(client, things, Role.PLAYER)
    assert client.post("/api/seat", json={"seat": 1}).json() == {"role": "player", "seat": 1}
    assert client.get("/api/me").json()["seat"] == 1
    assert client.post("/api/seat", json={"seat": 2}).status_code == 422
    assert client.post("/api/seat", json={"seat": True}).status_code == 422


def test_only_the_chooser_chooses(network: tuple[TestClient, Parts]) -> None:
    client, things = network
    player = Player()
    things.desk.on_shot(player.shot(hit(1), rail(1)))
    join(client, things, Role.PLAYER, 0)
    assert do(client, do="choose", option="accept").status_code == 403
    join(client, things, Role.PLAYER, 1)
    assert do(client, do="choose", option="accept").status_code == 200


def test_calls_and_fouls_wait_while_the_balls_roll(local: tuple[TestClient, Parts]) -> None:
    client, things = local
    player = Player()
    things.desk.on_shot(player.break_shot((3, "foot-left")))
    things.desk.on_state(CameraState.SHOT)
    assert do(client, do="call", ball=1, pocket="side-left").status_code == 422
    assert do(client, do="observed", code="no-foot").status_code == 422
    things.desk.on_state(CameraState.READY)
    assert do(client, do="observed", code="no-foot").status_code == 200


def test_the_socket_gives_state_balls_and_sentences_and_takes_commands(local: tuple[TestClient, Parts]) -> None:
    client, things = local
    player = Player()
    with client.websocket_connect("ws://localhost:8765/socket") as socket:
        first = socket.receive_json()
        assert first["type"] == "state"
        assert first["format"] == "railbird/1"
        things.desk.on_shot(player.break_shot((3, "foot-left")))
        got = [socket.receive_json(), socket.receive_json()]
        assert {m["type"] for m in got} == {"state", "say"}
        said = next(m for m in got if m["type"] == "say")
        assert said["text"] == "Ann continues."
        things.desk.on_balls(20.0, {0: (0.5, 0.5), 1: (0.25, 1.0)})
        assert socket.receive_json() == {"type": "balls", "balls": {"0": [0.5, 0.5], "1": [0.25, 1.0]}, "t_s": 20.0}
        socket.send_json({"do": "call", "ball": 1, "pocket": "side-left", "id": 7})
        got = [socket.receive_json(), socket.receive_json()]
        assert next(m for m in got if m["type"] == "done")["id"] == 7
        socket.send_json({"do": "call", "ball": 99, "pocket": "side-left", "id": 8})
        answer = socket.receive_json()
        assert (answer["type"], answer["id"]) == ("refused", 8)


def test_fouls_only_says_fouls_only(local: tuple[TestClient, Parts]) -> None:
    client, things = local
    said: list[str] = []
    things.hub.publish = lambda kind, message: said.append(message["text"]) if kind == "say" else None  # type: ignore[method-assign]
    do(client, do="sound", fouls_only=True)
    player = Player()
    things.desk.on_shot(player.break_shot((3, "foot-left")))
    things.desk.on_shot(player.scratch(1))
    assert said == ["Foul: scratch. Bo: ball in hand."]


def test_a_time_out_keeps_practice_out_of_the_match(local: tuple[TestClient, Parts]) -> None:
    client, things = local
    player = Player()
    do(client, do="pause", on=True)
    assert things.desk.on_shot(player.break_shot((3, "foot-left"))) is None
    assert client.get("/api/state").json()["match"]["shots"] == 0
    do(client, do="pause", on=False)
    player.rack()
    assert things.desk.on_shot(player.break_shot((3, "foot-left"))) is not None


def test_watching_a_hit_shows_the_gap_and_keeps_the_clip(local: tuple[TestClient, Parts]) -> None:
    client, things = local
    do(client, do="watch-hit", on=True)
    things.desk.on_balls(1.0, {0: (0.5, 0.5), 4: (0.5, 0.56215), 9: (1.0, 1.0)})
    assert client.get("/api/state").json()["watch"] == {"ball": 4, "gap_mm": 5.0}
    things.desk.on_shot(Player().break_shot((3, "foot-left")))
    assert client.get("/api/state").json()["watch"] is None
    assert client.get("/api/disputes").json()[0]["shot"] == 1


def test_past_matches_as_script_result_and_report(local: tuple[TestClient, Parts]) -> None:
    from railbird import result

    client, things = local
    player = Player()
    things.desk.on_shot(player.break_shot((3, "foot-left")))
    things.desk.on_shot(player.scratch(1))
    name = client.get("/api/matches").json()[0]["id"]
    script = client.get(f"/api/matches/{name}/script").text.splitlines()
    assert [next(iter(json.loads(line))) for line in script] == ["match", "shot", "shot"]
    document = client.get(f"/api/matches/{name}/match.json").json()
    result.check(document)
    assert [s["ruling"]["enforced"] for s in document["shots"]] == [None, "scratch"]
    assert "Ann" in client.get(f"/api/matches/{name}/report").text
    assert client.get("/api/matches/20200101-000000-deadbeef/report").status_code == 422


def test_a_match_is_taken_up_again(local: tuple[TestClient, Parts]) -> None:
    client, things = local
    things.desk.on_shot(Player().break_shot((3, "foot-left")))
    first = client.get("/api/state").json()["match_id"]
    do(client, do="new-match", game="9-ball", rules="wpa-2025", players=["C", "D"])
    assert client.post(f"/api/matches/{first}/resume").status_code == 200
    state = client.get("/api/state").json()
    assert (state["match_id"], state["match"]["shots"]) == (first, 1)
    assert things.store.match(first).ended is None


def test_health_and_metrics(local: tuple[TestClient, Parts]) -> None:
    client, things = local
    things.desk.on_shot(Player().break_shot((3, "foot-left")))
    text = client.get("/metrics").text
    assert "railbird_shots_total 1" in text
    assert 'railbird_state{state="ready"} 1' in text
    assert 'railbird_ruling_seconds_bucket{le="+Inf"} 1' in text
    assert client.get("/health").json()["ok"]
    things.desk.on_state(CameraState.LOST, "no route")
    assert client.get("/health").status_code == 503


def test_a_full_disk_announces_nothing(local: tuple[TestClient, Parts]) -> None:
    client, things = local
    things.store._db.execute("PRAGMA query_only=ON")
    assert things.desk.on_shot(Player().break_shot((3, "foot-left"))) is None
    state = client.get("/api/state").json()
    assert state["match"]["shots"] == 0
    assert state["alert"]["code"] == "store"
    assert do(client, do="pause", on=True).status_code == 503
