"""The joint fit: its gradient, and a head-on contact whose answer is known."""

import numpy as np
import pytest

from tracking.joint import Kink, Path, solve
from tracking.residuals import Problem

R = 0.028575


def two_balls(seed: int = 0, noise: float = 0.0015, fps: float = 60.0) -> tuple[dict[int, Path], list[Kink], float]:
    """Ball 0 rolls at 1 m/s along x into ball 1 at rest; contact at 0.5 s; 1 leaves at 1 m/s, sliding."""
    rng = np.random.default_rng(seed)
    t = np.arange(0, 1.0, 1 / fps) + 0.003
    hit, slide = 0.5, 2.0
    x0 = np.where(t < hit, t * 1.0, hit)
    after = np.maximum(t - hit, 0)
    w = 2 / 7
    x0 = x0 + np.where(after < w / slide, 0.5 * slide * after**2, w * after - 0.5 * w**2 / slide)
    x1 = hit + 2 * R + np.where(after < w / slide, after - 0.5 * slide * after**2, (1 - w) * after + 0.5 * w**2 / slide)
    paths = {}
    cov = np.tile(np.eye(2) * noise**2, (len(t), 1, 1))
    for b, x in ((0, x0), (1, x1)):
        xy = np.column_stack([x, np.full_like(x, 0.3)]) + rng.normal(0, noise, (len(t), 2))
        arcs = (
            np.array([[0, 0.3, 1, 0, 1, 0], [0.5, 0.3, 0.1, 0, 0.2, 0]])
            if b == 0
            else np.array([[hit + 2 * R, 0.3, 0, 0, 0, 0], [hit + 2 * R, 0.3, 0.8, 0, 0.7, 0]])
        )
        paths[b] = Path(b, t, xy, cov, 0.0, arcs.astype(float), resting=b == 1)
    return paths, [Kink("contact", hit + 0.008, (0, 1))], hit


def test_gradient_is_the_slope_of_the_cost() -> None:
    """Every unknown's, with a contact, a cushion, and balls that lay still or moved at first: also what sigmas do that follow speeds."""
    paths, kinks, _ = two_balls()
    kinks.append(Kink("rail", 0.7, (1,), wall=(0, 0.8, -1.0)))
    paths[1].arcs = np.vstack([paths[1].arcs, [0.8, 0.3, -0.5, 0.1, -0.4, 0.1]])
    paths[0].resting = False
    problem = Problem(paths, kinks, 0.0, (2.0, 0.05, 0.5, 0.03), R)
    problem.tails = 5.0
    x = problem.x + np.random.default_rng(3).normal(0, 1e-3, problem.size)
    g = problem.evaluate(x)[1].gradient
    for i in range(problem.size):
        step = np.zeros(problem.size)
        step[i] = 1e-6
        slope = (problem.evaluate(x + step)[0] - problem.evaluate(x - step)[0]) / 2e-6
        assert 2 * g[i] == pytest.approx(slope, rel=2e-3, abs=1.0)


@pytest.mark.parametrize(("fps", "noise", "limit"), [(60.0, 0.0015, 0.002), (30.0, 0.003, 0.005)])
def test_contact_time(fps: float, noise: float, limit: float) -> None:
    errors, pulls = [], []
    for seed in range(12):
        paths, kinks, hit = two_balls(seed, noise, fps)
        fit = solve(paths, kinks, radius=R, prior=(2.0, 0.01, 0.3, 0.01))
        errors.append(fit.kinks[0].t_s - hit)
        pulls.append(errors[-1] / fit.kinks[0].sigma_s)
    assert np.median(np.abs(errors)) < limit / 2
    assert np.max(np.abs(errors)) < 2 * limit
    assert 0.3 < np.sqrt(np.mean(np.square(pulls))) < 2.0


def test_times_shrug_off_an_outlier() -> None:
    paths, kinks, hit = two_balls(5)
    paths[1].xy[40] += 0.05
    fit = solve(paths, kinks, radius=R, prior=(2.0, 0.01, 0.3, 0.01))
    assert fit.kinks[0].t_s == pytest.approx(hit, abs=0.004)  # 50 mm off in one look, 4 ms at most


def test_nothing_and_a_free_ball_are_solved_too(capfd: pytest.CaptureFixture[str]) -> None:
    """LAPACK complains on the terminal about matrices without rows."""
    assert solve({}, [], radius=R).cost == pytest.approx(0.0)
    t = np.arange(10) / 30
    path = Path(0, t, np.column_stack([t, t]), np.tile(np.eye(2) * 1e-6, (10, 1, 1)), 0.0, np.array([[0, 0, 1, 1, 1, 1.0]]), False)  # fmt: skip
    fit = solve({0: path}, [], radius=R)
    assert fit.paths[0].arcs[0, 2:4] == pytest.approx([1.0, 1.0], abs=0.1)
    assert not capfd.readouterr().out
