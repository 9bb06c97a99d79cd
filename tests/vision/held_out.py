"""Folders with nothing but the pictures of tables that no weights were trained on, so that a scorer sees no others.

    python -m tests.vision.held_out FOOTAGE OUT

FOOTAGE holds ``pix2pockets``, ``billiard-pool`` and ``unipd``, which do not ship; OUT gets ``pix2pockets`` (the green table and the US
Open), ``billiard-pool`` (two videos), ``unipd`` (game2 and game4) and ``unipd-game1``, whose table pix2pockets shows as well. Pictures
are links, labels are those of the sets, unchanged.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from vision.prepare import GREEN, HELD_OUT, US_OPEN


def link(source: Path, target: Path) -> None:
    """A link where there is none yet."""
    target.parent.mkdir(parents=True, exist_ok=True)
    if not target.exists():
        target.symlink_to(source.resolve())


def pix2pockets(source: Path, out: Path) -> None:
    """The tables named in `vision.prepare`."""
    for stem in GREEN | US_OPEN:
        for part, ending in (("images", "jpg"), ("labels", "txt")):
            link(source / part / f"{stem}.{ending}", out / part / f"{stem}.{ending}")


def billiard_pool(source: Path, out: Path) -> None:
    """The videos named in `vision.prepare`, and their part of the labels."""
    videos = {name.removeprefix("billiard-pool/") for name in HELD_OUT}
    document = json.loads((source / "labels.coco.json").read_text())
    images = [i for i in document["images"] if i["file_name"].rsplit("-", 1)[0] in videos]
    kept = {i["id"] for i in images}
    document |= {"images": images, "annotations": [a for a in document["annotations"] if a["image_id"] in kept]}
    for image in images:
        link(source / image["file_name"], out / image["file_name"])
    (out / "labels.coco.json").write_text(json.dumps(document))


def unipd(source: Path, out: Path, game1: Path) -> None:
    """Clips of game1 apart from the others."""
    for part in ("frames/*.png", "bounding_boxes/*.txt"):
        for path in source.glob(f"game*/{part}"):
            name = path.relative_to(source)
            link(path, (game1 if name.parts[0].startswith("game1") else out) / name)


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description="Folders with the held-out pictures alone.")
    parser.add_argument("footage", type=Path)
    parser.add_argument("out", type=Path)
    args = parser.parse_args()
    pix2pockets(args.footage / "pix2pockets", args.out / "pix2pockets")
    billiard_pool(args.footage / "billiard-pool", args.out / "billiard-pool")
    unipd(args.footage / "unipd", args.out / "unipd", args.out / "unipd-game1")


if __name__ == "__main__":
    main()
