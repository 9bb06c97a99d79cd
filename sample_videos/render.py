"""Plays and draws a scene: ``DIR/NAME.mp4`` and ``DIR/NAME.truth.json``, and every ball's place in every frame.

``perform`` plays the strokes, ``write_clip`` draws and encodes, ``truth_of`` gives the match document without rulings
(who imports the referee adds them).
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import cv2
import numpy as np

from calibration.errors import InputError
from calibration.result import Calibration
from sample_videos.bodies import random_dress
from sample_videos.choreography import Act, Placing, act_of
from sample_videos.clip import ClipPainter, frame_count
from sample_videos.layouts import random_rotation
from sample_videos.scene import Plan, Scene
from sample_videos.scripted import SCRIPTS
from sample_videos.simulate import Played, Simulator
from tracking.events import AnyEvent, Contact, OffTable, Pocketed, RailHit, Strike


@dataclass
class Performance:
    """A scene that has been played: where balls are at any time, and what the shots were."""

    scene: Scene
    simulator: Simulator
    shots: list[Played]
    acts: list[Act | Placing]
    end_s: float

    @property
    def frames(self) -> int:
        return frame_count(self.scene, self.end_s)


def perform(scene: Scene) -> Performance:
    """Play all strokes of a scene.

    Raises
    ------
    InputError
        Where a stroke or a script cannot be played.
    """
    rng = np.random.default_rng([scene.seed, 1])
    turns = {ball: random_rotation(rng) for ball in range(16)}
    simulator = Simulator(scene.table, dict(scene.places), turns)
    dresses = [random_dress(rng), random_dress(rng)]
    shots: list[Played] = []
    acts: list[Act | Placing] = []
    now = 0.0
    shooter = 0
    for number, plan in enumerate(scene.plans):
        if plan.shooter in scene.players:
            shooter = scene.players.index(plan.shooter)
        at = now
        for k, (ball, (x, y)) in enumerate(plan.place.items()):
            at = now + 1.2 + 1.0 * k
            simulator.place(ball, x, y, at)
            if scene.people != "none":
                acts.append(Placing(scene.table, at, (x, y), dresses[shooter], scene.seed + k))
        strike_s = at + plan.wait_s if plan.place or number else plan.wait_s
        scripts = tuple(_script(kind, dict(given)) for kind, given in plan.scripts)
        played = simulator.strike(plan.stroke, strike_s, scripts)
        shots.append(played)
        until = strike_s + 3.0
        acts.append(
            act_of(scene.table, plan.stroke, played, dresses[shooter], until, scene.seed + 7 * number, scene.people)
        )
        now = played.end_s
        if any(isinstance(e, Pocketed | OffTable) for e in played.events):
            shooter = (
                shooter if not any(isinstance(e, Pocketed) and e.ball == 0 for e in played.events) else 1 - shooter
            )
        else:
            shooter = 1 - shooter
    return Performance(scene, simulator, shots, acts, now)


def _script(kind: str, given: dict[str, Any]) -> Callable[..., Any]:
    def run(simulator: Simulator, played: Played, stroke: Any) -> Any:
        try:
            return SCRIPTS[kind](simulator, played, stroke, **given)
        except TypeError as problem:
            raise InputError(f"script {kind}: {problem}") from None

    return run


def write_clip(
    performance: Performance, path: Path, *, progress: Callable[[int, int], None] | None = None
) -> dict[str, Any]:
    """Draw and encode the clip; returns the ``source`` object of its truth."""
    scene = performance.scene
    count = performance.frames
    painter = ClipPainter(scene, performance.simulator, performance.acts)
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_suffix(".part.mp4")
    encode(painter.frames(count), part, scene, progress=progress, count=count)
    part.replace(path)
    h, w = scene.camera.height, scene.camera.width
    return {
        "file": path.name, "sha256": hashlib.sha256(path.read_bytes()).hexdigest(), "width": w, "height": h, "frames": count,
        "duration_s": count / scene.fps,
    }  # fmt: skip


def encode(
    frames: Iterator[Any],
    path: Path,
    scene: Scene,
    *,
    progress: Callable[[int, int], None] | None = None,
    count: int = 0,
) -> None:
    """H.264, yuv420p, frame k at exactly k / fps."""
    import av

    rate = Fraction(scene.fps).limit_denominator(1001)
    h, w = scene.camera.height, scene.camera.width
    if h % 2 or w % 2:
        raise InputError(f"scene {scene.name}: size {w}x{h} is odd: H.264 wants even numbers")
    try:
        out = av.open(str(path), "w", options={"movflags": "+faststart"})
    except OSError as problem:
        raise InputError(f"{path}: cannot be written ({problem})") from None
    with out:
        stream = out.add_stream("libx264", rate=rate)
        stream.width, stream.height, stream.pix_fmt = w, h, "yuv420p"
        stream.codec_context.time_base = 1 / rate
        stream.codec_context.thread_count = 2
        stream.options = {"crf": str(scene.crf), "preset": "veryfast"}
        for k, picture in enumerate(frames):
            frame = av.VideoFrame.from_ndarray(cv2.cvtColor(picture, cv2.COLOR_BGR2YUV_I420), format="yuv420p")
            frame.pts, frame.time_base = k, 1 / rate
            for packet in stream.encode(frame):
                out.mux(packet)
            if progress is not None:
                progress(k + 1, count)
        for packet in stream.encode():
            out.mux(packet)


# -- truth -------------------------------------------------------------------------------------------------------------
def event_json(event: AnyEvent) -> dict[str, Any]:
    """One event as match.json has it; a contact's or rail's place is given."""
    base: dict[str, Any] = {"t_s": round(event.t_s, 6), "sigma_s": 0.0}
    if isinstance(event, Strike):
        base |= {"kind": "strike", "ball": event.ball}
    elif isinstance(event, Contact):
        base |= {"kind": "contact", "balls": list(event.balls), "at": _rounded(event.at)}
    elif isinstance(event, RailHit):
        base |= {"kind": "rail", "ball": event.ball, "rail": event.rail, "at": _rounded(event.at)}
    elif isinstance(event, Pocketed):
        base |= {"kind": "pocket", "ball": event.ball, "pocket": event.pocket}
    elif isinstance(event, OffTable):
        base |= {"kind": "off-table", "ball": event.ball}
    return base | {"p": 1.0}


def _rounded(at: tuple[float, float] | None) -> list[float] | None:
    return None if at is None else [round(at[0], 5), round(at[1], 5)]


def truth_of(performance: Performance, source: dict[str, Any]) -> dict[str, Any]:
    """The match document of a clip (FORMATS: match.json) without rulings, with how it was made."""
    scene = performance.scene
    table = Calibration(scene.table, scene.camera, 0.0, head_p=1.0).to_json()
    shots = []
    for number, (plan, played) in enumerate(zip(scene.plans, performance.shots, strict=True), 1):
        shots.append(
            {
                "number": number, "start_s": round(played.start_s, 6), "end_s": round(played.end_s, 6), "shooter": plan.shooter,
                "call": plan.call, "start": _places(played.start), "end": _places(played.end),
                "events": [event_json(e) for e in played.events], **({"observed": list(plan.observed)} if plan.observed else {}),
                "frozen": frozen_at(performance, played), "ruling": None,
            }
        )  # fmt: skip
    return {
        "format": "railbird/1", "source": source, "table": table, "game": scene.game, "rules": scene.rules,
        "players": list(scene.players), "shots": shots, "warnings": [],
        "made": {
            "scene": scene.name, "seed": scene.seed, "fps": scene.fps, "shutter": scene.shutter, "racked": scene.racked,
            "disturbances": [{"t_s": d.t_s, "kind": d.kind} for d in scene.disturbances],
        },
    }  # fmt: skip


def frozen_at(performance: Performance, played: Played, within_m: float = 0.0002) -> dict[str, Any]:
    """Balls that touch a rail or the cue ball before the stroke (FORMATS: ``frozen``)."""
    table = performance.scene.table
    rails = {
        str(b): [r for r in ("head", "foot", "left", "right") if abs(table.rail_gap(at, r)) < within_m]
        for b, at in played.start.items()
    }
    cue = played.start.get(0)
    touching = []
    if cue is not None:
        touching = [
            b
            for b, at in played.start.items()
            if b and abs(np.hypot(at[0] - cue[0], at[1] - cue[1]) - table.ball_m) < within_m
        ]
    return {"rails": {b: r for b, r in rails.items() if r}, "cue": touching}


def _places(places: dict[int, tuple[float, float]]) -> dict[str, list[float]]:
    return {str(b): [round(x, 5), round(y, 5)] for b, (x, y) in sorted(places.items())}


def tracks_of(performance: Performance) -> dict[str, Any]:
    """Arrays for tests: ``t`` (frames,), ``balls`` (n,), ``xyz`` (frames, n, 3) metres, NaN where a ball is not there."""
    scene = performance.scene
    times = np.arange(performance.frames) / scene.fps
    balls = sorted(performance.simulator.tracks)
    xyz = np.full((len(times), len(balls), 3), np.nan)
    for j, ball in enumerate(balls):
        track = performance.simulator.tracks[ball]
        for i, t in enumerate(times):
            state = track.rvw(float(t))
            if state is not None:
                xyz[i, j] = state[0]
    return {"t": times, "balls": np.array(balls), "xyz": xyz}


def write_tracks(performance: Performance, path: Path) -> None:
    """``tracks_of`` as a compressed file of arrays."""
    np.savez_compressed(path, **tracks_of(performance))


def render(scene: Scene, out: Path, *, progress: Callable[[int, int], None] | None = None) -> tuple[Path, Path]:
    """Clip, truth (without rulings) and tracks of one scene. Returns the two main files."""
    performance = perform(scene)
    clip = out / f"{scene.name}.mp4"
    source = write_clip(performance, clip, progress=progress)
    truth_file = out / f"{scene.name}.truth.json"
    truth_file.write_text(json.dumps(truth_of(performance, source), indent=1), encoding="utf-8")
    write_tracks(performance, out / f"{scene.name}.tracks.npz")
    return clip, truth_file


__all__ = ["Performance", "Plan", "perform", "render", "tracks_of", "truth_of", "write_clip", "write_tracks"]
