"""Watches observations as they come and hands out each shot when the balls have come to rest; bounded memory."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from calibration.table import Table
from tracking import motion
from tracking.identity import Identities, identify
from tracking.observations import Floats, Observation
from tracking.reconstruct import Looks, Reading, reconstruct
from tracking.shots import RawShot, SeenShot, name_shot
from tracking.tracker import Status, Track, Tracker

QUIET_S = 0.15  # after the tracker says that all rest
BEFORE_S = 0.8  # looks kept from before the first motion
LONGEST_S = 60.0  # a shot longer than this is cut
LEAST_SPEED = 0.10  # m/s, slower starts are no strokes
LEAST_WAY = 0.012  # metres some ball must travel in a shot


@dataclass(frozen=True, slots=True)
class Between:
    """Something that moved and was no shot: ``kind`` is ``moved`` (by hand, racked, brushed) or ``unclear``."""

    begin_s: float
    end_s: float
    kind: str
    tracks: tuple[int, ...]


class Recorder:
    """Tracks, cuts the stream into stretches of motion, and reads each."""

    def __init__(self, table: Table) -> None:
        self.table = table
        self.tracker = Tracker(table)
        self.between: list[Between] = []
        self.opened: dict[int, int] = {}
        self.prior = (motion.SLIDE, motion.ROLL, 0.5, 0.03)
        self._begin: float | None = None
        self._rests: dict[int, Floats] = {}
        self._quiet_since: float | None = None
        self._exposure = 0.0
        self._first_s: float | None = None

    def push(self, seen: Observation) -> RawShot | None:
        """Take in one observation; the shot that just ended, if one did."""
        self._exposure = seen.exposure_s or self._exposure
        moving = self.tracker.step(seen)
        t = seen.t_s
        if self._first_s is None:
            self._first_s = t
        if moving and self._begin is None:
            starts = [k[0] for tr in self.tracker.tracks if tr.status is Status.MOVING for k in tr.looks[-3:]]
            self._begin = min(starts, default=t)
            self._rests = {tr.id: tr.rest.copy() for tr in self.tracker.tracks if tr.rest_looks >= 3}
            self._quiet_since = None
        if self._begin is None:
            self._trim(t - 2.0)
            return None
        if moving:
            self._quiet_since = None
            if t - self._begin < LONGEST_S:
                return None
        elif self._quiet_since is None:
            self._quiet_since = t
            return None
        elif t - self._quiet_since < QUIET_S:
            return None
        return self._finish(t, partial="end" if moving else "")

    def flush(self) -> RawShot | None:
        """The shot that the end of the stream cuts off, if one is under way."""
        if self._begin is None:
            return None
        return self._finish(self.tracker.time_s, partial="end" if self.tracker.moving else "")

    def _trim(self, before_s: float) -> None:
        for track in self.tracker.tracks:
            if len(track.looks) > 240:
                track.looks = [k for k in track.looks if k[0] >= before_s]

    def _finish(self, t_s: float, partial: Literal["", "start", "end", "both"]) -> RawShot | None:
        assert self._begin is not None
        begin, self._begin, self._quiet_since = self._begin, None, None
        self.tracker.stitch(begin - BEFORE_S)
        looks: dict[int, Looks] = {}
        for track in self.tracker.tracks:
            if track.status is Status.TENTATIVE:
                continue
            times, xy, cov = track.arrays(begin - BEFORE_S)
            if len(times):
                looks[track.id] = Looks(track.id, times, xy, cov, self._rests.get(track.id))
        reading = reconstruct(
            looks, self.table, begin_s=begin, end_s=t_s, exposure_s=self._exposure, prior=self.prior, cue=self._cue()
        )
        raw = self._judge(reading, begin, t_s, partial)
        if raw is not None:
            self._learn(reading)
        return raw

    def _cue(self) -> int | None:
        """The track that looks most like the cue ball (those that opened shots lead)."""
        scores = {
            t.id: float(t.evidence[0] - np.sort(t.evidence)[-2:].mean()) + 3 * self.opened.get(t.id, 0)
            for t in self.tracker.tracks
        }
        return max(scores, key=lambda k: scores[k]) if scores else None

    def _judge(
        self, reading: Reading, begin: float, t_s: float, partial: Literal["", "start", "end", "both"]
    ) -> RawShot | None:
        fit = reading.fit
        strike = next((k for k, kink in enumerate(fit.kinks) if kink.kind == "strike"), None)
        started_moving = [b for b in reading.movers if not fit.paths[b].resting]
        early = self._first_s is not None and begin - self._first_s < 0.25 and bool(started_moving)
        if early:
            partial = "both" if partial else "start"
        if not reading.movers:
            return None
        ways = {
            b: float(np.hypot(*(fit.paths[b].xy[-1] - fit.paths[b].xy[0])))
            for b in reading.movers
            if len(fit.paths[b].xy)
        }
        if strike is None and not early:
            self.between.append(Between(begin, t_s, "moved", tuple(reading.movers)))
            return None
        opener = fit.kinks[strike].balls[0] if strike is not None else None
        start_s = fit.kinks[strike].t_s if strike is not None else begin
        if strike is not None:
            free = sum(k.kind == "free" and opener in k.balls for k in fit.kinks)
            rough = fit.misfit.get((opener or 0, 1), 1.0)
            hits = sum(k.kind in ("contact", "rail") for k in fit.kinks)
            steered = hits == 0 and free > 0 and rough > 12  # a ball in a hand does not roll freely
            if fit.push[strike] < LEAST_SPEED or max(ways.values(), default=0.0) < LEAST_WAY or steered:
                self.between.append(Between(begin, t_s, "moved", tuple(reading.movers)))
                return None
            self.opened[opener or 0] = self.opened.get(opener or 0, 0) + 1
        return RawShot(reading, start_s, max(reading.end_s, start_s), opener, partial)

    def _learn(self, reading: Reading) -> None:
        """Carry the cloth's frictions on to the next shot, as a prior that stays open."""
        s, d, ss, ds = self.prior
        self.prior = (
            0.7 * s + 0.3 * reading.fit.slide,
            0.7 * d + 0.3 * reading.fit.roll,
            max(0.8 * ss, 0.15),
            max(0.8 * ds, 0.008),
        )

    def identities(self, game_balls: list[int] | None = None) -> Identities:
        """Numbers of all tracks so far."""
        tracks = [t for t in self.tracker.tracks if t.status is not Status.TENTATIVE]
        return identify(
            [t.id for t in tracks],
            np.array([t.evidence for t in tracks]).reshape(-1, 16),
            np.array([_span(t) for t in tracks]).reshape(-1, 2),
            game_balls=game_balls,
            opened=np.array([float(self.opened.get(t.id, 0)) for t in tracks]),
            looked=np.array([t.looked for t in tracks]),
        )


def _span(track: Track) -> tuple[float, float]:
    return track.born_s, track.seen_s


class ShotWatcher:
    """Live: push observations, get finished shots.

    >>> watcher = ShotWatcher(table)                      # doctest: +SKIP
    >>> for observation in stream:                        # doctest: +SKIP
    ...     for seen in watcher.push(observation): judge(seen.shot)
    """

    def __init__(self, table: Table, *, game_balls: list[int] | None = None) -> None:
        self.table, self.game_balls = table, game_balls
        self.recorder = Recorder(table)
        self.count = 0

    @property
    def moving(self) -> bool:
        """Whether any ball moves now."""
        return self.recorder.tracker.moving

    def push(self, observation: Observation) -> list[SeenShot]:
        """Take in one observation; shots that ended with it (at most one)."""
        return self._name(self.recorder.push(observation))

    def flush(self) -> list[SeenShot]:
        """The shot that the end of the stream cuts off."""
        return self._name(self.recorder.flush())

    def _name(self, raw: RawShot | None) -> list[SeenShot]:
        if raw is None:
            return []
        self.count += 1
        names = self.recorder.identities(self.game_balls)
        return [name_shot(raw, self.count, names.number, names.p, self.table)]
