"""Analyses a clip that ships, so that a newcomer sees a report within a minute."""

from __future__ import annotations

from importlib import resources
from pathlib import Path

from calibration.errors import InputError
from railbird.pipeline import Options
from railbird.pipeline import run as analyse

CLIP = "demo.mp4"


def run(folder: Path) -> Path:
    """Analyse the shipped clip into ``folder``; returns the report's path.

    Raises
    ------
    InputError
        Where the clip is missing from the installation or the folder cannot be written.
    """
    clip = Path(str(resources.files("sample_videos"))) / "clips" / CLIP
    if not clip.is_file():
        raise InputError(f"{clip}: the demo clip is not in this installation; run from a clone of the repository")
    analyse(str(clip), folder, Options(game="9-ball", players=["Ann", "Bo"]))
    return folder / "report.html"
