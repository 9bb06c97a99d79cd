"""One camera over one table: the empty scene drawn once, then balls and people laid on it.

``Stage`` holds what does not move. ``Stage.canvas()`` is a fresh copy to draw on; ``Canvas.ball`` and ``Canvas.body``
draw in the order they are called (far balls first), ``Canvas.shadows`` before both.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from calibration.camera import Camera
from calibration.table import Table
from sample_videos import cast_table, shade_balls, shade_bodies
from sample_videos.bodies import FLOOR_Z, Body
from sample_videos.looks import Looks, ball_paint, lamp_arrays, linear
from sample_videos.optics import F32, F64, camera_array
from sample_videos.textures import cloth_texture, digit_atlas, floor_texture, grain_tile, wall_texture

I16 = npt.NDArray[np.int16]
#: pooltool's facings: angle past the 45 degrees of a corner pocket, and of a side pocket; jaw radii, metres
CORNER_ANGLE, SIDE_ANGLE, CORNER_JAW, SIDE_JAW = 5.3, 7.14, 0.02095, 0.00795


def _arc(centre: F64, radius: float, start: F64, end: F64, n: int = 5) -> F64:
    a0 = np.arctan2(*(start - centre)[::-1])
    a1 = np.arctan2(*(end - centre)[::-1])
    turn = (a1 - a0 + np.pi) % (2 * np.pi) - np.pi
    a = a0 + turn * np.linspace(0, 1, n)
    return centre + radius * np.column_stack([np.cos(a), np.sin(a)])


def mouth_polygons(table: Table, cushion_width: float) -> F64:
    """(6, 14, 2) the open channel of each pocket between nose line and opening, its points rounded like pooltool's."""
    shape = table.pocket_shape
    w, length = table.width_m, table.length_m
    ca = np.radians(CORNER_ANGLE + 45)
    cut = shape.corner_mouth * np.cos(np.pi / 4)
    dc = CORNER_JAW / np.tan((np.pi / 2 + ca) / 2)
    back = cushion_width + 0.02
    nose = np.array([cut + dc, 0.0])
    face = np.array([cut - dc * np.sin(ca), -dc * np.cos(ca)])
    far = np.array([cut - back * np.tan(ca), -back])
    half = np.vstack([_arc(np.array([cut + dc, -CORNER_JAW]), CORNER_JAW, nose, face), far[None], [[-0.02, -0.06]]])
    corner = np.vstack([half, half[::-1, ::-1]])
    sa = np.radians(SIDE_ANGLE)
    ds = SIDE_JAW / np.tan((np.pi / 2 + sa) / 2)
    hw = shape.side_mouth / 2
    top = np.vstack(
        [
            _arc(
                np.array([-SIDE_JAW, hw + ds]),
                SIDE_JAW,
                np.array([0.0, hw + ds]),
                np.array([-ds * np.cos(sa), hw - ds * np.sin(sa)]),
            ),
            [[-back, hw - back * np.sin(sa)], [-back, 0.0]],
        ]
    )
    side = np.vstack([top, (top * [1, -1])[::-1]])
    found = []
    for name in table.pockets:
        if name.startswith("side"):
            p = side + np.array([0, length / 2])
        else:
            p = corner.copy()
            if name.startswith("foot"):
                p = p * [1, -1] + [0, length]
        if name.endswith("right"):
            p = p * [-1, 1] + [w, 0]
        found.append(p)
    return np.array(found)


@dataclass
class Canvas:
    """What is being drawn: linear light, distances, and which ball is seen where."""

    stage: Stage
    light: F32
    far: F32
    owner: I16
    covered: dict[int, float] = field(default_factory=dict)

    def shadow(
        self, cones: F64, reach: float = 0.9, window: tuple[int, int, int, int] | None = None, *, spare: bool = False
    ) -> tuple[int, int, int, int]:
        """Shadows of rounded cones (n, 8) on cloth and rails, within ``window`` or where they can fall.

        ``spare`` leaves balls alone that are drawn already. Returns the window.
        """
        s = self.stage
        if window is None:
            window = s.shadow_window(cones)
        shade_bodies.paint_shadow(
            self.light, s.place, s.kinds, self.owner, s.lamps, s.ambient, cones, reach, np.array(window), spare
        )  # fmt: skip
        return window

    def ball(self, number: int, centres: F64, turns: F64, offsets: F64, *, index: int, only: int = -1,
             neighbours: F64 | None = None) -> tuple[float, float]:  # fmt: skip
        """Draw a ball; see ``shade_balls.paint_ball``. Returns covered and seen pixels."""
        s = self.stage
        style, paint = s.paints[number]
        near = np.zeros((0, 3)) if neighbours is None else neighbours
        total, seen = shade_balls.paint_ball(
            self.light, self.far, s.kinds, self.owner, self.light, s.cam, centres, turns, offsets, s.table.ball_radius,
            style, number, paint, digit_atlas(), s.lamps, s.rects, s.ball_light, s.looks.balls.gloss, only, index, near,
        )  # fmt: skip
        self.covered[index] = total
        return total, seen

    def body(self, body: Body, opacity: F64 | None = None) -> None:
        """Draw a body of rounded cones."""
        s = self.stage
        if not len(body.cones):
            return
        shade_bodies.paint_cones(
            self.light, self.far, self.owner, s.cam, body.cones, body.coats, s.lamps, s.ambient, grain_tile(),
            np.ones(len(body.cones)) if opacity is None else opacity,
        )  # fmt: skip


class Stage:
    """Table, camera and looks, with the empty scene drawn.

    Attributes
    ----------
    light : (h, w, 3) linear light of the empty scene.
    place, kinds, far : (h, w, 3) metres, (h, w) class of surface, (h, w) metres along the ray.
    """

    def __init__(self, table: Table, camera: Camera, looks: Looks, per_side: int = 2) -> None:
        self.table, self.camera, self.looks = table, camera, looks
        rng = np.random.default_rng(looks.seed)
        w, length = table.width_m, table.length_m
        r, room, cloth = looks.rails, looks.room, looks.cloth
        self.cam = camera_array(camera)
        self.lamps, self.rects, self.ambient = lamp_arrays(room, w, length)
        self.paints = {n: ball_paint(looks.balls, n) for n in range(16)}
        h, wd = camera.height, camera.width
        per_metre = float(
            np.clip(
                1.2 * camera.ball_radius_px([[w / 2, length / 2]], table.ball_radius)[0] / table.ball_radius, 150, 420
            )
        )
        tab = np.array([w, length, table.nose_height, r.cushion_width, r.width, 0.26, FLOOR_Z, r.rounding])
        pockets = np.array([[*p.centre, p.radius] for p in table.pockets.values()])
        colours = np.stack(
            [self.ambient, linear(cloth.colour) * cloth.cushion, linear(r.cap), linear(r.rim), linear(r.liner), linear(r.body),
             linear(r.sight), linear(r.trim)]
        )  # fmt: skip
        size = r.sight_size
        marks = np.array(
            [[x, y, size * (1 + r.diamonds * (1.0 if x < 0 or x > w else 0)), size * (1 + r.diamonds * (0.0 if x < 0 or x > w else 1.0))]
             for x, y in table.sights]
        )  # fmt: skip
        reach = np.abs(self.camera.position[:2] - [w / 2, length / 2]) + 0.4
        half = np.maximum([2.2 + rng.uniform(0, 3), 2.8 + rng.uniform(0, 3)], reach)
        opt = np.array(
            [0.35, cloth.grain, 0.25, 0.45, 0.6, 0.55, r.gloss, r.rim_width, r.trim_gloss, r.corner_trim, r.side_trim, r.wood,
             float(r.diamonds), 0.3, rng.uniform(0.3, 1.2), room.floor_light, half[0], half[1], 0.25, 2.6, room.wall_light]
        )  # fmt: skip
        lit = np.zeros((60, 40, 3), np.float32)
        cast_table.bed_light(self.lamps, self.ambient, w, length, 0.01, lit)
        ground = np.zeros((96, 96, 3), np.float32)
        cast_table.floor_light(
            self.lamps, self.ambient, w, length, r.width, FLOOR_Z, half[0], half[1], room.floor_light, ground
        )
        parts = (
            tab, pockets, mouth_polygons(table, r.cushion_width), self.lamps, self.rects, colours, cloth_texture(cloth, w, length, rng, per_metre),
            grain_tile(), floor_texture(room, rng), wall_texture(room, rng), marks, opt, lit, ground,
        )  # fmt: skip
        self.light = np.zeros((h, wd, 3), np.float32)
        self.place = np.zeros((h, wd, 3), np.float32)
        self.kinds = np.zeros((h, wd), np.uint8)
        self.far = np.zeros((h, wd), np.float32)
        cast_table.cast(self.cam, h, wd, per_side, *parts, self.light, self.place, self.kinds, self.far)
        cloth_light = linear(cloth.colour)
        mirrored = self.ambient * 0.3 + room.mirrored * 0.5 * linear(room.wall_colour) + 0.02
        self.ball_light = np.stack([self.ambient, cloth_light * 0.9, mirrored, [0.15, looks.balls.softness, 0.0]])

    def canvas(self) -> Canvas:
        """A copy of the empty scene to draw on."""
        return Canvas(self, self.light.copy(), self.far.copy(), np.full(self.kinds.shape, -1, np.int16))

    def shadow_window(self, cones: F64, most: float = 0.6) -> tuple[int, int, int, int]:
        """Pixel box in which the shadows of cones can fall (no farther than ``most`` metres from them)."""
        spots = []
        ends = np.vstack([cones[:, :4], cones[:, 4:]])
        for x, y, z, r in ends:
            spots += [(x - 3 * r, y - 3 * r), (x + 3 * r, y + 3 * r), (x + 3 * r, y - 3 * r), (x - 3 * r, y + 3 * r)]
            for lamp in self.lamps:
                if lamp[2] <= z + 0.05:
                    continue
                k = (z + r) / (lamp[2] - z - r) if lamp[2] > z + r else 1.0
                d = (np.array([x, y]) - lamp[:2]) * k
                d *= min(1.0, most / max(1e-9, float(np.linalg.norm(d))))
                px, py = np.array([x, y]) + d
                spots += [
                    (px - 2 * r, py - 2 * r),
                    (px + 2 * r, py + 2 * r),
                    (px - 2 * r, py + 2 * r),
                    (px + 2 * r, py - 2 * r),
                ]
        pixels = self.camera.project(np.array(spots))
        pixels = pixels[np.isfinite(pixels).all(axis=1)]
        if not len(pixels):
            return (0, 0, 0, 0)
        u0, v0 = np.floor(pixels.min(axis=0)).astype(int)
        u1, v1 = np.ceil(pixels.max(axis=0)).astype(int) + 1
        return (max(0, u0), max(0, v0), min(self.camera.width, u1), min(self.camera.height, v1))


def sample_offsets(n: int) -> F64:
    """(n, 2) places within a pixel: a square grid where n is a square, else a low-discrepancy sequence."""
    side = round(n**0.5)
    if side * side == n:
        g = (np.arange(side) + 0.5) / side - 0.5
        return np.stack(np.meshgrid(g, g), axis=-1).reshape(-1, 2)
    k = np.arange(1, n + 1)
    return np.column_stack([(k * 0.7548776662466927) % 1, (k * 0.5698402909980532) % 1]) - 0.5
