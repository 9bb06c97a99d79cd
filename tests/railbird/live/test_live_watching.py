"""What happens over a table that is being watched: shots, faults, bumps, light, people in the way, racks."""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import pytest

from calibration.result import Calibration
from railbird.live.camera import LiveCamera
from railbird.live.metrics import Metrics
from railbird.live.seen import CameraState
from railbird.live.solver import Solver
from tests.railbird.live.drawn import ONE_SHOT, STILL, TABLE, TWO_SHOTS, Drawn, Ears, overhead, run
from tests.railbird.live.rig import club
from tracking.observations import Observation
from tracking.watcher import ShotWatcher
from vision.detections import Detections
from vision.video import Frame


def test_shots_reach_the_desk_with_clip_and_states(tmp_path: Path, drawn_table: None) -> None:
    source = Drawn(TWO_SHOTS, 15.0)
    metrics = Metrics()
    settings = club(tmp_path, camera={"source": "drawn.mp4", "length_m": 2.54})
    camera = LiveCamera(settings, metrics, see=source.see, opened=source.open, pace=None)
    ears = Ears(tmp_path)
    run(camera, ears, lambda: CameraState.ENDED in ears.states, 60)
    assert ears.states[:4] == [CameraState.CALIBRATING, CameraState.READY, CameraState.SHOT, CameraState.READY]
    assert ears.states[-1] is CameraState.ENDED
    assert ears.table["length_m"] == pytest.approx(2.54)
    assert len(ears.shots) == 2
    shot = ears.shots[0].shot
    kinds = [type(event).__name__ for event in shot.events]
    assert kinds[:2] == ["Strike", "Contact"]
    assert shot.events[1].balls == (0, 1)  # type: ignore[union-attr]
    assert shot.start_s == pytest.approx(2.0, abs=0.05)
    assert {0, 1, 5, 9} == set(ears.balls)
    assert [number for number, _ in ears.clips] == [1, 2]
    assert all(file.stat().st_size > 1000 for _, file in ears.clips)
    assert metrics.get("frames_total") == 450
    assert metrics.get("frames_dropped_total") == 0
    assert 0 < metrics.get("looks_total") < 450  # looks only where something moves
    assert camera.picture() is not None


def test_a_slow_look_drops_frames_and_the_shot_is_still_seen(tmp_path: Path, drawn_table: None) -> None:
    source = Drawn(ONE_SHOT, 8.5)

    def slow(frame: Frame, region: tuple[int, int, int, int]) -> Detections:
        time.sleep(0.1)
        return source.see(frame, region)

    metrics = Metrics()
    settings = club(tmp_path, camera={"source": "drawn.mp4", "length_m": 2.54}, keep={"clips": False})
    camera = LiveCamera(settings, metrics, see=slow, opened=source.open, pace=0.5)
    ears = Ears(tmp_path)
    run(camera, ears, lambda: CameraState.ENDED in ears.states, 40)
    assert metrics.get("frames_dropped_total") > 10
    assert len(ears.shots) == 1
    contacts = [e for e in ears.shots[0].shot.events if type(e).__name__ == "Contact"]
    assert [e.balls for e in contacts][:1] == [(0, 1)]


def test_a_fault_in_one_shot_does_not_end_the_evening(
    tmp_path: Path, drawn_table: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = Drawn(TWO_SHOTS, 15.0)
    settings = club(tmp_path, camera={"source": "drawn.mp4", "length_m": 2.54}, keep={"clips": False})
    camera = LiveCamera(settings, see=source.see, opened=source.open, pace=None, solver=Solver(apart=False))
    ears = Ears(tmp_path)
    real, fails = ShotWatcher.push, iter([True])

    def push(self: ShotWatcher, observation: Observation) -> Any:
        if observation.t_s > 3.0 and next(fails, False):
            raise ZeroDivisionError("a fault")
        return real(self, observation)

    monkeypatch.setattr(ShotWatcher, "push", push)
    run(camera, ears, lambda: CameraState.ENDED in ears.states, 60)
    assert len(ears.faults) == 1
    assert camera.metrics.get("faults_total") == 1
    assert any(seen.shot.start_s > 8.9 for seen in ears.shots)


def bumped(t: float, image: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    return np.roll(image, (9, 14), axis=(0, 1)) if t > 4.0 else image


def brighter(t: float, image: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    return np.clip(image * 0.6, 0, 255).astype(np.uint8) if t > 4.0 else image


def somebody_leans_over(t: float, image: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    if not 4.0 < t < 7.0:
        return image
    covered = image.copy()
    cv2.ellipse(covered, (430, 150), (70, 90), 20, 0, 360, (60, 30, 150), -1)
    return covered


def test_a_bump_is_noticed_and_the_table_found_again(
    tmp_path: Path, drawn_table: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    from railbird import stage

    source = Drawn(STILL, 9.0)
    source.spoil = bumped
    found = iter([overhead()])

    def find(pictures: Any, length_m: float | None = None) -> Calibration:
        first = next(found, None)
        if first is not None:
            return first
        before = overhead()
        view = replace(before.camera, centre=before.camera.centre + np.array([14.0, 9.0]))
        source.calibration = replace(before, camera=view)
        return source.calibration

    monkeypatch.setattr(stage, "find_table", find)
    settings = club(tmp_path, camera={"source": "drawn.mp4", "length_m": 2.54}, keep={"clips": False})
    camera = LiveCamera(settings, see=source.see, opened=source.open, pace=None)
    ears = Ears(tmp_path)
    run(camera, ears, lambda: CameraState.ENDED in ears.states, 60)
    assert CameraState.NO_TABLE in ears.states
    assert ears.states[-2] is CameraState.READY
    assert camera.metrics.get("recalibrations_total") >= 1
    assert ears.shots == []  # a bump is no shot


def test_another_light_is_no_bump(tmp_path: Path, drawn_table: None) -> None:
    source = Drawn(STILL, 9.0)
    source.spoil = brighter
    settings = club(tmp_path, camera={"source": "drawn.mp4", "length_m": 2.54}, keep={"clips": False})
    camera = LiveCamera(settings, see=source.see, opened=source.open, pace=None)
    ears = Ears(tmp_path)
    run(camera, ears, lambda: CameraState.ENDED in ears.states, 60)
    assert CameraState.NO_TABLE not in ears.states
    assert camera.metrics.get("recalibrations_total") == 0
    assert ears.shots == []


def test_somebody_in_the_way_is_told_and_is_no_shot(tmp_path: Path, drawn_table: None) -> None:
    source = Drawn(STILL, 10.0)
    source.spoil = somebody_leans_over
    settings = club(tmp_path, camera={"source": "drawn.mp4", "length_m": 2.54}, keep={"clips": False})
    camera = LiveCamera(settings, see=source.see, opened=source.open, pace=None)
    ears = Ears(tmp_path)
    run(camera, ears, lambda: CameraState.ENDED in ears.states, 60)
    assert CameraState.OCCLUDED in ears.states
    assert ears.states[-2] is CameraState.READY
    assert ears.shots == []


def test_a_rack_at_the_other_end_turns_the_table_and_is_no_shot(tmp_path: Path, drawn_table: None) -> None:
    """The look that showed the rack is turned with the table: as it was, it would put every ball elsewhere, which is motion."""
    x, d = TABLE.long_string, TABLE.ball_m
    y = TABLE.head_string
    racked = {0: (0.6, 2.0)}
    for row in range(5):
        for k in range(row + 1):
            racked[len(racked)] = (x + (k - row / 2) * d * 1.01, y - row * d * 0.88)
    source = Drawn(lambda t: racked, 4.0)
    settings = club(tmp_path, camera={"source": "drawn.mp4", "length_m": 2.54}, keep={"clips": False})
    camera = LiveCamera(settings, see=source.see, opened=source.open, pace=None)
    ears = Ears(tmp_path)
    ears.game, ears.rack_due = "8-ball", True
    run(camera, ears, lambda: CameraState.ENDED in ears.states, 120)
    assert CameraState.SHOT not in ears.states
    assert ears.shots == []
    assert ears.balls[1] == pytest.approx((TABLE.width_m - x, TABLE.length_m - y), abs=0.003)
    assert ears.balls[0] == pytest.approx((TABLE.width_m - 0.6, 0.54), abs=0.003)


def test_after_a_restart_in_mid_rack_only_the_balls_in_play_have_numbers(
    tmp_path: Path, drawn_table: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is down cannot be the name of a ball on the table, however much one looks like it; what comes back can."""
    from tests.railbird.live.rig import parts

    opening = {"game": "9-ball", "rules": "wpa-2025", "players": ["Ann", "Bo"], "race_to": 3}
    things = parts(tmp_path, opening=opening)
    desk = things.desk
    assert desk.session is not None
    assert desk.in_play == frozenset(range(10))  # a break is due
    desk.session.set_state("referee", on_table=[0, 1, 5, 9])
    assert desk.in_play == {0, 1, 5, 9}

    source = Drawn(STILL, 8.0)
    clear = source.see

    def see(frame: Frame, region: tuple[int, int, int, int]) -> Detections:
        found = clear(frame, region)
        found.evidence[found.evidence[:, 5] == 0, 4] = 1.0  # the 5 looks more like the 4
        if frame.t_s > 4.0 and 4 not in desk.session.state.on_table:  # type: ignore[union-attr]
            assert things.desk.state()["balls"].keys() == {"0", "1", "5", "9"}
            desk.session.set_state("referee", on_table=[0, 1, 4, 9])  # type: ignore[union-attr]
        return found

    camera = LiveCamera(
        club(tmp_path, camera={"source": "drawn.mp4", "length_m": 2.54}, keep={"clips": False}),
        things.metrics,
        see=see,
        opened=source.open,
        pace=None,
    )
    camera.start(desk)
    end = time.monotonic() + 60
    while desk.camera_state is not CameraState.ENDED and time.monotonic() < end:
        time.sleep(0.05)
    camera.stop()
    assert things.metrics.get("faults_total") == 0
    assert desk.state()["balls"].keys() == {"0", "1", "4", "9"}
    things.store.close()
