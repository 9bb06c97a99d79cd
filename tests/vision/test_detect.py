"""``railbird detect``: the document, what is drawn, and bad input."""

from __future__ import annotations

import json
from pathlib import Path

import cv2
import numpy as np
import pytest

from calibration.errors import InputError
from railbird.detect import entries, numbers, run
from tests.vision.picture import table
from vision.detections import Detections

BALLS = [(70.0, 60.0, 9.0), (150.0, 90.0, 9.0), (240.0, 130.0, 9.0), (112.0, 150.0, 9.0)]
COLOURS = [(40, 40, 200), (40, 200, 230), (225, 235, 240), (25, 25, 25)]


def test_a_folder_with_folders(tmp_path: Path) -> None:
    (tmp_path / "in" / "deep").mkdir(parents=True)
    image = table(BALLS, COLOURS, size=(320, 192))
    cv2.imwrite(str(tmp_path / "in" / "a.png"), image)
    cv2.imwrite(str(tmp_path / "in" / "deep" / "b.jpg"), image)
    (tmp_path / "in" / "notes.txt").write_text("no picture")
    out = tmp_path / "made" / "found.json"
    run(str(tmp_path / "in"), out=out, draw=tmp_path / "drawn")
    document = json.loads(out.read_text())
    assert document["format"] == "railbird/1"
    assert [i["file_name"] for i in document["images"]] == ["a.png", "deep/b.jpg"]
    assert document["images"][0]["width"] == 320
    assert [c["name"] for c in document["categories"]] == ["cue", *map(str, range(1, 16))]
    sure = [a for a in document["annotations"] if a["image_id"] == 0 and a["ball_p"] > 0.3]
    assert len(sure) >= 3
    for a in sure:
        assert a["kind"] in {"cue", "solid", "stripe", "eight"}
        assert 0 <= a["category_id"] <= 15
        x, y, w, h = a["bbox"]
        gap = min(np.hypot(x + w / 2 - 0.5 - u, y + h / 2 - 0.5 - v) for u, v, _ in BALLS)
        assert gap < 2
        assert 14 < w < 24
        assert h == pytest.approx(w)
    assert (tmp_path / "drawn" / "deep" / "b.jpg").exists()


@pytest.mark.parametrize("make", ["missing", "empty", "broken"])
def test_bad_input_is_named(tmp_path: Path, make: str) -> None:
    source = tmp_path / "x"
    if make == "empty":
        source.mkdir()
    elif make == "broken":
        source = tmp_path / "x.png"
        source.write_bytes(b"not a picture")
    with pytest.raises(InputError, match="x"):
        run(str(source), out=tmp_path / "out.json")


def ball(n: int, **columns: np.ndarray) -> Detections:
    return Detections.of(np.arange(2 * n).reshape(n, 2) * 50.0, np.full(n, 10.0), np.full(n, 0.9)).with_(**columns)


def test_a_number_is_given_once() -> None:
    evidence = np.full((2, 16), -9.0)
    evidence[0, [3, 7]] = [0.0, -4.0]
    evidence[1, [3, 7]] = [0.0, -0.7]
    p = numbers(ball(2, evidence=evidence))
    assert p[0].argmax() == 3
    assert p[1].argmax() == 7


def test_balls_without_numbers() -> None:
    evidence = np.full((6, 16), -9.0)
    unnumbered = np.full((6, 2), -9.0)
    unnumbered[[0, 1], 0] = 0
    unnumbered[[2, 3], 1] = 0
    evidence[4, 0] = evidence[5, 8] = 0
    made = entries(ball(6, evidence=evidence, unnumbered=unnumbered))
    assert [m["kind"] for m in made] == ["solid", "solid", "stripe", "stripe", "cue", "eight"]
    assert [m["category_id"] for m in made] == [1, 1, 9, 9, 0, 8]
    assert [m.get("number_known", True) for m in made] == [False] * 4 + [True] * 2
