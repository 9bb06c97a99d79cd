"""Trains the identity network: crops of whole pictures at a time, numbers where known, else kinds, patches that are no ball."""

from __future__ import annotations

import json
import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import numpy.typing as npt

from calibration.errors import MissingExtra
from vision.detections import KIND_OF, Floats
from vision.identity import CLASSES, CROP, CROP_RADIUS, NOTHING, RED, YELLOW, crops
from vision.labels import Labelled

Image = npt.NDArray[np.uint8]
Say = Callable[[str], None]

STORED, STORED_RADIUS = 46, 14.0  # crops are kept somewhat larger, so that they can be moved and turned

#: Classes of each kind: an unnumbered red counts as a solid, a yellow as a stripe.
OF_KIND = np.stack([np.append(k == KIND_OF, [k == 1, k == 2, False]) for k in range(4)])


@dataclass(frozen=True, slots=True)
class Schedule:
    """How long and how; see `vision.train.Schedule`. ``pictures`` of a step, each with all its balls."""

    steps: int = 6000
    pictures: int = 10
    rate: float = 2e-3
    warm: int = 200
    seed: int = 1
    threads: int = 1
    save_every: int = 500


@dataclass(frozen=True, slots=True, eq=False)
class Tray:
    """Crops of one picture: (n, 46, 46, 3), targets (n, 19) as the set of classes each can be, natural radius (n,)."""

    crops: Image
    target: npt.NDArray[np.bool_]
    radius: Floats


def tray(picture: Labelled, rng: np.random.Generator, nothing: int = 3, false: Floats | None = None) -> Tray | None:
    """Crops of a labelled picture's balls and of places that are none.

    Parameters
    ----------
    false : (k, 3) circles that a detector took for balls and that are none.
    nothing : places drawn at random beside them.
    """
    image = cv2.imread(str(picture.path))
    if image is None:
        return None
    keep = (picture.visible > 0.35) & (picture.kind >= 0)
    centre, radius = picture.centre[keep], picture.radius[keep]
    target = np.zeros((len(centre), CLASSES), dtype=bool)
    for row, number, kind in zip(target, picture.number[keep], picture.kind[keep], strict=True):
        if number >= 0:
            row[number] = True
        else:
            row[OF_KIND[kind]] = True
            row[[RED, YELLOW]] = False
    usual = float(np.median(picture.radius)) if len(picture.radius) else 10.0
    places = [] if false is None else list(false)
    for _ in range(nothing * 4):
        if len(places) >= nothing + (0 if false is None else len(false)):
            break
        r = usual * float(np.exp(rng.normal(0, 0.25)))
        near = len(centre) and rng.random() < 0.4  # half a ball, or two halves, is none either
        if near:
            a = rng.uniform(0, 2 * np.pi)
            at = centre[rng.integers(len(centre))] + r * rng.uniform(1.1, 1.7) * np.array([np.cos(a), np.sin(a)])
        else:
            at = rng.uniform(0, 1, 2) * image.shape[1::-1]
        if len(picture.centre) and (np.hypot(*(picture.centre - at).T) < 0.95 * picture.radius).any():
            continue
        places.append(np.array([*at, r]))
    none = np.array(places).reshape(-1, 3)
    centre, radius = np.vstack([centre, none[:, :2]]), np.append(radius, none[:, 2])
    if not len(centre):
        return None
    empty = np.zeros((len(none), CLASSES), dtype=bool)
    empty[:, NOTHING] = True
    pixels = np.asarray(image, dtype=np.uint8)
    return Tray(crops(pixels, centre, radius, STORED, STORED_RADIUS), np.vstack([target, empty]), radius)


def vary(rng: np.random.Generator, made: Tray) -> Image:
    """The picture's crops under another light, lens and resolution, each moved, turned and scaled by itself."""
    n = len(made.crops)
    out = np.empty((n, CROP, CROP, 3), dtype=np.uint8)
    natural = float(np.median(made.radius))
    wanted = float(np.exp(rng.uniform(np.log(4.0), np.log(13.0))))
    coarse = min(1.0, wanted / min(natural, STORED_RADIUS)) if rng.random() < 0.7 else 1.0
    spin = rng.uniform(0, 2 * np.pi) if rng.random() < 0.3 else rng.normal(0, 0.2)
    mirror = rng.random() < 0.5
    middle = (CROP - 1) / 2
    for k in range(n):
        picture, scale = made.crops[k], CROP_RADIUS / STORED_RADIUS
        if coarse < 0.95:
            picture = cv2.resize(picture, None, fx=coarse, fy=coarse, interpolation=cv2.INTER_AREA)
            scale *= made.crops.shape[1] / picture.shape[0]
        turn = spin + rng.normal(0, 0.1)
        zoom = scale * float(np.exp(rng.normal(0, 0.07)))
        c, s = zoom * np.cos(turn), zoom * np.sin(turn)
        m = np.array([[c, -s], [s, c]])
        if mirror:
            m[:, 0] *= -1
        centre = (picture.shape[0] - 1) / 2 + rng.normal(0, 0.06, 2) * CROP_RADIUS / scale
        shift = middle - m @ centre
        cv2.warpAffine(
            picture, np.column_stack([m, shift]), (CROP, CROP), dst=out[k], flags=cv2.INTER_LINEAR,
            borderMode=cv2.BORDER_REPLICATE,
        )  # fmt: skip
    return _light(rng, out.reshape(n * CROP, CROP, 3)).reshape(n, CROP, CROP, 3)


def _light(rng: np.random.Generator, strip: Image) -> Image:
    """One light and one codec for all crops of a picture."""
    if rng.random() < 0.6:
        hsv = cv2.cvtColor(strip, cv2.COLOR_BGR2HSV)
        hsv[..., 0] = ((hsv[..., 0].astype(np.int16) + int(rng.normal(0, 3.0))) % 180).astype(np.uint8)
        gain = float(np.exp(rng.normal(-0.05, 0.22)))
        hsv[..., 1] = cv2.LUT(hsv[..., 1], np.clip(np.arange(256) * gain, 0, 255).astype(np.uint8))
        strip = np.asarray(cv2.cvtColor(hsv, cv2.COLOR_HSV2BGR), dtype=np.uint8)
    ramp = np.arange(256) / 255
    gamma = float(np.exp(rng.normal(0, 0.18)))
    gains = np.exp(rng.normal(0.02, 0.22) + rng.normal(0, 0.11, 3))  # lamps of every colour
    lut = np.stack([np.clip(255 * g * ramp**gamma + rng.normal(0, 4), 0, 255) for g in gains], axis=1)
    strip = np.asarray(cv2.LUT(strip, lut.astype(np.uint8).reshape(256, 1, 3)), dtype=np.uint8)
    if rng.random() < 0.25:
        strip = np.asarray(cv2.GaussianBlur(strip, (0, 0), float(rng.uniform(0.4, 1.2))), dtype=np.uint8)
    if rng.random() < 0.3:
        noise = rng.standard_normal(strip.shape, dtype=np.float32) * float(rng.uniform(1, 8))
        strip = np.clip(strip + noise, 0, 255).astype(np.uint8)
    if rng.random() < 0.25:
        data = cv2.imencode(".jpg", strip, [cv2.IMWRITE_JPEG_QUALITY, int(rng.integers(30, 90))])[1]
        strip = np.asarray(cv2.imdecode(data, cv2.IMREAD_COLOR), dtype=np.uint8)
    return strip


def network() -> Any:
    """The network: each crop to a vector, the mean of all vectors beside it, classes out.

    ``forward(x, owner, count)`` takes crops (n, 3, 32, 32) and, for several pictures at once, the picture (n,) of each; without
    them all crops are of one picture.
    """
    import torch
    from torch import nn

    def conv(a: int, b: int, stride: int = 1) -> nn.Sequential:
        return nn.Sequential(nn.Conv2d(a, b, 3, stride, 1, bias=False), nn.BatchNorm2d(b), nn.ReLU(inplace=True))

    class Residual(nn.Module):
        def __init__(self, c: int) -> None:
            super().__init__()
            self.body = nn.Sequential(conv(c, c), nn.Conv2d(c, c, 3, 1, 1, bias=False), nn.BatchNorm2d(c))

        def forward(self, x: Any) -> Any:
            return torch.relu(x + self.body(x))

    class Identity(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.body = nn.Sequential(
                conv(3, 16, 2), conv(16, 24), conv(24, 48, 2), Residual(48), conv(48, 64, 2), Residual(64)
            )
            self.one = nn.Sequential(nn.Linear(128, 96), nn.ReLU(inplace=True), nn.Dropout(0.1))
            self.all = nn.Sequential(nn.Linear(96, 48), nn.ReLU(inplace=True))
            self.out = nn.Sequential(nn.Linear(96 + 48, 96), nn.ReLU(inplace=True), nn.Linear(96, CLASSES))
            self.log_scale = nn.Parameter(torch.zeros(1), requires_grad=False)  # temperature, fitted afterwards

        def forward(self, x: Any, owner: Any = None, count: int = 1) -> Any:
            x = self.body(x)
            e = self.one(torch.cat([x.mean(dim=(2, 3)), x.amax(dim=(2, 3))], dim=1))
            a = self.all(e)
            if owner is None:
                context = a.mean(dim=0, keepdim=True).expand(a.shape[0], -1)
            else:
                number = torch.zeros(count, 1).index_add_(0, owner, torch.ones(len(owner), 1))
                mean = torch.zeros(count, a.shape[1]).index_add_(0, owner, a) / number.clamp(min=1)
                context = mean[owner]
            return torch.log_softmax(self.out(torch.cat([e, context], dim=1)) * torch.exp(self.log_scale), dim=1)

    return Identity()


def train(
    trays: Sequence[Tray],
    out: Path,
    schedule: Schedule | None = None,
    weights: Sequence[float] | None = None,
    start: Path | None = None,
    resume: bool = False,
    say: Say = lambda line: None,
) -> Path:
    """Train on crops and write ``out``/identity.pt and identity.onnx; parameters as in `vision.train.train`."""
    try:
        import torch
    except ImportError:
        raise MissingExtra("training", "yolo") from None

    s = schedule or Schedule()
    torch.set_num_threads(s.threads)
    torch.manual_seed(s.seed)
    p = None if weights is None else np.asarray(weights) / np.sum(weights)
    prior = _log_prior(trays, p)
    model = network()
    if start:
        model.load_state_dict(torch.load(start, weights_only=True))
    average = network()
    average.load_state_dict(model.state_dict())
    optimiser = torch.optim.AdamW(model.parameters(), weight_decay=1e-3)
    step, last = 0, out / "identity.ckpt"
    if resume and last.exists():
        state = torch.load(last, weights_only=True)
        model.load_state_dict(state["model"])
        average.load_state_dict(state["average"])
        optimiser.load_state_dict(state["optimiser"])
        step = state["step"]
    out.mkdir(parents=True, exist_ok=True)
    began, first, losses = time.time(), step, []
    while step < s.steps:
        rng = np.random.default_rng([s.seed, step])
        picks = rng.choice(len(trays), s.pictures, p=p)
        x, owner, target = _batch(rng, [trays[k] for k in picks])
        rate = s.rate * min(1.0, (step + 1) / s.warm) * (0.01 + 0.99 * (1 + np.cos(np.pi * step / s.steps)) / 2)
        for group in optimiser.param_groups:
            group["lr"] = rate
        model.train()
        # adding the prior while training leaves the network's own output as if all classes were equally likely
        log_p = torch.log_softmax(model(x, owner, s.pictures) + prior, dim=1)
        right = torch.logsumexp(torch.where(target, log_p, torch.full_like(log_p, -30.0)), dim=1)
        smooth = -log_p.mean(dim=1)
        loss = (-0.97 * right + 0.03 * smooth * 0.3).mean()
        optimiser.zero_grad(set_to_none=True)
        loss.backward()
        optimiser.step()
        step += 1
        keep = min(0.998, 1 - 1 / (1 + step / 10))
        with torch.no_grad():
            new = model.state_dict()
            for name, value in average.state_dict().items():
                if value.dtype.is_floating_point:
                    value.mul_(keep).add_(new[name], alpha=1 - keep)
                else:
                    value.copy_(new[name])
        losses.append(float(loss.detach()))
        if step % 100 == 0:
            pace = (step - first) / (time.time() - began)
            say(f"step {step}/{s.steps} loss {np.mean(losses[-100:]):.3f} {pace:.1f} steps/s")
        if step % s.save_every == 0 or step == s.steps:
            state = {"model": model.state_dict(), "average": average.state_dict(), "step": step}
            torch.save({**state, "optimiser": optimiser.state_dict()}, last.with_suffix(".part"))
            last.with_suffix(".part").replace(last)
            torch.save(average.state_dict(), out / "identity.pt")
    export(out / "identity.pt", out / "identity.onnx")
    report = {"schedule": asdict(s), "pictures": len(trays), "crops": int(sum(len(t.crops) for t in trays))}
    report["hours"] = round((time.time() - began) / 3600, 3)  # type: ignore[assignment]
    (out / "identity.json").write_text(json.dumps(report, indent=1))
    return out / "identity.onnx"


def _batch(rng: np.random.Generator, trays: Sequence[Tray]) -> tuple[Any, Any, Any]:
    import torch

    made, owner, target = [], [], []
    for k, one in enumerate(trays):
        rows = np.arange(len(one.crops))
        if rng.random() < 0.4:  # few balls are left in an end game
            rows = rng.permutation(rows)[: max(1, int(rng.integers(1, len(rows) + 1)))]
        part = Tray(one.crops[rows], one.target[rows], one.radius[rows])
        made.append(vary(rng, part))
        owner.append(np.full(len(rows), k))
        target.append(part.target)
    x = torch.from_numpy(np.concatenate(made)).permute(0, 3, 1, 2).float().div_(255)
    return x, torch.from_numpy(np.concatenate(owner)), torch.from_numpy(np.concatenate(target))


def _log_prior(trays: Sequence[Tray], p: Floats | None) -> Any:
    """Log of how often each class is met, sets of classes counted in equal parts."""
    import torch

    share = np.full(CLASSES, 1e-3)
    for weight, one in zip(np.full(len(trays), 1 / len(trays)) if p is None else p, trays, strict=True):
        share += weight * (one.target / one.target.sum(axis=1, keepdims=True)).sum(axis=0)
    return torch.from_numpy(np.log(share / share.sum()).astype(np.float32))


def calibrate(weights: Path, trays: Sequence[Tray]) -> float:
    """Fit the temperature of ``identity.pt`` on crops it was not trained on, store it, and return it."""
    import torch

    model = network()
    model.load_state_dict(torch.load(weights, weights_only=True))
    model.eval()
    rows, targets = [], []
    rng = np.random.default_rng(5)
    with torch.inference_mode():
        for one in trays:
            x, owner, target = _batch(rng, [one])
            rows.append(model(x, owner, 1) / torch.exp(model.log_scale))
            targets.append(target)
    logits, target = torch.cat(rows), torch.cat(targets)
    scales = np.exp(np.linspace(np.log(0.3), np.log(2.0), 60))
    losses = []
    for scale in scales:
        log_p = torch.log_softmax(logits * float(scale), dim=1)
        losses.append(-float(torch.logsumexp(torch.where(target, log_p, torch.full_like(log_p, -30)), dim=1).mean()))
    best = float(scales[int(np.argmin(losses))])
    with torch.no_grad():
        model.log_scale.fill_(float(np.log(best)))
    torch.save(model.state_dict(), weights)
    return best


def export(weights: Path, out: Path) -> Path:
    """Write ``identity.pt`` as ONNX for any number of crops of one picture."""
    import torch

    model = network()
    model.load_state_dict(torch.load(weights, weights_only=True))
    model.eval()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        torch.onnx.export(
            model,
            (torch.zeros(5, 3, CROP, CROP),),
            str(out),
            opset_version=17,
            dynamo=False,
            input_names=["crops"],
            output_names=["log_p"],
            dynamic_axes={"crops": {0: "balls"}, "log_p": {0: "balls"}},
        )
    return out
