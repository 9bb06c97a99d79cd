"""First contacts by how soon they came after the stroke: at 30 frames/s the first frames hold one look or none of the cue ball's way.

    python tests/tracking/firsts.py DIR EYE [--list]     DIR as `bench.py --out DIR` wrote it; EYE overhead60 or oblique30

Counted as the bench does: where the next contact of the cue ball is 3 ms away or more. ``--list`` names those told wrong, with
how far the cue ball had come and what was said.
"""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parent))

from bench import EYES
from simulated import simulate

BINS = (-1.0, 0.01, 1.0, 3.0, np.inf)  # seconds to the first, frames after it
NAMES = ("with the stroke (10 ms)", "within a frame", "one to three frames", "later", "no contact at all")
OPEN_S = 0.003  # contacts of the cue ball closer than this are either's


def main() -> None:
    eye = sys.argv[2]
    root, frame = Path(sys.argv[1]) / eye, 1 / EYES[eye].fps
    right, of = np.zeros(len(NAMES), int), np.zeros(len(NAMES), int)
    for path in sorted(root.glob("*.truth.json")):
        name = path.name.removesuffix(".truth.json")
        shot = json.loads(path.read_text())["shots"][0]
        result = json.loads((root / name / "match.json").read_text())
        want = sorted((e["t_s"], max(e["balls"])) for e in shot["events"] if e["kind"] == "contact" and 0 in e["balls"])
        if len(want) > 1 and want[1][0] - want[0][0] <= OPEN_S:
            continue
        told = [e for s in result["shots"] for e in s["events"] if e["kind"] == "contact" and 0 in e["balls"]]
        said = sorted((round(e["t_s"], 4), max(e["balls"]), round(e["p"], 2)) for e in told)
        seen = [ball for _, ball, p in said if p >= 0.5]
        since = want[0][0] - shot["start_s"] if want else np.inf
        k = 4 if not want else 0 if since < BINS[1] else int(np.searchsorted(BINS[2:], since / frame)) + 1
        of[k] += 1
        if (seen[0] if seen else None) == (want[0][1] if want else None):
            right[k] += 1
        elif "--list" in sys.argv:
            way = 0.0
            if want:
                scene = simulate(int(re.sub(r"\D", "", name)), breaks=name.startswith("break"))
                begin, there = scene.at(0, 0.0), scene.at(0, want[0][0])
                way = float(np.hypot(*(there - begin))) if begin is not None and there is not None else 0.0
            print(f"{name}: {want[:2]} after {1e3 * since:.0f} ms and {1e3 * way:.0f} mm; said {said[:3]}")
    for label, hit, all_ in zip(NAMES, right, of, strict=True):
        print(f"{label}: {hit} of {all_}")


if __name__ == "__main__":
    main()
