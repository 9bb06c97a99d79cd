"""Tells shots from what else moves balls: a hand, a sleeve, a rack being set; and one stroke from the next."""

from __future__ import annotations

import math
from collections.abc import Set
from dataclasses import dataclass
from typing import Literal

import numpy as np

from calibration.table import Table
from tracking.joint import Fit, sample
from tracking.observations import Floats
from tracking.reconstruct import Reading

Kind = Literal["shot", "touched", "moved"]

LEAST_SPEED = 0.10  # m/s, slower starts are no strokes
LEAST_WAY = 0.012  # metres some ball must travel in a shot
ROUGH = 12.0  # mean squared misfit / 2 of a ball that a hand carries: it does not roll freely
WILD = 250.0  # the same, of no free path at all
LAST_S = 0.3  # before a ball lies still
SHORT_M = 0.03  # metres that no rolling ball covers in that time: half of that on the slowest cloth
BRUSHED_M = (0.004, 0.35)  # metres a ball moves that a sleeve or a hand brushes; farther, it is being placed
BRUSHED_MOST = 2  # balls; more are being arranged
BREAKS = 2.0  # m/s with which a ball that is struck opens a pack, and that no hand gives a ball that it puts somewhere
WRONG_BALL = 0.5  # m/s above which an object ball that starts was struck, not brushed
STILL = 0.06  # m/s, a ball slower than this lies
AGAIN_S = 0.25  # after a stroke before the next may come
STRUCK = 0.2  # m/s, the least push that is a second stroke
APART_M = 0.02  # from every other ball, metres, where no contact can have sent the cue ball off
PASSED = (0.12, 0.3)  # metres between centres and m/s with which another ball goes by
ROLLING = 0.04  # m/s above which a ball surely moved when the next stroke came
WENT_M = 0.006  # metres it must have gone on after that


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a stretch of motion was: ``shot`` (with the ball struck and when), ``touched`` or ``moved`` by hand."""

    kind: Kind
    opener: int | None = None
    start_s: float = 0.0


def judge(
    reading: Reading, *, begin_s: float, from_start: bool, cue: int | None, cue_sure: bool, rested: Set[int]
) -> Verdict:
    """Say what a stretch of motion was.

    Parameters
    ----------
    reading : of the stretch.
    begin_s : when it began.
    from_start : balls moved already when the camera began to look.
    cue, cue_sure : the track most like the cue ball, and whether there is no doubt that it is.
    rested : tracks that lay at rest before.
    """
    fit = reading.fit
    strike = next((k for k, kink in enumerate(fit.kinks) if kink.kind == "strike"), None)
    if strike is None:
        seen = from_start and _farthest(reading) > LEAST_WAY and len(fit.kinks) + len(reading.drops) > 0
        seen |= cue_sure and cue in rested and cue in reading.movers and _fastest(reading, cue) > BREAKS
        return Verdict("shot", None, begin_s) if seen else Verdict(_by_hand(reading, cue, rested))
    opener = fit.kinks[strike].balls[0]
    opened = any(k.crowd and k.kind == "contact" and opener in k.balls for k in fit.kinks)
    if opened and fit.push[strike] > BREAKS:  # no hand throws a ball at a pack so fast
        return Verdict("shot", opener, fit.kinks[strike].t_s)
    hits = sum(k.kind in ("contact", "rail") for k in fit.kinks)
    if (
        cue_sure and opener == cue and opener in rested and _fastest(reading, opener) > BREAKS and hits > 1
    ):  # whatever its first look says
        return Verdict("shot", opener, fit.kinks[strike].t_s)
    if fit.push[strike] < LEAST_SPEED or _farthest(reading) < LEAST_WAY or (hits == 0 and carried(reading, opener)):
        return Verdict(_by_hand(reading, cue, rested))
    # an object ball that starts while the cue ball lies still: brushed, placed, or struck by mistake
    alone = cue_sure and opener != cue and not any(cue in k.balls for k in fit.kinks)
    if alone and (fit.push[strike] < WRONG_BALL or any(carried(reading, b) for b in reading.movers)):
        return Verdict(_by_hand(reading, cue, rested))
    return Verdict("shot", opener, fit.kinks[strike].t_s)


def carried(reading: Reading, ball: int) -> bool:
    """Whether a ball moved as a hand moves it: not freely, and with kinks that nothing explains (one may be a push of the
    tip) or an end no rolling ball has."""
    fit = reading.fit
    ks = fit.kinks_of(ball)
    worst = max((fit.misfit.get((ball, j), 1.0) for j in range(1, len(ks) + 1)), default=1.0)
    if worst <= ROUGH:
        return False
    loose = sum(
        fit.kinks[k].kind == "free" and not fit.kinks[k].crowd for k in ks
    )  # those of a pack's burst have a cause
    return worst > WILD or loose > 1 or stops_short(reading, ball)


def stops_short(reading: Reading, ball: int) -> bool:
    """Whether a ball came to rest from a speed at which the cloth stops none: it covered too much in its last moment."""
    place = reading.ends.get(ball)
    looks = reading.looks.get(ball)
    if place is None or looks is None or len(looks.times) < 4:
        return False
    away = np.hypot(*(looks.xy - place).T)
    noise = np.sqrt(np.trace(looks.cov, axis1=1, axis2=2) / 2)
    moving = np.flatnonzero(away > np.maximum(4 * noise, 0.004))
    if not len(moving) or moving[-1] > len(away) - 5:
        return False  # it was not seen to lie still
    stop_s = looks.times[moving[-1]]
    last = (looks.times > stop_s - LAST_S) & (looks.times <= stop_s)
    return bool(last.sum() >= 3 and away[last].max() > SHORT_M)


def _fastest(reading: Reading, ball: int | None) -> float:
    """The highest speed of a ball in the reading, metres a second."""
    path = None if ball is None else reading.fit.paths.get(ball)
    return 0.0 if path is None else float(np.hypot(*path.arcs[:, 2:4].T).max())


def _farthest(reading: Reading) -> float:
    """The farthest that any ball was seen from where it began; one look in three may stray."""
    out = 0.0
    for b in reading.movers:
        xy = reading.fit.paths[b].xy
        if len(xy) < 4:
            out = max(out, float(np.hypot(*(xy[-1] - xy[0]))) if len(xy) else 0.0)
            continue
        calm = np.median(np.lib.stride_tricks.sliding_window_view(xy, 3, axis=0), axis=-1)
        out = max(out, float(np.hypot(*(calm - calm[0]).T).max()))
    return out


def _by_hand(reading: Reading, cue: int | None, rested: Set[int]) -> Kind:
    """``touched`` where a ball or two that lay still lie a little elsewhere and nothing came or went; else ``moved``."""
    shifts = {
        b: math.dist(reading.starts[b], reading.ends[b])
        for b in reading.movers
        if b in rested and b in reading.starts and b in reading.ends
    }
    shifted = {b: way for b, way in shifts.items() if way >= BRUSHED_M[0]}
    strangers = [b for b in reading.movers if b not in shifts]
    brushed = 1 <= len(shifted) <= BRUSHED_MOST and max(shifted.values()) <= BRUSHED_M[1]
    return "touched" if brushed and not strangers and cue not in shifted else "moved"


def next_stroke(reading: Reading, cue: int, after_s: float, table: Table) -> float | None:
    """When the cue ball was struck again in a reading, though balls had not come to rest; None where it was not.

    It starts from rest, or gains speed, where no ball and (moving) no cushion is near that could have sent it off.
    """
    fit = reading.fit
    if cue not in fit.paths:
        return None
    for k in fit.kinks_of(cue):
        kink = fit.kinks[k]
        if kink.t_s < after_s + AGAIN_S or fit.push[k] < max(STRUCK, 4 * float(fit.push_sigma[k])):
            continue
        at, v = sample(fit, cue, np.array([kink.t_s - 1e-4]))
        before, after = float(np.hypot(*v[0])), float(np.hypot(*sample(fit, cue, np.array([kink.t_s + 1e-4]))[1][0]))
        lay = before < STILL
        if not lay and (kink.kind != "free" or after < before + 2 * STRUCK):
            continue
        if _nearest(reading, cue, kink.t_s, at[0]) < table.ball_m + APART_M or _passed(reading, cue, kink.t_s, at[0]):
            continue
        walls = min(at[0][0], table.width_m - at[0][0], at[0][1], table.length_m - at[0][1]) - table.ball_radius
        if not lay and walls < APART_M:
            continue
        return kink.t_s
    return None


def _passed(reading: Reading, ball: int, t_s: float, at: Floats) -> bool:
    """Whether another ball went by so close and so fast that the two met, however it is read: nobody strikes a ball just then."""
    for b, path in reading.fit.paths.items():
        drop = reading.drops.get(b)
        if b == ball or not len(path.times) or (drop is not None and drop.t_s < t_s):
            continue
        place, v = sample(reading.fit, b, np.array([t_s]))
        if math.dist(place[0], at) < PASSED[0] and float(np.hypot(*v[0])) > PASSED[1]:
            return True
    return False


def _nearest(reading: Reading, ball: int, t_s: float, at: Floats) -> float:
    """Distance of the nearest other ball's centre at an instant, metres."""
    gaps = [np.inf]
    for b, rest in reading.starts.items():
        drop = reading.drops.get(b)
        if b == ball or (drop is not None and drop.t_s < t_s):
            continue
        place = sample(reading.fit, b, np.array([t_s]))[0][0] if b in reading.fit.paths else rest
        gaps.append(math.dist(place, at))
    return min(gaps)


def moving_at(reading: Reading, t_s: float, besides: int) -> dict[int, bool]:
    """Balls other than one that moved at an instant, and whether that is sure: they went on by more than noise after it."""
    out: dict[int, bool] = {}
    fit: Fit = reading.fit
    for b in reading.movers:
        drop = reading.drops.get(b)
        if b == besides or b not in fit.paths or (drop is not None and drop.t_s < t_s):
            continue
        speed = float(np.hypot(*sample(fit, b, np.array([t_s]))[1][0]))
        looks = reading.looks[b]
        here = np.abs(looks.times - t_s) < 0.08
        later = (looks.times > t_s + 0.1) & (looks.times < t_s + 0.5)
        if speed < 0.3 * ROLLING or not here.any() or not later.any():
            continue
        way = float(np.hypot(*(np.median(looks.xy[later][-5:], axis=0) - np.median(looks.xy[here], axis=0))))
        noise = float(np.sqrt(np.trace(looks.cov[here].mean(axis=0)) / 2))
        out[b] = speed > ROLLING and way > max(WENT_M, 3 * noise)
    return out
