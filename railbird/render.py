"""Draws clips with their truth, rulings included, or folders of labelled pictures: what ``railbird render`` does."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from calibration.errors import InputError, MissingExtra
from railbird.progress import Bar


def run(
    scenes: Sequence[str],
    *,
    out: str | Path,
    dataset: int | None = None,
    seed: int = 0,
    fps: float | None = None,
    size: tuple[int, int] | None = None,
    quiet: bool = False,
) -> list[Path]:
    """Render scenes, or ``dataset`` labelled pictures, into ``out``; returns the files or the folder.

    Parameters
    ----------
    scenes : scene files, names of shipped scenes, ``random:SEED`` with options (``docs/rendering.md``), or ``all`` for
        every shipped scene.
    seed : of the pictures.
    fps, size : instead of a scene's own frame rate; (width, height) of pictures.

    Raises
    ------
    InputError
        Where a scene is wrong or ``out`` cannot be written to.
    MissingExtra
        Where the packages of the extra ``render`` are missing.
    """
    folder = Path(out)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        (folder / ".write").touch()
        (folder / ".write").unlink()
    except OSError as problem:
        raise InputError(f"--out {folder}: cannot be written to ({problem.strerror or problem})") from None
    try:
        import numba  # noqa: F401
    except ImportError:
        raise MissingExtra("rendering", "render") from None
    if dataset is not None:
        return [_pictures(folder, dataset, seed, size or (960, 540), quiet)]
    return _clips(scenes, folder, fps, quiet)


def _pictures(folder: Path, count: int, seed: int, size: tuple[int, int], quiet: bool) -> Path:
    from sample_videos.dataset import write_folder

    if count < 1:
        raise InputError(f"--dataset {count}: give a number of pictures, 1 or more")
    with Bar(not quiet).stage("drawing pictures", count) as step:
        for _ in write_folder(folder, count, seed=seed, size=size):
            step()
    return folder


def _clips(names: Sequence[str], folder: Path, fps: float | None, quiet: bool) -> list[Path]:
    from dataclasses import replace

    from sample_videos.render import perform, truth_of, write_clip, write_tracks
    from sample_videos.scene import load, shipped

    files = []
    for name in shipped() if list(names) == ["all"] else names:
        if name.startswith("random:"):
            from sample_videos.random_scenes import parse

            scene = parse(name)
        else:
            scene = load(name)
        if fps is not None:
            scene = replace(scene, fps=fps)
        performance = perform(scene)
        clip = folder / f"{scene.name}.mp4"
        with Bar(not quiet).stage(scene.name, performance.frames) as step:
            source = write_clip(performance, clip, progress=lambda done, count, step=step: step())  # type: ignore[misc]
        files += [
            clip,
            write_truth(ruled(truth_of(performance, source), scene.setup), folder / f"{scene.name}.truth.json"),
        ]
        write_tracks(performance, folder / f"{scene.name}.tracks.npz")
    return files


def ruled(truth: dict[str, Any], setup: Any = None) -> dict[str, Any]:
    """The truth with the referee's rulings, who knows every event for sure."""
    from railbird.script import rule

    return rule(truth, setup=setup)


def write_truth(truth: dict[str, Any], path: Path) -> Path:
    """Write a truth document; returns its path."""
    from railbird.result import write

    write(path, truth)
    return path
