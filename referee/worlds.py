"""Which orders and subsets of doubtful events are plausible, and how plausible.

Only doubt that a rule can see is followed: which ball was hit first, whether enough balls reached a rail after it, what
went into a pocket or off the table, when the cue ball left the kitchen. Readings that no rule tells apart are one world.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import product

from referee.definitions import driven_to_rail
from referee.facts import Played, Situation
from referee.terms import Foul
from tracking.events import AnyEvent, Contact, Crossing, OffTable, Pocketed, RailHit

SHARE = 0.005  # readings with less than this share are not followed
_LOW = SHARE / 10
_BEAM = 128
_GRID = tuple((k / 10, 0.1 * math.exp(-k * k / 200) / math.sqrt(2 * math.pi)) for k in range(-40, 41))
_APART = 1e-6  # two contacts whose order is surer than this do not overlap


@dataclass(frozen=True, slots=True)
class Needs:
    """What the rules ask of rails and crossings on this shot.

    Parameters
    ----------
    objects_to_rail : distinct object balls that a break needs; 0 where any ball will do.
    cue_to_rail : whether the cue ball must reach one besides (14.1 break).
    crossings : object balls past the head string that matter (three-ball rule); 0 where they do not.
    first_rails : rails that do not count for the ball hit first, by ball (est 7.2).
    path : whether what the first ball meets on its way matters (the obvious shot).
    """

    objects_to_rail: int = 0
    cue_to_rail: bool = False
    crossings: int = 0
    first_rails: tuple[tuple[int, frozenset[str]], ...] = ()
    path: bool = False


@dataclass(frozen=True, slots=True)
class World:
    """One plausible reading of a shot: its weight, events in order, entered fouls, and the identities assumed."""

    weight: float
    events: tuple[AnyEvent, ...]
    entered: tuple[Foul, ...]
    identity: tuple[int, ...] = ()


def before(one: AnyEvent, other: AnyEvent) -> float:
    """Probability that one event came before another, from their times and standard deviations."""
    spread = one.sigma_s * one.sigma_s + other.sigma_s * other.sigma_s
    gap = other.t_s - one.t_s
    if spread == 0.0:
        return 1.0 if gap >= 0 else 0.0
    return 0.5 * math.erfc(-gap / math.sqrt(2.0 * spread))


def first_contacts(contacts: Sequence[Contact], legal: frozenset[int]) -> list[tuple[int, float]]:
    """Probability that each of the cue ball's contacts was the first one; -1 stands for none at all.

    Each contact exists with its ``p`` and has a normal time; P(i first) integrates over i's time the chance that no
    other contact was there before. At the same instant without any doubt the legal ball goes first (Regulation 26).
    """
    shares: list[tuple[int, float]] = []
    for i, one in enumerate(contacts):
        share, rivals = one.p, []
        for j, other in enumerate(contacts):
            if j == i:
                continue
            ahead = _was_before(other, one.t_s, one, j < i, legal) if not one.sigma_s else before(other, one)
            if _APART < ahead < 1.0 - _APART:
                rivals.append((other, ahead))
            else:
                share *= 1.0 - other.p * ahead
        if len(rivals) == 1:
            share *= 1.0 - rivals[0][0].p * rivals[0][1]
        elif rivals and one.sigma_s:
            share *= sum(
                weight
                * math.prod(1.0 - other.p * _chance_before(other, one.t_s + node * one.sigma_s) for other, _ in rivals)
                for node, weight in _GRID
            )
        else:
            share *= math.prod(1.0 - other.p * ahead for other, ahead in rivals)
        shares.append((i, share))
    shares.append((-1, math.prod(1.0 - one.p for one in contacts)))
    return shares


def _chance_before(other: Contact, t: float) -> float:
    """Probability that a contact came before an instant."""
    if other.sigma_s:
        return 0.5 * math.erfc(-(t - other.t_s) / (other.sigma_s * math.sqrt(2.0)))
    return 1.0 if other.t_s < t else 0.5 if other.t_s == t else 0.0


def _was_before(other: Contact, t: float, one: Contact, listed_before: bool, legal: frozenset[int]) -> float:
    """The same for a contact whose time is exact; at the same instant the legal ball goes first."""
    if other.sigma_s or other.t_s != t:
        return _chance_before(other, t)
    mine, his = max(one.balls) in legal, max(other.balls) in legal
    return float(his) if mine != his else float(listed_before)


def worlds(shot: Played, now: Situation, needs: Needs) -> list[World]:
    """The plausible readings of a shot, weights summing to one."""
    found: list[World] = []
    for weight, events, identity in _identities(shot):
        for share, entered in _entered(shot):
            if weight * share < SHARE:
                continue
            for part, ordered in _orders(events, shot, now, needs):
                found.append(World(weight * share * part, ordered, entered, identity))
    found.sort(key=lambda world: -world.weight)
    total = sum(world.weight for world in found)
    kept = [world for world in found if world.weight >= SHARE * total] or found[:1]
    if sum(world.weight for world in kept) < 0.97 * total:
        kept = found[: 2 * _BEAM]  # many small readings: they still decide together
    total = sum(world.weight for world in kept)
    return [replace(world, weight=world.weight / total) for world in kept]


def _identities(shot: Played) -> list[tuple[float, tuple[AnyEvent, ...], tuple[int, ...]]]:
    """Readings of who the events were about, where that is open."""
    if not shot.alternatives:
        return [(1.0, shot.events, ())]
    by_event: dict[int, list[tuple[float, tuple[int, ...] | None]]] = {}
    for other in shot.alternatives:
        by_event.setdefault(other.event, []).append((other.p, other.balls))
    choices = []
    for options in by_event.values():
        rest = max(0.0, 1.0 - sum(p for p, _ in options))
        choices.append([(rest, None), *options])
    readings = []
    for combination in product(*choices):
        weight = math.prod(p for p, _ in combination)
        if weight < SHARE:
            continue
        events = list(shot.events)
        assumed: list[int] = []
        for at, (_, balls) in zip(by_event, combination, strict=True):
            if balls is not None:
                event = events[at]
                events[at] = (
                    replace(event, balls=(min(balls), max(balls)))
                    if isinstance(event, Contact)
                    else replace(event, ball=balls[0])
                )
                assumed.extend(balls)
        readings.append((weight, tuple(events), tuple(assumed)))
    return readings


def _entered(shot: Played) -> list[tuple[float, tuple[Foul, ...]]]:
    sure = tuple(foul for foul, p in shot.observed if p >= 1.0)
    open_ones = [(foul, p) for foul, p in shot.observed if 0.0 < p < 1.0]
    readings = [(1.0, sure)]
    for foul, p in open_ones:
        readings = [(w * q, fouls + extra) for w, fouls in readings for q, extra in ((p, (foul,)), (1 - p, ()))]
    return readings


def _orders(
    events: tuple[AnyEvent, ...], shot: Played, now: Situation, needs: Needs
) -> Iterable[tuple[float, tuple[AnyEvent, ...]]]:
    """Readings of existence and order, branch by branch: first contact, then pockets, then rails and crossings."""
    contacts = [event for event in events if isinstance(event, Contact) and event.balls[0] == 0]
    firsts = first_contacts(contacts, now.legal_first)
    fates = _fates(events)
    for index, share in firsts:
        if share < _LOW:
            continue
        first = contacts[index] if index >= 0 else None
        for weight, gone in fates:
            if share * weight < _LOW:
                continue
            yield from _with_rails(share * weight, first, gone, events, contacts, shot, now, needs)


def _fates(events: tuple[AnyEvent, ...]) -> list[tuple[float, frozenset[int]]]:
    """Which doubtful pockets and off-table events happened: sets of event numbers that did not, with their weight."""
    by_ball: dict[int, list[int]] = {}
    for number, event in enumerate(events):
        if isinstance(event, Pocketed | OffTable) and event.p < 1.0:
            by_ball.setdefault(event.ball, []).append(number)
    readings: list[tuple[float, frozenset[int]]] = [(1.0, frozenset())]
    for numbers in by_ball.values():
        everything = frozenset(numbers)
        total = sum(events[n].p for n in numbers)
        if total <= 1.0 + 1e-6:  # one ball goes one way: the events exclude each other
            options = [(events[n].p, everything - {n}) for n in numbers] + [(max(0.0, 1.0 - total), everything)]
        else:
            best = max(numbers, key=lambda n: events[n].p)
            options = [(events[best].p, everything - {best}), (1.0 - events[best].p, everything)]
        readings = [(w * p, gone | absent) for w, gone in readings for p, absent in options if p > 0]
        if len(readings) > _BEAM:
            readings = sorted(readings, key=lambda reading: -reading[0])[:_BEAM]
    return readings


def _with_rails(
    weight: float,
    first: Contact | None,
    gone: frozenset[int],
    events: tuple[AnyEvent, ...],
    contacts: Sequence[Contact],
    shot: Played,
    now: Situation,
    needs: Needs,
) -> Iterable[tuple[float, tuple[AnyEvent, ...]]]:
    """Readings of what happened beside the first contact and the pockets given, merged as far as the rules see it."""
    early: list[AnyEvent] = []
    late: list[AnyEvent] = []
    doubtful_rails: dict[int, list[tuple[float, RailHit]]] = {}
    doubtful_crossings: list[tuple[float, Crossing]] = []
    leaving: list[tuple[float, float, Crossing]] = []  # before the contact, after it
    path: list[tuple[float, AnyEvent]] = []
    down: set[int] = set()
    uncounted = dict(needs.first_rails)
    for number, event in enumerate(events):
        if number in gone:
            continue
        if event is first:
            continue
        after = 1.0 if first is None else before(first, event)
        happens = event.p
        if isinstance(event, Pocketed | OffTable):
            down.add(event.ball)
            late.append(event)
        elif isinstance(event, RailHit) and first is not None:
            frozen = set(shot.frozen_rails.get(event.ball, ()))
            if event.ball == max(first.balls):
                frozen |= uncounted.get(event.ball, frozenset())
            counts = driven_to_rail(event.rail, frozen, event.leaves_first)
            q = happens * after
            if counts and _LOW <= q < 1.0 - _LOW:
                doubtful_rails.setdefault(event.ball, []).append((q, event))
            elif q >= 0.5:
                late.append(event)
            elif happens >= 0.5:
                early.append(event)
        elif (
            isinstance(event, Crossing)
            and event.line == "head-string"
            and now.from_kitchen
            and not event.ball
            and first is not None
        ):
            leaving.append((happens * (1 - after), happens * after, event))
        elif isinstance(event, Crossing) and needs.crossings and event.ball and happens < 1.0:
            doubtful_crossings.append((happens, event))
        elif needs.path and first is not None and happens < 1.0 and _on_path(event, max(first.balls)):
            path.append((happens, event))
        elif happens >= 0.5:
            (late if after >= 0.5 or (isinstance(event, Contact) and event.balls[0] == 0) else early).append(event)
    head = [] if first is None else [first]
    readings: list[tuple[float, list[AnyEvent], list[AnyEvent]]] = [(weight, early, late)]
    if first is not None:
        readings = _rail_readings(readings, doubtful_rails, down, events, late, needs)
    for q, event in doubtful_crossings[:6]:
        readings = [
            (w * share, a, b)
            for w, e, g in readings
            for share, a, b in ((q, e, [*g, event]), (1 - q, e, g))
            if w * share >= _LOW
        ]
    for q_before, q_after, crossing in leaving[:2]:
        readings = [
            (w * share, a, b)
            for w, e, g in readings
            for share, a, b in (
                (q_before, [*e, crossing], g),
                (q_after, e, [crossing, *g]),
                (1 - q_before - q_after, e, g),
            )
            if w * share >= _LOW
        ]
    for q, event in path[:4]:
        readings = [
            (w * share, a, b)
            for w, e, g in readings
            for share, a, b in ((q, e, [*g, event]), (1 - q, e, g))
            if w * share >= _LOW
        ]
    for share, a, b in readings:
        yield share, (*sorted(a, key=_time), *head, *sorted(b, key=_time))


def _time(event: AnyEvent) -> float:
    return event.t_s


def _on_path(event: AnyEvent, ball: int) -> bool:
    balls = event.balls if isinstance(event, Contact) else (event.ball,)
    return ball in balls


def _rail_readings(
    readings: list[tuple[float, list[AnyEvent], list[AnyEvent]]],
    doubtful: dict[int, list[tuple[float, RailHit]]],
    down: set[int],
    events: tuple[AnyEvent, ...],
    late: list[AnyEvent],
    needs: Needs,
) -> list[tuple[float, list[AnyEvent], list[AnyEvent]]]:
    """Merge doubtful rails into as many readings as the rules tell apart: enough balls or not, cue ball or not."""
    sure = {event.ball for event in late if isinstance(event, RailHit)} | down
    open_balls = {ball: _any(rails) for ball, rails in doubtful.items() if ball not in sure}
    if not open_balls:
        return readings
    groups: list[tuple[float, set[int]]]
    if not needs.objects_to_rail:
        if sure:
            return readings
        none = math.prod(1 - q for q in open_balls.values())
        groups = [(1 - none, {max(open_balls, key=lambda ball: open_balls[ball])}), (none, set())]
    else:
        objects = {ball: q for ball, q in open_balls.items() if ball}
        enough, chosen, short = _enough(objects, needs.objects_to_rail - len(sure - {0}))
        groups = [(enough, chosen), (1 - enough, short)]
        if 0 in open_balls:
            q = open_balls[0]
            groups = [(w * s, balls | extra) for w, balls in groups for s, extra in ((q, {0}), (1 - q, set[int]()))]
    return [
        (w * share, early, [*after, *(_likeliest(doubtful[ball]) for ball in balls)])
        for w, early, after in readings
        for share, balls in groups
        if w * share >= _LOW
    ]


def _any(rails: list[tuple[float, RailHit]]) -> float:
    return 1.0 - math.prod(1.0 - q for q, _ in rails)


def _likeliest(rails: list[tuple[float, RailHit]]) -> RailHit:
    return max(rails, key=lambda pair: pair[0])[1]


def _enough(balls: dict[int, float], needed: int) -> tuple[float, set[int], set[int]]:
    """Probability that at least ``needed`` of the balls are driven to a rail, and a set that shows each case."""
    order = sorted(balls, key=lambda ball: -balls[ball])
    if needed <= 0:
        return 1.0, {ball for ball in order if balls[ball] >= 0.5}, set()
    counts = [1.0] + [0.0] * needed  # counts[k]: exactly k so far, the last one: needed or more
    for ball in order:
        q = balls[ball]
        counts[needed] += counts[needed - 1] * q
        for k in range(needed - 1, 0, -1):
            counts[k] = counts[k] * (1 - q) + counts[k - 1] * q
        counts[0] *= 1 - q
    likely = {ball for ball in order if balls[ball] >= 0.5}
    return counts[needed], set(order[:needed]) | likely, set(order[: needed - 1])
