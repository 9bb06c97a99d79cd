"""Referees a filmed evening with the real program: its process, a camera's stream, a phone and the wall in Chromium.

``python -m tests.railbird.live.evening.referee FOLDER`` prints a row a shot beside the truth, and how long the rulings took.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx

from referee.match import Match
from tests.railbird.live.chromium import browser
from tests.railbird.live.evening.stream import Broadcast
from tests.railbird.live.rig import free_port

ROOT = Path(__file__).parents[4]
READY_S = 240.0  # to find the table, on a machine with other work to do
RULED_S = 240.0
SLOW_START = 0.3  # of the pace that is wanted


class Live:
    """``railbird live`` in a process of its own, over one data folder; it can be killed and started again."""

    def __init__(self, folder: Path, source: str) -> None:
        self.folder, self.source, self.port = folder, source, free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self.log = folder / "live.log"
        self.child: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        command = [
            sys.executable, "-m", "railbird", "live", "--source", self.source, "--game", "8-ball", "--players", "Ann,Bo",
            "--race-to", "2", "--port", str(self.port), "--data", str(self.folder),
        ]  # fmt: skip
        with self.log.open("ab") as log:
            self.child = subprocess.Popen(command, cwd=ROOT, stdout=log, stderr=log)
        until(lambda: self.get("/api/state") is not None, 120, "the page is served")

    def get(self, path: str) -> Any:
        try:
            answer = httpx.get(f"{self.url}{path}", timeout=10)
        except httpx.TransportError:
            return None
        return answer.json() if path.startswith("/api/state") else answer.text

    def state(self) -> dict[str, Any]:
        found = self.get("/api/state")
        assert found is not None, f"the page does not answer; see {self.log}"
        return dict(found)

    def kill(self, how: signal.Signals = signal.SIGKILL) -> None:
        if self.child is not None and self.child.poll() is None:
            self.child.send_signal(how)
            self.child.wait(timeout=30)


def until(true: Callable[[], Any], seconds: float, what: str) -> Any:
    """Wait until something holds; fails with its name."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        found = true()
        if found:
            return found
        time.sleep(0.25)
    raise AssertionError(f"after {seconds:.0f} s not so: {what}")


@dataclass(slots=True)
class Evening:
    """What came of an evening."""

    differences: list[str] = field(default_factory=list)
    late: list[str] = field(default_factory=list)
    rows: list[str] = field(default_factory=list)
    states: set[str] = field(default_factory=set)
    remarks: dict[int, list[dict[str, Any]]] = field(default_factory=dict)
    spoken: list[str] = field(default_factory=list)
    before_kill: dict[str, Any] | None = None
    after_kill: dict[str, Any] | None = None
    final: dict[str, Any] = field(default_factory=dict)
    wall_score: tuple[str, str] = ("", "")
    metrics: str = ""
    pace: float = 1.0


class Watcher:
    """Plays the broadcast against the program, entering by hand only what players call."""

    def __init__(
        self,
        live: Live,
        broadcast: Broadcast,
        open_page: Callable[[str], Any],
        say: Callable[[str], None],
        slow_down: bool,
    ) -> None:
        self.live, self.broadcast, self.open_page, self.say = live, broadcast, open_page, say
        self.told = {t["number"]: t for t in broadcast.truth["told"]}
        self.found = Evening()
        self.ruled = self.missed = 0
        self.full_pace, self.slow_down = broadcast.pace, slow_down
        if slow_down:
            broadcast.pace *= SLOW_START  # how busy the machine is shows only once pictures are dropped
        self.paces: list[float] = []
        self._looked, self._counts = 0.0, (0.0, 0.0)

    def run(self) -> Evening:
        live, broadcast, found = self.live, self.broadcast, self.found
        self.wall, self.phone = self.open_page(f"{live.url}/wall"), self.open_page(f"{live.url}/phone")
        for k, part in enumerate(broadcast.parts):
            until(lambda k=k: self._watch() and (broadcast.at >= k or broadcast.over), 600, f"part {k} is shown")
            if part["kind"] != "still":
                continue
            self._ruled_up_to(part["shot"] - 1 if part["shot"] else len(self._shots_before(k)))
            self._tried(self._ready, READY_S, f"ready before part {k}")
            if part["shot"]:
                self._call(self.told[part["shot"]])
            if k and broadcast.parts[k - 1]["kind"] == "kill":
                self._kill()
            broadcast.go_on(k)
        until(lambda: broadcast.over, 60, "the film ends")
        found.final = live.state()["match"]
        self._as_it_stands(live.state()["match_id"])
        self.wall.bring_to_front()
        self.wall.wait_for_timeout(3000)
        found.spoken = self.wall.evaluate("window.spoken")
        found.wall_score = tuple(self.wall.locator(f"#player{n} .number").inner_text() for n in (0, 1))
        found.metrics = live.get("/metrics") or ""
        found.pace = sum(self.paces) / len(self.paces) if self.paces else broadcast.pace
        return found

    def _shots_before(self, k: int) -> list[int]:
        return sorted({p["shot"] for p in self.broadcast.parts[:k] if p["kind"] == "shot"})

    def _watch(self) -> bool:
        state = self.live.get("/api/state")
        if state is not None:
            self.found.states.add(state["camera"]["state"])
        self._keep_pace()
        return True

    def _keep_pace(self) -> None:
        """On a machine that other work holds up the film runs slower, so that as few pictures are dropped as on a free one."""
        now = time.monotonic()
        if not self.slow_down or now - self._looked < 2:
            return
        self._looked = now
        rows = dict(r.rsplit(" ", 1) for r in (self.live.get("/metrics") or "").splitlines() if r and r[0] != "#")
        total, dropped = (float(rows.get(f"railbird_frames{name}_total", 0)) for name in ("", "_dropped"))
        (total_before, dropped_before), self._counts = self._counts, (total, dropped)
        if total <= total_before:
            return
        share = (dropped - dropped_before) / (total - total_before)
        pace = self.broadcast.pace * (0.75 if share > 0.03 else 1.1)
        self.broadcast.pace = min(self.full_pace, max(0.08, pace))
        self.paces.append(self.broadcast.pace)

    def _ready(self) -> bool:
        self._watch()
        return bool(self.live.state()["camera"]["state"] == "ready")

    def _call(self, told: Mapping[str, Any]) -> None:
        """The phone's taps: a ball and a pocket, or safety."""
        call = told["call"]
        if call is None:
            return
        from playwright.sync_api import Error

        self.phone.bring_to_front()
        try:
            if call == "safety":
                self.phone.click("button:has-text('Safety')")
            else:
                self.phone.click(f"#chips button[aria-label='{call['ball']}']")
                self.phone.click(f"#table [data-pocket='{call['pocket']}']")
            self.phone.wait_for_selector(".called-now")
        except Error as fault:
            self.found.differences.append(
                f"shot {told['number']}: {call} cannot be called ({str(fault).splitlines()[0]})"
            )
            self.say(self.found.differences[-1])

    def _ruled_up_to(self, shots: int) -> None:
        """Wait for the rulings on the shots that were shown, and hold the last against the truth."""
        if shots <= self.ruled:
            return
        if not self._tried(lambda: self._watch() and self._shots() >= shots, RULED_S, f"shot {shots} is ruled on"):
            self.missed += shots - self._shots()  # one that was not seen is told once, not at every shot that follows
        self._compare(shots)
        self.ruled = shots

    def _shots(self) -> int:
        return int(self.live.state()["match"]["shots"]) + self.missed

    def _tried(self, true: Callable[[], Any], seconds: float, what: str) -> bool:
        """Whether something came to be; if not, that is a difference, and the evening goes on."""
        try:
            until(true, seconds, what)
        except AssertionError as fault:
            self.found.differences.append(str(fault))
            self.say(str(fault))
            return False
        return True

    def _compare(self, shot: int) -> None:
        told, match = self.told[shot], self.live.state()["match"]
        last = (match["last"] or {}).get("shot") or {
            "facts": {"events": []},
            "remarks": [],
            "ruling": None,
            "number": 0,
        }
        down = {
            str(e["ball"]): e["pocket"]
            for e in last["facts"]["events"]
            if e["kind"] == "pocket" and e.get("p", 1) >= 0.5
        }
        foul = last["ruling"] and last["ruling"]["enforced"]
        names = match["players"]
        seen = (match["shots"] + self.missed, foul, down, [match["score"][n] for n in names], match["shooter"])
        real = (
            shot,
            told["foul"],
            {str(b): p for b, p in told["down"].items()},
            list(told["score"]),
            told["shooter_next"],
        )
        over = match["winner"] is not None
        for what, a, b in zip(("shots", "foul", "pocketed", "score", "shooter"), seen, real, strict=True):
            if what == "pocketed" and a != b:
                self.found.late.append(f"shot {shot}: pocketed {a}, in truth {b}")  # what stands at the end counts
            elif a != b and not (what == "shooter" and over):
                self.found.differences.append(f"shot {shot}: {what} {a}, in truth {b}")
        self.found.remarks[shot] = last["remarks"]
        p = last["ruling"]["p"] if last["ruling"] else None
        row = (
            f"shot {shot} {told['shooter']} call {told['call']}: {seen} p={p} remarks {last['remarks']} | truth {real}"
        )
        self.found.rows.append(row)
        self.say(row)

    def _as_it_stands(self, match_id: str) -> None:
        """The balls down in every shot as the log has it at the end, what the program put right by itself included."""
        text = self.live.get(f"/api/matches/{match_id}/script") or ""
        opening, *lines = [json.loads(row) for row in text.splitlines() if row.strip()]
        match = Match(opening)
        for line in lines:
            match.apply(line)
        shots = [step.line["shot"] for step in match.steps if "shot" in step.line]
        for told, facts in zip(self.told.values(), shots, strict=False):
            down = {e["ball"] for e in facts["events"] if e["kind"] == "pocket" and e.get("p", 1) >= 0.5}
            if down != {int(b) for b in told["down"]}:
                self.found.differences.append(
                    f"shot {told['number']}: down {sorted(down)}, in truth {sorted(told['down'])}"
                )

    def _kill(self) -> None:
        """The power goes in mid-rack and comes back; pages come back by themselves."""
        self.found.before_kill = self.live.state()
        self.live.kill()
        self.live.start()
        self.found.after_kill = self.live.state()
        until(self._ready, READY_S, "ready after the restart")
        for page in (self.phone, self.wall):
            page.wait_for_selector(".offline", state="detached")


def referee(
    folder: Path,
    film: Path,
    *,
    pace: float = 1.0,
    slow_down: bool = True,
    last: int | None = None,
    say: Callable[[str], None] = lambda row: None,
) -> Evening:
    """Run a whole evening (or its parts up to ``last``).

    ``slow_down`` lets the film run slower while the program drops pictures; the pictures' own times stay the camera's.
    """
    broadcast = Broadcast(film, pace, last=last)
    live = Live(folder, broadcast.url)
    try:
        broadcast.start()
        live.start()
        with browser() as open_page:
            watcher = Watcher(live, broadcast, open_page, say, slow_down)
            return watcher.run()
    finally:
        broadcast.stop()
        live.kill()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("film", type=Path)
    parser.add_argument("--pace", type=float, default=1.0, help="seconds of film a second")
    parser.add_argument("--steady", action="store_true", help="do not slow down while the program drops pictures")
    parser.add_argument("--last", type=int, help="parts to show")
    parser.add_argument("--keep", type=Path, help="the data folder, kept")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as made:
        folder = given.keep or Path(made)
        folder.mkdir(parents=True, exist_ok=True)
        found = referee(
            folder,
            given.film,
            pace=given.pace,
            slow_down=not given.steady,
            last=given.last,
            say=lambda row: print(row, flush=True),
        )
    print(*found.differences or ["no difference"], sep="\n")
    print("score", found.final["score"], "mean pace", round(found.pace, 2), "load", os.getloadavg()[0])
    print(*[r for r in found.metrics.splitlines() if not r.startswith("#")], sep="\n")


if __name__ == "__main__":
    main()
