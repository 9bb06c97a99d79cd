"""Numbers to balls, each at most once: the likeliest assignment as a whole, and the exact probability of each number.

The one place where this is done, for tuning, pictures and tracks alike; NumPy and SciPy only.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt
from scipy.optimize import linear_sum_assignment
from scipy.sparse.csgraph import connected_components

from calibration.errors import InputError

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.intp]

NUMBERS = 16
STRAY = -40.0  # log-likelihood that a track is none of the numbers, beside its best one: only where numbers run out
WHOLE_TRUST = 25.0  # nats that all looks together can say against a number
LOW = 4  # numbers that are given together in one step of the sum over assignments
NEVER = -30.0  # log-likelihood, beside the best, of a number that is out of the question

#: Balls that a game is played with.
GAMES: Mapping[str, tuple[int, ...]] = {
    "8-ball": tuple(range(16)),
    "9-ball": tuple(range(10)),
    "10-ball": tuple(range(11)),
    "14.1": tuple(range(16)),
}


@dataclass(slots=True)
class Assigner:
    """Numbers for tracks: each number at most once, no track changes its number within a rack.

    Looks at one ball follow each other closely and share their errors, so each counts for ``weight`` of an independent one,
    and none says more than ``trust`` nats.

    Parameters
    ----------
    numbers : those that can be on the table.
    weight, trust : as above.
    """

    numbers: Sequence[int] = tuple(range(NUMBERS))
    weight: float = 0.35
    trust: float = 5.0
    evidence: dict[Hashable, Floats] = field(default_factory=dict)

    @classmethod
    def of_game(cls, game: str) -> Assigner:
        """For the balls of a game.

        Raises
        ------
        InputError
            For a game that there is not.
        """
        if game not in GAMES:
            raise InputError(f"unknown game {game!r}: one of {', '.join(GAMES)}")
        return cls(GAMES[game])

    def add(self, track: Hashable, look: npt.ArrayLike, quality: float = 1.0) -> None:
        """Count one look (16,), log-likelihoods; ``quality`` 0 … 1 discounts a blurred or half-hidden one."""
        value = np.asarray(look, dtype=np.float64)
        value = np.clip(value - value.max(), -self.trust, 0.0)
        self.evidence[track] = self.evidence.get(track, np.zeros(NUMBERS)) + self.weight * quality * value

    def forget(self, track: Hashable) -> None:
        """Leave a track out (it was no ball). One that was pocketed stays: its number is not free again."""
        self.evidence.pop(track, None)

    def assign(self) -> dict[Hashable, tuple[int, float]]:
        """Number and probability of each track, in the likeliest assignment as a whole.

        A track that fits no number left (there are more tracks than numbers, or it is no ball) is missing from the answer.
        """
        tracks = list(self.evidence)
        if not tracks:
            return {}
        allowed = list(self.numbers)
        table = np.array([self.evidence[t] for t in tracks])[:, allowed]
        table = np.maximum(table - table.max(axis=1, keepdims=True), -WHOLE_TRUST)
        given, p = assign(table)
        return {t: (allowed[c], float(p[r, c])) for r, (t, c) in enumerate(zip(tracks, given, strict=True)) if c >= 0}


def assign(log_like: Floats, stray: Floats | float = STRAY, never: float = NEVER) -> tuple[Ints, Floats]:
    """The likeliest assignment as a whole, and the probability of every number.

    Parameters
    ----------
    log_like : (n, m) log-likelihood of each number for each track.
    stray : (n,) or one for all: that a track is none of them, beside its own best.
    never : as in `marginals`.

    Returns
    -------
    (n,) column of each track, -1 where it has none, and (n, m) as `marginals` gives it.
    """
    n, m = log_like.shape
    if not n:
        return np.zeros(0, dtype=np.intp), np.zeros((0, m))
    best = log_like.max(axis=1, keepdims=True, initial=-1e9)
    spare = np.where(np.eye(n, dtype=bool), np.broadcast_to(stray, n), -1e6)
    rows, columns = linear_sum_assignment(-np.hstack([log_like - best, spare]))
    given = np.full(n, -1, dtype=np.intp)
    given[rows] = np.where(columns < m, columns, -1)
    return given, marginals(log_like - best, stray, never)


def marginals(log_like: Floats, stray: Floats | float = STRAY, never: float = NEVER) -> Floats:
    """Probability (n, m) of each number for each track when no number is given twice; m at most 16.

    The sum over all assignments; each track may also be none of the numbers, at a likelihood of exp(``stray``). Tracks that
    share no number that is to be thought of (``never`` nats beside the best one at least) are worked out apart, which is
    what makes it fast: most are sure.
    """
    n, m = log_like.shape
    if not n:
        return np.zeros((0, m))
    strays = np.broadcast_to(stray, n)
    possible = log_like > log_like.max(axis=1, keepdims=True) + never
    _, part = connected_components(np.block([[np.zeros((n, n)), possible], [possible.T, np.zeros((m, m))]]), False)
    out = np.zeros((n, m))
    for k in set(part[:n].tolist()):
        tracks, numbers = np.flatnonzero(part[:n] == k), np.flatnonzero(part[n:] == k)
        out[np.ix_(tracks, numbers)] = _marginals(log_like[np.ix_(tracks, numbers)], strays[tracks])
    return out


def _marginals(log_like: Floats, stray: Floats) -> Floats:
    """The same by dynamic programming over the sets of numbers given so far (n 2^m terms)."""
    n, m = log_like.shape
    best = np.maximum(log_like.max(axis=1), stray)
    like = np.exp(log_like - best[:, None])
    none = np.exp(stray - best)
    low = min(m, LOW)
    small = 2**low
    steps = _steps(like, low)
    forward = np.zeros((n + 1, 2**m))
    forward[0, 0] = 1.0
    for k in range(n):
        forward[k + 1] = none[k] * forward[k] + (forward[k].reshape(-1, small) @ steps[k]).reshape(-1)
        for j in range(low, m):
            old, new = (f.reshape(-1, 2, 2**j) for f in (forward[k], forward[k + 1]))
            new[:, 1] += like[k, j] * old[:, 0]
        forward[k + 1] /= forward[k + 1].sum()
    backward = np.ones(2**m)
    p = np.empty((n, m))
    states = np.arange(small)
    for k in reversed(range(n)):
        both = forward[k].reshape(-1, small).T @ backward.reshape(
            -1, small
        )  # (before, after) of the numbers of low bits
        for j in range(low):
            free = states[states & (1 << j) == 0]
            p[k, j] = like[k, j] * float(both[free, free | (1 << j)].sum())
        before = none[k] * backward + (backward.reshape(-1, small) @ steps[k].T).reshape(-1)
        for j in range(low, m):
            after = backward.reshape(-1, 2, 2**j)[:, 1]
            p[k, j] = like[k, j] * float((forward[k].reshape(-1, 2, 2**j)[:, 0] * after).sum())
            before.reshape(-1, 2, 2**j)[:, 0] += like[k, j] * after
        p[k] /= p[k].sum() + none[k] * float(forward[k] @ backward)
        backward = before / before.max()
    return p


def _steps(like: Floats, low: int) -> Floats:
    """(n, 2^low, 2^low) what giving a track one of the first ``low`` numbers does to which of them are given: a step over bits that lie
    close together is a product of matrices, several times faster than over strides."""
    states = np.arange(2**low)
    steps = np.zeros((len(like), 2**low, 2**low))
    for j in range(low):
        free = states[states & (1 << j) == 0]
        steps[:, free, free | (1 << j)] = like[:, j, None]
    return steps
