"""How many contacts are found by how fast the balls closed in: what is missed is mostly too soft to see.

    python tests/tracking/softness.py DIR EYE      DIR as `bench.py --out DIR` wrote it; EYE overhead60 or oblique30

Contacts of a break within a second of the first are left out, but for the first.
"""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parent))

from bench import CLOSE_S, same
from simulated import Scene, simulate

BINS = (0.0, 0.05, 0.1, 0.2, 0.5, 1.0, 20.0)  # m/s
PACK = (0.06, 6)  # seconds, contacts: more in so short a time are a pack's


def closing(scene: Scene, pair: list[int], t_s: float) -> float | None:
    """Speed at which two balls closed in along the line of centres, m/s; None beside a pocket."""
    before = [(scene.at(b, t_s - 3e-4), scene.at(b, t_s - 1e-5)) for b in pair]
    (a0, a1), (b0, b1) = before
    if a0 is None or a1 is None or b0 is None or b1 is None:
        return None
    line = b1 - a1
    return float(((a1 - a0) - (b1 - b0)) @ line / np.hypot(*line) / (3e-4 - 1e-5))


def main() -> None:
    root = Path(sys.argv[1]) / sys.argv[2]
    found = np.zeros(len(BINS) - 1, int)
    wanted = np.zeros(len(BINS) - 1, int)
    for path in sorted(root.glob("*.truth.json")):
        name = path.name.removesuffix(".truth.json")
        events = json.loads(path.read_text())["shots"][0]["events"]
        result = json.loads((root / name / "match.json").read_text())
        scene = simulate(int(re.sub(r"\D", "", name)), breaks=name.startswith("break"))
        want = [e for e in events if e["kind"] == "contact"]
        got = [e for s in result["shots"] for e in s["events"] if e["kind"] == "contact" and e["p"] >= 0.5]
        burst = bool(want) and sum(e["t_s"] < want[0]["t_s"] + PACK[0] for e in want) > PACK[1]
        for k, event in enumerate(want):
            if burst and k > 0 and event["t_s"] < want[0]["t_s"] + 1:
                continue
            near = [g for g in got if same(g, event) and abs(g["t_s"] - event["t_s"]) <= CLOSE_S]
            if near:
                got.remove(min(near, key=lambda g: abs(g["t_s"] - event["t_s"])))
            speed = closing(scene, event["balls"], event["t_s"])
            if speed is None:
                continue
            place = int(np.clip(np.searchsorted(BINS, speed, side="right") - 1, 0, len(found) - 1))
            wanted[place] += 1
            found[place] += bool(near)
    for lo, hi, hit, all_ in zip(BINS[:-1], BINS[1:], found, wanted, strict=True):
        print(f"{lo:5.2f} to {hi:5.2f} m/s: {hit} of {all_}")


if __name__ == "__main__":
    main()
