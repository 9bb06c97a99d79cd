"""What is a shot and what is not, and the facts beside its contacts: staged looks, each with its counterpart that must not be said."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tests.tracking.staged import TABLE, film, look, travelled
from tracking.analyse import Analysis, analyse
from tracking.events import Contact, OffTable, Pocketed, Strike
from tracking.observations import Observation
from tracking.watcher import ShotWatcher

OTHERS = {11: (0.95, 0.4), 12: (0.3, 2.2)}


def read(stream: list[Observation]) -> Analysis:
    return analyse(stream, TABLE)


def glide(
    t: float, begin: float, a: tuple[float, float], b: tuple[float, float], seconds: float
) -> tuple[float, float]:
    """As a hand moves a ball: it sets out and comes to rest gently."""
    s = min(max((t - begin) / seconds, 0.0), 1.0)
    s = s * s * (3 - 2 * s)
    return a[0] + s * (b[0] - a[0]), a[1] + s * (b[1] - a[1])


def straight(
    t: float, *, at_s: float, v: float = 1.0, x: float = 0.635, y: float = 0.5
) -> tuple[tuple[float, float], tuple[float, float]]:
    """Cue ball and object ball of a full hit 0.3 m off; the cue ball stops dead."""
    d = TABLE.ball_m
    v = float(v)
    meets = at_s + 0.3 / v
    cue = y + min(max(t - at_s, 0.0) * v, 0.3)
    return (x, cue), (x, y + 0.3 + d + travelled(v, t - meets))


# -- strokes and what is none -------------------------------------------------------------------------------------


@pytest.mark.parametrize("fps", [30.0, 60.0])
def test_a_stroke_while_balls_still_move_is_a_second_shot_and_seen(fps: float) -> None:
    def cue(t: float) -> tuple[float, float]:
        x, y = straight(t, at_s=1.0, v=0.7)[0]
        return x - travelled(0.8, t - 2.6), y

    found = read(film({0: cue, 3: lambda t: straight(t, at_s=1.0, v=0.7)[1], **OTHERS}, 9.0, fps=fps))
    assert [round(s.shot.start_s, 1) for s in found.shots] == [1.0, 2.6]
    first, second = (s.shot for s in found.shots)
    assert "balls-moving" not in first.observed
    assert second.observed == ("balls-moving",)
    assert [e.balls for e in first.events if isinstance(e, Contact)] == [(0, 3)]
    strikes = [e for e in second.events if isinstance(e, Strike)]
    assert len(strikes) == 1
    assert strikes[0].t_s == pytest.approx(2.6, abs=0.03)


def test_a_stroke_after_all_rest_is_no_such_foul() -> None:
    def cue(t: float) -> tuple[float, float]:
        x, y = straight(t, at_s=1.0, v=0.6)[0]
        return x - travelled(0.8, t - 9.0), y

    found = read(film({0: cue, 3: lambda t: straight(t, at_s=1.0, v=0.6)[1], **OTHERS}, 14.0))
    assert len(found.shots) == 2
    assert all(not s.shot.observed and not s.shot.suspected for s in found.shots)


def test_a_ball_that_comes_back_to_the_resting_cue_ball_strikes_nothing_anew() -> None:
    """The object ball returns from the cushion and sends the cue ball off once more: one shot."""
    v, r, d = 2.2, TABLE.ball_radius, TABLE.ball_m
    at, y = 1.0, 1.7
    meets = at + 0.2 / v
    up = TABLE.length_m - r - (y + 0.2 + d)
    ts = np.linspace(0, 3, 30001)
    way = np.array([travelled(v, t) for t in ts])
    bounce = float(np.interp(up, way, ts))
    back = 0.75 * (np.interp(bounce + 1e-3, ts, way) - np.interp(bounce, ts, way)) / 1e-3
    down = np.array([travelled(back, t) for t in ts])
    again = bounce + float(np.interp(up, down, ts))
    then = (np.interp(again - bounce, ts, down) - np.interp(again - bounce - 1e-3, ts, down)) / 1e-3

    def three(t: float) -> tuple[float, float]:
        s = t - meets
        if s < bounce:
            return 0.635, y + 0.2 + d + travelled(v, s)
        return 0.635, TABLE.length_m - r - min(travelled(back, s - bounce), up)

    def cue(t: float) -> tuple[float, float]:
        return 0.635, y + min(max(t - at, 0.0) * v, 0.2) - travelled(then, t - meets - again)

    found = read(film({0: cue, 3: three, **OTHERS}, 8.0))
    assert len(found.shots) == 1
    assert not found.shots[0].shot.observed


def test_a_miscue_is_a_shot() -> None:
    found = read(
        film({0: lambda t: (0.6 + 0.3 * travelled(0.5, t - 1), 0.6 + 0.9 * travelled(0.5, t - 1)), **OTHERS}, 6.0)
    )
    assert len(found.shots) == 1
    assert [type(e) for e in found.shots[0].shot.events] == [Strike]


def after(seconds: float, before: dict[int, object]) -> Analysis:
    """A clean shot at 6 s, whatever was done to the balls before."""
    balls = {0: lambda t: straight(t, at_s=6.0)[0], 3: lambda t: straight(t, at_s=6.0)[1], **OTHERS, **before}
    return read(film(balls, 6.0 + seconds))


def test_a_brushed_ball_is_told_to_the_next_shot() -> None:
    found = after(5.0, {11: lambda t: glide(t, 2.0, (0.95, 0.4), (0.97, 0.43), 0.25)})
    assert [b.kind for b in found.between] == ["touched"]
    (shot,) = [s.shot for s in found.shots]
    assert 0.3 < shot.suspected["touched-ball"] < 0.9
    assert shot.observed == ()


@pytest.mark.parametrize("placed", [(0.3, 0.3), (0.9, 0.6)])
def test_a_cue_ball_in_hand_is_not_touched(placed: tuple[float, float]) -> None:
    def cue(t: float) -> tuple[float, float]:
        return glide(t, 2.0, placed, (0.635, 0.5), 1.2) if t < 6 else straight(t, at_s=6.0)[0]

    found = after(5.0, {0: cue})
    assert [b.kind for b in found.between] == ["moved"]
    assert ["touched-ball" in s.shot.suspected for s in found.shots] == [False]


def test_balls_being_arranged_are_no_shot_and_no_touch() -> None:
    moved = {
        n: (lambda t, n=n: glide(t, 1.0 + 0.3 * n, (0.2 + 0.1 * n, 1.0), (0.5 + 0.06 * n, 1.9), 0.7))
        for n in (4, 5, 6, 7)
    }
    found = after(5.0, moved)
    assert {b.kind for b in found.between} == {"moved"}
    assert [s.shot.observed for s in found.shots] == [()]


def test_a_spotted_ball_is_no_shot() -> None:
    found = after(5.0, {9: lambda t: TABLE.foot_spot if t > 3.0 else None})
    assert [s.shot.observed for s in found.shots] == [()]


def test_a_hand_taken_for_balls_neither_makes_nor_hides_a_shot() -> None:
    """Knuckles seen as balls drift over the table until the very stroke."""
    rng = np.random.default_rng(4)
    out = []
    for k in range(660):
        t = k / 60 + 0.003
        balls = {0: straight(t, at_s=6.0)[0], 3: straight(t, at_s=6.0)[1], **OTHERS}
        if 5.0 < t < 6.3:
            balls[14] = (0.2 + 0.3 * (t - 5), 0.2 + 0.1 * np.sin(9 * t))
        out.append(look(t, balls, rng, scores={14: 0.6}))
    found = read(out)
    assert [round(s.shot.start_s, 1) for s in found.shots] == [6.0]
    assert [e.balls for e in found.shots[0].shot.events if isinstance(e, Contact)] == [(0, 3)]
    assert any(isinstance(e, Strike) for e in found.shots[0].shot.events)


# -- balls in the jaws, over the rail, behind a hand ---------------------------------------------------------------

JAWS = (1.236, 0.036)  # overhangs the head-right pocket


def hanging(t: float, *, at_s: float = 1.0) -> tuple[float, float]:
    """Ball 6 rolls into the jaws and hangs."""
    start = (0.9, 0.372)
    full = float(np.hypot(JAWS[0] - start[0], JAWS[1] - start[1]))
    v = np.sqrt(2 * 0.1 * full)
    s = (
        min(v * max(t - at_s - 0.2, 0) - 0.05 * max(t - at_s - 0.2, 0) ** 2 if t - at_s - 0.2 < v / 0.1 else full, full)
        / full
    )
    return start[0] + s * (JAWS[0] - start[0]), start[1] + s * (JAWS[1] - start[1])


HANGS_S = 1.2 + np.sqrt(2 * 0.1 * np.hypot(0.336, 0.336)) / 0.1  # when it has come to rest there


def hang_film(
    drops_s: float, until_s: float, score: float = 0.9, seen: bool = True, hides: bool = False
) -> list[Observation]:
    way = np.array([0.336, -0.336]) / np.hypot(0.336, 0.336)
    start = np.array([0.9, 0.372])
    rng = np.random.default_rng(2)
    out = []
    for k in range(int(until_s * 30)):
        t = k / 30 + 0.003
        if t > HANGS_S + 0.6 and t < drops_s - 0.3 and k % 6:
            continue
        back = 0.12 - min(max(t - 1.0, 0.0), 0.2) * 0.6
        balls = {0: tuple(start - way * (TABLE.ball_m + back)), 6: hanging(t), **OTHERS}
        there = np.hypot(*(np.array(hanging(t)) - JAWS)) < 0.02
        if t > drops_s or (there and not seen):
            balls[6] = None
        hidden = np.zeros((20, 10), dtype=bool)
        hidden[0, 9] = hides and there
        out.append(look(t, balls, rng, scores={6: score if there else 0.9}, hidden=hidden))
    return out


def pockets(found: Analysis) -> list[tuple[int, str]]:
    return [(e.ball, e.pocket) for s in found.shots for e in s.shot.events if isinstance(e, Pocketed) and e.p >= 0.5]


def test_a_ball_that_hangs_is_on_the_table() -> None:
    found = read(hang_film(99.0, 12.0))
    assert pockets(found) == []
    assert found.shots[0].shot.end[6] == pytest.approx(JAWS, abs=0.004)


@pytest.mark.parametrize(("late", "counts"), [(2.5, True), (7.0, False)])
def test_a_ball_that_hung_and_dropped_belongs_to_its_shot(late: float, counts: bool) -> None:
    found = read(hang_film(HANGS_S + late, HANGS_S + late + 4))
    assert len(found.shots) == 1
    drop = next(e for e in found.shots[0].shot.events if isinstance(e, Pocketed))
    assert (drop.ball, drop.pocket) == (6, "head-right")
    assert drop.t_s == pytest.approx(HANGS_S + late, abs=0.25)
    assert (drop.hung_s is not None and drop.hung_s >= 5.0) is not counts
    assert 6 not in found.shots[0].shot.end


@pytest.mark.parametrize("late", [2.5, 99.0])
def test_live_waits_for_a_ball_that_hangs_and_no_longer_than_the_rules_do(late: float) -> None:
    watcher = ShotWatcher(TABLE)
    came = None
    for seen in hang_film(HANGS_S + late, HANGS_S + 9):
        for shot in watcher.push(seen):
            assert came is None
            came = seen.t_s
            assert any(isinstance(e, Pocketed) for e in shot.shot.events) is (late < 5)
    assert came is not None
    assert came - HANGS_S < (late + 2 if late < 5 else 8)


def test_a_hanging_ball_that_the_next_shot_knocks_in_is_the_next_shots() -> None:
    knocked = HANGS_S + 2.0

    def cue(t: float) -> tuple[float, float]:
        way = np.array([0.336, -0.336]) / np.hypot(0.336, 0.336)
        back = 0.12 - min(max(t - 1.0, 0.0), 0.2) * 0.6
        at = np.array([0.9, 0.372]) - way * (TABLE.ball_m + back)
        gap = float(np.hypot(*(np.array(JAWS) - at))) - TABLE.ball_m
        return tuple(at + way * min(max(t - knocked, 0.0) * 1.5, gap))

    gap = np.hypot(*(np.array(JAWS) - cue(0.0))) - TABLE.ball_m - 0.12
    falls = knocked + gap / 1.5 + 0.03
    found = read(film({0: cue, 6: lambda t: hanging(t) if t < falls else None, **OTHERS}, knocked + 5, fps=60.0))
    assert len(found.shots) == 2
    assert [[e.ball for e in s.shot.events if isinstance(e, Pocketed)] for s in found.shots] == [[], [6]]


def test_a_ball_seen_faintly_in_the_jaws_has_not_dropped() -> None:
    assert pockets(read(hang_film(99.0, 12.0, score=0.1))) == []


def test_a_mark_in_the_mouth_is_no_ball() -> None:
    """The same faint thing, but it was there before the ball came: the ball has dropped."""
    rng = np.random.default_rng(3)
    out = []
    for seen in hang_film(99.0, 12.0, seen=False):
        mark = look(seen.t_s, {6: JAWS}, rng, scores={6: 0.1})
        out.append(
            Observation(
                seen.t_s, np.vstack([seen.xy, mark.xy]), np.concatenate([seen.cov, mark.cov]),
                np.append(seen.score, mark.score), np.vstack([seen.evidence, mark.evidence]),
            )
        )  # fmt: skip
    assert pockets(read(out)) == [(6, "head-right")]


def test_a_ball_that_shows_faintly_in_the_pocket_is_down() -> None:
    """It rolls slowly over the edge and can be seen in the pocket from then on, moving a little."""
    rng = np.random.default_rng(4)
    start, way = np.array([0.9, 0.372]), np.array([1.0, -1.0]) / np.sqrt(2)

    def cue(t: float) -> tuple[float, float]:
        return tuple(start - way * (TABLE.ball_m + 0.12 - min(max(t - 1.0, 0.0), 0.2) * 0.6))

    def rolling(t: float) -> tuple[float, float]:
        s = max(t - 1.2, 0.0)
        return tuple(start + way * (0.35 * s - 0.05 * s * s))

    out = []
    for k in range(300):
        t = k / 60 + 0.003
        at = rolling(t)
        rim = TABLE.width_m - at[0]  # the farther it leans over the edge, the less it looks like a ball on cloth
        seen = at if rim > 0.012 else (TABLE.width_m - 0.001, 0.003) if k % 7 else None
        picture = look(t, {0: cue(t), 6: seen, **OTHERS}, rng, scores={6: float(np.clip(18 * rim - 0.3, 0.12, 0.8))})
        if rim < 0.03 and seen is not None:
            faint = (picture.score < 0.5)[:, None, None]
            picture = replace(picture, cov=np.where(faint, np.eye(2) * 0.008**2, picture.cov))
        out.append(picture)
    assert pockets(read(out)) == [(6, "head-right")]


def test_a_mouth_that_is_covered_since_leaves_the_drop_in_doubt() -> None:
    clear, covered = read(hang_film(99.0, 12.0, seen=False)), read(hang_film(99.0, 12.0, seen=False, hides=True))
    assert pockets(clear) == [(6, "head-right")]
    assert pockets(covered) == []
    doubt = [e.p for s in covered.shots for e in s.shot.events if isinstance(e, Pocketed)]
    assert not doubt or 0.2 < doubt[0] < 0.5


def over_rail(t: float, back: bool = False) -> tuple[float, float] | None:
    """Ball 3 hit hard flies over the left rail, away from any pocket; ``back``: it comes to rest on the cloth again."""
    s = t - 1.1
    if s < 0:
        return 0.5, 0.7
    x = 0.5 - 4.0 * s
    if x > -0.11:
        return x, 0.7
    if not back:
        return None
    return (0.4, 0.75) if s > 0.6 else None


@pytest.mark.parametrize("back", [False, True])
def test_a_ball_over_the_rail_is_off_the_table_unless_it_comes_back(back: bool) -> None:
    def cue(t: float) -> tuple[float, float]:
        return 0.5 + TABLE.ball_m + 0.35 - min(max(t - 1.0, 0.0) * 3.5, 0.35), 0.7

    found = read(film({0: cue, 3: lambda t: over_rail(t, back), **OTHERS}, 5.0))
    off = [e for s in found.shots for e in s.shot.events if isinstance(e, OffTable)]
    assert len(found.shots) == 1
    assert [e.ball for e in off] == ([] if back else [3])
    assert pockets(found) == []
    if not back:
        assert off[0].p >= 0.9
        assert off[0].t_s == pytest.approx(1.1 + 0.5 / 4.0, abs=0.05)


def test_a_ball_lost_behind_a_player_leaves_the_shot_open() -> None:
    """A player leans over the far end while ball 3 rolls there, and stays: what became of it is not known."""
    rng = np.random.default_rng(5)
    out = []
    for k in range(420):
        t = k / 60 + 0.003
        cue, three = straight(t, at_s=1.0, v=1.3)
        hidden = np.zeros((20, 10), dtype=bool)
        hidden[12:, :] = t > 1.0
        balls = {0: cue, 3: three if three[1] < 12 / 20 * TABLE.length_m or t < 1 else None, 11: OTHERS[11]}
        out.append(look(t, balls, rng, hidden=hidden))
    found = read(out)
    assert len(found.shots) == 1
    shot = found.shots[0].shot
    assert shot.partial == "end"
    assert not [e for e in shot.events if isinstance(e, Pocketed | OffTable)]


def test_a_ball_found_again_keeps_its_number() -> None:
    rng = np.random.default_rng(6)
    out = []
    for k in range(540):
        t = k / 60 + 0.003
        cue, three = straight(t, at_s=1.0, v=0.6)
        hidden = np.zeros((20, 10), dtype=bool)
        hidden[9:15, :] = 1.0 < t < 4.5
        inside = 9 / 20 * TABLE.length_m < three[1] < 15 / 20 * TABLE.length_m and 1.0 < t < 4.5
        out.append(look(t, {0: cue, 3: None if inside else three, **OTHERS}, rng, hidden=hidden))
    shot = read(out).shots[0].shot
    assert shot.end[3] == pytest.approx(straight(99.0, at_s=1.0, v=0.6)[1], abs=0.01)
    assert shot.partial == ""


def test_frames_without_the_table_leave_a_shot_open() -> None:
    stream = film(
        {0: lambda t: straight(t, at_s=1.0, v=0.6)[0], 3: lambda t: straight(t, at_s=1.0, v=0.6)[1], **OTHERS}, 9.0
    )
    whole = read(stream)
    cut = read([o for o in stream if not 1.8 < o.t_s < 3.2])
    assert [s.shot.partial for s in whole.shots] == [""]
    assert [s.shot.partial for s in cut.shots] == ["end"]
    unseen = read([o for o in stream if not 0.5 < o.t_s < 7.9])
    assert unseen.shots == []


# -- live ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("gap_s", [0.02, 0.5])
def test_balls_that_lie_elsewhere_at_once_do_not_cost_the_next_stroke(gap_s: float) -> None:
    """One scene follows on another, as where a rack is set behind a player's back; the next stroke comes 0.6 s after."""
    first = film(
        {0: lambda t: straight(t, at_s=1.0, v=0.5)[0], 3: lambda t: straight(t, at_s=1.0, v=0.5)[1], **OTHERS}, 8.0
    )
    balls = {5: (0.2, 0.9), 9: (1.0, 1.5), 11: (0.4, 2.0), 12: (0.9, 1.0)}
    then = film(
        {
            0: lambda t: straight(t, at_s=0.6, x=0.5, y=1.1)[0],
            3: lambda t: straight(t, at_s=0.6, x=0.5, y=1.1)[1],
            **balls,
        },
        6.0,
    )
    watcher = ShotWatcher(TABLE)
    found = [s for o in first for s in watcher.push(o)]
    for o in then:
        found += watcher.push(replace(o, t_s=8.0 + gap_s + o.t_s))
    found += watcher.flush()
    assert [s.shot.start_s for s in found] == pytest.approx([1.0, 8.6 + gap_s], abs=0.03)
    assert [[e.balls for e in s.shot.events if isinstance(e, Contact)] for s in found] == [[(0, 3)], [(0, 3)]]
    assert [b.kind for b in watcher.recorder.between] == ["replaced"]


def test_a_break_is_no_other_scene() -> None:
    """Most balls leave their places within a frame or two, but they are seen to go."""
    rng = np.random.default_rng(8)
    ways = {n: rng.normal(0, 1.5, 2) for n in range(1, 10)}
    rack = {n: (0.5 + 0.06 * (n % 3), 1.9 + 0.06 * (n // 3)) for n in range(1, 10)}

    def gone(n: int, t: float) -> tuple[float, float]:
        v = float(np.hypot(*ways[n]))
        s = travelled(v, t - 1.3, slide=9.0, roll=4.0) / v
        return rack[n][0] + s * ways[n][0], rack[n][1] + s * ways[n][1]

    balls = {n: (lambda t, n=n: gone(n, t)) for n in rack}
    watcher = ShotWatcher(TABLE)
    for o in film({0: lambda t: (0.56, 0.5 + min(max(t - 1.0, 0.0) * 4.3, 1.29)), **balls}, 4.0, fps=30.0):
        watcher.push(o)
    assert "replaced" not in [b.kind for b in watcher.recorder.between]


def test_an_evening_keeps_few_tracks() -> None:
    """Strays come up and go for hours; what is kept does not grow, and the balls keep their tracks."""
    rng = np.random.default_rng(9)
    watcher = ShotWatcher(TABLE)
    places = {0: (0.3, 0.3), 5: (0.9, 0.6), 9: (0.4, 1.9)}
    t = 0.0
    for k in range(150):
        stray = (float(rng.uniform(0.1, 1.1)), float(rng.uniform(0.8, 1.7)))
        for j in range(12):
            t += 0.2
            watcher.push(look(t, {**places, 12: stray if j < 5 else None}, rng))
        if k == 3:
            balls = {tr.id for tr in watcher.recorder.tracker.tracks if np.hypot(*(tr.rest - places[0])) < 0.01}
    tracks = watcher.recorder.tracker.tracks
    assert len(tracks) < 60
    assert balls <= {tr.id for tr in tracks}
    assert sum(len(tr.looks) for tr in tracks) < 3000
