"""Keeps the table found while a stream runs: first calibration, size, and what to do when the view changes."""

from __future__ import annotations

import itertools
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import cv2
import numpy as np

from calibration.cloth import Picture
from calibration.errors import InputError
from calibration.find import find_table
from calibration.result import Calibration
from calibration.size import size_from_balls
from calibration.watch import State, Watch
from railbird.eye import Eye, See, tell_sizes, to_table
from tracking.observations import Observation
from vision.change import table_region
from vision.video import Frame

FIRST_S = 1.2  # pictures of so long a time are gathered before the table is looked for
GIVE_UP_S = 40.0
RETRY_S = 0.4  # before the table is looked for in a new view
RETRY_LONGER = 2.0  # times as long before each further attempt in the same view: one costs seconds of processor
RETRY_MOST_S = 6.4
OTHER_VIEW = 12.0  # of 255: middle change of a picture reduced to a thumbnail that makes it another view
SURE_SIZE = 0.6


class TableNotFound(InputError):
    """No table in the whole recording; the message says what was missing in the best picture."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """Of one frame: whether it shows the table, and what a person should know.

    Where ``doubtful`` it looks otherwise, and whether the camera moved is not plain yet.
    """

    table_seen: bool
    warnings: list[dict[str, Any]] = field(default_factory=list)
    doubtful: bool = False


class Stage:
    """A stream with its table: the frames from the first on that shows it, and the watch over it."""

    def __init__(self, frames: Iterator[Frame], first: Frame, calibration: Calibration, length_m: float | None) -> None:
        self.frames = frames
        self.calibration = calibration
        self.warnings: list[dict[str, Any]] = []
        self.late = False  # frames before the first that shows the table were passed over
        self._length_m = calibration.table.length_m if length_m is None else length_m
        self._watch = Watch(calibration, first.image)
        self._lost: str | None = None
        self._next_try = 0.0
        self._wait_s = RETRY_S
        self._tried: Picture | None = None  # thumbnail of the view in which the table was last looked for
        self._held: list[Observation] = []
        self._recent: deque[Frame] = deque(maxlen=3)

    def check(self, frame: Frame, eye: Eye) -> Verdict:
        """Hold this frame against the calibrated view; find the table again where it does not fit any more."""
        state = self._watch.check(frame.luma, frame.t_s)
        if state == "cut" and not self._watch.shows_table(frame.image):
            state = State.NO_TABLE
        if state == "ok":
            self._lost = None
            return Verdict(True, doubtful=self._watch.doubtful)
        if state == "light":
            self._watch = Watch(self.calibration, frame.image)
            return Verdict(True, [_warning(frame, "light-changed", "the light changed; the table stayed where it was")])
        warnings = []
        if self._lost is None:
            self._lost = state
            self._another_view(frame)
            warnings.append(_warning(frame, f"camera-{state}" if state != "no-table" else str(state), _TEXT[state]))
        elif self._tried is not None and _other_view(_thumbnail(frame), self._tried):
            self._another_view(frame)
        self._recent.append(frame)
        if frame.t_s >= self._next_try:
            self._tried = _thumbnail(frame)
            self._wait_s = min(RETRY_LONGER * self._wait_s, RETRY_MOST_S)
            self._next_try = frame.t_s + self._wait_s
            found = self._again(eye)
            if found is not None:
                warnings.append(
                    _warning(frame, "recalibrated", "the table was found again in the new view", table=found.to_json())
                )
        return Verdict(self._lost is None, warnings)

    def trusted(self, verdict: Verdict, observations: list[Observation]) -> list[Observation]:
        """What may be believed of the looks at a frame and of those held back before.

        While a frame is doubtful its looks are held; they are handed on once it turns out that the view had not changed, and
        dropped where it had: their places are of a view that was no more.
        """
        if not verdict.table_seen:
            self._held.clear()
            return []
        if verdict.doubtful:
            self._held += observations
            return []
        believed = [*self._held, *observations]
        self._held.clear()
        return believed

    def _another_view(self, frame: Frame) -> None:
        """The table is looked for soon, in pictures of this view alone."""
        self._wait_s, self._tried = RETRY_S, None
        self._next_try = frame.t_s + RETRY_S
        self._recent.clear()

    def _again(self, eye: Eye) -> Calibration | None:
        try:
            found = find_table([f.image for f in self._recent], length_m=self._length_m)
        except InputError:
            return None
        found = same_way_round(found, self.calibration)
        self.calibration = found
        self._watch = Watch(found, self._recent[-1].image)
        self._lost = None
        eye.recalibrate(found)
        return found


_TEXT = {
    "moved": "the camera moved; positions are not trusted until the table is found again",
    "cut": "the view was cut to another camera; it is skipped until the table is found in it",
    "no-table": "the picture does not show the table; it is skipped",
}


def _thumbnail(frame: Frame) -> Picture:
    return np.asarray(cv2.resize(frame.luma, (32, 18), interpolation=cv2.INTER_AREA), dtype=np.uint8)


def _other_view(a: Picture, b: Picture) -> bool:
    return bool(np.median(np.abs(a.astype(np.int16) - b)) > OTHER_VIEW)


def _warning(frame: Frame, code: str, text: str, **more: Any) -> dict[str, Any]:
    return {"t_s": round(frame.t_s, 3), "code": code, "text": text, **more}


def same_way_round(found: Calibration, before: Calibration) -> Calibration:
    """Of the two ways to name the ends in a new view, the one whose camera stands nearer to the old one's."""
    options = (found, found.turned())
    return min(options, key=lambda c: float(np.linalg.norm(c.camera.position - before.camera.position)))


def set_stage(
    frames: Iterator[Frame], see: See, *, length_m: float | None, given: Calibration | None, name: str
) -> Stage:
    """Find the table in the first pictures that show one.

    Raises
    ------
    TableNotFound
        With the reason, where no picture of the first 40 s shows a table well enough.
    """
    reason = "no picture"
    skipped = 0
    while True:
        batch = _gather(frames)
        if not batch:
            raise TableNotFound(
                f"{name}: no table found ({reason}); film the whole table, or give --table or --corners"
            )
        pictures = _still(batch)
        try:
            calibration = given or find_table([f.image for f in pictures], length_m=length_m)
        except InputError as error:
            reason = str(error)
            skipped += len(batch)
            if batch[-1].t_s > GIVE_UP_S:
                frames = iter(())
            continue
        if given is None and length_m is None:
            calibration = _sized(calibration, pictures, see)
        stage = Stage(itertools.chain(_drained(batch), frames), pictures[-1], calibration, length_m)
        if skipped:
            stage.late = True
            stage.warnings.append(
                {
                    "t_s": 0.0,
                    "code": "no-table",
                    "text": f"the table is first seen at {pictures[0].t_s:.1f} s ({reason})",
                }
            )
        return stage


def _drained(batch: list[Frame]) -> Iterator[Frame]:
    """The gathered frames one by one, each let go once it was used: a second of 1080p is half a gigabyte."""
    batch.reverse()
    while batch:
        yield batch.pop()


def _gather(frames: Iterator[Frame]) -> list[Frame]:
    batch: list[Frame] = []
    for frame in frames:
        batch.append(frame)
        if frame.t_s - batch[0].t_s >= FIRST_S or len(batch) >= 90:
            break
    return batch


def _still(batch: list[Frame]) -> list[Frame]:
    """Three pictures of the batch, the first among them: what moves differs in them, the table does not."""
    fresh = [f for f in batch if not f.repeat] or batch
    return [fresh[k] for k in sorted({0, len(fresh) // 2, len(fresh) - 1})]


def _sized(calibration: Calibration, pictures: list[Frame], see: See) -> Calibration:
    """The size that the balls' apparent diameter tells; the assumed one where they do not tell it surely."""
    centres, radii = [], []
    tell_sizes(
        see, calibration
    )  # of the assumed size: a third more or less is still taken for a ball, a diamond is not
    for frame in pictures:
        found = see(frame, table_region(calibration))
        found = found[found.score > 0.5]
        xy, _ = to_table(calibration, found)
        inside = np.isfinite(xy).all(axis=1) & (xy > 0).all(axis=1)
        inside &= (xy < [calibration.table.width_m, calibration.table.length_m]).all(axis=1)
        centres.append(found.centre[inside])
        radii.append(found.radius[inside])
    return size_from_balls(calibration, np.concatenate(centres), np.concatenate(radii))
