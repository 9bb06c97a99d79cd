"""From the last ball at rest to the ruling: a filmed evening at 1080p and 30 frames a second, played as a camera in real time.

``python -m tests.railbird.live.evening.latency FOLDER --shots 12`` takes the first shots of a filmed evening, shown at 1920 x 1080, and
prints median and 95th percentile, the frames that were dropped, and how busy the machine was.
"""

from __future__ import annotations

import argparse
import os
import tempfile
import time
from fractions import Fraction
from pathlib import Path

import av
import numpy as np

from railbird.live.camera import LiveCamera
from railbird.live.seen import CameraState
from railbird.live.service import log_to_stderr
from tests.railbird.live.evening.film import name_of, read_truth
from tests.railbird.live.rig import club, parts

SIZE = (1920, 1080)
STILLS = 3  # half seconds of still table before each shot
FIRST_STILLS = 12  # before the first, while the table is looked for


def join(folder: Path, shots: int, out: Path, size: tuple[int, int] = SIZE) -> Path:
    """The first shots of a filmed evening as one file of another size."""
    truth = read_truth(folder)
    rate = Fraction(truth["fps"]).limit_denominator(1001)
    partly = out.with_suffix(".part.mp4")
    n = 0
    with av.open(str(partly), "w") as made:
        stream = made.add_stream("libx264", rate=rate)
        stream.width, stream.height, stream.pix_fmt = *size, "yuv420p"
        stream.codec_context.time_base = 1 / rate
        stream.options = {"crf": "20", "preset": "veryfast"}
        for k, part in enumerate(truth["parts"]):
            if part["shot"] > shots:
                break
            times = 1 if part["kind"] != "still" else STILLS if k else FIRST_STILLS
            for _ in range(times):
                with av.open(str(folder / name_of(k))) as film:
                    for frame in film.decode(video=0):
                        large = frame.reformat(width=size[0], height=size[1], interpolation="BICUBIC")
                        large.pts, large.time_base = n, 1 / rate
                        made.mux(stream.encode(large))
                        n += 1
        made.mux(stream.encode())
    partly.replace(out)
    return out


def measure(
    film: Path, folder: Path, pace: float = 1.0
) -> tuple[list[float], list[tuple[float, float]], dict[str, float]]:
    """Latencies in seconds, what of them is stream and what is processor, and the camera's counts, of a file played as a camera."""
    opening = {"game": "8-ball", "rules": "wpa-2025", "players": ["Ann", "Bo"], "race_to": 3}
    things = parts(folder, opening=opening)
    camera = LiveCamera(club(folder, camera={"source": str(film)}), things.metrics, pace=pace)
    camera.start(things.desk)
    while things.desk.state()["camera"]["state"] != CameraState.ENDED.value:
        time.sleep(0.5)
    camera.stop()
    names = ("frames_total", "frames_dropped_total", "looks_total", "shots_total", "faults_total")
    counts = {name: things.metrics.get(name) for name in names}
    found, work = things.metrics.latencies(), things.metrics.work()
    things.store.close()
    return found, work, counts


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, help="a filmed evening")
    parser.add_argument("--shots", type=int, default=12)
    parser.add_argument(
        "--pace",
        type=float,
        default=1.0,
        help="seconds of film a second; 0: as fast as it is looked at, without drops, where only the shares of stream and processor count",
    )
    parser.add_argument("--film", type=Path, help="where the joined film is kept")
    given = parser.parse_args()
    log_to_stderr()
    with tempfile.TemporaryDirectory() as made:
        film = given.film or Path(made) / "joined.mp4"
        if not film.exists():
            join(given.folder, given.shots, film)
        before, began, used = os.getloadavg()[0], time.monotonic(), time.process_time()
        found, work, counts = measure(film, Path(made), given.pace or None)
        share = (time.process_time() - used) / (time.monotonic() - began)
    if not found:
        raise SystemExit(f"no shot was ruled on; {counts}")
    seen, cpu = np.array(work).T
    least = seen + cpu
    print(
        f"until the end is plain {np.median(seen):.2f} s of stream, worked out in {np.median(cpu):.2f} processor seconds"
        f" (p95 {np.percentile(cpu, 95):.2f}); so on a free core at least: median {np.median(least):.2f} s, p95 {np.percentile(least, 95):.2f} s"
    )
    print(
        f"{len(found)} rulings: median {np.median(found):.2f} s, p95 {np.percentile(found, 95):.2f} s, most {max(found):.2f} s;"
        f" load {before:.1f} before, {os.getloadavg()[0]:.1f} after, {share:.2f} cores used; {counts}"
    )


if __name__ == "__main__":
    main()
