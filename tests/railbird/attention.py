"""What it changes to look closely only around the moment asked about: ``python -m tests.railbird.attention CLIP=SECONDS …``.

A line a clip: looks and processor seconds of the whole analysis without a moment and with it, and what `railbird check` then
says of the same moment: answer, probability, instant, foul, whether a person is asked.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from dataclasses import replace

from railbird.check import check_match
from railbird.pipeline import Options, judge, load_see, watch
from railbird.progress import Bar
from vision.video import open_video


def told(clip: str, at: float, options: Options) -> tuple[int, float, tuple[object, ...]]:
    """Looks, processor seconds, and the answer in short."""
    begun = time.process_time()
    with open_video(clip) as video:
        seen = watch(video, options, load_see(), Bar(False))
    match = judge(seen, options)
    took = time.process_time() - begun
    with tempfile.TemporaryDirectory() as folder:
        answer = check_match(match, clip, at=at, out=folder)
    ruling = answer["ruling"] or {}
    needs = (ruling.get("needs_referee") or {}).get("reason")
    said = (answer["answer"], answer["p"], answer["t_s"], ruling.get("enforced"), ruling.get("p"), needs)
    return seen.looks, took, said


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("clips", nargs="+", metavar="CLIP=SECONDS")
    parser.add_argument("--game", default="9-ball")
    args = parser.parse_args()
    options = Options(game=args.game, progress=False)
    for text in args.clips:
        clip, _, second = text.rpartition("=")
        at = float(second)
        for moment in (None, at):
            looks, took, said = told(clip, at, replace(options, moment=moment))
            print(f"{clip} moment {moment}: {looks} looks, {took:.1f} s, {said}", flush=True)


if __name__ == "__main__":
    main()
