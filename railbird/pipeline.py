"""The main job: a recording goes in, match.json, report, annotated video, shots and chapters come out."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from calibration.ends import head_from_rack
from calibration.errors import InputError
from calibration.result import Calibration
from railbird import result as results
from railbird.eye import Eye, See
from railbird.games import BALLS
from railbird.progress import Bar
from railbird.stage import Stage, set_stage
from tracking.observations import Observation
from tracking.shots import SeenShot
from vision.cadence import Cadence, find_cadence
from vision.video import Frame, Video, file_sha256, open_video


@dataclass(frozen=True, slots=True)
class Options:
    """What the user asked of an analysis."""

    game: str
    rules: str = "wpa-2025"
    players: list[str] = field(default_factory=lambda: ["A", "B"])
    calls: Path | None = None
    setup: Path | None = None
    table: Path | None = None
    length_m: float | None = None
    language: str = "en"
    clips: str | None = None
    annotated: bool = True
    weights: Path | None = None
    progress: bool = True
    moment: float | None = None  # seconds; where one is asked about, a fast stream is looked at closely around it alone


@dataclass(slots=True)
class Seen:
    """What watching the recording gave, before any rules."""

    source: dict[str, Any]
    calibration: Calibration
    observations: list[Observation]
    warnings: list[dict[str, Any]]
    frames: int
    moving_frames: int
    looks: int


def load_see(weights: Path | None = None) -> See:
    """The detector, refinement and evidence as one function from frame and region to detections.

    What is seen faintly is handed on: tracking takes it where a ball that it knows was due, and nowhere else.
    """
    from vision.seer import Seer

    return Seer(weights, threshold=FAINT, doubtful=0.75 * FAINT)


def load_table(path: Path, width: int, height: int) -> Calibration:
    """A table.json of this very picture size."""
    document = results.read_json(path)
    source = document.get("source") or {}
    if (source.get("width"), source.get("height")) != (width, height):
        raise InputError(
            f"{path}: made for pictures of {source.get('width')}x{source.get('height')}, the video has {width}x{height};"
            " calibrate this video, or leave --table out"
        )
    try:
        return Calibration.from_json(document["table"])
    except (KeyError, TypeError, ValueError) as error:
        raise InputError(f"{path}: not a table.json ({error}); make it with `railbird calibrate`") from None


def watch(video: Video, options: Options, see: See, bar: Bar) -> Seen:
    """Look at the whole recording: table, observations, warnings.

    Raises
    ------
    InputError
        Where no table is found in it.
    """
    info = video.info
    given = None if options.table is None else load_table(options.table, info.width, info.height)
    frames = iter(video)
    stage: Stage = set_stage(frames, see, length_m=options.length_m, given=given, name=info.name)
    if stage.late and Path(info.name).is_file():
        # A player stood in front, or the first pictures were too dark: the same view may have been there before.
        video.close()
        with open_video(info.name) as again:
            stage.frames = iter(again)
            return _follow(again, stage, see, bar, options.moment)
    return _follow(video, stage, see, bar, options.moment)


def _follow(video: Video, stage: Stage, see: See, bar: Bar, moment: float | None) -> Seen:
    """Every frame of a stream whose table is known."""
    info = video.info
    eye = Eye(stage.calibration, see, moment)
    observations: list[Observation] = []
    warnings = list(stage.warnings)
    times: list[float] = []
    repeats: list[bool] = []
    with bar.stage("watching", info.frames) as step:
        for frame, following in _with_next(stage.frames):
            step()
            if following is not None:
                eye.expect(following)
            times.append(frame.t_s)
            repeats.append(frame.repeat)
            verdict = stage.check(frame, eye)
            warnings += verdict.warnings
            observations += stage.trusted(verdict, eye.frame(frame) if verdict.table_seen else [])
    cadence = find_cadence(times, repeats)
    if cadence is not None:
        observations = evenly(observations, cadence)
        text = f"the file repeats pictures: {cadence.rate:.4g} a second are new; their own even clock is used"
        warnings.append({"t_s": 0.0, "code": "repeated-frames", "text": text})
    if video.problem:
        warnings.append({"t_s": video.last_t_s, "code": "truncated", "text": f"the stream ends early: {video.problem}"})
    elif info.frames and video.decoded < 0.98 * info.frames:
        text = f"{video.decoded} of {info.frames} frames could be decoded; what decoded is analysed"
        warnings.append({"t_s": video.last_t_s, "code": "truncated", "text": text})
    source = {
        "file": Path(info.name).name,
        "sha256": file_sha256(info.name),
        "width": info.width,
        "height": info.height,
        "frames": video.decoded,
        "duration_s": round(video.last_t_s + (1 / info.rate if info.rate else 0.0), 6),
    }
    return Seen(source, stage.calibration, observations, warnings, eye.frames, eye.moving_frames, eye.looked)


def _with_next(frames: Iterator[Frame]) -> Iterator[tuple[Frame, Frame | None]]:
    """Each frame with the one after it, None after the last."""
    frame = next(frames, None)
    while frame is not None:
        following = next(frames, None)
        yield frame, following
        frame = following


def evenly(observations: list[Observation], cadence: Cadence) -> list[Observation]:
    """The looks at the times their pictures were taken; a picture looked at twice counts once."""
    kept: dict[int, Observation] = {}
    numbers = cadence.number([o.t_s for o in observations])
    taken = cadence.corrected([o.t_s for o in observations])
    for number, t, observation in zip(numbers, taken, observations, strict=True):
        kept.setdefault(int(number), replace(observation, t_s=max(0.0, float(t))))
    return list(kept.values())


def turned(observation: Observation, width: float, length: float) -> Observation:
    """The same look with head and foot exchanged."""
    return replace(
        observation,
        xy=np.array([width, length]) - observation.xy,
        hidden=observation.hidden[::-1, ::-1],
    )


FAINT = 0.08  # score from which a picture of a ball is handed to tracking

RACK_LEAST = 6
RACK_SCORE = 0.15  # balls that touch are seen faintly each; that they lie packed makes up for it
RACK_ACROSS = 5.2  # balls' diameters: half the side of a full triangle around its middle


def find_rack(observation: Observation, calibration: Calibration) -> float | None:
    """``y`` of the middle of a set rack in this look, metres; None where the balls are not packed."""
    xy = observation.xy[observation.score > RACK_SCORE]
    ball = calibration.table.ball_m
    if len(xy) < RACK_LEAST + 1:
        return None
    gaps = np.linalg.norm(xy[:, None] - xy[None], axis=2)
    touching = ((gaps > 0.5 * ball) & (gaps < 1.35 * ball)).sum(axis=1)
    packed = touching >= 2
    if packed.sum() < RACK_LEAST or packed.sum() < 0.6 * (len(xy) - 1):
        return None
    middle = np.median(xy[packed], axis=0)
    if (
        np.abs(xy[packed] - middle).max() > RACK_ACROSS * ball
        or abs(middle[0] - calibration.table.long_string) > 2 * ball
    ):
        return None
    return float(middle[1])


def judge(seen: Seen, options: Options) -> dict[str, Any]:
    """From observations to a match document with rulings.

    Raises
    ------
    InputError
        Where the calls or the set-up do not fit.
    """
    from railbird.script import rule
    from tracking.analyse import analyse

    calibration, observations, warnings = seen.calibration, seen.observations, seen.warnings
    table = calibration.table
    rack = next((y for o in observations[:8] if (y := find_rack(o, calibration)) is not None), None)
    if rack is not None:
        calibration = head_from_rack(calibration, [[table.long_string, rack]])
    if rack is not None and rack < table.centre_string:
        observations = [turned(o, table.width_m, table.length_m) for o in observations]
        warnings = [
            {**w, "table": Calibration.from_json(w["table"]).turned().to_json()} if "table" in w else w
            for w in warnings
        ]
    analysis = analyse(observations, table, game_balls=(0, *BALLS[options.game]))
    match: dict[str, Any] = {
        "format": "railbird/1",
        "source": seen.source,
        "table": calibration.to_json(),
        "game": options.game,
        "rules": options.rules,
        "players": options.players,
        "language": options.language,
        "rack_seen": rack is not None,
        "shots": [shot_row(s) for s in analysis.shots],
        "warnings": sorted(warnings, key=lambda w: w["t_s"]),
    }
    setup = None if options.setup is None else read_setup(options.setup)
    return rule(match, calls=options.calls, setup=setup)


def shot_row(seen: SeenShot) -> dict[str, Any]:
    """A shot as match.json has it, with paths, and with how sure the order of close contacts is."""
    row = results.shot_to_json(seen.shot, paths={ball: path.tolist() for ball, path in seen.paths.items()})
    if seen.order:
        row["orders"] = [{"events": [o.first, o.second], "p": round(o.p, 4)} for o in seen.order]
    return row


def read_setup(path: Path) -> dict[str, Any]:
    """The one ``setup`` line of a file."""
    try:
        lines = [line for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]
        document = json.loads(lines[0]) if len(lines) == 1 else json.loads("\n".join(lines))
        return dict(document["setup"])
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror}); give a file with one setup line") from None
    except (KeyError, TypeError, IndexError, ValueError):
        raise InputError(f'{path}: not a setup line; write {{"setup": {{"on_table": [0, 2, 5, 9]}}}}') from None


def analyse_video(video: str, options: Options) -> dict[str, Any]:
    """From the file to the match document; nothing is written."""
    bar = Bar(options.progress)
    with open_video(video) as stream:
        return judge(watch(stream, options, load_see(options.weights), bar), options)


def run(video: str, folder: Path, options: Options) -> dict[str, Any]:
    """Analyse ``video`` and write everything into ``folder``.

    Raises
    ------
    InputError
        Where the video, the options or the folder are at fault; nothing is left half written. Files of calls and set-up
        are read before the video.
    """
    from railbird.calls import read_calls
    from railbird.outputs import write_all
    from railbird.script import rule

    writable(folder)
    calls = None if options.calls is None else read_calls(options.calls)
    if options.setup is not None:
        read_setup(options.setup)
    match = analyse_video(video, replace(options, calls=None))
    if calls is not None:
        try:
            match = rule(match, calls=calls)
        except InputError as problem:  # what took minutes or hours to see is kept
            kept = folder / "match.json"
            results.write(kept, match)
            again = f"railbird report {kept} --calls {options.calls}"
            raise InputError(f"{problem}; what was seen is in {kept}: correct the calls and run `{again}`") from None
    write_all(match, video, folder, annotated=options.annotated, clips=options.clips, bar=Bar(options.progress))
    return match


def writable(folder: Path) -> None:
    """Fail early, before minutes of work, where the result cannot be written."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        probe = folder / ".railbird-probe"
        probe.touch()
        probe.unlink()
    except OSError as error:
        raise InputError(f"--out {folder}: cannot be written ({error.strerror}); give another folder") from None
