"""Measures how well tables are found; gives the figures of docs/measured.md again.

    python -m tests.calibration.bench random [--set any|dark] [--seeds 0 100] [--keep DIR]
    python -m tests.calibration.bench corners|pairs|same-shot|speed [--footage DIR]

``random`` draws its pictures (about 10 s each) or, with ``--keep``, reads those drawn before. ``corners`` holds the marked
clips' corners against the marks; ``pairs`` the same balls from above and from the side; ``same-shot`` resting balls of two
clips of one shot; ``speed`` times a first calibration and the watch, in seconds of CPU.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable
from pathlib import Path

import cv2
import numpy as np
from scipy.optimize import linear_sum_assignment

from calibration.camera import Floats
from calibration.cloth import Picture
from calibration.errors import InputError
from calibration.find import find_table
from calibration.result import Calibration
from calibration.watch import Watch
from tests.calibration.drawn import SETS, pictures
from tests.calibration.painted import error_mm

FOOTAGE = Path(__file__).resolve().parents[3] / "shared" / "footage"
RADIUS = 0.028575
APART_M = 0.3  # balls farther from each other than that are not the same


def random(args: argparse.Namespace) -> None:
    """Rendered tables from random cameras with random looks."""
    errors: list[Floats] = []
    refused, wrong = [], []
    for seed, image, true in pictures(args.set, range(*args.seeds), args.keep):
        began = time.process_time()
        try:
            found = find_table([image], length_m=2.54)
        except InputError as reason:
            refused.append(seed)
            print(f"{seed}: refused: {reason}", flush=True)
            continue
        error = error_mm(found.camera, true, found.table)
        errors.append(error)
        if np.median(error) > 15:
            wrong.append(seed)
        print(f"{seed}: median {np.median(error):.1f} mm, {time.process_time() - began:.2f} s", flush=True)
    both = np.concatenate(errors) if errors else np.full(1, np.nan)
    print(
        f"found {len(errors)}, refused {refused}, wrong {wrong}; median {np.median(both):.2f} mm, p95 {np.percentile(both, 95):.2f} mm"
    )


def _first_picture(video: Path) -> Picture:
    ok, image = cv2.VideoCapture(str(video)).read()
    if not ok:
        raise InputError(f"{video}: no picture decodes: give another file")
    return np.asarray(image, dtype=np.uint8)


def _marked(folder: Path, name: str = "*") -> list[tuple[dict[str, object], Path]]:
    marks = [json.loads(path.read_text()) for path in sorted((folder / "truth").glob(f"{name}.json"))]
    return [(m, next(iter(sorted(folder.rglob(m["file"]))))) for m in marks]


def corners(args: argparse.Namespace) -> None:
    """Corners of the marked clips."""
    all_gaps = []
    for truth, video in _marked(args.footage):
        try:
            found = find_table([_first_picture(video)])
        except InputError as reason:
            print(f"{video.stem}: refused: {reason}", flush=True)
            continue
        got = np.array(list(found.corners_px.values()))
        marked = np.array(list(truth["corners_px"].values()))  # type: ignore[attr-defined]
        gaps = np.linalg.norm(got[:, None] - marked[None], axis=2).min(axis=0)
        all_gaps.append(gaps)
        print(f"{video.stem}: median {np.median(gaps):.1f} px, worst {gaps.max():.1f} px", flush=True)
    print(f"found {len(all_gaps)}; median {np.median(np.concatenate(all_gaps)):.2f} px")


def _on_table(found: Calibration, pixels: Floats) -> Floats:
    """Balls' outlines' centres (n, 2) to places on the table."""
    places = found.camera.unproject(pixels, RADIUS)
    for _ in range(2):
        places = found.camera.unproject(pixels - found.camera.outline_centre_offset(places, RADIUS), RADIUS)
    return places


def agreement_mm(a: Floats, b: Floats) -> Floats:
    """(n,) gaps between the same balls' places in two views, whichever way the table is turned; millimetres."""
    ways = []
    for turned in (b, np.array([1.27, 2.54]) - b):
        gaps = np.minimum(np.linalg.norm(a[:, None] - turned[None], axis=2), APART_M)
        rows, columns = linear_sum_assignment(gaps)
        ways.append(gaps[rows, columns] * 1e3)
    return np.asarray(min(ways, key=lambda g: float(np.median(g))))


def pairs(args: argparse.Namespace) -> None:
    """The situations of pix2pockets that were taken from above (``Nt``) and from the side (``Na`` or ``Nf``)."""
    folder = args.footage / "pix2pockets"
    medians = []
    for above in sorted((folder / "images").glob("*t.jpg")):
        other = next((p for s in "fa" if (p := above.with_name(above.stem[:-1] + s + ".jpg")).is_file()), None)
        if other is None:
            continue
        try:
            gaps = agreement_mm(*(_labelled(folder, path) for path in (above, other)))
        except InputError as reason:
            print(f"{above.stem}: refused: {reason}", flush=True)
            continue
        medians.append(float(np.median(gaps)))
        print(f"{above.stem} {other.stem}: median {medians[-1]:.1f} mm over {len(gaps)} balls", flush=True)
    print(f"{len(medians)} pairs: median of medians {np.median(medians):.1f} mm, worst {max(medians):.1f} mm")


def _labelled(folder: Path, image: Path) -> Floats:
    picture = np.asarray(cv2.imread(str(image)), dtype=np.uint8)
    size = np.array(picture.shape[1::-1])
    rows = [line.split() for line in (folder / "labels" / f"{image.stem}.txt").read_text().splitlines()]
    centres = np.array([(float(r[1]), float(r[2])) for r in rows if len(r) == 5 and int(r[0]) != 2]) * size
    return _on_table(find_table([picture], length_m=2.54), centres)


def same_shot(args: argparse.Namespace) -> None:
    """Resting balls of game1_clip1 (from above) and game1_clip2 (from the end)."""
    seen = []
    for name in ("game1_clip1", "game1_clip2"):
        truth, video = _marked(args.footage, name)[0]
        balls = np.array([ball["px"] for ball in truth["balls_first_frame"]], dtype=np.float64)  # type: ignore[attr-defined]
        seen.append(_on_table(find_table([_first_picture(video)], length_m=2.54), balls))
    gaps = agreement_mm(*seen)
    print(f"median {np.median(gaps):.1f} mm, all {np.sort(gaps).round(0).tolist()}")


def speed(args: argparse.Namespace) -> None:
    """CPU time of a first calibration of each marked clip, and of the watch, a frame."""
    firsts, watches = [], []
    for _, video in _marked(args.footage):
        image = _first_picture(video)
        began = time.process_time()
        try:
            found = find_table([image])
        except InputError:
            continue
        firsts.append(time.process_time() - began)
        grey = np.asarray(cv2.cvtColor(image, cv2.COLOR_BGR2GRAY), dtype=np.uint8)
        watch = Watch(found, grey)
        began = time.process_time()
        for k in range(500):
            watch.check(grey, k / 30)
        watches.append((time.process_time() - began) / 500)
        print(f"{video.stem}: found in {firsts[-1]:.2f} s, watched in {watches[-1] * 1e3:.3f} ms", flush=True)
    print(
        f"first {np.median(firsts):.2f} s, worst {max(firsts):.2f} s; watch {np.median(watches) * 1e3:.3f} ms a frame"
    )


WHAT: dict[str, Callable[[argparse.Namespace], None]] = {
    "random": random, "corners": corners, "pairs": pairs, "same-shot": same_shot, "speed": speed,
}  # fmt: skip


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=WHAT)
    parser.add_argument("--footage", type=Path, default=FOOTAGE)
    parser.add_argument("--set", choices=SETS, default="any")
    parser.add_argument("--seeds", type=int, nargs=2, default=(0, 100), metavar=("FROM", "TO"))
    parser.add_argument("--keep", type=Path, help="folder of pictures drawn before, or to keep them in")
    args = parser.parse_args()
    cv2.setNumThreads(1)
    WHAT[args.what](args)
    return 0


if __name__ == "__main__":
    sys.exit(main())
