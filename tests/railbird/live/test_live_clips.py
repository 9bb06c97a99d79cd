"""Clips: a look back, every frame of the shot, and which of them are kept."""

from __future__ import annotations

import time
from pathlib import Path

import av
import numpy as np

from railbird.live.clips import ClipRecorder
from railbird.live.moments import moment_strip
from tests.railbird.live.drawn import HEIGHT, WIDTH
from vision.video import Frame


def test_a_clip_begins_before_the_shot_and_plays(tmp_path: Path) -> None:
    recorder = ClipRecorder(320)
    written: list[tuple[Path, float]] = []
    path = tmp_path / "clip.mp4"
    rng = np.random.default_rng(1)
    for n in range(90):
        image = rng.integers(0, 255, (HEIGHT, WIDTH, 3), dtype=np.uint8)
        if n == 45:
            recorder.begin(path)
        recorder.frame(Frame(n, 100 + n / 30, None, image))
        time.sleep(0.002)
    recorder.finish(101.5, lambda file, began_s: written.append((file, began_s)))
    recorder.close()
    assert written[0][0] == path
    assert 100 + 45 / 30 - 0.85 < written[0][1] < 100 + 45 / 30
    with av.open(str(path)) as box:
        stream = box.streams.video[0]
        times = [float(frame.time) for frame in box.decode(stream)]
        assert (stream.width, stream.height) == (320, 180)
    assert len(times) + recorder.left_out == 45 + 24 or len(times) + recorder.left_out == 45 + 25
    assert times[0] == 0
    strip = moment_strip(path, 102.0, began_s=written[0][1])
    assert strip[:2] == b"\xff\xd8"


def test_motion_that_was_no_shot_leaves_no_clip(tmp_path: Path) -> None:
    recorder = ClipRecorder(320)
    recorder.frame(Frame(0, 0.0, None, np.zeros((HEIGHT, WIDTH, 3), np.uint8)))
    recorder.begin(tmp_path / "x.mp4")
    recorder.frame(Frame(1, 0.1, None, np.zeros((HEIGHT, WIDTH, 3), np.uint8)))
    recorder.drop()
    recorder.close()
    assert not (tmp_path / "x.mp4").exists()
