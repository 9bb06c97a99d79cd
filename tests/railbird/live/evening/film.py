"""Draws an evening part by part into a folder, so that it can be begun anew where it broke off and shared among processes.

``python -m tests.railbird.live.evening.film FOLDER [--share K/N]`` draws what is missing (every N-th part from the K-th on). The folder
then holds ``evening.json`` (parts and truth) and a file of H.264 for each part, which begins with a key picture.
"""

from __future__ import annotations

import argparse
import json
from dataclasses import asdict
from fractions import Fraction
from pathlib import Path
from typing import Any

import av
import cv2

from sample_videos.clip import ClipPainter
from tests.railbird.live.evening.play import SEED, Evening, Host, Part

EDGE_S = 1e-6


def film(folder: Path, seed: int = SEED, share: tuple[int, int] = (0, 1), upto: int | None = None) -> Path:
    """Draw the evening; parts that are there already are kept. Returns the folder."""
    folder.mkdir(parents=True, exist_ok=True)
    evening = Host(seed).play()
    write_truth(evening, folder)
    painter: ClipPainter | None = None
    for k, part in enumerate(evening.parts[:upto]):
        path = folder / name_of(k)
        if k % share[1] != share[0] or path.exists():
            continue
        painter = painter or ClipPainter(evening.scene, evening.simulator, evening.acts, per_side=2)
        _draw(painter, part, path)
    return folder


def name_of(k: int) -> str:
    return f"{k:03d}.mp4"


def frames_of(part: Part, fps: float) -> range:
    """Numbers of the frames that a part shows."""
    return range(round(part.begin_s * fps), round(part.end_s * fps))


def write_truth(evening: Evening, folder: Path) -> None:
    scene = evening.scene
    document = {
        "fps": scene.fps, "size": [scene.camera.width, scene.camera.height], "parts": [asdict(p) for p in evening.parts],
        "told": [asdict(t) for t in evening.told],
    }  # fmt: skip
    (folder / "evening.json").write_text(json.dumps(document, indent=1))


def read_truth(folder: Path) -> dict[str, Any]:
    """Parts and truth of a filmed evening."""
    return dict(json.loads((folder / "evening.json").read_text()))


def whole(folder: Path) -> bool:
    """Whether every part of the evening is there."""
    return (folder / "evening.json").exists() and all(
        (folder / name_of(k)).exists() for k in range(len(read_truth(folder)["parts"]))
    )


def _draw(painter: ClipPainter, part: Part, path: Path) -> None:
    scene = painter.scene
    rate = Fraction(scene.fps).limit_denominator(1001)
    partly = path.with_suffix(".part.mp4")
    with av.open(str(partly), "w") as out:
        stream = out.add_stream("libx264", rate=rate)
        stream.width, stream.height, stream.pix_fmt = scene.camera.width, scene.camera.height, "yuv420p"
        stream.codec_context.time_base = 1 / rate
        stream.codec_context.thread_count = 1
        # no pictures that wait for later ones: as a camera's encoder does it
        stream.options = {"crf": str(scene.crf), "preset": "veryfast", "bf": "0", "g": "30"}
        for n, k in enumerate(frames_of(part, scene.fps)):
            frame = av.VideoFrame.from_ndarray(cv2.cvtColor(painter.frame(k), cv2.COLOR_BGR2YUV_I420), format="yuv420p")
            frame.pts, frame.time_base = n, 1 / rate
            out.mux(stream.encode(frame))
        out.mux(stream.encode())
    partly.replace(path)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--seed", type=int, default=SEED)
    parser.add_argument("--share", default="0/1", help="K/N: every N-th part from the K-th on")
    parser.add_argument("--upto", type=int, help="no more than so many parts")
    given = parser.parse_args()
    k, n = (int(v) for v in given.share.split("/"))
    film(given.folder, given.seed, (k, n), given.upto)


if __name__ == "__main__":
    main()
