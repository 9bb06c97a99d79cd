"""Watches over a calibrated view: a bump, a slow sag, zoom, changed light, a cut to another view.

A few dozen short profiles across the table's strongest edges are compared with how they looked when the table was
found, some seven times a second; frames between are only glanced at, and compared where the glance shows a change. What
that takes does not depend on the picture's size.
"""

from __future__ import annotations

from enum import StrEnum

import cv2
import numpy as np
import numpy.typing as npt

from calibration.camera import Floats
from calibration.cloth import Picture
from calibration.result import Calibration
from calibration.strips import rail_axes, rail_length, rail_point
from calibration.table import RAILS

PROBES = 48
REACH = 10  # pixels to either side of an edge that a profile covers
ASTRAY = 2.5  # pixels by which edges that agree on no movement are off in another view
LAG = 7  # pixels that an edge may have moved and still be measured
ALIKE = 0.75  # correlation from which on a profile is the same edge
FADED = 0.35  # of an edge's contrast, in the light that there is: what has less is no edge, however alike
HELD_S = 0.3  # a change must last so long: a hand that sweeps by is none
LOST_S = 0.08  # the same where most edges are gone: not much goes by that hides them all
FEW = 0.5  # of the edges: where no more are left, the large areas must say that it is the same view
OTHER_SCENE = 0.6  # correlation of brightness over the picture below which they do not
FULL_S = 0.15  # between comparisons while nothing seems to change
GLANCE = (-6, -2, 2, 6)  # pixels from an edge at which a glance looks
STIRRED = 2.5  # times the usual change from frame to frame that makes a glance a comparison
PATCHES = 400
LIGHT_STEP = 0.12  # relative change of brightness that is worth a word


class State(StrEnum):
    """What the watch says of a frame."""

    OK = "ok"
    MOVED = "moved"
    CUT = "cut"
    LIGHT = "light"
    NO_TABLE = "no-table"


class Watch:
    """Compares frames with the picture in which the table was found.

    Parameters
    ----------
    calibration : where the table is.
    image : (h, w, 3) BGR or (h, w) brightness picture of that view.
    tolerance_px : movement of the picture, anywhere on the table, that counts; 1.5 pixels at 1920 if left out.
    """

    def __init__(self, calibration: Calibration, image: Picture, tolerance_px: float | None = None) -> None:
        self._calibration = calibration
        grey = _grey(image)
        self._shape = grey.shape
        unit = max(grey.shape)
        self._tolerance = tolerance_px if tolerance_px is not None else max(0.8, 1.5 * unit / 1920)
        self._points, self._normals = _probe_sites(calibration, grey)
        steps = np.arange(-REACH - LAG, REACH + LAG + 1)
        across = self._points[:, None] + steps[None, :, None] * self._normals[:, None]
        column = np.clip(across[..., 0].round().astype(np.int64), 0, grey.shape[1] - 1)
        row = np.clip(across[..., 1].round().astype(np.int64), 0, grey.shape[0] - 1)
        self._row, self._column = row, column
        first = grey[row, column].astype(np.float64)
        self._profiles = _standardised(first[:, LAG:-LAG]).astype(np.float32)
        self._contrast = np.sqrt(first[:, LAG:-LAG].var(axis=1) * (2 * REACH + 1))
        self._brightness = float(first.mean()) if first.size else 0.0
        middle = self._points.mean(axis=0) if len(self._points) else np.zeros(2)
        self._span = float(np.abs(self._points - middle).max()) if len(self._points) else 1.0
        offset = (self._points - middle) / self._span
        n = self._normals
        # shift (2), zoom, roll: what they do to each edge along its own normal
        self._motion = np.column_stack(
            [n[:, 0], n[:, 1], (n * offset).sum(axis=1), n[:, 1] * offset[:, 0] - n[:, 0] * offset[:, 1]]
        )
        self._patch_row, self._patch_column = _patch_sites(calibration, grey.shape)
        self._patches = grey[self._patch_row, self._patch_column].astype(np.float64)
        self._baseline: float | None = None
        self._count = 0
        self._index = np.arange(len(self._points))
        glance = REACH + LAG + np.array(GLANCE)
        self._glance_row, self._glance_column = row[:, glance].ravel(), column[:, glance].ravel()
        self._glanced: npt.NDArray[np.float32] | None = None
        self._usual = 1.0
        self._compared_s = -np.inf
        self._since: dict[State, float] = {}
        self._hue = _cloth_hue(calibration, image) if image.ndim == 3 else None
        self.shift_px = 0.0

    def check(self, image: Picture, t_s: float) -> State:
        """Hold a frame against the view.

        Parameters
        ----------
        image : (h, w, 3) BGR or (h, w) brightness.
        t_s : its time, seconds; frames are given in order.

        Returns
        -------
        State
            ``moved``, ``light`` only once they have lasted 0.3 s, 0.1 s where most edges are gone; ``cut`` and ``no-table``
            at once.
        """
        if image.shape[:2] != self._shape:
            return State.CUT
        flat = image if image.ndim == 2 else None
        if not self._stirred(image, flat) and not self._since and 0 <= t_s - self._compared_s < FULL_S:
            return State.OK
        self._compared_s = t_s
        state = self._compared(image, flat, t_s)
        if state is not State.OK or self._since:
            self._glanced = None  # what comes next is compared too
        return state

    @property
    def doubtful(self) -> bool:
        """Whether the last frame looked otherwise, but not for long enough yet to say so: what it shows may be false."""
        return bool(self._since)

    def shows_table(self, image: Picture) -> bool:
        """Whether a (h, w, 3) BGR picture has enough of the cloth's colour to show a table, in whatever view."""
        return is_table_view(image, self._hue)

    def _stirred(self, image: Picture, flat: Picture | None) -> bool:
        """Whether the edges look otherwise than in the frame before; noise and what moves before some of them aside."""
        now = _values(image, flat, self._glance_row, self._glance_column)
        before, self._glanced = self._glanced, now
        if before is None or not len(now):
            return True
        change = np.abs(now - before)
        middle = float(np.partition(change, len(change) // 2)[len(change) // 2])
        stirred = middle > max(3.0, STIRRED * self._usual)
        self._usual += 0.1 * (min(middle, 2 * self._usual + 0.1) - self._usual)
        return stirred

    def _compared(self, image: Picture, flat: Picture | None, t_s: float) -> State:
        lags, alike = self._lags(image, flat)
        share = float(np.mean(alike)) if len(alike) else 0.0
        state = State.OK
        self._count += 1
        if share < 0.25:
            same, _ = self._same_scene(image, flat)
            # a bump of many pixels leaves the large areas as they were; a cut does not
            state = State.MOVED if same > 0.75 else State.CUT
            if state is State.CUT and image.ndim == 3 and not is_table_view(image, self._hue):
                state = State.NO_TABLE
            if state is not State.MOVED:
                self._since.clear()
                return state
        elif self._since or self._count % 2 == 1 or self._baseline is None:
            state = self._light(image, flat)
        if 0.25 <= share < FEW and self._same_scene(image, flat)[0] < OTHER_SCENE:
            state = State.CUT  # some edges happen to lie alike in another view; it is no light that changed
        self.shift_px = self._movement(lags, alike) if share >= 0.25 else self.shift_px
        if share >= 0.25 and self.shift_px > self._tolerance:
            same, _ = self._same_scene(image, flat)
            if same < 0.4:
                self._since.clear()
                absent = image.ndim == 3 and not is_table_view(image, self._hue)
                return State.NO_TABLE if absent else State.CUT
            state = State.MOVED
        if state is State.OK:
            self._since.clear()
            return state
        first = self._since.setdefault(state, t_s)
        for other in [k for k in self._since if k is not state]:
            del self._since[other]
        return state if t_s - first >= (HELD_S if share >= 0.25 else LOST_S) else State.OK

    def _lags(self, image: Picture, flat: Picture | None) -> tuple[Floats, npt.NDArray[np.bool_]]:
        """How far each edge has moved along its normal, pixels, and whether it is still the same edge."""
        if not len(self._points):
            return np.zeros(0), np.zeros(0, dtype=bool)
        seen = _values(image, flat, self._row, self._column)
        long = 2 * REACH + 1
        total = np.cumsum(seen, axis=1)
        square = np.cumsum(seen * seen, axis=1)
        total[:, long:] -= total[:, :-long].copy()
        square[:, long:] -= square[:, :-long].copy()
        total, square = total[:, long - 1 :], square[:, long - 1 :]
        norm = np.sqrt(np.maximum(square - total * total / long, 1e-6))
        windows = np.lib.stride_tricks.as_strided(
            seen, (len(seen), 2 * LAG + 1, long), (seen.strides[0], seen.strides[1], seen.strides[1])
        )
        score = (windows @ self._profiles[:, :, None])[:, :, 0] / norm  # profiles have mean 0: no need to centre
        best = score.argmax(axis=1)
        peak = score[self._index, best]
        left = score[self._index, np.maximum(best - 1, 0)]
        right = score[self._index, np.minimum(best + 1, 2 * LAG)]
        bend = np.minimum(left - 2 * peak + right, -1e-9)
        inside = (best > 0) & (best < 2 * LAG)
        light = min(1.0, float(seen.mean() + 8) / (self._brightness + 8))
        clear = norm[self._index, best] > FADED * light * self._contrast
        return best - LAG + np.clip((left - right) / (2 * bend), -0.5, 0.5), (peak > ALIKE) & inside & clear

    def _movement(self, lags: Floats, alike: npt.NDArray[np.bool_]) -> float:
        """Pixels by which shift, zoom and roll have moved the table's far ends; 0 where the edges do not agree."""
        keep = alike
        moved = np.zeros(4)
        count = int(np.count_nonzero(alike))
        for _ in range(2):
            if np.count_nonzero(keep) < max(8, count // 2):
                still = float(np.median(np.abs(lags[alike])))
                return still if still > ASTRAY else 0.0
            a = self._motion[keep]
            moved = np.linalg.solve(a.T @ a + 0.05 * np.eye(4), a.T @ lags[keep])
            off = np.abs(self._motion @ moved - lags)
            keep = alike & (off < max(0.7, 2.5 * float(np.partition(off[keep], len(a) // 2)[len(a) // 2])))
        still = float(np.median(np.abs(lags[alike])))
        if np.count_nonzero(keep) < max(8, 0.6 * count):
            return still if still > ASTRAY else 0.0
        if float(np.median(np.abs(self._motion[alike] @ moved - lags[alike]))) > 0.6 * still:
            # edges that wander each on its own are noise, reflections, somebody in front; far, they are another view
            return still if still > ASTRAY else 0.0
        return float(np.hypot(moved[0], moved[1]) + abs(moved[2]) + abs(moved[3]))

    def _light(self, image: Picture, flat: Picture | None) -> State:
        _, gain = self._same_scene(image, flat)
        if self._baseline is None:
            self._baseline = gain  # a video's luma has another range than a converted picture
        return State.LIGHT if abs(np.log(max(gain, 1e-3) / self._baseline)) > LIGHT_STEP else State.OK

    def _same_scene(self, image: Picture, flat: Picture | None) -> tuple[float, float]:
        """Correlation of brightness over the view with the first picture's, and its gain."""
        now = _values(image, flat, self._patch_row, self._patch_column)
        a, b = self._patches - self._patches.mean(), now - now.mean()
        power = float(a @ a)
        correlation = float(a @ b) / (np.sqrt(power * float(b @ b)) + 1e-6)
        return correlation, float(np.median(now) + 8) / float(np.median(self._patches) + 8)


def is_table_view(image: Picture, hue: Floats | None) -> bool:
    """Whether enough of a picture has the cloth's hue for a table to be in it.

    Parameters
    ----------
    image : (h, w, 3) BGR.
    hue : (3,) the cloth's L*a*b*, as `Watch` keeps it; None where it is not known (then the answer is yes).
    """
    if hue is None:
        return True
    small = cv2.resize(image, (96, 54), interpolation=cv2.INTER_AREA)
    lab = cv2.cvtColor(small.astype(np.float32) / 255, cv2.COLOR_BGR2LAB)
    near = np.hypot(lab[..., 1] - hue[1], lab[..., 2] - hue[2]) < 10 + 0.25 * float(np.hypot(hue[1], hue[2]))
    near &= np.abs(lab[..., 0] - hue[0]) < 28
    return bool(near.mean() > 0.06)


def _grey(image: Picture) -> Picture:
    return image if image.ndim == 2 else np.asarray(cv2.cvtColor(image, cv2.COLOR_BGR2GRAY), dtype=np.uint8)


def _values(
    image: Picture, flat: Picture | None, row: npt.NDArray[np.int64], column: npt.NDArray[np.int64]
) -> npt.NDArray[np.float32]:
    """Brightness at some pixels, without converting the whole picture."""
    if flat is not None:
        return flat[row, column].astype(np.float32)
    return image[row, column].astype(np.float32) @ np.array([0.114, 0.587, 0.299], dtype=np.float32)


def _standardised(profiles: Floats) -> Floats:
    centred = profiles - profiles.mean(axis=1, keepdims=True)
    return np.asarray(centred / (np.sqrt((centred**2).sum(axis=1, keepdims=True)) + 1e-6))


def _probe_sites(calibration: Calibration, grey: Picture) -> tuple[Floats, Floats]:
    """Places on the table's edges and their normals, pixels; those with the strongest contrast, spread over all rails."""
    camera, table = calibration.camera, calibration.table
    joint = calibration.joint_m or 0.05
    height, width = grey.shape
    border = REACH + LAG + 2
    points, normals = [], []
    for rail in RAILS:
        length = rail_length(table, rail)
        s = np.linspace(0.12, length - 0.12, 60)
        base, out = rail_point(table, rail, s, 0.0), rail_axes(rail)[1][:2]
        some_points, some_normals, contrast = [], [], []
        for d in (0.0, joint):
            here = camera.project(base + d * out, calibration.rail_top_m)
            far = camera.project(base + (d + 0.02) * out, calibration.rail_top_m)
            normal = (far - here) / np.maximum(np.linalg.norm(far - here, axis=1, keepdims=True), 1e-9)
            inside = np.isfinite(here).all(axis=1) & (here > border).all(axis=1)
            inside &= (here < (width - border, height - border)).all(axis=1)
            if not inside.any():
                continue
            here, normal = here[inside], normal[inside]
            steps = np.arange(-3, 4)
            across = (here[:, None] + steps[None, :, None] * normal[:, None]).round().astype(np.int64)
            profile = grey[across[..., 1], across[..., 0]].astype(np.float64)
            contrast.append(np.abs(np.diff(profile, axis=1)).max(axis=1))
            some_points.append(here)
            some_normals.append(normal)
        if not some_points:
            continue
        best = np.argsort(-np.concatenate(contrast))[: PROBES // 4]
        points.append(np.concatenate(some_points)[best])
        normals.append(np.concatenate(some_normals)[best])
    if not points:
        return np.zeros((0, 2)), np.zeros((0, 2))
    return np.concatenate(points), np.concatenate(normals)


def _patch_sites(
    calibration: Calibration, shape: tuple[int, ...]
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """A regular grid over the whole picture."""
    height, width = shape
    rows = round(np.sqrt(PATCHES * height / width))
    columns = PATCHES // max(rows, 1)
    y, x = np.meshgrid(np.linspace(0.04, 0.96, rows) * height, np.linspace(0.04, 0.96, columns) * width, indexing="ij")
    return y.ravel().astype(np.int64), x.ravel().astype(np.int64)


def _cloth_hue(calibration: Calibration, image: Picture) -> Floats:
    """(3,) median L*a*b* of the bed."""
    w, length = calibration.table.width_m, calibration.table.length_m
    x, y = np.meshgrid(np.linspace(0.1, w - 0.1, 14), np.linspace(0.1, length - 0.1, 28))
    at = calibration.camera.project(np.column_stack([x.ravel(), y.ravel()]))
    at = at[np.isfinite(at).all(axis=1)].round().astype(np.int64)
    inside = (at >= 0).all(axis=1) & (at < (image.shape[1], image.shape[0])).all(axis=1)
    pixels = image[at[inside, 1], at[inside, 0]]
    if not len(pixels):
        return np.zeros(3)
    lab = cv2.cvtColor(pixels[None].astype(np.float32) / 255, cv2.COLOR_BGR2LAB)
    return np.asarray(np.median(lab[0], axis=0), dtype=np.float64)
