"""Single pictures of rendered tables, from random cameras and with random looks, together with the camera that sees them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import cv2
import numpy as np

from calibration.camera import Camera
from calibration.cloth import Picture
from sample_videos.clip import ClipPainter
from sample_videos.looks import RGB, Looks
from sample_videos.random_scenes import random_scene
from sample_videos.render import perform
from sample_videos.scene import Scene

SETS = ("any", "dark", "bare")
#: Cloths and rails of which one is hardly told from the other: blacks, charcoals, greys as broadcast tables have them.
DARK_CLOTHS: tuple[RGB, ...] = ((34, 34, 37), (40, 40, 44), (52, 53, 56), (62, 62, 64), (88, 90, 92), (30, 34, 46))
DARK_RAILS: tuple[RGB, ...] = ((22, 22, 24), (30, 30, 32), (38, 36, 36), (52, 52, 55), (48, 34, 26))


def scene(kind: str, seed: int) -> Scene:
    """The scene of a set with that seed: a 9 ft table, 1920x1080; ``dark`` cloths and rails, or ``bare`` rails without diamonds."""
    drawn = random_scene(seed, table="9ft")
    if kind == "bare":
        rails = replace(drawn.looks.rails, sight=drawn.looks.rails.cap)
        return replace(drawn, looks=replace(drawn.looks, rails=rails))
    return drawn if kind == "any" else replace(drawn, looks=_darkened(drawn.looks, np.random.default_rng([seed, 77])))


def _darkened(looks: Looks, rng: np.random.Generator) -> Looks:
    cloth = DARK_CLOTHS[int(rng.integers(len(DARK_CLOTHS)))]
    rail = DARK_RAILS[int(rng.integers(len(DARK_RAILS)))]
    sight: RGB = (236, 236, 230) if rng.random() < 0.7 else (196, 190, 170)
    rails = replace(looks.rails, cap=rail, trim=rail, body=rail, sight=sight)
    return replace(looks, cloth=replace(looks.cloth, colour=cloth), rails=rails)


def draw(made: Scene) -> Picture:
    """The scene's first picture."""
    performance = perform(made)
    return np.asarray(ClipPainter(made, performance.simulator, performance.acts, 2).frame(0), dtype=np.uint8)


def pictures(kind: str, seeds: range, folder: Path | None = None) -> Iterator[tuple[int, Picture, Camera]]:
    """Pictures with their seed and camera, drawn now or, where ``folder`` holds them already, read."""
    for seed in seeds:
        kept = folder / f"{kind}-{seed}.png" if folder is not None else None
        if kept is not None and kept.is_file():
            camera = Camera.from_json(json.loads(kept.with_suffix(".json").read_text()))
            yield seed, np.asarray(cv2.imread(str(kept)), dtype=np.uint8), camera
            continue
        made = scene(kind, seed)
        image = draw(made)
        if kept is not None:
            kept.parent.mkdir(parents=True, exist_ok=True)
            cv2.imwrite(str(kept), image)
            kept.with_suffix(".json").write_text(json.dumps(made.camera.to_json()))
        yield seed, image, made.camera
