"""Eight-bit weights for OpenVINO: half the time of a look on plain CPUs, the same balls (docs/training.md has both scores).

NNCF measures the range of every activation on pictures of tables and writes OpenVINO's own format. ONNX Runtime and PyTorch go
on with the network as it was trained.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable
from pathlib import Path

import numpy as np
import numpy.typing as npt

from calibration.errors import InputError, MissingExtra
from vision import yolo
from vision.runtime import openvino

PICTURES = 120  # enough for ranges; more change nothing


def choose(paths: Iterable[Path], count: int = PICTURES, seed: int = 0) -> list[Path]:
    """``count`` of the pictures, at random, the same for the same seed."""
    every = sorted(paths)
    picked = np.random.default_rng(seed).permutation(len(every))[:count]
    return [every[k] for k in picked]


def quantise(
    network: Path,
    pictures: Iterable[npt.NDArray[np.uint8]],
    out: Path,
    pixels: int = yolo.VIDEO_PIXELS,
) -> Path:
    """Write ``out`` (``.xml``, with its ``.bin`` beside it) from a detector's ``.onnx``.

    Parameters
    ----------
    network : the raw head as `vision.network.export` writes it.
    pictures : BGR pictures like those it will see; each is scaled as for a video.
    out : where to write; both files are replaced whole.
    pixels : see `vision.yolo.Detector`.

    Raises
    ------
    MissingExtra
        Where NNCF is not installed.
    InputError
        Where there are no pictures.
    """
    seen = [yolo.planes(yolo.fit(picture, pixels)[0]) for picture in pictures]
    if not seen:
        raise InputError("no pictures to measure the ranges of the network on; give a folder of labelled pictures")
    try:
        import nncf
    except ImportError:
        raise MissingExtra("eight-bit weights", "yolo") from None
    ov = openvino()
    logging.getLogger("nncf").setLevel(logging.ERROR)
    model = ov.Core().read_model(network)
    small = nncf.quantize(
        model,
        nncf.Dataset(seen),
        preset=nncf.QuantizationPreset.PERFORMANCE,
        target_device=nncf.TargetDevice.CPU,
        subset_size=len(seen),
    )
    out.parent.mkdir(parents=True, exist_ok=True)
    part = out.with_name(f"{out.stem}.part.xml")
    ov.save_model(small, part)
    part.with_suffix(".bin").replace(out.with_suffix(".bin"))
    part.replace(out)
    return out
