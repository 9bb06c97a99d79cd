"""How long a look takes: ``python -m vision.bench PICTURE [--threads N]`` prints milliseconds of detector, refinement and identity.

The picture is looked at as a video's frames are: with as many pixels as its balls need (`vision.seer`), unless ``--pixels`` says how many,
and with the sizes that the table found in it tells. With ``--alone`` it is a picture by itself, whose balls tell their size among themselves
and are fitted a second time where they were seen too small.
"""

from __future__ import annotations

import argparse
import json
import resource
import sys
import time
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, cast

import cv2
import numpy as np

from calibration.errors import InputError
from calibration.find import find_table
from vision.seer import PATIENCE, Seer, fitted
from vision.sizes import by_camera
from vision.yolo import Region

if TYPE_CHECKING:
    from vision.video import Frame

PARTS = ("detector", "refinement", "identity", "detector and refinement", "whole look")


def bench(
    picture: Path,
    region: Region | None = None,
    rounds: int = 200,
    threads: int | None = None,
    pixels_wanted: int | None = None,
    alone: bool = False,
) -> dict[str, dict[str, float]]:
    """Milliseconds of each part over ``rounds`` looks at one picture scaled to 1920 pixels wide: median, 95th percentile, least.

    Refinement is all that is done about places and sizes: what size is expected, outlines from one size and from two, and the weighing
    of sizes at the end.

    Parameters
    ----------
    picture, region, rounds, threads : what is looked at, how often, with how many threads.
    pixels_wanted : that the detector looks at; what `Seer` settles on where not given.
    alone : without a table to tell the balls' size.

    Raises
    ------
    InputError
        Where the picture cannot be read, or shows no table and is not ``alone``.
    """
    image = cv2.imread(str(picture))
    if image is None:
        raise InputError(f"{picture}: cannot be read as a picture")
    image = cv2.resize(image, (1920, round(1920 * image.shape[0] / image.shape[1])))
    pixels = np.asarray(image, dtype=np.uint8)
    radius_at = None if alone else by_camera(find_table([pixels]))
    seer = Seer(threads=threads)
    seer.calibrated(radius_at)
    frame = cast("Frame", SimpleNamespace(image=pixels))
    for _ in range(2 * PATIENCE):
        found = seer(frame, region)
    detect, identify = seer.detect, seer.identify
    detect.pixels = pixels_wanted or detect.pixels
    times: dict[str, list[float]] = {name: [] for name in PARTS}
    for _ in range(rounds + 10):
        t0 = time.perf_counter()
        first = detect(pixels, region)
        t1 = time.perf_counter()
        expected = None if radius_at is None else radius_at(first.centre)
        balls, radius = fitted(pixels, first, expected)
        t2 = time.perf_counter()
        seen = identify(pixels, balls)
        t3 = time.perf_counter()
        found = seer.judge(seen, radius, expected)
        t4 = time.perf_counter()
        refined = t2 - t1 + t4 - t3
        for name, value in zip(PARTS, (t1 - t0, refined, t3 - t2, t1 - t0 + refined, t4 - t0), strict=True):
            times[name].append(value * 1000)
    report = {
        name: {
            "median_ms": round(float(np.median(v[10:])), 2),
            "p95_ms": round(float(np.percentile(v[10:], 95)), 2),
            "least_ms": round(float(np.min(v[10:])), 2),
        }
        for name, v in times.items()
    }
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    looked_at = {"found": float(len(found)), "detector_pixels": float(detect.pixels)}
    return {**report, "balls": looked_at, "peak_memory_mb": {"process": round(memory, 1)}}


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description="Times a look at one picture at 1920 pixels wide.")
    parser.add_argument("picture", type=Path)
    parser.add_argument("--region", type=int, nargs=4, metavar=("X0", "Y0", "X1", "Y1"))
    parser.add_argument("--rounds", type=int, default=200)
    parser.add_argument("--threads", type=int)
    parser.add_argument("--pixels", type=int)
    parser.add_argument("--alone", action="store_true", help="as a picture by itself: its balls tell their size")
    args = parser.parse_args()
    region = tuple(args.region) if args.region else None
    try:
        report = bench(args.picture, region, args.rounds, args.threads, args.pixels, args.alone)
    except InputError as error:
        parser.error(str(error))
    json.dump(report, sys.stdout, indent=1)
    sys.stdout.write("\n")


if __name__ == "__main__":
    main()
