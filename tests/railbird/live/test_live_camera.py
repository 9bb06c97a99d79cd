"""The camera's stream: newest frame wins, streams come back, and memory stays."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from railbird.live import camera as live_camera
from railbird.live import mailbox
from railbird.live.camera import LiveCamera
from railbird.live.mailbox import Mailbox
from railbird.live.metrics import Metrics
from railbird.live.seen import CameraState
from tests.railbird.live.drawn import ONE_SHOT, STILL, Drawn, Ears, run
from tests.railbird.live.rig import club
from tests.railbird.live.soak import rise, soak
from vision.video import Frame


def test_the_newest_frames_win_and_drops_are_counted() -> None:
    box = Mailbox(holds=3)
    for n in range(10):
        box.give(Frame(n, n / 30, None, np.zeros((2, 2, 3), np.uint8)))
    box.close()
    assert [frame.index for frame in box] == [7, 8, 9]
    assert (box.given, box.dropped) == (10, 7)
    assert not box.give(Frame(11, 1.0, None, np.zeros((2, 2, 3), np.uint8)))


def test_a_patient_mailbox_drops_nothing() -> None:
    box = Mailbox(holds=2, patient=True)

    def give() -> None:
        for n in range(50):
            box.give(Frame(n, n / 30, None, np.zeros((2, 2, 3), np.uint8)))
        box.close()

    threading.Thread(target=give, daemon=True).start()
    assert [frame.index for frame in box] == list(range(50))
    assert box.dropped == 0


def test_a_lost_stream_is_opened_again_and_time_goes_on(
    tmp_path: Path, drawn_table: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(live_camera, "WAIT_S", (0.1, 0.2))
    source = Drawn(ONE_SHOT, 8.5, fail_after=60)
    metrics = Metrics()
    settings = club(tmp_path, camera={"source": "rtsp://camera/1", "length_m": 2.54})
    camera = LiveCamera(settings, metrics, see=source.see, opened=source.open, pace=None)
    ears = Ears(tmp_path)
    run(camera, ears, lambda: len(ears.shots) >= 1, 60)
    assert CameraState.LOST in ears.states
    assert ears.states.count(CameraState.CALIBRATING) >= 2
    assert source.opened >= 3  # the first, one that failed, one that held
    assert metrics.get("reconnects_total") >= 2
    assert len(ears.shots) >= 1
    assert ears.shots[0].shot.start_s > 2.0 + 0.3  # our clock went on while the stream's began anew


def test_a_camera_that_falls_silent_is_taken_for_dead(
    tmp_path: Path, drawn_table: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(mailbox, "SILENT_S", 0.5)
    monkeypatch.setattr(live_camera, "WAIT_S", (0.1,))
    source = Drawn(STILL, 2.5)
    woken = threading.Event()
    frames = source._frames

    def stuck(count: int) -> Iterator[Frame]:
        yield from frames(count)
        if source.opened == 1:
            woken.wait(20)

    monkeypatch.setattr(source, "_frames", stuck)
    settings = club(tmp_path, camera={"source": "rtsp://camera/1", "length_m": 2.54}, keep={"clips": False})
    camera = LiveCamera(settings, see=source.see, opened=source.open, pace=None)
    ears = Ears(tmp_path)
    run(camera, ears, lambda: source.opened >= 2 and CameraState.LOST in ears.states, 30)
    woken.set()
    assert CameraState.LOST in ears.states
    assert source.opened >= 2


@pytest.mark.slow
def test_memory_stays_flat_over_eight_hours_of_frames(tmp_path: Path) -> None:
    """Eight hours at 30 frames/s as fast as they are looked at; memory within 50 MB after the first half hour."""
    rows = soak(tmp_path, 8.0, every_s=10.0, period_s=60.0, most_s=1e9, out=None)
    assert rows[-1].hours > 7.9
    assert rows[-1].shots > 900
    assert rise(rows) < 50
