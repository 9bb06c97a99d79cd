"""Balls in pictures, folders of pictures or a video, as COCO-style JSON; what stands behind ``railbird detect``."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import cv2
import numpy as np
import numpy.typing as npt
from rich.console import Console
from rich.progress import track

from calibration.errors import InputError
from vision import yolo
from vision.detections import KIND_OF, KINDS, Detections
from vision.identity import unnumbered_p
from vision.labels import categories
from vision.look import Looker
from vision.numbers import marginals

if TYPE_CHECKING:
    from vision.seer import Seer

Image = npt.NDArray[np.uint8]
PICTURES = {".jpg", ".jpeg", ".png"}
CLARITY = 0.4  # how much kind and number count in the ranking
SURE_BALL = 0.3  # score of a ball that claims its number
TRUST = 7.0  # nats that one picture can say against a number
COLOURS = {"cue": (255, 255, 255), "solid": (60, 200, 60), "stripe": (60, 160, 255), "eight": (0, 0, 0)}


@dataclass(slots=True)
class Document:
    """The document being written."""

    images: list[dict[str, Any]] = field(default_factory=list)
    annotations: list[dict[str, Any]] = field(default_factory=list)

    def add(self, name: str, image: Image, found: Detections) -> list[dict[str, Any]]:
        """Add a picture and its balls; returns the balls' annotations."""
        key = len(self.images)
        height, width = image.shape[:2]
        self.images.append({"id": key, "file_name": name, "width": width, "height": height})
        added = [{"id": len(self.annotations) + k, "image_id": key, **a} for k, a in enumerate(entries(found))]
        self.annotations += added
        return added

    def to_json(self) -> dict[str, Any]:
        return {
            "format": "railbird/1",
            "images": self.images,
            "categories": categories(),
            "annotations": self.annotations,
        }


def numbers(found: Detections) -> npt.NDArray[np.float64]:
    """(n, 16) probability of each number for each ball, no number given twice among those that are surely balls."""
    p = found.number_p
    sure = np.argsort(-found.score)[:16]
    sure = sure[found.score[sure] > SURE_BALL]
    if len(sure) > 1:
        p[sure] = marginals(np.maximum(found.evidence[sure], -TRUST), stray=-TRUST)
    return p


def entries(found: Detections) -> list[dict[str, Any]]:
    """Balls of one picture as COCO annotations.

    ``score`` ranks: a ball whose kind and number are unclear comes after one of the same sureness whose are clear.
    ``ball_p`` is that it is a ball at all, ``kind_p`` and ``number_p`` how sure its kind and number are.
    """
    plain = unnumbered_p([found]) > 0.5
    number_p = found.number_p if plain else numbers(found)
    kind_p = np.stack([number_p[:, k == KIND_OF].sum(axis=1) for k in range(len(KINDS))], axis=1)
    top = kind_p.max(axis=1, initial=0) * number_p.max(axis=1, initial=0)
    clear = np.ones(len(found)) if plain else top**CLARITY
    made = []
    for k, box in enumerate(found.boxes):
        kind = int(kind_p[k].argmax())
        number = int(number_p[k].argmax())
        entry: dict[str, Any] = {
            "category_id": number,
            "bbox": [round(float(v), 3) for v in box],
            "score": round(float(found.score[k] * clear[k]), 5),
            "ball_p": round(float(found.score[k]), 5),
            "kind": KINDS[kind],
            "kind_p": round(float(kind_p[k, kind]), 4),
            "number_p": round(float(number_p[k, number]), 4),
        }
        if plain:
            red, yellow = found.unnumbered[k]
            common = found.evidence[k, [0, 8]]
            if max(red, yellow) > common.max():
                group = "solid" if red >= yellow else "stripe"
                entry |= {"kind": group, "category_id": 1 if group == "solid" else 9, "number_known": False}
            else:
                number = (0, 8)[int(common.argmax())]
                entry |= {"kind": "cue" if number == 0 else "eight", "category_id": number}
        made.append(entry)
    return made


def pictures(source: Path) -> Iterator[tuple[str, Image]]:
    """Names (relative to the folder, with ``/``) and pictures of a file or folder.

    Raises
    ------
    InputError
        Where there is none, or one cannot be read.
    """
    if source.is_dir():
        paths = sorted(p for p in source.rglob("*") if p.suffix.lower() in PICTURES and p.is_file())
        if not paths:
            raise InputError(f"{source}: no jpg or png in this folder")
        names = [p.relative_to(source).as_posix() for p in paths]
    else:
        paths, names = [source], [source.name]
    show = Console(stderr=True)
    for path, name in zip(
        track(paths, "looking", console=show, disable=not show.is_terminal or len(paths) == 1, transient=True),
        names,
        strict=True,
    ):
        image = cv2.imread(str(path), cv2.IMREAD_COLOR)
        if image is None:
            raise InputError(f"{path}: cannot be read as a picture; leave it out or save it again as jpg or png")
        yield name, np.asarray(image, dtype=np.uint8)


def looks(source: str, seer: Seer) -> Iterator[tuple[str, Image, Detections]]:
    """Name, picture and balls of everything that ``source`` holds; frames of a video are named by their number."""
    path = Path(source)
    if not path.exists():
        raise InputError(f"{source}: no such file or folder")
    if path.is_dir() or path.suffix.lower() in PICTURES:
        looker = Looker(seer)
        for name, image in pictures(path):
            yield name, image, looker(image)
        return
    from vision.video import open_video

    with open_video(source) as video:
        for frame in video:
            if not frame.repeat:
                yield f"{path.stem}-{frame.index:06d}", frame.image, seer.look(frame.image)


def picture_seer(weights: Path | None = None, backend: str | None = None) -> Seer:
    """The eyes for single pictures, which may take longer than a frame of a video."""
    from vision.seer import Seer

    return Seer(weights, backend, pixels=yolo.PICTURE_PIXELS, threshold=0.05, doubtful=0.02)


def run(
    source: str, *, out: Path, draw: Path | None = None, weights: Path | None = None, backend: str | None = None
) -> dict[str, Any]:
    """Find the balls in ``source`` and write them to ``out``.

    Parameters
    ----------
    source : a picture, a folder of pictures (searched recursively) or a video.
    out : COCO-style JSON, as in FORMATS.
    draw : folder for pictures with what was found drawn in.
    weights, backend : see `vision.yolo.load`.

    Returns
    -------
    dict
        The document written.
    """
    document = Document()
    for name, image, found in looks(source, picture_seer(weights, backend)):
        added = document.add(name, image, found)
        if draw is not None:
            target = (draw / name).with_suffix(".jpg")
            target.parent.mkdir(parents=True, exist_ok=True)
            cv2.imwrite(str(target), drawn(image, added))
    out.parent.mkdir(parents=True, exist_ok=True)
    written = document.to_json()
    out.write_text(json.dumps(written))
    return written


def drawn(image: Image, balls: list[dict[str, Any]]) -> Image:
    """A copy of the picture with every ball ringed and named; doubtful balls have a thin ring."""
    out = image.copy()
    for ball in balls:
        x, y, w, h = ball["bbox"]
        if ball["ball_p"] < 0.25:
            continue
        centre = (round(x + w / 2 - 0.5), round(y + h / 2 - 0.5))
        radius = max(2, round(w / 2))
        colour = COLOURS[ball["kind"]]
        cv2.circle(out, centre, radius + 2, colour, 2 if ball["ball_p"] > 0.5 else 1, cv2.LINE_AA)
        text = str(ball["category_id"]) if ball.get("number_known", True) else ball["kind"]
        size = max(0.4, w / 45)
        at = (centre[0] + radius + 2, centre[1] - radius // 2)
        cv2.putText(out, text, at, cv2.FONT_HERSHEY_SIMPLEX, size, (0, 0, 0), 3, cv2.LINE_AA)
        cv2.putText(out, text, at, cv2.FONT_HERSHEY_SIMPLEX, size, (255, 255, 255), 1, cv2.LINE_AA)
    return out
