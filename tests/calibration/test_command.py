"""`railbird calibrate`: what it writes, and one line where it cannot."""

from __future__ import annotations

import json
from pathlib import Path

import cv2
import numpy as np
import pytest

from calibration.camera import Camera
from calibration.errors import InputError
from calibration.table import CORNERS, Table
from railbird.calibrate import run
from tests.calibration.painted import paint

CAMERA = Camera.looking([0.6, -2.2, 2.0], [0.63, 1.1, 0], width=960, height=540, focal=930)


@pytest.fixture(scope="module")
def picture(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("calibrate") / "table.png"
    cv2.imwrite(str(path), paint(CAMERA, Table()))
    return path


def test_writes_table_and_preview(picture: Path, tmp_path: Path) -> None:
    out = tmp_path / "found.json"
    run(str(picture), None, None, 0, out)
    document = json.loads(out.read_text())
    assert document["format"] == "railbird/1"
    assert document["source"] == {"file": "table.png", "width": 960, "height": 540}
    assert list(document["table"]["corners_px"]) == list(CORNERS)
    assert cv2.imread(str(tmp_path / "found.png")).shape == (540, 960, 3)
    assert not [p for p in tmp_path.iterdir() if p.name.startswith(".")]


def test_corners_by_hand_need_no_search(picture: Path, tmp_path: Path) -> None:
    corners = CAMERA.project(list(Table().corners.values()), Table().nose_height).tolist()
    document = run(str(picture), 2.54, corners[::-1], 0, tmp_path / "t.json")
    assert "corners-by-hand" in document["table"]["notes"]
    found = np.array(list(document["table"]["corners_px"].values()))
    assert max(np.linalg.norm(found - c, axis=1).min() for c in corners) < 3


def test_a_picture_without_a_table_writes_nothing(tmp_path: Path) -> None:
    plain = tmp_path / "plain.png"
    cv2.imwrite(str(plain), np.full((300, 400, 3), 90, np.uint8))
    out = tmp_path / "t.json"
    with pytest.raises(InputError, match=r"plain\.png"):
        run(str(plain), None, None, 0, out)
    assert not out.exists()


def test_a_file_that_is_no_picture(tmp_path: Path) -> None:
    fake = tmp_path / "fake.png"
    fake.write_bytes(b"no picture")
    with pytest.raises(InputError, match=r"fake\.png"):
        run(str(fake), None, None, 0, tmp_path / "t.json")
