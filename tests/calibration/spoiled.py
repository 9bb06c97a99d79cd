"""Pictures as other cameras and rooms would have them: small, dark with a bright window, grey, upright, squeezed by a codec."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import cv2
import numpy as np

from calibration.camera import Camera
from calibration.cloth import Picture

Spoiled = tuple[Picture, Camera]


def _resized(image: Picture, camera: Camera, factor: float) -> Spoiled:
    small = cv2.resize(image, None, fx=factor, fy=factor, interpolation=cv2.INTER_AREA)
    return np.asarray(small, dtype=np.uint8), camera.scaled(factor)


def small(image: Picture, camera: Camera) -> Spoiled:
    """480 lines."""
    return _resized(image, camera, 480 / image.shape[0])


def dark(image: Picture, camera: Camera) -> Spoiled:
    """A dim room, sensor noise, and a window at the upper right that is burnt out."""
    height, width = image.shape[:2]
    dim = (image / 255.0) ** 1.5 * 90
    dim[: height // 4, int(0.78 * width) : int(0.98 * width)] = 255
    dim += np.random.default_rng(5).normal(0, 4, image.shape)
    return np.clip(dim, 0, 255).astype(np.uint8), camera


def grey(image: Picture, camera: Camera) -> Spoiled:
    """No colours at all."""
    plane = cv2.cvtColor(image, cv2.COLOR_BGR2GRAY)
    return np.asarray(cv2.cvtColor(plane, cv2.COLOR_GRAY2BGR), dtype=np.uint8), camera


def upright(image: Picture, camera: Camera) -> Spoiled:
    """The picture within an upright one, bars above and below."""
    inner, seen = _resized(image, camera, 1080 / image.shape[1])
    out = np.full((1920, inner.shape[1], 3), 60, dtype=np.uint8)
    top = (1920 - inner.shape[0]) // 2
    out[top : top + inner.shape[0]] = inner
    return out, replace(seen, height=1920, centre=seen.centre + np.array([0.0, top]))


def squeezed(image: Picture, camera: Camera) -> Spoiled:
    """JPEG at quality 18."""
    _, data = cv2.imencode(".jpg", image, [cv2.IMWRITE_JPEG_QUALITY, 18])
    return np.asarray(cv2.imdecode(data, cv2.IMREAD_COLOR), dtype=np.uint8), camera


WAYS: dict[str, Callable[[Picture, Camera], Spoiled]] = {
    "small": small, "dark": dark, "grey": grey, "upright": upright, "squeezed": squeezed,
}  # fmt: skip
