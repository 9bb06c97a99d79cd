"""A calibrated table: geometry, camera and how good the fit is; what `table.json` holds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from calibration.camera import Camera, Floats
from calibration.strips import RAIL_TOP_M
from calibration.table import CORNERS, Table


@dataclass(frozen=True, slots=True)
class Calibration:
    """Where the table is in the picture.

    Parameters
    ----------
    table, camera : geometry and the camera that sees it.
    rms_px : root mean square residual of the fit, pixels.
    length_p : probability of each trade size considered, by name; empty where the length was given.
    head_p : probability that the end called head is the head.
    notes : anything a person should know (``length-assumed``, ``corners-by-hand`` …).
    joint_m, setback_m : how far behind the nose lines cloth meets rail, and the sights lie, as fitted; None if unknown.
    rail_top_m : height of the rails' tops, and so of both, above the cloth, metres.
    """

    table: Table
    camera: Camera
    rms_px: float
    length_p: Mapping[str, float] = field(default_factory=dict)
    head_p: float = 0.5
    notes: tuple[str, ...] = ()
    joint_m: float | None = None
    setback_m: float | None = None
    rail_top_m: float = RAIL_TOP_M

    @property
    def corners_px(self) -> dict[str, Floats]:
        """Picture of the points where the extended nose lines meet, at nose height, pixels."""
        points = self.table.corners
        pixels = self.camera.project([points[name] for name in CORNERS], self.table.nose_height)
        return dict(zip(CORNERS, pixels, strict=True))

    def turned(self) -> Calibration:
        """The same table with head and foot (and so left and right) exchanged."""
        w, length = self.table.width_m, self.table.length_m
        turn = np.diag([-1.0, -1.0, 1.0])
        shift = np.array([w, length, 0.0])
        c = self.camera
        rotation = c.rotation @ turn
        translation = c.translation + c.rotation @ shift
        camera = replace(c, rotation=rotation, translation=translation)
        return replace(self, camera=camera, head_p=1 - self.head_p)

    def resized(self, length_m: float) -> Calibration:
        """The same picture of a table of another length: the nose lines stay where they are in the picture.

        The camera's distance grows with the table; the nose's height, which hangs on the ball, does not.
        """
        k = length_m / self.table.length_m
        c = self.camera
        nose = np.array([0.0, 0.0, self.table.nose_height])
        translation = k * (c.rotation @ nose + c.translation) - c.rotation @ nose
        table = replace(self.table, length_m=length_m, width_m=self.table.width_m * k)

        def scaled(value: float | None) -> float | None:
            return None if value is None else value * k

        return replace(
            self,
            table=table,
            camera=replace(c, translation=translation),
            joint_m=scaled(self.joint_m),
            setback_m=scaled(self.setback_m),
            rail_top_m=self.table.nose_height + k * (self.rail_top_m - self.table.nose_height),
        )

    def to_json(self) -> dict[str, Any]:
        """The ``table`` object of FORMATS: sizes, corners, camera, residual."""
        return {
            **self.table.to_json(),
            "corners_px": {name: [float(v) for v in px] for name, px in self.corners_px.items()},
            "camera": self.camera.to_json(),
            "rms_px": self.rms_px,
            "length_p": dict(self.length_p),
            "head_p": self.head_p,
            "notes": list(self.notes),
            "joint_m": self.joint_m,
            "setback_m": self.setback_m,
            "rail_top_m": self.rail_top_m,
        }

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> Calibration:
        return cls(
            Table.from_json(value),
            Camera.from_json(value["camera"]),
            float(value.get("rms_px", 0.0)),
            dict(value.get("length_p", {})),
            float(value.get("head_p", 0.5)),
            tuple(value.get("notes", ())),
            value.get("joint_m"),
            value.get("setback_m"),
            float(value.get("rail_top_m", RAIL_TOP_M)),
        )
