"""How long a look takes: ``python -m vision.bench PICTURE [--threads N]`` prints milliseconds of detector, refinement and identity.

The picture is looked at as a video's frames are: with as many pixels as its balls need (`vision.seer`), unless ``--pixels`` says how many.
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
from vision.refine import refine
from vision.seer import PATIENCE, Seer
from vision.yolo import Region

if TYPE_CHECKING:
    from vision.video import Frame


def bench(
    picture: Path,
    region: Region | None = None,
    rounds: int = 200,
    threads: int | None = None,
    pixels_wanted: int | None = None,
) -> dict[str, dict[str, float]]:
    """Milliseconds of each part over ``rounds`` looks at one picture scaled to 1920 pixels wide: median, 95th percentile, least.

    Parameters
    ----------
    picture, region, rounds, threads : what is looked at, how often, with how many threads.
    pixels_wanted : that the detector looks at; what `Seer` settles on where not given.

    Raises
    ------
    InputError
        Where the picture cannot be read.
    """
    image = cv2.imread(str(picture))
    if image is None:
        raise InputError(f"{picture}: cannot be read as a picture")
    image = cv2.resize(image, (1920, round(1920 * image.shape[0] / image.shape[1])))
    pixels = np.asarray(image, dtype=np.uint8)
    seer = Seer(threads=threads)
    frame = cast("Frame", SimpleNamespace(image=pixels))
    for _ in range(2 * PATIENCE):
        seer(frame, region)
    detect, identify = seer.detect, seer.identify
    detect.pixels = pixels_wanted or detect.pixels
    times: dict[str, list[float]] = {"detector": [], "refinement": [], "identity": [], "detector and refinement": []}
    found = detect(pixels, region)
    for _ in range(rounds + 10):
        t0 = time.perf_counter()
        found = detect(pixels, region)
        t1 = time.perf_counter()
        fine = refine(pixels, found)
        t2 = time.perf_counter()
        identify(pixels, fine)
        t3 = time.perf_counter()
        for name, value in zip(times, (t1 - t0, t2 - t1, t3 - t2, t2 - t0), strict=True):
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
    args = parser.parse_args()
    region = tuple(args.region) if args.region else None
    try:
        report = bench(args.picture, region, args.rounds, args.threads, args.pixels)
    except InputError as error:
        parser.error(str(error))
    json.dump(report, sys.stdout, indent=1)
    sys.stdout.write("\n")


if __name__ == "__main__":
    main()
