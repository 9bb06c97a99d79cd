"""The player's strokes do what they were chosen for, and what happens between strokes leaves the balls where it says."""

from __future__ import annotations

import math

import numpy as np
import pytest

pytest.importorskip("pooltool", reason="needs pooltool: pip install -e '.[render]'")

from calibration.table import Table
from sample_videos import player
from sample_videos.bodies import Dress
from sample_videos.interludes import BRUSH_S, Brushing, Leaning, Racking, brush, rack
from sample_videos.scene import default_places
from sample_videos.simulate import Played, Simulator, Stroke

TABLE = Table()
PLACES = {0: (0.6, 0.9), 3: (0.9, 1.9), 5: (0.25, 1.27), 8: (0.7, 2.2), 11: (0.4, 0.5)}


def test_a_pot_is_found_and_pots_when_it_is_played() -> None:
    found = player.find_pot(TABLE, PLACES, {3, 5}, {3, 5}, keep={8})
    assert found is not None
    again = Simulator(TABLE, dict(PLACES), {}).strike(found.stroke, 4.0)
    assert player.pocketed(again) == {found.ball: found.pocket}
    assert player.first_met(again) == found.ball
    assert found.ball in (3, 5)


def test_no_pot_where_a_ball_is_in_the_way() -> None:
    straight = {0: (0.635, 0.7), 3: (0.635, 1.0)}
    assert {i.pocket for i in player.ideas(TABLE, straight, {3})} >= {"foot-left", "foot-right"}
    blocked = straight | {9: (0.635, 0.85)}
    assert player.ideas(TABLE, blocked, {3}) == []


def test_the_easiest_idea_comes_first() -> None:
    places = {0: (0.3, 2.1), 3: (0.15, 2.38), 5: (1.0, 0.6)}
    found = player.ideas(TABLE, places, {3, 5})
    assert found[0].ball == 3
    assert found[0].pocket == "foot-left"
    assert [i.hard for i in found] == sorted(i.hard for i in found)


def test_a_miss_is_found_by_what_is_wanted_of_it() -> None:
    def miss(p: Played) -> bool:
        return player.first_met(p) == 3 and player.reaches_rail(p) and not player.pocketed(p)

    found = player.find_like(TABLE, PLACES, {3}, [miss], np.random.default_rng(4))
    assert found is not None
    assert miss(Simulator(TABLE, dict(PLACES), {}).strike(found.stroke, 0.0))
    assert player.find_like(TABLE, PLACES, {3}, [lambda p: False], np.random.default_rng(4), 6) is None


def test_balls_that_touch_or_hang_can_be_tried() -> None:
    d = TABLE.ball_m
    places = {0: (0.6, 1.0), 1: (0.6, 1.0 + d), 2: (0.01, 0.03)}
    assert player.trial(TABLE, places, Stroke(1.0, 0.0)) is not None


def test_a_brushed_ball_lies_where_it_was_pushed_to() -> None:
    simulator = Simulator(TABLE, dict(PLACES), {})
    brush(simulator, 11, (0.4, 0.55), 2.0)
    at = [simulator.on_table(t)[11] for t in (1.9, 2.0 + BRUSH_S / 2, 2.0 + BRUSH_S, 9.0)]
    assert at[0] == PLACES[11]
    assert at[1] == pytest.approx((0.4, 0.525), abs=1e-6)
    assert at[2] == at[3] == pytest.approx((0.4, 0.55))
    act = Brushing(TABLE, 2.0, PLACES[11], (0.4, 0.55), Dress(), 1)
    near = act.bodies_at(2.2).cones
    assert len(near)
    assert min(math.dist(c[:2], at[1]) for c in near) < 0.12
    assert not len(act.bodies_at(9.0).cones)


def test_a_rack_is_set_and_the_one_who_sets_it_goes_away() -> None:
    there = default_places("8-ball", TABLE, None, np.random.default_rng(2)) | {7: (0.3, 0.4)}
    simulator = Simulator(TABLE, dict(there), {})
    racking = Racking(TABLE, 5.0, 10.0, Dress(), 3)
    places = default_places("8-ball", TABLE, None, np.random.default_rng(1))
    rack(simulator, places, racking)
    assert simulator.on_table(4.9) == there
    assert simulator.on_table(racking.taken_s + 0.05) == {}
    late = simulator.on_table(racking.lifted_s)
    assert set(late) == set(range(1, 16))
    assert all(math.dist(late[b], places[b]) < 1e-9 for b in late)
    assert len(racking.bodies_at(7.0).cones) > len(racking.bodies_at(9.9).cones) > 0
    assert not len(racking.bodies_at(10.1).cones)


def test_somebody_who_leans_over_covers_the_place_and_touches_nothing() -> None:
    act = Leaning(TABLE, 1.0, 5.0, (0.4, 1.5), Dress(), 2)
    cones = act.bodies_at(3.0).cones
    over = [c for c in cones if TABLE.on_surface((c[4], c[5]))]
    assert over
    assert min(min(c[2] - c[3], c[6] - c[7]) for c in over) > TABLE.ball_m
    assert not len(act.bodies_at(0.9).cones)
