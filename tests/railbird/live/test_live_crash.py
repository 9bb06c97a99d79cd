"""A process that is killed in mid-rack loses nothing that was announced."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.railbird.live.rig import OPENING, free_port

ROOT = Path(__file__).parents[3]


class Process:
    """``railbird live`` with a scripted camera, in a process of its own."""

    def __init__(self, folder: Path, port: int) -> None:
        command = [sys.executable, "-m", "tests.railbird.live.rig", str(folder), str(port), json.dumps(OPENING)]
        self.url = f"http://127.0.0.1:{port}"
        self.child = subprocess.Popen(
            command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
        )
        for _ in range(600):
            try:
                if httpx.get(f"{self.url}/health", timeout=2).status_code == 200:
                    return
            except httpx.TransportError:
                time.sleep(0.1)
        raise RuntimeError("the process did not start")

    def play(self, *command: Any) -> None:
        assert self.child.stdin is not None
        assert self.child.stdout is not None
        self.child.stdin.write(json.dumps(command) + "\n")
        self.child.stdin.flush()
        assert self.child.stdout.readline() == "ok\n"

    def do(self, **command: Any) -> None:
        answer = httpx.post(f"{self.url}/api/do", json=command, headers={"x-railbird": "1"})
        assert answer.status_code == 200, answer.text

    def state(self) -> dict[str, Any]:
        return dict(httpx.get(f"{self.url}/api/state").json())

    def get(self, path: str) -> str:
        return httpx.get(f"{self.url}{path}").text

    def kill(self) -> None:
        if self.child.poll() is None:
            os.kill(self.child.pid, signal.SIGKILL)
            self.child.wait()

    def end(self) -> int:
        self.child.send_signal(signal.SIGTERM)
        return self.child.wait(timeout=20)


@pytest.fixture
def running(tmp_path: Path) -> Any:
    made: list[Process] = []

    def start() -> Process:
        made.append(Process(tmp_path, free_port()))
        return made[-1]

    yield start
    for process in made:
        if process.child.poll() is None:
            process.kill()


def test_kill_in_mid_rack_and_restart(running: Any) -> None:
    first = running()
    first.play("break_shot", [3, "foot-left"])
    first.do(do="call", ball=1, pocket="side-left")
    first.play("pot", 1, "side-left")
    first.do(do="observed", code="touched-ball")
    first.do(do="undo")
    first.do(do="call", ball=2, pocket="head-right")  # announced, and killed before the shot
    before = first.state()
    first.kill()

    second = running()
    after = second.state()
    assert after["match_id"] == before["match_id"]
    assert after["match"] == before["match"]
    assert after["match"]["call"] == {"ball": 2, "pocket": "head-right"}
    second.play("at", {**before["match"]["last"]["shot"]["facts"]["rest"]}, 90.0)
    second.play("pot", 2, "head-right")
    match = second.state()["match"]
    assert match["shots"] == 3
    assert match["shooter"] == "Ann"
    assert 2 not in match["on_table"]
    assert second.end() in (0, -signal.SIGTERM)


def test_a_cookie_of_the_evening_holds_over_a_restart(tmp_path: Path) -> None:
    from railbird.live.access import Access, Role, Visitor

    cookie = Access(tmp_path, locked=True).cookie(Visitor(Role.PLAYER, 0))
    assert Access(tmp_path, locked=True).visitor(cookie) == Visitor(Role.PLAYER, 0)
