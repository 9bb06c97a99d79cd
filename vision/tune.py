"""Fits the identity network to a venue's balls and light from a recording of play, without anybody labelling anything.

While the balls rest, a dozen looks at each add up and no number is given twice: what is then sure is truer than any single
look, and teaches it. Labels come from the first part of the recording, the comparison from the last.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import numpy.typing as npt

from calibration.errors import InputError
from vision.detections import KIND_OF, Detections, Floats
from vision.identity import Identifier
from vision.labels import Labelled, write
from vision.numbers import Assigner
from vision.seer import Seer
from vision.train_identity import Say, Schedule, train, tray

Image = npt.NDArray[np.uint8]

LOOKS = 3  # that a ball must rest through
STILL = 0.15  # of a radius between looks
SURE = 0.95  # probability of a number that makes a label
TRAIN_SHARE = 0.7  # of the recording


@dataclass(frozen=True, slots=True, eq=False)
class Rest:
    """A picture of balls at rest: what each look saw of them, and the numbers that all looks together give.

    Parameters
    ----------
    t_s : of the picture, seconds.
    image : the last picture of the rest.
    found : its balls.
    number, p : (n,) the joint assignment and its probability; -1 where there is none.
    """

    t_s: float
    image: Image
    found: Detections
    number: npt.NDArray[np.int64]
    p: Floats


def rests(looks: Iterable[tuple[float, Image]], seer: Seer, numbers: tuple[int, ...]) -> list[Rest]:
    """Stretches in which the same balls rest, from pictures a fraction of a second apart.

    Parameters
    ----------
    looks : time and picture.
    seer : what looks at them.
    numbers : those that can be on the table.
    """
    done: list[Rest] = []
    held: list[Detections] = []
    last: tuple[float, Image] | None = None

    def close() -> None:
        if last is not None and len(held) >= LOOKS:
            done.append(_joined(last, held, numbers))
        held.clear()

    for t_s, image in looks:
        found = seer.look(image)
        found = found[found.score > 0.4]
        if held and not _same(held[-1], found):
            close()
        held.append(found)
        last = (t_s, image)
        if len(held) >= 12:  # a long rest gives several pictures
            close()
    close()
    return [r for r in done if (r.number >= 0).sum() >= 2]


def _same(a: Detections, b: Detections) -> bool:
    if not len(a) or not len(b) or abs(len(a) - len(b)) > 1:
        return False
    gap = np.linalg.norm(a.centre[:, None] - b.centre[None], axis=2).min(axis=1)
    return bool((gap < STILL * a.radius + 0.5).mean() > 0.8)


def _joined(last: tuple[float, Image], held: list[Detections], numbers: tuple[int, ...]) -> Rest:
    now = held[-1]
    assigner = Assigner(numbers)
    for look in held:
        if not len(look):
            continue
        gap = np.linalg.norm(now.centre[:, None] - look.centre[None], axis=2)
        nearest = gap.argmin(axis=1)
        for k in np.nonzero(gap.min(axis=1) < STILL * now.radius + 0.5)[0]:
            assigner.add(int(k), look.evidence[nearest[k]])
    given = assigner.assign()
    number, p = np.full(len(now), -1, dtype=np.int64), np.zeros(len(now))
    for k, (n, sure) in given.items():
        number[k], p[k] = n, sure  # type: ignore[call-overload]
    number[p < SURE] = -1
    return Rest(*last, now, number, p)


def labelled(rest: Rest, path: Path) -> Labelled:
    """The rest's sure balls as a labelled picture, written to ``path``."""
    cv2.imwrite(str(path), rest.image, [cv2.IMWRITE_JPEG_QUALITY, 95])
    keep = rest.number >= 0
    number = rest.number[keep]
    found = rest.found[keep]
    return Labelled(path, found.centre, found.radius, number, KIND_OF[number], np.ones(len(number)), group="venue")


def compare(identifier: Identifier, tests: Iterable[Rest]) -> dict[str, float]:
    """Single looks against the joint assignment: how many right, and the mean log loss in nats."""
    right, count, loss = 0, 0, 0.0
    for rest in tests:
        keep = rest.number >= 0
        p = identifier(rest.image, rest.found).number_p[keep]
        truth = rest.number[keep]
        right += int((p.argmax(axis=1) == truth).sum())
        count += len(truth)
        loss -= float(np.log(np.maximum(p[np.arange(len(truth)), truth], 1e-6)).sum())
    return {"right": right, "of": count, "log_loss": round(loss / max(count, 1), 4)}


def tune(
    looks: Iterable[tuple[float, Image]],
    out: Path,
    seer: Seer,
    start: Path,
    numbers: tuple[int, ...] = tuple(range(16)),
    steps: int = 300,
    say: Say = lambda line: None,
) -> dict[str, Any]:
    """Fine-tune and compare.

    Parameters
    ----------
    looks : time and picture, a fraction of a second apart, the whole recording.
    out : folder for the labelled pictures and the new ``identity.onnx``.
    seer : the eyes so far.
    start : ``identity.pt`` that they came from.
    numbers : balls that can be on the table.
    steps : of fine-tuning.

    Returns
    -------
    dict
        ``before``, ``after`` on the last part of the recording, ``kept`` (``new`` or ``old``) and counts.

    Raises
    ------
    InputError
        Where too little of the recording shows balls at rest.
    """
    from vision import identity

    found = rests(looks, seer, numbers)
    cut = int(len(found) * TRAIN_SHARE)
    learn, tests = found[:cut], found[cut:]
    if len(learn) < 4 or not tests:
        raise InputError(
            f"the recording shows balls at rest {len(found)} times, too few to learn from; give one of at least ten shots"
        )
    folder = out / "pictures"
    folder.mkdir(parents=True, exist_ok=True)
    pictures = [labelled(rest, folder / f"{k:04d}.jpg") for k, rest in enumerate(learn)]
    write(folder, pictures)
    say(f"{len(pictures)} pictures with {sum(len(p.number) for p in pictures)} sure balls to learn from")
    rng = np.random.default_rng(0)
    trays = [t for t in (tray(p, rng) for p in pictures) if t is not None]
    new = train(
        trays, out, Schedule(steps=steps, rate=2e-4, warm=30, pictures=6, save_every=steps), start=start, say=say
    )
    before, after = compare(seer.identify, tests), compare(identity.load(new), tests)
    better = after["log_loss"] < before["log_loss"] and after["right"] >= before["right"]
    counts = {"pictures": len(learn), "test_pictures": len(tests), "balls": sum(len(p.number) for p in pictures)}
    return {**counts, "before": before, "after": after, "kept": "new" if better else "old"}
