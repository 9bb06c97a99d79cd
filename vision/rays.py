"""Colour along rays from a ball's middle: where the cloth ends, and where the colour changes most.

Arrays are (s, n, a): samples along a ray, balls, rays; colours stand first, (3, s, n, a). So whatever runs along a ray runs down
the first axes, and each step is one pass over a contiguous array.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import cv2
import numpy as np
import numpy.typing as npt

from vision.detections import Floats

Floats32 = npt.NDArray[np.float32]

INNER, OUTER = 0.55, 1.5  # the stretch of a ray that is looked at, in radii
CLOTH_FROM = 1.2  # radii: farther out is cloth, or a neighbour
COARSE = 2  # every so many samples are enough to find where the cloth ends
NOISE = 3.0  # grey levels: no picture is taken to be cleaner
SHADES = (0.35, 1.1)  # cloth in shadow is darker at the same hue, by this much
UNLIKE, MOST = (
    5.0,
    20.0,
)  # squared distance from the cloth's colour that counts for the ball; and the most one sample counts
WELL_INSIDE, BEYOND = 0.97, 1.04  # a sample so deep in a neighbour, and so far out, is the neighbour's
ONE_THING = 0.35  # of a radius: two outlines whose centres are nearer than that are of one ball, and hide nothing from each other
MOST_COLUMNS = 30000  # remap's limit is 32767


@dataclass(frozen=True, slots=True, eq=False)
class Wheel:
    """What all balls have in common: directions of the rays and places of the samples along them, in radii.

    Parameters
    ----------
    unit : (a, 2) directions.
    reach : (s,) places of the samples.
    middle : (s - 1,) places between them, where the colour changes.
    basis : (a, 3) what a shift right, a shift down and a growth of the circle do to the edge along each ray.
    products : (a, 9) products of any two of these.
    beside : (a, a) adds to each ray those left and right of it.
    step : from one sample to the next, radii.
    outer : the first sample, of those that the cloth is looked for in, that must be cloth.
    """

    unit: Floats
    reach: Floats32
    middle: Floats32
    basis: Floats
    products: Floats
    beside: Floats32
    step: float
    outer: int

    @classmethod
    @lru_cache(maxsize=4)
    def of(cls, rays: int, samples: int) -> Wheel:
        """With so many rays and samples along each."""
        angle = np.arange(rays) * (2 * np.pi / rays)
        unit = np.stack([np.cos(angle), np.sin(angle)], axis=1)
        reach = np.linspace(INNER, OUTER, samples).astype(np.float32)
        basis = np.column_stack([unit, np.ones(rays)])
        products = (basis[:, :, None] * basis[:, None]).reshape(rays, 9)
        near = np.eye(rays, dtype=np.float32)
        beside = near + np.roll(near, 1, axis=0) + np.roll(near, -1, axis=0)
        outer = int(np.searchsorted(reach[::COARSE], CLOTH_FROM))
        return cls(
            unit, reach, (reach[1:] + reach[:-1]) / 2, basis, products, beside, float(reach[1] - reach[0]), outer
        )


def sample(image: npt.NDArray[np.uint8], centre: Floats, radius: Floats, wheel: Wheel) -> Floats32:
    """Colours (3, s, n, a) along the rays of circles ``centre`` (n, 2), ``radius`` (n,), linearly interpolated."""
    reach = wheel.reach[:, None, None]
    spoke = (radius[:, None, None] * wheel.unit).astype(np.float32)
    at = centre.astype(np.float32)[:, None]
    shape = (len(reach), spoke.shape[0] * spoke.shape[1])
    x = (reach * spoke[..., 0] + at[..., 0]).reshape(shape)
    y = (reach * spoke[..., 1] + at[..., 1]).reshape(shape)
    parts = [
        cv2.remap(
            image,
            x[:, k : k + MOST_COLUMNS],
            y[:, k : k + MOST_COLUMNS],
            cv2.INTER_LINEAR,
            borderMode=cv2.BORDER_REPLICATE,
        )
        for k in range(0, shape[1], MOST_COLUMNS)
    ]
    colours = np.concatenate(parts, axis=1) if len(parts) > 1 else parts[0]
    planes = cv2.dnn.blobFromImage(colours)  # interleaved bytes to planes of single precision, in one pass
    return np.asarray(planes, dtype=np.float32).reshape(3, len(reach), *spoke.shape[:2])


def median(value: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Median along the last axis of an (n, a) array; a fifth of the time of `numpy.median` on arrays as small as these."""
    half = value.shape[-1] // 2
    ordered = np.sort(value, axis=-1)
    if value.shape[-1] % 2:
        return np.asarray(ordered[..., half])
    return np.asarray((ordered[..., half - 1] + ordered[..., half]) / 2)


def edges(profile: Floats32) -> Floats32:
    """Squared change of colour along each ray (s - 1, n, a); a change of shade at one hue counts half.

    A shadow on the cloth scales all channels alike, a ball's edge seldom does.
    """
    p = np.empty_like(profile)
    np.add(profile[:, :-2], profile[:, 2:], out=p[:, 1:-1])
    p[:, 1:-1] *= 0.5
    p[:, 1:-1] += profile[:, 1:-1]
    p[:, 1:-1] *= 0.5
    p[:, 0], p[:, -1] = profile[:, 0], profile[:, -1]
    p += 8.0
    change = p[:, 1:] - p[:, :-1]
    change *= change
    whole = change[0]
    whole += change[1]
    whole += change[2]
    p *= p
    bright = p[0] + p[1]
    bright += p[2]
    # with two colours as vectors: half the difference of their squared lengths is the change along their mean, and the mean's
    # own squared length is that of both on average less a quarter of the change's
    along = bright[1:] - bright[:-1]
    along *= along
    power = bright[1:] + bright[:-1]
    power *= 4.0
    power -= 2.0 * whole
    along /= power
    whole -= along
    return np.asarray(np.maximum(whole, 0, out=whole))


def unhidden(centre: Floats, radius: Floats, wheel: Wheel, others: tuple[Floats, Floats] | None = None) -> Floats32:
    """0 where a sample lies well inside a neighbour's outline, else 1: that edge is the neighbour's, (s, n, a).

    Parameters
    ----------
    centre, radius : (n, 2) and (n,) the balls.
    others : (k, 2) and (k,) whoever may hide them; the balls themselves where not given.
    """
    by, size = (centre, radius) if others is None else others
    keep = np.ones((len(wheel.reach), len(centre), len(wheel.unit)), dtype=np.float32)
    away = centre[:, None] - by[None]
    gap = np.sqrt(away[..., 0] ** 2 + away[..., 1] ** 2)
    least = ONE_THING * np.minimum(radius[:, None], size[None])
    ball, other = np.nonzero((gap < radius[:, None] * OUTER + size[None]) & (gap > least))
    if not len(ball):
        return keep
    out = wheel.reach[:, None, None]
    r, d = radius[ball], away[ball, other]
    square = (
        (out * r[:, None]) ** 2 + 2 * out * (r[:, None] * (d @ wheel.unit.T)) + (d**2).sum(axis=1)[:, None]
    )  # (s, pairs, a)
    inside = (square < ((WELL_INSIDE * size[other]) ** 2)[:, None]) & (out > BEYOND)
    for k, i in enumerate(ball):
        keep[:, i][inside[:, k]] = 0
    return keep


def where_cloth_ends(profile: Floats32, wheel: Wheel, free: Floats32) -> tuple[Floats, Floats]:
    """For each ray the place (in radii) outside which all is cloth, and how sure that is, (n, a) each.

    The cloth's colour is that of the ray's outer end and its neighbours'; shaded cloth is cloth. The place is where a sum
    from inside, to which each sample unlike cloth adds and from which each like cloth takes, is greatest. Every other sample is
    enough to begin with.
    """
    profile, free, reach = profile[:, ::COARSE], free[::COARSE], wheel.reach[::COARSE]
    count = len(reach)
    end, mask = profile[:, wheel.outer :], free[wheel.outer :]
    seen = mask.sum(axis=0)
    many = seen @ wheel.beside
    mean = ((end * mask).sum(axis=1) @ wheel.beside) / np.maximum(many, 1)
    off = end - mean[:, None]
    off *= mask
    off *= off
    spread = off.sum(axis=(0, 1)) / np.maximum(3 * seen, 1)
    noise = np.maximum(median(spread), NOISE**2)[:, None]
    power = (mean * mean).sum(axis=0) + 1.0
    # squared distance from the cloth's colour at any shade of it, |p - shade m|^2, and a little for the shade itself
    along = (profile * mean[:, None]).sum(axis=0)
    shade = along / power
    np.maximum(shade, SHADES[0], out=shade)
    np.minimum(shade, SHADES[1], out=shade)
    along *= -2.0
    along -= 0.1 * power
    along += shade * (1.05 * power - 1.0)
    along *= shade
    along += (profile * profile).sum(axis=0)
    along += 0.05 * power
    along *= 1 / (3 * noise)
    np.minimum(along, MOST, out=along)
    along -= UNLIKE
    along *= free
    for k in range(1, count):  # cumsum along the first axis takes twice as long
        along[k] += along[k - 1]
    place = along.argmax(axis=0)
    after = np.minimum(place + 1, count - 1) * place.size + np.arange(place.size).reshape(place.shape)
    sure = np.minimum(np.maximum(along.max(axis=0) * (COARSE / 40.0), 0), 1) * free.reshape(-1)[after]
    sure *= (many * COARSE > 6) & (place < count - 1) & (place > 0)
    return (reach + COARSE / 2 * wheel.step)[place].astype(np.float64), sure.astype(np.float64)


def widths(strength: Floats32, edge: Floats32, wheel: Wheel) -> Floats32:
    """(n, a) mean square distance, in radii, of the change of colour from the ``edge`` (n, a) outwards: inside are stripe and number."""
    off = wheel.middle[:, None, None] - edge
    near = np.sqrt(strength)
    near *= off > -0.04
    off *= off
    near *= np.exp(off * np.float32(-4.0))
    return np.asarray((near * off).sum(axis=0) / (near.sum(axis=0) + 1e-9))
