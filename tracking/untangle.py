"""Mends tracks behind their backs: two balls that changed places at a meeting are changed back, pieces of one ball are joined."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import numpy as np

from tracking.associate import FAST
from tracking.observations import Floats
from tracking.tracks import Status, Track

MET_M = 0.12  # metres that two balls may be apart at the looks about their meeting
CROSSWISE = 5.0  # nats by which the looks must fit crosswise better
LEAST_LOOKS = 4  # behind the meeting, of each ball
TAIL = ("mean", "cov", "status", "seen_s", "rest", "rest_looks", "misses", "missed_s", "flown", "moved_s", "pending")


def untangle(tracks: Sequence[Track], since_s: float) -> list[tuple[int, int, float]]:
    """Exchange what was seen of two balls behind their meeting, where their looks say so.

    A tracker that follows two balls through a contact has only places to go by, a frame or two after it; how the balls look
    tells over all the frames behind it.

    Parameters
    ----------
    tracks : as the tracker left them; changed in place.
    since_s : begin of the stretch of motion.

    Returns
    -------
    The tracks exchanged, and when they had met.
    """
    known = [
        (t, *t.arrays(since_s)[:2]) for t in tracks if t.status is not Status.TENTATIVE and len(t.looks) > LEAST_LOOKS
    ]
    seen = [
        (t, times, xy, float(np.ptp(xy, axis=0).max()) >= MET_M) for t, times, xy in known if len(times) >= LEAST_LOOKS
    ]
    meetings = []
    for (a, ta, xa, a_went), (b, tb, xb, b_went) in itertools.combinations(seen, 2):
        when = meeting(ta, xa, tb, xb) if a_went or b_went else None
        if when is not None:
            meetings.append((when, a, b))
    done = []
    for when, a, b in sorted(meetings, key=lambda m: m[0]):
        if crosswise(a, b, when) > CROSSWISE:
            exchange(a, b, when)
            done.append((a.id, b.id, when))
    return done


def meeting(ta: Floats, xa: Floats, tb: Floats, xb: Floats) -> float | None:
    """When two balls, seen at times (n,) in places (n, 2), were nearest each other; None where that was not near."""
    on = ta[(ta >= tb[0]) & (ta <= tb[-1])]
    if not len(on):
        return None
    mine = xa[(ta >= tb[0]) & (ta <= tb[-1])]
    gaps = np.hypot(mine[:, 0] - np.interp(on, tb, xb[:, 0]), mine[:, 1] - np.interp(on, tb, xb[:, 1]))
    k = int(gaps.argmin())
    return float(on[k]) if gaps[k] < MET_M else None


def crosswise(a: Track, b: Track, when_s: float) -> float:
    """By how many nats what was seen of two balls behind a time fits better if they had changed places."""
    behind = [[e for t, e in track.seen_as if t > when_s] for track in (a, b)]
    if min(len(rows) for rows in behind) < LEAST_LOOKS:
        return 0.0
    after = [np.sum(rows, axis=0) for rows in behind]
    before = [track.evidence - tail for track, tail in zip((a, b), after, strict=True)]
    keep = _both(before[0], after[0]) + _both(before[1], after[1])
    change = _both(before[0], after[1]) + _both(before[1], after[0])
    return change - keep


def _both(before: Floats, after: Floats) -> float:
    """Log-likelihood of ``after`` (16,) of a ball that looked like ``before`` (16,)."""
    return float(np.logaddexp.reduce(before + after) - np.logaddexp.reduce(before))


def exchange(a: Track, b: Track, when_s: float) -> None:
    """Give each of two tracks what was seen of the other behind a time."""
    tails = [
        (
            [k for k in t.looks if k[0] > when_s],
            [k for k in t.seen_as if k[0] > when_s],
            {n: getattr(t, n) for n in TAIL},
        )
        for t in (a, b)
    ]
    for track, own, other in ((a, tails[0], tails[1]), (b, tails[1], tails[0])):
        track.looks = [k for k in track.looks if k[0] <= when_s] + other[0]
        track.seen_as = [k for k in track.seen_as if k[0] <= when_s] + other[1]
        gone, come = (np.sum([e for _, e in tail[1]], axis=0) for tail in (own, other))
        track.evidence = track.evidence - gone + come
        for name, value in other[2].items():
            setattr(track, name, value)


def stitch(tracks: list[Track], since_s: float, replaced_s: float) -> None:
    """Join tracks born since ``since_s`` to lost ones that look the same and could have got there; none over ``replaced_s``, when the
    whole scene changed."""
    fresh = [t for t in tracks if t.born_s >= since_s and t.status is not Status.TENTATIVE]
    for new in sorted(fresh, key=lambda t: t.born_s):
        best, least = None, 6.0
        for old in tracks:
            gap = new.born_s - old.seen_s
            if old.seen_s < replaced_s <= new.born_s:
                continue  # of another scene
            if old is new or old.status not in (Status.LOST, Status.GONE) or gap <= 0:
                continue
            way = float(np.hypot(*(new.looks[0][1:3] - old.mean[:2]))) if new.looks else np.inf
            if way > FAST * min(gap, 0.5):
                continue
            differs = 2 * float(old.evidence.max() + new.evidence.max() - (old.evidence + new.evidence).max())
            cost = differs + 2.0 * way
            if cost < least:
                best, least = old, cost
        if best is not None:
            best.looks += new.looks
            best.evidence = best.evidence + new.evidence
            best.seen_as += new.seen_as
            best.looked += new.looked
            best.mean, best.cov, best.status, best.seen_s = new.mean, new.cov, new.status, new.seen_s
            best.rest, best.rest_looks, best.misses, best.hits = (
                new.rest,
                new.rest_looks,
                new.misses,
                best.hits + new.hits,
            )
            tracks.remove(new)
