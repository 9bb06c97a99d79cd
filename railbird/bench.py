"""How long a recording takes: decoding alone, decoding to match.json, and a plain tracking loop beside it."""

from __future__ import annotations

import contextlib
import io
import os
import resource
import time
from pathlib import Path
from typing import Any

import av

from calibration.errors import InputError, MissingExtra


def run(video: str, *, game: str, baseline: bool = False) -> dict[str, Any]:
    """Time an analysis of ``video`` without making pictures.

    Returns
    -------
    dict
        ``decode_s``, ``whole_s``, ``ratio`` (whole to decode), ``moving_share`` of the frames, ``frames``, ``looks``
        (frames given to the detector), ``duration_s`` of the recording, ``realtime`` (duration to whole),
        ``peak_memory_mb``; with ``baseline`` also ``baseline_s`` and ``baseline_ratio``.
    """
    from railbird.pipeline import Options, judge, load_see, watch
    from railbird.progress import Bar
    from vision.video import open_video

    options = Options(game=game, annotated=False, progress=False)
    decode_s, frames = _decode_only(video)
    began = time.perf_counter()
    see = load_see()
    loaded = time.perf_counter()
    with open_video(video) as stream:
        seen = watch(stream, options, see, Bar(False))
    watched = time.perf_counter()
    match = judge(seen, options)
    whole_s = time.perf_counter() - began
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    duration = float(match["source"]["duration_s"])
    report: dict[str, Any] = {
        "format": "railbird/1",
        "video": Path(video).name,
        "frames": frames,
        "duration_s": round(duration, 3),
        "decode_s": round(decode_s, 3),
        "whole_s": round(whole_s, 3),
        "ratio": round(whole_s / decode_s, 3),
        "realtime": round(duration / whole_s, 3),
        "stages_s": {
            "load": round(loaded - began, 3),
            "watch": round(watched - loaded, 3),
            "judge": round(began + whole_s - watched, 3),
        },
        "looks": seen.looks,
        "moving_share": round(seen.moving_frames / max(1, seen.frames), 4),
        "shots": len(match["shots"]),
        "peak_memory_mb": round(peak, 1),
    }
    if baseline:
        seconds = _baseline(video)
        report |= {"baseline_s": round(seconds, 3), "baseline_ratio": round(seconds / whole_s, 3)}
    return report


def _decode_only(video: str) -> tuple[float, int]:
    try:
        container = av.open(video)
    except (OSError, ValueError) as error:
        raise InputError(f"{video}: cannot be read as a video ({error}); give a video file") from None
    began, count = time.perf_counter(), 0
    with container:
        stream = container.streams.video[0]
        stream.thread_type = "AUTO"
        with contextlib.suppress(OSError, ValueError):
            for _ in container.decode(stream):
                count += 1
    return time.perf_counter() - began, count


def _baseline(video: str) -> float:
    """Seconds of a plain ultralytics ``track()`` loop with the network that ships, every frame at full width."""
    os.environ.setdefault("YOLO_OFFLINE", "true")
    try:
        from ultralytics import YOLO
    except ImportError:
        raise MissingExtra("bench --baseline", "yolo") from None
    from vision.yolo import checkpoint

    with contextlib.redirect_stdout(io.StringIO()):
        model = YOLO(str(checkpoint()))
        began = time.perf_counter()
        for _ in model.track(video, stream=True, persist=True, verbose=False, imgsz=1280, device="cpu"):
            pass
        return time.perf_counter() - began
