"""Scene files: the shipped ones load and are what they say, wrong ones are refused with the thing named."""

import math
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("pooltool", reason="pooltool-billiards (extra 'render') is not installed")

from calibration.errors import InputError
from calibration.table import CORNERS, Table
from sample_videos.random_scenes import parse
from sample_videos.render import perform
from sample_videos.scene import aim, default_places, from_dict, load, oblique, overhead, shipped
from tracking.events import Contact, OffTable, Pocketed, RailHit

TABLE = Table()
STROKE = [{"speed": 2.0, "direction": 80.0}]
BALLS = {"0": [0.5, 0.6], "1": [0.7, 1.5]}


@pytest.mark.parametrize("name", shipped())
def test_shipped_scenes_load(name: str) -> None:
    scene = load(name)
    assert scene.name == name
    assert scene.plans


def first_contact(name: str) -> tuple[int, list[object]]:
    shot = perform(load(name)).shots[0]
    contact = next(e for e in shot.events if isinstance(e, Contact) and 0 in e.balls)
    return max(contact.balls), shot.events


@pytest.mark.parametrize(
    ("name", "first", "kinds"),
    [
        ("wrong-ball-first", 3, ()),
        ("pot", 1, (Pocketed,)),
        ("off-table", 1, (OffTable,)),
        ("hang", 3, (Pocketed,)),
        ("kick", 1, (RailHit,)),
    ],
)
def test_scenes_are_what_they_say(name: str, first: int, kinds: tuple[type, ...]) -> None:
    ball, events = first_contact(name)
    assert ball == first
    for kind in kinds:
        assert any(isinstance(e, kind) for e in events)


@pytest.mark.parametrize(
    ("name", "low", "high"),
    [("two-contacts-3ms", 2.5, 3.5), ("two-contacts-10ms", 9, 11), ("two-contacts-30ms", 25, 35)],
)
def test_two_contacts_lie_as_far_apart_as_the_name_says(name: str, low: float, high: float) -> None:
    _, events = first_contact(name)
    times = [e.t_s for e in events if isinstance(e, Contact) and 0 in e.balls]
    assert low <= (times[1] - times[0]) * 1000 <= high


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"gmae": "9-ball"}, "gmae"),
        ({"game": "snooker"}, "snooker"),
        ({"table": "6ft"}, "6ft"),
        ({"layout": {"balls": {"17": [0.5, 0.5]}}}, "17"),
        ({"layout": {"balls": {"0": 3}}}, "3"),
        ({"camera": {"kind": "drone"}}, "drone"),
        ({"camera": {"kind": "overhead", "zoom": 2}}, "zoom"),
        ({"looks": {"cloth": "tartan"}}, "tartan"),
        ({"looks": {"cloth": {"colour": "tartan"}}}, "tartan"),
        ({"looks": {"balls": "marbles"}}, "marbles"),
        ({"stroke": [{"speed": 2.0}]}, "direction"),
        ({"stroke": [{"pot": {"ball": 1, "pocket": "middle"}}]}, "middle"),
        ({"stroke": [{"aim": 9}]}, "9"),
        ({"stroke": [{"direction": 3, "script": [{"kind": "explode"}]}]}, "explode"),
        ({"stroke": []}, "no stroke"),
        ({"fps": 0}, "fps"),
        ({"shutter": 3}, "shutter"),
        ({"people": "crowd"}, "crowd"),
    ],
)
def test_wrong_scenes_are_refused_and_the_thing_is_named(change: dict[str, object], named: str) -> None:
    data = {"game": "9-ball", "layout": {"balls": BALLS}, "stroke": STROKE} | change
    with pytest.raises(InputError, match=named):
        from_dict(data, "test")


def test_missing_and_broken_files_are_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no-such"):
        load("no-such")
    broken = tmp_path / "broken.toml"
    broken.write_text("game = ")
    with pytest.raises(InputError, match="broken"):
        load(broken)


@pytest.mark.parametrize(
    "name",
    [
        "random:x",
        "random:3,zoom=2",
        "random:3,game=snooker",
        "random:3,camera=drone",
        "random:3,table=5ft",
        "random:3,fps=abc",
    ],
)
def test_wrong_random_scenes_are_refused(name: str) -> None:
    with pytest.raises(InputError):
        parse(name)


def test_random_scenes_come_from_their_seed() -> None:
    a, b, c = (parse(f"random:{k},looks=plain") for k in (4, 4, 5))
    assert a.places == b.places
    assert a.plans == b.plans
    assert a.places != c.places


@pytest.mark.parametrize("game", ["8-ball", "9-ball", "10-ball", "14.1"])
def test_racks_touch_and_do_not_overlap(game: str) -> None:
    places = default_places(game, TABLE, None, np.random.default_rng(1))
    balls = [np.array(p) for b, p in places.items() if b]
    gaps = [np.linalg.norm(p - q) - TABLE.ball_m for i, p in enumerate(balls) for q in balls[:i]]
    assert min(gaps) > 0
    assert sum(g < 0.0006 for g in gaps) >= len(balls)
    apex = min((b for b in places if b), key=lambda b: places[b][1])
    if game in ("9-ball", "10-ball"):
        assert apex == 1
    if game == "8-ball":
        assert math.dist(places[8], (TABLE.long_string, TABLE.foot_string + 2 * TABLE.ball_m * 0.866)) < 0.005


@pytest.mark.parametrize(
    "camera",
    [overhead(TABLE), overhead(TABLE, tilt=(-0.05, 0.06), roll=0.01), oblique(TABLE), oblique(TABLE, azimuth=20)],
)
def test_cameras_hold_the_table_with_the_corners_against_the_clock(camera: object) -> None:
    px = camera.project([TABLE.corners[c] for c in CORNERS], TABLE.nose_height)  # type: ignore[attr-defined]
    assert (px > 0).all()
    assert (px < [1920, 1080]).all()
    x, y = px.T
    assert sum(x[i] * y[(i + 1) % 4] - x[(i + 1) % 4] * y[i] for i in range(4)) < 0  # y runs down


def test_aim_at_a_ball_is_full_and_offset_is_in_radii() -> None:
    now = {0: (0.5, 0.5), 1: (0.5, 1.5)}
    assert aim(now, TABLE, {"aim": 1}) == pytest.approx(90)
    right = math.radians(aim(now, TABLE, {"aim": 1, "offset": 1.0}))
    assert math.cos(right) * 1.0 == pytest.approx(TABLE.ball_radius, rel=1e-6)
