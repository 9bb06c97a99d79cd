"""Truth against what pooltool did and against closed forms; scripted paths keep what they promise."""

import math

import numpy as np
import pytest

pytest.importorskip("pooltool", reason="pooltool-billiards (extra 'render') is not installed")

from calibration.errors import InputError
from calibration.table import SIZES, Table
from sample_videos.draw import mouth_polygons
from sample_videos.scripted import hang, jump, off_table, out_again
from sample_videos.simulate import POCKET_OF, Flight, Played, Simulator, Stroke, table_of
from tracking.events import Contact, OffTable, Pocketed, RailHit, Strike

TABLE = Table()
R = TABLE.ball_radius


def play(places: dict[int, tuple[float, float]], stroke: Stroke, *scripts: object) -> tuple[Simulator, Played]:
    simulator = Simulator(TABLE, places, {})
    return simulator, simulator.strike(stroke, 1.5, tuple(scripts))  # type: ignore[arg-type]


@pytest.mark.parametrize("size", SIZES)
def test_our_pockets_are_pooltool_s(size: str) -> None:
    table = Table.of_size(size)
    theirs = table_of(table).pockets
    for name, pocket in theirs.items():
        mine = table.pockets[POCKET_OF[name]]
        np.testing.assert_allclose(pocket.center[:2], mine.centre, atol=1e-9)
        assert pocket.radius == pytest.approx(mine.radius)


def test_drawn_mouths_follow_pooltool_s_cushions() -> None:
    theirs = table_of(TABLE).cushion_segments.linear
    polygons = dict(zip(TABLE.pockets, mouth_polygons(TABLE, 0.05), strict=True))
    for segment, pocket in (
        ("1", "head-left"),
        ("2", "head-left"),
        ("4", "side-left"),
        ("13", "side-right"),
        ("11", "foot-right"),
    ):
        tip = theirs[segment].p2[:2]
        assert np.linalg.norm(polygons[pocket] - tip, axis=1).min() < 1e-6


def test_events_happen_where_balls_touch() -> None:
    places = {0: (0.5, 0.7), 1: (0.75, 1.6), 2: (0.85, 1.75), 3: (0.3, 2.2), 4: (1.0, 2.0)}
    simulator, played = play(places, Stroke(4.0, 74.0))
    kinds = {type(e) for e in played.events}
    assert {Strike, Contact, RailHit} <= kinds
    assert [e.t_s for e in played.events] == sorted(e.t_s for e in played.events)
    for event in played.events:
        at = event.t_s - 1e-7
        if isinstance(event, Contact):
            a, b = (simulator.tracks[k].rvw(at) for k in event.balls)
            assert a is not None
            assert b is not None
            assert np.linalg.norm(a[0] - b[0]) == pytest.approx(2 * R, abs=5e-6)
            np.testing.assert_allclose((a[0] + b[0])[:2] / 2, event.at, atol=1e-5)
        if (
            isinstance(event, RailHit)
            and min(math.dist(event.at or (0, 0), p.centre) for p in TABLE.pockets.values()) > 0.15
        ):
            assert TABLE.rail_gap(event.at or (0, 0), event.rail) == pytest.approx(0, abs=1e-5)


def test_a_rolling_ball_reaches_the_rail_at_the_closed_form_s_time() -> None:
    """Struck in the middle, the ball slides with -u_s g until it rolls at 5/7 of its speed, then rolls with -u_r g."""
    simulator, played = play({0: (0.635, 0.5)}, Stroke(1.0, 90.0, elevation=0.0))
    first = next(e for e in played.events if isinstance(e, RailHit))
    start = simulator.tracks[0].rvw(1.5 + 1e-9)
    assert start is not None
    v, spin = (
        float(start[1][1]),
        float(-start[2][0] * R),
    )  # spin's speed at the bottom: 0 for a ball struck in the middle
    p = simulator.physics
    slide = 2 * (v - spin) / (7 * p.u_s * p.g)
    way_slide = v * slide - p.u_s * p.g * slide**2 / 2
    w = v - p.u_s * p.g * slide
    left = 2.54 - R - 0.5 - way_slide
    roll = (w - math.sqrt(w * w - 2 * p.u_r * p.g * left)) / (p.u_r * p.g)
    assert first.rail == "foot"
    assert first.t_s == pytest.approx(1.5 + slide + roll, abs=1e-5)


def test_pocket_time_is_the_crossing_of_the_opening() -> None:
    angle = math.degrees(math.atan2(2.54 + 0.0295 - 2.0, 1.27 + 0.0295 - 0.75))
    simulator, played = play(
        {0: (0.75 - 0.3 * math.cos(math.radians(angle)), 2.0 - 0.3 * math.sin(math.radians(angle)))}, Stroke(1.2, angle)
    )
    fall = next(e for e in played.events if isinstance(e, Pocketed))
    assert fall.pocket == "foot-right"
    pocket = TABLE.pockets[fall.pocket]
    before = simulator.tracks[0].rvw(fall.t_s - 1e-7)
    assert before is not None
    assert math.dist(before[0][:2], pocket.centre) == pytest.approx(pocket.radius, abs=1e-5)
    later = simulator.tracks[0].rvw(fall.t_s + 0.2)
    assert later is not None
    assert later[0][2] < -0.05
    assert simulator.tracks[0].rvw(fall.t_s + 5) is None
    assert 0 not in played.end


def test_one_pair_s_rattle_in_a_rack_is_one_contact() -> None:
    d = 2 * R + 1e-6
    places = {
        0: (0.635, 0.6),
        1: (0.635, 1.9),
        2: (0.635 - d / 2, 1.9 + d * 0.8661),
        3: (0.635 + d / 2, 1.9 + d * 0.8661),
    }
    _, played = play(places, Stroke(6.0, 90.0))
    seen: dict[tuple[int, int], float] = {}
    for event in played.events:
        if isinstance(event, Contact):
            assert event.t_s - seen.get(event.balls, -1.0) >= 0.003
            seen[event.balls] = event.t_s


def test_striking_a_ball_that_is_not_there_is_refused() -> None:
    with pytest.raises(InputError, match="ball 0 is not on the table"):
        play({1: (0.5, 0.5)}, Stroke(1.0, 0.0))


def test_overlapping_balls_are_refused() -> None:
    with pytest.raises(InputError, match="overlap"):
        Simulator(TABLE, {0: (0.5, 0.5), 1: (0.52, 0.5)}, {})


# -- scripted ----------------------------------------------------------------------------------------------------------
def test_off_table_clears_the_rail_and_is_dated_at_its_outer_edge() -> None:
    def script(s: Simulator, p: Played, k: Stroke) -> Flight:
        return off_table(s, p, k, ball=1, up=1.9)

    simulator, played = play({0: (0.6, 1.2), 1: (0.6, 1.9)}, Stroke(4.8, 90.0), script)
    gone = next(e for e in played.events if isinstance(e, OffTable))
    state = simulator.tracks[1].rvw(gone.t_s)
    assert state is not None
    assert state[0][1] == pytest.approx(2.54 + 0.135, abs=0.002)
    assert state[0][2] > TABLE.nose_height + R
    assert 1 not in played.end
    assert not [e for e in played.events if isinstance(e, RailHit) and e.ball == 1 and e.t_s >= gone.t_s - 0.2]


def test_jump_flies_over_and_goes_on() -> None:
    def script(s: Simulator, p: Played, k: Stroke) -> Flight:
        return jump(s, p, k, length_m=0.62)

    simulator, played = play({0: (0.55, 0.75), 7: (0.55, 1.05), 1: (0.55, 1.62)}, Stroke(3.4, 90.0), script)
    assert next(e for e in played.events if isinstance(e, Contact)).balls == (0, 1)
    over = simulator.tracks[0].rvw(1.5 + 0.30 / (0.75 * 3.4))
    assert over is not None
    assert over[0][2] - R > 2 * R


def test_jump_into_a_ball_is_refused() -> None:
    with pytest.raises(InputError, match="meets ball 7 in the air"):
        play({0: (0.55, 0.75), 7: (0.55, 0.85)}, Stroke(3.4, 90.0), lambda s, p, k: jump(s, p, k, length_m=0.62))


def test_out_again_leaves_no_pocket_event_and_puts_the_ball_back() -> None:
    pocket = TABLE.pockets["side-right"]
    angle = math.degrees(math.atan2(pocket.centre[1] - 1.10, pocket.centre[0] - 0.9))
    _, played = play({0: (0.9 - 0.3 * math.cos(math.radians(angle)), 1.10 - 0.3 * math.sin(math.radians(angle))), 2: (0.9, 1.10)},
                     Stroke(2.0, angle), lambda s, p, k: out_again(s, p, k, ball=2))  # fmt: skip
    assert not [e for e in played.events if isinstance(e, Pocketed) and e.ball == 2]
    assert 2 in played.end
    assert TABLE.on_surface(played.end[2], R - 0.001)


def test_a_ball_hangs_its_time_and_drops() -> None:
    pocket = TABLE.pockets["foot-left"]
    edge = np.array(pocket.centre) + (pocket.radius + 0.004) * np.array([1, -1]) / math.sqrt(2)
    places = {0: (0.6, 0.4), 3: (float(edge[0]), float(edge[1]))}
    _, played = play(places, Stroke(0.5, 20.0), lambda s, p, k: hang(s, p, k, ball=3, seconds=5.2))
    fall = next(e for e in played.events if isinstance(e, Pocketed))
    assert fall.ball == 3
    assert fall.t_s == pytest.approx(1.5 + 5.2 + math.sqrt(2 * 0.004 / 0.35), abs=0.01)
    assert 3 not in played.end
