"""Where every ball is at a time, from the paths of ``match.json``; and which camera sees it then."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from calibration.camera import Camera

Floats = npt.NDArray[np.float64]
GONE_S = 0.25  # a pocketed ball is drawn so long after it crossed the edge
MOVED_M = 0.03  # a ball that lies so far from where it came to rest was moved by hand: nobody knows when


class Course:
    """The balls' courses over a whole match.

    Parameters
    ----------
    match : a match document; shots without ``paths`` are taken as straight from start to end.
    """

    def __init__(self, match: Mapping[str, Any]) -> None:
        self.shots = match["shots"]
        self.starts = [float(shot["start_s"]) for shot in self.shots]
        self._paths: list[dict[int, Floats]] = [_paths(shot) for shot in self.shots]

    def shot_at(self, t: float) -> int | None:
        """Index of the shot that runs at ``t`` or ran last; ``None`` before the first."""
        i = bisect_right(self.starts, t) - 1
        return i if i >= 0 else None

    def moving(self, t: float) -> bool:
        """Whether a shot is under way."""
        i = self.shot_at(t)
        return i is not None and t <= self.shots[i]["end_s"]

    def balls(self, t: float) -> dict[int, tuple[float, float]]:
        """Ball -> centre (metres, table frame) of all balls whose place at ``t`` is known."""
        i = self.shot_at(t)
        if i is None:
            return _places(self.shots[0]["start"]) if self.shots else {}
        shot = self.shots[i]
        if t > shot["end_s"]:
            return self._between(i)
        found = _places(shot["start"])
        for ball, path in self._paths[i].items():
            if t <= path[-1, 0]:
                found[ball] = (float(np.interp(t, path[:, 0], path[:, 1])), float(np.interp(t, path[:, 0], path[:, 2])))
            elif str(ball) in (shot.get("end") or {}) or t <= path[-1, 0] + GONE_S:
                found[ball] = (float(path[-1, 1]), float(path[-1, 2]))
            else:
                found.pop(ball, None)
        return found

    def trails(self, t: float, seconds: float) -> dict[int, Floats]:
        """Ball -> (n, 2) the last ``seconds`` of its way, oldest first, of balls that moved in them."""
        i = self.shot_at(t)
        if i is None:
            return {}
        found = {}
        for ball, path in self._paths[i].items():
            times = path[:, 0]
            if t < times[0] or t > times[-1] + seconds:
                continue
            since, until = max(t - seconds, times[0]), min(t, times[-1])
            if since >= until:
                continue
            inner = path[(times > since) & (times < until)]
            ends = [[np.interp(s, times, path[:, k]) for k in (1, 2)] for s in (since, until)]
            way = np.vstack([ends[0], inner[:, 1:], ends[1]])
            if np.abs(way - way[0]).max() > 0.004:
                found[ball] = way
        return found

    def speed(self, ball: int, t: float, span: float = 0.05) -> float:
        """A ball's speed about ``t``, metres a second; 0 where it is at rest or not known."""
        i = self.shot_at(t)
        path = self._paths[i].get(ball) if i is not None else None
        if path is None or not path[0, 0] <= t <= path[-1, 0]:
            return 0.0
        a, b = (np.array([np.interp(s, path[:, 0], path[:, k]) for k in (1, 2)]) for s in (t - span / 2, t + span / 2))
        return float(np.hypot(*(b - a))) / span

    def path(self, shot: int, ball: int) -> Floats | None:
        """(n, 3) rows of t, x, y of a ball in shot number ``shot`` (an index), or ``None``."""
        return self._paths[shot].get(ball)

    def _between(self, i: int) -> dict[int, tuple[float, float]]:
        """Balls at rest after shot ``i``: those that lie where the next shot finds them."""
        rest = _places(self.shots[i].get("end") or {})
        if i + 1 >= len(self.shots):
            return rest
        upcoming = _places(self.shots[i + 1]["start"])
        return {
            ball: at
            for ball, at in rest.items()
            if ball in upcoming and np.hypot(at[0] - upcoming[ball][0], at[1] - upcoming[ball][1]) < MOVED_M
        }


class Cameras:
    """The camera at a time: the table's own, and those that were found anew where it was moved."""

    def __init__(self, match: Mapping[str, Any]) -> None:
        moved = sorted(
            (float(w["t_s"]), w["table"]["camera"])
            for w in match.get("warnings") or ()
            if (w.get("table") or {}).get("camera")
        )
        self._times = [t for t, _ in moved]
        self._cameras = [Camera.from_json(match["table"]["camera"]), *(Camera.from_json(c) for _, c in moved)]

    def at(self, t: float) -> Camera:
        """The camera that holds at ``t`` seconds."""
        return self._cameras[bisect_right(self._times, t)]


def _places(places: Mapping[str, Any]) -> dict[int, tuple[float, float]]:
    return {int(ball): (float(at[0]), float(at[1])) for ball, at in places.items()}


def _paths(shot: Mapping[str, Any]) -> dict[int, Floats]:
    found = {int(b): np.asarray(rows, np.float64) for b, rows in (shot.get("paths") or {}).items() if len(rows) > 1}
    if not shot.get("paths"):
        for ball, at in (shot.get("end") or {}).items():
            if ball in shot["start"]:
                rows = [[shot["start_s"], *shot["start"][ball]], [max(shot["end_s"], shot["start_s"] + 1e-3), *at]]
                found[int(ball)] = np.asarray(rows, np.float64)
    return found
