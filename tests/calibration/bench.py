"""Measures how well tables are found; gives the figures of docs/measured.md again.

    python -m tests.calibration.bench random [--set any|dark|bare] [--told] [--spoil WAY] [--seeds 0 100] [--keep DIR]
    python -m tests.calibration.bench corners|sights|pairs|same-shot|photos|wander|speed|cuts [--footage DIR]

``random`` draws its pictures (about 10 s each) or, with ``--keep``, reads those drawn before; ``bare`` rails have no diamonds, and ``--told`` gives the
focal length as a picture's file would. ``corners`` holds the marked
clips' corners against the marks; ``sights`` labelled diamonds against where they belong; ``pairs`` the same balls from
above and from the side; ``same-shot`` resting balls of two clips of one shot; ``photos`` the balls of pictures taken from several sides; ``wander`` how far balls at rest wander;
``speed`` times a first calibration and the watch, in seconds of CPU; ``cuts`` joins each two clips of one picture size whose
views differ and counts the frames behind the cut that the watch lets through.
"""

from __future__ import annotations

import argparse
import itertools
import json
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import cv2
import numpy as np
from scipy.optimize import linear_sum_assignment

from calibration.camera import Camera, Floats
from calibration.cloth import Picture
from calibration.errors import InputError
from calibration.find import find_table
from calibration.lens import TOLD_SPREAD, USUAL, Lens, told_by
from calibration.result import Calibration
from calibration.watch import Watch
from tests.calibration.drawn import SETS, pictures
from tests.calibration.labelled_sights import labelled
from tests.calibration.painted import error_mm
from tests.calibration.spoiled import WAYS

FOOTAGE = Path(__file__).resolve().parents[3] / "shared" / "footage"
RADIUS = 0.028575
FLAT_BAR_MM = 20.0
SURE = 0.5  # of a ball in a picture
REST_S, SAME_M, RESTS_M = 2.0, 0.02, 0.006  # seconds looked at; gaps within which it is the same ball, and at rest
CUT_FRAMES = 25  # looked at before a cut and behind it
APART_M = 0.3  # balls farther from each other than that are not the same


def random(args: argparse.Namespace) -> None:
    """Rendered tables from random cameras with random looks."""
    errors: list[Floats] = []
    refused, wrong = [], []
    for seed, drawn, camera in pictures(args.set, range(*args.seeds), args.keep):
        image, true = WAYS[args.spoil](drawn, camera) if args.spoil else (drawn, camera)
        began = time.process_time()
        try:
            found = find_table([image], length_m=2.54, lens=_told(true, seed) if args.told else USUAL)
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


def _told(true: Camera, seed: int) -> Lens:
    """What a file may tell of a lens: its focal length, but for what makers round and define."""
    off = float(np.random.default_rng([seed, 35]).normal(0, TOLD_SPREAD))
    return Lens(true.focal / max(true.width, true.height) * float(np.exp(off)), TOLD_SPREAD)


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


def photos(args: argparse.Namespace) -> None:
    """Pictures of one rack from several sides (named alike up to the first ``_``): the balls that are found, in each two of them."""
    from railbird.detect import run
    from vision.video import PICTURES

    folder = args.footage / "photos"
    with tempfile.TemporaryDirectory() as made:
        document = run(str(folder), out=Path(made) / "balls.json")
    balls: dict[str, Floats] = {}
    for image in document["images"]:
        file = folder / image["file_name"]
        if file.suffix.lower() not in PICTURES:
            continue
        boxes = np.array(
            [a["bbox"] for a in document["annotations"] if a["image_id"] == image["id"] and a["score"] > SURE]
        )
        picture = np.asarray(cv2.imread(str(file)), dtype=np.uint8)
        try:
            found = find_table([picture], length_m=2.54, lens=told_by(file) or USUAL)
        except InputError as reason:
            print(f"{file.stem}: refused: {reason}", flush=True)
            continue
        print(f"{file.stem}: residual {found.rms_px:.2f} px of {max(picture.shape)}, {len(boxes)} balls", flush=True)
        places = _on_table(found, boxes[:, :2] + boxes[:, 2:] / 2 - 0.5)
        inside = ((places > 0) & (places < (found.table.width_m, found.table.length_m))).all(axis=1)  # not on a shelf
        balls[file.stem] = places[inside]
    medians = []
    for a, b in itertools.combinations(balls, 2):
        if a.split("_")[0] == b.split("_")[0]:
            gaps = agreement_mm(balls[a], balls[b])
            medians.append(float(np.median(gaps)))
            print(f"{a} {b}: median {medians[-1]:.1f} mm over {len(gaps)} balls, worst {gaps.max():.1f} mm")
    print(f"found {len(balls)}; {len(medians)} pairs, worst median {max(medians, default=np.nan):.1f} mm")


def sights(args: argparse.Namespace) -> None:
    """Labelled rail sights of pix2pockets against the marks on the table, along the rail.

    ``flat`` takes the four corners alone and sights to lie as low as the noses, as ``score_table.py`` does; rails are some 9 mm
    higher, which a low camera sees as 20 mm and more along its line of sight. ``true`` takes the camera, and sights
    at the height found. The last line but one says how much of ``flat`` is predicted, sign and size, by that height alone.
    """
    folder = args.footage / "pix2pockets"
    flat: list[float] = []
    true: list[float] = []
    signed: list[float] = []
    predicted: list[float] = []
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
        seen = labelled(found, pixels)
        flat += seen.flat.tolist()
        true += seen.true.tolist()
        signed += seen.signed.tolist()
        predicted += seen.predicted.tolist()
        print(
            f"{labels.stem}: flat {np.median(seen.flat):.1f} mm, true {np.median(seen.true):.1f} mm,"
            f" rails {found.rail_top_m * 1e3:.1f} mm high; flat p95 {np.percentile(seen.flat, 95):.1f} mm, of which"
            f" height alone makes {np.percentile(np.abs(seen.predicted), 95):.1f}, eye {_elevation(found):.0f} degrees up",
            flush=True,
        )
    for name, values in (("flat", flat), ("true", true)):
        print(f"{name}: median {np.median(values):.2f} mm, p95 {np.percentile(values, 95):.2f} mm")
    both, height = np.array(signed), np.array(predicted)
    far = np.abs(both) > FLAT_BAR_MM
    left = np.abs(both - height)
    print(
        f"rails' height alone: p95 {np.percentile(np.abs(height), 95):.2f} mm; without it flat has p95 {np.percentile(left, 95):.2f} mm;"
        f" of {far.sum()} beyond {FLAT_BAR_MM:.0f} mm {np.mean((both * height > 0)[far]):.0%} have its sign, {np.mean((left < 10)[far]):.0%}"
        f" lie within 10 mm of it; slope of flat by it {(both @ height) / (height @ height):.3f},"
        f" robust {np.median((both / height)[np.abs(height) > 8]):.3f}"
    )
    print(f"{count} pictures, refused {refused}")


def _elevation(found: Calibration) -> float:
    """Degrees by which the camera stands above the table's middle."""
    eye = found.camera.position - [found.table.width_m / 2, found.table.length_m / 2, 0]
    return float(np.degrees(np.arctan2(eye[2], np.hypot(eye[0], eye[1]))))


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
    "cuts": cuts, "photos": photos,
}  # fmt: skip


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=WHAT)
    parser.add_argument("--footage", type=Path, default=FOOTAGE)
    parser.add_argument("--set", choices=SETS, default="any")
    parser.add_argument("--spoil", choices=WAYS, help="as another camera or room would have the picture")
    parser.add_argument("--told", action="store_true", help="the focal length is known, as a picture's file tells it")
    parser.add_argument("--seeds", type=int, nargs=2, default=(0, 100), metavar=("FROM", "TO"))
    parser.add_argument("--keep", type=Path, help="folder of pictures drawn before, or to keep them in")
    args = parser.parse_args()
    cv2.setNumThreads(1)
    WHAT[args.what](args)
    return 0


if __name__ == "__main__":
    sys.exit(main())
