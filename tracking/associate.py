"""Which detection is which ball: gates, costs from motion and looks, and an assignment with nobody left out by force."""

from __future__ import annotations

import numpy as np
from scipy.optimize import linear_sum_assignment

from tracking.observations import Bools, Floats

GATE = 25.0  # squared Mahalanobis distance a free ball's detection may have (tails are heavy)
MISSED = 16.0  # cost of a ball not seen
FAST = 17.0  # m/s, faster than any ball: the hardest breaks leave the tip at 15
OFTEN = 12.0  # m/s, by which ways are judged: no dearer for a ball that few strokes make faster


def distance(mean: Floats, cov: Floats, z: Floats, noise: Floats) -> Floats:
    """(n, m) squared Mahalanobis distance plus log determinant (relative to 1 cm²) of detections from predictions."""
    s = cov[:, None, :2, :2] + noise[None]
    d = z[None] - mean[:, None, :2]
    det = s[..., 0, 0] * s[..., 1, 1] - s[..., 0, 1] ** 2
    m2 = (
        s[..., 1, 1] * d[..., 0] ** 2 - 2 * s[..., 0, 1] * d[..., 0] * d[..., 1] + s[..., 0, 0] * d[..., 1] ** 2
    ) / det
    return np.asarray(np.where(m2 < GATE, m2 + np.log(det / 1e-8), np.inf))


def looks(belief: Floats, evidence: Floats) -> Floats:
    """(n, m) cost (twice the negative log-likelihood ratio, bounded) of detections by their looks.

    ``belief`` (n, 16) probability of each number per track, ``evidence`` (m, 16) log-likelihoods per detection.
    """
    if evidence.size == 0:
        return np.zeros((len(belief), len(evidence)))
    like = np.exp(evidence - evidence.max(axis=1, keepdims=True))
    fit = belief @ like.T / np.maximum(like.mean(axis=1), 1e-9)
    return np.asarray(-2 * np.log(np.clip(fit, 0.05, 16.0)))


def assign(cost: Floats, missed: float = MISSED) -> tuple[list[tuple[int, int]], Bools, Bools]:
    """Pairs (track, detection) of least total cost; each track may stay without, at ``missed``.

    Returns the pairs, and which tracks (n,) and detections (m,) stay free.
    """
    n, m = cost.shape
    free_t, free_d = np.ones(n, dtype=np.bool_), np.ones(m, dtype=np.bool_)
    if n == 0 or m == 0:
        return [], free_t, free_d
    big = np.full((n, m + n), 1e6)
    big[:, :m] = np.where(np.isfinite(cost), cost, 1e6)
    big[np.arange(n), m + np.arange(n)] = missed
    rows, columns = linear_sum_assignment(big)
    pairs = [(int(r), int(c)) for r, c in zip(rows, columns, strict=True) if c < m and np.isfinite(cost[r, c])]
    for r, c in pairs:
        free_t[r] = free_d[c] = False
    return pairs, free_t, free_d


def reach(places: Floats, since: Floats, z: Floats, fastest: Floats) -> Floats:
    """(n, m) cost of a detection for a ball that may have been kicked at any speed since it was last seen.

    ``places`` (n, 2) last seen, ``since`` (n,) seconds ago, ``fastest`` (n,) speed it may have had, m/s. Infinite beyond.
    """
    d = np.hypot(z[None, :, 0] - places[:, None, 0], z[None, :, 1] - places[:, None, 1])
    while_s = np.minimum(since, 0.25)
    far = (np.minimum(fastest, FAST) * while_s)[:, None] + 0.02
    often = (np.minimum(fastest, OFTEN) * while_s)[:, None] + 0.02
    return np.asarray(np.where(d < far, 8.0 * d / often + 4.0, np.inf))
