"""Random scenes by seed: any game, lie, stroke, camera and looks, for measuring and for endless test clips.

A name is ``random:SEED`` with options after commas: ``random:7,camera=overhead,fps=60,break=yes,shots=2,game=9-ball,
size=1280x720,people=none,table=8ft,looks=plain``.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from calibration.camera import Camera
from calibration.errors import InputError
from calibration.table import SIZES, Table
from sample_videos.layouts import free_place
from sample_videos.looks import Looks, random_looks
from sample_videos.scene import GAMES, Plan, Scene, default_places, oblique, overhead
from sample_videos.simulate import Simulator, Stroke

OPTIONS = ("camera", "fps", "break", "shots", "game", "size", "people", "table", "looks", "shutter", "crf")
BALLS = {"8-ball": 15, "14.1": 15, "9-ball": 9, "10-ball": 10}


def parse(name: str) -> Scene:
    """The scene that ``random:SEED,option=value`` names.

    Raises
    ------
    InputError
        Where the seed is no whole number or an option is not known.
    """
    seed_text, *rest = name.removeprefix("random:").split(",")
    try:
        seed = int(seed_text)
    except ValueError:
        raise InputError(f"scene {name!r}: {seed_text!r} is no seed: give a whole number, as in random:7") from None
    options = {}
    for part in rest:
        key, _, value = part.partition("=")
        if key not in OPTIONS or not value:
            raise InputError(
                f"scene {name!r}: option {part!r} is not known: KEY=VALUE with KEY one of {', '.join(OPTIONS)}"
            )
        options[key] = value
    try:
        return random_scene(seed, **_read(options))
    except ValueError as problem:
        if isinstance(problem, InputError):
            raise
        raise InputError(f"scene {name!r}: {problem}") from None


def _read(options: dict[str, str]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key, value in options.items():
        if key in ("fps", "shutter"):
            found[key] = float(value)
        elif key in ("shots", "crf"):
            found[key] = int(value)
        elif key == "break":
            found["breaks"] = value in ("yes", "true", "1")
        elif key == "size":
            w, _, h = value.partition("x")
            found["size"] = (int(w), int(h))
        else:
            found[key] = value
    return found


def random_scene(seed: int, *, camera: str = "", fps: float = 60.0, breaks: bool = False, shots: int = 1, game: str = "",
                 size: tuple[int, int] = (1920, 1080), people: str = "player", table: str = "", looks: str = "", shutter: float | None = None,
                 crf: int = 21) -> Scene:  # fmt: skip
    """A scene drawn from a wide spread; the same for the same seed and options."""
    rng = np.random.default_rng([seed, 20])
    game = game or str(rng.choice(GAMES))
    table_name = table or str(rng.choice(list(SIZES), p=[0.1, 0.15, 0.15, 0.6]))
    if table_name not in SIZES:
        raise InputError(f"table {table_name!r} is not known: one of {', '.join(SIZES)}")
    if game not in BALLS:
        raise InputError(f"game {game!r} is not known: one of {', '.join(GAMES)}")
    made = Table.of_size(table_name)
    view = camera or str(rng.choice(["overhead", "oblique"]))
    if view not in ("overhead", "oblique"):
        raise InputError(f"camera {view!r} is not known: overhead or oblique")
    seen = _camera(view, made, size, rng)
    dressed = (
        Looks(seed=int(rng.integers(2**31)))
        if looks == "plain"
        else random_looks(rng, made.width_m, made.length_m, tidy=True)
    )
    if dressed.balls.name == "uk":
        dressed = Looks(dressed.cloth, dressed.rails, Looks().balls, dressed.room, dressed.film, dressed.seed)
    if breaks:
        places = default_places(game, made, None, rng)
    else:
        places = _lie(game, made, rng)
    plans = _plans(places, made, rng, shots, breaks, BALLS[game])
    open_share = shutter if shutter is not None else float(rng.choice([0.25, 0.5, 0.8]))
    return Scene(
        f"random-{seed}", game, made, places, plans, seen, dressed, seed=seed, fps=fps, shutter=open_share, people=people,
        neighbour=bool(rng.random() < 0.4), racked=breaks, crf=crf,
    )  # fmt: skip


def _camera(view: str, table: Table, size: tuple[int, int], rng: np.random.Generator) -> Camera:
    k1 = float(rng.choice([0.0, rng.uniform(-0.12, 0.02)]))
    if view == "overhead":
        return overhead(
            table, size, height=float(rng.uniform(2.4, 4.5)), fill=float(rng.uniform(0.86, 0.97)), roll=float(rng.normal(0, 0.01)),
            tilt=(float(rng.normal(0, 0.03)), float(rng.normal(0, 0.04))), distortion=(k1 * 0.5, 0.0),
        )  # fmt: skip
    azimuth = float(rng.choice([-90, 90, 0, 180]) + rng.normal(0, 14))
    return oblique(
        table, size, azimuth=azimuth, elevation=float(rng.uniform(32, 62)), distance=float(rng.uniform(3.4, 5.0)),
        fill=float(rng.uniform(0.85, 0.95)), roll=float(rng.normal(0, 0.015)), distortion=(k1, 0.0),
    )  # fmt: skip


def _lie(game: str, table: Table, rng: np.random.Generator) -> dict[int, tuple[float, float]]:
    """Some of the game's balls and the cue ball, spread with a few close together."""
    numbers = list(range(1, BALLS[game] + 1))
    rng.shuffle(numbers)
    keep = numbers[: int(rng.integers(2, len(numbers) + 1))]
    places: dict[int, tuple[float, float]] = {}
    for ball in [*keep, 0]:
        near = None
        if places and rng.random() < 0.25:
            near = list(places.values())[int(rng.integers(len(places)))]
        p = free_place(table, list(places.values()), rng, near, 0.09)
        if p is not None:
            places[ball] = (float(p[0]), float(p[1]))
    if 0 not in places:
        return _lie(game, table, rng)
    return places


def _plans(
    places: dict[int, tuple[float, float]], table: Table, rng: np.random.Generator, shots: int, breaks: bool, balls: int
) -> tuple[Plan, ...]:
    """Strokes played one after another on a table without a picture, each aimed at what lies there then."""
    simulator = Simulator(table, dict(places), {})
    plans: list[Plan] = []
    now = 0.0
    for number in range(shots):
        lie = simulator.on_table(now)
        place = {}
        if 0 not in lie:
            p = free_place(table, list(lie.values()), rng)
            if p is None or not lie:
                break
            place = {0: (float(p[0]), float(p[1]))}
            now += 1.2
            simulator.place(0, *place[0], now)
            lie[0] = place[0]
        targets = [b for b in lie if b]
        if not targets:
            break
        if breaks and number == 0:
            apex = min(targets, key=lambda b: lie[b][1])
            direction = math.degrees(math.atan2(lie[apex][1] - lie[0][1], lie[apex][0] - lie[0][0])) + float(
                rng.normal(0, 0.15)
            )
            stroke = Stroke(
                float(rng.uniform(4.5, 7.0)), direction, float(rng.normal(0, 0.05)), float(rng.normal(0.05, 0.1)), 3.0
            )
        else:
            stroke = _stroke(lie, targets, table, rng)
        wait = 2.2 if number == 0 else float(rng.uniform(2.2, 3.0))
        plans.append(Plan(stroke, wait, place))
        played = simulator.strike(stroke, now + wait)
        now = played.end_s
    return tuple(plans)


def _stroke(lie: dict[int, tuple[float, float]], targets: list[int], table: Table, rng: np.random.Generator) -> Stroke:
    """At a ball, more or less full, often so that it goes towards a pocket; sometimes over a rail."""
    x, y = lie[0]
    ball = targets[int(rng.integers(len(targets)))]
    bx, by = lie[ball]
    kind = rng.choice(["pot", "hit", "kick"], p=[0.6, 0.28, 0.12])
    if kind == "pot":
        best, angle = 9.0, math.atan2(by - y, bx - x)
        for pocket in table.pockets.values():
            px, py = pocket.centre
            far = math.hypot(px - bx, py - by)
            gx, gy = bx - (px - bx) / far * table.ball_m, by - (py - by) / far * table.ball_m
            cut = abs((math.atan2(py - by, px - bx) - math.atan2(gy - y, gx - x) + math.pi) % (2 * math.pi) - math.pi)
            if cut < best and cut < 1.2:
                best, angle = cut, math.atan2(gy - y, gx - x)
        direction = math.degrees(angle) + float(rng.normal(0, 0.3))
    elif kind == "hit":
        far = max(table.ball_m, math.hypot(bx - x, by - y))
        direction = math.degrees(
            math.atan2(by - y, bx - x) + math.asin(float(rng.uniform(-0.95, 0.95)) * table.ball_m / far)
        )
    else:
        side = float(rng.choice([-1, 1]))
        direction = math.degrees(math.atan2(by - y, (-bx if side < 0 else 2 * table.width_m - bx) - x))
    speed = float(np.exp(rng.uniform(math.log(0.8), math.log(4.5))))
    return Stroke(
        speed,
        direction,
        float(np.clip(rng.normal(0, 0.15), -0.4, 0.4)),
        float(np.clip(rng.normal(0.05, 0.2), -0.4, 0.4)),
        4.0,
    )
