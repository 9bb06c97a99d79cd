"""Brings the two public sets that railbird trains on to its own labels: boxes refitted to the outline, racks masked.

Both are CC BY 4.0: the pictures of pix2pockets (arXiv 2504.12045) in YOLO style, and Roboflow's billiard-pool v5 in COCO style, whose
boxes are padded and whose racks are boxed as one.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path

import cv2
import numpy as np

from vision.detections import KIND_OF, Detections, Floats
from vision.labels import Labelled, write
from vision.refine import refine

#: Tables of pix2pockets by file stem; all others show the blue table of the World 8-Ball Championship.
GREEN = {"33", "38", "75", *map(str, range(43, 49)), *map(str, range(50, 72))}
US_OPEN = {"72", "73", "76", "77"}

#: Videos of billiard-pool; the first two show one table.
SAME_TABLE = {"Recording-2025-02-08-020217_mp4", "Recording-2025-02-08-025523_mp4"}

#: Tables that the shipped weights never saw.
HELD_OUT = (
    "pix2pockets/green",
    "pix2pockets/us-open",
    "billiard-pool/Recording-2025-02-08-105750_mp4",
    "billiard-pool/yt-Fizi2kvX9hU",
)


def pix2pockets(folder: Path) -> list[Labelled]:
    """The set's pictures; numbers are unknown, kinds are given."""
    kinds = {0: 3, 1: 0, 3: 1, 4: 2}
    found = []
    for labels in sorted((folder / "labels").glob("*.txt")):
        path = folder / "images" / f"{labels.stem}.jpg"
        image = cv2.imread(str(path))
        height, width = image.shape[:2]
        rows = [[float(v) for v in line.split()] for line in labels.read_text().splitlines()]
        balls = np.array([r for r in rows if len(r) == 5 and int(r[0]) in kinds]).reshape(-1, 5)
        centre = balls[:, 1:3] * (width, height) - 0.5
        size = balls[:, 3:] * (width, height) / 2
        centre, radius = _refit(image, centre, size, share=0.93)
        kind = np.array([kinds[int(k)] for k in balls[:, 0]], dtype=np.int64)
        number = np.where(kind == 0, 0, np.where(kind == 3, 8, -1))
        stem = labels.stem
        table = "green" if stem in GREEN else "us-open" if stem in US_OPEN else "blue"
        group = f"pix2pockets/{table}"
        found.append(Labelled(path, centre, radius, number, kind, np.ones(len(kind)), group=group))
    return found


def billiard_pool(folder: Path) -> list[Labelled]:
    """The set's pictures; those that bear a number twice keep their boxes and lose their numbers."""
    coco = json.loads((folder / "labels.coco.json").read_text())
    names = {c["id"]: c["name"] for c in coco["categories"]}
    found = []
    for image in coco["images"]:
        video = image["file_name"].rsplit("-", 1)[0]
        boxes, numbers, racks = [], [], []
        for a in coco["annotations"]:
            if a["image_id"] != image["id"]:
                continue
            name = names[a["category_id"]]
            if name == "white ball" or name.startswith("ball "):
                boxes.append(a["bbox"])
                numbers.append(0 if name == "white ball" else int(name.split()[1]))
            elif name == "rack":
                racks.append(a["bbox"])
        if not boxes and not racks:
            continue  # a picture without any label is one nobody labelled
        path = folder / image["file_name"]
        box = np.array(boxes, dtype=np.float64).reshape(-1, 4)
        centre, radius = _refit(cv2.imread(str(path)), box[:, :2] + box[:, 2:] / 2 - 0.5, box[:, 2:] / 2, share=0.78)
        number = np.array(numbers, dtype=np.int64)
        kind = KIND_OF[number] if len(number) else number
        if len(set(numbers)) < len(numbers):
            number, kind = np.full(len(number), -1), np.full(len(number), -1)
        table = "Recording-2025-02-08-02" if video in SAME_TABLE else video
        found.append(
            Labelled(
                path,
                centre,
                radius,
                number,
                kind,
                np.ones(len(number)),
                np.array(racks, dtype=np.float64).reshape(-1, 4),
                f"billiard-pool/{table}",
            )
        )
    return found


def _refit(image: np.ndarray, centre: Floats, half: Floats, share: float) -> tuple[Floats, Floats]:
    """Outlines from padded boxes: refined where the fit agrees with its neighbours, else the box times ``share``."""
    if not len(centre):
        return centre, np.zeros(0)
    guess = half.min(axis=1) * share
    fit = refine(image, Detections.of(centre, guess, np.ones(len(centre))))
    ratio = fit.radius / half.min(axis=1)
    usual = float(np.clip(np.median(ratio), 0.65, 1.0))
    agrees = np.abs(ratio - usual) < 0.1
    radius = np.where(agrees, fit.radius, half.max(axis=1) * usual)
    return np.where(agrees[:, None], fit.centre, centre), radius


def split(pictures: Iterable[Labelled]) -> tuple[list[Labelled], list[Labelled]]:
    """Pictures to train on and those of tables held out."""
    every = list(pictures)
    return [p for p in every if p.group not in HELD_OUT], [p for p in every if p.group in HELD_OUT]


def prepare(sets: Path, out: Path) -> tuple[Path, Path]:
    """Write labels of ``sets``/pix2pockets and ``sets``/billiard-pool as ``out``/train and ``out``/held-out."""
    train, held_out = split(pix2pockets(sets / "pix2pockets") + billiard_pool(sets / "billiard-pool"))
    write(out / "train", train)
    write(out / "held-out", held_out)
    return out / "train", out / "held-out"
