"""Turns the looks of one shot, from rest to rest, into arcs and events: cut, explain, fit together, check, name."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from calibration.table import Table
from tracking import motion, noise, packs, pockets
from tracking.amend import LAST, PASSING, Amender, Sketch, Trial
from tracking.checks import meetings, needless, overlooked, unnamed, weigh
from tracking.draft import Draft, Row, among, row_of
from tracking.guess import first_fit, thin
from tracking.impacts import Explainer
from tracking.joint import Fit, Kink, Path, sample, stop_time
from tracking.kinks import cut, resting_piece, shifted
from tracking.looks import Looks
from tracking.observations import Floats
from tracking.opening import TOUCHING
from tracking.outset import outsets
from tracking.relays import approaches, relays
from tracking.trails import Trail, bridged, first_away, jumps_of, rests, tidy
from tracking.trials import candidates, explanations, squeezes, swaps

LEAD_S = 0.25  # looks kept before a ball starts and after it stops
LEAST_REST_S = 0.15  # a ball seen in one place for so long from the first look on lay there
UNSEEN = (0.3, 6)  # seconds and looks in a row without a ball after which it is no longer there
UNSEEN_MOUTH = (0.15, 4)  # the same in a pocket's mouth
MERCY = 10.0  # cost that an event which geometry asks for may bring
ROUNDS = 4  # of amending, at most
ROUNDS_WAITED = 2  # where a draft has had them already and somebody waits
LEAST_P = 0.1  # touches of a pocket's point less likely than this are not told
MOVED = 0.003  # metres a ball's place must change for it to have moved


@dataclass(slots=True)
class Reading:
    """What was made of a shot, by track."""

    fit: Fit
    starts: dict[int, Floats]
    ends: dict[int, Floats]
    drops: dict[int, pockets.Drop]
    movers: list[int]
    end_s: float
    frame_s: float
    looks: dict[int, Looks] = field(default_factory=dict)
    refused: tuple[Row, ...] = ()
    needed: tuple[Row, ...] = ()


def reconstruct(
    looks: Mapping[int, Looks], table: Table, *, begin_s: float, end_s: float, exposure_s: float = 0.0,
    prior: tuple[float, float, float, float] = (motion.SLIDE, motion.ROLL, 0.5, 0.03), cue: int | None = None,
    struck: int | None = None, from_start: bool = True, draft: Draft | None = None,
) -> Reading:  # fmt: skip
    """Read one shot.

    Parameters
    ----------
    looks : by track, from a little before ``begin_s`` (the first motion) to ``end_s`` (all at rest, or cut off).
    table : geometry.
    exposure_s : shutter time, 0 where unknown.
    prior : frictions and one sigma each (``tracking.joint.solve``).
    cue : the track that is most likely the cue ball's.
    struck : the track that the tip is known to have sent off, where other balls were moving already.
    from_start : whether balls may have moved before the first look.
    draft : a reading of the same looks as far as they had come (`Draft.holds`).
    """
    frame = _frame(looks, begin_s, end_s)
    inside = {b: k.times >= begin_s - 0.1 for b, k in looks.items()}
    level = noise.measure((k.times[inside[b]], k.xy[inside[b]], k.cov[inside[b]]) for b, k in looks.items())
    looks = {
        b: Looks(k.track, k.times, k.xy, noise.widen(k.times, k.xy, k.cov, level), k.rest) for b, k in looks.items()
    }
    begin_s, since = outsets(looks, begin_s, table.ball_radius)
    clock = np.unique(np.concatenate([k.times for k in looks.values()] or [np.zeros(0)]))
    trails: dict[int, Trail] = {}
    starts: dict[int, Floats] = {}
    ends: dict[int, Floats] = {}
    kept: dict[int, tuple[Floats, Floats, Floats]] = {}
    for b, seen in list(looks.items()):
        if not len(seen.times):
            continue
        seen = looks[b] = rested(seen, begin_s - frame)
        rest = seen.rest if seen.rest is not None else seen.xy[0]
        starts[b] = rest
        unseen = float(seen.times[-1])
        # at a mouth a ball that is not seen has gone down, sooner than one that a hand may hide
        waits, looks_due = UNSEEN if pockets.mouth_gap(seen.xy[-1], table) > pockets.NEAR else UNSEEN_MOUTH
        vanished = unseen < end_s - max(waits, looks_due * frame) and int((clock > unseen).sum()) >= looks_due
        span = moving_span(seen, rest, vanished, since.get(b, begin_s) - 2 * frame)
        if span is None:
            trails[b] = Trail(b, [], rest, [])
            if vanished and float(seen.times[-1]) > begin_s - 0.1:
                trails[b].end_s = float(seen.times[-1])
            else:
                ends[b] = rest
            continue
        on = slice(span[0], span[1])
        times, xy, cov = seen.times[on], seen.xy[on], seen.cov[on]
        times, xy, cov = pockets.on_cloth(times, xy, cov, table)
        if len(times) < 3:
            trails[b] = Trail(b, [], rest, [])
            continue
        sigma = float(np.sqrt(np.trace(cov.mean(axis=0)) / 2))
        still = int(np.searchsorted(times, seen.times[span[2]]))
        if (
            seen.rest is None or not still or times[still - 1] - times[0] < LEAST_REST_S
        ):  # a hand lingers for a look or two
            still = 0
        # a ball that lay there cannot bend away: its looks at rest are a piece of their own
        pieces = [resting_piece(times[:still], rest)] if still else []
        pieces += [shifted(p, still) for p in cut(times[still:], xy[still:], cov[still:])]
        pieces, stray = tidy(pieces, sigma)
        good = np.ones(len(times), dtype=np.bool_)
        good[stray] = False
        if not good.any():
            continue
        pieces = bridged(pieces, rest, 0.6 * frame)
        away = first_away(times[good], xy[good], cov[good], rest)
        trail = Trail(b, pieces, rest, jumps_of(b, pieces, 0.6 * frame, rest, away))
        cut_short = bool(stray) and max(stray) == len(times) - 1 and times[good][-1] < end_s - 0.5
        if vanished or (cut_short and not rests(pieces[-1])):
            trail.end_s = float(times[good][-1])
        trails[b] = trail
        kept[b] = (times[good], xy[good], cov[good])
    explainer = Explainer(trails, table, frame, cue, struck, from_start)
    kinks = explainer.explain()
    opener = next((k.balls[0] for k in kinks if k.kind == "strike"), None)
    broke = packs.broken(trails, kinks, table.ball_radius, opener)
    for pack in broke:
        kinks = packs.loosened(pack, trails, kinks, frame, table.ball_radius)
    if draft is not None:
        kinks = draft.carried_on(kinks)
    for b, trail in trails.items():
        if b not in kept and np.isfinite(trail.end_s):
            before = looks[b].times < begin_s - 0.05
            before[-1] = False  # gone before anything moved: its last look says where
            kept[b] = (looks[b].times[~before], looks[b].xy[~before], looks[b].cov[~before])
    movers = [b for b in kept if trails[b].moves() or np.isfinite(trails[b].end_s) or any(b in k.balls for k in kinks)]
    fit = first_fit(looks, movers, kept, trails, starts, kinks, table, exposure_s, prior, frame, draft)
    fit, refused, needed = _amended(fit, looks, kept, trails, starts, table, exposure_s, frame, broke, draft)
    weigh(fit)
    _struck_through(fit, starts, table, frame)
    packs.met_again(fit)
    packs.hush(fit, broke)
    drops, last = {}, begin_s
    for b in movers:
        seen = looks[b]
        vanished = np.isfinite(trails[b].end_s)
        drop = pockets.find(b, fit, float(kept[b][0][-1]), table, frame) if vanished else None
        stop = stop_time(fit, b)
        if drop is not None:
            drops[b] = drop
            graze = pockets.touch(b, fit, drop, float(kept[b][0][-1]), table)
            if graze is not None and graze.p > LEAST_P:
                fit = with_touch(fit, b, graze)
            last = max(last, drop.t_s)
        elif vanished:
            last = max(last, float(seen.times[-1]))
        else:
            ends[b] = np.median(seen.xy[-min(10, len(seen.xy)) :], axis=0)
            last = max(last, min(stop, end_s))
    return Reading(fit, starts, ends, drops, movers, last, frame, dict(looks), tuple(refused), tuple(needed))


def _struck_through(fit: Fit, starts: Mapping[int, Floats], table: Table, frame_s: float) -> None:
    """A ball struck while it touches another sends that off at once: the stroke is when they part, and as strong as that push."""
    for i, strike in enumerate(fit.kinks):
        if strike.kind != "strike":
            continue
        b = strike.balls[0]
        for j, kink in enumerate(fit.kinks):
            if kink.kind != "contact" or b not in kink.balls or not 0 <= kink.t_s - strike.t_s < 3.0 * frame_s:
                continue
            gap = float(np.hypot(*(starts[kink.balls[0]] - starts[kink.balls[1]]))) - table.ball_m
            if gap < TOUCHING and fit.push[i] < fit.push[j]:
                strike.t_s, strike.sigma_s, strike.p = kink.t_s - 2e-5, kink.sigma_s, max(strike.p, kink.p)
                fit.push[i] = fit.push[j]


def with_touch(fit: Fit, ball: int, graze: pockets.Touch) -> Fit:
    """The fit with one more kink at its end, which no look shows: the arc behind it goes on as it went before."""
    path, start = fit.paths[ball], fit.paths[ball].begin_s
    ks = fit.kinks_of(ball)
    if ks:
        start = fit.kinks[ks[-1]].t_s
    flight = motion.fly(path.arcs[-1:], np.array([graze.t_s - start]), fit.slide, fit.roll)
    arc = np.concatenate([flight.x[0], flight.v[0], flight.r[0]])
    n = len(fit.kinks)
    cov = np.zeros((n + 1, n + 1))
    cov[:n, :n] = fit.time_cov
    cov[n, n] = graze.sigma_s**2
    return replace(
        fit,
        paths=fit.paths | {ball: replace(path, arcs=np.vstack([path.arcs, arc]))},
        kinks=[*fit.kinks, Kink("jaw", graze.t_s, (ball,), p=graze.p, sigma_s=graze.sigma_s)],
        time_cov=cov,
        push=np.append(fit.push, 0.0),
        push_sigma=np.append(fit.push_sigma, 0.0),
    )


def _amended(
    fit: Fit, looks: Mapping[int, Looks], kept: dict[int, tuple[Floats, Floats, Floats]], trails: dict[int, Trail],
    starts: dict[int, Floats], table: Table, exposure_s: float, frame_s: float, broke: list[packs.Pack], draft: Draft | None,
) -> tuple[Fit, list[Row], list[Row]]:  # fmt: skip
    """The fit with what its own arcs refuse taken out, and with what they ask for put in; what was tried in vain, and what seemed
    needless and is not."""

    def lying(b: int, t_s: float) -> Path:
        times, xy, cov = kept[b] if b in kept else (looks[b].times, looks[b].xy, looks[b].cov)
        times, xy, cov = thin(times, xy, cov, starts[b], t_s, True, looks[b], trails[b])
        arcs = np.concatenate([starts[b], np.zeros(4)])[None]
        return Path(b, times, xy, cov, float(times[0]) if len(times) else 0.0, arcs, True)

    amender = Amender(table, frame_s, exposure_s, lying)
    if draft is not None:
        amender.refused += [row for row in draft.refused if row[2] <= draft.settled_s]
    refused: set[tuple[str, tuple[int, ...]]] = set()
    balls = list(trails)
    ends = {b: t.end_s for b, t in trails.items() if np.isfinite(t.end_s)}
    needed = [] if draft is None else [row for row in draft.needed if row[2] <= draft.settled_s]
    stuck: Fit | None = (
        None  # the reading that could not do without what seemed needless: the same again would end the same
    )
    kept_in: list[Row] = []
    for _ in range(ROUNDS if draft is None else ROUNDS_WAITED):
        loose = (fit.slide, fit.roll, 0.3, 0.02)
        if unnamed(fit):
            fit = amender.settle(Sketch.of(fit), loose)
        idle = needless(fit, frame_s)
        met, merged = meetings(fit, table, frame_s, trails)
        idle = {i for i in idle if not among(fit.kinks[i], needed, frame_s)}
        if all(among(k, needed, frame_s) for k in met):
            met, merged = [], set()
        doubted = bool(idle or met) and fit is not stuck
        if doubted:
            amender.refuse(fit.kinks[i] for i in idle)
            more = [Trial(k) for k in met]
            better = amender.settle_near(amender.changed(fit, idle | merged, more), loose, fit)
            if better is None:
                stuck, kept_in = fit, [row_of(fit.kinks[i]) for i in idle] + [row_of(k) for k in met]
                if draft is not None:
                    needed, kept_in = needed + kept_in, []
            else:
                fit = better
        missing = [k for k in overlooked(fit, table, frame_s, trails) if (k.kind, k.balls) not in refused]
        missing = [k for k in missing if not packs.quiet(broke, k)]
        if missing:
            trial = amender.settle(amender.changed(fit, set(), [Trial(k) for k in missing]), loose)
            if trial.cost < fit.cost + MERCY:
                fit = trial
            else:  # balls may pass over each other (a jump shot), or a track may be wrong
                refused |= {(k.kind, k.balls) for k in missing}

        def places(b: int, t: Floats, fit: Fit = fit) -> Floats:
            return sample(fit, b, t)[0] if b in fit.paths else np.tile(trails[b].rest, (len(t), 1))

        until = max((stop_time(fit, b) for b in fit.paths), default=0.0)
        until = min(until, max((float(k.times[-1]) for k in looks.values() if len(k.times)), default=until))
        trials = squeezes(fit, frame_s, table, places, balls)
        trials += swaps(fit, frame_s)
        trials = approaches(fit, frame_s, table.ball_radius) + trials
        trials += relays(fit, frame_s, places, table.ball_radius)
        trials += explanations(fit, frame_s, table, places, balls, ends)
        trials += candidates(fit, table, frame_s, places, balls, ends, until)
        trials = [t for t in trials if not amender.tried(t) and not packs.quiet(broke, t.kink)]
        sketch = amender.amend(fit, trials)
        better = None if sketch is None else amender.settle_near(sketch, loose, fit)
        if better is not None:
            fit = better
        elif fit is stuck or not (doubted or missing):
            break
    # a draft came to rest in its valley already
    again, steps = (2, LAST) if draft is None else (1, PASSING)
    return (
        amender.settle(Sketch.of(fit), (fit.slide, fit.roll, 0.3, 0.02), again=again, steps=steps),
        amender.refused,
        needed + kept_in,
    )


def _frame(looks: Mapping[int, Looks], begin_s: float, end_s: float) -> float:
    times = np.unique(np.concatenate([k.times for k in looks.values()] or [np.zeros(0)]))
    times = times[(times > begin_s - 0.02) & (times < end_s + 0.02)]
    return float(np.median(np.diff(times))) if len(times) > 2 else 1 / 30


def rested(seen: Looks, until_s: float) -> Looks:
    """The looks with a place of rest, if those before ``until_s`` show one that the tracker had not settled on yet."""
    if seen.rest is not None:
        return seen
    count = int((seen.times < until_s).sum())
    n = count if count >= 2 else min(5, len(seen.times))
    place = np.median(seen.xy[:n], axis=0)
    sigma = np.sqrt(np.trace(seen.cov[:n], axis1=1, axis2=2) / 2)
    off = np.hypot(*(seen.xy[:n] - place).T) / sigma
    half = n // 2
    drift = np.hypot(*(np.median(seen.xy[half:n], axis=0) - np.median(seen.xy[: max(half, 1)], axis=0))) / sigma.mean()
    lies = float(np.median(off)) < 2.0 and float(drift) < 2.5
    long_enough = n >= 2 and seen.times[n - 1] - seen.times[0] > LEAST_REST_S
    return replace(seen, rest=place) if lies and long_enough else seen


def moving_span(seen: Looks, rest: Floats, vanished: bool, begin_s: float = -np.inf) -> tuple[int, int, int] | None:
    """First and last (exclusive) look of the part in which the ball moves, with a lead, and the first look that may show
    it away from ``rest``; None where it does not move. A ball that rested rests at least until ``begin_s``, the first motion."""
    sigma = np.sqrt(np.trace(seen.cov, axis1=1, axis2=2) / 2)
    off = np.hypot(*(seen.xy - rest).T)
    if seen.rest is not None:
        off[seen.times < begin_s] = 0.0
    far = off > np.maximum(4.5 * sigma, 0.005)
    tail = min(15, len(off))
    shift = float(np.hypot(*(np.median(seen.xy[-tail:], axis=0) - rest)))
    loose = float(sigma.mean()) / np.sqrt(tail)
    pairs = far[1:] & far[:-1]
    if not pairs.any() and shift < max(MOVED, 5 * loose) and not (vanished and far[-1:].any()):
        return None
    starts = np.flatnonzero(far)
    first = int(starts[0]) if len(starts) else 0
    if pairs.any():
        first = int(np.argmax(pairs))  # one look far off is a stray
    elif shift >= MOVED:
        ahead = np.flatnonzero(off > 2.5 * sigma)
        first = int(ahead[0]) if len(ahead) else 0
    end = seen.xy[-1] if vanished else np.median(seen.xy[-tail:], axis=0)
    back = np.hypot(*(seen.xy - end).T) > np.maximum(3 * sigma, 0.003)
    stops = np.flatnonzero(back)
    last = len(off) if vanished or not len(stops) else int(stops[-1]) + 1
    t = seen.times
    out = first
    while out > 0 and off[out - 1] > 2.5 * sigma[out - 1]:  # it may have set out some looks before that was clear
        out -= 1
    if off[out] < 6.0 * sigma[out]:  # a slow one all the more
        out = max(out - 1, 0)
    begin = max(min(int(np.searchsorted(t, t[out] - LEAD_S)), out - 5), 0)
    finish = int(np.searchsorted(t, t[min(max(last, first + 1), len(t) - 1)] + LEAD_S, side="right"))
    return begin, finish, out
