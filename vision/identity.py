"""Which ball is which: evidence from each ball's crop, judged beside the others in the picture, and a joint assignment.

A crop alone cannot tell a dark orange from a brown: the light of the place is unknown. So the network sees all crops of a
picture together; each is judged against the mean of all (a set function), which carries the light, the cloth and the make.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import numpy.typing as npt
from scipy.optimize import linear_sum_assignment

from calibration.errors import InputError
from vision.detections import NUMBERS, Detections, Floats
from vision.runtime import openvino

Image = npt.NDArray[np.uint8]

CROP = 32  # width of a crop, pixels
CROP_RADIUS = 10.5  # of the ball in it: a third of the crop is what lies around the ball
CLASSES = 19  # sixteen numbers, red and yellow without number, and no ball at all
RED, YELLOW, NOTHING = 16, 17, 18

STRAY = -40.0  # log-likelihood that a track is none of the numbers, beside its best one: only where numbers run out
WHOLE_TRUST = 25.0  # nats that all looks together can say against a number

#: Balls that a game is played with.
GAMES: Mapping[str, tuple[int, ...]] = {
    "8-ball": tuple(range(16)),
    "9-ball": tuple(range(10)),
    "10-ball": tuple(range(11)),
    "14.1": tuple(range(16)),
}


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

    def __call__(self, image: Image, detections: Detections) -> Detections:
        """The same balls with ``evidence``, ``unnumbered`` and a ``score`` that counts what the crop shows."""
        if not len(detections):
            return detections
        log_p = self._run(crops(image, detections.centre, detections.radius)).astype(np.float64)
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


@dataclass(slots=True)
class Assigner:
    """Numbers for tracks: each number at most once, no track changes its number within a rack.

    Looks at one ball follow each other closely and share their errors, so each counts for ``weight`` of an independent one,
    and none says more than ``trust`` nats.

    Parameters
    ----------
    numbers : those that can be on the table.
    weight, trust : as above.
    """

    numbers: Sequence[int] = tuple(range(NUMBERS))
    weight: float = 0.35
    trust: float = 5.0
    evidence: dict[Hashable, Floats] = field(default_factory=dict)

    @classmethod
    def of_game(cls, game: str) -> Assigner:
        """For the balls of a game.

        Raises
        ------
        InputError
            For a game that there is not.
        """
        if game not in GAMES:
            raise InputError(f"unknown game {game!r}: one of {', '.join(GAMES)}")
        return cls(GAMES[game])

    def add(self, track: Hashable, look: npt.ArrayLike, quality: float = 1.0) -> None:
        """Count one look (16,), log-likelihoods; ``quality`` 0 … 1 discounts a blurred or half-hidden one."""
        value = np.asarray(look, dtype=np.float64)
        value = np.clip(value - value.max(), -self.trust, 0.0)
        self.evidence[track] = self.evidence.get(track, np.zeros(NUMBERS)) + self.weight * quality * value

    def forget(self, track: Hashable) -> None:
        """Leave a track out (it was no ball). One that was pocketed stays: its number is not free again."""
        self.evidence.pop(track, None)

    def assign(self) -> dict[Hashable, tuple[int, float]]:
        """Number and probability of each track, in the likeliest assignment as a whole.

        A track that fits no number left (there are more tracks than numbers, or it is no ball) is missing from the answer.
        """
        tracks = list(self.evidence)
        if not tracks:
            return {}
        allowed = list(self.numbers)
        table = np.array([self.evidence[t] for t in tracks])[:, allowed]
        table = np.maximum(table - table.max(axis=1, keepdims=True), -WHOLE_TRUST)
        spare = np.where(np.eye(len(tracks), dtype=bool), STRAY, -1e6)
        rows, columns = linear_sum_assignment(-np.hstack([table, spare]))
        p = marginals(table)
        return {tracks[r]: (allowed[c], float(p[r, c])) for r, c in zip(rows, columns, strict=True) if c < len(allowed)}


def marginals(log_like: Floats, stray: float = STRAY) -> Floats:
    """Probability (n, m) of each number for each track when no number is given twice.

    The sum over all assignments, by dynamic programming over the sets of numbers given so far (n 2^m terms, m at most 16);
    each track may also be none of them, at a likelihood of exp(``stray``).
    """
    n, m = log_like.shape
    like = np.exp(log_like - log_like.max(axis=1, keepdims=True, initial=stray))
    none = np.exp(stray - log_like.max(axis=1, initial=stray))
    forward = np.zeros((n + 1, 2**m))
    forward[0, 0] = 1.0
    for k in range(n):
        forward[k + 1] = none[k] * forward[k]
        for j in range(m):
            old, new = (f.reshape(-1, 2, 2**j) for f in (forward[k], forward[k + 1]))
            new[:, 1] += like[k, j] * old[:, 0]
        forward[k + 1] /= forward[k + 1].sum()
    backward = np.ones(2**m)
    p = np.empty((n, m))
    for k in reversed(range(n)):
        before = none[k] * backward
        for j in range(m):
            after = backward.reshape(-1, 2, 2**j)[:, 1]
            p[k, j] = like[k, j] * float((forward[k].reshape(-1, 2, 2**j)[:, 0] * after).sum())
            before.reshape(-1, 2, 2**j)[:, 0] += like[k, j] * after
        p[k] /= p[k].sum() + none[k] * float(forward[k] @ backward)
        backward = before / before.max()
    return p


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
