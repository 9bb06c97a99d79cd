"""The commands ``live`` and ``matches``, and the voice on this machine."""

from __future__ import annotations

import json
import socket
import time
from pathlib import Path

import pytest

from calibration.errors import InputError
from railbird import result
from railbird.cli import main
from railbird.live.readings import hit_first, reached_rail, readings, went_down
from railbird.live.speech import Speaker
from tests.railbird.live.rig import Player, parts


def test_matches_are_listed_and_taken_away(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    things = parts(tmp_path)
    player = Player()
    things.desk.on_shot(player.break_shot((3, "foot-left")))
    things.desk.on_shot(player.scratch(1))
    assert things.desk.record is not None
    name = things.desk.record.id
    things.store.close()
    assert main(["matches", "--data", str(tmp_path)]) == 0
    assert f"{name}  " in capsys.readouterr().out
    files = [tmp_path / "m.jsonl", tmp_path / "m.json", tmp_path / "m.html"]
    options = ["--script", str(files[0]), "--export", str(files[1]), "--report", str(files[2])]
    assert main(["matches", name, "--data", str(tmp_path), *options]) == 0
    assert main(["adjudicate", str(files[0])]) == 0
    printed = [json.loads(line)["ruling"]["enforced"] for line in capsys.readouterr().out.splitlines()]
    assert printed == [None, "scratch"]
    assert len(result.read(files[1])["shots"]) == 2
    assert "Ann" in files[2].read_text()


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (["live"], "--source is missing"),
        (["live", "--source", "0", "--game", "snooker"], "snooker"),
        (["live", "--source", "0", "--players", "A"], "two different names"),
        (["live", "--config", "nowhere.toml"], "nowhere.toml"),
        (["matches", "--data", "nowhere"], "no match log"),
        (["matches", "x", "--data", "nowhere"], "no match log"),
    ],
)
def test_wrong_commands_end_with_one_line(
    arguments: list[str],
    named: str,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(arguments) == 2
    told = capsys.readouterr().err.strip()
    assert named in told
    assert "\n" not in told


def test_a_port_that_is_taken_is_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = str(taken.getsockname()[1])
        assert main(["live", "--source", "0", "--port", port, "--data", str(tmp_path)]) == 2
    assert port in capsys.readouterr().err


def test_the_voice_gets_its_text_on_stdin_and_never_waits(tmp_path: Path) -> None:
    program, heard = tmp_path / "voice", tmp_path / "heard"
    program.write_text(f'#!/bin/sh\necho "$@ / $(cat)" >> {heard}\nsleep 0.2\n')
    program.chmod(0o755)
    speaker = Speaker(50, str(program))
    began = time.monotonic()
    for n in range(10):
        speaker.say(f"--option {n}", "hu")
    assert time.monotonic() - began < 0.2
    speaker.close()
    speaker._thread.join(timeout=10)
    lines = heard.read_text().splitlines()
    assert lines[-1] == "-v hu -a 100 --stdin / --option 9"
    assert len(lines) <= 4  # what nobody could listen to any more was left out


def test_a_voice_that_is_not_installed_is_said() -> None:
    with pytest.raises(InputError, match="espeak"):
        Speaker(80, "espeak-that-is-not-there")


EVENTS = [
    {"kind": "strike", "t_s": 1.0, "ball": 0},
    {"kind": "contact", "t_s": 1.2, "balls": [0, 3], "sigma_s": 0.001},
    {"kind": "contact", "t_s": 1.2005, "balls": [0, 5], "sigma_s": 0.001},
    {"kind": "rail", "t_s": 1.6, "ball": 3, "rail": "foot", "p": 0.7},
    {"kind": "pocket", "t_s": 2.0, "ball": 5, "pocket": "foot-left"},
]


def first_of(events: list[dict[str, object]]) -> object:
    met = [e for e in events if e["kind"] == "contact" and 0 in e["balls"]]  # type: ignore[operator]
    return min(met, key=lambda e: e["t_s"])["balls"] if met else None  # type: ignore[arg-type,return-value]


@pytest.mark.parametrize("ball", [3, 5, 9])
def test_a_corrected_first_contact_is_first_and_in_order(ball: int) -> None:
    events = hit_first(EVENTS, ball)
    assert first_of(events) == [0, ball]
    assert [e["t_s"] for e in events] == sorted(e["t_s"] for e in events)
    assert EVENTS[1]["sigma_s"] == 0.001  # the facts themselves are not touched


def test_nothing_hit_leaves_no_contact_of_the_cue_ball() -> None:
    assert first_of(hit_first(EVENTS, 0)) is None
    with pytest.raises(InputError, match="which one"):
        reached_rail(hit_first(EVENTS, 0), True)


def test_rails_and_pockets_follow_what_people_say() -> None:
    assert not [e for e in reached_rail(EVENTS, False) if e["kind"] == "rail"]
    assert [e["p"] for e in reached_rail(EVENTS, True) if e["kind"] == "rail"] == [1.0]
    assert [e["kind"] for e in reached_rail(EVENTS[:2], True)] == ["strike", "contact", "rail"]
    down = went_down(EVENTS, {7: "side-left"}, [9])
    assert [(e["ball"], e["kind"]) for e in down if e["kind"] in ("pocket", "off-table")] == [
        (7, "pocket"),
        (9, "off-table"),
    ]
    assert went_down(EVENTS, {5: "foot-left"})[-1]["t_s"] == 2.0


def test_readings_name_what_is_open_and_nothing_else() -> None:
    shot = {"events": EVENTS, "suspected": {"double-hit": 0.4}, "call": None}
    assert [r.id for r in readings(shot)] == [
        "first:3", "first:5", "event:3:yes", "event:3:no", "suspected:double-hit:yes", "suspected:double-hit:no",
    ]  # fmt: skip
    assert [r.id for r in readings(shot, call_shot=True)][-1] == "call:5"
    sure = [{**e, "p": 1.0, "sigma_s": 0.0} for e in EVENTS if e.get("balls") != [0, 5]]
    assert readings({"events": sure, "call": "safety"}, call_shot=True) == []
