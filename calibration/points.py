"""All evidence as arrays: where each point lies on the table, by what it is tied to, and where the picture has it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from calibration.camera import Camera, Floats
from calibration.evidence import EdgeRun, Evidence
from calibration.jaws import TOP_M
from calibration.strips import RAIL_TOP_M, rail_axes, rail_point
from calibration.table import Table

Indices = npt.NDArray[np.int64]

RUN_PLACES = 12  # neighbouring samples of an edge share their error: a run counts as at most so many
EDGE, SIGHT, POINT, JAW = range(4)


@dataclass(frozen=True, slots=True)
class Rows:
    """All points of all evidence: ``world = base + joint * of_joint + setback * of_setback + top * of_top``."""

    base: Floats
    of_joint: Floats
    of_setback: Floats
    of_top: Floats
    along: Floats
    outward: Floats
    pixels: Floats
    sigma: Floats  # pixels for points
    share: Floats  # weight of an edge's sample
    edge: Indices
    sight: Indices
    point: Indices
    jaw: Indices


def rows_of(table: Table, evidence: Evidence, start: Camera) -> Rows:
    parts: list[tuple[Floats, ...]] = []

    def add(
        base: Floats, along: Floats, outward: Floats, px: Floats, kind: int, tie: str, sigma: Floats, share: float
    ) -> None:
        n = len(base)
        zero, out = np.zeros((n, 3)), np.broadcast_to(outward, (n, 3))
        parts.append(
            (
                base,
                out if tie == "joint" else zero,
                out if tie == "setback" else zero,
                np.tile([0.0, 0.0, 1.0 if tie in ("joint", "setback") else 0.0], (n, 1)),
                np.broadcast_to(along, (n, 3)),
                out,
                px,
                sigma,
                np.full(n, share),
                np.full(n, float(kind)),
            )
        )

    for run in evidence.edges:
        along, outward = rail_axes(run.rail)
        height = {"nose": table.nose_height, "bed": 0.0}.get(run.kind, RAIL_TOP_M)
        thin = _thinned(run)
        base = np.column_stack([rail_point(table, run.rail, run.s[thin], 0.0), np.full(len(thin), height)])
        share = np.sqrt(min(1.0, RUN_PLACES / max(len(thin), 1)))
        add(base, along, outward, run.pixels[thin], EDGE, run.kind, np.ones(len(thin)), share)
    for rail in ("head", "foot", "left", "right"):
        some = [x for x in evidence.sights if x.rail == rail]
        if some:
            along, outward = rail_axes(rail)
            s = np.array([x.along_m for x in some])
            base = np.column_stack([rail_point(table, rail, s, 0.0), np.full(len(s), RAIL_TOP_M)])
            add(base, along, outward, np.array([x.pixel for x in some]), SIGHT, "setback", np.ones(len(s)), 1.0)
    for jaw in evidence.jaws:
        along, outward = rail_axes(jaw.rail)
        place = rail_point(table, jaw.rail, np.array([jaw.along_m]), sum(TOP_M) / 2)
        base = np.column_stack([place, [table.nose_height]])
        add(base, along, outward, jaw.pixel[None], JAW, "", np.ones(1), 1.0)
    if evidence.corners is not None:
        w, length = table.width_m, table.length_m
        level = table.nose_height if evidence.corners_at_nose else RAIL_TOP_M
        base = np.array([[0, 0, level], [w, 0, level], [w, length, level], [0, length, level]])
        out = np.array([[-1.0, -1, 0], [1, -1, 0], [1, 1, 0], [-1, 1, 0]])
        sigma = np.hypot(1.0, evidence.corner_sigma_m * _pixels_per_metre(start, base))
        add(base, np.zeros(3), out, evidence.corners, POINT, "" if evidence.corners_at_nose else "joint", sigma, 1.0)
    if not parts:
        raise ValueError("nothing to fit a camera to")
    *columns, kind = (np.concatenate(column) for column in zip(*parts, strict=True))
    return Rows(*columns, *(np.flatnonzero(kind == k) for k in (EDGE, SIGHT, POINT, JAW)))


def _thinned(run: EdgeRun) -> Indices:
    return np.unique(np.linspace(0, len(run.s) - 1, min(len(run.s), 36)).round().astype(np.int64))


def _pixels_per_metre(camera: Camera, points: Floats) -> Floats:
    step = np.linalg.norm(camera.project(points + np.array([0.01, 0, 0])) - camera.project(points), axis=1)
    other = np.linalg.norm(camera.project(points + np.array([0, 0.01, 0])) - camera.project(points), axis=1)
    return np.asarray(np.nan_to_num(np.sqrt(step * other) / 0.01, nan=1.0), dtype=np.float64)
