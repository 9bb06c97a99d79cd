"""Making weights: from labelled pictures (``railbird train``) and from a venue's recording (``railbird tune``)."""

from __future__ import annotations

import json
import shutil
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import cv2
import numpy as np
from rich.console import Console

from calibration.errors import InputError
from vision import labels, prepare, quantise, yolo
from vision.labels import Labelled
from vision.mistakes import mistakes

CROPS_A_PICTURE = 2  # drawn in an epoch
REAL_SHARE = 0.45  # of what is drawn, where there are rendered and real pictures
LOOK_EVERY_S = 0.4
KEPT_APART = 60  # rendered pictures that fit the probabilities, not the weights


def gather(folder: Path) -> list[Labelled]:
    """Labelled pictures of a folder in any layout we know: our own, the renderer's, pix2pockets, billiard-pool.

    Pictures of tables held out for scoring (`vision.prepare.HELD_OUT`) are left out.

    Raises
    ------
    InputError
        Where the folder holds no labels.
    """
    if not folder.is_dir():
        raise InputError(f"{folder}: no such folder")
    if (folder / "labels.coco.json").exists():
        return prepare.split(prepare.billiard_pool(folder))[0]
    if (folder / "labels").is_dir() and not (folder / "full").is_dir():
        return prepare.split(prepare.pix2pockets(folder))[0]
    return labels.read(folder)


def shares(pictures: Sequence[Labelled]) -> list[float]:
    """How often each picture is drawn: tables with many pictures count by the square root, rendered ones by what is left."""
    rendered = [p.group.startswith("rendered/") for p in pictures]
    count = Counter(p.group for p in pictures)
    weight = np.array([1.0 if r else 1 / np.sqrt(count[p.group]) for p, r in zip(pictures, rendered, strict=True)])
    mask = np.array(rendered)
    if mask.any() and not mask.all():
        weight[mask] *= (1 - REAL_SHARE) / weight[mask].sum()
        weight[~mask] *= REAL_SHARE / weight[~mask].sum()
    return [float(w) for w in weight / weight.sum()]


def train(data: Sequence[Path], *, out: Path, epochs: int = 30, resume: bool = False) -> None:
    """Train detector and identity network on labelled pictures and write both, ready for ``--weights OUT``.

    Parameters
    ----------
    data : folders; see `gather`.
    out : folder for ``detector.pt``, ``detector.onnx``, ``detector-int8.xml``, ``identity.pt``, ``identity.onnx`` and reports.
    epochs : passes over the pictures, two crops a pass each.
    resume : go on from the last checkpoints in ``out``.
    """
    from vision import network, train_identity
    from vision import train as train_detector

    if epochs < 1:
        raise InputError(f"epochs is {epochs}: give at least 1")
    show = Console(stderr=True).print
    pictures = [p for folder in data for p in gather(Path(folder))]
    if not pictures:
        raise InputError("no labelled pictures in the folders given; make some with `railbird render --dataset N`")
    weight = shares(pictures)
    batch = train_detector.Schedule().batch
    steps = max(1, epochs * CROPS_A_PICTURE * len(pictures) // batch)
    schedule = train_detector.Schedule(steps=steps)
    checkpoint = train_detector.train(pictures, out, schedule, resume=resume, weights=weight, say=show)
    network.export(checkpoint, out / "detector.onnx")
    seen = (cv2.imread(str(path)) for path in quantise.choose(p.path for p in pictures))
    quantise.quantise(
        out / "detector.onnx",
        (np.asarray(image, dtype=np.uint8) for image in seen if image is not None),
        out / "detector-int8.xml",
    )
    detector = yolo.load(out / "detector.onnx", threshold=0.12)
    rng = np.random.default_rng(0)
    trays, weights, apart = [], [], []
    kept_apart = {id(p) for p in [p for p in pictures if p.group.startswith("rendered/")][-KEPT_APART:]}
    for picture, share in zip(pictures, weight, strict=True):
        made = train_identity.tray(picture, rng, nothing=2, false=mistakes(detector, picture))
        if made is None:
            continue
        if id(picture) in kept_apart and len(pictures) > 2 * KEPT_APART:
            apart.append(made)
        else:
            trays.append(made)
            weights.append(share)
    looks = train_identity.Schedule(steps=max(1, 2 * epochs * len(trays) // train_identity.Schedule().pictures))
    train_identity.train(trays, out, looks, weights=weights, resume=resume, say=show)
    if apart:
        show(
            f"scale of the logits, fitted on pictures kept apart: {train_identity.calibrate(out / 'identity.pt', apart):.2f}"
        )
        train_identity.export(out / "identity.pt", out / "identity.onnx")
    show(f"weights are in {out}; use them with --weights {out}")


def tune(video: str, *, out: Path, numbers: tuple[int, ...] = tuple(range(16)), steps: int = 300) -> dict[str, Any]:
    """Fit the identity network to the balls and light of a recording; see `vision.tune`.

    ``out`` gets a folder of weights for ``--weights``: the new ones where they are better on the last part of the
    recording, else the old.

    Returns
    -------
    dict
        What was learnt from, before and after, and which weights were kept.
    """
    from vision.seer import Seer
    from vision.tune import tune as fit

    shipped = yolo.weights_folder()
    seer = Seer()
    out.mkdir(parents=True, exist_ok=True)
    report = fit(_looks(video), out, seer, shipped / "identity.pt", numbers, steps, Console(stderr=True).print)
    if report["kept"] == "old":
        for name in ("identity.pt", "identity.onnx"):
            shutil.copyfile(shipped / name, out / name)
    for name in ("detector.pt", "detector.onnx", "detector-int8.xml", "detector-int8.bin"):
        shutil.copyfile(shipped / name, out / name)
    (out / "identity.ckpt").unlink(missing_ok=True)
    document = {"format": "railbird/1", "video": Path(video).name, "weights": str(out), **report}
    (out / "tune.json").write_text(json.dumps(document, indent=1))
    return document


def _looks(video: str) -> Iterator[tuple[float, Any]]:
    from vision.video import open_video

    cv2.setNumThreads(1)
    last = -np.inf
    with open_video(video) as source:
        for frame in source:
            if frame.t_s - last >= LOOK_EVERY_S:
                last = frame.t_s
                yield frame.t_s, frame.image
