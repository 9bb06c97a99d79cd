"""A ruling is no surer than the numbers of the balls it rests on, and a foul that hangs on them is not called."""

from __future__ import annotations

import json

import pytest

from referee.match import Match

WRONG_BALL = {
    "events": [
        {"t_s": 0.0, "kind": "strike", "ball": 0},
        {"t_s": 0.3, "kind": "contact", "balls": [0, 3]},
        {"t_s": 0.6, "kind": "rail", "ball": 3, "rail": "left"},
    ]
}


def ruled(**shot: object) -> dict[str, object]:
    match = Match({"match": {"game": "9-ball", "players": ["A", "B"], "rules": "wpa-2025"}})
    match.apply({"setup": {"on_table": [1, 3, 5, 9]}})
    return json.loads(json.dumps(match.apply({"shot": {**WRONG_BALL, **shot}})[-1].to_json()))


def test_sure_numbers_call_the_foul() -> None:
    ruling = ruled()
    assert ruling["enforced"] == "wrong-ball-first"
    assert ruling["p"] == 1.0
    assert ruled(trust=1.0) == ruling


@pytest.mark.parametrize("trust", [0.0, 0.5, 0.94])
def test_unsure_numbers_leave_the_foul_to_a_person(trust: float) -> None:
    ruling = ruled(trust=trust)
    assert ruling["fouls"] == []
    assert ruling["enforced"] is None
    assert ruling["p"] == pytest.approx(0.5 * (1 - trust))
    assert ruling["needs_referee"] == {"reason": "ball-numbers", "default": "shooter"}
    alternative = ruling["alternative"]
    assert isinstance(alternative, dict)
    assert alternative["enforced"] == "wrong-ball-first"
    assert alternative["p"] == pytest.approx(trust)
    assert float(str(ruling["p"])) + trust <= 1.0


def test_a_foul_sure_enough_is_called_with_its_probability() -> None:
    ruling = ruled(trust=0.97)
    assert ruling["enforced"] == "wrong-ball-first"
    assert ruling["p"] == pytest.approx(0.97)
    assert ruling["needs_referee"] is None


def test_a_legal_shot_is_as_sure_as_its_numbers() -> None:
    first = {"t_s": 0.3, "kind": "contact", "balls": [0, 1]}
    legal = {"events": [WRONG_BALL["events"][0], first, {**WRONG_BALL["events"][2], "ball": 1}]}
    ruling = ruled(**legal, trust=0.6)
    assert ruling["legal"] is True
    assert ruling["p"] == pytest.approx(0.6)
    needs = ruling["needs_referee"]
    assert isinstance(needs, dict)
    assert needs["reason"] == "ball-numbers"
