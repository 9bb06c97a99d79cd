"""Double hits and pushes as suspicions: how much farther the cue ball went than one touch of the tip can have sent it.

After a contact the cue ball keeps along the line of centres a fiftieth of what the object ball takes, and what its spin gives it
back: a tip at half a radius above the centre turns it at 1.25 times its speed, of which 2/7 return as rolling (Coriolis 1835;
Mathavan, Jackson, Parkin 2010). Where it travels with or past the ball it met, the tip met it again. And a ball that one touch
has sent off does not gain speed: one that does was pushed. Both are for a person to decide; the numbers only say where to look.
"""

from __future__ import annotations

import math

import numpy as np
from scipy.optimize import least_squares
from scipy.stats import norm

from calibration.table import Table
from tracking import motion
from tracking.looks import Looks
from tracking.observations import Floats
from tracking.reconstruct import Reading
from tracking.residuals import RESTITUTION

NEARBY_M = 0.10  # gap between two balls within which the tip can still reach the cue ball
FROZEN_M = 0.0025  # nearer they touch, and playing into the ball is allowed (6.7)
THIN = 0.35  # cosine of the cut below which a hit is a thin graze, which is excepted
LEAST_SPEED = 0.15  # m/s of the object ball, below it noise decides
WINDOW_S = 0.35  # looks after the contact that are used
SPIN = 1.25  # most spin at the cloth a tip gives, in speeds of the ball
SLACK = 0.08  # of the object ball's speed, what model and measurement may be off
GAIN = 0.10  # of its speed a ball may gain after the tip by overspin and by error
CHUNK_S = 0.06  # looks of so long a time are taken together for a speed
MANY = 3.0  # sigmas taken off because the best of several chunks is looked at
FAST_FRAMES_S = 1 / 119.0  # frames closer than this may show the tip itself
MOST = {True: 0.99, False: 0.9}  # the surest suspicion, with and without such frames: below the rules' usual 0.95
LEAST = 0.2  # weaker suspicions are none


def suspicions(reading: Reading, cue: int, table: Table) -> dict[str, float]:
    """Codes of the rules with the probability that the motion gives them.

    Parameters
    ----------
    reading : a shot as reconstructed, by track.
    cue : the track that was struck.
    table : geometry.
    """
    found = {"double-hit": double_hit(reading, cue, table), "push": push(reading, cue)}
    most = MOST[reading.frame_s < FAST_FRAMES_S]
    return {code: round(min(p, most), 4) for code, p in found.items() if p is not None and p >= LEAST}


def double_hit(reading: Reading, cue: int, table: Table) -> float | None:
    """Probability that the tip met the cue ball again at its first contact; None where nothing can be said.

    Rests on looks alone, not on the joint fit, which takes momentum for kept.
    """
    met = _first_contact(reading, cue)
    if met is None or cue not in reading.starts:
        return None
    other, near_s, until_s = met
    rest, start = reading.starts.get(other), reading.starts[cue]
    if rest is None or not reading.fit.paths[other].resting:
        return None
    gap = math.dist(rest, start) - table.ball_m
    if not FROZEN_M <= gap <= NEARBY_M:
        return None
    theirs = _window(reading.looks[other], near_s - 2 * reading.frame_s, until_s)
    mine = _window(reading.looks[cue], near_s - reading.frame_s, until_s)
    if len(theirs[0]) < 4 or len(mine[0]) < 3:
        return None
    left = _departure(theirs, rest, near_s, reading)
    if left is None:
        return None
    way, speed, speed_sigma, contact_s, contact_sigma = left
    at = rest - table.ball_m * way
    approach = at - start
    length = float(np.hypot(*approach))
    if speed < LEAST_SPEED or (length > 0.01 and float(approach @ way) < THIN * length):
        return None
    tau = mine[0] - contact_s
    late = tau > 0.3 * reading.frame_s
    if late.sum() < 3:
        return None
    tau = tau[late]
    ahead = (mine[1][late] - at) @ way
    bound = most_forward(tau, speed + speed_sigma, reading.fit.slide, reading.fit.roll)
    noise = np.sqrt(np.einsum("i,nij,j->n", way, mine[2][late], way) + (speed * contact_sigma) ** 2 + 5e-4**2)
    weight = tau**2 / noise**2
    excess = float((weight / tau * (ahead - bound)).sum() / weight.sum())
    sigma = float(np.hypot(1 / np.sqrt(weight.sum()), 0.5 * SLACK * speed))
    return float(norm.cdf((excess - SLACK * speed) / sigma))


def most_forward(tau: Floats, speed: float, slide: float, roll: float) -> Floats:
    """Metres (n,) that a cue ball with all the follow a tip can give travels beyond the contact in ``tau`` seconds.

    ``speed`` is the object ball's after the contact, m/s; with it the cue ball's before.
    """
    came = 2 * speed / (1 + RESTITUTION)
    kept = 0.5 * (1 - RESTITUTION) * came
    rolls = (5 * kept + 2 * SPIN * came) / 7
    arc = np.array([[0.0, 0.0, kept, 0.0, rolls, 0.0]])
    return np.asarray(motion.places(np.repeat(arc, len(tau), axis=0), np.maximum(tau, 0.0), slide, roll)[0][:, 0])


def push(reading: Reading, cue: int) -> float | None:
    """Probability that the tip stayed on the cue ball: it gained speed after it had left its place; None where too little shows."""
    struck = [k for k in reading.fit.kinks if k.kind == "strike" and cue in k.balls]
    path = reading.fit.paths.get(cue)
    if not struck or path is None or not path.resting or cue not in reading.starts:
        return None
    later = [k.t_s for k in reading.fit.kinks if cue in k.balls and k.t_s > struck[0].t_s + 1e-6 and k.kind != "free"]
    until = min([*later, struck[0].t_s + 2 * WINDOW_S]) - 0.2 * reading.frame_s
    t, xy, cov = _window(reading.looks[cue], struck[0].t_s - 2 * reading.frame_s, until)
    noise = np.sqrt(np.trace(cov, axis1=1, axis2=2) / 2) if len(t) else np.zeros(0)
    gone = np.hypot(*(xy - reading.starts[cue]).T) > np.maximum(4 * noise, 0.004) if len(t) else np.zeros(0, dtype=bool)
    if gone.sum() < 6:
        return None
    # from the first look clearly away from the place on: an ordinary stroke has long ended by then
    t, xy, noise = t[gone], xy[gone], noise[gone]
    size = max(4, int(np.ceil(CHUNK_S / reading.frame_s)))
    chunks = [slice(k, k + size) for k in range(0, len(t) - size + 1, max(1, size // 2)) if t[k] - t[0] < WINDOW_S]
    if len(chunks) < 2:
        return None
    (early, early_sigma), *after = (_speed(t[c], xy[c], noise[c]) for c in chunks)
    gains = [
        (late - (1 + GAIN) * early) / (float(np.hypot(early_sigma * (1 + GAIN), late_sigma)) + 0.03 * early)
        for late, late_sigma in after
    ]
    return float(norm.cdf(max(gains) - MANY))


def _speed(t: Floats, xy: Floats, noise: Floats) -> tuple[float, float]:
    """Speed along a straight way and one sigma of it."""
    weight = 1 / noise**2
    mid = float((weight * t).sum() / weight.sum())
    s = t - mid
    spread = float((weight * s * s).sum())
    v = (weight * s) @ xy / spread
    return float(np.hypot(*v)), float(1 / np.sqrt(spread))


def _first_contact(reading: Reading, cue: int) -> tuple[int, float, float] | None:
    """The ball that the cue ball met first, when, and until when both go undisturbed."""
    mine = [reading.fit.kinks[k] for k in reading.fit.kinks_of(cue)]
    began = next((k.t_s for k in mine if k.kind == "strike"), None)
    if began is None:
        return None
    meets = next((k for k in mine if k.t_s >= began and k.kind in ("contact", "rail", "jaw")), None)
    if meets is None or meets.kind != "contact":
        return None
    other = meets.balls[0] if meets.balls[1] == cue else meets.balls[1]
    away = meets.t_s + 1.5 * reading.frame_s  # kinks sooner after it are of the same blow
    next_ones = [
        k.t_s for k in reading.fit.kinks
        if k.kind != "free" and k.t_s > away and (cue in k.balls or other in k.balls)
    ]  # fmt: skip
    drop = reading.drops.get(other)
    ends = [*next_ones, meets.t_s + WINDOW_S, *([drop.t_s] if drop else [])]
    return other, meets.t_s, min(ends) - 0.3 * reading.frame_s


def _window(looks: Looks, begin_s: float, end_s: float) -> tuple[Floats, Floats, Floats]:
    on = (looks.times >= begin_s) & (looks.times <= end_s)
    return looks.times[on], looks.xy[on], looks.cov[on]


def _departure(
    seen: tuple[Floats, Floats, Floats], rest: Floats, near_s: float, reading: Reading
) -> tuple[Floats, float, float, float, float] | None:
    """Direction (2,), speed and its sigma, and time and its sigma with which a resting ball left its place."""
    t, xy, cov = seen
    noise = np.sqrt(np.trace(cov, axis1=1, axis2=2) / 2)
    off = xy - rest
    far = np.hypot(*off.T) > np.maximum(3 * noise, 0.003)
    if far.sum() < 3:
        return None
    weight = (far / noise**2)[:, None] * np.hypot(*off.T)[:, None]
    way = (weight * off).sum(axis=0)
    way = way / np.hypot(*way)
    along = off @ way
    slide, roll = reading.fit.slide, reading.fit.roll

    def misses(x: Floats) -> Floats:
        arc = np.array([[0.0, 0.0, x[0], 0.0, 5 / 7 * x[0], 0.0]])
        tau = np.maximum(t - x[1], 0.0)
        model = motion.places(np.repeat(arc, len(t), axis=0), tau, slide, roll)[0][:, 0]
        return np.asarray(np.append((along - model) / noise, (x[1] - near_s) / (1.5 * reading.frame_s)))

    guess = max(float(along[far][-1] / max(t[far][-1] - near_s, 1e-3)), 0.05)
    fitted = least_squares(misses, [guess, near_s], loss="soft_l1", x_scale=[1.0, 0.01])
    jacobian = np.asarray(fitted.jac, dtype=np.float64)
    try:
        spread = np.linalg.inv(jacobian.T @ jacobian)
    except np.linalg.LinAlgError:
        return None
    sigma = np.sqrt(np.diag(spread))
    return way, float(fitted.x[0]), float(sigma[0]), float(fitted.x[1]), float(sigma[1])
