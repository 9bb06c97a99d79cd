"""Which number each track bears: evidence gathered along tracks, and pieces of one ball together; `vision.numbers` assigns."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from tracking.observations import Floats
from vision.numbers import NEVER, assign

CROWDED = -8.0  # nats a track may lose, where there are more tracks than numbers, before it is left without
THERE = -2.0  # more of them for one that is seen now
LATELY_S = 0.5  # seconds ago is now
OUT_OF_QUESTION = (
    -12.0
)  # nats; numbers this unlikely do not tie balls together, or each look would cost a tenth of a second
ALONE = -60.0  # the same where there are numbers for all
INDEPENDENT = 3.0  # looks of one ball are worth no more than so many: brand, light and camera are the same in all


@dataclass(frozen=True, slots=True)
class Identities:
    """``number`` of each track, how surely (``p``), and the whole table of ``shares`` (tracks, 16)."""

    number: dict[int, int]
    p: dict[int, float]
    shares: Floats


def identify(
    tracks: Sequence[int],
    evidence: Floats,
    spans: Floats,
    *,
    game_balls: Iterable[int] | None = None,
    opened: Floats | None = None,
    looked: Floats | None = None,
) -> Identities:
    """Assign numbers.

    Parameters
    ----------
    tracks : ids, (n,).
    evidence : (n, 16) accumulated log-likelihoods, nats.
    spans : (n, 2) first and last second in which each track was seen; tracks that never overlap may share a number (a ball
        lost and found again).
    game_balls : numbers that may be on the table; None: all.
    opened : (n,) how many shots each track opened: the cue ball does.
    looked : (n,) how many looks each row of ``evidence`` is the sum of. Looks of one ball err alike, so that they are
        weighed as `INDEPENDENT` at most; None: the evidence stands as it is.
    """
    n = len(tracks)
    if n == 0:
        return Identities({}, {}, np.zeros((0, 16)))
    if looked is not None:
        evidence = evidence * np.minimum(1.0, INDEPENDENT / np.maximum(looked, 1e-9))[:, None]
    score = np.clip(evidence - evidence.max(axis=1, keepdims=True), -30.0, 0.0)
    if opened is not None:
        score[:, 0] += 3.0 * np.minimum(opened, 4)
    allowed = np.zeros(16, dtype=np.bool_)
    allowed[list(game_balls) if game_balls is not None else list(range(16))] = True
    chains = _chains(tracks, np.where(allowed, score, -60.0), spans)
    numbers = np.flatnonzero(allowed)
    joint = np.array([score[chain].sum(axis=0) for chain in chains])[:, numbers]
    joint = np.maximum(joint - joint.max(axis=1, keepdims=True), NEVER)
    stray = np.full(len(chains), ALONE)
    if len(chains) > len(numbers):
        stray = _claims(chains, spans, np.full(n, INDEPENDENT) if looked is None else looked)
    given, p_of = assign(joint, stray, OUT_OF_QUESTION)
    number: dict[int, int] = {}
    p: dict[int, float] = {}
    shares = np.zeros((n, 16))
    for chain, column, row in zip(chains, given.tolist(), p_of, strict=True):
        shares[np.ix_(np.array(chain), numbers)] = row
        if column < 0:
            continue
        for k in chain:
            number[tracks[k]] = int(numbers[column])
            p[tracks[k]] = float(row[column])
    return Identities(number, p, shares)


def _claims(chains: list[list[int]], spans: Floats, looked: Floats) -> Floats:
    """(chains,) nats that it costs to leave one without a number: what lies there is a ball, what was seen for a moment and is gone
    may have been a piece of another."""
    now = float(spans[:, 1].max())
    there = np.array([now - float(spans[c, 1].max()) < LATELY_S for c in chains])
    share = np.array([min(1.0, float(looked[c].sum()) / INDEPENDENT) for c in chains])
    return np.where(there, CROWDED + THERE, CROWDED * share)


def _chains(tracks: Sequence[int], score: Floats, spans: Floats) -> list[list[int]]:
    """Tracks that are pieces of one ball: they follow one another and look alike."""
    order = sorted(range(len(tracks)), key=lambda k: spans[k, 0])
    chains: list[list[int]] = []
    for k in order:
        best = int(np.argmax(score[k]))
        for chain in chains:
            joint = score[chain].sum(axis=0)
            if spans[chain[-1], 1] <= spans[k, 0] + 0.1 and int(np.argmax(joint)) == best:
                second = np.sort(score[k])[-2]
                if score[k, best] - second > 1.0:
                    chain.append(k)
                    break
        else:
            chains.append([k])
    return chains
