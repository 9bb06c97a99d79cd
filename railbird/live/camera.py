"""The camera over the table: opens the stream and opens it again, keeps the table found, hands finished shots to the desk."""

from __future__ import annotations

import contextlib
import logging
import threading
import time
from collections.abc import Callable
from pathlib import Path

import cv2
import numpy as np

from calibration.errors import InputError
from calibration.result import Calibration
from railbird import result as results
from railbird.eye import See
from railbird.live.clips import ClipRecorder
from railbird.live.config import Club
from railbird.live.mailbox import Mailbox
from railbird.live.metrics import Metrics
from railbird.live.seen import CameraState, Desk
from railbird.live.solver import Solver
from railbird.live.watching import Watch
from railbird.pipeline import load_see, load_table
from railbird.stage import Stage, TableNotFound, same_way_round, set_stage
from vision.video import Frame, Video, open_video

log = logging.getLogger("railbird.live")
WAIT_S = (0.5, 1, 2, 4, 8, 15, 30)  # between attempts to open the stream again
SOLVER_S = 60.0  # to start the process that works shots out, on a machine with other work to do
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
    solver : works shots out; one in a process of its own where not given.
    """

    def __init__(
        self,
        club: Club,
        metrics: Metrics | None = None,
        *,
        see: See | None = None,
        opened: Callable[[str], Video] = open_video,
        pace: float | None = 1.0,
        solver: Solver | None = None,
    ) -> None:
        if club.camera.source is None:
            raise InputError("--source is missing: a camera number (0), an address (rtsp://…) or a file")
        self.club, self.source = club, club.camera.source
        self.metrics = metrics or Metrics()
        self._open, self._pace = opened, pace
        self._see = see
        self.solver = solver
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None
        self._latest: Frame | None = None
        self._calibration: Calibration | None = None
        self.clips: ClipRecorder | None = None
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
            self.solver = self.solver or Solver()
            if self._see is None:
                self._see = load_see(self.club.camera.weights)
            if self.club.keep.clips:
                self.clips = ClipRecorder(self.club.keep.clip_width)
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
            if self.solver is not None:
                self.solver.close()
            if self.clips is not None:
                self.clips.close()

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
        assert self.solver is not None
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
            self.solver.wait_ready(SOLVER_S)
            # A camera's pictures that the table was found in are old by now; a recording's are looked at all the same.
            stream = stage.frames if self.is_file else frames
            with contextlib.closing(Watch(self, self.solver, self._see, desk, stage, box)) as watch:
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
