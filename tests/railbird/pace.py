"""How fast a match is drawn over its recording: ``python -m tests.railbird.pace MATCH_JSON VIDEO`` prints milliseconds a frame.

Drawn frames are encoded while the next are decoded, so that with two cores free the wall time is well under the processor's.
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
from pathlib import Path

from railbird import result
from railbird.annotate import annotate


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description="Milliseconds a frame of annotated.mp4.")
    parser.add_argument("match", type=Path)
    parser.add_argument("video", type=Path)
    args = parser.parse_args()
    match = result.read(args.match)
    frames = 0

    def step() -> None:
        nonlocal frames
        frames += 1

    with tempfile.TemporaryDirectory() as folder:
        wall, busy = time.perf_counter(), time.process_time()
        annotate(match, args.video, Path(folder) / "annotated.mp4", step=step)
        wall, busy = time.perf_counter() - wall, time.process_time() - busy
    told = {"frames": frames, "wall_ms": round(1000 * wall / frames, 1), "processor_ms": round(1000 * busy / frames, 1)}
    print(json.dumps(told))


if __name__ == "__main__":
    main()
