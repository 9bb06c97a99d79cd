"""The command line: bad input gives one line and exit status 2, never a traceback, and nothing is left half written."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path

import av
import numpy as np
import pytest

from railbird.cli import main


def film(path: Path, pictures: int = 40, size: tuple[int, int] = (320, 180)) -> Path:
    """A video in which there is no table."""
    rng = np.random.default_rng(1)
    with av.open(str(path), "w") as container:
        stream = container.add_stream("libx264", rate=30)
        stream.width, stream.height = size
        stream.pix_fmt = "yuv420p"
        stream.codec_context.time_base = Fraction(1, 30)
        wall = rng.integers(0, 255, (size[1], size[0], 3), np.uint8)
        for k in range(pictures):
            frame = av.VideoFrame.from_ndarray(np.roll(wall, k, axis=1), format="bgr24")
            frame.pts, frame.time_base = k, Fraction(1, 30)
            container.mux(stream.encode(frame))
        container.mux(stream.encode())
    return path


def told(capsys: pytest.CaptureFixture[str], *argv: str) -> str:
    """The one line on stderr of a call that must fail with status 2."""
    assert main(list(argv)) == 2
    out, err = capsys.readouterr()
    assert out == ""
    lines = err.strip().splitlines()
    assert len(lines) == 1
    assert "Traceback" not in err
    return lines[0]


def test_no_such_file(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert "no such file" in told(capsys, "analyse", str(tmp_path / "none.mp4"), "--game", "9-ball")


def test_not_a_video(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    text = tmp_path / "text.mp4"
    text.write_text("no pictures in here\n" * 100)
    assert "text.mp4" in told(capsys, "analyse", str(text), "--game", "9-ball", "--out", str(tmp_path / "o"))


def test_empty_file(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    (tmp_path / "empty.mp4").touch()
    assert "empty" in told(
        capsys, "analyse", str(tmp_path / "empty.mp4"), "--game", "9-ball", "--out", str(tmp_path / "o")
    )


def test_a_video_without_a_table(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    clip, out = film(tmp_path / "wall.mp4"), tmp_path / "out"
    assert "no table" in told(capsys, "analyse", str(clip), "--game", "9-ball", "--out", str(out))
    assert list(out.iterdir()) == []


@pytest.mark.parametrize(
    ("argv", "words"),
    [
        (["analyse", "x.mp4", "--game", "snooker"], "8-ball, 9-ball, 10-ball, 14.1"),
        (["analyse", "x.mp4", "--game", "9-ball", "--rules", "bca"], "wpa-2025"),
        (["analyse", "x.mp4", "--game", "9-ball", "--players", "Ann,Ann"], "two different names"),
        (["analyse", "x.mp4"], "--game"),
        (["analyse"], "video"),
        (["nonsense"], "nonsense"),
        (["check", "x.mp4", "--at", "soon", "--game", "9-ball"], "--at"),
        (["check", "x.mp4", "--at", "3", "--game", "9-ball", "--question", "who"], "first-contact"),
        (["calibrate", "x.png", "--corners", "1,2", "3,4", "5", "7,8"], "X,Y"),
        (["render", "--out", "o"], "--dataset"),
        (["render", "--out", "o", "--dataset", "1", "--size", "big"], "WIDTHxHEIGHT"),
        (["report", "nowhere/match.json"], "no such file"),
        (["evaluate", "nowhere/match.json", "nowhere/truth.json"], "no such file"),
    ],
)
def test_words_that_are_off(capsys: pytest.CaptureFixture[str], argv: list[str], words: str) -> None:
    assert words in told(capsys, *argv)


def test_a_table_of_another_videos_size(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    clip = film(tmp_path / "wall.mp4")
    table = tmp_path / "table.json"
    table.write_text(
        json.dumps({"format": "railbird/1", "source": {"file": "x", "width": 1920, "height": 1080}, "table": {}})
    )
    line = told(capsys, "analyse", str(clip), "--game", "9-ball", "--table", str(table), "--out", str(tmp_path / "o"))
    assert "1920x1080" in line
    assert "320x180" in line


def test_a_folder_that_cannot_be_written(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    clip = film(tmp_path / "wall.mp4")
    assert "--out" in told(capsys, "analyse", str(clip), "--game", "9-ball", "--out", str(tmp_path / "file" / "out"))


def test_help_names_every_command(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--help"]) == 0
    text = capsys.readouterr().out
    for command in ("analyse", "check", "live", "adjudicate", "calibrate", "detect", "evaluate", "bench", "report"):
        assert command in text
