"""Draws the frames of a played scene: what rests is drawn once, what moves is drawn anew in every frame.

A frame's timestamp is the middle of its exposure: frame k stands for k / fps, its shutter is open for
``shutter / fps`` around it.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace

import cv2
import numpy as np
import numpy.typing as npt

from calibration.camera import Camera
from sample_videos import film
from sample_videos.bodies import Body
from sample_videos.choreography import Act, Placing
from sample_videos.draw import Canvas, Stage, sample_offsets
from sample_videos.layouts import turn_by
from sample_videos.motion import Track
from sample_videos.optics import F32, F64
from sample_videos.populate import neighbour
from sample_videos.relief import POCKET
from sample_videos.scene import Disturbance, Scene
from sample_videos.simulate import Simulator

Box = tuple[int, int, int, int]
MARGIN_PX = 6


@dataclass(frozen=True, slots=True)
class Sampled:
    """A ball during one exposure: samples of centre and turn (table frame to ball frame), and whether it is in a pocket."""

    number: int
    centres: F64
    turns: F64
    in_pocket: bool


def moved_camera(camera: Camera, bump: Disturbance) -> Camera:
    """The camera after it was bumped: shifted by metres and turned by radians in its own frame."""
    rotation = turn_by(bump.turn) @ camera.rotation
    position = camera.position + np.asarray(bump.shift)
    return replace(camera, rotation=rotation, translation=-rotation @ position)


class ClipPainter:
    """Frames of one scene whose strokes have been played."""

    def __init__(self, scene: Scene, simulator: Simulator, acts: list[Act | Placing], per_side: int = 3) -> None:
        self.scene, self.simulator, self.acts = scene, simulator, acts
        self.rng = np.random.default_rng([scene.seed, 99])
        self._per_side = per_side
        self._gain = 1.0
        self._done: set[int] = set()
        self._set(scene.camera)
        h, w = scene.camera.height, scene.camera.width
        n = scene.looks.film.noise * 255
        grain = np.random.default_rng(5).standard_normal((h + 97, w + 89, 3)).astype(np.float32) * np.float32(n)
        self._plus = np.clip(np.round(grain), 0, 255).astype(np.uint8)
        self._minus = np.clip(np.round(-grain), 0, 255).astype(np.uint8)

    def _set(self, camera: Camera) -> None:
        stage = Stage(self.simulator.table, camera, self.scene.looks, self._per_side)
        empty = stage.canvas()
        if self.scene.neighbour:
            neighbour(empty, np.random.default_rng([self.scene.seed, 3]))
        stage.light, stage.far = empty.light, empty.far
        self.stage = stage
        self._falloff = film.falloff_map(camera.height, camera.width, self.scene.looks.film.vignette)
        self._key: tuple[tuple[int, int], ...] | None = None
        self._rest = empty
        self._work = stage.canvas()
        self._dirty: list[Box] = []

    # -- frames --------------------------------------------------------------------------------------------------------
    def frames(self, count: int) -> Iterator[npt.NDArray[np.uint8]]:
        """``count`` pictures (h, w, 3), blue-green-red bytes."""
        for k in range(count):
            yield self.frame(k)

    def frame(self, k: int) -> npt.NDArray[np.uint8]:
        """The picture of frame ``k``; frames are to be asked for in order."""
        t = k / self.scene.fps
        self._disturb(t)
        half = 0.5 * self.scene.shutter / self.scene.fps
        t0, t1 = t - half, t + half
        moving, resting = [], []
        for ball, track in self.simulator.tracks.items():
            if track.moving(t0, t1) or track.changes(t0, t1):
                moving.append(ball)
            elif track.rvw(t) is not None:
                resting.append((ball, track.index(t)))
        self._lay_to_rest(tuple(resting), t)
        for box in self._dirty:
            self._restore(box)
        boxes = self._draw_moving(moving, t0, t1)
        boxes += self._draw_people(t)
        picture = self._rest_picture.copy()
        for box in boxes:
            self._develop(self._work.light, box, picture)
        self._dirty = boxes
        return self._with_noise(picture)

    def _disturb(self, t: float) -> None:
        for k, event in enumerate(self.scene.disturbances):
            if k in self._done or t < event.t_s:
                continue
            self._done.add(k)
            if event.kind == "bump":
                self._set(moved_camera(self.stage.camera, event))
            else:
                self._gain *= event.factor
                self._key = None

    def _lay_to_rest(self, key: tuple[tuple[int, int], ...], t: float) -> None:
        """Draw the balls at rest, where others rest than in the frame before."""
        if key == self._key:
            return
        old = set(self._key or ())
        fresh = self._key is None
        changed = set(key) ^ old
        self._key = key
        samples = {ball: self._sample(ball, t, t, 9) for ball, _ in key}
        if fresh or len(changed) > 6:
            self._rest = self.stage.canvas()
            self._draw_resting(samples, None)
            self._rest_picture = np.zeros(self._rest.light.shape, np.uint8)
            self._develop(
                self._rest.light, (0, 0, self.stage.camera.width, self.stage.camera.height), self._rest_picture
            )
            self._dirty = [(0, 0, self.stage.camera.width, self.stage.camera.height)]
            return
        boxes = []
        for ball, k in changed:
            track = self.simulator.tracks[ball]
            state = track.rvw(track.pieces[k].start_s) if (ball, k) in old else track.rvw(t)
            if state is not None:
                boxes.append(self._ball_box(state[:1]))
        for box in boxes:
            cut = (slice(box[1], box[3]), slice(box[0], box[2]))
            self._rest.light[cut] = self.stage.light[cut]
            self._rest.far[cut] = self.stage.far[cut]
            self._rest.owner[cut] = -1
            self._draw_resting(samples, box)
            self._develop(self._rest.light, box, self._rest_picture)
        self._dirty += boxes

    def _ball_box(self, centres: F64) -> Box:
        """Everything a ball at ``centres`` (n, 3) can touch in the picture, its shadows too."""
        r = self.stage.table.ball_radius
        cones = np.array([[*p, r, *p, r] for p in centres])
        u0, v0, u1, v1 = self.stage.shadow_window(cones)
        px = self.stage.camera.project(centres)
        far = self.stage.camera.ball_radius_px(centres[:, :2], r).max() * 1.3 + 3
        w, h = self.stage.camera.width, self.stage.camera.height
        if not np.isfinite(px).all():
            return (u0, v0, u1, v1)
        a0, b0 = np.floor(px.min(axis=0) - far).astype(int)
        a1, b1 = np.ceil(px.max(axis=0) + far).astype(int)
        if u1 <= u0 or v1 <= v0:
            u0, v0, u1, v1 = a0, b0, a1, b1
        return (max(0, min(u0, a0)), max(0, min(v0, b0)), min(w, max(u1, a1)), min(h, max(v1, b1)))

    def _draw_resting(self, samples: dict[int, Sampled], box: Box | None) -> None:
        """Shadows and balls at rest on the resting layer; only inside ``box`` where given."""
        canvas = self._rest
        r = self.stage.table.ball_radius
        kept: Canvas | None = None
        if box is not None:
            if box[2] <= box[0] or box[3] <= box[1]:
                return
            # draw on a copy of the window's surroundings, so that nothing outside is drawn twice
            kept = Canvas(self.stage, canvas.light.copy(), canvas.far.copy(), canvas.owner.copy())
            canvas = kept
        for s in samples.values():
            if s.in_pocket:
                continue
            cones = np.array([[*s.centres[0], r, *s.centres[0], r]])
            window = self.stage.shadow_window(cones)
            if box is not None:
                window = (
                    max(window[0], box[0]),
                    max(window[1], box[1]),
                    min(window[2], box[2]),
                    min(window[3], box[3]),
                )
                if window[2] <= window[0] or window[3] <= window[1]:
                    continue
            canvas.shadow(cones, window=window)
        for s in self._far_first(list(samples.values())):
            if box is not None:
                b = self._ball_box(s.centres[:1])
                if b[2] <= box[0] or b[0] >= box[2] or b[3] <= box[1] or b[1] >= box[3]:
                    continue
            self._draw_ball(canvas, s)
        if kept is not None and box is not None:
            cut = (slice(box[1], box[3]), slice(box[0], box[2]))
            for name in ("light", "far", "owner"):
                getattr(self._rest, name)[cut] = getattr(kept, name)[cut]

    def _far_first(self, balls: list[Sampled]) -> list[Sampled]:
        here = self.stage.camera.position
        return sorted(balls, key=lambda s: -float(np.linalg.norm(s.centres[len(s.centres) // 2] - here)))

    def _sample(self, ball: int, t0: float, t1: float, n: int) -> Sampled:
        """The ball at ``n`` instants of an exposure, in an order that has nothing to do with the places in a pixel."""
        track: Track = self.simulator.tracks[ball]
        times = np.linspace(t0, t1, 2 * n + 1)[1::2] if t1 > t0 else np.array([t0])
        states, turns = [], []
        for t in times:
            rvw = track.rvw(float(t))
            if rvw is not None:
                states.append(rvw[0])
                turns.append(track.turn(float(t)).T)
        if not states:
            return Sampled(ball, np.zeros((0, 3)), np.zeros((0, 3, 3)), False)
        centres = np.array(states)
        if len(centres) == 1:
            centres, turned = np.repeat(centres, n, axis=0), np.repeat(np.array(turns), n, axis=0)
        else:
            order = np.random.default_rng(7).permutation(len(centres))
            centres, turned = centres[order], np.array(turns)[order]
        return Sampled(
            ball,
            np.ascontiguousarray(centres),
            np.ascontiguousarray(turned),
            bool(centres[:, 2].min() < self.stage.table.ball_radius - 0.02),
        )

    def _draw_ball(self, canvas: Canvas, s: Sampled, near: F64 | None = None) -> None:
        canvas.ball(
            s.number,
            s.centres,
            s.turns,
            sample_offsets(len(s.centres)),
            index=s.number,
            only=POCKET if s.in_pocket and s.centres[:, 2].min() < 0 else -1,
            neighbours=near,
        )

    def _draw_moving(self, moving: list[int], t0: float, t1: float) -> list[Box]:
        drawn, boxes = [], []
        r = self.stage.table.ball_radius
        for ball in moving:
            middle = self.simulator.tracks[ball].rvw((t0 + t1) / 2)
            speed = float(np.linalg.norm(middle[1])) if middle is not None else 0.0
            way = speed * (t1 - t0) / r
            n = 9 if way < 0.35 else int(min(40, 12 + 6 * way))
            s = self._sample(ball, t0, t1, n)
            if len(s.centres):
                drawn.append(s)
                spots = np.array([s.centres.min(axis=0), s.centres.max(axis=0)])
                boxes.append(self._ball_box(spots if way > 0.05 else spots[:1]))
        for s, box in zip(drawn, boxes, strict=True):
            if s.centres[:, 2].min() < 0:
                continue
            steps = 1 if np.ptp(s.centres, axis=0).max() < 0.3 * r else 3
            self._shadow(s.centres[:: max(1, len(s.centres) // steps)][:steps] if steps > 1 else s.centres[:1], box)
        for s in self._far_first(drawn):
            self._draw_ball(self._work, s)
        return boxes

    def _shadow(self, spots: F64, box: Box) -> None:
        r = self.stage.table.ball_radius
        u0, v0, u1, v1 = box
        if u1 <= u0 or v1 <= v0:
            return
        light = self._work.light
        if len(spots) == 1:
            self._work.shadow(np.array([[*spots[0], r, *spots[0], r]]), window=box, spare=True)
            return
        before = light[v0:v1, u0:u1].copy()
        total = np.zeros_like(before)
        for p in spots:
            light[v0:v1, u0:u1] = before
            self._work.shadow(np.array([[*p, r, *p, r]]), window=box, spare=True)
            total += light[v0:v1, u0:u1]
        light[v0:v1, u0:u1] = total / len(spots)

    def _draw_people(self, t: float) -> list[Box]:
        boxes = []
        for act in self.acts:
            body = act.bodies_at(t)
            if not len(body.cones):
                continue
            for cone in body.cones:
                # fingers lie too close to the cloth, and arms too high, for a shadow worth its time
                thick = max(cone[3], cone[7])
                if not 0 <= min(cone[2], cone[6]) < 0.09 or thick > 0.05 or 0.0075 < thick < 0.02:
                    continue
                if self.stage.table.on_surface((cone[0], cone[1]), -0.1) or self.stage.table.on_surface(
                    (cone[4], cone[5]), -0.1
                ):
                    window = self.stage.shadow_window(cone[None], 0.2)
                    if window[2] > window[0] and window[3] > window[1]:
                        boxes.append(self._work.shadow(cone[None], 0.4, window, spare=True))
            self._work.body(body)
            box = self._body_box(body)
            if box is not None:
                boxes.append(box)
        return _joined(boxes)

    def _body_box(self, body: Body) -> Box | None:
        camera = self.stage.camera
        ends = np.vstack([body.cones[:, :4], body.cones[:, 4:]])
        depth = ends[:, :3] @ camera.rotation[2] + camera.translation[2]
        seen = ends[depth > 0.15]
        if not len(seen):
            return None
        px = camera.project(seen[:, :3])
        reach = (camera.focal * seen[:, 3] / depth[depth > 0.15])[:, None] + 3
        u0, v0 = np.floor((px - reach).min(axis=0)).astype(int)
        u1, v1 = np.ceil((px + reach).max(axis=0)).astype(int)
        u0, v0, u1, v1 = max(0, u0), max(0, v0), min(camera.width, u1), min(camera.height, v1)
        return (u0, v0, u1, v1) if u1 > u0 and v1 > v0 else None

    # -- pictures ------------------------------------------------------------------------------------------------------
    def _restore(self, box: Box) -> None:
        cut = (slice(box[1], box[3]), slice(box[0], box[2]))
        self._work.light[cut] = self._rest.light[cut]
        self._work.far[cut] = self._rest.far[cut]
        self._work.owner[cut] = self._rest.owner[cut]

    def _develop(self, light: F32, box: Box, out: npt.NDArray[np.uint8]) -> None:
        """Tone, blur and sharpen ``light`` within ``box`` into ``out``."""
        look = self.scene.looks.film
        h, w = light.shape[:2]
        u0, v0, u1, v1 = box
        if u1 <= u0 or v1 <= v0:
            return
        a0, b0, a1, b1 = max(0, u0 - MARGIN_PX), max(0, v0 - MARGIN_PX), min(w, u1 + MARGIN_PX), min(h, v1 + MARGIN_PX)
        falloff = self._falloff[b0:b1, a0:a1] if self._falloff is not None else None
        if self._gain != 1.0:
            look = replace(look, exposure=look.exposure * self._gain)
        y = film.develop(light[b0:b1, a0:a1], look, falloff)
        if look.blur > 0:
            y = cv2.GaussianBlur(y, (0, 0), look.blur)
        if look.sharpen > 0:
            y = y + look.sharpen * (y - cv2.GaussianBlur(y, (0, 0), 1.2))
        # a margin of the outcome belongs to the box as well: the blur carries what changed a little farther
        m = 3
        c0, d0, c1, d1 = max(0, u0 - m), max(0, v0 - m), min(w, u1 + m), min(h, v1 + m)
        part = y[d0 - b0 : d1 - b0, c0 - a0 : c1 - a0]
        out[d0:d1, c0:c1] = np.clip(part + 0.5, 0, 255).astype(np.uint8)

    def _with_noise(self, picture: npt.NDArray[np.uint8]) -> npt.NDArray[np.uint8]:
        if self.scene.looks.film.noise <= 0:
            return picture
        h, w = picture.shape[:2]
        a, b = int(self.rng.integers(97)), int(self.rng.integers(89))
        cut = (slice(a, a + h), slice(b, b + w))
        cv2.add(picture, self._plus[cut], dst=picture)
        cv2.subtract(picture, self._minus[cut], dst=picture)
        return picture


def _joined(boxes: list[Box]) -> list[Box]:
    """The boxes with those put together that cover much the same."""
    left = [b for b in boxes if b[2] > b[0] and b[3] > b[1]]
    done: list[Box] = []
    while left:
        a = left.pop()
        for k, b in enumerate(left):
            c = (min(a[0], b[0]), min(a[1], b[1]), max(a[2], b[2]), max(a[3], b[3]))
            if _area(c) <= 1.15 * (_area(a) + _area(b)):
                left[k] = c
                break
        else:
            done.append(a)
    return done


def _area(b: Box) -> float:
    return float(b[2] - b[0]) * (b[3] - b[1])


def frame_count(scene: Scene, end_s: float) -> int:
    """Frames until ``end_s`` and the scene's tail after it."""
    return math.ceil((end_s + scene.tail_s) * scene.fps)
