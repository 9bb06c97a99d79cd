"""Small pictures of balls on cloth, drawn without the renderer so that the truth is closed-form."""

from __future__ import annotations

import cv2
import numpy as np

BLUE_CLOTH, GREEN_CLOTH = (180, 120, 40), (70, 130, 40)
FINE = 6  # pictures are drawn this much larger and scaled down by areas


def table(
    balls: list[tuple[float, float, float]],
    colours: list[tuple[int, int, int]],
    cloth: tuple[int, int, int] = BLUE_CLOTH,
    size: tuple[int, int] = (90, 90),
    noise: float = 2.0,
    shadow: bool = True,
    highlight: bool = True,
    stripe: bool = False,
    streak: tuple[float, float] = (0.0, 0.0),
    seed: int = 0,
) -> np.ndarray:
    """A picture (h, w, 3) of discs at (u, v, radius) pixels; streak is the way during the exposure."""
    w, h = size
    frames = []
    steps = 1 if streak == (0.0, 0.0) else 15
    for t in (np.arange(steps) + 0.5) / steps - 0.5:
        big = np.full((h * FINE, w * FINE, 3), cloth, dtype=np.uint8)
        for (u, v, r), colour in zip(balls, colours, strict=True):
            u, v = u + t * streak[0], v + t * streak[1]

            def at(x: float, y: float) -> tuple[int, int]:
                return round((x + 0.5) * FINE - 0.5), round((y + 0.5) * FINE - 0.5)

            if shadow:
                dark = big.copy()
                tint = tuple(int(c * 0.45) for c in cloth)
                cv2.circle(dark, at(u + 0.25 * r, v + 0.45 * r), round(r * 0.95 * FINE), tint, -1)
                width = 2 * round(0.3 * r * FINE) + 1
                big = cv2.blur(cv2.blur(dark, (width, width)), (width, width))
            cv2.circle(big, at(u, v), round(r * FINE), colour, -1)
            if stripe:
                mask = np.zeros(big.shape[:2], np.uint8)
                cv2.circle(mask, at(u, v), round(r * FINE), 255, -1)
                y = at(u, v - 0.35 * r)[1]
                big[:y][mask[:y] > 0] = (225, 230, 235)
            if highlight:
                cv2.circle(big, at(u - 0.3 * r, v - 0.35 * r), round(0.18 * r * FINE), (250, 250, 250), -1)
        frames.append(cv2.resize(big, (w, h), interpolation=cv2.INTER_AREA).astype(np.float32))
    image = cv2.GaussianBlur(np.mean(frames, axis=0), (0, 0), 0.6)
    rng = np.random.default_rng(seed)
    return np.clip(image + rng.normal(0, noise, image.shape), 0, 255).astype(np.uint8)
