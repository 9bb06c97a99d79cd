"""Simulated shots seen through a simulated detector: truth from pooltool, observations with the faults of real ones."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pooltool as pt
from pooltool.events import EventType
from pooltool.objects.table.specs import PocketTableSpecs
from pooltool.physics.evolve import evolve_ball_motion

from calibration.table import POCKETS, Table
from tracking.observations import Observation

POCKET_OF = {
    "lb": "head-left",
    "rb": "head-right",
    "lc": "side-left",
    "rc": "side-right",
    "lt": "foot-left",
    "rt": "foot-right",
}


@dataclass(frozen=True)
class Eye:
    """A camera and detector as far as tracking can tell: rate, noise (metres), faults (probabilities)."""

    fps: float = 60.0
    shutter: float = 0.5
    sigma: float = 0.0015
    stretch: float = 1.0  # how much worse along the line of sight
    missed: float = 0.03
    false: float = 0.01
    tails: float = 0.01
    rest_looks: float = 5.0  # looks a second while nothing moves
    evidence: float = 4.0  # nats by which the right number leads on average


OVERHEAD_60 = Eye()
OBLIQUE_30 = Eye(fps=30.0, sigma=0.0025, stretch=2.2)


@dataclass
class Scene:
    """One simulated shot: how to look it up at any time, and its truth as FORMATS has it."""

    system: Any
    table: Table
    start_s: float
    breaks: bool
    truth: dict[str, Any]
    tracks: dict[int, tuple[np.ndarray, list[Any]]] = field(default_factory=dict)

    def at(self, ball: int, t: float) -> np.ndarray | None:
        """(2,) the ball's centre at clip time ``t``; None once pocketed."""
        times, states = self.tracks[ball]
        k = int(np.searchsorted(times, t - self.start_s, side="right")) - 1
        state = states[max(k, 0)]
        if state.s == 4:
            return None
        if t <= self.start_s or k < 0:
            return states[0].rvw[0, :2].copy()
        if state.s == 0:  # at rest
            return state.rvw[0, :2].copy()
        p = self.system.balls[name_of(ball)].params
        rvw, _ = evolve_ball_motion(
            state.s, state.rvw.copy(), p.R, p.m, p.u_s, p.u_sp, p.u_r, p.g, t - self.start_s - state.t
        )
        return rvw[0, :2]


def name_of(ball: int) -> str:
    return "cue" if ball == 0 else str(ball)


def number_of(name: str) -> int:
    return 0 if name == "cue" else int(name)


def place(rng: np.random.Generator, table: Table, count: int, clusters: bool) -> list[np.ndarray]:
    """Random places, no two balls overlapping; now and then one beside another or on a rail."""
    r, out = table.ball_radius, []
    while len(out) < count:
        p = rng.uniform([r, r], [table.width_m - r, table.length_m - r])
        if out and clusters and rng.random() < 0.25:
            a = rng.uniform(0, 2 * np.pi)
            gap = rng.choice([1e-4, 0.004, 0.02])
            p = out[rng.integers(len(out))] + (2 * r + gap) * np.array([np.cos(a), np.sin(a)])
        elif clusters and rng.random() < 0.12:
            p[0] = r + 1e-4
        if not (r < p[0] < table.width_m - r and r < p[1] < table.length_m - r):
            continue
        if min((np.hypot(*(p - k.centre)) for k in table.pockets.values()), default=9) < 0.1:
            continue
        if all(np.hypot(*(p - q)) > 2 * r + 5e-5 for q in out):
            out.append(p)
    return out


def simulate(seed: int, *, breaks: bool = False, table: Table | None = None, start_s: float = 1.5) -> Scene:
    """A random shot (or break) with random cloth, cushions, speed and spin."""
    rng = np.random.default_rng(seed)
    table = table or Table()
    s = table.pocket_shape
    specs = PocketTableSpecs(
        l=table.length_m, w=table.width_m, corner_pocket_width=s.corner_mouth, corner_pocket_radius=s.corner_radius,
        corner_pocket_depth=s.corner_depth, side_pocket_width=s.side_mouth, side_pocket_radius=s.side_radius,
        side_pocket_depth=s.side_depth, corner_jaw_radius=0.02095, side_jaw_radius=0.00795,
    )  # fmt: skip
    cloth = {
        "u_s": rng.uniform(0.15, 0.3),
        "u_r": rng.uniform(0.006, 0.013),
        "e_c": rng.uniform(0.75, 0.9),
        "f_c": 0.2,
        "g": 9.81,
    }
    r = table.ball_radius
    if breaks:
        nine = rng.random() < 0.5
        rows = [1, 2, 3, 2, 1] if nine else [1, 2, 3, 4, 5]
        spots = []
        for k, row in enumerate(rows):
            for j in range(row):
                x = table.long_string + (j - (row - 1) / 2) * (2 * r + 2e-4)
                spots.append(
                    np.array([x, table.foot_spot[1] + k * (2 * r + 2e-4) * np.sqrt(3) / 2]) + rng.normal(0, 2e-5, 2)
                )
        numbers = [1, *(1 + rng.permutation(np.arange(1, len(spots))))] if nine else list(1 + rng.permutation(15))
        places = {0: np.array([table.long_string + rng.uniform(-0.3, 0.3), table.head_string - rng.uniform(0.0, 0.2)])}
        places |= {int(n): p for n, p in zip(numbers, spots, strict=True)}
        speed = rng.uniform(5.0, 9.0)
        target = places[int(numbers[0])]
        aim = np.degrees(np.arctan2(*(target - places[0])[::-1])) + rng.normal(0, 0.15)
    else:
        count = int(rng.integers(2, 14))
        spots = place(rng, table, count, clusters=True)
        numbers = [0, *(1 + rng.permutation(15)[: count - 1])]
        places = {int(n): p for n, p in zip(numbers, spots, strict=True)}
        speed = float(np.clip(rng.lognormal(0.6, 0.5), 0.5, 6.0))
        target = spots[int(rng.integers(1, count))]
        gap = np.hypot(*(target - places[0]))
        aim = np.degrees(np.arctan2(*(target - places[0])[::-1])) + np.degrees(
            np.arcsin(min(0.95, 2 * r / gap))
        ) * rng.uniform(-1, 1)
        if rng.random() < 0.15:
            aim = rng.uniform(0, 360)
    balls = {}
    for n, p in places.items():
        balls[name_of(n)] = pt.Ball.create(
            name_of(n), xy=tuple(p), m=0.17, R=r, u_sp_proportionality=10 * 2 / 5 / 9, **cloth
        )
    a, b = rng.uniform(-0.4, 0.4, 2)
    if rng.random() < 0.3:
        a = 0.0
    cue = pt.Cue.default()
    system = pt.System(cue=cue, table=pt.Table.from_table_specs(specs), balls=balls)
    system.strike(V0=speed, phi=float(aim) % 360, theta=0.0, a=float(a), b=float(b))
    pt.simulate(system, inplace=True)
    scene = Scene(system, table, start_s, breaks, {})
    for name, ball in system.balls.items():
        states = list(ball.history)
        scene.tracks[number_of(name)] = (np.array([st.t for st in states]), states)
    scene.truth = truth_of(scene)
    return scene


def truth_of(scene: Scene) -> dict[str, Any]:
    """The scene as a match.json with exact events."""
    table, t0, system = scene.table, scene.start_s, scene.system
    events: list[dict[str, Any]] = [{"t_s": t0, "kind": "strike", "ball": 0}]
    end = t0
    r = table.ball_radius
    for event in system.events:
        t = t0 + event.time
        if event.event_type != EventType.NONE:
            end = max(end, t)
        if event.event_type == EventType.BALL_BALL:
            pair = sorted(number_of(i) for i in event.ids)
            places = [scene.at(b, t) for b in pair]
            mid = None if any(p is None for p in places) else [float(v) for v in (places[0] + places[1]) / 2]
            events.append({"t_s": t, "kind": "contact", "balls": pair, "at": mid})
        elif event.event_type in (EventType.BALL_LINEAR_CUSHION, EventType.BALL_CIRCULAR_CUSHION):
            ball = number_of(event.ids[0])
            p = scene.at(ball, t)
            gaps = {rail: abs(table.rail_gap((p[0], p[1]), rail)) for rail in ("head", "foot", "left", "right")}
            events.append(
                {
                    "t_s": t,
                    "kind": "rail",
                    "ball": ball,
                    "rail": min(gaps, key=gaps.get),
                    "at": [float(p[0]), float(p[1])],
                }
            )
        elif event.event_type == EventType.BALL_POCKET:
            events.append(
                {"t_s": t, "kind": "pocket", "ball": number_of(event.ids[0]), "pocket": POCKET_OF[event.ids[1]]}
            )
    start = {str(b): [float(v) for v in scene.at(b, 0.0)] for b in scene.tracks}
    rest = {str(b): [float(v) for v in p] for b in scene.tracks if (p := scene.at(b, end + 1)) is not None}
    assert all(e["kind"] != "pocket" or e["pocket"] in POCKETS for e in events)
    assert r > 0
    shot = {
        "number": 1,
        "start_s": t0,
        "end_s": end,
        "start": start,
        "end": rest,
        "events": sorted(events, key=lambda e: e["t_s"]),
    }
    return {"format": "railbird/1", "table": table.to_json(), "shots": [shot]}


def observe(scene: Scene, eye: Eye, seed: int = 0, tail_s: float = 1.0) -> list[Observation]:
    """What a detector would report, frame by frame."""
    rng = np.random.default_rng([seed, 77])
    table, r = scene.table, scene.table.ball_radius
    end = scene.truth["shots"][0]["end_s"]
    phase = rng.uniform(0, 1 / eye.fps)
    every = max(1, round(eye.fps / eye.rest_looks))
    numbers = list(scene.tracks)
    camera = np.array([table.width_m / 2 + rng.uniform(-0.5, 0.5), -1.5])
    blur_bias = rng.normal(0, 0.03)
    out = []
    for frame in range(int((end + tail_s) * eye.fps)):
        t = phase + frame / eye.fps
        if (t < scene.start_s - 0.3 or t > end + 0.3) and frame % every:
            continue
        offsets = (np.arange(5) - 2) / 4 * eye.shutter / eye.fps
        seen, streaks = {}, {}
        for b in numbers:
            samples = [p for d in offsets if (p := scene.at(b, t + d)) is not None]
            if len(samples) >= 3 or (len(samples) > 0 and rng.random() < 0.3):
                seen[b] = np.mean(samples, axis=0)
                streaks[b] = samples[-1] - samples[0]
        places = np.array([seen[b] for b in seen]).reshape(-1, 2)
        xy, cov, score, evidence = [], [], [], []
        for i, b in enumerate(seen):
            p, blur = places[i], float(np.hypot(*streaks[b]))
            near = int((np.hypot(*(places - p).T) < 3 * r).sum()) - 1
            pocket = min(np.hypot(*(p - k.centre)) for k in table.pockets.values())
            miss = (
                eye.missed
                + (0.04 if near == 1 else 0.12 if near > 1 else 0)
                + (0.1 if blur > 2 * r else 0)
                + (0.15 if pocket < 0.11 else 0)
            )
            if rng.random() < miss:
                continue
            los = (p - camera) / np.hypot(*(p - camera))
            side = np.array([-los[1], los[0]])
            s = eye.sigma * np.hypot(1.0, 0.05 * blur / 0.01)
            c = (s * eye.stretch) ** 2 * np.outer(los, los) + s**2 * np.outer(side, side)
            noise = rng.multivariate_normal([0, 0], c) * (4 if rng.random() < eye.tails else 1)
            xy.append(p + noise + blur_bias * streaks[b])
            cov.append(c * rng.uniform(0.7, 1.4))
            score.append(rng.uniform(0.7, 1.0))
            logits = rng.normal(0, 1, 16)
            logits[b] += eye.evidence + rng.normal(0, 1.5)
            if b % 8 and rng.random() < 0.2:
                logits[b + 8 if b < 8 else b - 8] += eye.evidence
            evidence.append(logits - np.log(np.exp(logits).sum()))
        if len(xy) > 2 and rng.random() < 0.3:
            gaps = np.hypot(*(np.array(xy)[:, None] - np.array(xy)[None]).transpose(2, 0, 1)) + 9 * np.eye(len(xy))
            i, j = np.unravel_index(int(np.argmin(gaps)), gaps.shape)
            if gaps[i, j] < 2.1 * r and rng.random() < 0.15:
                xy[i], cov[i] = (xy[i] + xy[j]) / 2, 6 * cov[i]
                for column in (xy, cov, score, evidence):
                    del column[j]
        if rng.random() < eye.false:
            xy.append(rng.uniform([0, 0], [table.width_m, table.length_m]))
            cov.append(np.eye(2) * 9e-6)
            score.append(rng.uniform(0.3, 0.8))
            logits = rng.normal(0, 1, 16)
            evidence.append(logits - np.log(np.exp(logits).sum()))
        n = len(xy)
        order = rng.permutation(n)
        out.append(
            Observation(
                t, np.array(xy).reshape(n, 2)[order], np.array(cov).reshape(n, 2, 2)[order], np.array(score)[order].astype(float),
                np.array(evidence).reshape(n, 16)[order], exposure_s=eye.shutter / eye.fps,
            )
        )  # fmt: skip
    return out
