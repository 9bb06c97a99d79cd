"""What facts leave open: whether a ball of which too little was seen may have met a rail."""

from __future__ import annotations

from typing import Any

import pytest

from calibration.table import Table
from railbird.doubts import UNSEEN_AT_RAIL, decisive, rail_unseen

HIT: dict[str, Any] = {"t_s": 1.0, "kind": "contact", "balls": [0, 3], "p": 0.9}
LAY = {"0": [0.6, 0.6], "3": [0.6, 1.2], "5": [0.3, 2.0]}
LIES = {"0": [0.6, 1.1], "3": [0.6, 1.9], "5": [0.3, 2.0]}


@pytest.mark.parametrize(
    ("events", "start", "end", "on", "ball"),
    [
        ([HIT], LAY, LIES, {0, 3, 5}, None),
        ([HIT], LAY, LIES, {0, 3, 5, 7}, 0),  # the 7 was not seen before the shot
        ([HIT], LAY, {k: v for k, v in LIES.items() if k != "5"}, {0, 3, 5}, 5),  # nor after it
        ([HIT], LAY, {k: v for k, v in LIES.items() if k != "3"}, {0, 3, 5}, 3),  # hit, and not seen to lie anywhere
        ([HIT], LAY, LIES | {"5": [0.3, 2.1]}, {0, 3, 5}, 5),  # lies elsewhere, nothing told
        ([HIT], LAY, LIES | {"3": [0.6, 2.502]}, {0, 3, 5}, 3),  # came to lie within a centimetre of the foot cushion
        ([HIT], LAY | {"3": [0.04, 1.2]}, LIES, {0, 3, 5}, 3),  # lay as near to the left one, and was moved
        ([HIT], LAY | {"3": [0.04, 1.2]}, LIES | {"3": [0.0402, 1.2]}, {0, 3, 5}, 3),  # and may have come back from it
        ([HIT], LAY | {"5": [0.04, 2.0]}, LIES | {"5": [0.04, 2.0]}, {0, 3, 5}, None),  # lies there all the while
        ([HIT], LAY, {}, {0, 3, 5}, None),  # nobody says where balls lie
        ([], LAY, {}, {0, 3, 5}, None),  # nothing was hit: a foul in any case
        ([HIT, {"t_s": 1.4, "kind": "rail", "ball": 0, "rail": "foot"}], LAY, LIES, {0, 3, 5, 7}, None),
        (
            [HIT, {"t_s": 2.0, "kind": "pocket", "ball": 3, "pocket": "side-left"}],
            LAY,
            {"0": LIES["0"], "5": LIES["5"]},
            {0, 3, 5},
            None,
        ),
    ],
)
def test_a_ball_of_which_too_little_was_seen_may_have_met_a_rail(
    events: list[Any], start: Any, end: Any, on: set[int], ball: int | None
) -> None:
    found = rail_unseen(events, start, end, on, Table())
    assert [(e["ball"], e["p"]) for e in found] == ([] if ball is None else [(ball, UNSEEN_AT_RAIL)])


def test_it_comes_after_everything_that_was_told() -> None:
    """Scripts come in time order: as it stood after the first contact, a later one made the shot unreadable."""
    later = {"t_s": 3.0, "kind": "contact", "balls": [3, 5], "p": 0.9}
    (event,) = rail_unseen([HIT, later], LAY, LIES, {0, 3, 5, 7}, Table())
    assert event["t_s"] > 3.0


def test_the_cushion_a_ball_may_be_thought_frozen_to_is_not_the_one_told() -> None:
    """That one would not count, and the foul would be told as sure: whether the ball was frozen is what is not known."""
    (event,) = rail_unseen([HIT], LAY | {"3": [0.6, 2.51]}, LIES | {"3": [0.6, 2.50]}, {0, 3, 5}, Table())
    assert (event["ball"], event["rail"]) == (3, "head")


def test_numbers_that_decide() -> None:
    shot = {
        "events": [
            {"t_s": 2.0, "kind": "pocket", "ball": 5},
            {"t_s": 1.5, "kind": "contact", "balls": [0, 7], "p": 0.2},
            HIT,
            {"t_s": 1.2, "kind": "contact", "balls": [3, 6]},
        ]
    }
    assert decisive(shot) == {3, 5}
