"""First guesses for the joint fit: an arc behind each kink from the pieces seen there, and the looks, those at rest taken together."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from calibration.table import Table
from tracking.draft import Draft
from tracking.joint import Fit, Kink, Path, solve
from tracking.looks import Looks
from tracking.observations import Floats
from tracking.trails import Trail, begins_at_rest, rests

LAST_AT_REST = 3  # looks at rest that are kept one by one
SEEN_WAY = 0.02  # metres from which the way between two kinks tells a speed


def first_fit(
    looks: Mapping[int, Looks], movers: list[int], kept: dict[int, tuple[Floats, Floats, Floats]], trails: dict[int, Trail],
    starts: dict[int, Floats], kinks: list[Kink], table: Table, exposure_s: float, prior: tuple[float, float, float, float], frame_s: float,
    draft: Draft | None,
) -> Fit:  # fmt: skip
    """The first fit of all balls together, from arcs guessed piece by piece and kinks as explained. Parameters as in `tracking.reconstruct`."""
    paths: dict[int, Path] = {}
    balls = set(movers) | {b for k in kinks for b in k.balls}
    ordered = {b: sorted((k for k in kinks if b in k.balls), key=lambda k: k.t_s) for b in balls}
    velocity: dict[int, Floats] = {}
    guesses: dict[int, list[Floats]] = {}
    for b in balls:
        trail = trails[b]
        resting = not trail.pieces or begins_at_rest(trail.pieces[0], trail.rest)
        if resting:
            guesses[b] = [np.concatenate([starts[b], np.zeros(4)])]
            velocity[b] = np.zeros(2)
        else:
            piece = trail.pieces[0]
            v = piece.velocity(piece.begin_s)
            guesses[b] = [np.concatenate([piece.at(piece.begin_s), v, 0.95 * v])]
            velocity[b] = piece.velocity(piece.end_s)
    for kink in sorted(kinks, key=lambda k: k.t_s):
        place = {b: trails[b].at(np.array([kink.t_s]))[0] for b in kink.balls}
        physics = dict(velocity)
        if kink.kind == "contact":
            a, c = kink.balls
            line = place[c] - place[a]
            axis = line / max(float(np.hypot(*line)), 1e-6)
            push = max(float((velocity[a] - velocity[c]) @ axis), 0.0) * axis
            physics[a], physics[c] = velocity[a] - push, velocity[c] + push
        elif kink.wall is not None:
            axis_k = kink.wall[0]
            v = velocity[kink.balls[0]].copy()
            v[axis_k] *= -0.75
            physics[kink.balls[0]] = v
        for b in kink.balls:
            mine = ordered[b]
            j = next(i for i, k in enumerate(mine) if k is kink)
            until = mine[j + 1].t_s if j + 1 < len(mine) else np.inf
            inside = [
                p for p in trails[b].pieces if kink.t_s < 0.5 * (p.begin_s + p.end_s) < until and p.last != p.first
            ]
            if inside:
                v = inside[0].velocity(kink.t_s)
                r = inside[-1].velocity(inside[0].end_s if len(inside) == 1 else inside[-1].begin_s)
                velocity[b] = inside[-1].velocity(min(until, inside[-1].end_s))
            else:
                v = physics[b]
                unseen = kink.crowd or kink.kind == "strike"
                if unseen and np.isfinite(until) and until > kink.t_s:  # on its way to where it was next
                    way = trails[b].at(np.array([until]))[0] - place[b]
                    v = way / (until - kink.t_s) if np.hypot(*way) > SEEN_WAY else _sent(trails, mine[j + 1], b)
                r = 0.9 * v
                velocity[b] = v
            guesses[b].append(np.concatenate([place[b], v, r]))
    lies = {b: bool(guess[0][2] == 0 and guess[0][3] == 0) for b, guess in guesses.items()}
    if draft is not None:
        for b, guess in guesses.items():
            known = draft.arcs(b)
            # whether it lay there is seen in all looks, and better now than then
            since = 0 if b in draft.fit.paths and draft.fit.paths[b].resting == lies[b] else 1
            guess[since : len(known)] = list(known)[since:]
    for b in balls:
        if b in kept:
            times, xy, cov = kept[b]
        else:
            times, xy, cov = looks[b].times, looks[b].xy, looks[b].cov
        t0 = ordered[b][0].t_s if ordered[b] else np.inf
        times, xy, cov = thin(times, xy, cov, starts[b], t0, lies[b], looks[b], trails[b])
        begin = float(times[0]) if len(times) else 0.0
        if not lies[b]:
            begin = trails[b].pieces[0].begin_s
        paths[b] = Path(b, times, xy, cov, begin, np.array(guesses[b]), lies[b])
    if draft is not None:
        prior = (draft.fit.slide, draft.fit.roll, *prior[2:])
    return solve(
        paths, kinks, radius=table.ball_radius, exposure_s=exposure_s, prior=prior, loose_s=0.7 * frame_s,
        again=0 if draft else 1, warm=draft is not None,
    )  # fmt: skip


def _sent(trails: dict[int, Trail], contact: Kink, ball: int) -> Floats:
    """(2,) velocity with which a ball came to a contact with one that lay beside it: what the two had after it, together."""
    v = np.zeros(2)
    for b in contact.balls:
        after = next((p for p in trails[b].pieces if p.end_s > contact.t_s and p.last > p.first and not rests(p)), None)
        if after is not None and (b == ball or contact.kind == "contact"):
            v = v + after.velocity(max(contact.t_s, after.begin_s))
    return v


def thin(
    times: Floats, xy: Floats, cov: Floats, rest: Floats, first_s: float, resting: bool, seen: Looks, trail: Trail
) -> tuple[Floats, Floats, Floats]:
    """Looks with those at rest before the first kink, and at rest at the end, each taken together as one."""
    if not len(times):
        return times, xy, cov
    floor = np.eye(2) * 4e-4**2
    parts: list[tuple[Floats, Floats, Floats]] = []
    lead = (times < first_s - 0.02) if resting else np.zeros(len(times), dtype=np.bool_)
    lead[np.flatnonzero(lead)[-LAST_AT_REST:]] = False  # these say when it can have set out at the earliest
    tail = np.zeros(len(times), dtype=np.bool_)
    if trail.pieces:
        last = trail.pieces[-1]
        if np.hypot(*last.c[1]) < 0.008 and last.last - last.first > 4:
            tail = times > last.begin_s + 0.05
    tail &= ~lead
    if lead.any() or resting:
        n = max(int((seen.times < first_s).sum()) - LAST_AT_REST, 1)
        parts.append((np.array([min(float(times[0]), first_s - 0.001)]), rest[None], cov[:1] / min(n, 12) + floor))
    middle = ~lead & ~tail
    parts.append((times[middle], xy[middle], cov[middle]))
    if tail.any():
        n = int(tail.sum())
        place = np.median(xy[tail], axis=0)
        parts.append((times[tail][n // 2 : n // 2 + 1], place[None], cov[tail][:1] / min(n, 12) * 1.5 + floor))
    return (
        np.concatenate([p[0] for p in parts]),
        np.concatenate([p[1] for p in parts]),
        np.concatenate([p[2] for p in parts]),
    )
