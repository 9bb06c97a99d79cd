"""Scenes: small text files (TOML) that say what lies where, how it is struck, and how it is looked at.

See ``docs/rendering.md`` for the keys. ``load`` reads a file or a shipped scene's name.
"""

from __future__ import annotations

import math
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any

import numpy as np

from calibration.camera import Camera
from calibration.errors import InputError
from calibration.table import Table
from sample_videos.layouts import rack_places
from sample_videos.looks import BALL_SETS, CLOTHS, Looks, is_uk, random_looks
from sample_videos.scripted import SCRIPTS
from sample_videos.simulate import Stroke

HERE = Path(__file__).parent
GAMES = ("8-ball", "9-ball", "10-ball", "14.1")
RACK_OF = {"8-ball": "triangle", "14.1": "triangle", "9-ball": "diamond", "10-ball": "ten"}


@dataclass(frozen=True, slots=True)
class Plan:
    """One stroke of a scene: what is put down before it, how long it takes, what is scripted in it."""

    stroke: Stroke
    wait_s: float = 2.2
    place: Mapping[int, tuple[float, float]] = field(default_factory=dict)
    scripts: tuple[tuple[str, Mapping[str, Any]], ...] = ()
    call: Any = None
    shooter: str | None = None
    observed: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Disturbance:
    """Something that happens to the view: the camera is bumped (metres, radians) or the light changes (a factor)."""

    t_s: float
    kind: str  # bump, light
    shift: tuple[float, float, float] = (0.0, 0.0, 0.0)
    turn: tuple[float, float, float] = (0.0, 0.0, 0.0)
    factor: float = 1.0


@dataclass(frozen=True, slots=True)
class Scene:
    """A whole clip before it is played and drawn."""

    name: str
    game: str
    table: Table
    places: Mapping[int, tuple[float, float]]
    plans: tuple[Plan, ...]
    camera: Camera
    looks: Looks
    rules: str = "wpa-2025"
    players: tuple[str, str] = ("A", "B")
    seed: int = 0
    fps: float = 60.0
    shutter: float = 0.5
    tail_s: float = 1.0
    people: str = "player"  # none, cue, player
    neighbour: bool = False
    racked: bool = False
    setup: Mapping[str, Any] | None = None
    crf: int = 21
    disturbances: tuple[Disturbance, ...] = ()

    def __post_init__(self) -> None:
        if self.game not in GAMES:
            raise InputError(f"scene {self.name}: game {self.game!r} is not known: one of {', '.join(GAMES)}")
        if not 1 <= self.fps <= 1000:
            raise InputError(f"scene {self.name}: fps {self.fps} is out of range: give 1 to 1000")
        if not 0 <= self.shutter <= 1:
            raise InputError(f"scene {self.name}: shutter {self.shutter} is out of range: give the open share, 0 to 1")
        if self.people not in ("none", "cue", "player"):
            raise InputError(f"scene {self.name}: people {self.people!r} is not known: none, cue or player")
        if not self.plans:
            raise InputError(f"scene {self.name}: no stroke: add at least one [[stroke]]")


def overhead(table: Table, size: tuple[int, int] = (1920, 1080), *, height: float = 3.4, fill: float = 0.9, roll: float = 0.0,
             tilt: tuple[float, float] = (0.02, 0.03), distortion: tuple[float, float] = (0.0, 0.0)) -> Camera:  # fmt: skip
    """A camera under the ceiling whose picture holds the whole table; the head is on the left."""
    w, length = table.width_m, table.length_m
    target = np.array([w / 2, length / 2, 0.0])
    reach = 0.14
    scale = min(size[0] / (length + 2 * reach), size[1] / (w + 2 * reach)) * fill
    position = target + np.array([tilt[0] * height, tilt[1] * height, height])
    forward = (target - position) / np.linalg.norm(target - position)
    right = np.array([0.0, 1.0, 0.0]) - forward[1] * forward  # the foot lies to the right
    right /= np.linalg.norm(right)
    down = np.cross(forward, right)
    c, q = math.cos(roll), math.sin(roll)
    rotation = np.stack([c * right + q * down, -q * right + c * down, forward])
    centre = np.array([(size[0] - 1) / 2, (size[1] - 1) / 2])
    return Camera(size[0], size[1], scale * height, centre, np.array(distortion), rotation, -rotation @ position)


def oblique(table: Table, size: tuple[int, int] = (1920, 1080), *, azimuth: float = -90.0, elevation: float = 38.0, distance: float = 3.6,
            fill: float = 0.9, roll: float = 0.0, distortion: tuple[float, float] = (0.0, 0.0)) -> Camera:  # fmt: skip
    """A camera on a stand; ``azimuth`` degrees of its place seen from the table's middle (-90: behind the head)."""
    w, length = table.width_m, table.length_m
    a, e = math.radians(azimuth), math.radians(elevation)
    side = np.array([math.cos(e) * math.cos(a), math.cos(e) * math.sin(a), math.sin(e)])
    target = np.array([w / 2, length / 2, 0.0])
    rim = np.array([(x, y, 0.03) for x in (-0.14, w + 0.14) for y in (-0.14, length + 0.14)])
    focal = 1000.0
    for _ in range(6):
        camera = Camera.looking(
            target + distance * side,
            target,
            width=size[0],
            height=size[1],
            focal=focal,
            roll=roll,
            distortion=distortion,
        )
        px = camera.project(rim)
        low, high = px.min(axis=0), px.max(axis=0)
        middle = camera.unproject([(low + high) / 2])[0]
        target = np.array([*(0.5 * target[:2] + 0.5 * middle), 0.0])
        focal *= fill / max((high[0] - low[0]) / size[0], (high[1] - low[1]) / size[1])
    return Camera.looking(
        target + distance * side, target, width=size[0], height=size[1], focal=focal, roll=roll, distortion=distortion
    )


def default_places(
    game: str, table: Table, cue_ball: tuple[float, float] | None, rng: np.random.Generator
) -> dict[int, tuple[float, float]]:
    """A rack on the foot spot as the game wants it, and the cue ball behind the head string."""
    lie = rack_places(table, RACK_OF[game], 0.0)
    lie = lie + rng.normal(0, 0.00012, lie.shape)
    n = len(lie)
    for _ in range(300):  # push apart what overlaps
        d = lie[:, None] - lie[None]
        far = np.linalg.norm(d, axis=2) + np.eye(n)
        over = np.clip(table.ball_m + 2e-6 - far, 0, None) * (1 - np.eye(n))
        if over.max() < 1e-7:
            break
        lie = lie + (over / far)[..., None].__mul__(d).sum(axis=1) * 0.5
    order = list(range(1, n + 1))
    rng.shuffle(order)
    if game == "9-ball":
        order = [1, *[b for b in order if b not in (1, 9)]]
        order.insert(4, 9)
    elif game == "10-ball":
        order = [1, *[b for b in order if b not in (1, 10)]]
        order.insert(4, 10)
    elif game == "8-ball":
        rest = [b for b in order if b != 8]
        order = [*rest[:4], 8, *rest[4:]]
        if (order[10] < 8) == (order[14] < 8):  # a solid and a stripe in the back corners
            k = next(i for i in range(11, 14) if (order[i] < 8) != (order[10] < 8))
            order[14], order[k] = order[k], order[14]
    places = {ball: (float(p[0]), float(p[1])) for ball, p in zip(order, lie, strict=True)}
    places[0] = cue_ball or (table.long_string + float(rng.uniform(-0.2, 0.2)), table.head_string * 0.8)
    return places


# -- reading -----------------------------------------------------------------------------------------------------------
def load(source: str | Path) -> Scene:
    """The scene in a file, or the shipped scene of that name.

    Raises
    ------
    InputError
        Where there is no such file or a key is wrong; the message names file and key.
    """
    path = Path(source)
    if not path.exists() and (HERE / "scenes" / f"{source}.toml").exists():
        path = HERE / "scenes" / f"{source}.toml"
    try:
        text = path.read_text(encoding="utf-8")
    except OSError:
        raise InputError(
            f"{source}: no such scene file; shipped scenes are {', '.join(shipped())}; or random:SEED"
        ) from None
    try:
        data = tomllib.loads(text)
    except tomllib.TOMLDecodeError as problem:
        raise InputError(f"{path}: no TOML: {problem}") from None
    return from_dict(data, path.stem, where=str(path))


def _take(data: dict[str, Any], allowed: tuple[str, ...], where: str) -> None:
    for key in data:
        if key not in allowed:
            raise InputError(f"{where}: unknown key {key!r}: one of {', '.join(allowed)}")


def from_dict(data: dict[str, Any], name: str, where: str = "scene") -> Scene:
    """The scene that a parsed file describes."""
    _take(
        data,
        ("game", "rules", "players", "table", "seed", "fps", "shutter", "size", "tail", "people", "neighbour", "layout", "camera", "looks",
         "stroke", "disturbance", "setup", "crf"),
        where,
    )  # fmt: skip
    game = data.get("game", "9-ball")
    if game not in GAMES:
        raise InputError(f"{where}: game {game!r} is not known: one of {', '.join(GAMES)}")
    table = data.get("table", "9ft")
    made = Table.of_size(table) if isinstance(table, str) else Table(*map(float, table))
    seed = int(data.get("seed", 0))
    rng = np.random.default_rng(seed)
    layout = data.get("layout", {})
    _take(layout, ("rack", "cue_ball", "balls"), f"{where} [layout]")
    if "balls" in layout:
        places = {_ball(k, where): _point(v, where) for k, v in layout["balls"].items()}
        racked = False
    else:
        cue = layout.get("cue_ball")
        places = default_places(game, made, _point(cue, where) if cue else None, rng)
        racked = True
    size = tuple(int(v) for v in data.get("size", (1920, 1080)))
    camera = _camera(dict(data.get("camera", {})), made, (size[0], size[1]), where)
    looks = _looks(dict(data.get("looks", {})), made, rng, where)
    plans = []
    now = dict(places)
    for row in data.get("stroke", ()):
        plan = _plan(dict(row), now, made, where)
        now.update(plan.place)
        plans.append(plan)
    disturbances = tuple(Disturbance(**d) for d in data.get("disturbance", ()))
    players = tuple(data.get("players", ("A", "B")))
    return Scene(
        name, game, made, places, tuple(plans), camera, looks, data.get("rules", "wpa-2025"), (players[0], players[1]), seed,
        float(data.get("fps", 60)), float(data.get("shutter", 0.5)), float(data.get("tail", 1.0)), data.get("people", "player"),
        bool(data.get("neighbour", False)), racked, data.get("setup"), int(data.get("crf", 21)), disturbances,
    )  # fmt: skip


def _ball(key: str, where: str) -> int:
    if not key.isdigit() or not 0 <= int(key) <= 15:
        raise InputError(f"{where}: ball {key!r} is not known: a number 0 to 15")
    return int(key)


def _point(value: Any, where: str) -> tuple[float, float]:
    try:
        x, y = value
        return float(x), float(y)
    except (TypeError, ValueError):
        raise InputError(f"{where}: {value!r} is no place: give [x, y] in metres") from None


def _plan(row: dict[str, Any], now: dict[int, tuple[float, float]], table: Table, where: str) -> Plan:
    _take(
        row,
        ("speed", "direction", "aim", "aim_at", "offset", "pot", "side", "above", "elevation", "wait", "place", "script", "call", "shooter", "observed"),
        f"{where} [[stroke]]",
    )  # fmt: skip
    place = {_ball(k, where): _point(v, where) for k, v in row.get("place", {}).items()}
    now = {**now, **place}
    if "direction" in row:
        direction = float(row["direction"])
    elif "aim" in row or "aim_at" in row or "pot" in row:
        direction = aim(now, table, row, where)
    else:
        raise InputError(f"{where} [[stroke]]: no direction: give direction, aim, aim_at or pot")
    stroke = Stroke(
        float(row.get("speed", 3.0)),
        direction,
        float(row.get("side", 0)),
        float(row.get("above", 0)),
        float(row.get("elevation", 4.0)),
    )
    scripts = []
    for entry in row.get("script", ()):
        entry = dict(entry)
        kind = entry.pop("kind", None)
        if kind not in SCRIPTS:
            raise InputError(f"{where} [[stroke.script]]: kind {kind!r} is not known: one of {', '.join(SCRIPTS)}")
        scripts.append((kind, entry))
    return Plan(
        stroke,
        float(row.get("wait", 2.2)),
        place,
        tuple(scripts),
        row.get("call"),
        row.get("shooter"),
        tuple(row.get("observed", ())),
    )


def aim(now: Mapping[int, tuple[float, float]], table: Table, row: Mapping[str, Any], where: str = "scene") -> float:
    """Direction in degrees: at a place, at a ball (``offset`` radii to its right), or so that a ball goes to a pocket."""
    if 0 not in now:
        raise InputError(
            f"{where} [[stroke]]: there is no cue ball to aim with: give direction, or place = {{0 = [x, y]}}"
        )
    x, y = now[0]
    if "aim_at" in row:
        tx, ty = _point(row["aim_at"], where)
        return math.degrees(math.atan2(ty - y, tx - x))
    target = int(row["pot"]["ball"]) if "pot" in row else int(row["aim"])
    if target not in now:
        raise InputError(f"{where} [[stroke]]: ball {target} is not on the table")
    bx, by = now[target]
    if "pot" in row:
        name = str(row["pot"]["pocket"])
        if name not in table.pockets:
            raise InputError(f"{where} [[stroke]]: pocket {name!r} is not known: one of {', '.join(table.pockets)}")
        pocket = table.pockets[name]
        px, py = pocket.centre
        far = math.hypot(px - bx, py - by)
        gx, gy = bx - (px - bx) / far * table.ball_m, by - (py - by) / far * table.ball_m
        return math.degrees(math.atan2(gy - y, gx - x)) + float(row["pot"].get("adjust", 0.0))
    a = math.atan2(by - y, bx - x)
    offset = float(row.get("offset", 0.0)) * table.ball_radius
    return math.degrees(a - math.asin(max(-1.0, min(1.0, offset / math.hypot(bx - x, by - y)))))


def _camera(data: dict[str, Any], table: Table, size: tuple[int, int], where: str) -> Camera:
    kind = data.pop("kind", "overhead")
    allowed = {
        "overhead": ("height", "fill", "roll", "tilt", "distortion"),
        "oblique": ("azimuth", "elevation", "distance", "fill", "roll", "distortion"),
        "at": ("position", "target", "focal", "roll", "distortion"),
    }
    if kind not in allowed:
        raise InputError(f"{where} [camera]: kind {kind!r} is not known: one of {', '.join(allowed)}")
    _take(data, allowed[kind], f"{where} [camera]")
    for key in ("tilt", "distortion"):
        if key in data:
            data[key] = tuple(data[key])
    if kind == "overhead":
        return overhead(table, size, **data)
    if kind == "oblique":
        return oblique(table, size, **data)
    return Camera.looking(data.pop("position"), data.pop("target"), width=size[0], height=size[1], **data)


def _looks(data: dict[str, Any], table: Table, rng: np.random.Generator, where: str) -> Looks:
    looks = Looks(seed=int(rng.integers(2**31)))
    if data.pop("random", False):
        looks = random_looks(rng, table.width_m, table.length_m, tidy=True)
        if is_uk(looks.balls):  # the games here need numbers
            looks = replace(looks, balls=Looks().balls)
    for part in ("cloth", "rails", "balls", "room", "film"):
        given = data.pop(part, None)
        if given is None:
            continue
        if part == "cloth" and isinstance(given, str):
            given = {"colour": given}
        if part == "balls" and isinstance(given, str):
            given = {"name": given}
        given = dict(given)
        now = getattr(looks, part)
        _take(given, tuple(f.name for f in fields(now)), f"{where} [looks.{part}]")
        if part == "cloth" and isinstance(given.get("colour"), str):
            if given["colour"] not in CLOTHS:
                raise InputError(
                    f"{where} [looks.cloth]: colour {given['colour']!r} is not known: one of {', '.join(CLOTHS)}, or [r, g, b]"
                )
            given["colour"] = CLOTHS[given["colour"]]
        if part == "balls" and given.get("name", "standard") not in BALL_SETS:
            raise InputError(
                f"{where} [looks.balls]: set {given['name']!r} is not known: one of {', '.join(BALL_SETS)}"
            )
        given = {k: _tuples(v) for k, v in given.items()}
        looks = replace(looks, **{part: replace(now, **given)})
    _take(data, (), f"{where} [looks]")
    return looks


def _tuples(value: Any) -> Any:
    return tuple(_tuples(v) for v in value) if isinstance(value, list) else value


def shipped() -> list[str]:
    """Names of the scenes that ship."""
    return sorted(p.stem for p in (HERE / "scenes").glob("*.toml"))
