"""Hours of frames through camera, referee, log and clips as fast as they are looked at, and how much memory that holds.

``python -m tests.railbird.live.soak --hours 8 --out soak.csv`` writes a row a minute (hours of stream, megabytes, shots) and says at the
end how far memory rose over what it was after half an hour of stream. Matches follow one another, as on a club evening.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from unittest import mock

from calibration.result import Calibration
from railbird import stage
from railbird.live.camera import LiveCamera
from railbird.live.metrics import resident_bytes
from railbird.live.parts import Parts
from railbird.live.seen import CameraState
from tests.railbird.live.drawn import Drawn, overhead, shots_at
from tests.railbird.live.rig import parts

RATE = 30.0
SETTLED_H = 0.5  # of stream, after which everything that is made once has been made
MB = 1 << 20
OPENING = {"game": "9-ball", "rules": "wpa-2025", "players": ["Ann", "Bo"], "breaker": "Ann", "race_to": 9}
CLIPS_MB = 50


@dataclass(frozen=True, slots=True)
class Held:
    """Memory at one instant: hours of stream looked at, seconds since the start, resident megabytes, shots so far.

    ``mb`` is of both processes, ``solver_mb`` of the one that works shots out.
    """

    hours: float
    wall_s: float
    mb: float
    solver_mb: float
    shots: int


def _as_it_is(calibration: Calibration, *_: object) -> Calibration:
    return calibration


def soak(folder: Path, hours: float, every_s: float, period_s: float, most_s: float, out: Path | None) -> list[Held]:
    """Two shots every ``period_s`` seconds for so many hours of stream, at most ``most_s`` seconds of our own."""
    source = Drawn(shots_at((2.0, 1.0), (14.0, 0.75), period=period_s), hours * 3600.0, RATE)
    settings = {
        "camera": {"source": "drawn.mp4", "length_m": 2.54},
        "keep": {"folder": str(folder), "clips_mb": CLIPS_MB},
    }
    things = parts(folder, opening=OPENING, **settings)
    metrics, desk = things.metrics, things.desk
    camera = LiveCamera(desk.club, metrics, see=source.see, opened=source.open, pace=None)
    rows: list[Held] = []
    began = last = time.monotonic()
    if out is not None:
        out.write_text("hours,wall_s,mb,solver_mb,shots\n")
    with (
        mock.patch.object(stage, "find_table", return_value=overhead()),
        mock.patch.object(stage, "size_from_balls", side_effect=_as_it_is),
    ):
        camera.start(desk)
        while desk.camera_state is not CameraState.ENDED and time.monotonic() - began < most_s:
            time.sleep(0.5)
            _play_on(things)
            if time.monotonic() - last < every_s:
                continue
            last = time.monotonic()
            hours_seen, shots = metrics.get("frames_total") / RATE / 3600, round(metrics.get("shots_total"))
            apart = camera.solver.memory_bytes() / MB if camera.solver is not None else 0.0
            rows.append(Held(hours_seen, last - began, resident_bytes() / MB + apart, apart, shots))
            if out is not None:
                row = rows[-1]
                with out.open("a") as file:
                    file.write(f"{row.hours:.3f},{row.wall_s:.0f},{row.mb:.1f},{row.solver_mb:.1f},{row.shots}\n")
        camera.stop()
    things.store.close()
    return rows


def _play_on(things: Parts) -> None:
    """What people do between shots: choose what comes first, and begin another match where one is over."""
    desk = things.desk
    if desk.session is None or desk.session.over:
        desk.begin(OPENING)
    elif (choice := desk.session.state.choice) is not None:
        desk.session.choose("camera", choice.options[0].value)


def rise(rows: list[Held]) -> float:
    """Megabytes between the first row after half an hour of stream and the highest that follows."""
    settled = [row.mb for row in rows if row.hours >= SETTLED_H]
    return max(settled) - settled[0] if settled else float("nan")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--hours", type=float, default=8.0, help="of stream")
    parser.add_argument("--period", type=float, default=60.0, help="seconds of stream between pairs of shots")
    parser.add_argument("--every", type=float, default=60.0, help="seconds between rows")
    parser.add_argument("--most", type=float, default=1e9, help="seconds after which it is ended in any case")
    parser.add_argument("--out", type=Path, help="a CSV of the rows")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        rows = soak(Path(folder), given.hours, given.every, given.period, given.most, given.out)
    last = rows[-1]
    print(
        f"{last.hours:.2f} h of stream in {last.wall_s / 60:.0f} min, {last.shots} shots: memory rose {rise(rows):.0f} MB"
    )


if __name__ == "__main__":
    main()
