"""The table as seen: robust least squares of camera and rail sizes on sights and edges along the rails."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import cv2
import numpy as np

from calibration.camera import Camera, Floats
from calibration.evidence import Evidence
from calibration.lens import Lens
from calibration.points import Indices, Rows, rows_of
from calibration.strips import RAIL_TOP_M
from calibration.table import Table

TOP_SLACK_M = 0.0035  # standard deviation of the height of rails' tops over tables
TOP_RANGE_M = (-0.008, 0.007)  # against RAIL_TOP_M: no rail is lower than its noses, or much higher
BEND_PRIOR = 0.05  # standard deviation of the share by which a lens moves the middle of the picture's short edges
#: Prior of the cloth's edge behind the nose line and of the sights behind it: mean and standard deviation, metres.
JOINT_PRIOR = (0.050, 0.008)
SETBACK_PRIOR = (0.0937, 0.016)
EDGE_SIGMA_M = 0.0015  # how straight and true cushions are set
SIGHT_SIGMA_M = 0.0015  # how truly sights are set along the rail
JAW_SIGMA_M = 0.006  # how truly jaws are set along the rail, and seen
SIGHT_CROSS_M = 0.004  # and across it
STIFF = np.array([1.0, 3.0])  # of the lens's two terms: the second is for what the first cannot explain
ROBUST = 1.5  # standard deviations at which a residual begins to lose its pull


@dataclass(frozen=True, slots=True)
class Fit:
    """A fitted camera.

    Parameters
    ----------
    camera : the camera.
    joint_m, setback_m : cloth's edge and sights, metres behind the nose lines.
    top_m : height of both above the cloth, metres.
    cost : robust cost.
    rms_px : root mean square of edges' and sights' distances from where the model has them, outliers left out.
    edge_px, sight_px : distances of each edge sample across its line and of each sight along its rail, pixels.
    covariance : (10, 10) of log focal, bend (2), turn (3, radians), shift (3, metres) and log aspect.
    """

    camera: Camera
    joint_m: float
    setback_m: float
    top_m: float
    cost: float
    rms_px: float
    edge_px: Floats
    sight_px: Floats
    covariance: Floats


def fit(
    start: Camera,
    table: Table,
    evidence: Evidence,
    *,
    joint_m: float = JOINT_PRIOR[0],
    setback_m: float = SETBACK_PRIOR[0],
    top_m: float = RAIL_TOP_M,
    distortion: bool = True,
    stretched: bool = False,
    raised: bool = False,
    rounds: int = 25,
) -> Fit:
    """Fits camera, distortion and rail sizes by Levenberg-Marquardt with reweighting.

    Parameters
    ----------
    start : first camera.
    table : its size is taken as given.
    evidence : what was found.
    joint_m, setback_m, top_m : first values.
    distortion : whether the lens's bend may move from where it is.
    stretched : whether the picture may have been stretched: its pixels' aspect is fitted too.
    raised : whether the rails' height is fitted too (noses tell it); else it is ``top_m``.
    rounds : at most so many steps.

    Raises
    ------
    ValueError
        Where there is no evidence.
    """
    rows = rows_of(table, evidence, start)
    unit = float(max(start.width, start.height))
    state = _State(
        np.log(start.focal),
        _bend_of(start, unit),
        start.rotation,
        start.translation,
        joint_m,
        setback_m,
        float(np.log(start.aspect)),
        top_m - RAIL_TOP_M,
    )
    rest = np.zeros(2) if distortion else state.bend
    slack = BEND_PRIOR if distortion else 1e-6
    tie = _Tie(
        rest,
        slack,
        unit,
        0.0 if stretched else float(np.log(start.aspect)),
        0.1 if stretched else 1e-6,
        0.0 if raised else top_m - RAIL_TOP_M,
        TOP_SLACK_M if raised else 1e-7,
        start.lens,
    )
    damping = 1e-3
    residual, jacobian = _linearise(state, rows, start, tie)
    cost = _robust_cost(residual)
    for _ in range(rounds):
        weight = _weights(residual)
        weighted = jacobian * weight[:, None]
        normal, right = jacobian.T @ weighted, weighted.T @ residual
        improved = False
        for _ in range(6):
            try:
                damped = normal.copy()
                damped.flat[:: len(damped) + 1] += damping * (normal.diagonal() + 1e-12)
                step = np.asarray(np.linalg.solve(damped, -right), np.float64)
            except np.linalg.LinAlgError:
                damping *= 10
                continue
            trial = state.moved(step)
            new_residual, new_jacobian = _linearise(trial, rows, start, tie)
            new_cost = _robust_cost(new_residual)
            if new_cost < cost:
                improved = True
                break
            damping = damping * 6 + 1e-6
        if not improved:
            break
        gain = cost - new_cost
        state, residual, jacobian, cost = trial, new_residual, new_jacobian, new_cost
        damping *= 0.25
        if gain < 1e-4 * (1 + cost):
            break
    camera = state.camera(start, unit)
    edge_px, sight_px = _pixel_errors(state, rows, start, unit)
    pixels = np.concatenate([edge_px, sight_px])
    limit = max(3 * 1.48 * float(np.median(pixels)), 1.0) if len(pixels) else 1.0
    good = pixels[pixels < limit]
    rms = float(np.sqrt(np.mean(good**2))) if len(good) else float("inf")
    weight = _weights(residual)
    normal = jacobian.T @ (jacobian * weight[:, None])
    covariance = np.asarray(np.linalg.pinv(normal)[:10, :10], dtype=np.float64)
    top = RAIL_TOP_M + float(state.top)
    return Fit(camera, float(state.joint), float(state.setback), top, cost, rms, edge_px, sight_px, covariance)


@dataclass(frozen=True, slots=True)
class _Tie:
    """What is known before looking: bend at rest, its spread, the picture's longer side."""

    rest: Floats
    slack: float
    unit: float
    log_aspect: float
    aspect_slack: float
    top: float
    top_slack: float
    lens: Lens
    prior: Floats = field(init=False)  # (7, 13) Jacobian

    def __post_init__(self) -> None:
        prior = np.zeros((7, 13))
        prior[0, 0] = 1 / self.lens.spread
        prior[1, 1], prior[2, 2] = STIFF / self.slack
        prior[3, 10], prior[4, 11] = 1 / JOINT_PRIOR[1], 1 / SETBACK_PRIOR[1]
        prior[5, 9] = 1 / self.aspect_slack
        prior[6, 12] = 1 / self.top_slack
        object.__setattr__(self, "prior", prior)

    def residual(self, state: _State) -> Floats:
        bend = (state.bend - self.rest) / self.slack * STIFF
        return np.array(
            [
                (state.log_focal - np.log(self.lens.focal * self.unit)) / self.lens.spread,
                bend[0],
                bend[1],
                (state.joint - JOINT_PRIOR[0]) / JOINT_PRIOR[1],
                (state.setback - SETBACK_PRIOR[0]) / SETBACK_PRIOR[1],
                (state.log_aspect - self.log_aspect) / self.aspect_slack,
                (state.top - self.top) / self.top_slack,
            ]
        )


@dataclass(frozen=True, slots=True)
class _State:
    log_focal: float
    bend: Floats
    rotation: Floats
    translation: Floats
    joint: float
    setback: float
    log_aspect: float
    top: float  # of the rails above where they are taken to be, metres

    def moved(self, step: Floats) -> _State:
        turn, _ = cv2.Rodrigues(step[3:6])
        return _State(
            _within(self.log_focal + _within(float(step[0]), -0.5, 0.5), 3.0, 13.0),
            self.bend + step[1:3],
            turn @ self.rotation,
            self.translation + step[6:9],
            self.joint + float(step[10]),
            self.setback + float(step[11]),
            self.log_aspect + _within(float(step[9]), -0.2, 0.2),
            _within(self.top + float(step[12]), *TOP_RANGE_M),
        )

    def camera(self, like: Camera, unit: float) -> Camera:
        focal = float(np.exp(self.log_focal))
        rim = (0.5 * unit / focal) ** 2
        k = np.array([self.bend[0] / rim, self.bend[1] / rim**2])
        aspect = float(np.exp(self.log_aspect))
        return replace(
            like, focal=focal, distortion=k, rotation=self.rotation, translation=self.translation, aspect=aspect
        )


def _within(value: float, low: float, high: float) -> float:
    return min(max(value, low), high)


def _bend_of(camera: Camera, unit: float) -> Floats:
    """k1, k2 as the share by which they move a point half the longer side from the middle.

    Unlike k itself this keeps its meaning when the focal length changes.
    """
    rim = (0.5 * unit / camera.focal) ** 2
    return np.array([camera.distortion[0] * rim, camera.distortion[1] * rim**2])


@dataclass(frozen=True, slots=True)
class _Seen:
    """Points as a state's camera sees them, and what derivatives are made of."""

    pixels: Floats  # (n, 2)
    spread: Floats  # (n, 2) pixels from the picture's centre but for the lens's bend
    factor: Floats  # (n,) by which the lens stretches that
    r2: Floats
    turned: Floats  # (n, 3) world points, turned into the camera's axes
    by_camera: tuple[Floats, Floats]  # (n, 3) derivative of u, of v, by the point in the camera's axes
    by_world: tuple[Floats, Floats]  # and in the world's
    k: Floats  # (2,) k1, k2
    rim: float


def _project(state: _State, rows: Rows, like: Camera, unit: float) -> _Seen:
    world = rows.base + state.joint * rows.of_joint + state.setback * rows.of_setback + state.top * rows.of_top
    turned = world @ state.rotation.T
    x, y, z = (turned + state.translation).T
    z = np.maximum(z, 0.05)
    nx, ny = x / z, y / z
    r2 = nx * nx + ny * ny
    focal = float(np.exp(state.log_focal))
    rim = (0.5 * unit / focal) ** 2
    k1, k2 = state.bend[0] / rim, state.bend[1] / rim**2
    factor = 1 + r2 * (k1 + k2 * r2)
    slope = 2 * k1 + 4 * k2 * r2
    upright = focal * float(np.exp(state.log_aspect))
    spread = _columns(focal * nx, upright * ny)
    a, b, d = factor + slope * nx * nx, slope * nx * ny, factor + slope * ny * ny
    u = _columns(a, b, -(a * nx + b * ny)) * (focal / z)[:, None]
    v = _columns(b, d, -(b * nx + d * ny)) * (upright / z)[:, None]
    pixels = spread * factor[:, None] + like.centre
    in_world = (u @ state.rotation, v @ state.rotation)
    return _Seen(pixels, spread, factor, r2, turned, (u, v), in_world, np.array([k1, k2]), rim)


def _linearise(state: _State, rows: Rows, like: Camera, tie: _Tie) -> tuple[Floats, Floats]:
    """Residuals in standard deviations and their Jacobian; directions of lines are held within a step."""
    seen = _project(state, rows, like, tie.unit)
    some: list[Indices] = []
    directions: list[Floats] = []
    if len(rows.edge):
        reach, side = _on_picture(seen, rows.along, rows.edge), _on_picture(seen, rows.outward, rows.edge)
        normal = _columns(-reach[:, 1], reach[:, 0]) / np.maximum(np.hypot(*reach.T), 1e-9)[:, None]
        scale = np.abs((side * normal).sum(axis=1))
        sigma = np.hypot(0.7, EDGE_SIGMA_M * scale) / rows.share[rows.edge]
        some.append(rows.edge)
        directions.append(normal / sigma[:, None])
    for marks, sigma_u in ((rows.sight, SIGHT_SIGMA_M), (rows.jaw, JAW_SIGMA_M)):
        if not len(marks):
            continue
        a, b = _on_picture(seen, rows.along, marks), _on_picture(seen, rows.outward, marks)
        det = a[:, 0] * b[:, 1] - a[:, 1] * b[:, 0]
        det = np.where(np.abs(det) < 1e-6, 1e-6, det)
        u = _columns(b[:, 1], -b[:, 0]) / det[:, None]
        v = _columns(-a[:, 1], a[:, 0]) / det[:, None]
        blur_u, blur_v = 0.5 * np.hypot(*u.T), 0.7 * np.hypot(*v.T)
        some.append(marks)
        directions.append(u / np.hypot(sigma_u, blur_u)[:, None])
        if marks is rows.sight:  # how far behind the nose a cushion ends no one knows
            some.append(marks)
            directions.append(v / np.hypot(SIGHT_CROSS_M, blur_v)[:, None])
    if len(rows.point):
        some += [rows.point, rows.point]
        directions += [axis / rows.sigma[rows.point][:, None] for axis in np.eye(2)]
    which, direction = np.concatenate(some), np.concatenate(directions)
    du, dv = direction.T
    off = np.einsum("ij,ij->i", (rows.pixels - seen.pixels)[which], direction)
    by_point = du[:, None] * seen.by_camera[0][which] + dv[:, None] * seen.by_camera[1][which]
    by_world = du[:, None] * seen.by_world[0][which] + dv[:, None] * seen.by_world[1][which]
    spread, factor, r2 = seen.spread[which], seen.factor[which], seen.r2[which]
    out = du * spread[:, 0] + dv * spread[:, 1]
    jacobian = np.empty((len(which) + len(tie.prior), 13))
    slopes = jacobian[: len(which)]
    slopes[:, 0] = out * (factor + r2 * (2 * seen.k[0] + 4 * seen.k[1] * r2))
    slopes[:, 1] = out * r2 / seen.rim
    slopes[:, 2] = out * r2 * r2 / seen.rim**2
    (x, y, z), (p, q, r) = seen.turned[which].T, by_point.T
    slopes[:, 3], slopes[:, 4], slopes[:, 5] = y * r - z * q, z * p - x * r, x * q - y * p
    slopes[:, 6:9] = by_point
    slopes[:, 9] = dv * spread[:, 1] * factor
    slopes[:, 10] = np.einsum("ij,ij->i", by_world, rows.of_joint[which])
    slopes[:, 11] = np.einsum("ij,ij->i", by_world, rows.of_setback[which])
    slopes[:, 12] = np.einsum("ij,ij->i", by_world, rows.of_top[which])
    np.negative(slopes, out=slopes)
    jacobian[len(which) :] = tie.prior
    residual = np.concatenate([off, tie.residual(state)])
    if not (np.isfinite(residual).all() and np.isfinite(jacobian).all()):
        residual, jacobian = np.nan_to_num(residual, nan=1e4), np.nan_to_num(jacobian)
    return np.minimum(np.maximum(residual, -1e4), 1e4), jacobian


def _on_picture(seen: _Seen, way: Floats, which: Indices) -> Floats:
    """(m, 2) pixels that a metre along ``way``, of some points, makes."""
    some = way[which]
    return _columns(*(np.einsum("ij,ij->i", part[which], some) for part in seen.by_world))


def _columns(*columns: Floats) -> Floats:
    """The columns side by side; for so few and short ones quicker than `numpy.column_stack`."""
    out = np.empty((len(columns[0]), len(columns)))
    for k, column in enumerate(columns):
        out[:, k] = column
    return out


def _weights(residual: Floats) -> Floats:
    """Pull of each residual; what is known before looking (the last seven) keeps its full pull."""
    weight = (1 + (residual / ROBUST) ** 2) ** -0.5
    weight[-7:] = 1
    return weight


def _robust_cost(residual: Floats) -> float:
    seen, prior = residual[:-7], residual[-7:]
    return float(ROBUST**2 * np.sum(np.sqrt(1 + (seen / ROBUST) ** 2) - 1) + 0.5 * np.sum(prior**2))


def _pixel_errors(state: _State, rows: Rows, like: Camera, unit: float) -> tuple[Floats, Floats]:
    seen = _project(state, rows, like, unit)
    errors = []
    for some, across in ((rows.edge, True), (rows.sight, False)):
        off = (rows.pixels - seen.pixels)[some]
        reach = _on_picture(seen, rows.along, some)
        t = reach / np.maximum(np.linalg.norm(reach, axis=1, keepdims=True), 1e-9)
        errors.append(np.abs(off[:, 1] * t[:, 0] - off[:, 0] * t[:, 1] if across else (off * t).sum(axis=1)))
    return errors[0], errors[1]
