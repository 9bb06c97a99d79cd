"""A shot as it was seen: events with doubt, paths, and how sure the order of close contacts is."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Literal

import numpy as np
from scipy.special import stdtr

from calibration.table import RAILS, Table
from tracking.events import AnyEvent, Contact, OffTable, Pocketed, RailHit, RailName, Shot, Strike
from tracking.joint import sample
from tracking.observations import Floats
from tracking.reconstruct import Reading

FROZEN = 0.0025  # metres between ball and rail, or ball and cue ball, that count as touching
HONEST = 1.25  # simulated shots err by this much more than the fit's covariance says
TAILS = 3  # degrees of freedom of time errors: a kink read wrongly errs far
AT_ONCE_S = 0.0002  # after which a head ball that cannot give way meets the breaker again
AGAIN = 0.9  # probability that it was met twice, not once for long
TIME_FLOOR = 0.0004  # seconds no time is known better than


@dataclass(frozen=True, slots=True)
class Order:
    """Two contacts close in time: indices into the shot's events, and the probability that the first is the earlier."""

    first: int
    second: int
    p: float


@dataclass(frozen=True, slots=True)
class SeenShot:
    """A shot with what only those who draw or judge it need.

    Parameters
    ----------
    shot : the facts, balls by number.
    paths : ball -> (k, 3) ``t_s, x, y`` in seconds and metres, table frame, every look and every kink.
    order : contacts of one ball closer than five standard deviations.
    frictions : sliding and rolling deceleration in this shot, m/s².
    """

    shot: Shot
    paths: dict[int, Floats]
    order: tuple[Order, ...] = ()
    frictions: tuple[float, float] = (0.0, 0.0)


@dataclass(slots=True)
class RawShot:
    """A shot by track, before numbers are given."""

    reading: Reading
    begin_s: float
    end_s: float
    opener: int | None
    partial: Literal["", "start", "end", "both"] = ""
    observed: tuple[str, ...] = ()
    suspected: dict[str, float] = field(default_factory=dict)


def name_shot(raw: RawShot, number: int, names: Mapping[int, int], sure: Mapping[int, float], table: Table) -> SeenShot:
    """Give a raw shot its ball numbers and write its events."""
    reading, fit = raw.reading, raw.reading.fit
    drawn: list[tuple[float, AnyEvent, int]] = []
    for k, kink in enumerate(fit.kinks):
        if not all(b in names for b in kink.balls):
            continue
        sigma = math.hypot(HONEST * kink.sigma_s, TIME_FLOOR)
        at = [sample(fit, b, np.array([kink.t_s]))[0][0] for b in kink.balls]
        balls = [names[b] for b in kink.balls]
        if len(set(balls)) < len(balls):  # two pieces of one ball's track: no ball meets itself
            continue
        event: AnyEvent | None = None
        if kink.kind == "strike":
            event = Strike(t_s=kink.t_s, sigma_s=sigma, p=kink.p, ball=balls[0])
        elif kink.kind == "contact":
            mid = (at[0] + at[1]) / 2
            pair = (min(balls), max(balls))
            event = Contact(t_s=kink.t_s, sigma_s=sigma, p=kink.p, balls=pair, at=(float(mid[0]), float(mid[1])))
        elif kink.kind in ("rail", "jaw"):
            rail = _rail_name(kink.wall, at[0], table)
            event = RailHit(
                t_s=kink.t_s, sigma_s=sigma, p=kink.p, ball=balls[0], rail=rail, at=(float(at[0][0]), float(at[0][1]))
            )
        if event is not None:
            drawn.append((kink.t_s, event, k))
        if isinstance(event, Contact) and kink.again:
            second = replace(event, t_s=event.t_s + AT_ONCE_S, p=AGAIN * event.p)
            drawn.append((second.t_s, second, k))
    for b, drop in reading.drops.items():
        if b not in names:
            continue
        if drop.pocket is None:
            drawn.append((drop.t_s, OffTable(t_s=drop.t_s, sigma_s=drop.sigma_s, p=drop.p, ball=names[b]), -1))
        else:
            drawn.append(
                (
                    drop.t_s,
                    Pocketed(
                        t_s=drop.t_s, sigma_s=drop.sigma_s, p=drop.p, ball=names[b], pocket=drop.pocket,
                        hung_s=drop.hung_s or 0.0,
                    ),
                    -1,
                )
            )  # fmt: skip
    drawn.sort(key=lambda row: row[0])
    start = {names[b]: (float(p[0]), float(p[1])) for b, p in reading.starts.items() if b in names}
    end = {names[b]: (float(p[0]), float(p[1])) for b, p in reading.ends.items() if b in names}
    cue = start.get(0)
    frozen_rails: dict[int, tuple[RailName, ...]] = {}
    for ball, at_rest in start.items():
        touching: tuple[RailName, ...] = tuple(
            r for r in ("head", "foot", "left", "right") if table.rail_gap(at_rest, r) < FROZEN
        )
        if touching:
            frozen_rails[ball] = touching
    frozen_cue = tuple(b for b, p in start.items() if cue and b and math.dist(p, cue) - table.ball_m < FROZEN)
    shot = Shot(
        number=number, start_s=raw.begin_s, end_s=raw.end_s, start=start, end=end, events=tuple(e for _, e, _ in drawn),
        frozen_rails=frozen_rails, frozen_cue=frozen_cue, observed=raw.observed, suspected=dict(raw.suspected),
        partial=raw.partial, identity_p={names[b]: float(sure.get(b, 0.0)) for b in reading.starts if b in names},
    )  # fmt: skip
    return SeenShot(shot, _paths(reading, names, raw), _orders(drawn, reading), (fit.slide, fit.roll))


def _rail_name(wall: tuple[int, float, float] | None, at: Floats, table: Table) -> RailName:
    if wall is not None:
        if wall[0] == 0:
            return "left" if wall[2] > 0 else "right"
        return "head" if wall[2] > 0 else "foot"
    gaps = {rail: abs(table.rail_gap((float(at[0]), float(at[1])), rail)) for rail in RAILS}
    name = min(gaps, key=lambda rail: gaps[rail])
    return "head" if name == "head" else "foot" if name == "foot" else "left" if name == "left" else "right"


def _orders(drawn: list[tuple[float, AnyEvent, int]], reading: Reading) -> tuple[Order, ...]:
    """How sure the order of a ball's close contacts is."""
    out = []
    cov = reading.fit.time_cov
    contacts = [(i, e, k) for i, (_, e, k) in enumerate(drawn) if isinstance(e, Contact)]
    for a, (i, first, k) in enumerate(contacts):
        for j, second, m in contacts[a + 1 :]:
            if not set(first.balls) & set(second.balls):
                continue
            var = HONEST**2 * max(float(cov[k, k] + cov[m, m] - 2 * cov[k, m]), 0.0) + 2 * TIME_FLOOR**2
            z = (second.t_s - first.t_s) / math.sqrt(var)
            if z < 5.0:
                out.append(Order(i, j, float(stdtr(TAILS, z))))
    return tuple(out)


def _paths(reading: Reading, names: Mapping[int, int], raw: RawShot) -> dict[int, Floats]:
    out: dict[int, Floats] = {}
    fit = reading.fit
    frames = np.unique(np.concatenate([k.times for k in reading.looks.values()] or [np.zeros(0)]))
    for b, path in fit.paths.items():
        if b not in names or not len(path.times):
            continue
        until = reading.drops[b].t_s if b in reading.drops else raw.end_s
        kinks = [k.t_s for k in fit.kinks if b in k.balls]
        t = np.unique(np.concatenate([frames[(frames >= raw.begin_s) & (frames <= until)], kinks]))
        t = t[t <= until + 1e-9]
        xy = sample(fit, b, t)[0]
        out[names[b]] = np.column_stack([t, xy])
    return out
