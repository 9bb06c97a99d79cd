"""Fits all balls' arcs and all impact times of a shot together, with their covariance.

Unknowns: six numbers an arc (see ``tracking.motion``), one time a kink, and the cloth's two frictions. Known: the looks with
their covariances (Student's t, so that a bad look does not pull); that a path is connected; that at a contact the centres are a
diameter apart, momentum is kept, the push runs along the line of centres and spin passes through; that at a cushion the ball
is a radius from the nose line. Solved by Levenberg-Marquardt on the normal equations, with the derivatives in closed form.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from tracking.motion import ROLL, SLIDE, fly, places
from tracking.normal import NotDefinite
from tracking.observations import Floats
from tracking.path import Kink, Path
from tracking.residuals import GAUSSIAN, TAILS, Problem

__all__ = ["Fit", "Kink", "Path", "sample", "solve", "stop_time"]

HELPS = 1.0  # cost that beginning anew must save to go on with it
SLIDES = (1.0, 4.5)  # m/s², frictions that cloths have
ROLLS = (0.03, 0.3)


@dataclass(slots=True)
class Fit:
    """What ``solve`` found. ``cost`` is minus twice the log-likelihood up to a constant."""

    paths: dict[int, Path]
    kinks: list[Kink]
    slide: float
    roll: float
    cost: float
    time_cov: Floats  # (kinks, kinks)
    misfit: dict[tuple[int, int], float]  # (ball, arc): mean squared Mahalanobis distance of its looks / 2
    push: Floats  # (kinks,) metres a second, the jump of the first ball's velocity
    push_sigma: Floats

    def kinks_of(self, ball: int) -> list[int]:
        return sorted((k for k, kink in enumerate(self.kinks) if ball in kink.balls), key=lambda k: self.kinks[k].t_s)


def solve(
    paths: dict[int, Path], kinks: list[Kink], *, radius: float, exposure_s: float = 0.0,
    prior: tuple[float, float, float, float] = (SLIDE, ROLL, 0.5, 0.03), steps: int = 25, tolerance: float = 0.05, loose_s: float = 0.1,
    again: int = 0, warm: bool = False,
) -> Fit:  # fmt: skip
    """Fit one reading of a shot.

    Parameters
    ----------
    paths : by ball; ``arcs`` hold the first guess.
    kinks : with a first guess of their times.
    radius : of a ball, metres.
    exposure_s : open time of the shutter.
    prior : slide and roll friction (m/s²) and one sigma of each.
    loose_s : one sigma of the first guesses of the kinks' times.
    steps : most Levenberg-Marquardt steps; ``tolerance``: stop below this change of the cost.
    again : how often at most to begin anew from where the fit came to rest, while that helps: heavy tails have valleys in
        which a look is given up that was right.
    warm : the first guess is a fit already, but for a few arcs: go on from there.
    """
    problem = Problem(paths, kinks, exposure_s, prior, radius, loose_s)
    x = problem.x
    problem.order_times(x)
    if not warm:
        x, _ = _descend(problem, x, steps // 2, 30 * tolerance)
    problem.tails = TAILS
    x, cost = _descend(problem, x, steps, tolerance)
    for _ in range(again):
        problem.tails = GAUSSIAN
        other, _ = _descend(problem, x.copy(), steps // 2, 30 * tolerance)
        problem.tails = TAILS
        other, less = _descend(problem, other, steps, tolerance)
        if less > cost - HELPS:
            break
        x, cost = other, less
    problem.x = x
    return _finish(problem, x, cost)


def _descend(problem: Problem, x: Floats, steps: int, tolerance: float) -> tuple[Floats, float]:
    """Levenberg-Marquardt from ``x``: the unknowns and cost reached."""
    problem.x = x
    cost, normal = problem.evaluate(x)
    damp = 1e-3
    for _ in range(steps):
        try:
            step = normal.step(damp)
        except NotDefinite:
            damp = max(damp * 10, 1e-6)
            if damp > 1e8:
                break
            continue
        base = 6 * problem.n_arcs
        biggest = np.abs(step[base : base + problem.n_kinks]).max(initial=0.0)
        if biggest > 0.02:
            step = step * (0.02 / biggest)
        trial = x + step
        trial[-2] = np.clip(trial[-2], *SLIDES)
        trial[-1] = np.clip(trial[-1], *ROLLS)
        problem.order_times(trial)
        problem.x = trial
        new, there = problem.evaluate(trial)
        if new < cost:
            done = cost - new < tolerance
            x, cost, normal = trial, new, there
            damp = max(damp * 0.2, 1e-9)
            if done:
                break
        else:
            problem.x = x
            damp = max(damp * 8, 1e-7)
            if damp > 1e9:
                break
    problem.x = x
    return x, cost


def _finish(problem: Problem, x: Floats, cost: float) -> Fit:
    arcs, times, slide, roll = problem.unpack(x)
    _, normal = problem.evaluate(x)
    base = 6 * problem.n_arcs
    n_kinks = problem.n_kinks
    behind = problem.sides[[problem.side_of[k, 0] for k in range(n_kinks)], 2]  # the arcs that a push sends a ball on
    wanted = np.concatenate([base + np.arange(n_kinks), (6 * behind[:, None] + (2, 3)).ravel()])
    cov = normal.covariance(wanted)
    time_cov = cov[base : base + n_kinks, :n_kinks]
    speed_var = cov[wanted[n_kinks:], n_kinks + np.arange(2 * n_kinks)]
    push_sigma = np.sqrt(np.maximum(speed_var.reshape(-1, 2).sum(axis=1), 0.0))
    which = problem.arc_of(times)
    misfit: dict[tuple[int, int], float] = {}
    paths = {}
    for b, path in problem.paths.items():
        first, count = problem.first[b], len(problem.order[b]) + 1
        s = problem.slices[b]
        for j in range(count):
            on = which[s] == first + j
            if on.any():
                misfit[b, j] = float(problem.m2[s][on].mean() / 2)
        paths[b] = Path(
            b, path.times, path.xy, path.cov, path.begin_s, arcs[first : first + count].copy(), path.resting
        )
        paths[b].weight = (TAILS + 2) / (TAILS + problem.m2[s])
    kinks = []
    push = np.zeros(n_kinks)
    for k, kink in enumerate(problem.kinks):
        sigma_s = float(np.sqrt(max(time_cov[k, k], 0.0)))
        kinks.append(replace(kink, t_s=float(times[k]), sigma_s=sigma_s))
        side = problem.sides[problem.side_of[k, 0]]
        start = problem._starts(np.array([side[1]]), times)
        ended = fly(arcs[[side[1]]], times[[k]] - start, slide, roll)
        jump = arcs[side[2], 2:4] - ended.v[0]
        push[k] = float(np.hypot(*jump))
    return Fit(paths, kinks, slide, roll, cost, time_cov, misfit, push, push_sigma)


def stop_time(fit: Fit, ball: int) -> float:
    """When a ball comes to rest after its last kink, if nothing more happens."""
    ks = fit.kinks_of(ball)
    arc = fit.paths[ball].arcs[-1]
    start = fit.kinks[ks[-1]].t_s if ks else fit.paths[ball].begin_s
    slip = float(np.hypot(*(arc[4:] - arc[2:4])))
    return float(start + slip / fit.slide + np.hypot(arc[4], arc[5]) / fit.roll)


def sample(fit: Fit, ball: int, t: Floats) -> tuple[Floats, Floats]:
    """Places and velocities (n, 2) of a fitted ball at times (n,)."""
    ks = fit.kinks_of(ball)
    starts = np.array([fit.paths[ball].begin_s, *[fit.kinks[k].t_s for k in ks]])
    which = np.searchsorted(starts[1:], t, side="right")
    tau = t - starts[which]
    return places(fit.paths[ball].arcs[which], np.maximum(tau, 0.0), fit.slide, fit.roll)
