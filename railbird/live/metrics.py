"""Numbers for /metrics in Prometheus' text format: counters, gauges and one histogram of latency."""

from __future__ import annotations

import threading
from bisect import bisect_left
from collections import deque
from collections.abc import Mapping

LATENCY_BUCKETS_S = (0.1, 0.2, 0.3, 0.5, 0.7, 1.0, 1.5, 2.0, 5.0)
RECENT = 512

_HELP = {
    "frames_total": "Frames that came from the camera.",
    "frames_dropped_total": "Frames passed over because a newer one was there.",
    "looks_total": "Frames that the detector looked at.",
    "reconnects_total": "Times the stream was opened again.",
    "recalibrations_total": "Times the table was found again.",
    "faults_total": "Faults of ours that cost a shot or a stretch of stream.",
    "shots_total": "Shots ruled on.",
    "solving_seconds_total": "Processor seconds spent on working out shots after they were over.",
    "refused_total": "Requests refused, by reason.",
    "pages": "Open pages.",
    "state": "1 for the state the camera is in.",
    "looks_waiting": "Looks that wait while a shot is worked out.",
    "solver_memory_bytes": "Resident memory of the process that works shots out.",
    "camera_rate": "Frames a second over the last seconds.",
    "memory_bytes": "Resident memory of this process.",
    "clips_bytes": "Clips on disk.",
}
_COUNTERS = {name for name in _HELP if name.endswith("_total")}


class Metrics:
    """Counts from any thread; read as text or as a summary."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._values: dict[tuple[str, str], float] = {}
        self._buckets = [0] * (len(LATENCY_BUCKETS_S) + 1)
        self._latency_sum = 0.0
        self._recent: deque[float] = deque(maxlen=RECENT)
        self._worked: deque[tuple[float, float]] = deque(maxlen=RECENT)

    def add(self, name: str, by: float = 1.0, label: str = "") -> None:
        """Count up; ``label`` is written as ``name="value"``."""
        with self._lock:
            key = (name, label)
            self._values[key] = self._values.get(key, 0.0) + by

    def set(self, name: str, value: float, label: str = "") -> None:
        with self._lock:
            self._values[name, label] = value

    def get(self, name: str, label: str = "") -> float:
        with self._lock:
            return self._values.get((name, label), 0.0)

    def latency(self, seconds: float) -> None:
        """From the last ball at rest to the ruling."""
        with self._lock:
            self._buckets[bisect_left(LATENCY_BUCKETS_S, seconds)] += 1
            self._latency_sum += seconds
            self._recent.append(seconds)

    def latencies(self) -> list[float]:
        """The latest latencies, seconds."""
        with self._lock:
            return list(self._recent)

    def worked(self, seen_s: float, cpu_s: float) -> None:
        """A shot was worked out: seconds of stream until its end was plain, and processor seconds from there."""
        with self._lock:
            self._worked.append((seen_s, cpu_s))
            self._values["solving_seconds_total", ""] = self._values.get(("solving_seconds_total", ""), 0.0) + cpu_s

    def work(self) -> list[tuple[float, float]]:
        """Of the latest shots: seconds of stream until the end was plain, and processor seconds from there."""
        with self._lock:
            return list(self._worked)

    def text(self, gauges: Mapping[tuple[str, str], float] | None = None) -> str:
        """Everything as Prometheus reads it; ``gauges`` are read at this moment."""
        with self._lock:
            values = {**self._values, **(gauges or {})}
            buckets, total = list(self._buckets), self._latency_sum
        rows: list[str] = []
        for name in sorted({name for name, _ in values}):
            full = f"railbird_{name}"
            rows.append(f"# HELP {full} {_HELP.get(name, name)}")
            rows.append(f"# TYPE {full} {'counter' if name in _COUNTERS else 'gauge'}")
            for (key, label), value in sorted(values.items()):
                if key == name:
                    rows.append(f"{full}{{{label}}} {value:g}" if label else f"{full} {value:g}")
        rows.append("# HELP railbird_ruling_seconds From the last ball at rest to the ruling.")
        rows.append("# TYPE railbird_ruling_seconds histogram")
        count = 0
        for edge, number in zip((*map(str, LATENCY_BUCKETS_S), "+Inf"), buckets, strict=True):
            count += number
            rows.append(f'railbird_ruling_seconds_bucket{{le="{edge}"}} {count}')
        rows += [f"railbird_ruling_seconds_sum {total:g}", f"railbird_ruling_seconds_count {count}"]
        return "\n".join(rows) + "\n"


def resident_bytes(process: int | str = "self") -> int:
    """Memory of a process that is really in use, this one where none is named (Linux; 0 elsewhere)."""
    try:
        with open(f"/proc/{process}/statm", encoding="ascii") as file:
            return int(file.read().split()[1]) * 4096
    except (OSError, IndexError, ValueError):
        return 0
