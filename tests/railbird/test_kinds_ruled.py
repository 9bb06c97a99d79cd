"""Facts beside the contacts reach the ruling: from staged looks through tracking to the referee, recorded and live."""

from __future__ import annotations

from typing import Any

from railbird.live.seen import to_script
from railbird.pipeline import shot_row
from railbird.script import rule
from referee.match import Match
from tests.tracking import test_kinds as staged
from tests.tracking.staged import TABLE, film
from tests.tracking.test_suspicion import near_shot
from tracking.analyse import analyse
from tracking.observations import Observation


def ruled(stream: list[Observation], game: str = "9-ball", on_table: tuple[int, ...] = ()) -> list[dict[str, Any]]:
    shots = analyse(stream, TABLE).shots
    match = {
        "format": "railbird/1", "source": {"file": "staged", "width": 1, "height": 1, "frames": 1, "duration_s": 1.0},
        "table": TABLE.to_json(), "game": game, "rules": "wpa-2025", "players": ["A", "B"],
        "shots": [shot_row(s) for s in shots], "warnings": [],
    }  # fmt: skip
    setup = {"break": False, "on_table": sorted({0, *on_table})} if on_table else None
    return [shot["ruling"] for shot in rule(match, setup=setup)["shots"]]


def codes(ruling: dict[str, Any]) -> list[str]:
    return [foul["code"] for foul in ruling["fouls"]]


def test_a_double_hit_is_put_to_a_person_and_not_called() -> None:
    (said,) = ruled(near_shot(0.8, 0.7, until_s=4.5), on_table=(4, 9))
    assert "double-hit" not in codes(said)
    assert said["needs_referee"] is not None
    assert said["needs_referee"]["default"] == "shooter"
    assert said["p"] < 0.95
    (clean,) = ruled(near_shot(0.02, 0.3, until_s=4.5), on_table=(4, 9))
    assert clean["p"] > said["p"]


def test_a_stroke_while_balls_move_is_a_foul() -> None:
    def cue(t: float) -> tuple[float, float]:
        x, y = staged.straight(t, at_s=1.0, v=0.7)[0]
        return x - staged.travelled(0.8, t - 2.6), y

    balls = {0: cue, 3: lambda t: staged.straight(t, at_s=1.0, v=0.7)[1], 9: (0.95, 0.4)}
    first, second = ruled(film(balls, 9.0), on_table=(3, 9))
    assert "balls-moving" not in codes(first)
    assert "balls-moving" in codes(second)


def test_a_brushed_ball_is_put_to_a_person_at_the_shot_after() -> None:
    brushed = {5: lambda t: staged.glide(t, 2.0, (0.95, 0.4), (0.97, 0.43), 0.25)}
    balls = {0: lambda t: staged.straight(t, at_s=6.0)[0], 3: lambda t: staged.straight(t, at_s=6.0)[1]}
    (said,) = ruled(film({**balls, **brushed}, 14.0), on_table=(3, 5, 9))
    assert "touched-ball" not in codes(said)
    assert said["needs_referee"] is not None
    assert said["p"] < 0.95
    (clean,) = ruled(film({**balls, 5: (0.95, 0.4)}, 14.0), on_table=(3, 5, 9))
    assert clean["p"] > said["p"]


def test_a_ball_over_the_rail_is_a_foul() -> None:
    def cue(t: float) -> tuple[float, float]:
        return 0.5 + TABLE.ball_m + 0.35 - min(max(t - 1.0, 0.0) * 3.5, 0.35), 0.7

    (said,) = ruled(film({0: cue, 3: staged.over_rail, 9: (0.95, 2.0)}, 5.0), on_table=(3, 9))
    assert "ball-off-table" in codes(said) or said["alternative"]["enforced"] == "ball-off-table"


def test_a_ball_that_hung_too_long_was_not_pocketed() -> None:
    soon, late = (
        ruled(staged.hang_film(staged.HANGS_S + s, staged.HANGS_S + s + 4), "9-ball", (6, 9))[0] for s in (2.5, 7.0)
    )
    assert soon["pocketed"] == [6]
    assert late["pocketed"] == []


def test_a_player_in_the_way_leaves_it_to_the_referee() -> None:
    stream = []
    rng = staged.np.random.default_rng(5)
    for k in range(420):
        t = k / 60 + 0.003
        cue, three = staged.straight(t, at_s=1.0, v=1.3)
        hidden = staged.np.zeros((20, 10), dtype=bool)
        hidden[12:, :] = t > 1.0
        balls = {0: cue, 3: three if three[1] < 0.6 * TABLE.length_m or t < 1 else None, 9: (0.95, 0.4)}
        stream.append(staged.look(t, balls, rng, hidden=hidden))
    (said,) = ruled(stream, on_table=(3, 9))
    assert said["needs_referee"]["reason"] == "clip-incomplete"


def test_live_puts_a_double_hit_to_a_person_too() -> None:
    shot = analyse(near_shot(0.8, 0.7, until_s=4.5), TABLE).shots[0].shot
    taken = to_script(shot, {0, 4, 9}, TABLE)
    assert taken.facts["suspected"]["double-hit"] > 0.5
    match = Match({"match": {"game": "9-ball", "rules": "wpa-2025", "players": ["A", "B"]}})
    match.apply({"setup": {"break": False, "on_table": [0, 4, 9]}})
    said = match.apply({"shot": taken.facts})[-1].to_json()
    assert said["needs_referee"] is not None
    assert "double-hit" not in codes(said)
