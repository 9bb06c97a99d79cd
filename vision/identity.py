"""Which ball is which: evidence from each ball's crop, judged beside the others in the picture.

A crop alone cannot tell a dark orange from a brown: the light of the place is unknown. So the network sees all crops of a
picture together; each is judged against the mean of all (a set function), which carries the light, the cloth and the make.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import numpy.typing as npt

from calibration.errors import InputError
from vision.detections import NUMBERS, Detections, Floats
from vision.runtime import openvino

Image = npt.NDArray[np.uint8]

CROP = 32  # width of a crop, pixels
CROP_RADIUS = 10.5  # of the ball in it: a third of the crop is what lies around the ball
CLASSES = 19  # sixteen numbers, red and yellow without number, and no ball at all
RED, YELLOW, NOTHING = 16, 17, 18


def crops(
    image: Image, centre: Floats, radius: Floats, size: int = CROP, ball_radius: float = CROP_RADIUS
) -> npt.NDArray[np.uint8]:
    """Pictures (n, size, size, 3) of balls, all scaled to the same radius.

    Parameters
    ----------
    image : BGR picture.
    centre, radius : (n, 2) and (n,) outlines, pixels.
    size, ball_radius : width of a crop and the ball's radius in it, pixels.
    """
    out = np.empty((len(centre), size, size, 3), dtype=np.uint8)
    for k in range(len(centre)):
        scale = ball_radius / max(float(radius[k]), 0.5)
        picture, (x, y) = image, centre[k]
        if scale < 0.6:  # by areas first, or thin stripes and numbers alias
            reach = size / scale * 0.75
            u0, v0 = max(0, int(x - reach)), max(0, int(y - reach))
            part = image[v0 : int(y + reach) + 1, u0 : int(x + reach) + 1]
            if part.size:
                picture = cv2.resize(part, None, fx=scale, fy=scale, interpolation=cv2.INTER_AREA)
                x, y = (x - u0 + 0.5) * scale - 0.5, (y - v0 + 0.5) * scale - 0.5
                scale = 1.0
        middle = (size - 1) / 2
        m = np.array([[scale, 0, middle - scale * x], [0, scale, middle - scale * y]])
        cv2.warpAffine(picture, m, (size, size), dst=out[k], flags=cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE)
    return out


class Identifier:
    """Evidence for the number of each ball in a picture.

    Parameters
    ----------
    run : takes (n, 32, 32, 3) BGR bytes of one picture's balls to (n, 19) log-probabilities, as all classes were equally
        likely.
    """

    def __init__(self, run: Callable[[npt.NDArray[np.uint8]], npt.NDArray[np.float32]]) -> None:
        self._run = run

    def __call__(self, image: Image, detections: Detections, twice: bool = False) -> Detections:
        """The same balls with ``evidence``, ``unnumbered`` and a ``score`` that counts what the crop shows.

        Parameters
        ----------
        image, detections : BGR picture and the balls in it.
        twice : look at the crops' mirror images as well, and take the mean of both answers: for single pictures, where nothing is
            added up over time.
        """
        if not len(detections):
            return detections
        made = crops(image, detections.centre, detections.radius)
        log_p = self._run(made).astype(np.float64)
        if twice:
            log_p = (log_p + self._run(np.ascontiguousarray(made[:, :, ::-1]))) / 2
            log_p -= np.logaddexp.reduce(log_p, axis=1)[:, None]
        best = log_p[:, :NOTHING].max(axis=1, keepdims=True)
        log_ball = np.logaddexp.reduce(log_p[:, :NOTHING], axis=1)
        doubt = np.exp(log_p[:, NOTHING]) / (np.exp(log_p[:, NOTHING]) + np.exp(log_ball))
        return detections.with_(
            evidence=log_p[:, :NUMBERS] - best,
            unnumbered=log_p[:, NUMBERS:NOTHING] - best,
            score=detections.score * (1 - doubt),
        )


def load(weights: Path | None = None, backend: str | None = None, threads: int | None = None) -> Identifier:
    """The identity network, by OpenVINO where it is installed, else by ONNX Runtime.

    Raises
    ------
    InputError
        Where the weights are not there.
    """
    path = Path(weights) if weights else Path(__file__).parent / "weights"
    path = path / "identity.onnx" if path.is_dir() else path
    if not path.exists():
        raise InputError(f"{path}: no such weights; leave --weights out for those that ship")
    if backend != "onnx" and importlib.util.find_spec("openvino"):
        return Identifier(_openvino(path, threads))
    return Identifier(_onnx(path, threads))


def _openvino(path: Path, threads: int | None) -> Callable[[Any], Any]:
    ov = openvino()
    from openvino.preprocess import PrePostProcessor

    core = ov.Core()
    model = core.read_model(path)
    steps = PrePostProcessor(model)
    steps.input().tensor().set_element_type(ov.Type.u8).set_layout(ov.Layout("NHWC"))
    steps.input().model().set_layout(ov.Layout("NCHW"))
    steps.input().preprocess().convert_element_type(ov.Type.f32).scale(255.0)
    config: dict[str, Any] = {"PERFORMANCE_HINT": "LATENCY"}
    if threads:
        config["INFERENCE_NUM_THREADS"] = threads
    request = core.compile_model(steps.build(), "CPU", config).create_infer_request()

    def run(made: npt.NDArray[np.uint8]) -> npt.NDArray[np.float32]:
        request.infer([made])
        return np.array(request.get_output_tensor(0).data)

    return run


def _onnx(path: Path, threads: int | None) -> Callable[[Any], Any]:
    import onnxruntime as ort

    options = ort.SessionOptions()
    if threads:
        options.intra_op_num_threads = threads
    session = ort.InferenceSession(str(path), options, providers=ort.get_available_providers())
    name = session.get_inputs()[0].name

    def run(made: npt.NDArray[np.uint8]) -> npt.NDArray[np.float32]:
        return np.asarray(session.run(None, {name: made.transpose(0, 3, 1, 2).astype(np.float32) / 255})[0])

    return run


def unnumbered_p(detections: Iterable[Detections]) -> float:
    """Probability that the set on the table is one of red and yellow balls without numbers.

    All object balls but the eight are of one make, so their evidence adds up.
    """
    total = 0.0
    for d in detections:
        if not len(d):
            continue
        plain = d.unnumbered.max(axis=1)
        numbered = d.evidence[:, [k for k in range(1, NUMBERS) if k != 8]].max(axis=1)
        common = d.evidence[:, [0, 8]].max(axis=1)  # both sets have a cue ball and a black one
        telling = np.maximum(plain, numbered) > common
        total += float(np.clip(plain - numbered, -4, 4)[telling].sum() * 0.5)
    return float(1 / (1 + np.exp(-np.clip(total, -50, 50))))
