"""Balls that went down unseen, and those that come back."""

from __future__ import annotations

from dataclasses import replace

from railbird.live.session import Session
from tests.railbird.live.rig import OPENING
from tests.railbird.live.test_live_session import begin


def test_a_ball_that_went_down_unseen_in_the_break_is_found_out_two_shots_later() -> None:
    session, log, player = begin()
    seen = player.break_shot((3, "foot-left"))
    hidden = {b: at for b, at in seen.shot.end.items() if b != 13}
    session.play(replace(seen, shot=replace(seen.shot, end=hidden), paths={13: [[10.5, 1.0, 1.5], [11.0, 1.25, 1.28]]}))
    player.places.pop(13)
    session.play(player.pot(1))
    assert 13 in session.state.on_table  # it may have been behind somebody
    news = session.play(player.pot(2))
    assert 13 not in session.state.on_table
    assert [r for r in news.remarks if r["code"] == "gone-unseen"] == [{"code": "gone-unseen", "ball": 13, "shot": 1}]
    pocketed = [e for e in session.shot_facts()[0]["events"] if e["kind"] == "pocket" and e["ball"] == 13]
    assert [e["pocket"] for e in pocketed] == ["side-right"]
    assert Session({"match": {**OPENING}}, log, log.lines).state == session.state  # it is in the log like any line
    # It was only hidden: a dark ball at a cushion. Seen again, it is on the table again.
    player.places[13] = (1.2, 1.2)
    news = session.play(player.pot(4))
    assert "back" in [r["code"] for r in news.remarks]
    assert 13 in session.state.on_table
    assert Session({"match": {**OPENING}}, log, log.lines).state == session.state


def test_a_ball_that_lay_on_the_table_and_is_not_seen_any_more_is_not_taken_for_down() -> None:
    session, _, player = begin()
    session.play(player.break_shot((3, "foot-left")))
    player.places.pop(13)
    for ball in (1, 2, 4):
        news = session.play(player.pot(ball))
        assert [r["code"] for r in news.remarks if r["code"] in ("gone-unseen", "missing")] == []
    assert 13 in session.state.on_table


def test_where_it_would_change_the_turn_it_is_only_asked_about() -> None:
    session, _, player = begin()
    seen = player.break_shot()  # nothing told to be down: the turn passes
    hidden = {b: at for b, at in seen.shot.end.items() if b != 13}
    session.play(replace(seen, shot=replace(seen.shot, end=hidden), paths={13: [[10.5, 1.0, 1.5], [11.0, 1.25, 1.28]]}))
    player.places.pop(13)
    session.play(player.miss(1))
    news = session.play(player.miss(1))
    assert [r["ball"] for r in news.remarks if r["code"] == "missing"] == [13]
    assert 13 in session.state.on_table
    news = session.play(player.miss(1))
    assert [r["ball"] for r in news.remarks if r["code"] == "missing"] == []  # said once


def test_where_a_ball_is_seen_that_is_down_names_are_mixed_up_and_nothing_is_put_right() -> None:
    session, _, player = begin()
    seen = player.break_shot((3, "foot-left"))
    hidden = {b: at for b, at in seen.shot.end.items() if b != 13}
    session.play(replace(seen, shot=replace(seen.shot, end=hidden), paths={13: [[10.5, 1.0, 1.5], [11.0, 1.25, 1.28]]}))
    player.places[3] = player.places.pop(13)
    session.play(player.pot(1))
    session.play(player.pot(2))
    assert 13 in session.state.on_table


def test_after_another_shot_than_the_break_a_ball_is_more_often_hidden_than_down() -> None:
    session, _, player = begin()
    session.play(player.break_shot((3, "foot-left")))
    seen = player.pot(1)
    hidden = {b: at for b, at in seen.shot.end.items() if b != 13}
    session.play(replace(seen, shot=replace(seen.shot, end=hidden)))
    player.places.pop(13)
    session.play(player.pot(2))
    session.play(player.pot(4))
    assert 13 in session.state.on_table
