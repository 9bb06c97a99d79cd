"""A pack broken open: within it only the first contact and each ball's departure can be told.

The push runs through a rack in less than a millisecond, between balls that touch or nearly do: which of them met, and in
what order, no picture shows, and momentum shared by many is none that two balls exchange. So of the pack only the contact
that opened it is named; for a moment after it every other kink of its balls is left unexplained, and nothing is tried there.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from tracking.joint import Fit, Kink, sample
from tracking.outset import clusters
from tracking.residuals import RESTITUTION
from tracking.trails import Trail, along

LEAST = 5  # balls that make a pack
GAP = 0.008  # metres between balls of a pack
BURST_S = 0.12  # while its balls are so close that their kinks cannot be told apart
BURST_M = 0.4  # metres from the middle of a pack where a ball first seen in the burst comes from it
BEFORE_S = 0.03  # kinks of its balls so long before the first contact are late or early readings of it
CLEAR_S = 0.001  # by which the first ball in the way must be reached sooner than the next to be told from it
OPENED = 0.97  # probability of the contact that opened a pack, where it is clear
UNCLEAR = 0.6
HUSHED = 0.1
CLEARLY = 3.0  # sigmas of a push
FOUND_BACK = 0.85  # of a contact whose approach was not seen


@dataclass(frozen=True, slots=True)
class Pack:
    """Balls that lay together, the ball that broke them open and when."""

    balls: frozenset[int]
    breaker: int
    begin_s: float

    def hushed(self, balls: tuple[int, ...], t_s: float) -> bool:
        """Whether what seems to happen to these balls then is not to be told; before the burst its balls lie still."""
        if not all(b in self.balls or b == self.breaker for b in balls) or t_s > self.begin_s + BURST_S:
            return False
        return self.breaker not in balls or t_s > self.begin_s - BEFORE_S


def broken(trails: Mapping[int, Trail], kinks: list[Kink], radius: float, opener: int | None) -> list[Pack]:
    """Packs that a stroke breaks open. ``opener``: the ball that was struck.

    In a rack seen from low down some balls are hidden by others: what lies about a ball's width apart is one pack if it bursts
    at one time, and balls first seen in the burst belong to it.
    """
    lying = {b: trail.rest for b, trail in trails.items() if trail.lay and b != opener}
    wide = clusters(lying, 4 * radius + GAP)
    groups = [g for g in wide if len(g) >= LEAST and _bursts(g, trails)]
    taken = {b for g in groups for b in g}
    groups += [
        g for g in clusters({b: p for b, p in lying.items() if b not in taken}, 2 * radius + GAP) if len(g) >= LEAST
    ]
    out = []
    for group in groups:
        members = set(group)
        meets = [k for k in kinks if k.kind == "contact" and len(members & set(k.balls)) == 1]
        first = min(meets, key=lambda k: k.t_s, default=None)
        if first is None:
            continue
        breaker = next(b for b in first.balls if b not in members)
        if opener is not None and breaker != opener and any(opener in k.balls for k in meets):
            breaker = opener
            first = min((k for k in meets if opener in k.balls), key=lambda k: k.t_s)
        centre = np.mean([trails[b].rest for b in group], axis=0)
        for b, trail in trails.items():
            if b not in lying and b != breaker and trail.pieces and abs(trail.pieces[0].begin_s - first.t_s) < BURST_S:
                place = trail.pieces[0].at(trail.pieces[0].begin_s)
                if float(np.hypot(*(place - centre))) < BURST_M:
                    members.add(b)
        out.append(Pack(frozenset(members), breaker, first.t_s))
    return out


def _bursts(group: list[int], trails: Mapping[int, Trail]) -> bool:
    """Whether a good part of a group is seen to set out at about one time; some are lost in the burst."""
    times = sorted(j.t_s for b in group for j in trails[b].jumps[:1] if j.departs)
    most = max(LEAST, len(group) // 3 + 1)
    return any(later - sooner < BURST_S for sooner, later in zip(times, times[most - 1 :], strict=False))


def loosened(pack: Pack, trails: Mapping[int, Trail], kinks: list[Kink], frame_s: float, radius: float) -> list[Kink]:
    """The kinks with those of a pack's burst left unexplained, but for the contact that opened it."""
    inside = [k for k in kinks if k.kind != "strike" and pack.hushed(k.balls, k.t_s)]
    if not any(k.kind == "contact" and pack.breaker in k.balls for k in inside):
        return kinks  # another pack, broken by a ball of this one or breaking it, has taken the contact that opened it
    rest = [k for k in kinks if k not in inside]
    t_s, head, p = _opening(pack, trails, inside, frame_s, radius)
    out = [Kink("contact", t_s, (min(head, pack.breaker), max(head, pack.breaker)), p=p, crowd=True)]
    for b in sorted(pack.balls):
        jumps = [j for j in trails[b].jumps if t_s - BEFORE_S < j.t_s < t_s + BURST_S]
        leaves = [j for j in jumps if j.departs][:1]
        if b == head:
            jumps = [j for j in jumps if j.t_s > t_s + 1.5 * frame_s]
        named = [k for k in inside if b in k.balls and k.wall is not None]
        out += [k for k in named if k.t_s > t_s]
        times = [max(j.t_s, t_s + 1e-4) for j in jumps]
        if not leaves and b != head and trails[b].lay and any(b in k.balls for k in kinks):
            times.insert(0, t_s + 1e-4)  # where it goes off at once, cutting saw no departure
        times = [x for x in times if not any(abs(x - k.t_s) < frame_s for k in named)]
        for i, x in enumerate(times):
            if i == 0 or x > times[i - 1] + frame_s:
                out.append(Kink("free", x, (b,), crowd=True))
    later = [j.t_s for j in trails[pack.breaker].jumps if t_s + 1.5 * frame_s < j.t_s < t_s + BURST_S]
    out += [k for k in inside if k.balls == (pack.breaker,) and k.wall is not None and k.t_s > t_s]
    out += [
        Kink("free", x, (pack.breaker,), crowd=True)
        for x in later
        if not any(k.balls == (pack.breaker,) and abs(k.t_s - x) < frame_s for k in out)
    ]
    return sorted(rest + out, key=lambda k: k.t_s)


def _opening(
    pack: Pack, trails: Mapping[int, Trail], inside: list[Kink], frame_s: float, radius: float
) -> tuple[float, int, float]:
    """When the pack was met, which of its balls was met first, and how sure that is."""
    trail = trails[pack.breaker]
    lay = [b for b in pack.balls if trails[b].lay]
    meets = [k for k in inside if k.kind == "contact" and pack.breaker in k.balls]
    first = min(meets, key=lambda k: k.t_s)
    guess = next((b for b in first.balls if b != pack.breaker and trails[b].lay), lay[0])
    pieces = [p for p in trail.pieces if p.begin_s < first.t_s and float(np.hypot(*p.c[1])) > 0.1]
    if not pieces or pieces[-1].last - pieces[-1].first < 1:
        return _unseen_approach(pack, trails, first.t_s, guess, radius)
    t = np.arange(pieces[-1].begin_s, first.t_s + 3 * frame_s, 2.5e-4)
    mine = along(pieces[-1], t)
    reached: list[tuple[float, int]] = []
    for b in lay:
        gaps = np.hypot(*(mine - trails[b].rest).T) - 2 * radius
        under = np.flatnonzero(gaps < 0)
        if len(under):
            reached.append((float(t[under[0]]), b))
    if not reached:
        return first.t_s, guess, min(first.p, UNCLEAR)
    reached.sort()
    clear = len(reached) == 1 or reached[1][0] - reached[0][0] > CLEAR_S
    return reached[0][0], reached[0][1], OPENED if clear else UNCLEAR


def _unseen_approach(
    pack: Pack, trails: Mapping[int, Trail], t_s: float, guess: int, radius: float
) -> tuple[float, int, float]:
    """The opening where the breaker was too fast to be seen on its way: its way off, carried back, begins at the ball it met."""
    leaves = [j.t_s for b in pack.balls for j in trails[b].jumps[:1] if j.departs and abs(j.t_s - t_s) < BURST_S]
    t_s = float(np.median(sorted(leaves)[:3])) if leaves else t_s
    after = [p for p in trails[pack.breaker].pieces if p.end_s > t_s and float(np.hypot(*p.c[1])) > 0.0]
    if not after:
        return t_s, guess, UNCLEAR
    place = along(after[0], np.array([t_s]))[0]
    off = {b: abs(float(np.hypot(*(place - trails[b].rest))) - 2 * radius) for b in pack.balls if trails[b].lay}
    order = sorted(off, key=lambda b: off[b])
    clear = off[order[1]] - off[order[0]] > 0.5 * radius
    return t_s, order[0], FOUND_BACK if clear else UNCLEAR


def quiet(packs: list[Pack], kink: Kink) -> bool:
    """Whether a kink is of a pack's burst, where nothing is tried."""
    return any(pack.hushed(kink.balls, kink.t_s) for pack in packs)


def hush(fit: Fit, packs: list[Pack]) -> None:
    """Believe no contact that the fit has moved into a burst: its balls parted there, and met nobody knows whom."""
    for kink in fit.kinks:
        if kink.kind == "contact" and not kink.crowd and quiet(packs, kink):
            kink.p = min(kink.p, HUSHED)


def met_again(fit: Fit) -> None:
    """Mark the contacts that opened packs and were two.

    One touch of a ball that is free leaves the breaker a fiftieth of its speed toward it, forward. If it comes back, the head
    ball took more than it can in one: thrown back by those behind it, it met the breaker again, within a fraction of a
    millisecond.
    """
    for k, kink in enumerate(fit.kinks):
        if not (kink.crowd and kink.kind == "contact"):
            continue
        t = np.array([kink.t_s - 1e-5, kink.t_s + 1e-5])
        (ends, starts) = (sample(fit, b, t) for b in kink.balls)
        axis = starts[0][0] - ends[0][0]
        axis = axis / max(float(np.hypot(*axis)), 1e-9)
        before = (ends[1][0] - starts[1][0]) @ axis  # how fast they closed in
        moved = [abs(float((v[1][1] - v[1][0]) @ axis)) for v in (ends, starts)]
        lying = [i for i, b in enumerate(kink.balls) if fit.paths[b].resting and fit.kinks_of(b)[0] == k]
        if len(lying) != 1:
            continue
        push = moved[1 - lying[0]]
        kink.again = push > (1 + RESTITUTION) / 2 * float(before) + CLEARLY * float(fit.push_sigma[k])
