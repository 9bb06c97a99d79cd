"""A pinhole camera with radial distortion: table frame to picture and back at any height.

Arrays are ``(n, 2)`` or ``(n, 3)`` float64. Pixels have their origin at the centre of the top-left pixel, ``u`` to the
right and ``v`` down. Balls are spheres: project a centre at height R, not on the cloth.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import cv2
import numpy as np
import numpy.typing as npt

from calibration.lens import USUAL, Lens

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Camera:
    """Intrinsics, Brown distortion (k1, k2) and pose.

    Parameters
    ----------
    width, height : picture size, pixels.
    focal : focal length, pixels along ``u``.
    centre : (2,) principal point, pixels.
    distortion : (2,) k1, k2 on normalised coordinates, OpenCV's convention.
    rotation : (3, 3) table frame to camera frame (camera: x right, y down, z forward).
    translation : (3,) metres.
    aspect : focal length along ``v`` over that along ``u``: 1 but for pictures that were stretched.
    lens : what is known of the focal length without looking; fits hold on to it.
    """

    width: int
    height: int
    focal: float
    centre: Floats
    distortion: Floats
    rotation: Floats
    translation: Floats
    aspect: float = 1.0
    lens: Lens = USUAL

    @property
    def position(self) -> Floats:
        """(3,) the camera's own place in the table frame, metres."""
        return np.asarray(-self.rotation.T @ self.translation, dtype=np.float64)

    @property
    def matrix(self) -> Floats:
        """(3, 3) intrinsic matrix."""
        cx, cy = self.centre
        return np.array([[self.focal, 0, cx], [0, self.focal * self.aspect, cy], [0, 0, 1.0]])

    @property
    def focals(self) -> Floats:
        """(2,) focal lengths along ``u`` and ``v``, pixels."""
        return np.array([self.focal, self.focal * self.aspect])

    def project(self, points: npt.ArrayLike, height: float = 0.0) -> Floats:
        """Table points (n, 2) at ``height`` metres, or (n, 3), to pixels (n, 2)."""
        p = np.atleast_2d(np.asarray(points, dtype=np.float64))
        if p.shape[1] == 2:
            p = np.column_stack([p, np.full(len(p), height)])
        c = p @ self.rotation.T + self.translation
        z = np.where(c[:, 2] > 1e-6, c[:, 2], np.nan)
        n = c[:, :2] / z[:, None]
        r2 = (n**2).sum(axis=1)
        k1, k2 = self.distortion
        factor = 1 + k1 * r2 + k2 * r2**2
        return np.asarray(n * factor[:, None] * self.focals + self.centre, dtype=np.float64)

    def normalise(self, pixels: npt.ArrayLike) -> Floats:
        """Pixels (n, 2) to undistorted normalised coordinates (n, 2), by fixed-point iteration."""
        d = (np.atleast_2d(np.asarray(pixels, dtype=np.float64)) - self.centre) / self.focals
        n = d.copy()
        k1, k2 = self.distortion
        for _ in range(20):
            r2 = (n**2).sum(axis=1)
            before, n = n, d / (1 + k1 * r2 + k2 * r2**2)[:, None]
            if np.abs(n - before).max(initial=0.0) < 1e-12:
                break
        return n

    def rays(self, pixels: npt.ArrayLike) -> Floats:
        """Unit directions (n, 3) in the table frame."""
        n = self.normalise(pixels)
        d = np.column_stack([n, np.ones(len(n))]) @ self.rotation
        return np.asarray(d / np.linalg.norm(d, axis=1, keepdims=True), dtype=np.float64)

    def unproject(self, pixels: npt.ArrayLike, height: float = 0.0) -> Floats:
        """Pixels (n, 2) to table points (n, 2) on the plane ``height`` metres above the cloth; NaN above the horizon."""
        d, o = self.rays(pixels), self.position
        with np.errstate(divide="ignore", invalid="ignore"):
            s = (height - o[2]) / d[:, 2]
        s = np.where(s > 0, s, np.nan)
        return np.asarray(o[:2] + d[:, :2] * s[:, None], dtype=np.float64)

    def jacobian(self, points: npt.ArrayLike, height: float = 0.0) -> Floats:
        """(n, 2, 2) d(pixel) / d(table point) on the plane at ``height``; pixels per metre."""
        p = np.atleast_2d(np.asarray(points, dtype=np.float64))[:, :2]
        step = 1e-4
        around = np.concatenate([p + d for d in ((step, 0.0), (-step, 0.0), (0.0, step), (0.0, -step))])
        right, left, up, down = self.project(around, height).reshape(4, len(p), 2)
        return np.stack([right - left, up - down], axis=2) / (2 * step)

    def ball_radius_px(self, points: npt.ArrayLike, radius: float) -> Floats:
        """(n,) apparent radius in pixels (geometric mean of the outline ellipse's half axes) of balls at ``points``."""
        p = np.atleast_2d(np.asarray(points, dtype=np.float64))[:, :2]
        centres = np.column_stack([p, np.full(len(p), radius)])
        distance = np.linalg.norm(centres - self.position, axis=1)
        half = np.arcsin(np.clip(radius / distance, 0, 0.99))
        axis = (centres - self.position) / distance[:, None]
        cos = axis @ self.rotation[2]
        return np.asarray(
            self.focal * np.sqrt(self.aspect) * np.tan(half) / np.maximum(cos, 0.05) ** 1.5, dtype=np.float64
        )

    def outlines(self, points: npt.ArrayLike, radius: float, steps: int = 48) -> Floats:
        """(n, steps, 2) outlines in pixels of balls whose centres are at table ``points`` (n, 2), height R."""
        p = np.atleast_2d(np.asarray(points, dtype=np.float64))[:, :2]
        centres = np.column_stack([p, np.full(len(p), radius)])
        view = centres - self.position
        distance = np.linalg.norm(view, axis=1, keepdims=True)
        view = view / distance
        side = np.cross(view, [0.0, 0.0, 1.0])
        side[np.linalg.norm(side, axis=1) < 1e-6] = [1.0, 0.0, 0.0]
        side /= np.linalg.norm(side, axis=1, keepdims=True)
        up = np.cross(side, view)
        sine = radius / distance
        middle = centres - view * radius * sine
        rim = radius * np.sqrt(1 - sine**2)
        a = np.linspace(0, 2 * np.pi, steps, endpoint=False)
        circle = np.cos(a)[None, :, None] * side[:, None] + np.sin(a)[None, :, None] * up[:, None]
        rims = middle[:, None] + rim[:, None] * circle
        return self.project(rims.reshape(-1, 3)).reshape(len(p), steps, 2)

    def outline(self, point: npt.ArrayLike, radius: float, steps: int = 48) -> Floats:
        """(steps, 2) the outline in pixels of a ball whose centre is at table ``point`` (2,), height R."""
        return np.asarray(self.outlines(np.asarray(point, dtype=np.float64)[None, :2], radius, steps)[0])

    def outline_centre_offset(self, points: npt.ArrayLike, radius: float) -> Floats:
        """(n, 2) pixels to add to a projected centre to get the centre of the outline's ellipse."""
        p = np.atleast_2d(np.asarray(points, dtype=np.float64))[:, :2]
        return np.asarray(self.outlines(p, radius, 16).mean(axis=1) - self.project(p, radius), dtype=np.float64)

    def scaled(self, factor: float) -> Camera:
        """The same camera for the picture resized by ``factor``."""
        return Camera(
            round(self.width * factor),
            round(self.height * factor),
            self.focal * factor,
            (self.centre + 0.5) * factor - 0.5,
            self.distortion,
            self.rotation,
            self.translation,
            self.aspect,
            self.lens,
        )

    def to_json(self) -> dict[str, Any]:
        rvec, _ = cv2.Rodrigues(self.rotation)
        return {
            "model": "pinhole-k1k2",
            "width": self.width,
            "height": self.height,
            "focal_px": self.focal,
            "aspect": self.aspect,
            "centre_px": self.centre.tolist(),
            "distortion": self.distortion.tolist(),
            "rotation_vector": rvec.ravel().tolist(),
            "translation_m": self.translation.tolist(),
        }

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> Camera:
        rotation, _ = cv2.Rodrigues(np.array(value["rotation_vector"], dtype=np.float64))
        return cls(
            int(value["width"]),
            int(value["height"]),
            float(value["focal_px"]),
            np.array(value["centre_px"], dtype=np.float64),
            np.array(value["distortion"], dtype=np.float64),
            np.asarray(rotation, dtype=np.float64),
            np.array(value["translation_m"], dtype=np.float64),
            float(value.get("aspect", 1.0)),
        )

    @classmethod
    def looking(
        cls,
        position: npt.ArrayLike,
        target: npt.ArrayLike,
        *,
        width: int = 1920,
        height: int = 1080,
        focal: float = 1500.0,
        roll: float = 0.0,
        distortion: tuple[float, float] = (0.0, 0.0),
    ) -> Camera:
        """Camera at ``position`` (3,) looking at ``target`` (3,), turned by ``roll`` radians about its axis."""
        o = np.asarray(position, dtype=np.float64)
        z = np.asarray(target, dtype=np.float64) - o
        z /= np.linalg.norm(z)
        up = np.array([0.0, 0.0, 1.0]) if abs(z[2]) < 0.999 else np.array([0.0, 1.0, 0.0])
        x = np.cross(z, up)
        x /= np.linalg.norm(x)
        y = np.cross(z, x)
        c, s = np.cos(roll), np.sin(roll)
        rotation = np.stack([c * x + s * y, -s * x + c * y, z])
        centre = np.array([(width - 1) / 2, (height - 1) / 2])
        return cls(width, height, float(focal), centre, np.array(distortion), rotation, -rotation @ o)
