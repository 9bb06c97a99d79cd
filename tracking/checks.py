"""What fitted arcs refuse and ask for: kinks that push nothing, contacts nobody named, balls in each other; and how sure each is."""

from __future__ import annotations

import numpy as np

from calibration.table import Table
from tracking.joint import Fit, Kink, sample
from tracking.observations import Floats
from tracking.path import causeless
from tracking.trails import Trail

CLEAR_PUSH = 0.7  # arcs that fit badly take no more than this off an impact whose push is beyond doubt
ASTRAY = 50.0  # squared Mahalanobis distance / 2 of a place of rest at which no ball lay
AT_ONCE_S = 1e-3  # between two contacts of one pair, that nothing between them brings together again
STAYED = 0.02  # metres between the places of rest of a ball that nothing moved
DISBELIEVED = 0.3
GUESS = 0.7  # probability of an event that only the geometry of the arcs asks for


def weigh(fit: Fit) -> None:
    """Lower the probability of events whose push is in the noise or whose arcs do not fit; raise it where both are clear."""
    for i, kink in enumerate(fit.kinks):
        if kink.crowd:
            continue
        strength = float(fit.push[i]) / max(float(fit.push_sigma[i]), 1e-4)
        if kink.kind == "contact" and strength > 8 and 0.4 < kink.p < 0.8:
            kink.p = 0.8  # both arcs bear it out
        if kink.p == GUESS and strength > 6:
            kink.p = 0.93
        if kink.kind == "contact" and strength < 5:
            kink.p *= max(0.2 * strength - 0.1, 0.05)
        elif strength < 3:
            kink.p *= 0.6 + 0.13 * strength
        doubt = 1.0
        for b in kink.balls:
            j = fit.kinks_of(b).index(i)
            worst = max(fit.misfit.get((b, j), 1.0), fit.misfit.get((b, j + 1), 1.0))
            doubt *= (0.9 if worst > 4 else 1.0) * (0.8 if worst > 12 else 1.0)
        kink.p *= max(doubt, CLEAR_PUSH if strength > 8 else 0.0)
        # sent off from where it never lay, to where it lay: something else bent the other's path (a ball that jumped over it is seen astray)
        rests = [b for b in kink.balls if fit.paths[b].resting and fit.kinks[fit.kinks_of(b)[0]] is kink]
        if any(fit.misfit.get((b, 0), 0.0) > ASTRAY and _stayed(fit.paths[b].xy) for b in rests):
            kink.p = min(kink.p, DISBELIEVED)


def _stayed(xy: Floats) -> bool:
    """Whether a ball's looks (k, 2) end where they began."""
    return len(xy) > 1 and float(np.hypot(*(xy[-1] - xy[0]))) < STAYED


def uncaused(fit: Fit, kink: Kink) -> bool:
    """Whether all balls of a kink lay at rest before it, so that nothing can have brought it about."""
    return any(k is kink for k in causeless(fit.kinks, fit.paths))


def unnamed(fit: Fit) -> bool:
    """Take back the name of cushions that a ball at rest met before anything had set it going; whether there were any."""
    found = [k for k in fit.kinks if k.kind == "rail" and not k.crowd and uncaused(fit, k)]
    for kink in found:
        kink.kind, kink.wall = "free", None
    return bool(found)


def needless(fit: Fit, frame_s: float) -> set[int]:
    """Kinks that push nothing: without them the arcs are as good."""
    out = set()
    struck_s = {k.balls[0]: k.t_s for k in fit.kinks if k.kind == "strike"}
    for i, kink in enumerate(fit.kinks):
        early = any(kink.t_s < struck_s.get(b, -np.inf) for b in kink.balls)
        if kink.kind == "contact" and early and uncaused(fit, kink):
            out.add(i)  # of two balls at rest, before one of them is struck
            continue
        if kink.kind == "contact" and any(
            k.kind == "contact" and set(k.balls) == set(kink.balls) and abs(k.t_s - kink.t_s) < AT_ONCE_S
            and (float(fit.push[j]), j) > (float(fit.push[i]), i) and not _between(fit, k, kink) for j, k in enumerate(fit.kinks) if j != i
        ):  # fmt: skip
            out.add(i)  # of one pair twice at one time
            continue
        if kink.kind == "strike" or (kink.crowd and (kink.kind == "contact" or fit.kinks_of(kink.balls[0])[0] == i)):
            continue
        least = max(2.0 * float(fit.push_sigma[i]), 0.006)
        twin = any(
            k.kind == kink.kind and set(k.balls) == set(kink.balls) and j != i and abs(k.t_s - kink.t_s) < 3 * frame_s
            and fit.push[j] > fit.push[i] for j, k in enumerate(fit.kinks)
        )  # fmt: skip
        if kink.kind in ("rail", "contact") and kink.p != GUESS and not twin:
            least = 0.012
        if fit.push[i] < least * (2.0 if twin or kink.kind == "free" else 1.0):
            out.add(i)
    return out


def _between(fit: Fit, one: Kink, other: Kink) -> bool:
    """Whether one of the balls of two contacts meets something else between them."""
    lo, hi = sorted((one.t_s, other.t_s))
    return any(
        lo <= k.t_s <= hi and set(k.balls) & set(one.balls) for k in fit.kinks if k is not one and k is not other
    )


def meetings(fit: Fit, table: Table, frame_s: float, trails: dict[int, Trail]) -> tuple[list[Kink], set[int]]:
    """Kinks that nothing explained when cut, but that the fitted arcs show to be contacts; and the kinks they replace."""
    found: list[Kink] = []
    merged: set[int] = set()
    for i, kink in enumerate(fit.kinks):
        if kink.kind != "free" or kink.crowd or i in merged or fit.push[i] < 0.08:
            continue
        b = kink.balls[0]
        t = kink.t_s + np.linspace(-1.0, 1.0, 17) * frame_s
        mine = sample(fit, b, t)[0]
        best: tuple[float, int, float] = (0.010 + 0.1 * frame_s * float(fit.push[i]), -1, 0.0)
        for c, trail in trails.items():
            if c == b or kink.t_s > trail.end_s + frame_s:
                continue
            theirs = sample(fit, c, t)[0] if c in fit.paths else np.tile(trail.rest, (len(t), 1))
            off = np.abs(np.hypot(*(mine - theirs).T) - 2 * table.ball_radius)
            answers = (
                [k for k in fit.kinks_of(c) if abs(fit.kinks[k].t_s - kink.t_s) < 1.6 * frame_s]
                if c in fit.paths
                else []
            )
            cost = float(off.min()) + (0.0 if answers else 0.006)
            known = any(
                k.kind == "contact" and set(k.balls) == {b, c} and abs(k.t_s - kink.t_s) < 2 * frame_s
                for k in fit.kinks
            )
            if cost < best[0] and not known:
                best = (cost, c, float(t[int(np.argmin(off))]))
        if best[1] >= 0:
            c = best[1]
            found.append(Kink("contact", best[2], (min(b, c), max(b, c))))
            merged.add(i)
            twins = [
                j
                for j, k in enumerate(fit.kinks)
                if k.kind == "free" and k.balls == (c,) and abs(k.t_s - kink.t_s) < 1.6 * frame_s
            ]
            merged.update(twins[:1])
    return found, merged


def overlooked(fit: Fit, table: Table, frame_s: float, trails: dict[int, Trail]) -> list[Kink]:
    """Contacts and cushions that the fitted arcs cannot do without: balls in each other, or beyond a nose."""
    if not fit.paths or not fit.kinks:
        return []
    balls = list(fit.paths)
    still = [b for b in trails if b not in fit.paths]
    lo = min(k.t_s for k in fit.kinks)
    hi = max(max((float(p.times[-1]) for p in fit.paths.values() if len(p.times)), default=lo), lo + 0.01)
    t = np.arange(lo, hi, frame_s / 3)
    xy = np.stack([sample(fit, b, t)[0] for b in balls] + [np.tile(trails[b].rest, (len(t), 1)) for b in still])
    balls += still
    ends = [min(trails[b].end_s, hi) for b in balls]
    r = table.ball_radius
    found: list[Kink] = []
    for i, a in enumerate(balls):
        d = np.hypot(*(xy[i + 1 :] - xy[i]).transpose(2, 0, 1)) if i + 1 < len(balls) else np.zeros((0, len(t)))
        for j in np.flatnonzero((d < 2 * r - 0.005).any(axis=1)):
            c = balls[i + 1 + j]
            if a in still and c in still:
                continue
            deep = np.flatnonzero((d[j] < 2 * r - 0.005) & (t < min(ends[i], ends[i + 1 + j]) + frame_s))
            if not len(deep):
                continue
            enter = deep[0]
            while enter > 0 and d[j, enter - 1] < 2 * r:
                enter -= 1
            known = [k for k in fit.kinks if k.kind == "contact" and set(k.balls) == {a, c}]
            if any(abs(k.t_s - t[enter]) < 2.5 * frame_s for k in known):
                continue
            found.append(Kink("contact", float(t[enter]), (min(a, c), max(a, c)), p=GUESS))
    mouths = np.array([p.centre for p in table.pockets.values()])
    for i, b in enumerate(fit.paths):
        for axis, place, sign in (
            (0, r, 1.0),
            (0, table.width_m - r, -1.0),
            (1, r, 1.0),
            (1, table.length_m - r, -1.0),
        ):
            over = (xy[i, :, axis] - place) * sign
            deep = np.flatnonzero((over < -0.008) & (t < ends[i]))
            deep = np.array([k for k in deep if np.hypot(*(mouths - xy[i, k]).T).min() > 0.125], dtype=int)
            if not len(deep):
                continue
            enter = deep[0]
            while enter > 0 and over[enter - 1] < 0:
                enter -= 1
            known = [k for k in fit.kinks if k.wall is not None and b in k.balls and k.wall[0] == axis]
            if any(abs(k.t_s - t[enter]) < 2.5 * frame_s for k in known):
                continue
            found.append(Kink("rail", float(t[enter]), (b,), wall=(axis, place, sign), p=GUESS))
    return found
