"""The table as seen: robust least squares of camera and rail sizes on sights, edges along the rails and pockets."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import cv2
import numpy as np
import numpy.typing as npt

from calibration.camera import Camera, Floats
from calibration.evidence import EdgeRun, Evidence
from calibration.strips import RAIL_TOP_M, rail_axes, rail_point
from calibration.table import Table

FOCAL_PRIOR = (1.1, 0.4)  # of the picture's longer side: median, and standard deviation of the logarithm
TOP_SLACK_M = 0.0035  # standard deviation of the height of rails' tops over tables
TOP_RANGE_M = (-0.008, 0.007)  # against RAIL_TOP_M: no rail is lower than its noses, or much higher
BEND_PRIOR = 0.05  # standard deviation of the share by which a lens moves the middle of the picture's short edges
#: Prior of the cloth's edge behind the nose line and of the sights behind it: mean and standard deviation, metres.
JOINT_PRIOR = (0.050, 0.008)
SETBACK_PRIOR = (0.0937, 0.016)
EDGE_SIGMA_M = 0.0015  # how straight and true cushions are set
SIGHT_SIGMA_M = 0.0015  # how truly sights are set along the rail
SIGHT_CROSS_M = 0.004  # and across it
POCKET_SIGMA_M = 0.012
RUN_PLACES = 12  # neighbouring samples of an edge share their error: a run counts as at most so many
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


@dataclass(frozen=True, slots=True)
class _Rows:
    """All points of all evidence: ``world = base + joint * of_joint + setback * of_setback + offsets[free]``."""

    base: Floats
    of_joint: Floats
    of_setback: Floats
    of_free: Floats
    of_top: Floats
    free: Floats  # (n, k) membership in the k free runs
    along: Floats
    outward: Floats
    pixels: Floats
    kind: Floats  # 0 edge, 1 sight, 2 point
    sigma: Floats  # pixels for points
    share: Floats  # weight of an edge's sample


def _rows(table: Table, evidence: Evidence, start: Camera) -> _Rows:
    parts: list[tuple[Floats, ...]] = []
    free_runs = [run for run in evidence.edges if run.kind == "free"]

    def add(
        base: Floats,
        along: Floats,
        outward: Floats,
        px: Floats,
        kind: int,
        tie: str,
        free: int,
        sigma: Floats,
        share: float,
    ) -> None:
        n = len(base)
        zero, out = np.zeros((n, 3)), np.broadcast_to(outward, (n, 3))
        member = np.zeros((n, len(free_runs)))
        if free >= 0:
            member[:, free] = 1
        parts.append(
            (
                base,
                out if tie == "joint" else zero,
                out if tie == "setback" else zero,
                -out if tie == "free" else zero,
                np.tile([0.0, 0.0, 1.0 if tie in ("joint", "setback") else 0.0], (n, 1)),
                member,
                np.broadcast_to(along, (n, 3)),
                out,
                px,
                np.full(n, float(kind)),
                sigma,
                np.full(n, share),
            )
        )

    for run in evidence.edges:
        along, outward = rail_axes(run.rail)
        height = {"nose": table.nose_height, "bed": 0.0}.get(run.kind, RAIL_TOP_M)
        thin = _thinned(run)
        base = np.column_stack([rail_point(table, run.rail, run.s[thin], 0.0), np.full(len(thin), height)])
        which = next((k for k, r in enumerate(free_runs) if r is run), -1)
        share = np.sqrt(min(1.0, RUN_PLACES / max(len(thin), 1)))
        add(base, along, outward, run.pixels[thin], 0, run.kind, which, np.ones(len(thin)), share)
    for rail in ("head", "foot", "left", "right"):
        some = [x for x in evidence.sights if x.rail == rail]
        if some:
            along, outward = rail_axes(rail)
            s = np.array([x.along_m for x in some])
            base = np.column_stack([rail_point(table, rail, s, 0.0), np.full(len(s), RAIL_TOP_M)])
            add(base, along, outward, np.array([x.pixel for x in some]), 1, "setback", -1, np.ones(len(s)), 1.0)
    if evidence.pockets:
        pockets = table.pockets
        centres = np.array([pockets[p.name].centre for p in evidence.pockets])
        base = np.column_stack([centres, np.full(len(centres), 0.02)])
        sigma = np.hypot(1.0, POCKET_SIGMA_M * _pixels_per_metre(start, base))
        add(base, np.zeros(3), np.zeros(3), np.array([p.pixel for p in evidence.pockets]), 2, "", -1, sigma, 1.0)
    if evidence.corners is not None:
        w, length = table.width_m, table.length_m
        level = table.nose_height if evidence.corners_at_nose else RAIL_TOP_M
        base = np.array([[0, 0, level], [w, 0, level], [w, length, level], [0, length, level]])
        out = np.array([[-1.0, -1, 0], [1, -1, 0], [1, 1, 0], [-1, 1, 0]])
        sigma = np.hypot(1.0, evidence.corner_sigma_m * _pixels_per_metre(start, base))
        add(base, np.zeros(3), out, evidence.corners, 2, "" if evidence.corners_at_nose else "joint", -1, sigma, 1.0)
    if not parts:
        raise ValueError("nothing to fit a camera to")
    return _Rows(*(np.concatenate(column) for column in zip(*parts, strict=True)))


def _thinned(run: EdgeRun) -> npt.NDArray[np.int64]:
    return np.unique(np.linspace(0, len(run.s) - 1, min(len(run.s), 36)).round().astype(np.int64))


def _pixels_per_metre(camera: Camera, points: Floats) -> Floats:
    step = np.linalg.norm(camera.project(points + np.array([0.01, 0, 0])) - camera.project(points), axis=1)
    other = np.linalg.norm(camera.project(points + np.array([0, 0.01, 0])) - camera.project(points), axis=1)
    return np.asarray(np.nan_to_num(np.sqrt(step * other) / 0.01, nan=1.0), dtype=np.float64)


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
    rows = _rows(table, evidence, start)
    unit = float(max(start.width, start.height))
    offsets = np.array([r.offset for r in evidence.edges if r.kind == "free"])
    state = _State(
        np.log(start.focal),
        _bend_of(start, unit),
        start.rotation,
        start.translation,
        joint_m,
        setback_m,
        offsets,
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
                step = np.asarray(
                    np.linalg.solve(normal + damping * np.diag(np.diag(normal) + 1e-12), -right), np.float64
                )
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
    stiff: Floats = field(default_factory=lambda: np.array([1.0, 3.0]))  # k2 is for what k1 cannot explain


@dataclass(frozen=True, slots=True)
class _State:
    log_focal: float
    bend: Floats
    rotation: Floats
    translation: Floats
    joint: float
    setback: float
    offsets: Floats
    log_aspect: float
    top: float  # of the rails above where they are taken to be, metres

    def moved(self, step: Floats) -> _State:
        turn, _ = cv2.Rodrigues(step[3:6])
        return _State(
            float(np.clip(self.log_focal + np.clip(step[0], -0.5, 0.5), 3, 13)),
            self.bend + step[1:3],
            turn @ self.rotation,
            self.translation + step[6:9],
            self.joint + float(step[10]),
            self.setback + float(step[11]),
            self.offsets + step[13:],
            self.log_aspect + float(np.clip(step[9], -0.2, 0.2)),
            float(np.clip(self.top + step[12], *TOP_RANGE_M)),
        )

    def camera(self, like: Camera, unit: float) -> Camera:
        focal = float(np.exp(self.log_focal))
        rim = (0.5 * unit / focal) ** 2
        k = np.array([self.bend[0] / rim, self.bend[1] / rim**2])
        aspect = float(np.exp(self.log_aspect))
        return replace(
            like, focal=focal, distortion=k, rotation=self.rotation, translation=self.translation, aspect=aspect
        )


def _bend_of(camera: Camera, unit: float) -> Floats:
    """k1, k2 as the share by which they move a point half the longer side from the middle.

    Unlike k itself this keeps its meaning when the focal length changes.
    """
    rim = (0.5 * unit / camera.focal) ** 2
    return np.array([camera.distortion[0] * rim, camera.distortion[1] * rim**2])


def _project(state: _State, rows: _Rows, like: Camera, unit: float) -> tuple[Floats, Floats, Floats]:
    """Pixels (n, 2), their derivative by the world point (n, 2, 3) and by the ten camera parameters (n, 2, 10)."""
    world = rows.base + state.joint * rows.of_joint + state.setback * rows.of_setback + state.top * rows.of_top
    if rows.free.shape[1]:
        world = world + (rows.free @ state.offsets)[:, None] * rows.of_free
    turned = world @ state.rotation.T
    c = turned + state.translation
    z = np.maximum(c[:, 2], 0.05)
    n = c[:, :2] / z[:, None]
    r2 = (n**2).sum(axis=1)
    focal = np.exp(state.log_focal)
    rim = (0.5 * unit / focal) ** 2
    k1, k2 = state.bend[0] / rim, state.bend[1] / rim**2
    factor = 1 + k1 * r2 + k2 * r2**2
    focals = focal * np.array([1.0, np.exp(state.log_aspect)])
    off = focals * n * factor[:, None]
    pixels = off + like.centre
    slope = 2 * k1 + 4 * k2 * r2
    inner = factor[:, None, None] * np.eye(2) + slope[:, None, None] * n[:, :, None] * n[:, None, :]
    by_c = np.zeros((len(n), 2, 3))
    by_c[:, 0, 0] = by_c[:, 1, 1] = 1 / z
    by_c[:, :, 2] = -n / z[:, None]
    by_c = focals[:, None] * (inner @ by_c)
    by_camera = np.empty((len(n), 2, 10))
    by_camera[:, :, 0] = focals * n * (factor + 2 * k1 * r2 + 4 * k2 * r2**2)[:, None]
    by_camera[:, :, 1] = focals * n * (r2 / rim)[:, None]
    by_camera[:, :, 2] = focals * n * (r2**2 / rim**2)[:, None]
    x, y, w = turned.T
    zero = np.zeros_like(x)
    by_turn = np.stack([np.stack([zero, w, -y], 1), np.stack([-w, zero, x], 1), np.stack([y, -x, zero], 1)], 1)
    by_camera[:, :, 3:6] = by_c @ by_turn
    by_camera[:, :, 6:9] = by_c
    by_camera[:, :, 9] = off * np.array([0.0, 1.0])
    return pixels, by_c @ state.rotation, by_camera


def _linearise(state: _State, rows: _Rows, like: Camera, tie: _Tie) -> tuple[Floats, Floats]:
    """Residuals in standard deviations and their Jacobian; directions of lines are held within a step."""
    pixels, by_world, by_camera = _project(state, rows, like, tie.unit)
    count = by_camera.shape[2] + 3 + rows.free.shape[1]
    full = np.empty((len(pixels), 2, count))
    full[:, :, :10] = by_camera
    full[:, :, 10] = np.einsum("nij,nj->ni", by_world, rows.of_joint)
    full[:, :, 11] = np.einsum("nij,nj->ni", by_world, rows.of_setback)
    full[:, :, 12] = np.einsum("nij,nj->ni", by_world, rows.of_top)
    if rows.free.shape[1]:
        full[:, :, 13:] = np.einsum("nij,nj->ni", by_world, rows.of_free)[:, :, None] * rows.free[:, None, :]
    off = rows.pixels - pixels
    reach = np.einsum("nij,nj->ni", by_world, rows.along)
    side = np.einsum("nij,nj->ni", by_world, rows.outward)
    blocks: list[Floats] = []
    directions: list[tuple[Floats, Floats]] = []
    edge = rows.kind == 0
    if edge.any():
        t = reach[edge] / np.maximum(np.linalg.norm(reach[edge], axis=1, keepdims=True), 1e-9)
        normal = np.column_stack([-t[:, 1], t[:, 0]])
        scale = np.abs((side[edge] * normal).sum(axis=1))
        sigma = np.hypot(0.7, EDGE_SIGMA_M * scale) / rows.share[edge]
        directions.append((edge, normal / sigma[:, None]))
    sight = rows.kind == 1
    if sight.any():
        a, b = reach[sight], side[sight]
        det = a[:, 0] * b[:, 1] - a[:, 1] * b[:, 0]
        det = np.where(np.abs(det) < 1e-6, 1e-6, det)
        u = np.column_stack([b[:, 1], -b[:, 0]]) / det[:, None]
        v = np.column_stack([-a[:, 1], a[:, 0]]) / det[:, None]
        blur_u, blur_v = 0.5 * np.linalg.norm(u, axis=1), 0.7 * np.linalg.norm(v, axis=1)
        directions.append((sight, u / np.hypot(SIGHT_SIGMA_M, blur_u)[:, None]))
        directions.append((sight, v / np.hypot(SIGHT_CROSS_M, blur_v)[:, None]))
    point = rows.kind == 2
    if point.any():
        for axis in np.eye(2):
            directions.append((point, axis / rows.sigma[point][:, None]))
    jacobians = []
    for which, direction in directions:
        blocks.append((off[which] * direction).sum(axis=1))
        jacobians.append(-np.einsum("ni,nij->nj", direction, full[which]))
    prior = np.zeros((7, count))
    prior[0, 0] = 1 / FOCAL_PRIOR[1]
    prior[1, 1], prior[2, 2] = tie.stiff / tie.slack
    prior[3, 10], prior[4, 11] = 1 / JOINT_PRIOR[1], 1 / SETBACK_PRIOR[1]
    prior[5, 9] = 1 / tie.aspect_slack
    prior[6, 12] = 1 / tie.top_slack
    values = np.array(
        [
            (state.log_focal - np.log(FOCAL_PRIOR[0] * tie.unit)) / FOCAL_PRIOR[1],
            *((state.bend - tie.rest) / tie.slack * tie.stiff),
            (state.joint - JOINT_PRIOR[0]) / JOINT_PRIOR[1],
            (state.setback - SETBACK_PRIOR[0]) / SETBACK_PRIOR[1],
            (state.log_aspect - tie.log_aspect) / tie.aspect_slack,
            (state.top - tie.top) / tie.top_slack,
        ]
    )
    residual = np.clip(np.nan_to_num(np.concatenate([*blocks, values]), nan=1e4), -1e4, 1e4)
    return residual, np.nan_to_num(np.concatenate([*jacobians, prior]))


def _weights(residual: Floats) -> Floats:
    """Pull of each residual; what is known before looking (the last seven) keeps its full pull."""
    weight = (1 + (residual / ROBUST) ** 2) ** -0.5
    weight[-7:] = 1
    return weight


def _robust_cost(residual: Floats) -> float:
    seen, prior = residual[:-7], residual[-7:]
    return float(ROBUST**2 * np.sum(np.sqrt(1 + (seen / ROBUST) ** 2) - 1) + 0.5 * np.sum(prior**2))


def _pixel_errors(state: _State, rows: _Rows, like: Camera, unit: float) -> tuple[Floats, Floats]:
    pixels, by_world, _ = _project(state, rows, like, unit)
    off = rows.pixels - pixels
    reach = np.einsum("nij,nj->ni", by_world, rows.along)
    t = reach / np.maximum(np.linalg.norm(reach, axis=1, keepdims=True), 1e-9)
    across = np.abs(off[:, 0] * -t[:, 1] + off[:, 1] * t[:, 0])
    along = np.abs((off * t).sum(axis=1))
    return across[rows.kind == 0], along[rows.kind == 1]
