"""Cues, hands, arms, players and tools as lists of rounded cones with coats of paint, metres in the table frame."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sample_videos.looks import RGB, linear
from sample_videos.optics import F64

FLOOR_Z = -0.79


@dataclass(frozen=True, slots=True)
class Body:
    """Rounded cones (n, 8: ax, ay, az, ra, bx, by, bz, rb) and their coats (n, 5: blue, green, red, gloss, weave)."""

    cones: F64
    coats: F64

    @classmethod
    def of(cls, parts: list[tuple[npt.ArrayLike, float, npt.ArrayLike, float, RGB, float, float]]) -> Body:
        """From rows (a, ra, b, rb, sRGB colour, gloss, weave)."""
        cones = np.array(
            [[*np.asarray(a, float), ra, *np.asarray(b, float), rb] for a, ra, b, rb, *_ in parts]
        ).reshape(-1, 8)
        coats = np.array([[*linear(rgb), gloss, weave] for *_, rgb, gloss, weave in parts]).reshape(-1, 5)
        return cls(cones, coats)

    def __add__(self, other: Body) -> Body:
        return Body(np.vstack([self.cones, other.cones]), np.vstack([self.coats, other.coats]))

    @classmethod
    def nothing(cls) -> Body:
        return cls(np.zeros((0, 8)), np.zeros((0, 5)))

    def moved(self, by: npt.ArrayLike) -> Body:
        """The same body shifted by (3,) metres."""
        d = np.asarray(by, dtype=np.float64)
        return Body(self.cones + np.concatenate([d, [0], d, [0]]), self.coats)


@dataclass(frozen=True, slots=True)
class Dress:
    """Colours of a player and of his cue."""

    skin: RGB = (206, 160, 130)
    sleeve: RGB = (30, 30, 34)
    shirt: RGB = (30, 30, 34)
    trousers: RGB = (24, 24, 28)
    hair: RGB = (40, 30, 24)
    glove: RGB | None = None
    long_sleeve: bool = False
    shaft: RGB = (222, 190, 140)
    butt: RGB = (40, 26, 22)
    ferrule: RGB = (244, 242, 236)
    tip: RGB = (60, 90, 130)
    size: float = 1.0


def random_dress(rng: np.random.Generator) -> Dress:
    """A dress drawn from a wide spread."""

    def any_colour() -> RGB:
        if rng.random() < 0.5:
            v = int(rng.integers(8, 60))
            return (v, v, min(255, v + int(rng.integers(0, 12))))
        return tuple(int(v) for v in rng.integers(10, 250, 3))  # type: ignore[return-value]

    tone = float(rng.uniform(0.25, 1.05))
    skin: RGB = (min(255, int(215 * tone)), min(255, int(165 * tone)), min(255, int(135 * tone)))
    shirt = any_colour()
    gloves: list[RGB | None] = [None, None, (20, 20, 22), (30, 90, 200), (220, 220, 220), (180, 30, 40)]
    return Dress(
        skin=skin, shirt=shirt, sleeve=shirt, trousers=any_colour(),
        hair=((30, 24, 20), (90, 60, 30), (150, 150, 150), (200, 170, 110), (60, 60, 200))[int(rng.choice(5, p=[0.5, 0.2, 0.12, 0.12, 0.06]))],
        glove=gloves[int(rng.integers(len(gloves)))],
        long_sleeve=bool(rng.random() < 0.4),
        shaft=((222, 190, 140), (236, 214, 176), (24, 24, 26), (196, 160, 110))[int(rng.choice(4, p=[0.4, 0.25, 0.2, 0.15]))],
        butt=any_colour(),
        ferrule=((244, 242, 236), (30, 30, 32))[int(rng.random() < 0.25)],
        tip=((60, 90, 130), (110, 70, 50), (40, 70, 60), (30, 30, 30))[int(rng.integers(4))],
        size=float(rng.uniform(0.85, 1.15)),
    )  # fmt: skip


def cue(tip: npt.ArrayLike, direction: npt.ArrayLike, dress: Dress, length: float = 1.47) -> Body:
    """A cue whose tip's end is at ``tip`` (3,) and that points along ``direction`` (3,) (from butt to tip)."""
    t = np.asarray(tip, dtype=np.float64)
    d = np.asarray(direction, dtype=np.float64)
    d = d / np.linalg.norm(d)
    stops: list[tuple[float, float, float, RGB, float]] = [
        (0.0, 0.012, 0.0062, dress.tip, 0.0),
        (0.012, 0.032, 0.0064, dress.ferrule, 0.3),
    ]
    for k in range(6):
        stops.append((0.032 + k * 0.118, 0.032 + (k + 1) * 0.118, 0.0066 + k * 0.0006, dress.shaft, 0.5))
    stops.append((0.74, 0.752, 0.0103, (210, 200, 170), 0.6))
    for k in range(5):
        stops.append((0.752 + k * 0.1436, 0.752 + (k + 1) * 0.1436, 0.0105 + k * 0.0009, dress.butt, 0.6))
    scale = length / 1.47
    rows = []
    for a, b, r, rgb, gloss in stops:
        rows.append((t - d * (a * scale + r * (a == 0)), r, t - d * b * scale, r + 0.0004, rgb, gloss, 0.0))
    return Body.of(rows)  # type: ignore[arg-type]


def hand(at: npt.ArrayLike, toward: npt.ArrayLike, dress: Dress, rng: np.random.Generator, spread: float = 1.0) -> Body:
    """A hand that lies on the cloth: palm at ``at`` (3,), fingers along ``toward`` (2,)."""
    p = np.asarray(at, dtype=np.float64)
    f = np.array([*np.asarray(toward, dtype=np.float64)[:2], 0.0])
    f /= np.linalg.norm(f)
    side = np.array([-f[1], f[0], 0.0])
    colour = dress.glove or dress.skin
    s = dress.size
    rows: list[tuple[F64, float, F64, float, RGB, float, float]] = [
        (p - f * 0.045 * s + [0, 0, 0.008], 0.026 * s, p + f * 0.025 * s, 0.031 * s, colour, 0.04, 0.06),
        (p - f * 0.035 * s + side * 0.02, 0.024 * s, p + f * 0.025 * s + side * 0.016, 0.024 * s, colour, 0.04, 0.06),
    ]
    for k, angle in enumerate((-0.42, -0.12, 0.14, 0.42)):
        a = angle * spread + float(rng.normal(0, 0.07))
        d = np.cos(a) * f + np.sin(a) * side
        base = p + f * 0.03 * s + side * (k - 1.5) * 0.019 * s
        mid = base + d * 0.045 * s + [0, 0, 0.006]
        end = mid + d * 0.035 * s * float(rng.uniform(0.4, 1.0))
        end[2] = 0.009
        tip_colour = dress.skin if (dress.glove and k == 3) else colour
        rows.append((base, 0.0105 * s, mid, 0.0095 * s, colour, 0.04, 0.05))
        rows.append((mid, 0.0095 * s, end, 0.008 * s, tip_colour, 0.04, 0.05))
    thumb = p + side * 0.03 * s
    rows.append((thumb, 0.012 * s, thumb + f * 0.05 * s + side * 0.012 + [0, 0, 0.012], 0.0095 * s, colour, 0.04, 0.05))
    return Body.of(rows)  # type: ignore[arg-type]


def arm(wrist: npt.ArrayLike, shoulder: npt.ArrayLike, dress: Dress, sag: float = 0.06) -> Body:
    """Forearm and upper arm from ``wrist`` to ``shoulder`` (3,), the elbow lowered by ``sag`` metres."""
    w, s = np.asarray(wrist, dtype=np.float64), np.asarray(shoulder, dtype=np.float64)
    elbow = w + (s - w) * 0.48
    elbow[2] -= sag
    if w[2] >= 0:
        elbow[2] = max(elbow[2], 0.05)
    k = dress.size
    fore = dress.sleeve if dress.long_sleeve else dress.skin
    rows = [
        (w, 0.026 * k, elbow, 0.041 * k, fore, 0.03, 0.08),
        (elbow, 0.041 * k, s, 0.056 * k, fore if dress.long_sleeve else dress.skin, 0.03, 0.08),
        (elbow + (s - elbow) * (0.05 if dress.long_sleeve else 0.5), 0.054 * k, s, 0.072 * k, dress.sleeve, 0.0, 0.12),
    ]
    if dress.long_sleeve:
        rows.append((w + (elbow - w) * 0.12, 0.034 * k, elbow, 0.046 * k, dress.sleeve, 0.0, 0.12))
    return Body.of(rows)  # type: ignore[arg-type]


def player(feet: npt.ArrayLike, facing: npt.ArrayLike, dress: Dress, bend: float = 0.0) -> Body:
    """Legs, trunk, neck, head and hair of somebody standing at ``feet`` (2,) who bends forward by ``bend`` (0 … 1)."""
    x, y = np.asarray(feet, dtype=np.float64)
    f = np.array([*np.asarray(facing, dtype=np.float64)[:2], 0.0])
    f /= np.linalg.norm(f)
    side = np.array([-f[1], f[0], 0.0])
    k = dress.size
    hip = np.array([x, y, FLOOR_Z + 0.92 * k]) - f * 0.22 * bend
    lean = np.cos(bend * 1.35) * np.array([0, 0, 1.0]) + np.sin(bend * 1.35) * f
    chest = hip + lean * 0.46 * k
    neck = chest + lean * 0.10 * k
    head = neck + (lean * 0.7 + np.array([0, 0, 0.6]) * bend + f * 0.1) * 0.16 * k
    rows: list[tuple[F64, float, F64, float, RGB, float, float]] = []
    for q in (-1, 1):
        foot = np.array([x, y, FLOOR_Z + 0.05]) + side * 0.12 * q + f * 0.12 * q * bend
        knee = (foot + hip) / 2 + f * 0.06
        rows.append((foot, 0.06 * k, knee, 0.075 * k, dress.trousers, 0.0, 0.1))
        rows.append((knee, 0.075 * k, hip + side * 0.08 * q, 0.1 * k, dress.trousers, 0.0, 0.1))
        rows.append((foot, 0.05, foot + f * 0.14, 0.045, (20, 18, 18), 0.1, 0.0))
        rows.append((hip + side * 0.08 * q, 0.12 * k, chest + side * 0.11 * q, 0.115 * k, dress.shirt, 0.0, 0.12))
    rows.append((hip, 0.14 * k, chest, 0.14 * k, dress.shirt, 0.0, 0.12))
    rows.append((chest - side * 0.17 * k, 0.085 * k, chest + side * 0.17 * k, 0.085 * k, dress.shirt, 0.0, 0.12))
    rows.append((neck, 0.055 * k, head, 0.06 * k, dress.skin, 0.03, 0.05))
    rows.append((head, 0.088 * k, head + np.array([0, 0, 0.04]) + f * 0.015, 0.092 * k, dress.skin, 0.03, 0.05))
    rows.append(
        (
            head + np.array([0, 0, 0.055]) - f * 0.03,
            0.094 * k,
            head + np.array([0, 0, 0.04]) - f * 0.045,
            0.09 * k,
            dress.hair,
            0.05,
            0.25,
        )
    )
    return Body.of(rows)  # type: ignore[arg-type]


def shoulders(feet: npt.ArrayLike, facing: npt.ArrayLike, dress: Dress, bend: float) -> tuple[F64, F64]:
    """Left and right shoulder (3,) of the same player."""
    body = player(feet, facing, dress, bend)
    row = body.cones[-4]
    return row[4:7], row[0:3]


def shooter(tip: npt.ArrayLike, direction: npt.ArrayLike, dress: Dress, rng: np.random.Generator, *, whole: bool = True,
            bridge_back: float = 0.2, bend: float = 0.75) -> Body:  # fmt: skip
    """Cue, bridge hand, both arms and the player behind them; ``tip`` (3,) and shot ``direction`` (3,)."""
    t = np.asarray(tip, dtype=np.float64)
    d = np.asarray(direction, dtype=np.float64)
    d = d / np.linalg.norm(d)
    flat = np.array([d[0], d[1], 0.0])
    flat /= np.linalg.norm(flat)
    side = np.array([-flat[1], flat[0], 0.0])
    bridge = t - d * bridge_back
    palm = bridge - flat * 0.05 + side * 0.01
    palm[2] = 0.03
    body = cue(t, d, dress) + hand(palm, flat, dress, rng)
    feet = (t - flat * 1.28 - side * 0.12)[:2]
    left, right = shoulders(feet, flat, dress, bend)
    body = body + arm(palm - flat * 0.05 + [0, 0, 0.012], left, dress)
    grip = t - d * 1.18
    body = body + arm(grip, right + np.array([0, 0, 0.02]), dress, sag=-0.1)
    body = body + Body.of(
        [(grip - d * 0.04, 0.035 * dress.size, grip + d * 0.04, 0.033 * dress.size, dress.skin, 0.03, 0.05)]
    )
    if whole:
        body = body + player(feet, flat, dress, bend)
    return body


def rack(centre: npt.ArrayLike, kind: str, ball_m: float, colour: RGB) -> Body:
    """A wooden triangle or diamond laid round the balls; ``centre`` (2,) is the apex ball's place."""
    x, y = np.asarray(centre, dtype=np.float64)
    pitch = ball_m * 0.87
    if kind == "diamond":
        points = [
            (x, y - ball_m),
            (x + 1.75 * ball_m, y + 2 * pitch),
            (x, y + 4 * pitch + ball_m),
            (x - 1.75 * ball_m, y + 2 * pitch),
        ]
    else:
        points = [
            (x, y - 1.15 * ball_m),
            (x + 3.05 * ball_m, y + 4 * pitch + 0.6 * ball_m),
            (x - 3.05 * ball_m, y + 4 * pitch + 0.6 * ball_m),
        ]
    rows = []
    for a, b in zip(points, points[1:] + points[:1], strict=True):
        for z in (0.012, 0.03):
            rows.append(((*a, z), 0.011, (*b, z), 0.011, colour, 0.2, 0.1))
    return Body.of(rows)  # type: ignore[arg-type]


def chalk(at: npt.ArrayLike, z: float, colour: RGB) -> Body:
    """A cube of chalk at ``at`` (2,) standing on height ``z``."""
    x, y = np.asarray(at, dtype=np.float64)
    return Body.of([((x, y, z + 0.008), 0.0115, (x, y, z + 0.014), 0.0115, colour, 0.0, 0.1)])


def long_bridge(at: npt.ArrayLike, toward: npt.ArrayLike, colour: RGB) -> Body:
    """A mechanical bridge lying on the cloth with its head at ``at`` (2,)."""
    x, y = np.asarray(at, dtype=np.float64)
    f = np.array([*np.asarray(toward, dtype=np.float64)[:2], 0.0])
    f /= np.linalg.norm(f)
    side = np.array([-f[1], f[0], 0.0])
    p = np.array([x, y, 0.01])
    rows = [(p, 0.009, p - f * 1.4 + [0, 0, 0.06], 0.013, colour, 0.4, 0.0)]
    for q in (-0.06, -0.02, 0.02, 0.06):
        rows.append((p + side * q, 0.007, p + side * q * 0.9 + [0, 0, 0.05], 0.005, (190, 150, 60), 0.5, 0.0))
    rows.append((p - side * 0.07, 0.008, p + side * 0.07, 0.008, (190, 150, 60), 0.5, 0.0))
    return Body.of(rows)  # type: ignore[arg-type]
