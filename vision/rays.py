"""Colour along rays from a ball's middle: where the cloth ends, and where the colour changes most.

Arrays are (n, a, s): balls, rays, samples along a ray; colours stand first, (3, n, a, s), for speed.
"""

from __future__ import annotations

from typing import Any

import cv2
import numpy as np
import numpy.typing as npt

from vision.detections import Detections, Floats

Floats32 = npt.NDArray[np.float32]

NOISE = 3.0  # grey levels: no picture is taken to be cleaner
SHADES = (0.35, 1.1)  # cloth in shadow is darker at the same hue, by this much
UNLIKE, MOST = (
    5.0,
    20.0,
)  # squared distance from the cloth's colour that counts for the ball; and the most one sample counts


def sample(image: npt.NDArray[np.uint8], at: Floats32) -> Floats32:
    """Colours (3, n, a, s) at pixels (n, a, s, 2), linearly interpolated."""
    n, a, s, _ = at.shape
    flat = at.reshape(n * a, s, 2)
    parts = [
        cv2.remap(image, part[..., 0], part[..., 1], cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE)
        for part in np.array_split(flat, max(1, -(-len(flat) // 30000)))  # remap's limit is 32767 rows
    ]
    colours = np.concatenate(parts) if len(parts) > 1 else parts[0]
    return np.ascontiguousarray(colours.reshape(n, a, s, 3).transpose(3, 0, 1, 2), dtype=np.float32)


def median(value: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Median along the last axis of an (n, a) array; a fifth of the time of `numpy.median` on arrays as small as these."""
    half = value.shape[-1] // 2
    if value.shape[-1] % 2:
        return np.asarray(np.partition(value, half, axis=-1)[..., half])
    low_high = np.partition(value, (half - 1, half), axis=-1)[..., half - 1 : half + 1]
    return np.asarray((low_high[..., 0] + low_high[..., 1]) / 2)


def edges(profile: Floats32) -> Floats32:
    """Squared change of colour along each ray (n, a, s - 1); a change of shade at one hue counts half.

    A shadow on the cloth scales all channels alike, a ball's edge seldom does.
    """
    p = profile.copy()
    p[..., 1:-1] = 0.25 * (profile[..., :-2] + profile[..., 2:]) + 0.5 * profile[..., 1:-1]
    change = p[..., 1:] - p[..., :-1]
    hue = (p[..., 1:] + p[..., :-1]) * 0.5 + 8.0
    along = change[0] * hue[0] + change[1] * hue[1] + change[2] * hue[2]
    power = hue[0] * hue[0] + hue[1] * hue[1] + hue[2] * hue[2]
    whole = change[0] * change[0] + change[1] * change[1] + change[2] * change[2]
    return np.asarray(np.maximum(whole - 0.5 * along * along / power, 0), dtype=np.float32)


def unhidden(detections: Detections, spoke: Floats, reach: Floats) -> Floats32:
    """0 where a sample lies well inside a neighbour's outline, else 1: that edge is the neighbour's, (n, a, s)."""
    n = len(detections)
    keep = np.ones((n, spoke.shape[1], len(reach)), dtype=np.float32)
    c, r = detections.centre, detections.radius
    gap = np.hypot(c[:, None, 0] - c[None, :, 0], c[:, None, 1] - c[None, :, 1])
    close = gap < r[:, None] * reach[-1] + r[None]
    np.fill_diagonal(close, False)
    for i, j in zip(*np.nonzero(close), strict=True):
        at = c[i] - c[j] + spoke[i][:, None] * reach[:, None]
        inside = at[..., 0] ** 2 + at[..., 1] ** 2 < (0.97 * r[j]) ** 2
        keep[i][inside & (reach > 1.04)] = 0
    return keep


def where_cloth_ends(profile: Floats32, reach: Floats, free: Floats32) -> tuple[Floats, Floats]:
    """For each ray the place (in radii) outside which all is cloth, and how sure that is, (n, a) each.

    The cloth's colour is that of the ray's outer end and its neighbours'; shaded cloth is cloth. The place is where a sum
    from inside, to which each sample unlike cloth adds and from which each like cloth takes, is greatest.
    """
    outer = int(np.searchsorted(reach, 1.2))
    end, mask = profile[..., outer:], free[..., outer:]
    inside, count = (end * mask).sum(axis=-1), mask.sum(axis=-1)
    three, many = _with_neighbours(inside), _with_neighbours(count)
    mean = three / np.maximum(many, 1)
    off = (end - mean[..., None]) * mask
    spread = (off * off).sum(axis=(0, 3)) / np.maximum(3 * count, 1)
    noise = np.maximum(median(spread), NOISE**2)[:, None, None]
    power = (mean[0] ** 2 + mean[1] ** 2 + mean[2] ** 2)[..., None] + 1.0
    b, g, r = (mean[k][..., None] for k in range(3))
    shade = np.clip((profile[0] * b + profile[1] * g + profile[2] * r) / power, *SHADES)
    unlike = (profile[0] - shade * b) ** 2 + (profile[1] - shade * g) ** 2 + (profile[2] - shade * r) ** 2
    unlike += 0.05 * power * (1 - shade) ** 2
    total = np.cumsum((np.minimum(unlike / (3 * noise), MOST) - UNLIKE) * free, axis=2)
    place = total.argmax(axis=2)
    best = np.take_along_axis(total, place[:, :, None], axis=2)[:, :, 0]
    open_ = np.take_along_axis(free, np.minimum(place + 2, len(reach) - 1)[:, :, None], axis=2)[:, :, 0]
    sure = np.clip(best / 40.0, 0, 1) * open_ * (many > 6) * (place < len(reach) - 3) * (place > 2)
    return reach[place] + (reach[1] - reach[0]) / 2, sure.astype(np.float64)


def _with_neighbours(value: Floats32) -> Floats32:
    """Each ray's value plus those of the rays beside it; rays are the last axis and close a circle."""
    out = value.copy()
    out[..., 1:] += value[..., :-1]
    out[..., 0] += value[..., -1]
    out[..., :-1] += value[..., 1:]
    out[..., -1] += value[..., 0]
    return out
