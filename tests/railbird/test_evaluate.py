"""Scores that one can work out by hand."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import pytest

from calibration.errors import InputError
from railbird.evaluate import compare, run, turn
from tests.railbird.made import TABLE, ruled

TRUTH = ruled(0.03)


@pytest.fixture
def found() -> dict[str, Any]:
    return copy.deepcopy(TRUTH)


def test_truth_against_itself_is_perfect(found: dict[str, Any]) -> None:
    score = compare(found, TRUTH)
    for kind, count in (("contact", 5), ("rail", 3), ("pocket", 2)):
        rates = score["events"][kind]
        assert (rates["precision"], rates["recall"], rates["f1"]) == (1, 1, 1), (kind, count)
        assert rates["time_error_ms"] == {"median": 0, "p95": 0}
    assert score["shots"] == {"truth": 4, "found": 4}
    assert score["first_contact"] == {"right": 4, "of": 4}
    assert score["rulings"] == {"right": 4, "of": 4, "wrong_and_sure": 0}
    assert score["position_error_mm"] == {"median": 0, "p95": 0}
    assert score["identity"]["right"] == score["identity"]["of"] == 17


def test_late_missing_and_false_events(found: dict[str, Any]) -> None:
    events = found["shots"][0]["events"]
    events[1]["t_s"] += 0.004  # contact 4 ms late
    events[2]["t_s"] += 0.060  # rail too late to be the same
    events[3]["p"] = 0.4  # pocket not said
    score = compare(found, TRUTH)["events"]
    assert score["contact"]["f1"] == 1
    assert score["contact"]["time_error_ms"]["p95"] == pytest.approx(4 * 0.8, abs=1e-6)  # one of five values
    assert (score["rail"]["precision"], score["rail"]["recall"]) == (0.6667, 0.6667)
    assert (score["pocket"]["precision"], score["pocket"]["recall"], score["pocket"]["f1"]) == (1, 0.5, 0.6667)


def test_wrong_and_sure(found: dict[str, Any]) -> None:
    ruling = found["shots"][1]["ruling"]
    ruling |= {"legal": True, "enforced": None, "p": 0.99}
    assert compare(found, TRUTH)["rulings"] == {"right": 3, "of": 4, "wrong_and_sure": 1}
    ruling["p"] = 0.9
    assert compare(found, TRUTH)["rulings"]["wrong_and_sure"] == 0


def test_exchanged_numbers_cost_identity_and_first_contact(found: dict[str, Any]) -> None:
    shot = found["shots"][2]
    shot["start"]["2"], shot["start"]["9"] = shot["start"]["9"], shot["start"]["2"]
    for event in shot["events"]:
        if event.get("balls") == [0, 2]:
            event["balls"] = [0, 9]
    score = compare(found, TRUTH)
    assert score["identity"] == {"right": 15, "of": 17}
    assert score["first_contact"] == {"right": 3, "of": 4}


def test_head_and_foot_exchanged_count_as_right(found: dict[str, Any]) -> None:
    w, length = TABLE.width_m, TABLE.length_m
    for shot in found["shots"]:
        for key in ("start", "end"):
            shot[key] = {ball: [w - x, length - y] for ball, (x, y) in shot[key].items()}
        shot["events"] = [turn(e) for e in shot["events"]]
    score = compare(found, TRUTH)
    assert score["turned"] is True
    assert score["events"]["rail"]["f1"] == score["events"]["pocket"]["f1"] == 1
    assert score["identity"]["right"] == 17


def test_missed_and_invented_shots(found: dict[str, Any]) -> None:
    found["shots"][3]["start_s"] += 5
    found["shots"][3]["end_s"] += 5
    for event in found["shots"][3]["events"]:
        event["t_s"] += 5
    score = compare(found, TRUTH)
    assert score["first_contact"] == {"right": 3, "of": 4}
    assert score["rulings"]["right"] == 3
    assert score["events"]["contact"]["precision"] == score["events"]["contact"]["recall"] == 0.8


def test_first_contact_is_not_asked_within_three_milliseconds() -> None:
    close = ruled(0.002)
    assert compare(close, close)["first_contact"]["of"] == 3


def test_jaws_either_rail_is_right(found: dict[str, Any]) -> None:
    truth = copy.deepcopy(TRUTH)
    truth["shots"][0]["events"][2] |= {"rail": "foot", "at": [1.2, 2.51]}
    found["shots"][0]["events"][2] |= {"rail": "right"}
    assert compare(found, truth)["events"]["rail"]["f1"] == 1
    truth["shots"][0]["events"][2]["at"] = [1.0, 2.51]
    assert compare(found, truth)["events"]["rail"]["f1"] < 1


def test_files_and_their_errors(tmp_path: Path, found: dict[str, Any]) -> None:
    good, bad = tmp_path / "a.json", tmp_path / "b.json"
    good.write_text(json.dumps(found))
    del found["shots"][1]["events"][0]["t_s"]
    bad.write_text(json.dumps(found))
    assert run(good, good)["rulings"]["right"] == 4
    with pytest.raises(InputError, match=r"b.json: shots\[1\].events\[0\].t_s"):
        run(bad, good)
