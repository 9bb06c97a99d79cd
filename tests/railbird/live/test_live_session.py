"""A match session: folds, keeps before it announces, withdraws, corrects, and stands the same after a restart."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from calibration.errors import InputError
from railbird.live.session import Session
from railbird.live.store import Line, Store, StoreFault
from referee.match import Match
from tests.railbird.live.rig import OPENING, Player, hit, into, parts, rail, spread
from tracking.events import Contact, Strike


class Log:
    """Keeps lines in memory, or fails on demand."""

    def __init__(self) -> None:
        self.lines: list[Line] = []
        self.broken = False

    def __call__(self, kind: str, who: str, body: Any) -> Line:
        if self.broken:
            raise StoreFault("disk full")
        line = Line(len(self.lines) + 1, 0.0, kind, who, dict(body))
        self.lines.append(line)
        return line


def begin(**more: Any) -> tuple[Session, Log, Player]:
    log = Log()
    opening = {**OPENING, **more}
    return Session({"match": opening}, log), log, Player(opening["game"])


def test_a_rack_of_eight_ball_by_calls_from_the_phone() -> None:
    session, _, player = begin()
    session.play(player.break_shot((3, "foot-left")))
    for ball in (1, 2, 4, 5, 6, 7):
        session.call("player:0", {"ball": ball, "pocket": "side-left"})
        session.play(player.pot(ball, "side-left"))
        assert session.view()["shooter"] == "Ann"
    assert session.view()["groups"] == {"Ann": "solids", "Bo": "stripes"}
    assert session.view()["calls"]["balls"] == [8]
    session.call("player:0", {"ball": 8, "pocket": "head-right"})
    news = session.play(player.pot(8, "head-right"))
    assert news.rulings[-1]["rack_winner"] == "Ann"
    assert session.view()["score"] == {"Ann": 1, "Bo": 0}
    assert session.view()["shooter"] == "Bo"  # breaks in turn


def test_a_call_that_was_not_made_good_ends_the_turn_and_is_used_up() -> None:
    session, _, player = begin()
    session.play(player.break_shot((3, "foot-left")))
    session.call("player:0", {"ball": 1, "pocket": "side-left"})
    session.play(player.pot(1, "foot-right"))
    view = session.view()
    assert view["shooter"] == "Bo"
    assert view["call"] is None


def test_calls_that_the_rules_do_not_allow_are_refused_and_not_kept() -> None:
    session, log, player = begin()
    with pytest.raises(InputError, match="break is not called"):
        session.call("player:0", {"ball": 1, "pocket": "side-left"})
    session.play(player.break_shot((3, "foot-left")))
    before = len(log.lines)
    for call in (
        {"ball": 3, "pocket": "side-left"},
        {"ball": 8, "pocket": "side-left"},
        "push-out",
        {"ball": 1, "pocket": "x"},
    ):
        with pytest.raises(InputError):
            session.call("player:0", call)
    assert len(log.lines) == before


def test_nothing_is_announced_that_could_not_be_kept() -> None:
    session, log, player = begin()
    session.play(player.break_shot((3, "foot-left")))
    before = session.view()
    log.broken = True
    with pytest.raises(StoreFault):
        session.play(player.pot(1))
    with pytest.raises(StoreFault):
        session.undo("referee")
    with pytest.raises(StoreFault):
        session.call("player:0", "safety")
    assert session.view() == before


def test_undo_withdraws_and_redo_restores() -> None:
    session, _, player = begin()
    session.play(player.break_shot((3, "foot-left")))
    one = session.view()
    session.play(player.miss(1))
    two = session.view()
    session.undo("player:1")
    assert {**session.view(), "redo": False} == one
    session.redo("player:1")
    assert session.view() == two
    session.undo("player:1")
    session.play(player.miss(2))
    with pytest.raises(InputError, match="nothing to restore"):
        session.redo("player:1")


def test_the_log_gives_the_same_match_after_a_restart(tmp_path: Path) -> None:
    store = Store(tmp_path)
    record = store.begin("Table 1", OPENING)
    session = Session({"match": OPENING}, partial(store.append, record.id))
    player = Player()
    session.play(player.break_shot((3, "foot-left")))
    session.call("player:0", {"ball": 1, "pocket": "side-left"})
    session.play(player.pot(1, "side-left"))
    session.play(player.miss(2))
    session.undo("referee")
    session.redo("referee")
    session.observed("player:1", "touched-ball")
    session.play(player.miss(9))
    session.call("player:0", {"ball": 2, "pocket": "head-left"})
    session.pause("player:0", True)
    view = session.view()
    again = Session({"match": OPENING}, partial(store.append, record.id), store.lines(record.id))
    assert again.view() == view
    assert again.paused
    assert again.view()["call"] == {"ball": 2, "pocket": "head-left"}


def test_the_script_is_what_adjudicate_reads() -> None:
    session, _, player = begin()
    session.play(player.break_shot((3, "foot-left")))
    session.play(player.pot(1))
    session.undo("referee")
    session.play(player.scratch(1))
    match = Match.replayed(session.script())
    assert [r.to_json() for r in match.rulings][-1] == session.view()["last"]["ruling"]
    assert len(match.rulings) == 2


def test_a_person_corrects_the_first_contact_and_everything_follows() -> None:
    session, _, player = begin()
    session.play(player.break_shot((3, "foot-left")))
    session.play(player.pot(1))
    session.play(player.miss(2))
    session.play(player.miss(9))
    assert session.view()["shooter"] == "Ann"
    session.correct_facts("player:1", 3, first=9)
    history = session.view()["history"]
    assert history[2]["enforced"] == "wrong-ball-first"
    assert session.view()["last"]["shot"]["corrected"] is False  # that was shot 3, not the last one
    session.correct_facts("player:1", 3, first=2)
    assert session.view()["history"][2]["fouls"] == []


def test_rail_and_pockets_can_be_corrected() -> None:
    session, _, player = begin()
    session.play(player.break_shot((3, "foot-left")))
    session.play(player.pot(1))
    session.play(player.miss(2))
    session.correct_facts("player:0", 3, rail=False)
    assert session.view()["last"]["ruling"]["enforced"] == "no-rail"
    session.correct_facts("player:0", 3, rail=True)
    assert session.view()["last"]["ruling"]["fouls"] == []
    session.correct_facts("player:0", 3, pocketed={0: "foot-left"})
    assert session.view()["last"]["ruling"]["enforced"] == "scratch"
    session.correct_facts("player:0", 3, pocketed={})
    assert session.view()["last"]["ruling"]["fouls"] == []


def test_a_doubt_offers_both_readings_with_their_rulings() -> None:
    session, _, player = begin()
    session.play(player.break_shot((3, "foot-left")))
    session.play(player.pot(1))
    close = player.shot(hit(2, 0.2, 0.001), hit(9, 0.2008, 0.001), rail(2))
    ruling = session.play(close).rulings[-1]
    assert ruling["needs_referee"] is not None
    assert ruling["fouls"] == []  # doubt favours the shooter
    offers = {offer["id"]: offer for offer in session.offers(3)}
    assert set(offers) == {"first:2", "first:9"}
    assert offers["first:9"]["ruling"]["enforced"] == "wrong-ball-first"
    assert offers["first:9"]["changes"]
    assert not offers["first:2"]["changes"]
    session.correct_by_reading("player:0", 3, "first:9")
    ruling = session.view()["last"]["ruling"]
    assert (ruling["enforced"], ruling["p"]) == ("wrong-ball-first", 1.0)
    assert {o["id"]: o["changes"] for o in session.offers(3)} == {"first:2": True, "first:9": False}  # minds may change
    with pytest.raises(InputError, match="no reading"):
        session.correct_by_reading("player:0", 3, "first:5")


def test_a_doubtful_event_can_be_said_to_have_happened_or_not() -> None:
    session, _, player = begin()
    session.play(player.break_shot((3, "foot-left")))
    session.play(player.pot(1))
    session.play(player.shot(hit(2), rail(2, p=0.6)))
    offers = {o["id"]: o["ruling"]["enforced"] for o in session.offers(3)}
    assert offers == {"event:2:yes": None, "event:2:no": "no-rail"}


def test_a_missing_call_can_be_told_afterwards() -> None:
    session, _, player = begin()
    session.play(player.break_shot((3, "foot-left")))
    bank = player.shot(hit(1), rail(1, 0.5), into(1, "head-left", 1.4))
    session.play(bank)
    assert session.view()["shooter"] == "Bo"  # not obvious, not called
    offers = {o["id"] for o in session.offers(2)}
    assert "call:1" in offers
    session.correct_by_reading("player:0", 2, "call:1")
    assert session.view()["shooter"] == "Ann"


def test_what_people_saw_counts_until_the_next_shot_and_can_be_taken_back() -> None:
    session, _, player = begin()
    session.play(player.break_shot((3, "foot-left")))
    session.observed("player:1", "touched-ball")
    assert session.view()["last"]["ruling"]["enforced"] == "touched-ball"
    session.observed("player:1", "touched-ball", there=False)
    assert session.view()["last"]["ruling"]["fouls"] == []


def test_choices_after_an_illegal_break_and_a_rack_that_answers_by_itself() -> None:
    session, log, player = begin()
    weak = player.shot(hit(1), rail(1))
    session.play(weak)
    assert session.view()["choice"]["player"] == "Bo"
    with pytest.raises(InputError, match="not offered"):
        session.choose("player:1", "hand-back")
    player.rack()
    news = session.play(player.break_shot((3, "foot-left")))
    assert {"code": "choice-read", "what": "rerack-self"} in news.remarks
    assert session.view()["shooter"] == "Bo"
    assert [line.body for line in log.lines if "choose" in line.body] == [{"choose": "rerack-self"}]


def test_a_rack_that_the_rules_do_not_expect_is_taken_and_said() -> None:
    session, _, player = begin()
    session.play(player.break_shot((3, "foot-left")))
    player.rack()
    news = session.play(player.break_shot((4, "foot-left")))
    assert {"code": "rack-unexpected"} in news.remarks
    assert session.view()["last"]["shot"]["number"] == 2
    assert 4 not in session.view()["on_table"]
    assert 3 in session.view()["on_table"]


def test_a_match_taken_up_in_mid_rack_does_not_call_the_shot_a_break() -> None:
    session, _, player = begin()
    player.places = spread([0, 2, 8, 9])
    news = session.play(player.pot(2))
    assert {"code": "mid-rack"} in news.remarks
    assert session.view()["on_table"] == [0, 8, 9]


def test_balls_that_cannot_be_there_do_not_stop_the_match() -> None:
    session, _, player = begin()
    session.play(player.break_shot((3, "foot-left")))
    odd = player.shot(hit(1), Contact(t_s=0.5, balls=(1, 3), at=(0.5, 0.5)), rail(1))
    odd.shot.start[3] = (0.9, 0.9)
    news = session.play(odd)
    assert [r["what"] for r in news.remarks if r["code"] == "left-out"] == ["contact of ball 3", "ball 3 on the table"]


def test_a_ball_moved_between_shots_is_told() -> None:
    session, _, player = begin()
    session.play(player.break_shot((3, "foot-left")))
    x, y = player.places[7]
    player.places[7] = (x + 0.03, y)
    news = session.play(player.miss(1))
    assert {"code": "moved-at-rest", "ball": 7, "mm": 30} in news.remarks


def test_a_stale_call_does_not_cost_the_ruling() -> None:
    session, log, player = begin()
    session.play(player.break_shot((3, "foot-left")))
    session.call("player:0", {"ball": 1, "pocket": "side-left"})
    log.lines.append(log("call", "player:0", {"call": {"ball": 3, "pocket": "side-left"}}))
    again = Session({"match": OPENING}, log, log.lines[:-1])
    news = again.play(player.miss(2))
    assert "call-dropped" in [r["code"] for r in news.remarks]
    assert again.shots == 2


def test_the_referee_puts_the_state_right_and_the_rest_stays() -> None:
    session, _, player = begin()
    session.play(player.break_shot((3, "foot-left")))
    session.play(player.pot(1))
    session.set_state("referee", shooter="Bo", score={"Ann": 1, "Bo": 2})
    view = session.view()
    assert view["shooter"] == "Bo"
    assert view["score"] == {"Ann": 1, "Bo": 2}
    assert view["groups"] == {"Ann": "solids", "Bo": "stripes"}
    assert 1 not in view["on_table"]
    session.undo("referee")
    assert session.view()["score"] == {"Ann": 0, "Bo": 0}


def test_who_breaks_is_said_before_the_first_shot_only() -> None:
    session, _, player = begin()
    session.breaker("player:1", 1)
    assert session.view()["shooter"] == "Bo"
    session.play(player.break_shot((3, "foot-left")))
    with pytest.raises(InputError, match="first shot was played"):
        session.breaker("player:1", 0)


def test_a_match_is_over_when_it_is_won_and_goes_on_when_that_is_withdrawn() -> None:
    session, _, player = begin()
    session.play(player.break_shot((3, "foot-left")))
    session.enter("player:1", {"concede": "Bo"})
    assert session.winner == "Ann"
    with pytest.raises(InputError, match="over"):
        session.play(player.miss(1))
    session.undo("referee")
    assert not session.over


def test_nine_ball_offers_the_push_out_after_the_break_alone() -> None:
    session, _, player = begin(game="9-ball", three_ball_rule=False)
    assert not session.view()["calls"]["push_out"]
    session.play(player.break_shot((5, "foot-left")))
    calls = session.view()["calls"]
    assert calls["push_out"]
    assert not calls["wanted"]
    session.call("player:0", "push-out")
    session.play(player.shot(hit(7)))
    assert session.view()["choice"] == {"player": "Bo", "options": ["play", "hand-back"]}


def test_an_object_ball_that_stirs_is_no_shot(tmp_path: Path) -> None:
    things = parts(tmp_path)
    player = Player()
    stirred = player.shot()
    stirred = replace(stirred, shot=replace(stirred.shot, events=(Strike(t_s=stirred.shot.start_s, ball=6),)))
    assert things.desk.on_shot(stirred) is None
    session = things.desk.session
    assert session is not None
    assert (session.shots, session.state.is_break) == (0, True)
    assert things.desk.on_shot(Player().break_shot((3, "foot-left"))) is not None  # a stroke at the cue ball is one
    # The cue ball struck, and nothing met: that is a shot, and a foul.
    missed = Player().shot()
    assert things.desk.on_shot(missed) is not None
    assert session.shots == 2


def test_balls_carried_to_the_rack_are_no_shot(tmp_path: Path) -> None:
    things = parts(tmp_path)
    session = things.desk.session
    assert session is not None
    carried = Player()
    carried.places = spread(range(16))
    assert things.desk.on_shot(carried.shot(hit(3, p=0.1), rail(3))) is None
    half_there = Player()
    half_there.places = spread(range(9))
    assert things.desk.on_shot(half_there.shot(rail(3))) is None  # the cue ball met nothing
    cut_off = half_there.shot(hit(3), rail(3), partial="end")
    assert things.desk.on_shot(cut_off) is None
    assert session.shots == 0
    assert things.desk.on_shot(Player().break_shot((3, "foot-left"))) is not None
    assert not session.state.is_break


def test_a_rack_that_was_not_seen_well_does_not_hold_up_the_match(tmp_path: Path) -> None:
    things = parts(tmp_path)
    player = Player()
    player.places = spread(range(16))
    assert things.desk.on_shot(player.shot(hit(3), rail(3))) is not None


def test_a_rack_taken_up_in_the_middle_is_played_on(tmp_path: Path) -> None:
    things = parts(tmp_path)
    player = Player()
    player.places = spread([0, 1, 5, 8, 12])
    assert things.desk.on_shot(player.shot(hit(1), rail(1))) is not None
    assert things.desk.session is not None
    assert not things.desk.session.state.is_break


def test_hands_at_the_rack_before_a_break_are_no_foul(tmp_path: Path) -> None:
    things = parts(tmp_path)
    session = things.desk.session
    assert session is not None
    player = Player()
    touched = player.break_shot((3, "foot-left"))
    touched = replace(
        touched, shot=replace(touched.shot, observed=("touched-ball",), suspected={"touched-ball": 0.4, "push": 0.3})
    )
    assert things.desk.on_shot(touched) is not None
    assert session.shot_facts()[0]["observed"] == []
    assert session.shot_facts()[0]["suspected"] == {"push": 0.3}
    assert session.state.shooter == 0
    later = player.pot(1)
    later = replace(later, shot=replace(later.shot, observed=("touched-ball",)))
    assert things.desk.on_shot(later) is not None  # after the break it is one
    ruling = session.ruling_of(2)
    assert ruling is not None
    assert ruling["enforced"] == "touched-ball"


def test_a_stroke_told_of_an_object_ball_though_the_cue_ball_moved_is_asked() -> None:
    session, _, player = begin()
    session.play(player.break_shot())
    session.call("player:1", "safety")
    seen = player.shot(hit(4), rail(4))
    events = tuple(replace(e, ball=4) if isinstance(e, Strike) else e for e in seen.shot.events)
    (ruling,) = session.play(replace(seen, shot=replace(seen.shot, events=events))).rulings
    assert ruling["enforced"] is None
    assert ruling["p"] == pytest.approx(0.5)
    assert ruling["needs_referee"] is not None


def test_no_rail_is_not_said_for_sure_while_a_ball_that_was_hit_is_not_seen_to_lie_anywhere() -> None:
    session, _, player = begin()
    session.play(player.break_shot())
    session.call("player:1", "safety")
    seen = player.shot(hit(4))
    (ruling,) = session.play(seen).rulings
    assert (ruling["enforced"], ruling["p"]) == ("no-rail", 1.0)
    session.undo("player:1")
    rest = {ball: at for ball, at in seen.shot.end.items() if ball != 4}
    (ruling,) = session.play(replace(seen, shot=replace(seen.shot, end=rest))).rulings
    assert ruling["enforced"] is None
    assert ruling["needs_referee"]["reason"] == "rail"


def test_hands_that_press_the_rack_together_make_no_break(tmp_path: Path) -> None:
    """The cue ball lies where it lay, so nobody struck it, whatever rack balls are told to have met."""
    things = parts(tmp_path)
    assert things.desk.session is not None
    player = Player()
    pressed = player.shot(Contact(t_s=0.1, balls=(6, 10), at=(0.6, 1.9), p=0.6))
    lies = dict(pressed.shot.start)
    events = tuple(replace(e, ball=6) if isinstance(e, Strike) else e for e in pressed.shot.events)
    pressed = replace(pressed, shot=replace(pressed.shot, events=events, end=lies))
    assert things.desk.on_shot(pressed) is None
    assert things.desk.session.shots == 0
    player.rack()
    assert things.desk.on_shot(player.break_shot((3, "foot-left"))) is not None


def test_what_is_struck_while_no_cue_ball_is_seen_is_the_cue_ball() -> None:
    session, _, player = begin()
    session.play(player.break_shot())
    session.call("player:1", {"ball": 4, "pocket": "foot-left"})
    seen = player.pot(4)
    as_eleven = {0: 11}
    events = tuple(
        replace(e, balls=(4, 11)) if isinstance(e, Contact) else replace(e, ball=11) if isinstance(e, Strike) else e
        for e in seen.shot.events
    )
    start, end = (
        {as_eleven.get(b, b): at for b, at in places.items() if b != 11} for places in (seen.shot.start, seen.shot.end)
    )
    (ruling,) = session.play(replace(seen, shot=replace(seen.shot, events=events, start=start, end=end))).rulings
    assert (ruling["enforced"], ruling["p"], ruling["next"]["player"]) == (None, 1.0, "Bo")
