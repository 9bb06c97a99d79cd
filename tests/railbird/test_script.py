"""From match.json to the referee and back."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from railbird.script import looks_racked, opening_lines, rule
from tests.railbird.made import ANN, BO, TABLE, a_match, event, ruled


def outcome(match: dict[str, Any]) -> list[tuple[str, bool, str | None]]:
    return [(s["shooter"], s["ruling"]["legal"], s["ruling"]["enforced"]) for s in match["shots"]]


def test_rulings_follow_the_table() -> None:
    assert outcome(ruled(gap_s=0.030)) == [
        (ANN, True, None),
        (ANN, False, "wrong-ball-first"),
        (BO, True, None),
        (ANN, False, "scratch"),
    ]


def test_close_contacts_are_open_and_favour_the_shooter() -> None:
    sure = ruled(gap_s=-0.030)["shots"][2]["ruling"]
    assert (sure["legal"], sure["enforced"]) == (False, "wrong-ball-first")
    assert sure["p"] > 0.95
    close = ruled(gap_s=-0.0005)["shots"][2]["ruling"]
    assert close["legal"] is True, "doubt goes to the shooter"
    assert close["needs_referee"] == {"reason": "first-contact", "default": "shooter"}
    assert close["alternative"]["enforced"] == "wrong-ball-first"
    assert set(close["alternative"]["hangs_on_in"]) == {"en", "hu", "et"}


def test_the_document_given_is_not_touched() -> None:
    match = a_match()
    before = copy.deepcopy(match)
    rule(match)
    assert match == before


def test_ruling_again_gives_the_same() -> None:
    once = ruled()
    assert rule(once) == once


def test_set_up_is_read_from_the_first_frame() -> None:
    _, setup = opening_lines(a_match())
    assert setup["setup"]["on_table"] == [0, 1, 2, 5, 9]
    assert setup["setup"]["break"] is False
    match = a_match()
    del match["shots"][0]["start"]["9"]
    assert 9 in opening_lines(match)[1]["setup"]["on_table"], "without the 9 the rack would be over"


def test_given_set_up_wins_and_is_kept() -> None:
    setup = {
        "break": False,
        "on_table": [0, 1, 2, 5, 9],
        "shooter": BO,
        "fouls_in_row": {ANN: 1, BO: 2},
        "warned": True,
    }
    match = rule(a_match(0.03), setup=setup)
    assert match["shots"][0]["shooter"] == BO
    assert match["setup"] == setup
    assert rule(match) == match


def rack() -> dict[str, list[float]]:
    d = TABLE.ball_m
    x0, y0 = TABLE.foot_spot
    rows = [(0, 0), (-0.5, 1), (0.5, 1), (-1, 2), (0, 2), (1, 2), (-0.5, 3), (0.5, 3), (0, 4)]
    places = {str(n): [x0 + d * x, y0 + 0.866 * d * y] for n, (x, y) in enumerate(rows, start=1)}
    return {"0": [0.7, 0.4], **places}


def test_a_rack_is_a_break() -> None:
    assert looks_racked(rack(), TABLE, "9-ball")
    spread = {ball: [0.1 * int(ball), 2.2] for ball in rack()}
    assert not looks_racked(spread, TABLE, "9-ball")
    match = a_match()
    match["shots"] = match["shots"][:1]
    shot = match["shots"][0]
    shot["start"] = rack()
    shot["end"] = {ball: [0.1 + 0.1 * int(ball), 0.3 + 0.15 * int(ball)] for ball in rack() if ball != "1"}
    shot["paths"] = {}
    rails = [event("rail", 1.9, ball=b, rail="foot", at=[0.2 + 0.1 * b, 2.51]) for b in (2, 3, 4, 5)]
    shot["events"] = sorted([*shot["events"][:2], *rails, shot["events"][3]], key=lambda e: e["t_s"])
    done = rule(match)
    assert done["shots"][0]["break"] is True
    assert done["shots"][0]["ruling"]["next"]["push_out_allowed"] or done["shots"][0]["ruling"]["choice"]


def test_ball_that_vanished_between_shots_is_told() -> None:
    match = a_match(0.03)
    for shot in match["shots"][2:]:
        shot["start"].pop("5")
        shot["end"].pop("5", None)
        shot["paths"].pop("5", None)
        shot["events"] = [e for e in shot["events"] if 5 not in (e.get("ball"), *(e.get("balls") or []))]
    done = rule(match)
    told = [w for w in done["warnings"] if w["code"] == "balls-gone"]
    assert [(w["shot"], w["balls"]) for w in told] == [(3, "5")]
    assert all(s["ruling"] for s in done["shots"])


def test_hidden_ball_stays_on_the_table() -> None:
    match = a_match(0.03)
    match["shots"][1]["start"].pop("2")  # seen again in the next shot: somebody stood before it
    done = rule(match)
    assert not [w for w in done["warnings"] if w["code"].startswith("balls-")]
    assert done["shots"][1]["ruling"]["enforced"] == "wrong-ball-first", "the 2 is still the lowest"


def test_call_that_is_missing_shows_what_it_would_change() -> None:
    match = a_match(0.03)
    match |= {
        "game": "8-ball",
        "setup": {"break": False, "on_table": [0, 1, 2, 5, 8, 9], "groups": {ANN: "solids", BO: "stripes"}},
    }
    for shot in match["shots"]:
        shot["start"]["8"] = shot["end"]["8"] = [1.1, 0.3]
    # Off the foot rail into the pocket: no obvious shot, so the call matters.
    match["shots"][0]["events"].insert(2, event("rail", 1.8, ball=1, rail="left", at=[0.03, 1.6]))
    first = rule(match)["shots"][0]
    assert first["ruling"]["needs_referee"]["reason"] == "call-unknown"
    calls = [row["call"] for row in first["if_called"]]
    assert "safety" in calls
    match["shots"][0]["call"] = {"ball": 1, "pocket": "foot-right"}
    known = rule(match)["shots"][0]
    assert "if_called" not in known
    assert known["ruling"]["next"]["player"] == ANN


def test_shot_that_the_rules_refuse_is_a_warning() -> None:
    match = a_match(0.03)
    match["shots"][2]["suspected"] = {"no-such-foul": 0.5}
    done = rule(match)
    assert done["shots"][2]["ruling"] is None
    assert [w["code"] for w in done["warnings"]].count("not-ruled") == 1
    assert done["shots"][3]["ruling"]["enforced"] == "scratch"


@pytest.mark.parametrize("y", [0.631, 0.639])
def test_nearly_on_the_head_string_is_never_a_bad_placement(y: float) -> None:
    match = a_match(0.03)
    match["setup"] = {"break": False, "on_table": [0, 1, 2, 5, 9], "cue_ball": "kitchen"}
    match["shots"][0]["start"]["0"][1] = y
    assert rule(match)["shots"][0]["ruling"]["enforced"] is None
    match["shots"][0]["start"]["0"][1] = 0.9
    assert rule(match)["shots"][0]["ruling"]["enforced"] == "bad-placement"


def test_a_foul_that_rests_on_an_uncertain_number_is_not_called() -> None:
    match = a_match(0.03)
    sure = rule(match)["shots"][1]["ruling"]
    assert sure["enforced"] == "wrong-ball-first"
    # The 5 may be the 2, and the 2 the 5: then the lowest ball was hit first after all.
    match["shots"][1]["identity_p"] = {"0": 1.0, "2": 0.7, "5": 0.7, "9": 1.0}
    doubted = rule(match)["shots"][1]["ruling"]
    assert doubted["enforced"] is None
    assert doubted["alternative"]["enforced"] == "wrong-ball-first"
    assert doubted["needs_referee"]
    assert rule(rule(match)) == rule(match), "ruling again changes nothing"


def test_a_foul_that_rests_on_which_ball_is_the_lowest_is_not_called() -> None:
    """The 5 is hit and is surely the 5; what is taken for the 2 may be the 9 seen from its end."""
    match = a_match(0.03)
    match["shots"][1]["identity_p"] = {"0": 1.0, "2": 0.53, "5": 1.0, "9": 1.0}
    doubted = rule(match)["shots"][1]["ruling"]
    assert doubted["enforced"] is None
    assert doubted["alternative"]["enforced"] == "wrong-ball-first"
    assert doubted["p"] < 0.6
    assert doubted["needs_referee"]["reason"] == "ball-numbers"
    match["shots"][1]["identity_p"] |= {"2": 1.0, "9": 0.53}
    assert rule(match)["shots"][1]["ruling"]["enforced"] == "wrong-ball-first"


def test_a_ruling_is_no_surer_than_the_number_of_the_cue_ball() -> None:
    match = a_match(0.03)
    match["shots"][1]["identity_p"] = {"0": 0.9, "2": 1.0, "5": 1.0, "9": 0.4}
    sure, doubted = ruled(0.03)["shots"][1]["ruling"], rule(match)["shots"][1]["ruling"]
    assert sure["enforced"] == "wrong-ball-first"
    assert doubted["enforced"] is None, "a foul less sure than it must be is not printed"
    assert doubted["alternative"]["p"] == pytest.approx(0.9 * sure["p"], abs=1e-3), "the 9 had no part in it"
    assert doubted["needs_referee"]["reason"] == "ball-numbers"
    match["shots"][1]["identity_p"]["0"] = 0.97
    called = rule(match)["shots"][1]["ruling"]
    assert called["enforced"] == "wrong-ball-first"
    assert called["p"] == pytest.approx(0.97 * sure["p"], abs=1e-3)
    match["shots"][1]["identity_p"]["0"] = 0.9
    assert rule(rule(match)) == rule(match), "not lowered twice"


def test_a_struck_object_ball_is_more_likely_a_mix_up() -> None:
    match = a_match(0.03)
    match["shots"][2]["events"][0]["ball"] = 9
    ruling = rule(match)["shots"][2]["ruling"]
    assert ruling["p"] <= 0.5
    assert ruling["needs_referee"]


def test_what_a_person_said_lies_there_stands() -> None:
    match = a_match(0.03)
    match["shots"] = match["shots"][2:3]
    match["shots"][0]["start"]["1"] = match["shots"][0]["end"]["1"] = [1.0, 1.9]  # the 9, seen wrongly
    assert rule(match)["shots"][0]["ruling"]["enforced"] == "wrong-ball-first"
    told = rule(match, setup={"break": False, "on_table": [0, 2, 5, 9]})
    assert told["shots"][0]["ruling"]["enforced"] is None


def without_rails() -> tuple[dict[str, Any], dict[str, Any]]:
    """A match and its second shot: the cue ball met the 2, nothing reached a rail, all others lie where they lay."""
    match = a_match(0.03)
    shot = match["shots"][1]
    first = next(e for e in shot["events"] if e["kind"] == "contact" and 0 in e["balls"])
    shot["events"] = [e for e in shot["events"] if e["kind"] == "strike"] + [{**first, "balls": [0, 2]}]
    shot["end"] |= {ball: at for ball, at in shot["start"].items() if ball not in ("0", "2")}
    assert rule(match)["shots"][1]["ruling"]["enforced"] == "no-rail"
    return match, shot


def test_no_rail_is_not_called_while_a_ball_on_the_table_is_not_seen() -> None:
    match, shot = without_rails()
    hidden = max(ball for ball in shot["start"] if ball not in ("0", "2"))
    del shot["start"][hidden]
    doubted = rule(match)["shots"][1]["ruling"]
    assert doubted["enforced"] is None
    assert doubted["needs_referee"]
    assert doubted["alternative"]["enforced"] == "no-rail"


def test_no_rail_is_not_called_where_a_ball_was_moved_and_nothing_is_told_of_it() -> None:
    match, shot = without_rails()
    moved = max(ball for ball in shot["start"] if ball not in ("0", "2"))
    x, y = shot["start"][moved]
    shot["end"][moved] = [x + 0.02, y]
    assert rule(match)["shots"][1]["ruling"]["enforced"] is None
