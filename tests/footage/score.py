"""Runs `railbird analyse` on the real clips and scores what came out; needs the footage, which does not ship.

    python -m tests.footage.score [NAME …] [--footage DIR] [--out DIR]

Prints what `score_match.py` prints. The truth files name the clips and their games.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
from pathlib import Path

FOOTAGE = Path(__file__).resolve().parents[3] / "shared" / "footage"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", help="clips, without their ending; all if none is given")
    parser.add_argument("--footage", type=Path, default=FOOTAGE)
    parser.add_argument("--out", type=Path, default=Path("out/footage"))
    args = parser.parse_args()
    pairs = []
    for truth in sorted((args.footage / "truth").glob("*.json")):
        name = truth.stem
        if args.names and name not in args.names:
            continue
        document = json.loads(truth.read_text())
        video = next(iter(sorted(args.footage.rglob(document["file"]))))
        folder = args.out / name
        began = time.perf_counter()
        run = subprocess.run(
            [
                sys.executable,
                "-m",
                "railbird",
                "analyse",
                str(video),
                "--game",
                document["game"],
                "--out",
                str(folder),
                "--no-annotated",
            ],
            capture_output=True,
            text=True,
        )
        print(
            f"{name}: exit {run.returncode} after {time.perf_counter() - began:.1f} s {run.stderr.strip()[-300:]}",
            flush=True,
        )
        pairs += [str(truth), str(folder / "match.json")]
    scorer = args.footage.parent / "tools" / "score_match.py"
    return subprocess.run([sys.executable, str(scorer), *pairs]).returncode


if __name__ == "__main__":
    sys.exit(main())
