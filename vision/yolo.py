"""The ball detector: a picture in, circles out, by OpenVINO, ONNX Runtime or ultralytics, all with the same outputs.

Every backend runs the same network up to its raw head: for each cell of a stride-8 grid the four distances to a box's sides
and a logit. Cells below the threshold are dropped before anything is decoded, so one file serves inputs of any size.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import numpy.typing as npt

from calibration.errors import InputError, MissingExtra
from vision.detections import Detections, Floats
from vision.runtime import openvino

Image = npt.NDArray[np.uint8]
#: (h, w, 3) BGR bytes, sizes multiples of 32 -> (5, h / 8, w / 8): left, top, right, bottom in cells, and the logit.
Network = Callable[[Image], npt.NDArray[np.float32]]
Region = tuple[int, int, int, int]

#: What each backend reads from a folder of weights, best first.
FILES = {
    "openvino": ("detector-int8.xml", "detector.onnx"),
    "onnx": ("detector.onnx",),
    "torch": ("detector.pt",),
}
BACKENDS = tuple(FILES)
STRIDE, MULTIPLE, GREY = 8, 32, 114
VIDEO_PIXELS = 640 * 352
PICTURE_PIXELS = 1280 * 736


def weights_folder() -> Path:
    """Where the weights that ship lie."""
    return Path(__file__).parent / "weights"


def checkpoint() -> Path:
    """The shipped weights as ultralytics loads them."""
    return weights_folder() / "detector.pt"


class Detector:
    """Finds balls.

    Parameters
    ----------
    network : one of the backends.
    pixels : about how many pixels the network looks at; the region is scaled to that.
    threshold : score under which nothing is reported.
    """

    def __init__(self, network: Network, pixels: int = VIDEO_PIXELS, threshold: float = 0.25) -> None:
        self.network = network
        self.pixels = pixels
        self.threshold = threshold

    def __call__(self, image: Image, region: Region | None = None, pixels: int | None = None) -> Detections:
        """Balls in ``region`` (x0, y0, x1, y1, pixels) of a BGR picture, or in all of it; ``pixels`` for this look only."""
        x0, y0, x1, y1 = region or (0, 0, image.shape[1], image.shape[0])
        view = image[max(y0, 0) : y1, max(x0, 0) : x1]
        if min(view.shape[:2]) < 8:
            return Detections.empty()
        small, scale = fit(view, pixels or self.pixels)
        found = decode(self.network(small), self.threshold)
        centre = (found[:, :2] + 0.5) / scale - 0.5 + (max(x0, 0), max(y0, 0))
        return Detections.of(centre, found[:, 2] / scale, found[:, 3])


def fit(view: Image, pixels: int) -> tuple[Image, float]:
    """Scale a picture to about ``pixels`` and pad it to multiples of 32; the picture and the scale.

    An odd last row or column is left out.
    """
    if min(view.shape[:2]) > 1:
        view = view[: view.shape[0] // 2 * 2, : view.shape[1] // 2 * 2]
    height, width = view.shape[:2]
    scale = min(float(np.sqrt(pixels / (height * width))), 2.0)
    w, h = max(1, round(width * scale)), max(1, round(height * scale))
    shape = (-(-h // MULTIPLE) * MULTIPLE, -(-w // MULTIPLE) * MULTIPLE)
    # the padding is used for the picture where that costs nothing
    grow = min(shape[0] / h, shape[1] / w)
    scale *= grow
    w, h = min(shape[1], round(width * scale)), min(shape[0], round(height * scale))
    # halving by areas is vectorised, other ratios are not (9 ms against 1 for a table at 1080p); between 1 and 1/2
    # two-by-two interpolation leaves out next to nothing
    while width >= 2 * w and height >= 2 * h and not (width % 2 or height % 2):
        width, height = width // 2, height // 2
        view = np.asarray(cv2.resize(view, (width, height), interpolation=cv2.INTER_AREA), dtype=np.uint8)
    inter = cv2.INTER_LINEAR if width < 2 * w else cv2.INTER_AREA
    scaled = np.asarray(cv2.resize(view, (w, h), interpolation=inter), dtype=np.uint8)
    if (h, w) == shape:
        return scaled, scale
    out = np.full((*shape, 3), GREY, dtype=np.uint8)
    out[:h, :w] = scaled
    return out, scale


def decode(raw: npt.NDArray[np.float32], threshold: float) -> Floats:
    """Circles (n, 4) x, y, radius, score from the raw head; what overlaps almost wholly is merged, best first."""
    logit = raw[4]
    v, u = np.nonzero(logit > np.log(threshold / (1 - threshold)))
    if not len(v):
        return np.zeros((0, 4))
    left, top, right, bottom = raw[:4, v, u].astype(np.float64)
    score = 1 / (1 + np.exp(-logit[v, u].astype(np.float64)))
    x = (u + 0.5 + (right - left) / 2) * STRIDE - 0.5
    y = (v + 0.5 + (bottom - top) / 2) * STRIDE - 0.5
    # a ball cut by the picture's edge has a box that is not square: its longer side tells the radius
    radius = np.maximum(right + left, bottom + top) * STRIDE / 2
    order = np.argsort(-score)
    column = np.stack([x, y, radius, score], axis=1)[order]
    x, y, radius, score = column.T
    # (n, n): whether a surer one in a row takes up the other in a column
    gap = np.hypot(x[:, None] - x, y[:, None] - y)
    over = gap < 0.6 * np.minimum(np.maximum(radius[:, None], radius), 1.5 * radius[:, None])
    free = np.ones(len(x), dtype=bool)
    first, taken = [], []
    for k in range(len(x)):
        if free[k]:
            near = free & over[k]
            free &= ~near
            first.append(k)
            taken.append(near)
    weight = np.array(taken) * score**2
    found = weight @ column / weight.sum(axis=1, keepdims=True)
    found[:, 3] = score[first]
    return np.asarray(found)


def load(
    weights: Path | None = None,
    backend: str | None = None,
    pixels: int = VIDEO_PIXELS,
    threshold: float = 0.25,
    threads: int | None = None,
) -> Detector:
    """The detector with the best backend that is here.

    Parameters
    ----------
    weights : ``.onnx``, ``.pt`` or OpenVINO's ``.xml``, or a folder of them; the shipped ones where not given.
    backend : ``openvino``, ``onnx`` or ``torch``; the first that is installed where not given. torch is never imported
        unless it, or a ``.pt``, is asked for.
    pixels, threshold : see `Detector`.
    threads : of the backend; its own choice where not given.

    Raises
    ------
    InputError
        Where the weights are not there or the backend is unknown.
    MissingExtra
        Where the backend is not installed.
    """
    if backend is not None and backend not in BACKENDS:
        raise InputError(f"unknown backend {backend!r}: one of {', '.join(BACKENDS)}")
    if backend is None:
        if weights is not None and Path(weights).suffix == ".pt":
            backend = "torch"
        else:
            backend = "openvino" if importlib.util.find_spec("openvino") else "onnx"
    path = Path(weights) if weights is not None else weights_folder()
    if path.is_dir():
        names = FILES[backend]
        path = next((path / name for name in names if (path / name).exists()), path / names[-1])
    if not path.exists():
        raise InputError(
            f"{path}: no such weights; leave --weights out for those that ship, or `railbird train` new ones"
        )
    kinds = sorted({Path(name).suffix for name in FILES[backend]})
    if path.suffix not in kinds:
        raise InputError(f"{path}: the backend {backend} reads {' and '.join(kinds)} files")
    make = {"openvino": _openvino, "onnx": _onnx, "torch": _torch}[backend]
    return Detector(make(path, threads), pixels, threshold)


def _openvino(path: Path, threads: int | None) -> Network:
    ov = openvino()
    from openvino import Type
    from openvino.preprocess import ColorFormat, PrePostProcessor

    core = ov.Core()
    model = core.read_model(path)
    steps = PrePostProcessor(model)
    steps.input().tensor().set_element_type(Type.u8).set_layout(ov.Layout("NHWC")).set_color_format(ColorFormat.BGR)
    steps.input().model().set_layout(ov.Layout("NCHW"))
    steps.input().preprocess().convert_element_type(Type.f32).convert_color(ColorFormat.RGB).scale(255.0)
    model = steps.build()
    config: dict[str, Any] = {"PERFORMANCE_HINT": "LATENCY"}
    if threads:
        config["INFERENCE_NUM_THREADS"] = threads
    ready: dict[tuple[int, ...], Any] = {}

    def run(image: Image) -> npt.NDArray[np.float32]:
        shape = (1, *image.shape)
        if shape not in ready:
            model.reshape(shape)
            if len(ready) > 7:  # pictures of many shapes: keep the memory of few
                ready.pop(next(iter(ready)))
            ready[shape] = core.compile_model(model, "CPU", config).create_infer_request()
        request = ready[shape]
        request.infer([image[None]], share_inputs=True)
        return np.asarray(request.get_output_tensor(0).data[0])

    return run


def _onnx(path: Path, threads: int | None) -> Network:
    try:
        import onnxruntime as ort
    except ImportError:
        raise MissingExtra("the backend onnx", "onnx") from None
    options = ort.SessionOptions()
    if threads:
        options.intra_op_num_threads = threads
    session = ort.InferenceSession(str(path), options, providers=ort.get_available_providers())
    name = session.get_inputs()[0].name

    def run(image: Image) -> npt.NDArray[np.float32]:
        return np.asarray(session.run(None, {name: planes(image)})[0][0])

    return run


def _torch(path: Path, threads: int | None) -> Network:
    from vision.network import head_of, load_checkpoint

    return head_of(load_checkpoint(path), threads)


def planes(image: Image) -> npt.NDArray[np.float32]:
    """(h, w, 3) BGR bytes to (1, 3, h, w) RGB 0 … 1."""
    return np.ascontiguousarray(image[None, :, :, ::-1].transpose(0, 3, 1, 2), dtype=np.float32) / 255
