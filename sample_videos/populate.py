"""Puts balls, people, tools and a neighbouring table into a picture at random."""

from __future__ import annotations

import math
from dataclasses import dataclass

import cv2
import numpy as np

from calibration.camera import Camera
from calibration.table import Table
from sample_videos import bodies
from sample_videos.bodies import Body
from sample_videos.draw import Canvas
from sample_videos.layouts import free_place, rack_places, random_rotation
from sample_videos.looks import Looks, is_uk, linear
from sample_videos.optics import F64
from sample_videos.relief import WORLD


@dataclass(frozen=True, slots=True)
class Placed:
    """A ball to draw: number, centre (3,), way during the exposure (3,), turn (3, 3) and whether it lies in a pocket."""

    number: int
    centre: F64
    way: F64
    turn: F64
    pocketed: bool = False


def lay(rng: np.random.Generator, table: Table, camera: Camera, looks: Looks) -> tuple[list[Placed], str]:
    """Balls of a picture: spread, in clusters, racked, at rails, in jaws, in pockets, moving."""
    r = table.ball_radius
    nine = rng.random() < 0.3 and not is_uk(looks.balls)
    numbers = list(range(1, 10 if nine else 16))
    rng.shuffle(numbers)
    places: list[F64] = []
    chosen: list[int] = []
    racked = ""
    mode = rng.choice(["spread", "cluster", "rack", "few"], p=[0.5, 0.2, 0.12, 0.18])
    if mode == "rack":
        racked = "diamond" if nine else "triangle"
        lie = rack_places(table, racked, float(rng.choice([0.0, 0.0004, 0.002])))
        places += list(lie + rng.normal(0, 0.0003, lie.shape))
        chosen += numbers[: len(lie)]
        numbers = []
    elif mode == "few":
        numbers = numbers[: int(rng.integers(1, 6))]
    else:
        numbers = numbers[: int(rng.integers(3, len(numbers) + 1))]
    numbers.append(0)

    def in_view(p: F64) -> bool:
        u, v = camera.project(p[None], r)[0]
        return bool(-10 < u < camera.width + 10 and -10 < v < camera.height + 10)

    middle = None
    for number in numbers:
        if mode == "cluster" and middle is None:
            middle = free_place(table, places, rng)
        for attempt in range(12):
            q = rng.random()
            if q < 0.12:  # at a rail
                p = rng.uniform([r, r], [table.width_m - r, table.length_m - r])
                side = int(rng.integers(4))
                edge = r + float(rng.choice([0.0, abs(rng.normal(0, 0.02))]))
                p[side % 2] = edge if side < 2 else (table.width_m, table.length_m)[side % 2] - edge
                near = free_place(table, places, rng, p, 1e-4)
            elif q < 0.2:  # touching another
                if not places:
                    continue
                a = float(rng.uniform(0, 2 * math.pi))
                p = places[int(rng.integers(len(places)))] + 2.002 * r * np.array([math.cos(a), math.sin(a)])
                near = free_place(table, places, rng, p, 1e-6)
            elif q < 0.25:  # in the jaws
                pocket = list(table.pockets.values())[int(rng.integers(6))]
                inward = np.array([table.width_m / 2, table.length_m / 2]) - pocket.centre
                if pocket.name.startswith("side"):
                    inward[1] = 0
                inward /= np.linalg.norm(inward)
                p = np.array(pocket.centre) + inward * (pocket.radius + float(rng.uniform(0.002, 0.06)))
                others = np.array(places).reshape(-1, 2)
                near = p if not len(others) or np.min(np.linalg.norm(others - p, axis=1)) > 2 * r else None
            else:
                near = free_place(table, places, rng, middle, float(rng.uniform(0.06, 0.3)))
            if near is not None and (in_view(near) or attempt > 9 or rng.random() < 0.1):
                places.append(near)
                chosen.append(number)
                break
    placed = []
    lively = rng.random() < 0.4
    for number, p in zip(chosen, places, strict=True):
        way = np.zeros(3)
        if lively and rng.random() < 0.35:
            a = float(rng.uniform(0, 2 * math.pi))
            way[:2] = math.exp(rng.uniform(math.log(0.1), math.log(5))) * r * np.array([math.cos(a), math.sin(a)])
        height = r
        if rng.random() < 0.004:
            height += float(rng.uniform(0, 0.1))
        placed.append(Placed(number, np.array([p[0], p[1], height]), way, random_rotation(rng)))
    left = [k for k in range(16) if k not in chosen]
    for pocket in table.pockets.values():
        for _ in range(2):
            if left and rng.random() < 0.09:
                k = left.pop(int(rng.integers(len(left))))
                at = np.array([*(np.array(pocket.centre) + rng.normal(0, 0.012, 2)), -float(rng.uniform(0.02, 0.09))])
                placed.append(Placed(k, at, np.zeros(3), random_rotation(rng), True))
    return placed, racked


def people(rng: np.random.Generator, table: Table, placed: list[Placed], racked: str) -> list[Body]:
    """Things that are not balls: a shooter, arms, spectators, cues, racks, chalk, a bridge."""
    w, length, r = table.width_m, table.length_m, table.ball_radius
    found: list[Body] = []
    dress = bodies.random_dress(rng)
    cue_balls = [b for b in placed if b.number == 0]

    def beside(gap: float) -> F64:
        side = int(rng.integers(4))
        p = np.array([float(rng.uniform(-0.3, w + 0.3)), float(rng.uniform(-0.3, length + 0.3))])
        p[side % 2] = -gap if side < 2 else (w, length)[side % 2] + gap
        return p

    if cue_balls and rng.random() < 0.4:
        ball = cue_balls[0].centre
        for _ in range(8):
            a = float(rng.uniform(0, 2 * math.pi))
            flat = np.array([math.cos(a), math.sin(a)])
            back = ball[:2] - flat * 1.3
            if not table.on_surface((float(back[0]), float(back[1])), -0.1):
                break
        tilt = float(rng.uniform(0.03, 0.15))
        d = np.array([flat[0], flat[1], -tilt])
        tip = ball - d / np.linalg.norm(d) * (r + float(rng.uniform(0.003, 0.25)))
        found.append(
            bodies.shooter(
                tip,
                d,
                dress,
                rng,
                bridge_back=float(rng.uniform(0.15, 0.35)),
                bend=float(rng.uniform(0.4, 1.0)),
                whole=rng.random() < 0.85,
            )
        )
    if rng.random() < 0.22:  # somebody reaches over the table
        other = bodies.random_dress(rng)
        target = (
            placed[int(rng.integers(len(placed)))].centre[:2]
            if placed and rng.random() < 0.6
            else rng.uniform([0, 0], [w, length])
        )
        stand = beside(0.35)
        toward = target - stand
        palm = np.array([*(target + rng.normal(0, 0.05, 2)), float(rng.uniform(0.03, 0.25))])
        left, _ = bodies.shoulders(stand, toward, other, 0.6)
        found.append(
            bodies.hand(palm, toward, other, rng, float(rng.uniform(0.5, 1.6)))
            + bodies.arm(palm - np.append(toward / np.linalg.norm(toward) * 0.05, 0), left, other)
            + bodies.player(stand, toward, other, 0.6)
        )
    for _ in range(int(rng.choice([0, 0, 1, 2, 3, 4]))):  # spectators and the other player
        other = bodies.random_dress(rng)
        stand = beside(float(rng.uniform(0.4, 2.2)))
        facing = rng.standard_normal(2) if rng.random() < 0.5 else np.array([w / 2, length / 2]) - stand
        body = bodies.player(stand, facing, other, float(rng.choice([0.0, 0.3])))
        hand_at = np.array([stand[0], stand[1], 0.05]) + np.append(rng.normal(0, 0.2, 2), rng.uniform(-0.2, 0.3))
        body = body + bodies.arm(hand_at, bodies.shoulders(stand, facing, other, 0.0)[0], other, sag=0.15)
        if rng.random() < 0.5:
            body = body + bodies.cue(
                hand_at + np.array([0, 0, 0.6]), [rng.normal(0, 0.1), rng.normal(0, 0.1), 1.0], other
            )
        found.append(body)
    if rng.random() < 0.1:  # a cue laid down
        a = float(rng.uniform(0, 2 * math.pi))
        found.append(
            bodies.cue(
                [*rng.uniform([0, 0], [w, length]), 0.012 if rng.random() < 0.5 else 0.05],
                [math.cos(a), math.sin(a), -0.01],
                bodies.random_dress(rng),
            )
        )
    if racked and rng.random() < 0.4:
        found.append(
            bodies.rack(
                table.foot_spot,
                racked,
                table.ball_m,
                ((20, 20, 22), (120, 74, 40), (190, 150, 90))[int(rng.integers(3))],
            )
        )
    elif rng.random() < 0.03:
        found.append(
            bodies.rack(rng.uniform([0.2, 0.2], [w - 0.2, length - 0.4]), "triangle", table.ball_m, (26, 24, 24))
        )
    if rng.random() < 0.06:
        found.append(bodies.long_bridge(rng.uniform([0, 0], [w, length]), rng.standard_normal(2), (150, 100, 60)))
    for _ in range(int(rng.choice([0, 0, 1, 2]))):
        colour = ((40, 90, 160), (40, 120, 90), (60, 120, 190), (150, 60, 60))[int(rng.integers(4))]
        if rng.random() < 0.85:
            side = int(rng.integers(4))
            p = np.array([float(rng.uniform(0, w)), float(rng.uniform(0, length))])
            p[side % 2] = -0.08 if side < 2 else (w, length)[side % 2] + 0.08
            found.append(bodies.chalk(p, table.nose_height, colour))
        else:
            found.append(bodies.chalk(rng.uniform([0, 0], [w, length]), 0.0, colour))
    return found


def sometimes_neighbour(canvas: Canvas, rng: np.random.Generator) -> None:
    """Sometimes another table beside this one: rails, cloth, dark body."""
    if rng.random() > 0.35:
        return
    neighbour(canvas, rng)


def neighbour(canvas: Canvas, rng: np.random.Generator, cloth_rgb: tuple[int, int, int] | None = None) -> None:
    """Draw another table beside this one behind everything that is there."""
    stage = canvas.stage
    table, camera = stage.table, stage.camera
    w, length = table.width_m, table.length_m
    side = int(rng.integers(4))
    gap = float(rng.uniform(1.0, 2.0))
    shift = np.array([[-(w + gap), 0], [w + gap, 0], [0, -(length + gap)], [0, length + gap]][side]) + rng.normal(
        0, 0.2, 2
    )
    cloth = linear(cloth_rgb) if cloth_rgb else linear(stage.looks.cloth.colour) * rng.uniform(0.6, 1.1)
    level = float(rng.uniform(0.2, 0.9))
    overlay = np.zeros_like(canvas.light)
    mask = np.zeros(canvas.far.shape, np.uint8)

    def rect(margin: float, z: float, paint: F64) -> None:
        xs, ys = (-margin, w + margin), (-margin, length + margin)
        t = np.linspace(0, 1, 12)
        ring = np.vstack(
            [np.column_stack([xs[0] + (xs[1] - xs[0]) * t, np.full(12, ys[0])]), np.column_stack([np.full(12, xs[1]), ys[0] + (ys[1] - ys[0]) * t]),
             np.column_stack([xs[1] + (xs[0] - xs[1]) * t, np.full(12, ys[1])]), np.column_stack([np.full(12, xs[0]), ys[1] + (ys[0] - ys[1]) * t])]
        )  # fmt: skip
        p = camera.project(np.column_stack([ring + shift, np.full(48, z)]))
        if not np.isfinite(p).all() or np.abs(p).max() > 2e4:
            return
        q = [np.round(p * 16).astype(np.int32)]
        cv2.fillPoly(overlay, q, (paint * level).tolist(), cv2.LINE_AA, 4)
        cv2.fillPoly(mask, q, 255, cv2.LINE_AA, 4)

    body = linear(stage.looks.rails.body)
    rect(0.1, -0.7, body * 0.3)
    for z in np.linspace(-0.3, 0.0, 7):
        rect(stage.looks.rails.width, z, body * 0.6)
    rect(stage.looks.rails.width, table.nose_height, linear(stage.looks.rails.cap))
    rect(stage.looks.rails.cushion_width, table.nose_height, cloth * 0.8)
    rect(0.0, 0.0, cloth)
    a = (mask.astype(np.float32) / 255 * (stage.kinds == WORLD))[..., None]
    canvas.light[:] = canvas.light * (1 - a) + overlay * a
