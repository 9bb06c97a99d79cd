"""Labelled pictures on disk: a folder with pictures and one ``labels.json``, the same COCO style as ``railbird detect``.

Beside what FORMATS calls for, an annotation may bear ``"number_known": false`` (then only ``kind`` is known), ``"unnumbered":
"red|yellow"``, ``"visible"`` (share of the outline that can be seen) or ``"ignore": true`` (an area that says nothing, such as a
rack boxed as one). An image may bear ``group``: pictures of one table or video, which never stand on both sides of a split.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from calibration.errors import InputError
from vision.detections import KIND_OF, KINDS, Floats

RED, YELLOW = 16, 17  # class indices of balls without numbers, after the sixteen numbers
UNNUMBERED = {"red": RED, "yellow": YELLOW}


@dataclass(frozen=True, slots=True, eq=False)
class Labelled:
    """One picture and its balls.

    Parameters
    ----------
    path : the picture.
    centre, radius : (n, 2) and (n,) outlines, pixels.
    number : (n,) 0 to 15, 16 and 17 for red and yellow balls without number, -1 where only the kind is known.
    kind : (n,) index into ``KINDS``, -1 where unknown.
    visible : (n,) share of the outline that can be seen.
    ignore : (k, 4) x, y, width, height of areas to mask.
    group : table or video.
    """

    path: Path
    centre: Floats
    radius: Floats
    number: np.ndarray[Any, np.dtype[np.int64]]
    kind: np.ndarray[Any, np.dtype[np.int64]]
    visible: Floats
    ignore: Floats = field(default_factory=lambda: np.zeros((0, 4)))
    group: str = ""


def read(folder: Path) -> list[Labelled]:
    """Pictures of a folder with ``labels.json``, or of one that ``railbird render --dataset`` wrote.

    Raises
    ------
    InputError
        Where the folder or its labels cannot be read.
    """
    if (folder / "full").is_dir():
        return [_rendered(folder, path) for path in sorted((folder / "full").glob("*/*.json"))]
    file = folder / "labels.json"
    try:
        document = json.loads(file.read_text())
        images, annotations = document["images"], document["annotations"]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise InputError(f"{file}: no labels there ({error}); make some with `railbird render --dataset N`") from None
    of: dict[Any, list[dict[str, Any]]] = {image["id"]: [] for image in images}
    for annotation in annotations:
        of.setdefault(annotation["image_id"], []).append(annotation)
    return [_picture(folder, image, of[image["id"]]) for image in images]


def _picture(folder: Path, image: dict[str, Any], annotations: Sequence[dict[str, Any]]) -> Labelled:
    balls = [a for a in annotations if not a.get("ignore")]
    box = np.array([a["bbox"] for a in balls], dtype=np.float64).reshape(-1, 4)
    number = [
        UNNUMBERED[a["unnumbered"]]
        if a.get("unnumbered")
        else int(a["category_id"])
        if a.get("number_known", True)
        else -1
        for a in balls
    ]
    kind = [
        KINDS.index(a["kind"]) if a.get("kind") in KINDS else int(KIND_OF[n]) if 0 <= n < 16 else -1
        for a, n in zip(balls, number, strict=True)
    ]
    return Labelled(
        folder / image["file_name"],
        box[:, :2] + box[:, 2:] / 2 - 0.5,
        np.sqrt(box[:, 2] * box[:, 3]) / 2,
        np.array(number, dtype=np.int64),
        np.array(kind, dtype=np.int64),
        np.array([float(a.get("visible", 1.0)) for a in balls]),
        np.array([a["bbox"] for a in annotations if a.get("ignore")], dtype=np.float64).reshape(-1, 4),
        str(image.get("group", folder.name)),
    )


def _rendered(folder: Path, path: Path) -> Labelled:
    """One picture of ``railbird render --dataset``, whose boxes cover a ball's whole way during the exposure."""
    document = json.loads(path.read_text())
    balls = document["balls"]
    width, height = document["camera"]["width"], document["camera"]["height"]
    box = np.array([b["box"] for b in balls], dtype=np.float64).reshape(-1, 4)
    cut = (box[:, :2] <= 0.01).any(axis=1) | (box[:, :2] + box[:, 2:] >= np.array([width, height]) - 0.01).any(axis=1)
    # `centre` is the picture of the ball's centre; that of its outline is the box's middle where all of it is in view
    given = np.array([b["centre"] for b in balls], dtype=np.float64).reshape(-1, 2)
    centre = np.where(cut[:, None], given, box[:, :2] + box[:, 2:] / 2 - 0.5)
    number = [
        b["number"] if b["number_known"] else RED if b["number"] < 8 else YELLOW for b in balls
    ]  # reds carry 1 to 7, yellows 9 to 15
    return Labelled(
        folder / document["file"],
        centre,
        np.array([b["radius"] for b in balls], dtype=np.float64),
        np.array(number, dtype=np.int64),
        np.array([KINDS.index(b["kind"]) for b in balls], dtype=np.int64),
        np.array([b["visible"] for b in balls], dtype=np.float64),
        group=f"rendered/{path.stem}",
    )


def categories() -> list[dict[str, Any]]:
    """COCO categories of FORMATS."""
    return [{"id": k, "name": "cue" if k == 0 else str(k)} for k in range(16)]


def write(folder: Path, pictures: Iterable[Labelled]) -> None:
    """Write ``labels.json`` of a folder; pictures outside it are named by their absolute path."""
    import cv2

    images, annotations = [], []
    for key, p in enumerate(pictures):
        name = p.path.relative_to(folder) if p.path.is_relative_to(folder) else p.path.resolve()
        height, width = cv2.imread(str(p.path)).shape[:2]
        images.append({"id": key, "file_name": name.as_posix(), "width": width, "height": height, "group": p.group})
        for k in range(len(p.centre)):
            corner = p.centre[k] + 0.5 - p.radius[k]
            number, kind = int(p.number[k]), int(p.kind[k])
            annotation: dict[str, Any] = {
                "image_id": key,
                "category_id": number if 0 <= number < 16 else int(np.argmax(kind == KIND_OF)),
                "bbox": [round(float(v), 2) for v in (*corner, 2 * p.radius[k], 2 * p.radius[k])],
                "visible": round(float(p.visible[k]), 2),
                "kind": KINDS[kind] if kind >= 0 else None,
            }
            if not 0 <= number < 16:
                annotation["number_known"] = False
            if number >= 16:
                annotation["unnumbered"] = "red" if number == RED else "yellow"
            annotations.append(annotation)
        annotations += [{"image_id": key, "category_id": 0, "bbox": list(b), "ignore": True} for b in p.ignore]
    folder.mkdir(parents=True, exist_ok=True)
    document = {"images": images, "categories": categories(), "annotations": annotations}
    (folder / "labels.json").write_text(json.dumps(document))
