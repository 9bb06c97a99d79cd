"""Everything that an analysis leaves in its folder, each file whole or not at all, match.json last."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from railbird import result as results

if TYPE_CHECKING:
    from railbird.progress import Bar


def write_all(
    match: Mapping[str, Any], video: str, folder: Path, *, annotated: bool, clips: str | None, bar: Bar
) -> list[Path]:
    """Write ``match.json``, ``report.html``, ``annotated.mp4``, ``shots.csv``, ``chapters.vtt``, and the clips asked for.

    Parameters
    ----------
    match : a ruled match document.
    video : where the recording is.
    annotated : draw ``annotated.mp4``; else the report plays a copy of the recording.
    clips : ``all`` or ``fouls``: cut a clip a shot as well.

    Returns
    -------
    The files written.
    """
    from railbird import report
    from railbird.annotate import annotate, cut_clips
    from railbird.chapters import write_chapters, write_shots

    written = []
    clip: Path | None = None
    if annotated:
        clip = folder / "annotated.mp4"
        with bar.stage("drawing", match["source"]["frames"]) as step:
            annotate(match, video, clip, step=step)
        written.append(clip)
    elif Path(video).is_file():
        clip = folder / f"source{Path(video).suffix.lower()}"
        if not (clip.exists() and clip.samefile(video)):
            part = clip.with_suffix(".part")
            shutil.copyfile(video, part)
            part.replace(clip)
        written.append(clip)
    if clips is not None:
        written += cut_clips(match, video, folder / "clips", only_fouls=clips == "fouls")
    write_shots(match, folder / "shots.csv")
    write_chapters(match, folder / "chapters.vtt")
    written.append(report.write(match, folder, clip=None if clip is None else clip.name))
    results.write(folder / "match.json", match)
    return [*written, folder / "shots.csv", folder / "chapters.vtt", folder / "match.json"]
