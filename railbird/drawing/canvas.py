"""Draws straight into the planes of a YUV 4:2:0 frame, so that a video is annotated without two colour conversions a frame."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import cv2
import numpy as np
import numpy.typing as npt

Bytes = npt.NDArray[np.uint8]
Floats = npt.NDArray[np.float64]
Colour = tuple[int, int, int]  # red, green, blue
Point = Sequence[float]

SHIFT = 4  # sub-pixel bits of OpenCV's drawing functions
ONE = 1 << SHIFT
#: Weights of red, green and blue in luma: the matrices of standard and of high definition.
BT601 = (0.299, 0.587, 0.114)
BT709 = (0.2126, 0.7152, 0.0722)


def to_yuv(rgb: npt.NDArray[np.floating], weights: tuple[float, float, float]) -> Floats:
    """(..., 3) RGB 0 … 255 to limited-range YUV."""
    r, g, b = (np.asarray(rgb[..., k], np.float64) / 255 for k in range(3))
    kr, _, kb = weights
    y = weights[0] * r + weights[1] * g + weights[2] * b
    u = (b - y) / (2 * (1 - kb))
    v = (r - y) / (2 * (1 - kr))
    return np.stack([16 + 219 * y, 128 + 224 * u, 128 + 224 * v], axis=-1)


@dataclass(frozen=True, slots=True)
class Sprite:
    """A picture with transparency, ready to be laid onto a frame's planes.

    Parameters
    ----------
    y : (h, w) luma times opacity, u, v : (h / 2, w / 2) chroma times opacity; all as uint16 with opacity 0 … 256.
    left : (h, w) what is left of the frame's luma there, left_c : the same for chroma.
    """

    y: npt.NDArray[np.uint16]
    u: npt.NDArray[np.uint16]
    v: npt.NDArray[np.uint16]
    left: npt.NDArray[np.uint16]
    left_c: npt.NDArray[np.uint16]

    @classmethod
    def of(cls, rgba: Bytes, weights: tuple[float, float, float]) -> Sprite:
        """From (h, w, 4) RGBA; odd sizes are padded with nothing."""
        h, w = rgba.shape[:2]
        if h % 2 or w % 2:
            rgba = np.pad(rgba, ((0, h % 2), (0, w % 2), (0, 0)))
        alpha = rgba[..., 3].astype(np.float64) / 255
        yuv = to_yuv(rgba[..., :3].astype(np.float64), weights)

        def half(plane: Floats) -> Floats:
            return np.asarray((plane[::2, ::2] + plane[1::2, ::2] + plane[::2, 1::2] + plane[1::2, 1::2]) / 4)

        alpha_c = half(alpha)
        y = np.round(yuv[..., 0] * alpha * 256).astype(np.uint16)
        u, v = (np.round(half(yuv[..., k] * alpha) * 256).astype(np.uint16) for k in (1, 2))
        left = np.round((1 - alpha) * 256).astype(np.uint16)
        return cls(y, u, v, left, np.round((1 - alpha_c) * 256).astype(np.uint16))

    @property
    def size(self) -> tuple[int, int]:
        """(width, height)."""
        h, w = self.y.shape
        return w, h


class Canvas:
    """One frame's planes with what may be drawn on them; coordinates are luma pixels, sub-pixel where floats.

    Parameters
    ----------
    i420 : (height * 3 / 2, width) planar frame; drawn into in place.
    weights : the colour matrix, :data:`BT709` or :data:`BT601`.
    """

    def __init__(self, i420: Bytes, weights: tuple[float, float, float] = BT709) -> None:
        self.frame = i420
        self.weights = weights
        self.width = i420.shape[1]
        self.height = i420.shape[0] * 2 // 3
        flat = i420.reshape(-1)
        n, q = self.width * self.height, self.width * self.height // 4
        half = (self.height // 2, self.width // 2)
        self.y = flat[:n].reshape(self.height, self.width)
        self.u = flat[n : n + q].reshape(half)
        self.v = flat[n + q : n + 2 * q].reshape(half)
        self._inks: dict[Colour, tuple[int, int, int]] = {}

    def renew(self, i420: Bytes) -> Canvas:
        """A canvas on another frame of the same kind; colours already mixed are kept."""
        other = Canvas(i420, self.weights)
        other._inks = self._inks
        return other

    def _ink(self, colour: Colour) -> tuple[int, int, int]:
        if colour not in self._inks:
            y, u, v = to_yuv(np.array(colour, np.float64), self.weights)
            self._inks[colour] = (round(float(y)), round(float(u)), round(float(v)))
        return self._inks[colour]

    def disc(self, centre: Point, radius: float, colour: Colour) -> None:
        """A filled circle."""
        self._circle(centre, radius, colour, -1)

    def ring(self, centre: Point, radius: float, colour: Colour, thickness: float) -> None:
        """A circle's line."""
        self._circle(centre, radius, colour, max(1, round(thickness)))

    def _circle(self, centre: Point, radius: float, colour: Colour, thickness: int) -> None:
        if not (abs(centre[0]) < 1e5 and abs(centre[1]) < 1e5):
            return
        y, u, v = self._ink(colour)
        x0, y0 = centre
        at = (round(x0 * ONE), round(y0 * ONE))
        cv2.circle(self.y, at, round(radius * ONE), y, thickness, cv2.LINE_AA, SHIFT)
        at = (round((x0 - 0.5) / 2 * ONE), round((y0 - 0.5) / 2 * ONE))
        thin = thickness if thickness < 0 else max(1, round(thickness / 2))
        for plane, ink in ((self.u, u), (self.v, v)):
            cv2.circle(plane, at, round(radius / 2 * ONE), ink, thin, cv2.LINE_AA, SHIFT)

    def line(self, points: npt.ArrayLike, colour: Colour, thickness: float, closed: bool = False) -> None:
        """A polyline through (n, 2) points; points that are not finite break it."""
        p = np.asarray(points, np.float64).reshape(-1, 2)
        p = p[np.isfinite(p).all(axis=1) & (np.abs(p) < 1e5).all(axis=1)]
        if len(p) < 2:
            return
        y, u, v = self._ink(colour)
        full = np.round(p * ONE).astype(np.int32)
        cv2.polylines(self.y, [full], closed, y, max(1, round(thickness)), cv2.LINE_AA, SHIFT)
        half = np.round((p - 0.5) / 2 * ONE).astype(np.int32)
        for plane, ink in ((self.u, u), (self.v, v)):
            cv2.polylines(plane, [half], closed, ink, max(1, round(thickness / 2)), cv2.LINE_AA, SHIFT)

    def lay(self, sprite: Sprite, x: float, y: float) -> None:
        """Lay a sprite with its top left corner at (x, y); what lies outside the frame is cut."""
        left, top = round(x), round(y)
        left, top = left & ~1, top & ~1  # chroma samples are two pixels wide: elsewhere colours would bleed
        self._blend(self.y, sprite.y, sprite.left, left, top)
        self._blend(self.u, sprite.u, sprite.left_c, left // 2, top // 2)
        self._blend(self.v, sprite.v, sprite.left_c, left // 2, top // 2)

    @staticmethod
    def _blend(plane: Bytes, ink: npt.NDArray[np.uint16], left: npt.NDArray[np.uint16], x: int, y: int) -> None:
        h, w = ink.shape
        x0, y0, x1, y1 = max(x, 0), max(y, 0), min(x + w, plane.shape[1]), min(y + h, plane.shape[0])
        if x0 >= x1 or y0 >= y1:
            return
        part = plane[y0:y1, x0:x1]
        cut = (slice(y0 - y, y1 - y), slice(x0 - x, x1 - x))
        mixed = part.astype(np.uint16)
        mixed *= left[cut]
        mixed += ink[cut]
        mixed >>= 8
        np.copyto(part, mixed, casting="unsafe")
