"""The pictures in which ``railbird detect`` goes most wrong, drawn to be looked at, and what goes wrong in all of them.

    python -m tests.vision.worst SCORER SET FOLDER FOUND OUT [--pictures N]

SCORER is the outside ``score_detect.py``, whose reading of a SET's labels in FOLDER is used; FOUND is what ``railbird detect``
wrote. OUT gets ``worst-NN.png``, four pictures each, worst first. Red: a labelled ball that was missed. Yellow: what was found and
is no labelled ball. Orange: found, and taken for another (label -> said, probability).
"""

from __future__ import annotations

import argparse
import importlib.util
import json
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

import cv2
import numpy as np
import numpy.typing as npt

SURE = 0.3  # probability of a ball under which nobody would take it for one
MISS, FALSE, TAKEN = (60, 60, 255), (0, 255, 255), (0, 150, 255)
TILE = (960, 540)


@dataclass(frozen=True, slots=True)
class Fault:
    """One thing wrong in one picture: its box, what is wrong, how much it weighs, and what to write beside it."""

    box: tuple[float, float, float, float]
    kind: str
    weight: float
    text: str


def faults(
    truth: list[tuple[list[float], str, int | None]], found: list[dict[str, Any]], near: float, padded: bool
) -> list[Fault]:
    """Misses, false balls and wrong names of a picture.

    Parameters
    ----------
    truth : boxes with kind and number (None where only the kind is known).
    found : annotations as ``railbird detect`` writes them.
    near : how far apart, in widths of the labelled box, two centres are the same ball.
    padded : the labels' boxes are loose.
    """
    made = []
    pairs, missed = matched(truth, found, near)
    for ball, k in pairs:
        box = tuple(ball["bbox"])
        if k is None:
            made.append(Fault(box, "false", ball["ball_p"], f"{ball['ball_p']:.2f}"))
            continue
        label, kind, number = truth[k]
        if number is not None and number != ball["category_id"]:
            name = f"{number}>{ball['category_id']}"
            made.append(Fault(box, name, 0.5 * ball["number_p"], f"{name} {ball['number_p']:.2f}"))
        elif number is None and kind != ball["kind"]:
            name = f"{kind}>{ball['kind']}"
            made.append(Fault(box, name, 0.5 * ball["kind_p"], f"{name} {ball['kind_p']:.2f}"))
        elif not padded and not 0.75 < ball["bbox"][2] / label[2] < 1.35:
            made.append(Fault(box, "size", 0.3, f"size {ball['bbox'][2] / label[2]:.2f}"))
    made += [Fault(tuple(truth[k][0]), "missed", 1.0, "missed") for k in missed]
    return made


def matched(
    truth: list[tuple[list[float], str, int | None]], found: list[dict[str, Any]], near: float
) -> tuple[list[tuple[dict[str, Any], int | None]], list[int]]:
    """What was found, surest first, each with the index of its label (None: no ball), and the labels that were not; as `faults`."""
    pairs: list[tuple[dict[str, Any], int | None]] = []
    left = set(range(len(truth)))
    for ball in sorted(found, key=lambda f: -f["ball_p"]):
        if ball["ball_p"] < SURE:
            continue
        x, y = ball["bbox"][0] + ball["bbox"][2] / 2, ball["bbox"][1] + ball["bbox"][3] / 2
        boxes = [(k, truth[k][0]) for k in left]
        gaps = [(float(np.hypot(b[0] + b[2] / 2 - x, b[1] + b[3] / 2 - y)) / min(b[2], b[3]), k) for k, b in boxes]
        gap, nearest = min(gaps, default=(9.0, -1))
        pairs.append((ball, nearest if gap <= near else None))
        left.discard(nearest if gap <= near else -1)
    return pairs, sorted(left)


def named(
    truth: list[tuple[list[float], str, int | None]], found: list[dict[str, Any]], near: float
) -> list[tuple[float, bool]]:
    """Of each labelled ball found: the probability of its number (of its kind, where labels tell no more), and whether that was right."""
    out = []
    for ball, k in matched(truth, found, near)[0]:
        if k is not None:
            _, kind, number = truth[k]
            said = (
                (ball["kind_p"], ball["kind"] == kind)
                if number is None
                else (ball["number_p"], ball["category_id"] == number)
            )
            out.append(said)
    return out


def calibration_error(said: list[tuple[float, bool]]) -> float:
    """Expected calibration error over ten bins of probability (Naeini et al. 2015)."""
    p, right = np.array([s[0] for s in said]), np.array([s[1] for s in said])
    bins = np.minimum((p * 10).astype(int), 9)
    return float(sum(abs(p[bins == k].sum() - right[bins == k].sum()) for k in range(10)) / max(len(p), 1))


def drawn(image: npt.NDArray[np.uint8], wrong: list[Fault], boxes: list[list[float]], title: str) -> Any:
    """The part of a picture that holds the balls, with its faults ringed."""
    every = np.array([[*f.box] for f in wrong] + boxes)
    size = float(np.median(every[:, 2]))
    low = np.maximum(every[:, :2].min(axis=0) - 2 * size, 0)
    high = np.minimum((every[:, :2] + every[:, 2:]).max(axis=0) + 2 * size, image.shape[1::-1])
    scale = float(min(TILE[0] / (high[0] - low[0]), TILE[1] / (high[1] - low[1])))
    part = image[int(low[1]) : int(high[1]), int(low[0]) : int(high[0])]
    tile = np.zeros((TILE[1], TILE[0], 3), dtype=np.uint8)
    part = cv2.resize(part, None, fx=scale, fy=scale, interpolation=cv2.INTER_CUBIC)[: TILE[1], : TILE[0]]
    tile[: part.shape[0], : part.shape[1]] = part
    for f in wrong:
        colour = {"missed": MISS, "false": FALSE}.get(f.kind, TAKEN)
        x, y = (f.box[0] + f.box[2] / 2 - int(low[0])) * scale, (f.box[1] + f.box[3] / 2 - int(low[1])) * scale
        r = int(max(f.box[2], f.box[3]) / 2 * scale) + 3
        cv2.circle(tile, (int(x), int(y)), r, colour, 1, cv2.LINE_AA)
        at = (min(int(x) + r, TILE[0] - 90), max(int(y) - r, 12))
        cv2.putText(tile, f.text, at, cv2.FONT_HERSHEY_SIMPLEX, 0.45, (0, 0, 0), 3, cv2.LINE_AA)
        cv2.putText(tile, f.text, at, cv2.FONT_HERSHEY_SIMPLEX, 0.45, colour, 1, cv2.LINE_AA)
    cv2.putText(tile, title, (6, TILE[1] - 8), cv2.FONT_HERSHEY_SIMPLEX, 0.5, (0, 0, 0), 3, cv2.LINE_AA)
    cv2.putText(tile, title, (6, TILE[1] - 8), cv2.FONT_HERSHEY_SIMPLEX, 0.5, (255, 255, 255), 1, cv2.LINE_AA)
    return tile


def load_scorer(path: Path) -> ModuleType:
    """The outside scorer as a module."""
    spec = importlib.util.spec_from_file_location("score_detect", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description="The worst pictures of a labelled set.")
    parser.add_argument("scorer", type=Path)
    parser.add_argument("set", choices=["unipd", "pix2pockets", "billiard-pool"])
    parser.add_argument("folder", type=Path)
    parser.add_argument("found", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--pictures", type=int, default=20)
    args = parser.parse_args()
    scorer = load_scorer(args.scorer)
    labelled = getattr(scorer, args.set.replace("-", "_"))(args.folder)
    document = json.loads(args.found.read_text())
    name_of = {i["id"]: i["file_name"] for i in document["images"]}
    of: dict[str, list[dict[str, Any]]] = {name: [] for name in name_of.values()}
    for a in document["annotations"]:
        of[name_of[a["image_id"]]].append(a)
    padded = args.set == "billiard-pool"
    near = 0.4 if padded else 0.35
    wrong: list[tuple[str, list[Fault], list[list[float]]]] = []
    said: dict[str, list[tuple[float, bool]]] = {}
    for name, balls, racks in labelled:
        seen = [a for a in of.get(name, []) if not any(scorer.inside(a["bbox"], area) for area in racks)]
        wrong.append((name, faults(balls, seen, near, padded), [b for b, _, _ in balls]))
        video = name.split("-")[0] if padded else args.set  # each of billiard-pool's videos has a light of its own
        said.setdefault(video, []).extend(named(balls, seen, near))
    wrong.sort(key=lambda w: -sum(f.weight for f in w[1]))
    args.out.mkdir(parents=True, exist_ok=True)
    tiles = []
    for name, bad, boxes in wrong[: args.pictures]:
        if not bad:
            break
        print(f"{sum(f.weight for f in bad):5.2f} {name}: {', '.join(f'{f.kind} {f.weight:.2f}' for f in bad)}")
        tiles.append(drawn(cv2.imread(str(args.folder / name)), bad, boxes, name[-60:]))
    for k in range(0, len(tiles), 4):
        four = [*tiles[k : k + 4], *[np.zeros_like(tiles[0])] * 3][:4]
        sheet = np.vstack([np.hstack(four[:2]), np.hstack(four[2:])])
        cv2.imwrite(str(args.out / f"worst-{k // 4:02d}.png"), sheet)
    total = Counter(f.kind for _, bad, _ in wrong for f in bad)
    print(f"{len(wrong)} pictures, {sum(not bad for _, bad, _ in wrong)} without fault; {dict(total.most_common())}")
    for video, pairs in said.items():
        mean, right = np.mean(pairs, axis=0)
        print(
            f"{video}: {len(pairs)} balls named, {right:.3f} right, {mean:.3f} said; expected calibration error {calibration_error(pairs):.3f}"
        )


if __name__ == "__main__":
    main()
