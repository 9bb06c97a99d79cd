"""Trains the ball detector on labelled pictures: random crops, ultralytics' loss, one cosine schedule, resumable."""

from __future__ import annotations

import copy
import json
import queue
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from vision import network
from vision.augment import Shelf, crop
from vision.labels import Labelled

Say = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Schedule:
    """How long and how.

    Parameters
    ----------
    steps, batch, size : optimiser steps, crops a step, width and height of a crop in pixels.
    rate, warm : peak learning rate of AdamW and the steps to reach it.
    seed : of crops and weights.
    threads : of torch; one more makes the crops.
    save_every : steps between checkpoints.
    """

    steps: int = 6000
    batch: int = 16
    size: int = 256
    rate: float = 3e-3
    warm: int = 200
    seed: int = 1
    threads: int = 1
    save_every: int = 250


def crops(shelf: Shelf, schedule: Schedule, start: int, weights: Sequence[float] | None = None) -> Iterator[Any]:
    """Endless batches of ``(images uint8 (b, h, w, 3), boxes [(m, 4)])``, the same for the same seed and step."""
    p = None if weights is None else np.asarray(weights) / np.sum(weights)
    step = start
    while True:
        rng = np.random.default_rng([schedule.seed, step])
        picks = rng.choice(len(shelf), schedule.batch, p=p)
        size = (schedule.size, schedule.size)
        made = [crop(rng, shelf.images[k], shelf.circles[k], shelf.usual[k], size) for k in picks]
        yield np.stack([image for image, _ in made]), [boxes for _, boxes in made]
        step += 1


def train(
    pictures: Sequence[Labelled],
    out: Path,
    schedule: Schedule | None = None,
    start: Path | None = None,
    resume: bool = False,
    weights: Sequence[float] | None = None,
    say: Say = lambda line: None,
) -> Path:
    """Train and write ``out``/detector.pt.

    Parameters
    ----------
    pictures : labelled pictures; they are held in memory.
    out : folder for the weights, ``last.ckpt`` (to go on from) and ``train.json`` (what was done).
    start : ``.pt`` to fine-tune instead of random weights.
    resume : go on from ``out``/last.ckpt where there is one.
    weights : how often each picture is drawn, relative to the others; equally where not given.
    say : takes lines of progress.

    Raises
    ------
    InputError
        Where ultralytics is missing.
    """
    network.quiet_ultralytics("training")
    import torch

    s = schedule or Schedule()
    torch.set_num_threads(s.threads)
    torch.manual_seed(s.seed)
    shelf = Shelf(pictures)
    say(f"{len(shelf)} pictures, {sum(map(len, shelf.circles))} balls")
    model = _load(start) if start else network.fresh()
    model.args = _hyperparameters()
    model.train()
    decay = [p for p in model.parameters() if p.ndim > 1]
    plain = [p for p in model.parameters() if p.ndim <= 1]
    optimiser = torch.optim.AdamW([{"params": decay, "weight_decay": 5e-4}, {"params": plain, "weight_decay": 0.0}])
    average = copy.deepcopy(model).eval()
    step = 0
    last = out / "last.ckpt"
    if resume and last.exists():
        state = torch.load(last, weights_only=False)
        model.load_state_dict(state["model"])
        average.load_state_dict(state["average"])
        optimiser.load_state_dict(state["optimiser"])
        step = state["step"]
        say(f"going on from step {step}")

    stream = _ahead(crops(shelf, s, step, weights))
    began, seen, losses = time.time(), step, []
    out.mkdir(parents=True, exist_ok=True)
    while step < s.steps:
        images, boxes = next(stream)
        rate = s.rate * min(1.0, (step + 1) / s.warm) * (0.02 + 0.98 * (1 + np.cos(np.pi * step / s.steps)) / 2)
        for group in optimiser.param_groups:
            group["lr"] = rate
        loss, parts = model.loss(_batch(images, boxes))
        optimiser.zero_grad(set_to_none=True)
        loss.sum().backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 10.0)
        optimiser.step()
        step += 1
        _follow(average, model, min(0.998, 1 - 1 / (1 + step / 10)))
        losses.append(parts.tolist() if not isinstance(parts, dict) else [float(v) for v in parts.values()])
        if step % 50 == 0:
            mean = np.mean(losses[-50:], axis=0)
            pace = (step - seen) * s.batch / (time.time() - began)
            say(f"step {step}/{s.steps} loss {' '.join(f'{v:.3f}' for v in mean)} {pace:.0f} crops/s")
        if step % s.save_every == 0 or step == s.steps:
            state = {"model": model.state_dict(), "average": average.state_dict(), "step": step}
            torch.save({**state, "optimiser": optimiser.state_dict()}, last.with_suffix(".part"))
            last.with_suffix(".part").replace(last)
            network.save(average, out / "detector.pt")
    report = {"schedule": asdict(s), "pictures": len(shelf), "balls": sum(map(len, shelf.circles))}
    report |= {"start": str(start) if start else None, "hours": round((time.time() - began) / 3600, 3)}
    (out / "train.json").write_text(json.dumps(report, indent=1))
    return out / "detector.pt"


def _ahead(batches: Iterator[Any], depth: int = 3) -> Iterator[Any]:
    """The same batches, made in a thread of their own (OpenCV works outside Python's lock) while the last one is used."""
    ready: queue.Queue[Any] = queue.Queue(depth)
    done = threading.Event()

    def work() -> None:
        for batch in batches:
            while not done.is_set():
                try:
                    ready.put(batch, timeout=0.2)
                    break
                except queue.Full:
                    continue
            if done.is_set():
                return

    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    try:
        while True:
            try:
                yield ready.get(timeout=1.0)
            except queue.Empty:
                if not thread.is_alive():
                    raise RuntimeError("the thread that makes crops ended early") from None
    finally:
        done.set()


def _hyperparameters() -> Any:
    from ultralytics.cfg import get_cfg

    hyperparameters = get_cfg()
    hyperparameters.box, hyperparameters.cls, hyperparameters.dfl = 5.0, 1.0, 1.0
    return hyperparameters


def _load(path: Path) -> Any:
    import torch

    model = torch.load(path, weights_only=False)["model"].float()
    for p in model.parameters():
        p.requires_grad = True
    return model


def _batch(images: Any, boxes: Sequence[Any]) -> dict[str, Any]:
    """What ultralytics' loss takes: pictures (b, 3, h, w) RGB 0 … 1, boxes with the index of their picture."""
    import torch

    x = torch.as_tensor(np.asarray(images)).permute(0, 3, 1, 2).flip(1).float().div_(255)
    index = np.concatenate([np.full(len(b), k) for k, b in enumerate(boxes)])
    every = np.concatenate([np.asarray(b).reshape(-1, 4) for b in boxes]).astype(np.float32)
    return {
        "img": x,
        "batch_idx": torch.as_tensor(index, dtype=torch.float32),
        "cls": torch.zeros(len(index), 1),
        "bboxes": torch.as_tensor(every),
    }


def _follow(average: Any, model: Any, keep: float) -> None:
    """Exponential moving average of the weights."""
    import torch

    with torch.no_grad():
        new = model.state_dict()
        for name, value in average.state_dict().items():
            if value.dtype.is_floating_point:
                value.mul_(keep).add_(new[name].detach(), alpha=1 - keep)
            else:
                value.copy_(new[name])
