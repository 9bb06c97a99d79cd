"""The detector's shape: a slim one-class YOLO with a single head at stride 8, in ultralytics' own description.

Balls are round, of one size and few, 7 to 48 pixels wide at the input. What a general network spends on objects of every
size and on eighty classes is left out: 0.25 M parameters, about 0.7 GFLOP at 384 x 640.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from calibration.errors import MissingExtra

STRIDE = 32  # sizes of the input are multiples of it

#: ultralytics model description.
DETECTOR: dict[str, Any] = {
    "nc": 1,
    "names": {0: "ball"},
    "reg_max": 1,  # a ball's box needs no distribution over its edges
    "activation": "torch.nn.ReLU()",  # SiLU costs a sixth of the time on plain CPUs
    "backbone": [
        [-1, 1, "Conv", [16, 3, 2]],
        [-1, 1, "Conv", [24, 3, 2]],
        [-1, 1, "Conv", [48, 3, 2]],
        [-1, 1, "C3k2", [48, False, 0.5]],  # 3: stride 8
        [-1, 1, "Conv", [64, 3, 2]],
        [-1, 1, "C3k2", [64, False, 0.5]],  # 5: stride 16
        [-1, 1, "Conv", [96, 3, 2]],
        [-1, 1, "C3k2", [96, False, 0.5]],
        [-1, 1, "SPPF", [96, 5]],  # 8: stride 32, what surrounds the ball
    ],
    "head": [
        [-1, 1, "nn.Upsample", [None, 2, "nearest"]],
        [[-1, 5], 1, "Concat", [1]],
        [-1, 1, "C3k2", [64, False, 0.5]],
        [-1, 1, "nn.Upsample", [None, 2, "nearest"]],
        [[-1, 3], 1, "Concat", [1]],
        [-1, 1, "C3k2", [48, False, 0.5]],  # 14
        [[14], 1, "Detect", ["nc"]],
    ],
}


def quiet_ultralytics(what: str) -> Any:
    """The ``ultralytics`` package with its network habits off.

    Raises
    ------
    MissingExtra
        Where the package is not installed.
    """
    os.environ.setdefault("YOLO_OFFLINE", "true")
    os.environ.setdefault("YOLO_AUTOINSTALL", "false")
    os.environ.setdefault("YOLO_VERBOSE", "false")
    try:
        import ultralytics
    except ImportError:
        raise MissingExtra(what, "yolo") from None
    ultralytics.settings.update({"sync": False})
    return ultralytics


def fresh() -> Any:
    """A detector with random weights: an ultralytics ``DetectionModel``."""
    import copy

    quiet_ultralytics("training")
    from ultralytics.nn.tasks import DetectionModel

    return DetectionModel(copy.deepcopy(DETECTOR), ch=3, nc=1, verbose=False)


def save(model: Any, path: Path) -> None:
    """Write a checkpoint that ``ultralytics.YOLO`` loads."""
    import copy

    import torch
    import ultralytics

    model = copy.deepcopy(model).float().eval().half()
    for p in model.parameters():
        p.requires_grad = False
    model.names = {0: "ball"}
    model.args = {"task": "detect", "imgsz": 640, "model": path.name, "data": None, "single_cls": True}
    content = {
        "epoch": -1,
        "model": model,
        "ema": None,
        "optimizer": None,
        "train_args": dict(model.args),
        "version": ultralytics.__version__,
        "license": "AGPL-3.0",
    }
    path.parent.mkdir(parents=True, exist_ok=True)
    torch.save(content, path)


def load_checkpoint(path: Path) -> Any:
    """The ``DetectionModel`` of a ``.pt``, in evaluation mode."""
    ultralytics = quiet_ultralytics("reading .pt weights")
    return ultralytics.YOLO(str(path), task="detect").model.float().eval()


def raw_head(model: Any) -> Any:
    """A module from pictures (b, 3, h, w) to the raw head (b, 5, h / 8, w / 8): four distances and a logit."""
    import torch

    class RawHead(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.layers = model.model[:-1]
            self.detect = model.model[-1]
            self.keep = model.save

        def forward(self, x: Any) -> Any:
            kept: list[Any] = []
            for layer in self.layers:
                if layer.f != -1:
                    x = kept[layer.f] if isinstance(layer.f, int) else [x if j == -1 else kept[j] for j in layer.f]
                x = layer(x)
                kept.append(x if layer.i in self.keep else None)
            return torch.cat([self.detect.cv2[0](x), self.detect.cv3[0](x)], dim=1)

    return RawHead().eval()


def head_of(model: Any, threads: int | None = None) -> Any:
    """The network of `vision.yolo.Network` on a GPU where there is one."""
    import torch

    from vision.yolo import planes

    if threads:
        torch.set_num_threads(threads)
    device = "cuda" if torch.cuda.is_available() else "cpu"
    module = raw_head(model.fuse(verbose=False)).to(device)

    def run(image: Any) -> Any:
        with torch.inference_mode():
            return module(torch.from_numpy(planes(image)).to(device))[0].cpu().numpy()

    return run


def export(checkpoint: Path, out: Path) -> Path:
    """Write the raw head of a ``.pt`` as ONNX for inputs of any size."""
    import copy
    import warnings

    import torch

    module = raw_head(copy.deepcopy(load_checkpoint(checkpoint)).fuse(verbose=False))
    out.parent.mkdir(parents=True, exist_ok=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        torch.onnx.export(
            module,
            (torch.zeros(1, 3, 320, 320),),
            str(out),
            opset_version=17,
            dynamo=False,
            input_names=["image"],
            output_names=["head"],
            dynamic_axes={
                "image": {0: "batch", 2: "height", 3: "width"},
                "head": {0: "batch", 2: "rows", 3: "columns"},
            },
        )
    return out
