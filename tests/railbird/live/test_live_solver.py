"""Shots are worked out beside the eyes: in order, none lost, whatever becomes of the process that does it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import av
import pytest

from railbird.live import solver as solving
from railbird.live.camera import LiveCamera
from railbird.live.metrics import Metrics
from railbird.live.seen import CameraState
from railbird.live.solver import Solver, Worked
from tests.railbird.live.drawn import TABLE, TWO_SHOTS, Drawn, Ears, run, shots_at
from tests.railbird.live.rig import club
from tracking.observations import Observation
from tracking.shots import SeenShot
from tracking.watcher import ShotWatcher
from vision.video import Frame


def looks(places: Callable[[float], dict[int, tuple[float, float]]], seconds: float) -> Iterator[Observation]:
    """What the eye would make of drawn frames, every one of them looked at."""
    from railbird.eye import Eye

    source = Drawn(places, seconds)
    eye = Eye(source.calibration, source.see)
    for frame in source.open("drawn").__iter__():
        yield eye.look(frame)


class Told:
    """Who listens to a solver."""

    def __init__(self, solver: Solver) -> None:
        self.shots: list[SeenShot] = []
        self.faults: list[str] = []
        solver.listen(self._take, lambda t_s, text: self.faults.append(text))

    def _take(self, seen: SeenShot, worked: Worked) -> None:
        assert worked.look_s >= seen.shot.end_s
        assert worked.cpu_s > 0
        self.shots.append(seen)


@pytest.fixture
def apart() -> Iterator[Solver]:
    solver = Solver()
    yield solver
    solver.close(1.0)


def gone(process: int) -> bool:
    """Whether a process has ended (one that nobody has waited for yet is a zombie)."""
    try:
        return Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()[0] == "Z"
    except OSError:
        return True


def wait(true: Callable[[], Any], seconds: float) -> bool:
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if true():
            return True
        time.sleep(0.02)
    return False


def test_another_process_gives_the_shots_that_this_one_would(apart: Solver) -> None:
    told = Told(apart)
    apart.anew(TABLE, [0, *range(1, 10)])
    here = ShotWatcher(TABLE, game_balls=[0, *range(1, 10)])
    expected = []
    for look in looks(TWO_SHOTS, 15.0):
        expected += here.push(look)
        apart.push(look)
    assert apart.settle(60)
    assert len(expected) == 2
    assert [s.shot for s in told.shots] == [s.shot for s in expected]
    assert apart.idle
    assert set(apart.balls) == {0, 1, 5, 9}
    assert apart.memory_bytes() > 20 << 20
    assert told.faults == []


class Slow:
    """Holds up the working-out of the first shot until it is let go."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.at_work, self.go = threading.Event(), threading.Event()
        real = ShotWatcher.push

        def push(watcher: ShotWatcher, observation: Observation) -> list[SeenShot]:
            shots = real(watcher, observation)
            if shots:
                self.at_work.set()
                assert self.go.wait(60)
            return shots

        monkeypatch.setattr(ShotWatcher, "push", push)


def test_a_shot_that_begins_while_the_last_is_worked_out_is_not_lost(monkeypatch: pytest.MonkeyPatch) -> None:
    slow = Slow(monkeypatch)
    solver = Solver(apart=False)
    told = Told(solver)
    solver.anew(TABLE, [0, *range(1, 10)])
    for look in looks(TWO_SHOTS, 15.0):
        solver.push(look)  # never waits for the shot that is in work
    assert slow.at_work.wait(30)
    assert told.shots == []
    assert solver.moving  # nobody is told that the table is ready before the ruling
    assert solver.waiting > 50
    assert not solver.idle
    slow.go.set()
    assert solver.settle(60)
    assert [round(s.shot.start_s) for s in told.shots] == [2, 9]
    assert solver.idle
    solver.close()


def test_where_very_many_looks_wait_the_camera_does(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(solving, "WAITING", 5)
    slow = Slow(monkeypatch)
    solver = Solver(apart=False)
    told = Told(solver)
    solver.anew(TABLE, [0, *range(1, 10)])
    pushed: list[float] = []

    def push() -> None:
        for look in looks(shots_at((2.0, 1.0), (9.0, 0.75), period=15.0), 45.0):
            solver.push(look)
            pushed.append(look.t_s)

    thread = threading.Thread(target=push, daemon=True)
    thread.start()
    assert slow.at_work.wait(30)
    wait(lambda: False, 2.0)
    before = len(pushed)
    wait(lambda: False, 1.0)
    assert len(pushed) == before < 1350  # the pipe holds some more, not all
    slow.go.set()
    thread.join(120)
    assert solver.settle(60)
    assert len(told.shots) == 6
    solver.close()


def test_a_process_that_dies_costs_a_shot_and_is_started_again(apart: Solver, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(solving, "AGAIN_S", 0.0)
    told = Told(apart)
    apart.anew(TABLE, [0, *range(1, 10)])
    seen = list(looks(TWO_SHOTS, 15.0))
    for look in seen[:75]:
        apart.push(look)
    assert apart.settle(60)
    assert apart.moving
    os.kill(apart._process.pid, signal.SIGKILL)
    assert wait(lambda: told.faults, 20)
    assert not apart.settle(1)
    for look in seen[200:]:
        apart.push(look)
    assert apart.settle(60)
    assert [round(s.shot.start_s) for s in told.shots] == [9]
    assert len(told.faults) == 1


def test_the_process_ends_when_the_program_is_killed() -> None:
    code = "from railbird.live.solver import Solver; import time; s = Solver(); s.wait_ready(60); print(s._process.pid, flush=True); time.sleep(60)"
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE) as program:
        assert program.stdout is not None
        pid = int(program.stdout.readline())
        assert not gone(pid)
        program.kill()
    assert wait(lambda: gone(pid), 10)


def test_each_of_two_shots_in_work_gets_its_own_clip(
    tmp_path: Path, drawn_table: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first shot is still being worked out when the second is played."""
    slow = Slow(monkeypatch)
    source = Drawn(shots_at((2.0, 0.6), (9.0, 0.6)), 12.5)
    clear = source.see
    until_then: list[CameraState] = []

    def see(frame: Frame, region: tuple[int, int, int, int]) -> Any:
        if frame.t_s > 10.0 and not until_then:
            until_then.extend(ears.states)
            slow.go.set()
        return clear(frame, region)

    settings = club(tmp_path, camera={"source": "drawn.mp4", "length_m": 2.54})
    metrics = Metrics()
    camera = LiveCamera(settings, metrics, see=see, opened=source.open, pace=1.0, solver=Solver(apart=False))
    ears = Ears(tmp_path)
    began: dict[int, float] = {}
    names = iter(range(9))
    monkeypatch.setattr(ears, "clip_file", lambda: tmp_path / f"clip-{next(names)}.mp4")
    monkeypatch.setattr(ears, "on_clip", lambda match, shot, file, began_s: began.update({shot: (began_s, file)}))
    run(camera, ears, lambda: CameraState.ENDED in ears.states, 60)
    assert [round(seen.shot.start_s) for seen in ears.shots] == [2, 9]
    # not ready: the first shot was in work until the second was played
    assert CameraState.READY not in until_then[until_then.index(CameraState.SHOT) :]
    assert set(began) == {1, 2}
    for number, start_s in ((1, 2.0), (2, 9.0)):
        began_s, file = began[number]
        with av.open(str(file)) as box:
            lasts_s = float(max(frame.time for frame in box.decode(video=0)))
        assert began_s < start_s < began_s + lasts_s < start_s + 7.0  # not on into the next shot
    assert len(list(tmp_path.glob("clip-*.mp4"))) == 2
