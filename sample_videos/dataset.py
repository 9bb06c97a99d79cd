"""Labelled pictures without end: random tables, looks, cameras and people, for training detector and classifier.

``pictures`` yields them; ``python -m sample_videos.dataset --out DIR --count N`` writes a folder in YOLO's layout with
all labels as JSON, on all cores, the same for the same seed, and goes on where it was stopped.
"""

from __future__ import annotations

import argparse
import json
import math
import multiprocessing
import os
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import cv2
import numpy as np

from calibration.camera import Camera
from calibration.table import SIZES, Table
from sample_videos import film
from sample_videos.bodies import Body
from sample_videos.draw import Canvas, Stage, sample_offsets
from sample_videos.layouts import random_camera, turn_by
from sample_videos.looks import Looks, is_uk, random_looks
from sample_videos.optics import F64
from sample_videos.populate import Placed, lay, people, sometimes_neighbour
from sample_videos.relief import POCKET

NAMES = ("cue", *(str(n) for n in range(1, 16)))


@dataclass(frozen=True, slots=True)
class Label:
    """One ball in a picture.

    Parameters
    ----------
    number : 0 … 15; balls of a set without numbers carry one of their group's (reds 1-7, yellows 9-15).
    kind : cue, solid, stripe or eight.
    number_known : False for balls without numbers.
    box : x, y, width, height in pixels of all that the ball covers during the exposure, cut at the picture's edge.
    centre : picture of the sphere's centre at the middle of the exposure, pixels (origin: centre of the first pixel).
    radius : pixels.
    visible : share of its disc that can be seen, 0 … 1.
    blur : length of its way during the exposure, pixels.
    at : its centre on the table, metres.
    """

    number: int
    kind: str
    number_known: bool
    box: tuple[float, float, float, float]
    centre: tuple[float, float]
    radius: float
    visible: float
    blur: float
    at: tuple[float, float]


def kind_of(number: int) -> str:
    """cue, solid, eight or stripe."""
    return "cue" if number == 0 else "eight" if number == 8 else "solid" if number < 8 else "stripe"


def pictures(
    n: int, seed: int = 0, size: tuple[int, int] = (960, 540), first: int = 0
) -> Iterator[tuple[film.Picture, list[Label], dict[str, Any]]]:
    """``n`` pictures (h, w, 3 bytes, blue-green-red) with their labels and how they were made.

    Picture ``first + k`` depends on ``seed`` and its own number only.
    """
    for k in range(first, first + n):
        yield picture(seed, k, size)


def picture(
    seed: int, index: int, size: tuple[int, int] = (960, 540)
) -> tuple[film.Picture, list[Label], dict[str, Any]]:
    """Picture ``index`` of the endless row that ``seed`` names."""
    rng = np.random.default_rng(np.random.SeedSequence([seed, index]))
    table = Table(*SIZES[str(rng.choice(list(SIZES), p=[0.2, 0.15, 0.15, 0.5]))])
    looks = random_looks(rng, table.width_m, table.length_m)
    camera = random_camera(rng, table, size)
    stage = Stage(table, camera, looks)
    placed, racked = lay(rng, table, camera, looks)
    canvas = stage.canvas()
    sometimes_neighbour(canvas, rng)
    others = people(rng, table, placed, racked)
    drawn = draw_balls(canvas, placed)
    for body in others:
        shadow_of_body(canvas, body)
    for body in others:
        canvas.body(body)
    h, w = camera.height, camera.width
    values = film.develop(canvas.light, looks.film, film.falloff_map(h, w, looks.film.vignette))
    image = film.finish(values, looks.film, rng)
    if rng.random() < 0.3:
        paints = [tuple(int(255 * c ** (1 / 2.2)) for c in stage.paints[k][1][0]) for k in range(16)]
        box = film.overlay(image, rng, paints)  # type: ignore[arg-type]
        if box:
            canvas.owner[box[1] : box[3], box[0] : box[2]] = -1
    image = film.compress(image, looks.film)
    labels = [label for label in (label_of(canvas, ball, k, looks) for k, ball in drawn) if label is not None]
    meta = {"seed": seed, "index": index, "table": table.to_json(), "camera": camera.to_json(), "looks": asdict(looks)}
    return image, labels, meta


def draw_balls(canvas: Canvas, placed: list[Placed], samples: int = 9) -> list[tuple[int, Placed]]:
    """Shadows, then balls from far to near; returns (index, ball) of those that count."""
    stage = canvas.stage
    table, camera = stage.table, stage.camera
    r = table.ball_radius
    for ball in placed:
        if not ball.pocketed and ball.centre[2] > 0:
            steps = 3 if np.linalg.norm(ball.way) > r / 2 else 1
            if steps == 1:
                canvas.shadow(np.array([[*ball.centre, r, *ball.centre, r]]))
            else:
                a, b = ball.centre - ball.way / 2, ball.centre + ball.way / 2
                _blurred_shadow(canvas, a, b, r)
    order = sorted(range(len(placed)), key=lambda k: -float(np.linalg.norm(placed[k].centre - camera.position)))
    drawn = []
    everyone = np.array([b.centre for b in placed]).reshape(-1, 3)
    for k in order:
        ball = placed[k]
        length = float(np.linalg.norm(ball.way))
        radius_px = float(camera.ball_radius_px([ball.centre[:2]], r)[0])
        n = samples
        if length > r * 0.05:
            n = int(min(49, max(16, 4 * length / r * math.sqrt(radius_px))))
        elif radius_px > 22:
            n = 4
        u = (np.arange(n) + 0.5) / n - 0.5 if length > 0 else np.zeros(n)
        centres = ball.centre + u[:, None] * ball.way
        if length > 0:
            axis = np.cross([0, 0, 1.0], ball.way) / r
            turns = np.stack([(turn_by(axis * q) @ ball.turn).T for q in u])
        else:
            turns = np.repeat(ball.turn.T[None], n, axis=0)
        near = everyone[(np.linalg.norm(everyone - ball.centre, axis=1) < 3.2 * r) & (np.arange(len(everyone)) != k)]
        canvas.ball(
            ball.number, np.ascontiguousarray(centres), np.ascontiguousarray(turns), sample_offsets(n), index=k,
            only=POCKET if ball.pocketed else -1, neighbours=near,
        )  # fmt: skip
        if not ball.pocketed:
            drawn.append((k, ball))
    return drawn


def _blurred_shadow(canvas: Canvas, a: F64, b: F64, r: float, steps: int = 4) -> None:
    """The mean of the shadows along the way."""
    cones = np.array([[*p, r, *p, r] for p in (a + (b - a) * ((k + 0.5) / steps) for k in range(steps))])
    window = canvas.stage.shadow_window(cones)
    u0, v0, u1, v1 = window
    if u1 <= u0 or v1 <= v0:
        return
    before = canvas.light[v0:v1, u0:u1].copy()
    total = np.zeros_like(before)
    for cone in cones:
        canvas.light[v0:v1, u0:u1] = before
        canvas.shadow(cone[None], window=window)
        total += canvas.light[v0:v1, u0:u1]
    canvas.light[v0:v1, u0:u1] = total / steps


def shadow_of_body(canvas: Canvas, body: Body, most_z: float = 0.35) -> None:
    """Shadows of the low parts of a body (those that lie or hover over the table)."""
    for cone in body.cones:
        if min(cone[2], cone[6]) > most_z or max(cone[2], cone[6]) < 0.0:
            continue
        w, length = canvas.stage.table.width_m, canvas.stage.table.length_m
        if not (-0.3 < cone[0] < w + 0.3 and -0.3 < cone[1] < length + 0.3):
            continue
        canvas.shadow(cone[None], 0.5, canvas.stage.shadow_window(cone[None], 0.3))


def label_of(canvas: Canvas, ball: Placed, index: int, looks: Looks) -> Label | None:
    """The label of a drawn ball; None where nothing of it falls into the picture."""
    camera, table = canvas.stage.camera, canvas.stage.table
    r = table.ball_radius
    spots = [ball.centre - ball.way / 2, ball.centre + ball.way / 2]
    rims = np.vstack([_outline(camera, p, r) for p in (spots if np.linalg.norm(ball.way) > 0 else spots[:1])])
    if canvas.covered.get(index, 0.0) < 1.0 or not np.isfinite(rims).all():
        return None
    u0, v0 = rims.min(axis=0)
    u1, v1 = rims.max(axis=0)
    u0, u1 = max(u0, -0.5), min(u1, camera.width - 0.5)
    v0, v1 = max(v0, -0.5), min(v1, camera.height - 0.5)
    if u1 - u0 < 1 or v1 - v0 < 1:
        return None
    disc = float(cv2.contourArea(_outline(camera, ball.centre, r).astype(np.float32)))
    blur_px = float(np.linalg.norm(np.diff(camera.project(np.array(spots)), axis=0)))
    pixels = float(np.count_nonzero(canvas.owner == index))
    covered = canvas.covered.get(index, 0.0)
    if blur_px > 1.2 * math.sqrt(disc):
        visible = min(1.0, covered / disc)
    else:
        visible = min(1.0, pixels / max(disc, 1.0))
    u, v = camera.project(ball.centre[None])[0]
    known = not (is_uk(looks.balls) and ball.number not in (0, 8))
    return Label(
        ball.number, kind_of(ball.number), known, (float(u0 + 0.5), float(v0 + 0.5), float(u1 - u0), float(v1 - v0)),
        (float(u), float(v)), math.sqrt(disc / math.pi), visible, blur_px, (float(ball.centre[0]), float(ball.centre[1])),
    )  # fmt: skip


def _outline(camera: Camera, centre: F64, r: float) -> F64:
    """(48, 2) outline of a ball at any height."""
    view = centre - camera.position
    distance = float(np.linalg.norm(view))
    view = view / distance
    side = np.cross(view, [0.0, 0.0, 1.0])
    if np.linalg.norm(side) < 1e-6:
        side = np.array([1.0, 0.0, 0.0])
    side /= np.linalg.norm(side)
    up = np.cross(side, view)
    sine = r / distance
    a = np.linspace(0, 2 * np.pi, 48, endpoint=False)
    rim = r * math.sqrt(1 - sine**2)
    return np.asarray(
        camera.project(centre - view * r * sine + rim * (np.cos(a)[:, None] * side + np.sin(a)[:, None] * up))
    )


# -- a folder ------------------------------------------------------------------------------------------------------------


def _write(job: tuple[str, int, int, tuple[int, int], str, int]) -> int:
    out, seed, index, size, split, quality = job
    cv2.setNumThreads(1)
    name = f"{seed}-{index:06d}"
    root = Path(out)
    done = root / "full" / split / f"{name}.json"
    if done.exists():
        return index
    image, labels, meta = picture(seed, index, size)
    h, w = image.shape[:2]
    cv2.imwrite(str(root / "images" / split / f"{name}.jpg"), image, [cv2.IMWRITE_JPEG_QUALITY, quality])
    rows = [
        f"{b.number} {(b.box[0] + b.box[2] / 2) / w:.6f} {(b.box[1] + b.box[3] / 2) / h:.6f} {b.box[2] / w:.6f} {b.box[3] / h:.6f}"
        for b in labels
        if b.visible >= 0.15
    ]
    (root / "labels" / split / f"{name}.txt").write_text("\n".join(rows) + "\n" * bool(rows))
    part = done.with_suffix(".part")
    part.write_text(json.dumps({"file": f"images/{split}/{name}.jpg", "balls": [asdict(b) for b in labels], **meta}))
    part.rename(done)
    return index


def write_folder(out: str | Path, count: int, *, seed: int = 0, size: tuple[int, int] = (960, 540), split: str = "train",
                 first: int = 0, workers: int = 0, quality: int = 92) -> Iterator[int]:  # fmt: skip
    """Write ``count`` pictures; yields how many are there. Folders: images, labels (YOLO), full (JSON), data.yaml.

    Pictures that are there already are left alone, so that a run can be stopped and taken up.
    """
    root = Path(out)
    for part in ("images", "labels", "full"):
        (root / part / split).mkdir(parents=True, exist_ok=True)
    (root / "data.yaml").write_text(
        f"path: {root.resolve()}\ntrain: images/train\nval: images/val\nnames:\n"
        + "".join(f"  {k}: '{n}'\n" for k, n in enumerate(NAMES))
    )
    jobs = [(str(root), seed, k, size, split, quality) for k in range(first, first + count)]
    done = 0
    if workers == 1:
        for job in jobs:
            _write(job)
            done += 1
            yield done
        return
    with multiprocessing.get_context("spawn").Pool(workers or os.cpu_count() or 1) as pool:
        for _ in pool.imap_unordered(_write, jobs, chunksize=4):
            done += 1
            yield done


def main() -> None:
    """Command line of the generator."""
    parser = argparse.ArgumentParser(description="Write labelled pictures of pool tables in YOLO's layout.")
    parser.add_argument("--out", required=True)
    parser.add_argument("--count", type=int, required=True)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--size", default="960x540")
    parser.add_argument("--split", default="train")
    parser.add_argument("--workers", type=int, default=0)
    args = parser.parse_args()
    w, h = (int(v) for v in args.size.split("x"))
    for _ in write_folder(
        args.out, args.count, seed=args.seed, size=(w, h), split=args.split, first=args.first, workers=args.workers
    ):
        pass


if __name__ == "__main__":
    main()
