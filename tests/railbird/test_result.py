"""match.json: what is written is read back, and a wrong field is named."""

from __future__ import annotations

import copy
import json
from pathlib import Path

import pytest

from calibration.errors import InputError
from railbird import result
from tracking.events import Contact, Crossing, OffTable, Pocketed, RailHit, Shot, Strike

SHOT = Shot(
    number=1,
    start_s=2.013,
    end_s=9.4,
    start={0: (0.61, 0.63), 1: (0.63, 1.9), 12: (0.2, 0.2)},
    end={0: (0.2, 1.1), 12: (0.2, 0.2)},
    events=(
        Strike(t_s=2.013, sigma_s=0.002, p=0.99),
        Contact(t_s=2.241, sigma_s=0.001, balls=(0, 1), at=(0.63, 1.84), p=0.99),
        RailHit(t_s=2.41, ball=1, rail="foot", leaves_first=True),
        Pocketed(t_s=3.87, ball=1, pocket="foot-right", p=0.98),
        OffTable(t_s=5.0, ball=4, p=0.9),
        Crossing(t_s=5.1, ball=0, line="head-string", toward="head"),
    ),
    frozen_rails={12: ("left", "head")},
    frozen_cue=(1,),
    observed=("touched-ball",),
    suspected={"double-hit": 0.4},
    partial="end",
    identity_p={1: 0.99},
)


def a_match() -> dict:
    return {
        "format": "railbird/1",
        "source": {"file": "clip.mp4"},
        "table": {"length_m": 2.54, "width_m": 1.27, "ball_m": 0.05715},
        "game": "9-ball",
        "rules": "wpa-2025",
        "players": ["Ann", "Bo"],
        "shots": [result.shot_to_json(SHOT, paths={0: [(2.013, 0.61, 0.63), (2.03, 0.61, 0.7)]}, shooter="Ann")],
        "warnings": [{"t_s": 6.2, "code": "camera-moved", "text": "…"}],
    }


def test_shot_survives_the_way_through_json() -> None:
    row = json.loads(json.dumps(result.shot_to_json(SHOT)))
    assert result.shot_from_json(row) == SHOT


def test_file_round_trip(tmp_path: Path) -> None:
    match = a_match()
    result.write(tmp_path / "match.json", match)
    assert result.read(tmp_path / "match.json") == match
    assert [p.name for p in tmp_path.iterdir()] == ["match.json"], "no part file stays behind"


def put(match: dict, path: list, value: object) -> dict:
    match = copy.deepcopy(match)
    target = match
    for key in path[:-1]:
        target = target[key]
    target[path[-1]] = value
    return match


@pytest.mark.parametrize(
    ("path", "value", "named"),
    [
        (["format"], "other/9", "format"),
        (["game"], "snooker", 'game is "snooker": one of 8-ball'),
        (["rules"], None, "rules"),
        (["players"], ["Ann", "Ann"], "players"),
        (["players"], "Ann", "players"),
        (["table", "length_m"], -1, "table.length_m"),
        (["shots"], {}, "shots is an object"),
        (["shots", 0, "number"], True, "shots[0].number"),
        (["shots", 0, "end_s"], 1.0, "shots[0].end_s"),
        (["shots", 0, "start", "16"], [0, 0], "shots[0].start"),
        (["shots", 0, "start", "0"], [0], "shots[0].start.0"),
        (["shots", 0, "call"], "bank", "shots[0].call"),
        (["shots", 0, "paths", "0"], [[1, 2]], "shots[0].paths.0[0]"),
        (["shots", 0, "events", 0, "kind"], "bump", "shots[0].events[0].kind"),
        (["shots", 0, "events", 0, "t_s"], "now", "shots[0].events[0].t_s"),
        (["shots", 0, "events", 1, "balls"], [0, 0], "shots[0].events[1].balls"),
        (["shots", 0, "events", 1, "p"], 1.5, "shots[0].events[1].p"),
        (["shots", 0, "events", 2, "rail"], "north", 'shots[0].events[2].rail is "north": one of head'),
        (["shots", 0, "events", 3, "pocket"], "left", "shots[0].events[3].pocket"),
        (["shots", 0, "events", 3, "ball"], 1.0, "shots[0].events[3].ball"),
        (["shots", 0, "frozen", "rails", "12"], ["x"], "shots[0].frozen.rails.12"),
        (["warnings", 0, "code"], None, "warnings[0].code"),
    ],
)
def test_wrong_field_is_named(tmp_path: Path, path: list, value: object, named: str) -> None:
    file = tmp_path / "m.json"
    file.write_text(json.dumps(put(a_match(), path, value)))
    with pytest.raises(InputError) as caught:
        result.read(file)
    assert named in str(caught.value)
    assert str(caught.value).startswith(str(file))
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("key", result.REQUIRED)
def test_missing_field_is_named(tmp_path: Path, key: str) -> None:
    match = a_match()
    del match[key]
    with pytest.raises(InputError, match=f"{key} is missing"):
        result.write(tmp_path / "m.json", match)


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"", "no JSON"),
        (b"[1]", "a list"),
        (b"\xff\xfe\x00", "no text file"),
        (b'{"a": NaN}', "NaN"),
        (b"{", "line 1"),
    ],
)
def test_broken_file_is_one_line(tmp_path: Path, content: bytes, says: str) -> None:
    file = tmp_path / "m.json"
    file.write_bytes(content)
    with pytest.raises(InputError, match=says) as caught:
        result.read(file)
    assert "\n" not in str(caught.value)


def test_missing_file(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no such file"):
        result.read(tmp_path / "none.json")


def test_shot_numbers_grow(tmp_path: Path) -> None:
    match = a_match()
    match["shots"] *= 2
    with pytest.raises(InputError, match=r"shots\[1\].number is 1 after 1"):
        result.check(match)


def test_failed_write_leaves_the_old_file(tmp_path: Path) -> None:
    file = tmp_path / "match.json"
    result.write(file, a_match())
    before = file.read_bytes()
    with pytest.raises(ValueError, match="not finite"):
        result.write_json(file, {"x": float("nan")})
    assert file.read_bytes() == before


def test_folder_that_is_a_file(tmp_path: Path) -> None:
    (tmp_path / "out").write_text("")
    with pytest.raises(InputError, match="cannot be written"):
        result.write_text(tmp_path / "out" / "match.json", "x")
