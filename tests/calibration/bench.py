"""Measures how well tables are found; gives the figures of docs/measured.md again.

    python -m tests.calibration.bench random [--set any|dark] [--seeds 0 100] [--keep DIR]
    python -m tests.calibration.bench corners|sights|pairs|same-shot|wander|speed|cuts [--footage DIR]

``random`` draws its pictures (about 10 s each) or, with ``--keep``, reads those drawn before. ``corners`` holds the marked
clips' corners against the marks; ``sights`` labelled diamonds against where they belong; ``pairs`` the same balls from
above and from the side; ``same-shot`` resting balls of two clips of one shot; ``wander`` how far balls at rest wander;
``speed`` times a first calibration and the watch, in seconds of CPU; ``cuts`` joins each two clips of one picture size whose
views differ and counts the frames behind the cut that the watch lets through.
"""

from __future__ import annotations

import argparse
import itertools
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
RADIUS, SIGHT = 0.028575, 0.0937
REST_S, SAME_M, RESTS_M = 2.0, 0.02, 0.006  # seconds looked at; gaps within which it is the same ball, and at rest
CUT_FRAMES = 25  # looked at before a cut and behind it
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


def sights(args: argparse.Namespace) -> None:
    """Labelled rail sights of pix2pockets against the marks on the table, along the rail.

    ``flat`` takes the four corners alone and sights to lie as low as the noses, as ``score_table.py`` does; rails are some 9 mm
    higher, which a low camera sees as 20 mm and more along its line of sight. ``true`` takes the camera, and sights
    at the height found.
    """
    folder = args.footage / "pix2pockets"
    flat: list[float] = []
    true: list[float] = []
    count, refused = 0, []
    for labels in sorted((folder / "labels").glob("*.txt")):
        picture = np.asarray(cv2.imread(str(folder / "images" / f"{labels.stem}.jpg")), dtype=np.uint8)
        rows = [line.split() for line in labels.read_text().splitlines()]
        pixels = np.array([(float(r[1]), float(r[2])) for r in rows if len(r) == 5 and int(r[0]) == 2])
        if len(pixels) < 6:
            continue
        pixels = pixels * picture.shape[1::-1]
        count += 1
        try:
            found = find_table([picture], length_m=2.54)
        except InputError as reason:
            refused.append(labels.stem)
            print(f"{labels.stem}: refused: {reason}", flush=True)
            continue
        square = np.array([[0, 0], [1.27, 0], [1.27, 2.54], [0, 2.54]], dtype=np.float32)
        h = cv2.getPerspectiveTransform(np.array(list(found.corners_px.values()), dtype=np.float32), square)
        level = np.asarray(cv2.perspectiveTransform(pixels[None].astype(np.float32), h)[0], dtype=np.float64)
        errors = [_along_mm(at) for at in (level, found.camera.unproject(pixels, found.rail_top_m))]
        flat += errors[0].tolist()
        true += errors[1].tolist()
        print(
            f"{labels.stem}: flat {np.median(errors[0]):.1f} mm, true {np.median(errors[1]):.1f} mm,"
            f" rails {found.rail_top_m * 1e3:.1f} mm high",
            flush=True,
        )
    for name, values in (("flat", flat), ("true", true)):
        print(f"{name}: median {np.median(values):.2f} mm, p95 {np.percentile(values, 95):.2f} mm")
    print(f"{count} pictures, refused {refused}")


def _along_mm(places: Floats) -> Floats:
    """(n,) distance of each sight along its rail from the nearest mark; half a step for what lies by no rail."""
    out = []
    for x, y in places:
        side, end = min(abs(x + SIGHT), abs(x - 1.27 - SIGHT)), min(abs(y + SIGHT), abs(y - 2.54 - SIGHT))
        value, step, whole = (y, 2.54 / 8, 2.54) if side < end else (x, 1.27 / 4, 1.27)
        near = min(side, end) < 0.15 and -step / 2 < value < whole + step / 2
        out.append(1e3 * (abs(value - step * round(value / step)) if near else step / 2))
    return np.array(out)


def same_shot(args: argparse.Namespace) -> None:
    """Resting balls of game1_clip1 (from above) and game1_clip2 (from the end)."""
    seen = []
    for name in ("game1_clip1", "game1_clip2"):
        truth, video = _marked(args.footage, name)[0]
        balls = np.array([ball["px"] for ball in truth["balls_first_frame"]], dtype=np.float64)  # type: ignore[attr-defined]
        seen.append(_on_table(find_table([_first_picture(video)], length_m=2.54), balls))
    gaps = agreement_mm(*seen)
    print(f"median {np.median(gaps):.1f} mm, all {np.sort(gaps).round(0).tolist()}")


def wander(args: argparse.Namespace) -> None:
    """How far balls at rest wander in a real clip, as seen over its first two seconds: detector, refinement and table."""
    from railbird.eye import Eye
    from railbird.pipeline import load_see
    from vision.video import open_video

    every: list[float] = []
    for path in [video for _, video in _marked(args.footage)] + [args.footage / "clips" / "enricocall-wide-angle.mp4"]:
        looks: list[Floats] = []
        eye: Eye | None = None
        with open_video(str(path)) as video:
            for frame in video:
                if frame.t_s > REST_S:
                    break
                if frame.repeat:
                    continue
                if eye is None:
                    try:
                        eye = Eye(find_table([frame.image], length_m=2.54), load_see())
                    except InputError:
                        break
                looks.append(eye.look(frame).xy)
        stds = rest_spread_mm(looks)
        every += stds
        print(
            f"{path.stem}: {len(stds)} balls, {len(looks)} looks, median {np.median(stds or [np.nan]):.2f} mm",
            flush=True,
        )
    print(f"{len(every)} balls at rest: median of the standard deviation {np.median(every):.2f} mm")


def rest_spread_mm(looks: list[Floats]) -> list[float]:
    """Standard deviation (both axes together) of each place where a ball lay still over the looks, millimetres."""
    spreads = []
    for start in looks[0] if looks else []:
        places = []
        for xy in looks:
            gap = np.linalg.norm(xy - start, axis=1)
            if len(gap) and gap.min() < SAME_M:
                places.append(xy[int(gap.argmin())])
        if len(places) < max(8, 0.7 * len(looks)):
            continue
        track, third = np.array(places), len(places) // 3
        # a ball that was hit is elsewhere at the end; one at rest is where it was, however it trembles
        if np.linalg.norm(np.median(track[:third], axis=0) - np.median(track[-third:], axis=0)) < RESTS_M:
            spreads.append(float(np.sqrt(track.var(axis=0).sum()) * 1e3))
    return spreads


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
        watches.append(_watched(found, image, video))
        print(f"{video.stem}: found in {firsts[-1]:.2f} s, watched in {watches[-1] * 1e3:.3f} ms", flush=True)
    print(
        f"first {np.median(firsts):.2f} s, worst {max(firsts):.2f} s; watch {np.median(watches) * 1e3:.3f} ms a frame"
    )


def _watched(found: Calibration, first: Picture, path: Path) -> float:
    """Seconds of CPU that the watch takes a frame of a clip's first ten seconds."""
    from vision.video import open_video

    watch, spent, count = Watch(found, first), 0.0, 0
    with open_video(str(path)) as video:
        for frame in video:
            if frame.t_s > 10:
                break
            grey = frame.luma
            began = time.process_time()
            watch.check(grey, frame.t_s)
            spent += time.process_time() - began
            count += 1
    return spent / max(count, 1)


def cuts(args: argparse.Namespace) -> None:
    """Frames behind a cut whose places would be taken for true: said to be in order, and in no doubt that is borne out later."""
    from vision.video import open_video

    views: list[tuple[str, Calibration, Picture, list[Picture]]] = []
    for _, path in _marked(args.footage):
        with open_video(str(path)) as video:
            frames = [frame.luma.copy() for frame in itertools.islice(iter(video), CUT_FRAMES)]
        image = _first_picture(path)
        views.append((path.stem, find_table([image], length_m=2.54), image, frames))
    through, late = [], []
    for name, found, image, frames in views:
        for other, there, _, after in views:
            near = 0.02 * max(image.shape)
            corners = [np.array(list(c.corners_px.values())) for c in (found, there)]
            apart = np.linalg.norm(corners[0][:, None] - corners[1][None], axis=2).min(axis=1)
            if frames[0].shape != after[0].shape or apart.max() < near:
                continue
            watch = Watch(found, image)
            for k, frame in enumerate(frames):
                watch.check(frame, k / 25)
            held = 0
            wrong, noticed = 0, None
            for k, frame in enumerate(after):
                state = watch.check(frame, (len(frames) + k) / 25)
                if state == "light":
                    wrong = len(after)  # the new view would be taken for the old one from here on
                    break
                if state != "ok":
                    noticed = k
                    break
                held += 1
                if not watch.doubtful:
                    wrong, held = wrong + held, 0
            through.append(wrong)
            late.append(len(after) if noticed is None else noticed)
            if wrong or noticed is None or noticed > 2:
                print(f"{name} to {other}: noticed after {noticed} frames, {wrong} taken for true", flush=True)
    print(
        f"{len(through)} cuts: {sum(n == 0 for n in late)} noticed at the frame itself, latest after {max(late)};"
        f" {sum(w > 0 for w in through)} let frames through, at most {max(through)}"
    )


WHAT: dict[str, Callable[[argparse.Namespace], None]] = {
    "random": random, "corners": corners, "pairs": pairs, "same-shot": same_shot, "speed": speed, "wander": wander, "sights": sights,
    "cuts": cuts,
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
