"""Refines one reading of a picture: sights and edges are looked for where it has them, and its camera fitted to them."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

from calibration.camera import Camera, Floats
from calibration.cloth import Quad, Region
from calibration.cushions import joint_runs, nose_runs
from calibration.evidence import EdgeRun, Evidence
from calibration.jaws import Jaw, find_jaws, placed
from calibration.model import JOINT_PRIOR, SETBACK_PRIOR, Fit, fit
from calibration.pose import rectangle
from calibration.sights import Planes, Sight, find_sights
from calibration.strips import RAIL_TOP_M, rail_point
from calibration.table import RAILS, Table

STRETCH_GAIN = 3.0  # of cost, for which pixels that are not square are believed
LOWEST_VIEW = 5.0  # times the camera's height away: a nose seen lower than that is not told from what lies behind it
ASTRAY = 0.0004  # of the picture's longer side: an edge of which a fifth is off by more follows another line
PINNED = 8  # sights in their places, on three rails, that leave no doubt


@dataclass(frozen=True, slots=True)
class Found:
    """A table as one hypothesis explains it.

    Parameters
    ----------
    fit : camera and sizes.
    evidence : what they were fitted to.
    score : how well the hypothesis explains the picture; comparable within one picture.
    cover : share of the bed, as far as it lies in the picture, that is cloth.
    beyond : share of the rails' tops that has the cloth's colour.
    region, quad : where it came from.
    led_by_sights : whether the diamonds led the way, or the cloth and the cushions alone.
    by_jaws : whether the pockets' jaws are part of the evidence.
    jaws : where cushions end at pockets, looked for where the diamonds leave doubt.
    by_diamonds : whether it was begun from rows of diamonds; ``region`` is then the bed itself, whatever its colour.
    """

    fit: Fit
    evidence: Evidence
    score: float
    cover: float
    beyond: float
    region: Region
    quad: Quad
    led_by_sights: bool = True
    by_diamonds: bool = False
    by_jaws: bool = False
    jaws: list[Jaw] = field(default_factory=list)


def refine(
    planes: Planes,
    camera: Camera,
    table: Table,
    region: Region,
    quad: Quad,
    led_by_sights: bool = True,
    windows: tuple[float, ...] = (0.12, 0.06, 0.035),
    by_jaws: bool = False,
) -> Found | None:
    """Fits a hypothesis to the sights and edges near where it puts them, within ever narrower ``windows``, metres.

    The pockets' jaws are evidence only ``by_jaws``; otherwise they are left to confirm what is found.
    """
    sights: list[Sight] = []
    setback = SETBACK_PRIOR[0]
    result: Fit | None = None
    joints: list[EdgeRun] = []
    jaws: list[Jaw] = []
    for window in windows:
        sights = find_sights(planes, camera, table, window) if led_by_sights else []
        # diamonds cannot be taken for others, edges can: where there are many, they alone lead the way
        many = _many(sights)
        loose = camera.project(rectangle(table.width_m, table.length_m, JOINT_PRIOR[0]), RAIL_TOP_M)
        evidence = Evidence(sights, [] if many else joints, jaws, corners=loose, corner_sigma_m=0.06 if many else 0.04)
        bent, stretched = window < 0.1, window < 0.1 and abs(camera.aspect - 1) > 0.02
        result = fit(camera, table, evidence, setback_m=setback, distortion=bent, stretched=stretched)
        camera, setback = result.camera, result.setback_m
        if by_jaws:
            jaws = placed(find_jaws(planes.picture, camera, table, 0.12), table)
        if not many:
            joints = joint_runs(planes.picture, camera, table, result.joint_m, 0.02 if window > 0.1 else 0.012)
    joints = joint_runs(planes.picture, camera, table, JOINT_PRIOR[0], 0.012)
    evidence = Evidence(sights, joints, jaws)
    if not sights and not joints:
        return None
    result = fit(camera, table, evidence, setback_m=setback, stretched=abs(camera.aspect - 1) > 0.02)
    cover, beyond = coverage(region, result.camera, table, result.joint_m)
    score = cover - beyond + _agreement(result, evidence)
    return Found(result, evidence, score, cover, beyond, region, quad, led_by_sights, by_jaws=by_jaws)


def _many(sights: list[Sight]) -> bool:
    return len(sights) >= 12 and len({x.rail for x in sights}) + len(sights) // 15 >= 4


def _agreement(result: Fit, evidence: Evidence) -> float:
    """What the sights and edges that fit are worth, beside the cloth."""
    limit = max(1.5, 0.0012 * max(result.camera.width, result.camera.height))
    order = [x for rail in RAILS for x in evidence.sights if x.rail == rail]
    worth = sum(
        min(x.strength, 20.0) / 20 * max(0.0, 1 - (e / limit) ** 2) for x, e in zip(order, result.sight_px, strict=True)
    )
    true = float(np.mean(result.edge_px < limit)) if len(result.edge_px) else 0.0
    rails = len({run.rail for run in evidence.edges})
    return float(0.04 * worth + 0.08 * rails * true)


def finish(planes: Planes, found: Found, table: Table) -> Found:
    """Last rounds on the noses themselves."""
    result, sights = found.fit, found.evidence.sights
    led = found.led_by_sights
    pinned = len({x.rail for x in sights}) >= 3 and len(sights) >= PINNED
    if _many(sights):
        # so many diamonds say it all: edges taken for others while little was known are forgotten
        result = fit(result.camera, table, Evidence(sights), setback_m=result.setback_m)
        sights = find_sights(planes, result.camera, table, 0.03)
        result = fit(result.camera, table, Evidence(sights), setback_m=result.setback_m)
    for window in (0.012, 0.009) if pinned else (0.02, 0.012, 0.01):
        if led or window == 0.01:
            again = find_sights(planes, result.camera, table, 0.02 if led else 0.012, result.top_m)
            sights = again if len(again) >= len(sights) - 2 else sights
        noses = nose_runs(planes.picture, result.camera, table, _nose_windows(result.camera, table, window, pinned))
        joints = joint_runs(planes.picture, result.camera, table, result.joint_m, 0.010, result.top_m)
        eye, middle = result.camera.position, np.array([table.width_m / 2, table.length_m / 2])
        # only from above is a stretch told apart from a tilt
        above = pinned and bool(np.linalg.norm(eye[:2] - middle) < 0.6 * eye[2])
        if _many(sights):
            # edges can be taken for others, so many diamonds cannot: what does not lie along the rail they show is left out
            shown = _again(result, table, Evidence(sights, noses), bool(noses), stretched=above)
            joints = [run for run in joints if _follows(shown, run, table)]
        seen = placed(find_jaws(planes.picture, result.camera, table), table) if found.by_jaws else []
        evidence = Evidence(sights, noses + joints, seen)
        if not sights and not evidence.edges:
            break
        raised = bool(noses)
        result = _again(result, table, evidence, raised)
        if above:
            free = _again(result, table, evidence, raised, stretched=True)
            if free.cost < result.cost - STRETCH_GAIN:
                result = free
    cover, beyond = coverage(found.region, result.camera, table, result.joint_m)
    score = cover - beyond + _agreement(result, evidence)
    jaws = [] if pinned and led else find_jaws(planes.picture, result.camera, table)
    return replace(found, fit=result, evidence=evidence, score=score, cover=cover, beyond=beyond, jaws=jaws)


def _again(result: Fit, table: Table, evidence: Evidence, raised: bool, stretched: bool = False) -> Fit:
    return fit(
        result.camera,
        table,
        evidence,
        joint_m=result.joint_m,
        setback_m=result.setback_m,
        top_m=result.top_m,
        stretched=stretched,
        raised=raised,
    )


def _follows(result: Fit, run: EdgeRun, table: Table) -> bool:
    """Whether an edge runs along its rail, at whatever distance, as a camera has it."""
    camera = result.camera
    place = camera.unproject(run.pixels, result.top_m)
    d = place[:, 1] if run.rail in ("head", "foot") else place[:, 0]
    line = rail_point(table, run.rail, run.s, 0.0)
    line[:, 1 if run.rail in ("head", "foot") else 0] = np.nanmedian(d)
    there = camera.project(line, result.top_m)
    t = np.gradient(there, axis=0)
    t /= np.maximum(np.linalg.norm(t, axis=1, keepdims=True), 1e-9)
    off = np.abs(((run.pixels - there) * np.column_stack([-t[:, 1], t[:, 0]])).sum(axis=1))
    return bool(np.nanpercentile(off, 80) < max(0.6, ASTRAY * max(camera.width, camera.height)))


def _nose_windows(camera: Camera, table: Table, window: float, pinned: bool) -> dict[str, float]:
    """How far, metres, each nose that is worth a look may lie from where the camera puts it."""
    if not pinned:
        return dict.fromkeys(RAILS, window)
    # a cushion that faces the camera shows its nose sharply, lit top against shaded face, unless seen very low;
    # one that turns its back shows the round of its top, some millimetres before the nose
    sharp = set(facing(camera, table, -0.35)) - set(facing(camera, table, LOWEST_VIEW))
    # what the height of the rails is off by moves a nose along a low line of sight by so many times as much
    flatness = {rail: max(0.0, gap) / camera.position[2] for rail, gap in _gaps(camera, table).items()}
    return {rail: window + 0.35 * window * flatness[rail] for rail in RAILS if rail in sharp}


def facing(camera: Camera, table: Table, flatness: float) -> list[str]:
    """Rails whose cushions face the camera, which stands lower than its distance from them times 1/``flatness``."""
    return [rail for rail, gap in _gaps(camera, table).items() if gap > flatness * camera.position[2]]


def _gaps(camera: Camera, table: Table) -> dict[str, float]:
    """How far inside each rail's nose line the camera stands, metres; in the order of ``RAILS``."""
    x, y, _ = camera.position
    return {"head": y, "foot": table.length_m - y, "left": x, "right": table.width_m - x}


def coverage(region: Region, camera: Camera, table: Table, joint_m: float) -> tuple[float, float]:
    """Share of the bed that is cloth, and share of the rails' tops that is (each as far as it lies in the picture)."""
    w, length = table.width_m, table.length_m
    x, y = np.meshgrid(np.linspace(0.03, w - 0.03, 30), np.linspace(0.03, length - 0.03, 60))
    bed = _member(region, camera.project(np.column_stack([x.ravel(), y.ravel()]), 0.0))
    ring = []
    for out in (joint_m + 0.02, joint_m + 0.05):
        s = np.linspace(0.12, 0.88, 40)
        ring += [
            np.column_stack([s * w, np.full(40, -out)]),
            np.column_stack([s * w, np.full(40, length + out)]),
            np.column_stack([np.full(40, -out), s * length]),
            np.column_stack([np.full(40, w + out), s * length]),
        ]
    rails = _member(region, camera.project(np.concatenate(ring), RAIL_TOP_M))
    return (float(bed.mean()) if len(bed) > 200 else 0.0), (float(rails.mean()) if len(rails) else 1.0)


def _member(region: Region, pixels: Floats) -> Floats:
    at = (pixels + 0.5) / region.scale - 0.5
    height, width = region.mask.shape
    inside = np.isfinite(at).all(axis=1) & (at > 0).all(axis=1) & (at < (width - 1, height - 1)).all(axis=1)
    cells = at[inside].round().astype(int)
    return np.asarray(region.mask[cells[:, 1], cells[:, 0]] > 0, dtype=np.float64)
