"""The camera over the table: opens the stream and opens it again, keeps the table found, hands finished shots to the desk."""

from __future__ import annotations

import contextlib
import logging
import threading
import time
from collections import deque
from collections.abc import Callable
from pathlib import Path
from typing import Any

import cv2
import numpy as np

from calibration.errors import InputError
from calibration.result import Calibration
from railbird import result as results
from railbird.eye import Eye, See
from railbird.games import BALLS
from railbird.live.clips import ClipRecorder
from railbird.live.config import Club
from railbird.live.mailbox import Mailbox
from railbird.live.metrics import Metrics
from railbird.live.seen import CameraState, Desk, SeenShot
from railbird.pipeline import find_rack, load_see, load_table, turned
from railbird.stage import Stage, TableNotFound, same_way_round, set_stage
from tracking.live import ShotWatcher
from tracking.observations import Observation
from tracking.tracker import Status
from vision.video import Frame, Video, open_video

log = logging.getLogger("railbird.live")
WAIT_S = (0.5, 1, 2, 4, 8, 15, 30)  # between attempts to open the stream again
COVERED = 0.05  # share of the table that somebody has to hide to be told of
STILL_COVERED_S = 0.6
BALLS_AT_REST_S = 0.5
MOST_TRACKS = 120
LONG_GONE_S = 300.0  # 14.1 plays on without an end of the rack
LIVE_SCHEMES = ("rtsp", "rtmp", "http", "https", "udp", "tcp", "srt", "rtp")


class LiveCamera:
    """A camera, a network stream, or a file that is played as a camera.

    Parameters
    ----------
    club : the settings.
    metrics : where frames, drops, reconnections are counted.
    see : finds balls in a frame; the shipped detector where not given.
    opened : opens the source; for tests.
    pace : 1 plays a file in real time, ``None`` as fast as it is looked at, without drops.
    """

    def __init__(
        self,
        club: Club,
        metrics: Metrics | None = None,
        *,
        see: See | None = None,
        opened: Callable[[str], Video] = open_video,
        pace: float | None = 1.0,
    ) -> None:
        if club.camera.source is None:
            raise InputError("--source is missing: a camera number (0), an address (rtsp://…) or a file")
        self.club, self.source = club, club.camera.source
        self.metrics = metrics or Metrics()
        self._open, self._pace = opened, pace
        self._see = see
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None
        self._latest: Frame | None = None
        self._calibration: Calibration | None = None
        self._clips: ClipRecorder | None = None
        self._began = time.monotonic()

    # -- a Camera ------------------------------------------------------------------------------------------------
    def start(self, desk: Desk) -> None:
        self._thread = threading.Thread(target=self._run, args=(desk,), name="camera", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        self._stop.set()
        if self._thread is not None:
            self._thread.join(timeout=10)

    def picture(self) -> bytes | None:
        """The newest frame with the table that was found drawn in, as a JPEG."""
        frame, calibration = self._latest, self._calibration
        if frame is None:
            return None
        image = frame.image.copy()
        if calibration is not None and (calibration.camera.width, calibration.camera.height) == frame.size:
            corners = np.round(np.array(list(calibration.corners_px.values()))).astype(np.int32)
            cv2.polylines(image, [corners], True, (94, 183, 220), 3, cv2.LINE_AA)
            cv2.putText(image, "head", tuple(map(int, corners[0])), cv2.FONT_HERSHEY_SIMPLEX, 1.1, (94, 183, 220), 2)
        scale = min(1.0, 1280 / image.shape[1])
        small = cv2.resize(image, None, fx=scale, fy=scale, interpolation=cv2.INTER_AREA)
        done, data = cv2.imencode(".jpg", small, [cv2.IMWRITE_JPEG_QUALITY, 80])
        return bytes(data.tobytes()) if done else None

    @property
    def is_file(self) -> bool:
        """Whether the source is a recording played as a camera: it has an end, and waits for whoever reads it."""
        scheme = self.source.partition("://")[0] if "://" in self.source else ""
        return not (scheme in LIVE_SCHEMES or self.source.isdigit() or self.source.startswith("/dev/"))

    # -- opening and opening again -------------------------------------------------------------------------------
    def _run(self, desk: Desk) -> None:
        attempt = 0
        try:
            if self._see is None:
                self._see = load_see(self.club.camera.weights)
            if self.club.keep.clips:
                self._clips = ClipRecorder(self.club.keep.clip_width)
            while not self._stop.is_set():
                frames_before = self.metrics.get("frames_total")
                try:
                    ended = self._once(desk)
                except InputError as error:
                    ended = str(error)
                except Exception:
                    # A fault of ours must not end the evening: say so in the log, and begin anew with the stream.
                    log.exception("watching the stream failed")
                    self.metrics.add("faults_total")
                    ended = "internal error, see the log"
                if self._stop.is_set():
                    return
                if self.is_file and not self.club.camera.loop:
                    desk.on_state(CameraState.ENDED)
                    return
                if self.metrics.get("frames_total") - frames_before > 100:
                    attempt = 0
                desk.on_state(CameraState.LOST, ended)
                wait = WAIT_S[min(attempt, len(WAIT_S) - 1)]
                attempt += 1
                self.metrics.add("reconnects_total")
                self._stop.wait(wait)
        except Exception:
            log.exception("the camera's thread failed")
            desk.on_state(CameraState.LOST, "internal error, see the log")
        finally:
            if self._clips is not None:
                self._clips.close()

    def _once(self, desk: Desk) -> str:
        """Watch the stream until it ends; says why it ended."""
        desk.on_state(CameraState.CALIBRATING)
        with self._open(self.source) as video:
            box = Mailbox(patient=self.is_file or self._pace is None)
            offset = time.monotonic() - self._began if self.metrics.get("frames_total") else 0.0
            reader = threading.Thread(target=self._read, args=(video, box, offset), name="reader", daemon=True)
            reader.start()
            try:
                self._watch(desk, video, box)
            finally:
                box.close()
                video.close()
                reader.join(timeout=5)
            return video.problem or "the stream ended"

    def _read(self, video: Video, box: Mailbox, offset: float) -> None:
        """Frames into the mailbox, at the pace of a camera."""
        began = time.monotonic()
        try:
            for frame in video:
                if self._stop.is_set():
                    break
                if self.is_file and self._pace is not None:
                    wait = frame.t_s / self._pace - (time.monotonic() - began)
                    if wait > 0 and self._stop.wait(wait):
                        break
                frame.t_s += offset  # the stream's clock begins anew when it is opened again; ours goes on
                self.metrics.add("frames_total")
                dropped, given_at = box.dropped, time.monotonic()
                if not box.give(frame):
                    break
                began += time.monotonic() - given_at  # a recording waits until its table is found
                if box.dropped > dropped:
                    self.metrics.add("frames_dropped_total", box.dropped - dropped)
        finally:
            box.close()

    # -- watching ------------------------------------------------------------------------------------------------
    def _watch(self, desk: Desk, video: Video, box: Mailbox) -> None:
        assert self._see is not None
        info = video.info
        file = self.club.camera.table_file
        given = None if file is None else load_table(file, info.width, info.height)
        frames = iter(box)
        while not self._stop.is_set():
            try:
                stage = set_stage(frames, self._see, length_m=self.club.camera.length_m, given=given, name=self.source)
            except TableNotFound as error:
                desk.on_state(CameraState.NO_TABLE, str(error))
                if next(frames, None) is None:
                    return
                continue
            self._turn_like_before(stage, info.width, info.height)
            before = box.taken
            # A camera's pictures that the table was found in are old by now; a recording's are looked at all the same.
            stream = stage.frames if self.is_file else frames
            with contextlib.closing(_Watch(self, desk, stage, box)) as watch:
                for frame in stream:
                    if self._stop.is_set():
                        return
                    if box.patient and box.taken > before:
                        box.patient = self._pace is None
                    self._latest = frame
                    watch.frame(frame)
                watch.end()
            return

    def _turn_like_before(self, stage: Stage, width: int, height: int) -> None:
        """Which end is the head is known from the rack; over a restart it is kept in the data folder."""
        try:
            before = load_table(self.saved, width, height)
        except InputError:
            return
        stage.calibration = same_way_round(stage.calibration, before)

    @property
    def saved(self) -> Path:
        """Where the table that was found last is kept."""
        return self.club.folder / "table.json"

    def save(self, calibration: Calibration) -> None:
        """Keep the table for the next start."""
        self._calibration = calibration
        camera = calibration.camera
        source = {"file": self.source, "width": camera.width, "height": camera.height}
        try:
            results.write_json(self.saved, {"format": "railbird/1", "source": source, "table": calibration.to_json()})
        except InputError as error:
            log.warning("%s", error)


class _Watch:
    """One stretch of stream with its table: looks, states, shots, clips."""

    def __init__(self, camera: LiveCamera, desk: Desk, stage: Stage, box: Mailbox) -> None:
        self.camera, self.desk, self.stage, self.box = camera, desk, stage, box
        assert camera._see is not None
        self.clips = camera._clips
        self.eye = Eye(stage.calibration, camera._see)
        self._arrived: deque[tuple[float, float]] = deque(maxlen=240)
        self._covered_since: float | None = None
        self._balls_at = -1e9
        self._rack_known = False
        self._rack_stands = False
        self._rack_due = True
        self._expected = -1
        self._rate: deque[float] = deque(maxlen=90)
        self._begin()
        for warning in stage.warnings:
            log.info("%s: %s", warning["code"], warning["text"])

    def _begin(self) -> None:
        calibration = self.stage.calibration
        self.camera.save(calibration)
        self.desk.on_table(calibration.table.to_json())
        self._new_watcher()
        self.desk.on_state(CameraState.READY)

    def _new_watcher(self) -> None:
        self._game = self.desk.game
        balls = [0, *BALLS[self._game]]
        self.watcher = ShotWatcher(self.stage.calibration.table, game_balls=balls)

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
            self.desk.on_state(CameraState.NO_TABLE)
            return
        self._expect(frame)
        looked = self.eye.looked
        observations = self.eye.frame(frame)
        self.camera.metrics.add("looks_total", self.eye.looked - looked)
        if self.clips is not None:
            self._record(frame)
        for observation in self._see_rack(observations):
            self._push(observation)
        self._forget(frame)
        self._tell(frame)

    def _expect(self, frame: Frame) -> None:
        """Where frames wait already, the next is looked at beside what is done to this one: that is how a lag is made up."""
        following = self.box.waiting()
        if following is not None and frame.index < following.index != self._expected:
            self._expected = following.index
            self.eye.expect(following)

    def _push(self, observation: Observation) -> None:
        """Hand a look to tracking. If that fails, this shot is lost but not the match: people are told."""
        try:
            for seen in self.watcher.push(observation):
                self._finished(seen)
        except Exception:
            log.exception("the shot at %.1f s could not be worked out", observation.t_s)
            self.camera.metrics.add("faults_total")
            self.desk.on_fault("a shot could not be worked out")
            self._new_watcher()

    def _forget(self, frame: Frame) -> None:
        """Tracks live as long as a rack: those of balls that are down say which numbers are taken, then are no use."""
        due, game = self.desk.rack_due, self.desk.game
        if not self.watcher.moving and ((due and not self._rack_due) or game != self._game):
            self._new_watcher()
        self._rack_due = due
        tracker = self.watcher.recorder.tracker
        if len(tracker.tracks) > MOST_TRACKS:
            ended = (Status.LOST, Status.GONE)
            tracker.tracks = [t for t in tracker.tracks if t.status not in ended or frame.t_s - t.seen_s < LONG_GONE_S]

    def end(self) -> None:
        """The stream is over: a shot that it cut off is ruled on as far as it was seen."""
        for seen in self.watcher.flush():
            self._finished(seen)

    def close(self) -> None:
        if self.clips is not None:
            self.clips.drop()

    def _finished(self, seen: Any) -> None:
        shot = seen.shot
        rest = next((at for t, at in self._arrived if t >= shot.end_s), None)
        width = self.camera.club.keep.clip_width
        scale = min(1.0, width / self.stage.calibration.camera.width)
        corners = {name: [float(v) * scale for v in px] for name, px in self.stage.calibration.corners_px.items()}
        paths = {ball: path.tolist() for ball, path in seen.paths.items()}
        where = self.desk.on_shot(SeenShot(shot, paths, rest, corners))
        self.watcher.recorder.between.clear()  # nobody asks for it live, and an evening is long
        if self.clips is not None:
            if where is None:
                self.clips.drop()
            else:
                match, number = where
                self.clips.finish(lambda file, began_s: self.desk.on_clip(match, number, file, began_s))

    def _record(self, frame: Frame) -> None:
        assert self.clips is not None
        if self.eye.moving and not self.clips.recording:
            path = self.desk.clip_file()
            if path is not None:
                self.clips.begin(path)
        if self.eye.moving or self.watcher.moving:
            self._last_moving = frame.t_s
        elif self.clips.recording and frame.t_s - self._last_moving > 2.0:
            self.clips.drop()  # motion that was no shot: somebody chalked over the table or set a rack
        self.clips.frame(frame)

    _last_moving = 0.0

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
            self._new_watcher()
            return looks
        log.info("the rack stands at the other end: head and foot exchanged")
        self.stage.calibration = self.stage.calibration.turned()
        self.eye.recalibrate(self.stage.calibration)
        self._begin()
        return [turned(look, table.width_m, table.length_m) for look in looks]

    # -- telling -------------------------------------------------------------------------------------------------
    def _tell(self, frame: Frame) -> None:
        self.desk.on_state(self._state(frame))
        moving = self.watcher.moving
        if moving or frame.t_s - self._balls_at >= BALLS_AT_REST_S:
            self._balls_at = frame.t_s
            self.desk.on_balls(frame.t_s, self._balls())
        if len(self._rate) > 1 and self._rate[-1] > self._rate[0]:
            self.camera.metrics.set("camera_rate", round((len(self._rate) - 1) / (self._rate[-1] - self._rate[0]), 2))

    def _state(self, frame: Frame) -> CameraState:
        if self.watcher.moving:
            self._covered_since = None
            return CameraState.SHOT
        if self.eye.covered < COVERED:
            self._covered_since = None
            return CameraState.READY
        self._covered_since = frame.t_s if self._covered_since is None else self._covered_since
        if frame.t_s - self._covered_since < STILL_COVERED_S:
            return CameraState.READY
        return CameraState.RACKING if self.desk.rack_due else CameraState.OCCLUDED

    def _balls(self) -> dict[int, tuple[float, float]]:
        recorder = self.watcher.recorder
        names = recorder.identities(self.watcher.game_balls, lately=True).number
        shown = (Status.RESTING, Status.MOVING)
        return {
            names[track.id]: (float(track.mean[0]), float(track.mean[1]))
            for track in recorder.tracker.tracks
            if track.status in shown and track.id in names
        }
