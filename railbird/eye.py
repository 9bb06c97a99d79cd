"""Frames in, observations out: looks closely only where something moves, and a few times a second at rest."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from calibration.camera import Floats
from calibration.result import Calibration
from tracking.observations import Observation
from tracking.stillness import Stillness
from vision.change import ChangeGate, table_region
from vision.cover import Cover
from vision.sizes import by_camera
from vision.video import Frame

if TYPE_CHECKING:
    from vision.detections import Detections

REST_LOOK_S = 0.4  # between looks while the picture stands still
AIM_LOOK_S = 0.1  # between looks while something moves but no ball does: a player aims, chalks, walks by
CALM_LOOK_S = 0.024  # between looks in motion, far from the one moment that is asked about: some forty a second do
STROKE_S = 2.0  # from the first motion of a shot on, every frame is looked at all the same
MOMENT_S = 1.5  # and so near the moment
LOOK_BACK_S = 0.2  # frames before the first displaced ball that are looked at after all: the stroke is in them
BEYOND_M = 0.12  # balls on the rails or dropping off are kept, what lies farther out is another table's
COVER_SCORE = 0.2  # fainter ones may be knuckles: they do not open a hole in the hand that hides the table
TOO_NEAR = 0.6  # of a diameter between two places: less, and they are one ball
RADIUS_BAND = (0.62, 1.5)  # of the radius that the camera foretells at that place

See = Callable[[Frame, tuple[int, int, int, int]], "Detections"]


def to_table(calibration: Calibration, detections: Detections) -> tuple[Floats, Floats]:
    """Centres (n, 2) in metres and their covariances (n, 2, 2) from outlines in the picture.

    The outline's ellipse is not centred on the picture of the ball's centre; the difference is taken out.
    """
    camera, radius = calibration.camera, calibration.table.ball_radius
    rough = camera.unproject(detections.centre, radius)
    offset = np.nan_to_num(camera.outline_centre_offset(np.nan_to_num(rough), radius))
    xy = camera.unproject(detections.centre - offset, radius)
    (a, b), (c, d) = camera.jacobian(np.nan_to_num(xy), radius).transpose(1, 2, 0)
    with np.errstate(all="ignore"):  # above the horizon the map has no inverse and the place is NaN already
        inverse = np.array([[d, -b], [-c, a]]).transpose(2, 0, 1) / (a * d - b * c)[:, None, None]
    cov = inverse @ detections.cov @ inverse.transpose(0, 2, 1)
    return xy, cov


def tell_sizes(see: See, calibration: Calibration) -> None:
    """Tell who looks, where it wants to know, how large balls on this table are in its pictures."""
    listen = getattr(see, "calibrated", None)
    if listen is not None:
        listen(by_camera(calibration))


def apart(xy: Floats, score: Floats, least: float) -> npt.NDArray[np.bool_]:
    """(n,) whether a place is kept: of two that are nearer to each other than ``least`` metres the surer one is.

    Two balls cannot be there; a blurred one is sometimes found twice.
    """
    keep = np.ones(len(xy), dtype=bool)
    order = np.argsort(-score, kind="stable")
    for place, k in enumerate(order):
        if keep[k]:
            rest = order[place + 1 :]
            keep[rest[np.linalg.norm(xy[rest] - xy[k], axis=1) < least]] = False
    return keep


class Attention:
    """Which frames of moving balls are worth a look, where somebody asks about one moment only.

    Every frame is, around the moment and at the beginning of each shot; of a fast stream no more than some forty a second
    are elsewhere. Without a moment every frame is.

    Attributes
    ----------
    stroke_s : when balls were last seen to set out, seconds.
    """

    def __init__(self, moment: float | None) -> None:
        self._moment = moment
        self.stroke_s = -1e9
        self._last_s = -1e9
        self._told: deque[tuple[int, bool]] = deque(maxlen=4)  # the first in motion is asked about after the second

    def wants(self, frame: Frame) -> bool:
        """Whether to look at this frame; asked about a frame ahead and then of the frame itself, the answer is the same."""
        if self._moment is None:
            return True
        for index, answer in self._told:
            if index == frame.index:
                return answer
        t = frame.t_s
        near = t - self.stroke_s < STROKE_S or abs(t - self._moment) < MOMENT_S
        answer = near or t - self._last_s >= CALM_LOOK_S
        if answer:
            self._last_s = t
        self._told.append((frame.index, answer))
        return answer


class Eye:
    """Turns a calibrated stream into observations.

    Parameters
    ----------
    calibration : where the table is.
    see : finds balls in a frame, region given in pixels (detector, refinement and evidence together). Where it has a method
        ``expect`` of the same arguments, it is told of the next frame while this one is worked on; where it has a method
        ``calibrated``, it is told how large balls are.
    moment : the one that somebody asks about, seconds, where there is one; see `Attention`.
    """

    def __init__(self, calibration: Calibration, see: See, moment: float | None = None) -> None:
        self._see = see
        self._attention = Attention(moment)
        self.looked = 0
        self.moving_frames = 0
        self.frames = 0
        self.moving = False
        self.covered = 0.0
        self._before: deque[Frame] = deque()
        self._last_look = -1e9
        self._looked_at: set[int] = set()
        self.recalibrate(calibration)

    def recalibrate(self, calibration: Calibration) -> None:
        """Take another calibration from here on (the camera moved, or the view was cut)."""
        self.calibration = calibration
        self.region = table_region(calibration)
        self._gate = ChangeGate(calibration)
        self._cover = Cover(calibration)
        self._still = Stillness(calibration.table)
        tell_sizes(self._see, calibration)

    def expect(self, frame: Frame) -> None:
        """The next frame, already here: while balls move it will be looked at, so that may begin."""
        begin = getattr(self._see, "expect", None)
        if begin is not None and self.moving and not frame.repeat and self._attention.wants(frame):
            begin(frame, self.region)

    def frame(self, frame: Frame) -> list[Observation]:
        """What this frame adds: nothing, one look, or several where a ball has just begun to move.

        While no ball moves, a few looks a second are enough, even if a player moves about; the first look that shows a
        ball elsewhere sends the eye back over the frames it skipped.
        """
        self.frames += 1
        if frame.repeat:
            return []
        samples = self._gate.samples(frame.luma)
        waited = frame.t_s - self._last_look
        if self._still.moving:
            due = self._attention.wants(frame)
        else:
            due = waited >= REST_LOOK_S or (self._gate.changed(samples) and waited >= AIM_LOOK_S)
        found: list[Observation] = []
        if due:
            was_moving = self._still.moving
            now = self.look(frame)
            self._gate.look(samples)
            if self._still.push(now) and not was_moving:
                self._attention.stroke_s = frame.t_s
                skipped = [f for f in self._before if f.index not in self._looked_at]
                found += [self.look(before) for before in skipped]
            found.append(now)
            self._last_look = frame.t_s
        self.moving = self._still.moving
        self.moving_frames += self.moving
        self._before.append(frame)
        while frame.t_s - self._before[0].t_s > LOOK_BACK_S:
            self._looked_at.discard(self._before.popleft().index)
        return found

    def look(self, frame: Frame) -> Observation:
        """Detect in this frame, whatever moves."""
        self.looked += 1
        self._looked_at.add(frame.index)
        detections = self._see(frame, self.region)
        xy, cov = to_table(self.calibration, detections)
        table = self.calibration.table
        expected = self.calibration.camera.ball_radius_px(np.nan_to_num(xy), table.ball_radius)
        ratio = detections.radius / np.maximum(expected, 1e-6)
        near = (
            np.isfinite(xy).all(axis=1)
            & (xy > -BEYOND_M).all(axis=1)
            & (xy < np.array([table.width_m, table.length_m]) + BEYOND_M).all(axis=1)
            & (ratio > RADIUS_BAND[0])
            & (ratio < RADIUS_BAND[1])
        )
        near[near] = apart(xy[near], detections.score[near], TOO_NEAR * table.ball_m)
        xy, cov, kept = xy[near], cov[near], detections[near]
        balls = xy[kept.score > COVER_SCORE]
        hidden = self._cover.hidden(frame.image, balls, still=not self.moving)
        self.covered = float(hidden.mean())
        return Observation(t_s=frame.t_s, xy=xy, cov=cov, score=kept.score, evidence=kept.evidence, hidden=hidden)
