"""Training crops from labelled pictures: balls at every size, cloths of every colour, light, blur, noise and compression.

A crop is what the detector gets in use: the picture scaled down by areas and cut to the table, so a ball is 7 to 48 pixels wide.
"""

from __future__ import annotations

from collections.abc import Sequence

import cv2
import numpy as np
import numpy.typing as npt

from vision.detections import Floats
from vision.labels import Labelled

Image = npt.NDArray[np.uint8]

STORED_RADIUS = 17.0  # pictures are kept in memory so that the median ball is no larger, pixels
RADII = (3.2, 20.0)  # at the network's input, pixels


class Shelf:
    """Labelled pictures in memory, scaled down where their balls are larger than training needs."""

    def __init__(self, pictures: Sequence[Labelled]) -> None:
        self.images: list[Image] = []
        self.circles: list[Floats] = []
        self.usual: list[float] = []
        for p in pictures:
            image = cv2.imread(str(p.path))
            if image is None:
                continue
            usual = float(np.median(p.radius)) if len(p.radius) else 10.0
            scale = min(1.0, STORED_RADIUS / usual, 1920 / image.shape[1])
            if scale < 1:
                image = cv2.resize(image, None, fx=scale, fy=scale, interpolation=cv2.INTER_AREA)
            _mask(image, p.ignore * scale)
            seen = p.visible > 0.2
            circles = np.column_stack([(p.centre + 0.5) * scale - 0.5, p.radius * scale])[seen]
            self.images.append(image)
            self.circles.append(circles)
            self.usual.append(usual * scale)

    def __len__(self) -> int:
        return len(self.images)


def _mask(image: Image, areas: Floats) -> None:
    for x, y, w, h in areas.round().astype(int):
        x0, y0 = max(x, 0), max(y, 0)
        patch = image[y0 : y + h, x0 : x + w]
        if patch.size:
            patch[:] = cv2.blur(patch, (31, 31)) // 2 + np.median(patch, axis=(0, 1)).astype(np.uint8) // 2


def crop(
    rng: np.random.Generator, image: Image, circles: Floats, usual: float, size: tuple[int, int]
) -> tuple[Image, Floats]:
    """One random crop and its boxes.

    Parameters
    ----------
    image, circles, usual : picture, (n, 3) centre and radius, median radius, pixels.
    size : width and height of the crop.

    Returns
    -------
    picture and (m, 4) boxes: centre x, y, width, height, as shares of the crop.
    """
    low, high = RADII
    radius = low * float((high / low) ** (rng.random() ** 1.35))  # small balls are the hard ones
    scale = float(np.clip(radius / usual, 0.12, 2.2))
    if len(circles) and rng.random() < 0.85:
        chosen = rng.choice(len(circles), p=_crowded(circles))
        middle = circles[chosen, :2] + rng.uniform(-0.45, 0.45, 2) * np.array(size) / scale
    else:
        middle = rng.uniform(0, 1, 2) * image.shape[1::-1]
    margin = 0.42 * np.array(size) / scale  # little of a crop lies outside the picture
    far = np.array(image.shape[1::-1]) - margin
    middle = np.where(margin < far, np.clip(middle, margin, far), (margin + far) / 2)
    if scale < 0.7:  # by areas, as in use
        reach = 0.8 * np.array(size) / scale  # what a turned crop can show
        x0, y0 = np.clip(middle - reach, 0, None).astype(int)
        x1, y1 = np.clip(middle + reach, 1, image.shape[1::-1]).astype(int)
        x0, y0 = min(x0, x1 - 1), min(y0, y1 - 1)
        image = cv2.resize(image[y0:y1, x0:x1], None, fx=scale, fy=scale, interpolation=cv2.INTER_AREA)
        middle = (middle - (x0, y0)) * scale
        circles = (circles - (x0 - 0.5, y0 - 0.5, 0)) * scale - (0.5, 0.5, 0)
        scale = 1.0
    turn = rng.normal(0, 0.12) if rng.random() < 0.5 else 0.0
    stretch = np.exp(rng.normal(0, 0.05, 2))
    c, s = np.cos(turn), np.sin(turn)
    m = scale * np.diag(stretch) @ np.array([[c, -s], [s, c]])
    if rng.random() < 0.5:
        m[0] *= -1
    if rng.random() < 0.15:
        m = m[::-1].copy()
    shift = np.array(size) / 2 - m @ middle
    border = (114, 114, 114) if rng.random() < 0.6 else tuple(int(v) for v in rng.integers(0, 200, 3))
    out = np.asarray(
        cv2.warpAffine(image, np.column_stack([m, shift]), size, flags=cv2.INTER_LINEAR, borderValue=border),
        dtype=np.uint8,
    )
    centre = circles[:, :2] @ m.T + shift
    half = circles[:, 2:3] * np.sqrt((m**2).sum(axis=1))
    a, b = np.clip(centre - half, 0, size), np.clip(centre + half, 0, size)
    left = np.prod(b - a, axis=1) / np.prod(2 * half, axis=1)
    keep = left > 0.35
    boxes = np.column_stack([(a + b) / 2, b - a])[keep] / np.array([*size, *size])
    return photograph(rng, out), boxes


def _crowded(circles: Floats) -> Floats:
    """How often each ball is looked at: three times as often where another one nearly touches it."""
    gap = np.hypot(circles[:, None, 0] - circles[None, :, 0], circles[:, None, 1] - circles[None, :, 1])
    np.fill_diagonal(gap, np.inf)
    weight = np.where((gap < 1.3 * (circles[:, None, 2] + circles[None, :, 2])).any(axis=1), 3.0, 1.0)
    return np.asarray(weight / weight.sum())


def photograph(rng: np.random.Generator, image: Image) -> Image:
    """Other cloth, other light, another lens and another codec."""
    if rng.random() < 0.75:
        hsv = cv2.cvtColor(image, cv2.COLOR_BGR2HSV)
        hue = rng.integers(0, 180) if rng.random() < 0.5 else rng.integers(-12, 13)
        shifted = (hsv[..., 0].astype(np.int16) + hue) % 180
        hsv[..., 0] = shifted.astype(np.uint8)
        saturation = float(np.exp(rng.normal(-0.1, 0.35))) if rng.random() < 0.9 else 0.1
        hsv[..., 1] = cv2.LUT(hsv[..., 1], _curve(saturation, 1.0, 0.0))
        image = cv2.cvtColor(hsv, cv2.COLOR_HSV2BGR)
    gains = np.exp(rng.normal(0, 0.28) + rng.normal(0, 0.08, 3))
    gamma = float(np.exp(rng.normal(0, 0.22)))
    lift = rng.normal(0, 10)
    lut = np.stack([_curve(float(g), gamma, lift) for g in gains], axis=1).reshape(256, 1, 3)
    image = cv2.LUT(image, lut)
    if rng.random() < 0.3:
        image = cv2.GaussianBlur(image, (0, 0), float(rng.uniform(0.4, 1.3)))
    if rng.random() < 0.12:
        image = cv2.filter2D(image, -1, _streak_kernel(rng))
    if rng.random() < 0.15:
        soft = cv2.GaussianBlur(image, (0, 0), 1.0)
        image = cv2.addWeighted(image, 1.7, soft, -0.7, 0)
    if rng.random() < 0.35:
        spread = float(rng.uniform(1, 9))
        grain = (rng.standard_normal(1 << 15, dtype=np.float32) * spread).astype(np.int8)
        start = rng.integers(0, 1 << 15, 64)  # stretches of one table of noise: drawing each pixel's own takes too long
        noise = np.concatenate([np.roll(grain, int(k)) for k in start])[: image.size]
        noise = np.resize(noise, image.size).reshape(image.shape)
        image = np.clip(image.astype(np.int16) + noise, 0, 255).astype(np.uint8)
    if rng.random() < 0.35:
        quality = int(rng.integers(25, 90))
        image = cv2.imdecode(cv2.imencode(".jpg", image, [cv2.IMWRITE_JPEG_QUALITY, quality])[1], cv2.IMREAD_COLOR)
    return image


def _curve(gain: float, gamma: float, lift: float) -> Image:
    ramp = np.arange(256) / 255
    return np.clip(255 * gain * ramp**gamma + lift, 0, 255).astype(np.uint8)


def _streak_kernel(rng: np.random.Generator) -> Floats:
    length, angle = rng.uniform(2, 9), rng.uniform(0, np.pi)
    kernel = np.zeros((11, 11), dtype=np.float32)
    d = np.array([np.cos(angle), np.sin(angle)]) * length / 2
    a, b = (5 - d).round().astype(int), (5 + d).round().astype(int)
    cv2.line(kernel, (int(a[0]), int(a[1])), (int(b[0]), int(b[1])), 1.0, 1)
    return np.asarray(kernel / kernel.sum())
