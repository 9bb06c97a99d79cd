"""Runs a program on something a stranger sent, with limits on time, memory and what it writes."""

from __future__ import annotations

import contextlib
import json
import logging
import os
import signal
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from calibration.errors import InputError

log = logging.getLogger("railbird.live")
MB = 1 << 20


@dataclass(frozen=True, slots=True)
class Limits:
    """What a child process may use: processor seconds, wall seconds, address space and file size in bytes."""

    cpu_s: int
    wall_s: float
    memory: int
    file: int


PROBE = Limits(cpu_s=20, wall_s=30, memory=1500 * MB, file=MB)
CHECK = Limits(cpu_s=180, wall_s=240, memory=6000 * MB, file=200 * MB)
UPLOAD_BYTES = 200 * MB
LONGEST_S = 120.0
MOST_PIXELS = 4096 * 2304
MOST_FRAMES = 30_000


_LAUNCH = """
import os, resource, sys
cpu, memory, size = map(int, sys.argv[1:4])
resource.setrlimit(resource.RLIMIT_CPU, (cpu, cpu + 2))
resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))
resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
resource.setrlimit(resource.RLIMIT_NOFILE, (256, 256))
os.nice(10)  # the match on the table goes before the check of an old one
os.execv(sys.argv[4], sys.argv[4:])
"""


def run_limited(command: Sequence[str], limits: Limits, folder: Path) -> subprocess.CompletedProcess[bytes]:
    """Run ``command`` under ``limits`` in ``folder``; it and its children are gone when this returns.

    Raises
    ------
    InputError
        Where it took longer than it may.
    """

    environment = {k: v for k, v in os.environ.items() if k in ("PATH", "HOME", "LANG", "LC_ALL", "VIRTUAL_ENV")}
    environment |= {"OMP_NUM_THREADS": "1", "PYTHONUNBUFFERED": "1", "YOLO_OFFLINE": "true"}
    # The limits are set by the child itself: this process has threads, and code between fork and exec is not safe there.
    limit = [str(v) for v in (limits.cpu_s, limits.memory, limits.file)]
    with subprocess.Popen(
        [sys.executable, "-I", "-c", _LAUNCH, *limit, *command],
        cwd=folder,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    ) as child:
        try:
            out, err = child.communicate(timeout=limits.wall_s)
        except subprocess.TimeoutExpired:
            raise InputError(f"the clip took more than {limits.wall_s:.0f} s; cut it to the shot in dispute") from None
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(child.pid, signal.SIGKILL)
    return subprocess.CompletedProcess(list(command), child.returncode, out[: 4 * MB], err[: 64 * 1024])


_PROBE = """
import json, sys
import av
path, pixels, frames, longest = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), float(sys.argv[4])
with av.open(path, format=None, options={"protocol_whitelist": "file"}) as box:
    stream = box.streams.video[0]
    width, height = stream.codec_context.width, stream.codec_context.height
    if not 0 < width * height <= pixels:
        sys.exit(f"its pictures are {width}x{height}")
    stream.thread_type = "NONE"
    first = last = None
    count = 0
    for packet in box.demux(stream):
        if packet.pts is None:
            continue
        at = float(packet.pts * packet.time_base)
        first = at if first is None else min(first, at)
        last = at if last is None else max(last, at)
        count += 1
        if count > frames or last - first > longest:
            sys.exit(f"it is longer than {longest:.0f} s or has more than {frames} frames")
with av.open(path, options={"protocol_whitelist": "file"}) as box:
    stream = box.streams.video[0]
    for number, frame in enumerate(box.decode(stream)):
        if frame.width * frame.height > pixels:
            sys.exit(f"its pictures are {frame.width}x{frame.height}")
        if number >= 9:
            break
    else:
        if not count:
            sys.exit("not one frame of it decodes")
json.dump({"width": width, "height": height, "frames": count, "seconds": (last or 0) - (first or 0)}, sys.stdout)
"""


def probe_clip(clip: Path) -> dict[str, Any]:
    """Size, frames and seconds of an uploaded clip, found out in a process that may use little.

    Raises
    ------
    InputError
        Where it is no video, or larger or longer than a clip in dispute is.
    """
    command = [sys.executable, "-I", "-c", _PROBE, str(clip), str(MOST_PIXELS), str(MOST_FRAMES), str(LONGEST_S)]
    done = run_limited(command, PROBE, clip.parent)
    if done.returncode != 0:
        lines = done.stderr.decode("utf-8", "replace").strip().splitlines()
        reason = lines[-1][:160] if lines and done.returncode == 1 else "it asks for too much time or memory"
        log.warning("upload refused: %s", reason)
        raise InputError(f"the clip cannot be used: {reason}")
    found: dict[str, Any] = json.loads(done.stdout)
    if found["frames"] < 1:
        raise InputError("the clip cannot be used: not one frame of it decodes")
    return found


def check_clip(clip: Path, out: Path, *, at_s: float, game: str, rules: str, language: str) -> dict[str, Any]:
    """The disputed call on a clip, worked out in a process of its own.

    Raises
    ------
    InputError
        With the reason in one line, where the check cannot be made.
    """
    command = [sys.executable, "-m", "railbird", "check", str(clip), "--at", f"{at_s:.3f}", "--game", game]
    command += ["--rules", rules, "--language", language, "--out", str(out), "--json"]
    done = run_limited(command, CHECK, clip.parent)
    if done.returncode != 0:
        lines = done.stderr.decode("utf-8", "replace").strip().splitlines()
        raise InputError(lines[-1][:200] if lines and done.returncode == 2 else "the check failed on this clip")
    found: dict[str, Any] = json.loads(done.stdout)
    return found
