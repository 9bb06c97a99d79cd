"""The table as seen: robust least squares of camera and rail sizes on sights, edges along the rails and pockets."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import cv2
import numpy as np
from scipy.optimize import least_squares

from calibration.camera import Camera, Floats
from calibration.pose import FOCAL_PRIOR
from calibration.sights import Sight
from calibration.strips import RAIL_TOP_M, rail_point
from calibration.table import Table

#: Prior of the cloth's edge behind the nose line and of the sights behind it: mean and standard deviation, metres.
JOINT_PRIOR = (0.050, 0.008)
SETBACK_PRIOR = (0.0937, 0.010)
EDGE_SIGMA_M = 0.0015  # how straight and true cushions are set
SIGHT_SIGMA_M = 0.0015  # how truly sights are set
POCKET_SIGMA_M = 0.012


@dataclass(frozen=True, slots=True)
class EdgeRun:
    """An edge along a rail, found at places ``s``.

    Parameters
    ----------
    rail : name.
    kind : ``nose``, ``joint`` (cloth meets rail) or ``free`` (straight, parallel, at an unknown distance).
    s : (n,) metres along the rail.
    pixels : (n, 2) where the edge was found.
    offset : first guess of the distance inside the nose line, metres.
    """

    rail: str
    kind: str
    s: Floats
    pixels: Floats
    offset: float = 0.0


@dataclass(frozen=True, slots=True)
class PocketSpot:
    """A pocket's dark hole: name, (2,) pixel of its middle."""

    name: str
    pixel: Floats


@dataclass(frozen=True, slots=True)
class Evidence:
    """Everything that the picture says about where the table is."""

    sights: list[Sight] = field(default_factory=list)
    edges: list[EdgeRun] = field(default_factory=list)
    pockets: list[PocketSpot] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Fit:
    """A fitted camera.

    Parameters
    ----------
    camera : the camera.
    joint_m, setback_m : cloth's edge and sights, metres behind the nose lines.
    cost : robust cost.
    rms_px : root mean square of what fits (residuals under four pixels).
    """

    camera: Camera
    joint_m: float
    setback_m: float
    cost: float
    rms_px: float
    covariance: Floats


def _unpack(p: Floats, like: Camera) -> Camera:
    rotation, _ = cv2.Rodrigues(p[3:6])
    return replace(like, focal=float(np.exp(p[0])), distortion=p[1:3].copy(), rotation=rotation, translation=p[6:9].copy())


def fit(
    start: Camera,
    table: Table,
    evidence: Evidence,
    *,
    joint_m: float = JOINT_PRIOR[0],
    setback_m: float = SETBACK_PRIOR[0],
    distortion: bool = True,
    corners: Floats | None = None,
    corner_sigma_m: float = 0.03,
) -> Fit:
    """Fits camera, distortion and rail sizes.

    Parameters
    ----------
    start : first camera.
    table : its size is taken as given.
    evidence : what was found.
    distortion : whether k1, k2 may move from where they are.
    corners : (4, 2) pixels of the joint lines' corners, head-left, head-right, foot-right, foot-left; weak evidence.
    corner_sigma_m : their standard deviation in metres.
    """
    rvec, _ = cv2.Rodrigues(start.rotation)
    free = [run for run in evidence.edges if run.kind == "free"]
    p0 = np.concatenate(
        [[np.log(start.focal)], start.distortion, rvec.ravel(), start.translation, [joint_m, setback_m], [r.offset for r in free]]
    )
    unit = float(max(start.width, start.height))
    blocks = _Blocks(start, table, evidence, corners, corner_sigma_m)
    k_scale = 0.03 if distortion else 1e-5
    rest = np.zeros(2) if distortion else start.distortion

    def residual(p: Floats) -> Floats:
        camera = _unpack(p, start)
        parts = blocks.residuals(camera, p[9], p[10], p[11:])
        # what counts is how far the picture's rim is moved, not k itself, whose meaning hangs on the focal length
        bend = (0.5 * unit / np.exp(p[0])) ** 2
        prior = [
            (p[0] - np.log(FOCAL_PRIOR[0] * unit)) / FOCAL_PRIOR[1],
            (p[1] - rest[0]) * bend / k_scale,
            (p[2] - rest[1]) * bend**2 / k_scale,
            (p[9] - JOINT_PRIOR[0]) / JOINT_PRIOR[1],
            (p[10] - SETBACK_PRIOR[0]) / SETBACK_PRIOR[1],
        ]
        return np.nan_to_num(np.concatenate([*parts, prior]), nan=50.0, posinf=50.0, neginf=-50.0)

    solved = least_squares(residual, p0, x_scale="jac", loss="soft_l1", f_scale=1.5, max_nfev=40)
    camera = _unpack(solved.x, start)
    pixels = blocks.pixel_errors(camera, solved.x[9], solved.x[10], solved.x[11:])
    good = pixels[pixels < 4 * max(1.0, unit / 1920)]
    rms = float(np.sqrt(np.mean(good**2))) if len(good) else float("inf")
    normal = solved.jac.T @ solved.jac
    covariance = np.linalg.pinv(normal)[:9, :9]
    return Fit(camera, float(solved.x[9]), float(solved.x[10]), float(solved.cost), rms, covariance)


class _Blocks:
    """Residuals of each kind of evidence in standard deviations, vectorised over all of it."""

    def __init__(self, start: Camera, table: Table, evidence: Evidence, corners: Floats | None, corner_sigma_m: float) -> None:
        self.table = table
        self.evidence = evidence
        self.corners = corners
        self.corner_sigma_m = corner_sigma_m
        self.start = start
        self.edge_weight: list[Floats] = []
        for run in evidence.edges:
            scale = self._metre(run.rail, run.s)
            sigma = np.hypot(0.7, EDGE_SIGMA_M * scale)
            # neighbouring samples share their error: a run counts as at most a dozen independent places
            self.edge_weight.append(np.sqrt(min(1.0, 12 / max(len(run.s), 1))) / sigma)

    def _metre(self, rail: str, s: Floats) -> Floats:
        """Pixels that a metre across the rail covers, at ``s``."""
        a = self.start.project(rail_point(self.table, rail, s, -0.02), RAIL_TOP_M)
        b = self.start.project(rail_point(self.table, rail, s, 0.02), RAIL_TOP_M)
        return np.linalg.norm(a - b, axis=1) / 0.04

    def _line(self, camera: Camera, rail: str, s: Floats, d: float, height: float) -> tuple[Floats, Floats]:
        here = camera.project(rail_point(self.table, rail, s, d), height)
        next_ = camera.project(rail_point(self.table, rail, s + 0.01, d), height)
        tangent = next_ - here
        length = np.linalg.norm(tangent, axis=1, keepdims=True)
        return here, tangent / np.maximum(length, 1e-9)

    def _edge(self, camera: Camera, run: EdgeRun, joint: float, offset: float) -> Floats:
        d, height = {"nose": (0.0, self.table.nose_height), "joint": (-joint, RAIL_TOP_M), "free": (offset, RAIL_TOP_M)}[run.kind]
        here, tangent = self._line(camera, run.rail, run.s, d, height)
        off = run.pixels - here
        return np.asarray(tangent[:, 0] * off[:, 1] - tangent[:, 1] * off[:, 0])

    def _sight(self, camera: Camera, setback: float) -> tuple[Floats, Floats, Floats, Floats]:
        along, across, metre, cross = [], [], [], []
        for rail in ("head", "foot", "left", "right"):
            some = [x for x in self.evidence.sights if x.rail == rail]
            if not some:
                continue
            s = np.array([x.along_m for x in some])
            here, tangent = self._line(camera, rail, s, -setback, RAIL_TOP_M)
            # a sight slides on its rail without telling of the camera: only its place along the rail is sharp
            side = camera.project(rail_point(self.table, rail, s, -setback - 0.01), RAIL_TOP_M) - here
            reach = camera.project(rail_point(self.table, rail, s + 0.01, -setback), RAIL_TOP_M) - here
            off = np.array([x.pixel for x in some]) - here
            det = reach[:, 0] * side[:, 1] - reach[:, 1] * side[:, 0]
            det = np.where(np.abs(det) < 1e-9, 1e-9, det)
            u = (off[:, 0] * side[:, 1] - off[:, 1] * side[:, 0]) / det  # in hundredths of a metre along
            v = (reach[:, 0] * off[:, 1] - reach[:, 1] * off[:, 0]) / det
            along.append(u * 0.01)
            across.append(v * 0.01)
            metre.append(np.linalg.norm(reach, axis=1) / 0.01)
            cross.append(np.linalg.norm(side, axis=1) / 0.01)
        if not along:
            empty = np.zeros(0)
            return empty, empty, empty, empty
        return np.concatenate(along), np.concatenate(across), np.concatenate(metre), np.concatenate(cross)

    def residuals(self, camera: Camera, joint: float, setback: float, offsets: Floats) -> list[Floats]:
        parts: list[Floats] = []
        at = 0
        for run, weight in zip(self.evidence.edges, self.edge_weight, strict=True):
            offset = 0.0
            if run.kind == "free":
                offset, at = float(offsets[at]), at + 1
            parts.append(self._edge(camera, run, joint, offset) * weight)
        along, across, metre, cross = self._sight(camera, setback)
        parts.append(along / np.hypot(SIGHT_SIGMA_M, 0.5 / metre))
        parts.append(across / np.hypot(0.004, 0.7 / np.maximum(cross, 1)))
        if self.evidence.pockets:
            pockets = self.table.pockets
            world = np.array([pockets[p.name].centre for p in self.evidence.pockets])
            off = np.array([p.pixel for p in self.evidence.pockets]) - camera.project(world, 0.02)
            scale = np.linalg.norm(self.start.project(world + (0.01, 0), 0.02) - self.start.project(world, 0.02), axis=1) / 0.01
            parts.append((off / np.hypot(1.0, POCKET_SIGMA_M * scale)[:, None]).ravel())
        if self.corners is not None:
            j = joint
            w, length = self.table.width_m, self.table.length_m
            world = np.array([[-j, -j], [w + j, -j], [w + j, length + j], [-j, length + j]])
            off = self.corners - camera.project(world, RAIL_TOP_M)
            scale = np.linalg.norm(np.diff(self.corners[[0, 1, 2, 3, 0]], axis=0), axis=1).mean() / (w + length) * 2
            parts.append((off / (self.corner_sigma_m * scale)).ravel())
        return parts

    def pixel_errors(self, camera: Camera, joint: float, setback: float, offsets: Floats) -> Floats:
        parts: list[Floats] = []
        at = 0
        for run in self.evidence.edges:
            offset = 0.0
            if run.kind == "free":
                offset, at = float(offsets[at]), at + 1
            parts.append(np.abs(self._edge(camera, run, joint, offset)))
        along, _, metre, _ = self._sight(camera, setback)
        parts.append(np.abs(along * metre))
        return np.concatenate(parts) if parts else np.zeros(0)
