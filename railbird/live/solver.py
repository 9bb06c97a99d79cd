"""Works shots out in a process of its own: the eyes go on looking while a break is solved, and Python's lock is not shared.

Looks go in, shots come out in the order they were played. A look is never passed over: where shots take longer than they are
played, looks wait, and where very many wait, so does whoever brings more.
"""

from __future__ import annotations

import contextlib
import logging
import multiprocessing
import os
import queue
import signal
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from typing import Any

from calibration.table import Table
from tracking.events import Point
from tracking.observations import Observation
from tracking.shots import SeenShot
from tracking.tracks import Status
from tracking.watcher import ShotWatcher

log = logging.getLogger("railbird.live")
WAITING = 2000  # looks, about a minute of motion: what comes on top makes the camera wait
BALLS_EVERY_S = 0.09  # of stream: pages are sent balls ten times a second
BALLS_AT_REST_S = 0.5
DRAFT_TAKES_S = 1.0  # at first guess; on a busy machine it takes longer, and so is left sooner
DRAFT_SPARE = 1.3  # times as long as the last one took must be left for the next
AGAIN_S = 2.0  # between attempts to start a process that died


@dataclass(frozen=True, slots=True)
class Stand:
    """How things stood after a look: its time, whether a shot may still be going on, where the balls are (metres)."""

    t_s: float = -1.0
    moving: bool = False
    balls: dict[int, Point] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Worked:
    """What a shot cost: the time of the look that showed it to be over, and the processor's seconds from there to its facts."""

    look_s: float
    cpu_s: float


OnShot = Callable[[SeenShot, Worked], None]
OnFault = Callable[[float, str], None]


class Solver:
    """The near side. Methods may be called from one thread; callbacks come from another.

    Parameters
    ----------
    apart : in a process of its own; else in a thread, for tests that reach into it.
    """

    def __init__(self, *, apart: bool = True) -> None:
        self._apart = apart
        self._lock = threading.Condition()
        self._on_shot: OnShot | None = None
        self._on_fault: OnFault | None = None
        self._out: queue.Queue[Any] = queue.Queue(WAITING)
        self._last: tuple[Any, ...] | None = None  # what tracks were begun anew with
        self._epoch = self._sent = self._done = 0
        self._stand = Stand()
        self._ready = self._closed = False
        self._alive = False
        self._process: Any = None
        self._started = -AGAIN_S
        self._start()

    def _start(self) -> None:
        near, far = multiprocessing.Pipe()
        self._started = time.monotonic()
        self._out = queue.Queue(WAITING)
        self._ready, self._alive = False, True
        if self._apart:
            # Not forked: this process has threads. OpenBLAS reads its number of threads when it is loaded.
            os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
            context = multiprocessing.get_context("spawn")
            self._process = context.Process(target=serve, args=(far, True), name="railbird-solver", daemon=True)
            self._process.start()
            far.close()
        else:
            threading.Thread(target=serve, args=(far, False), name="solver", daemon=True).start()
        for work, name in ((self._send, "to-solver"), (self._receive, "from-solver")):
            threading.Thread(target=work, args=(near, self._out), name=name, daemon=True).start()

    # -- what the camera does ------------------------------------------------------------------------------------
    def listen(self, on_shot: OnShot | None, on_fault: OnFault | None) -> None:
        """Who is told of shots, and of faults with the time of the look."""
        with self._lock:
            self._on_shot, self._on_fault = on_shot, on_fault

    def wait_ready(self, most_s: float) -> bool:
        """Wait until shots can be worked out."""
        with self._lock:
            return self._lock.wait_for(lambda: self._ready or not self._alive, most_s) and self._alive

    def anew(self, table: Table, game_balls: Sequence[int]) -> None:
        """From here on tracks begin anew; shots of the looks before are still told."""
        with self._lock:
            self._epoch += 1
            self._stand = Stand()
            self._last = ("anew", self._epoch, table, list(game_balls))
            message = self._last
        self._put(message)

    def offer(self, game_balls: Sequence[int]) -> None:
        """From here on balls may have these numbers."""
        with self._lock:
            if self._last is not None:
                self._last = (*self._last[:3], list(game_balls))
        self._put(("offer", list(game_balls)))

    def push(self, observation: Observation) -> None:
        """Hand over a look; waits only where very many wait."""
        if not self._alive and not self._closed and time.monotonic() - self._started > AGAIN_S:
            log.warning("the process that works shots out is started again")
            with self._lock:
                self._sent = self._done = 0
                self._stand = Stand()
            self._start()
            self._put(self._last)
        with self._lock:
            self._sent += 1
        self._put(("look", observation))

    def flush(self, most_s: float) -> bool:
        """The stream is over: shots under way are worked out as far as they were seen. Whether that was done in time."""
        return self._ask(("flush",), most_s)

    def settle(self, most_s: float) -> bool:
        """Wait until all looks are worked out."""
        return self._ask(None, most_s)

    def close(self, most_s: float = 8.0) -> None:
        """Wait for what is in work, then end."""
        self.settle(most_s)
        self._closed = True
        self._put(None)
        if self._process is not None:
            self._process.join(1.0)
            if self._process.is_alive():
                self._process.kill()

    @property
    def moving(self) -> bool:
        """Whether a shot may still be going on, or is being worked out."""
        return self._stand.moving

    @property
    def balls(self) -> dict[int, Point]:
        """Where the balls were at the last look that was worked out, metres."""
        return self._stand.balls

    @property
    def waiting(self) -> int:
        """Looks that are not worked out yet."""
        return self._sent - self._done

    @property
    def idle(self) -> bool:
        """Whether every look is worked out, and no shot goes on."""
        return not self.waiting and not self._stand.moving

    def memory_bytes(self) -> int:
        """Resident memory of the other process (Linux; 0 elsewhere)."""
        from railbird.live.metrics import resident_bytes

        return 0 if self._process is None or self._process.pid is None else resident_bytes(self._process.pid)

    # -- between the two -----------------------------------------------------------------------------------------
    def _ask(self, message: Any, most_s: float) -> bool:
        if message is not None:
            with self._lock:
                self._sent += 1
            self._put(message)
        with self._lock:
            return self._lock.wait_for(lambda: not self.waiting or not self._alive, most_s) and self._alive

    def _put(self, message: Any) -> None:
        out = self._out
        while self._alive:
            try:
                out.put(message, timeout=0.5)
                return
            except queue.Full:
                continue

    def _send(self, pipe: Connection, out: queue.Queue[Any]) -> None:
        with contextlib.suppress(OSError):
            while True:
                message = out.get()
                pipe.send(message)
                if message is None:
                    return

    def _receive(self, pipe: Connection, out: queue.Queue[Any]) -> None:
        try:
            while True:
                self._told(pipe.recv())
        except (EOFError, OSError):
            pass
        with self._lock:
            ours = out is self._out
            if ours:
                self._alive = False
            lost = ours and not self._closed and (self._stand.moving or self.waiting > 0)
            self._lock.notify_all()
        with contextlib.suppress(queue.Full):
            out.put_nowait(None)  # wakes the sender, so that it ends
        pipe.close()
        if ours and not self._closed:
            log.error("the process that works shots out has died")
        if lost and self._on_fault is not None:
            self._on_fault(self._stand.t_s, "the process that works shots out has died")

    def _told(self, message: tuple[Any, ...]) -> None:
        kind, *rest = message
        if kind == "shot" and self._on_shot is not None:
            try:
                self._on_shot(*rest)
            except Exception:
                log.exception("a shot that was worked out could not be handed on")
                if self._on_fault is not None:
                    self._on_fault(rest[0].shot.start_s, "a shot could not be handed on")
        elif kind == "fault" and self._on_fault is not None:
            self._on_fault(*rest)
        with self._lock:
            if kind == "ready":
                self._ready = True
            elif kind == "stand":
                epoch, done, stand = rest
                self._done += done
                if epoch == self._epoch:
                    self._stand = stand
            self._lock.notify_all()


# -- the far side ----------------------------------------------------------------------------------------------------
def serve(pipe: Connection, apart: bool = True) -> None:
    """Take looks and tell shots until the other side hangs up."""
    if apart:
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # the near side ends us when it ends
    try:
        _Bench(pipe).work()
    except (EOFError, OSError):
        pass
    finally:
        pipe.close()


class _Bench:
    """Where shots are worked out."""

    def __init__(self, pipe: Connection) -> None:
        self.pipe = pipe
        self.epoch = 0
        self.table: Table | None = None
        self.game_balls: list[int] = []
        self.watcher: ShotWatcher | None = None
        self.balls: dict[int, Point] = {}
        self.balls_s = -1e9
        self.draft_takes_s = DRAFT_TAKES_S
        self.renamed = False  # other numbers are offered than when balls were last named

    def work(self) -> None:
        self.pipe.send(("ready",))
        done = 0
        while (message := self.pipe.recv()) is not None:
            if message[0] == "anew":
                _, self.epoch, self.table, self.game_balls = message
                self._begin()
                continue
            if message[0] == "offer":
                self.game_balls = message[1]
                if self.watcher is not None:
                    self.watcher.game_balls, self.balls_s, self.renamed = message[1], -1e9, True
                continue
            done += 1
            t_s = self._flush() if message[0] == "flush" else self._look(message[1])
            # Behind, how things stand is of no use to anybody; the looks done are told all the same, now and then.
            if not self.pipe.poll() or done >= 50 or message[0] == "flush":
                moving = self.watcher is not None and self.watcher.moving
                self.pipe.send(("stand", self.epoch, done, Stand(t_s, moving, self._balls(t_s, moving))))
                done = 0

    def _begin(self) -> None:
        assert self.table is not None
        self.watcher = ShotWatcher(self.table, game_balls=self.game_balls)
        self.balls_s = -1e9

    def _look(self, observation: Observation) -> float:
        """One look. If tracking fails, this shot is lost but not the match."""
        assert self.watcher is not None
        began = time.thread_time()
        try:
            shots = self.watcher.push(observation)
        except Exception as fault:
            self._failed(observation.t_s, fault)
        else:
            self._tell(shots, Worked(observation.t_s, time.thread_time() - began))
            self.watcher.recorder.between.clear()  # nobody asks for it live, and an evening is long
            if not self.pipe.poll():
                self._draft(observation.t_s)
        return observation.t_s

    def _draft(self, t_s: float) -> None:
        """A break is read while its last balls roll out. Should that fail, it is read at its end as any other shot."""
        assert self.watcher is not None
        began = time.monotonic()
        try:
            if self.watcher.draft(DRAFT_SPARE * self.draft_takes_s):
                self.draft_takes_s = time.monotonic() - began
        except Exception:
            log.exception("the shot at %.1f s could not be read in advance", t_s)

    def _flush(self) -> float:
        if self.watcher is None:
            return -1.0
        t_s = float(self.watcher.recorder.tracker.time_s)
        try:
            began = time.thread_time()
            shots = self.watcher.flush()
            self._tell(shots, Worked(t_s, time.thread_time() - began))
        except Exception as fault:
            self._failed(t_s, fault)
        return t_s

    def _tell(self, shots: list[SeenShot], worked: Worked) -> None:
        for seen in shots:
            self.pipe.send(("shot", seen, worked))

    def _failed(self, t_s: float, fault: Exception) -> None:
        import traceback

        self.pipe.send(("fault", t_s, "".join(traceback.format_exception(fault))))
        self._begin()

    def _balls(self, t_s: float, moving: bool) -> dict[int, Point]:
        """Numbers and places of the balls that lie or roll; as they were a moment ago will do."""
        if self.watcher is None or 0 <= t_s - self.balls_s < (BALLS_EVERY_S if moving else BALLS_AT_REST_S):
            return self.balls
        self.balls_s = t_s
        recorder = self.watcher.recorder
        names = recorder.identities(self.watcher.game_balls, lately=not self.renamed).number
        self.renamed = False
        self.balls = {
            names[track.id]: (float(track.mean[0]), float(track.mean[1]))
            for track in recorder.tracker.tracks
            if track.status in (Status.RESTING, Status.MOVING) and track.id in names
        }
        return self.balls
