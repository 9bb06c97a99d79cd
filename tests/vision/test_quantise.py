"""Eight-bit weights: written whole, read by the detector, and asked for with a reason where something is missing."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from calibration.errors import InputError
from tests.vision.picture import table
from vision import yolo
from vision.quantise import choose, quantise

BALLS = [(70.0, 60.0, 9.0), (150.0, 90.0, 9.0), (240.0, 130.0, 9.0), (112.0, 150.0, 9.0)]
COLOURS = [(40, 40, 200), (40, 200, 230), (225, 235, 240), (25, 25, 25)]


def test_made_weights_find_the_balls(tmp_path: Path) -> None:
    pytest.importorskip("nncf", reason="eight-bit weights are made with the extra yolo")
    image = table(BALLS, COLOURS, size=(320, 192))
    out = quantise(
        yolo.weights_folder() / "detector.onnx", [image, image[:, ::-1].copy()], tmp_path / "w" / "detector-int8.xml"
    )
    assert sorted(p.name for p in out.parent.iterdir()) == ["detector-int8.bin", "detector-int8.xml"]
    found = yolo.load(out.parent, threads=1)(image)
    found = found[found.score > 0.4]
    assert len(found) == len(BALLS)
    for x, y, _ in BALLS:
        assert np.hypot(*(found.centre - (x, y)).T).min() < 1.0


def test_no_pictures_is_said(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no pictures"):
        quantise(yolo.weights_folder() / "detector.onnx", [], tmp_path / "x.xml")
    assert not list(tmp_path.iterdir())


def test_the_choice_is_the_same_for_the_same_seed() -> None:
    paths = [Path(f"{k}.jpg") for k in range(50)]
    assert choose(paths, 9, 1) == choose(reversed(paths), 9, 1)
    assert len(set(choose(paths, 9, 1))) == 9
    assert choose(paths, 9, 1) != choose(paths, 9, 2)


def test_the_networks_run_without_telemetry() -> None:
    code = (
        "import sys; from vision.seer import Seer; Seer(threads=1); "
        "print([m for m in sys.modules if 'telemetry' in m or m in ('requests', 'urllib3')])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
