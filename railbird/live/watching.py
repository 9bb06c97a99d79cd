"""One stretch of stream with its table: looks for the solver, states for people, a clip of every shot."""

from __future__ import annotations

import logging
import time
from collections import deque
from typing import Protocol

from calibration.result import Calibration
from railbird.eye import Eye, See
from railbird.live.clips import ClipRecorder
from railbird.live.config import Club
from railbird.live.mailbox import Mailbox
from railbird.live.metrics import Metrics
from railbird.live.seen import CameraState, Desk, SeenShot
from railbird.live.solver import Solver, Worked
from railbird.pipeline import find_rack, turned
from railbird.stage import Stage
from tracking import shots
from tracking.observations import Observation
from vision.video import Frame

log = logging.getLogger("railbird.live")
COVERED = 0.05  # share of the table that somebody has to hide to be told of
STILL_COVERED_S = 0.6
BALLS_AT_REST_S = 0.5
ARRIVALS = 3600  # frames whose arrival is remembered: a minute at 60 a second, in which any shot is worked out
SETTLE_S = 8.0  # to work out what is in work when the program is told to end
CUT_SHORT_S = 60.0  # to work out what the end of the stream leaves
NO_SHOT_S = 2.0  # without motion, after which what a clip shows was no shot
NEXT_SHOT_S = 0.3  # without motion, after which motion is another shot's


class Owner(Protocol):
    """What a stretch of stream needs of its camera."""

    club: Club
    metrics: Metrics
    clips: ClipRecorder | None

    def save(self, calibration: Calibration) -> None:
        """Keep the table for the next start."""


class Watch:
    """One stretch of stream with its table.

    Parameters
    ----------
    camera : whose stream it is.
    solver : works shots out, beside this.
    see : finds balls in a frame.
    desk : where everything is told.
    stage : the table.
    box : where frames come from.
    """

    def __init__(self, camera: Owner, solver: Solver, see: See, desk: Desk, stage: Stage, box: Mailbox) -> None:
        self.camera, self.solver, self.desk, self.stage, self.box = camera, solver, desk, stage, box
        self.clips = camera.clips
        self.eye = Eye(stage.calibration, see)
        self._arrived: deque[tuple[float, float]] = deque(maxlen=ARRIVALS)
        self._moved_s = -1e9
        self._covered_since: float | None = None
        self._balls_at = -1e9
        self._rack_known = False
        self._rack_stands = False
        self._rack_due = True
        self._expected = -1
        self._rate: deque[float] = deque(maxlen=90)
        solver.listen(self._finished, self._failed)
        self._begin()
        for warning in stage.warnings:
            log.info("%s: %s", warning["code"], warning["text"])

    def _begin(self) -> None:
        calibration = self.stage.calibration
        self.camera.save(calibration)
        self.desk.on_table(calibration.table.to_json())
        self._anew()
        self.desk.on_state(CameraState.READY)

    def _anew(self) -> None:
        """Tracks begin anew, with the numbers of the balls in play: after a restart in mid-rack those that are down are no choice."""
        self._game, self._offered = self.desk.game, self.desk.in_play
        self.solver.anew(self.stage.calibration.table, sorted(self._offered))

    # -- a frame -------------------------------------------------------------------------------------------------
    def frame(self, frame: Frame) -> None:
        self._arrived.append((frame.t_s, self.box.taken_at))
        self._rate.append(time.monotonic())
        verdict = self.stage.check(frame, self.eye)
        for warning in verdict.warnings:
            log.warning("%s at %.1f s: %s", warning["code"], frame.t_s, warning["text"])
            if warning["code"] == "recalibrated":
                self.camera.metrics.add("recalibrations_total")
                self.camera.save(self.stage.calibration)
        if not verdict.table_seen:
            self.stage.trusted(verdict, [])
            self.desk.on_state(CameraState.NO_TABLE)
            return
        self._expect(frame)
        looked = self.eye.looked
        observations = self.stage.trusted(verdict, self.eye.frame(frame))
        self.camera.metrics.add("looks_total", self.eye.looked - looked)
        if self.clips is not None:
            self._record(frame, self.clips)
        for observation in self._see_rack(observations):
            self.solver.push(observation)
        if self.box.patient:
            self.solver.settle(CUT_SHORT_S)  # frames wait, so nothing is gained by running ahead
        self._forget()
        self._tell(frame)

    def _expect(self, frame: Frame) -> None:
        """Where frames wait already, the next is looked at beside what is done to this one: that is how a lag is made up."""
        following = self.box.waiting()
        if following is not None and frame.index < following.index != self._expected:
            self._expected = following.index
            self.eye.expect(following)

    def _forget(self) -> None:
        """Tracks live as long as a rack: those of balls that are down say which numbers are taken, then are no use."""
        due, game = self.desk.rack_due, self.desk.game
        if (due and not self._rack_due) or game != self._game:
            if not self.solver.idle:
                return  # later
            self._anew()
        self._rack_due = due
        in_play = self.desk.in_play
        if not in_play <= self._offered:  # a ball was spotted, a shot withdrawn, the state put right
            self._offered |= in_play
            self.solver.offer(sorted(self._offered))

    def end(self) -> None:
        """The stream is over: a shot that it cut off is ruled on as far as it was seen."""
        if not self.solver.flush(CUT_SHORT_S):
            log.warning("the end of the stream was not worked out in time")
        self.desk.on_balls(self._arrived[-1][0] if self._arrived else 0.0, self.solver.balls)

    def close(self) -> None:
        self.solver.settle(SETTLE_S)  # a shot that is being worked out is this stretch's
        self.solver.listen(None, None)
        if self.clips is not None:
            self.clips.drop()

    # -- what the solver tells, from its thread ------------------------------------------------------------------
    def _finished(self, seen: shots.SeenShot, worked: Worked) -> None:
        shot = seen.shot
        self.camera.metrics.worked(max(0.0, worked.look_s - shot.end_s), worked.cpu_s)
        rest = next((at for t, at in list(self._arrived) if t >= shot.end_s), None)
        width = self.camera.club.keep.clip_width
        scale = min(1.0, width / self.stage.calibration.camera.width)
        corners = {name: [float(v) * scale for v in px] for name, px in self.stage.calibration.corners_px.items()}
        paths = {ball: path.tolist() for ball, path in seen.paths.items()}
        where = self.desk.on_shot(SeenShot(shot, paths, rest, corners))
        if self.clips is None:
            return
        if where is None:
            self.clips.finish(shot.start_s, None)
            return
        match, number = where
        self.clips.finish(shot.start_s, lambda file, began_s: self.desk.on_clip(match, number, file, began_s))

    def _failed(self, t_s: float, text: str) -> None:
        """This shot is lost but not the match: people are told."""
        log.error("the shot at %.1f s could not be worked out: %s", t_s, text)
        self.camera.metrics.add("faults_total")
        self.desk.on_fault("a shot could not be worked out")

    # -- clips -----------------------------------------------------------------------------------------------------
    def _record(self, frame: Frame, clips: ClipRecorder) -> None:
        moving, again = self.eye.moving, frame.t_s - self._moved_s > NEXT_SHOT_S
        if moving and again and clips.recording and not self.solver.idle:
            clips.seal()  # the shot before is being worked out, and the next is played already
        if moving and not clips.recording:
            path = self.desk.clip_file()
            if path is not None:
                clips.begin(path)
        if moving:
            self._moved_s = frame.t_s
        elif self.solver.idle and frame.t_s - self._moved_s > NO_SHOT_S:
            clips.drop()  # motion that was no shot: somebody chalked over the table or set a rack
        clips.frame(frame, still=frame.t_s - self._moved_s > NO_SHOT_S)

    def _see_rack(self, looks: list[Observation]) -> list[Observation]:
        """Where a rack is due: once it stands and the hands are gone, tracks begin anew; what was carried there is no shot.

        The first rack also tells which end is the foot: the table is turned, and the looks, if it stands at the end called head.
        """
        if not self.desk.rack_due:
            self._rack_stands = False
            return looks
        if self._rack_stands or self.eye.moving or self.eye.covered >= COVERED:
            return looks
        y = next((y for look in looks if (y := find_rack(look, self.stage.calibration)) is not None), None)
        if y is None:
            return looks
        self._rack_stands = True
        table = self.stage.calibration.table
        known, self._rack_known = self._rack_known, True
        if known or y >= table.centre_string:
            self._anew()
            return looks
        log.info("the rack stands at the other end: head and foot exchanged")
        self.stage.calibration = self.stage.calibration.turned()
        self.eye.recalibrate(self.stage.calibration)
        self._begin()
        return [turned(look, table.width_m, table.length_m) for look in looks]

    # -- telling -------------------------------------------------------------------------------------------------
    def _tell(self, frame: Frame) -> None:
        self.desk.on_state(self._state(frame))
        if self.solver.moving or frame.t_s - self._balls_at >= BALLS_AT_REST_S:
            self._balls_at = frame.t_s
            self.desk.on_balls(frame.t_s, self.solver.balls)
            self.camera.metrics.set("solver_memory_bytes", self.solver.memory_bytes())
        self.camera.metrics.set("looks_waiting", self.solver.waiting)
        if len(self._rate) > 1 and self._rate[-1] > self._rate[0]:
            self.camera.metrics.set("camera_rate", round((len(self._rate) - 1) / (self._rate[-1] - self._rate[0]), 2))

    def _state(self, frame: Frame) -> CameraState:
        if self.solver.moving:
            self._covered_since = None
            return CameraState.SHOT
        if self.eye.covered < COVERED:
            self._covered_since = None
            return CameraState.READY
        self._covered_since = frame.t_s if self._covered_since is None else self._covered_since
        if frame.t_s - self._covered_since < STILL_COVERED_S:
            return CameraState.READY
        return CameraState.RACKING if self.desk.rack_due else CameraState.OCCLUDED
