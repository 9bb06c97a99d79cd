"""The camera's side without a detector: newest frame wins, streams come back, clips are written, memory stays."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import av
import cv2
import numpy as np
import pytest

from calibration.camera import Camera
from calibration.result import Calibration
from calibration.table import Table
from railbird.live import camera as live_camera
from railbird.live import mailbox
from railbird.live.camera import LiveCamera
from railbird.live.clips import ClipRecorder
from railbird.live.mailbox import Mailbox
from railbird.live.metrics import Metrics
from railbird.live.moments import moment_strip
from railbird.live.seen import CameraState, SeenShot
from tests.railbird.live.rig import club
from tracking.live import ShotWatcher
from tracking.observations import Observation
from vision.detections import Detections
from vision.video import Frame, SourceInfo, Video

WIDTH, HEIGHT = 640, 360
TABLE = Table()


def overhead() -> Calibration:
    view = Camera.looking((0.635, 1.27, 3.2), (0.635, 1.271, 0), width=WIDTH, height=HEIGHT, focal=420, roll=np.pi / 2)
    return Calibration(TABLE, view, 0.3)


@cache
def empty_table() -> np.ndarray[Any, Any]:
    """A floor with a pattern, rails and a cloth: what the watch over the camera holds on to."""
    calibration = overhead()
    rng = np.random.default_rng(5)
    floor = cv2.resize(
        rng.integers(20, 200, (45, 80, 3), dtype=np.uint8), (WIDTH, HEIGHT), interpolation=cv2.INTER_NEAREST
    )
    for margin, colour in ((0.15, (30, 50, 80)), (0.0, (90, 110, 30))):
        w, length = TABLE.width_m + margin, TABLE.length_m + margin
        corners = [(-margin, -margin), (w, -margin), (w, length), (-margin, length)]
        pixels = calibration.camera.project(corners, TABLE.nose_height)
        cv2.fillPoly(floor, [np.round(pixels).astype(np.int32)], colour)
    for x, y in calibration.camera.project(TABLE.sights, TABLE.nose_height):
        cv2.circle(floor, (round(x), round(y)), 2, (220, 230, 230), -1)
    for pocket in TABLE.pockets.values():
        x, y = calibration.camera.project([pocket.centre], 0.0)[0]
        cv2.circle(floor, (round(x), round(y)), 8, (5, 5, 5), -1)
    return floor


def picture(places: dict[int, tuple[float, float]], calibration: Calibration) -> np.ndarray[Any, Any]:
    """The table with discs on it: enough for the change gate."""
    image = empty_table().copy()
    for ball, at in places.items():
        x, y = calibration.camera.project([at], TABLE.ball_radius)[0]
        cv2.circle(
            image, (round(x * 16), round(y * 16)), 5 * 16, (40 + 12 * ball, 230 - 9 * ball, 200), -1, cv2.LINE_AA, 4
        )
    return image


def test_the_newest_frames_win_and_drops_are_counted() -> None:
    box = Mailbox(holds=3)
    for n in range(10):
        box.give(Frame(n, n / 30, None, np.zeros((2, 2, 3), np.uint8)))
    box.close()
    assert [frame.index for frame in box] == [7, 8, 9]
    assert (box.given, box.dropped) == (10, 7)
    assert not box.give(Frame(11, 1.0, None, np.zeros((2, 2, 3), np.uint8)))


def test_a_patient_mailbox_drops_nothing() -> None:
    box = Mailbox(holds=2, patient=True)

    def give() -> None:
        for n in range(50):
            box.give(Frame(n, n / 30, None, np.zeros((2, 2, 3), np.uint8)))
        box.close()

    threading.Thread(target=give, daemon=True).start()
    assert [frame.index for frame in box] == list(range(50))
    assert box.dropped == 0


def test_a_clip_begins_before_the_shot_and_plays(tmp_path: Path) -> None:
    recorder = ClipRecorder(320)
    written: list[tuple[Path, float]] = []
    path = tmp_path / "clip.mp4"
    rng = np.random.default_rng(1)
    for n in range(90):
        image = rng.integers(0, 255, (HEIGHT, WIDTH, 3), dtype=np.uint8)
        if n == 45:
            recorder.begin(path)
        recorder.frame(Frame(n, 100 + n / 30, None, image))
        time.sleep(0.002)
    recorder.finish(lambda file, began_s: written.append((file, began_s)))
    recorder.close()
    assert written[0][0] == path
    assert 100 + 45 / 30 - 0.85 < written[0][1] < 100 + 45 / 30
    with av.open(str(path)) as box:
        stream = box.streams.video[0]
        times = [float(frame.time) for frame in box.decode(stream)]
        assert (stream.width, stream.height) == (320, 180)
    assert len(times) + recorder.left_out == 45 + 24 or len(times) + recorder.left_out == 45 + 25
    assert times[0] == 0
    strip = moment_strip(path, 102.0, began_s=written[0][1])
    assert strip[:2] == b"\xff\xd8"


def test_motion_that_was_no_shot_leaves_no_clip(tmp_path: Path) -> None:
    recorder = ClipRecorder(320)
    recorder.frame(Frame(0, 0.0, None, np.zeros((HEIGHT, WIDTH, 3), np.uint8)))
    recorder.begin(tmp_path / "x.mp4")
    recorder.frame(Frame(1, 0.1, None, np.zeros((HEIGHT, WIDTH, 3), np.uint8)))
    recorder.drop()
    recorder.close()
    assert not (tmp_path / "x.mp4").exists()


# -- the whole camera with frames drawn here and a detector that knows where it drew the balls ------------------------
class Ears:
    """A desk that writes down what it is told."""

    game = "9-ball"
    rack_due = False

    def __init__(self, folder: Path) -> None:
        self.states: list[CameraState] = []
        self.shots: list[SeenShot] = []
        self.clips: list[tuple[int, Path]] = []
        self.balls: dict[int, tuple[float, float]] = {}
        self.latency: list[float] = []
        self.faults: list[str] = []
        self.table: dict[str, float] = {}
        self._folder = folder

    def on_table(self, table: Any) -> None:
        self.table = dict(table)

    def on_state(self, state: CameraState, text: str = "") -> None:
        if not self.states or self.states[-1] is not state:
            self.states.append(state)

    def on_balls(self, t_s: float, balls: Any) -> None:
        self.balls = dict(balls)

    def on_shot(self, seen: SeenShot) -> tuple[str, int] | None:
        self.shots.append(seen)
        if seen.rest_wall_s is not None:
            self.latency.append(time.monotonic() - seen.rest_wall_s)
        return ("m", len(self.shots))

    def on_fault(self, text: str) -> None:
        self.faults.append(text)

    def clip_file(self) -> Path | None:
        return self._folder / f"clip{len(self.shots)}.mp4"

    def on_clip(self, match: str, shot: int, file: Path, began_s: float) -> None:
        self.clips.append((shot, file))


Places = Callable[[float], dict[int, tuple[float, float]]]


SLIDE, ROLL = 2.0, 0.1  # decelerations of a ball that slides and of one that rolls, m/s²


def travelled(v: float, spin: float, t: float) -> tuple[float, float]:
    """Way and speed after ``t`` seconds of a ball that began with speed ``v`` and surface speed ``spin`` (m/s)."""
    rolling = (5 * v + 2 * spin) / 7
    slides = abs(rolling - v) / SLIDE
    push = SLIDE if rolling > v else -SLIDE
    if t < slides:
        return v * t + push * t * t / 2, v + push * t
    way = v * slides + push * slides**2 / 2
    rest = min(t - slides, rolling / ROLL)
    return way + rolling * rest - ROLL * rest**2 / 2, rolling - ROLL * rest


def shots_at(*strokes: tuple[float, float], period: float | None = None) -> Places:
    """The cue ball is struck at given times with given speeds, each time head on into the 1, from where both lie.

    With ``period`` everything begins anew after so many seconds, the balls put back at once.
    """
    played: list[tuple[float, float, float, float, float, float]] = []
    cue, one = 0.6, 1.2
    for start_s, speed in strokes:
        gap = one - cue - TABLE.ball_m
        low, high = 0.0, 6.0
        for _ in range(50):
            middle = (low + high) / 2
            low, high = (middle, high) if travelled(speed, 0.0, middle)[0] < gap else (low, middle)
        met = travelled(speed, 0.0, high)[1]
        played.append((start_s, speed, high, met, cue, one))
        cue, one = cue + gap + travelled(0.05 * met, met, 99.0)[0], one + travelled(0.95 * met, 0.0, 99.0)[0]

    def places(t: float) -> dict[int, tuple[float, float]]:
        t = t if period is None else t % period
        cue, one = 0.6, 1.2
        for start_s, speed, hit_s, met, cue0, one0 in played:
            u = t - start_s
            if u <= 0:
                break
            cue = cue0 + travelled(speed, 0.0, min(u, hit_s))[0]
            one = one0
            if u > hit_s:
                cue += travelled(0.05 * met, met, u - hit_s)[0]
                one += travelled(0.95 * met, 0.0, u - hit_s)[0]
        return {0: (0.5, cue), 1: (0.5, one), 9: (0.9, 2.0), 5: (0.3, 1.9)}

    return places


ONE_SHOT, TWO_SHOTS = shots_at((2.0, 1.0)), shots_at((2.0, 1.0), (9.0, 0.75))


class Drawn:
    """A source of drawn frames that can be opened again and again, and a detector for them."""

    def __init__(self, places: Places, seconds: float, rate: float = 30.0, fail_after: int | None = None) -> None:
        self.places, self.seconds, self.rate = places, seconds, rate
        self.calibration = overhead()
        self.opened = 0
        self.fail_after = fail_after
        self.spoil: Callable[[float, np.ndarray[Any, Any]], np.ndarray[Any, Any]] = lambda t, image: image
        self._where: dict[int, dict[int, tuple[float, float]]] = {}
        self._pictures: dict[Any, np.ndarray[Any, Any]] = {}
        rng = np.random.default_rng(3)
        self._noise = rng.normal(0, 0.0006, (4096, 2))
        self._k = 0

    def open(self, source: str) -> Video:
        self.opened += 1
        if self.opened == 2 and self.fail_after is not None:
            from calibration.errors import InputError

            raise InputError("no route to the camera")
        count = round(self.seconds * self.rate) if self.fail_after is None or self.opened > 2 else self.fail_after
        return Video(SourceInfo("drawn", WIDTH, HEIGHT, self.rate, None, None), self._frames(count), lambda: None)

    def _frames(self, count: int) -> Iterator[Frame]:
        for n in range(count):
            t = n / self.rate
            where = self.places(t)
            key = tuple(round(v, 4) for at in where.values() for v in at)
            if len(self._pictures) > 12:  # few, so that what a test of memory sees is the camera
                self._pictures.clear()
            if key not in self._pictures:
                self._pictures[key] = picture(where, self.calibration)
            image = self.spoil(t, self._pictures[key])
            frame = Frame(n, t, None, image)
            self._where[id(image)] = where
            if len(self._where) > 4096:
                self._where.clear()
                self._where[id(image)] = where
            yield frame

    def see(self, frame: Frame, region: tuple[int, int, int, int]) -> Detections:
        where = self._where.get(id(frame.image)) or self.places(frame.t_s)
        balls = list(where)
        xy = np.array([where[b] for b in balls])
        self._k = (self._k + len(balls)) % 4000
        xy = xy + self._noise[self._k : self._k + len(balls)]
        camera = self.calibration.camera
        centre = camera.project(xy, TABLE.ball_radius) + camera.outline_centre_offset(xy, TABLE.ball_radius)
        radius = camera.ball_radius_px(xy, TABLE.ball_radius)
        evidence = np.full((len(balls), 16), -6.0)
        evidence[np.arange(len(balls)), balls] = 0.0
        cov = np.tile(np.eye(2) * 0.04, (len(balls), 1, 1))
        none = np.full((len(balls), 2), np.nan)
        return Detections(
            centre=centre,
            radius=radius,
            score=np.full(len(balls), 0.95),
            cov=cov,
            evidence=evidence,
            unnumbered=np.full((len(balls), 2), -6.0),
            streak=none,
        )


@pytest.fixture
def drawn_table(monkeypatch: pytest.MonkeyPatch) -> None:
    """The table is where it was drawn: finding it is tested elsewhere, on pictures that look like tables."""
    from railbird import stage

    monkeypatch.setattr(stage, "find_table", lambda pictures, length_m=None: overhead())
    monkeypatch.setattr(stage, "size_from_balls", lambda calibration, centres, radii: calibration)


def run(camera: LiveCamera, ears: Ears, until: Callable[[], bool], seconds: float) -> None:
    camera.start(ears)
    end = time.monotonic() + seconds
    while time.monotonic() < end and not until():
        time.sleep(0.05)
    camera.stop()


def test_shots_reach_the_desk_with_clip_and_states(tmp_path: Path, drawn_table: None) -> None:
    source = Drawn(TWO_SHOTS, 15.0)
    metrics = Metrics()
    settings = club(tmp_path, camera={"source": "drawn.mp4", "length_m": 2.54})
    camera = LiveCamera(settings, metrics, see=source.see, opened=source.open, pace=None)
    ears = Ears(tmp_path)
    run(camera, ears, lambda: CameraState.ENDED in ears.states, 60)
    assert ears.states[:4] == [CameraState.CALIBRATING, CameraState.READY, CameraState.SHOT, CameraState.READY]
    assert ears.states[-1] is CameraState.ENDED
    assert ears.table["length_m"] == pytest.approx(2.54)
    assert len(ears.shots) == 2
    shot = ears.shots[0].shot
    kinds = [type(event).__name__ for event in shot.events]
    assert kinds[:2] == ["Strike", "Contact"]
    assert shot.events[1].balls == (0, 1)  # type: ignore[union-attr]
    assert shot.start_s == pytest.approx(2.0, abs=0.05)
    assert {0, 1, 5, 9} == set(ears.balls)
    assert [number for number, _ in ears.clips] == [1, 2]
    assert all(file.stat().st_size > 1000 for _, file in ears.clips)
    assert metrics.get("frames_total") == 450
    assert metrics.get("frames_dropped_total") == 0
    assert 0 < metrics.get("looks_total") < 450  # looks only where something moves
    assert camera.picture() is not None


def test_a_lost_stream_is_opened_again_and_time_goes_on(
    tmp_path: Path, drawn_table: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(live_camera, "WAIT_S", (0.1, 0.2))
    source = Drawn(ONE_SHOT, 8.5, fail_after=60)
    metrics = Metrics()
    settings = club(tmp_path, camera={"source": "rtsp://camera/1", "length_m": 2.54})
    camera = LiveCamera(settings, metrics, see=source.see, opened=source.open, pace=None)
    ears = Ears(tmp_path)
    run(camera, ears, lambda: len(ears.shots) >= 1, 60)
    assert CameraState.LOST in ears.states
    assert ears.states.count(CameraState.CALIBRATING) >= 2
    assert source.opened >= 3  # the first, one that failed, one that held
    assert metrics.get("reconnects_total") >= 2
    assert len(ears.shots) >= 1
    assert ears.shots[0].shot.start_s > 2.0 + 0.3  # our clock went on while the stream's began anew


def test_a_camera_that_falls_silent_is_taken_for_dead(
    tmp_path: Path, drawn_table: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(mailbox, "SILENT_S", 0.5)
    monkeypatch.setattr(live_camera, "WAIT_S", (0.1,))
    source = Drawn(STILL, 2.5)
    woken = threading.Event()
    frames = source._frames

    def stuck(count: int) -> Iterator[Frame]:
        yield from frames(count)
        if source.opened == 1:
            woken.wait(20)

    monkeypatch.setattr(source, "_frames", stuck)
    settings = club(tmp_path, camera={"source": "rtsp://camera/1", "length_m": 2.54}, keep={"clips": False})
    camera = LiveCamera(settings, see=source.see, opened=source.open, pace=None)
    ears = Ears(tmp_path)
    run(camera, ears, lambda: source.opened >= 2 and CameraState.LOST in ears.states, 30)
    woken.set()
    assert CameraState.LOST in ears.states
    assert source.opened >= 2


def test_a_slow_look_drops_frames_and_the_shot_is_still_seen(tmp_path: Path, drawn_table: None) -> None:
    source = Drawn(ONE_SHOT, 8.5)

    def slow(frame: Frame, region: tuple[int, int, int, int]) -> Detections:
        time.sleep(0.1)
        return source.see(frame, region)

    metrics = Metrics()
    settings = club(tmp_path, camera={"source": "drawn.mp4", "length_m": 2.54}, keep={"clips": False})
    camera = LiveCamera(settings, metrics, see=slow, opened=source.open, pace=0.5)
    ears = Ears(tmp_path)
    run(camera, ears, lambda: CameraState.ENDED in ears.states, 40)
    assert metrics.get("frames_dropped_total") > 10
    assert len(ears.shots) == 1
    contacts = [e for e in ears.shots[0].shot.events if type(e).__name__ == "Contact"]
    assert [e.balls for e in contacts][:1] == [(0, 1)]


def test_a_fault_in_one_shot_does_not_end_the_evening(
    tmp_path: Path, drawn_table: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = Drawn(TWO_SHOTS, 15.0)
    settings = club(tmp_path, camera={"source": "drawn.mp4", "length_m": 2.54}, keep={"clips": False})
    camera = LiveCamera(settings, see=source.see, opened=source.open, pace=None)
    ears = Ears(tmp_path)
    real, fails = ShotWatcher.push, iter([True])

    def push(self: ShotWatcher, observation: Observation) -> Any:
        if observation.t_s > 3.0 and next(fails, False):
            raise ZeroDivisionError("a fault")
        return real(self, observation)

    monkeypatch.setattr(ShotWatcher, "push", push)
    run(camera, ears, lambda: CameraState.ENDED in ears.states, 60)
    assert len(ears.faults) == 1
    assert camera.metrics.get("faults_total") == 1
    assert any(seen.shot.start_s > 8.9 for seen in ears.shots)


def bumped(t: float, image: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    return np.roll(image, (9, 14), axis=(0, 1)) if t > 4.0 else image


def brighter(t: float, image: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    return np.clip(image * 0.6, 0, 255).astype(np.uint8) if t > 4.0 else image


def somebody_leans_over(t: float, image: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    if not 4.0 < t < 7.0:
        return image
    covered = image.copy()
    cv2.ellipse(covered, (430, 150), (70, 90), 20, 0, 360, (60, 30, 150), -1)
    return covered


STILL = shots_at()


def test_a_bump_is_noticed_and_the_table_found_again(
    tmp_path: Path, drawn_table: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    from railbird import stage

    source = Drawn(STILL, 9.0)
    source.spoil = bumped
    found = iter([overhead()])

    def find(pictures: Any, length_m: float | None = None) -> Calibration:
        first = next(found, None)
        if first is not None:
            return first
        before = overhead()
        view = replace(before.camera, centre=before.camera.centre + np.array([14.0, 9.0]))
        source.calibration = replace(before, camera=view)
        return source.calibration

    monkeypatch.setattr(stage, "find_table", find)
    settings = club(tmp_path, camera={"source": "drawn.mp4", "length_m": 2.54}, keep={"clips": False})
    camera = LiveCamera(settings, see=source.see, opened=source.open, pace=None)
    ears = Ears(tmp_path)
    run(camera, ears, lambda: CameraState.ENDED in ears.states, 60)
    assert CameraState.NO_TABLE in ears.states
    assert ears.states[-2] is CameraState.READY
    assert camera.metrics.get("recalibrations_total") >= 1
    assert ears.shots == []  # a bump is no shot


def test_another_light_is_no_bump(tmp_path: Path, drawn_table: None) -> None:
    source = Drawn(STILL, 9.0)
    source.spoil = brighter
    settings = club(tmp_path, camera={"source": "drawn.mp4", "length_m": 2.54}, keep={"clips": False})
    camera = LiveCamera(settings, see=source.see, opened=source.open, pace=None)
    ears = Ears(tmp_path)
    run(camera, ears, lambda: CameraState.ENDED in ears.states, 60)
    assert CameraState.NO_TABLE not in ears.states
    assert camera.metrics.get("recalibrations_total") == 0
    assert ears.shots == []


def test_somebody_in_the_way_is_told_and_is_no_shot(tmp_path: Path, drawn_table: None) -> None:
    source = Drawn(STILL, 10.0)
    source.spoil = somebody_leans_over
    settings = club(tmp_path, camera={"source": "drawn.mp4", "length_m": 2.54}, keep={"clips": False})
    camera = LiveCamera(settings, see=source.see, opened=source.open, pace=None)
    ears = Ears(tmp_path)
    run(camera, ears, lambda: CameraState.ENDED in ears.states, 60)
    assert CameraState.OCCLUDED in ears.states
    assert ears.states[-2] is CameraState.READY
    assert ears.shots == []


@pytest.mark.slow
def test_memory_stays_flat_over_eight_hours_of_frames(tmp_path: Path, drawn_table: None) -> None:
    """Eight hours at 30 frames/s as fast as they are looked at; memory within 50 MB after the first half hour."""
    from railbird.live.metrics import resident_bytes

    source = Drawn(shots_at((2.0, 1.0), (9.0, 0.75), period=30.0), 8 * 3600.0)
    metrics = Metrics()
    settings = club(tmp_path, camera={"source": "drawn.mp4", "length_m": 2.54}, keep={"clips": False})
    camera = LiveCamera(settings, metrics, see=source.see, opened=source.open, pace=None)
    ears = Ears(tmp_path)
    camera.start(ears)
    start = None
    highest = 0
    while CameraState.ENDED not in ears.states:
        time.sleep(1.0)
        ears.shots[:-1] = []
        if metrics.get("frames_total") > 54_000:
            now = resident_bytes()
            start = now if start is None else start
            highest = max(highest, now - start)
    camera.stop()
    assert metrics.get("frames_total") == 864_000
    assert highest < 50 * 2**20


def test_a_rack_at_the_other_end_turns_the_table_and_is_no_shot(tmp_path: Path, drawn_table: None) -> None:
    """The look that showed the rack is turned with the table: as it was, it would put every ball elsewhere, which is motion."""
    x, d = TABLE.long_string, TABLE.ball_m
    y = TABLE.head_string
    racked = {0: (0.6, 2.0)}
    for row in range(5):
        for k in range(row + 1):
            racked[len(racked)] = (x + (k - row / 2) * d * 1.01, y - row * d * 0.88)
    source = Drawn(lambda t: racked, 4.0)
    settings = club(tmp_path, camera={"source": "drawn.mp4", "length_m": 2.54}, keep={"clips": False})
    camera = LiveCamera(settings, see=source.see, opened=source.open, pace=None)
    ears = Ears(tmp_path)
    ears.game, ears.rack_due = "8-ball", True
    run(camera, ears, lambda: CameraState.ENDED in ears.states, 120)
    assert CameraState.SHOT not in ears.states
    assert ears.shots == []
    assert ears.balls[1] == pytest.approx((TABLE.width_m - x, TABLE.length_m - y), abs=0.003)
    assert ears.balls[0] == pytest.approx((TABLE.width_m - 0.6, 0.54), abs=0.003)
