"""Two balls that changed names at a meeting get their own back, if their looks say so."""

from __future__ import annotations

import numpy as np

from tracking.tracks import Status, Track
from tracking.untangle import crosswise, exchange, untangle


def track(ident: int, xs: np.ndarray, times: np.ndarray, seen: list[int]) -> Track:
    out = Track(ident, np.zeros(4), np.eye(4), Status.RESTING, float(times[-1]), 0.0, np.array([xs[-1], 0.5]))
    for t, x, n in zip(times, xs, seen, strict=True):
        look = np.full(16, -4.0)
        look[n] = 0.0
        out.looks.append((float(t), float(x), 0.5, 1e-6, 0.0, 1e-6))
        out.seen_as.append((float(t), 0.3 * look))
        out.evidence = out.evidence + 0.3 * look
    return out


def pair(swapped: bool, after: int = 20) -> tuple[Track, Track]:
    times = np.arange(20 + after) / 30
    rolls = np.linspace(0.1, 0.5, 20)
    on, stays = np.linspace(0.55, 1.0, after), np.full(after, 0.5)
    white, red = [0] * 20, [3] * 20
    a = track(0, np.concatenate([rolls, on if swapped else stays]), times, white + [3 if swapped else 0] * after)
    b = track(
        1, np.concatenate([np.full(20, 0.56), stays if swapped else on]), times, red + [0 if swapped else 3] * after
    )
    return a, b


def test_balls_that_changed_names_get_their_own_back() -> None:
    a, b = pair(swapped=True)
    done = untangle([a, b], 0.0)
    assert [(d[0], d[1]) for d in done] == [(0, 1)]
    assert a.looks[-1][1] == 0.5
    assert b.looks[-1][1] == 1.0
    assert int(np.argmax(a.evidence)) == 0
    assert int(np.argmax(b.evidence)) == 3
    assert untangle([a, b], 0.0) == []


def test_balls_that_kept_their_names_are_left_alone() -> None:
    a, b = pair(swapped=False)
    assert crosswise(a, b, 0.65) < 0
    assert untangle([a, b], 0.0) == []


def test_a_few_looks_do_not_exchange_balls() -> None:
    a, b = pair(swapped=True, after=3)
    assert untangle([a, b], 0.0) == []


def test_an_exchange_twice_is_none() -> None:
    a, b = pair(swapped=True)
    looks, evidence = list(a.looks), a.evidence.copy()
    for _ in range(2):
        exchange(a, b, 0.65)
    assert a.looks == looks
    np.testing.assert_allclose(a.evidence, evidence)
