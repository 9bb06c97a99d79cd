"""A corrected shot, and everything after it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from calibration.errors import InputError
from railbird import overrule, report, result
from tests.railbird.made import ANN, BO, ruled


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "match.json"
    result.write(path, ruled(0.03))
    return path


def correct(path: Path, shot: int, facts: dict[str, Any]) -> dict[str, Any]:
    told = path.parent / "facts.json"
    told.write_text(json.dumps(facts), encoding="utf-8")
    return overrule.run(path, shot=shot, facts=told)


def test_first_contact_corrected_and_everything_follows(file: Path) -> None:
    match = correct(file, 2, {"first_contact": 2})
    assert [s["ruling"]["enforced"] for s in match["shots"]] == [None, None, None, "scratch"]
    assert match["shots"][1]["ruling"]["p"] > 0.9
    assert [s["shooter"] for s in match["shots"]] == [ANN, ANN, BO, ANN]
    assert match["shots"][1]["overruled"][0]["facts"] == {"first_contact": 2}
    assert result.read(file) == match, "the file holds the corrected match"


def test_turns_change_after_the_correction(file: Path) -> None:
    assert [s["shooter"] for s in result.read(file)["shots"]] == [ANN, ANN, BO, ANN]
    match = correct(file, 1, {"pocketed": []})
    assert [s["shooter"] for s in match["shots"]] == [ANN, BO, ANN, BO]


def test_other_ball_first_turns_a_legal_shot_into_a_foul(file: Path) -> None:
    match = correct(file, 3, {"first_contact": 5})
    assert match["shots"][2]["ruling"]["enforced"] == "wrong-ball-first"
    assert match["shots"][2]["ruling"]["p"] > 0.9


def test_no_rail(file: Path) -> None:
    match = correct(file, 3, {"rail": False})
    assert match["shots"][2]["ruling"]["enforced"] == "no-rail"


def test_script_form_and_second_correction(file: Path) -> None:
    correct(file, 3, {"overrule": {"shot": 3, "shot_facts": {"observed": ["double-hit"]}}})
    match = correct(file, 3, {"observed": []})
    assert match["shots"][2]["ruling"]["enforced"] is None
    assert len(match["shots"][2]["overruled"]) == 2


def test_report_beside_it_is_made_again(file: Path) -> None:
    report.rebuild(file)
    assert "Corrected by a person" not in (file.parent / "report.html").read_text(encoding="utf-8")
    correct(file, 3, {"first_contact": 5})
    assert "Corrected by a person" in (file.parent / "report.html").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("shot", "facts", "says"),
    [
        (9, {"rail": True}, "--shot 9: the match has shots 1 to 4"),
        (3, {}, "empty"),
        (3, {"colour": 3}, "'colour' is not known"),
        (3, {"first_contact": 14}, "was not on the table"),
        (3, {"first_contact": "5"}, "facts.first_contact"),
        (3, {"pocketed": [7]}, "no camera saw ball 7 fall"),
        (3, {"rail": 1}, "true or false"),
        (3, {"events": [{"kind": "rail", "t_s": 1.0, "ball": 2, "rail": "up"}]}, r"facts.events\[0\].rail"),
        (3, {"suspected": {"no-such-foul": 0.5}}, "refuse"),
    ],
)
def test_wrong_facts_leave_the_file_alone(file: Path, shot: int, facts: dict[str, Any], says: str) -> None:
    before = file.read_bytes()
    with pytest.raises(InputError, match=says):
        correct(file, shot, facts)
    assert file.read_bytes() == before
