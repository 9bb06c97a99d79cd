"""What a table, its balls, its lamps and its picture look like: frozen descriptions, and random ones from a seed.

Colours are sRGB red-green-blue 0 … 255 where a person writes them (scene files) and linear blue-green-red in arrays.
"""

from __future__ import annotations

import colorsys
import math
from dataclasses import dataclass, field

import numpy as np

from sample_videos.optics import F64
from sample_videos.shade_balls import CUE, LOGO, MEASLES, PLAIN, SOLID, STRIPE

RGB = tuple[int, int, int]

#: sRGB colours of balls 1 to 8 by brand; a stripe has the colour of the solid seven below it.
BALL_SETS: dict[str, tuple[RGB, ...]] = {
    "standard": (
        (243, 190, 22), (24, 62, 165), (214, 32, 34), (86, 38, 124), (243, 112, 24), (14, 112, 62), (122, 26, 38), (16, 16, 18),
    ),
    "tv": (
        (250, 200, 20), (20, 90, 200), (215, 25, 40), (240, 110, 160), (245, 120, 20), (20, 140, 80), (185, 125, 70), (18, 18, 20),
    ),
    "tv-purple": (
        (250, 205, 30), (25, 70, 190), (225, 40, 45), (245, 130, 160), (110, 60, 160), (10, 125, 85), (175, 110, 60), (14, 14, 16),
    ),
    "dark": (
        (196, 150, 30), (22, 36, 92), (150, 28, 30), (58, 30, 72), (190, 84, 34), (18, 70, 44), (84, 26, 30), (20, 20, 20),
    ),
    "bright": (
        (255, 216, 0), (0, 84, 216), (238, 20, 24), (120, 30, 150), (255, 128, 0), (0, 150, 60), (150, 20, 20), (8, 8, 8),
    ),
    "uk": ((205, 25, 30),) * 7 + ((14, 14, 16),),
}  # fmt: skip
UK_YELLOW: RGB = (248, 196, 24)

CLOTHS: dict[str, RGB] = {
    "tournament-blue": (20, 132, 196), "electric-blue": (0, 112, 224), "powder-blue": (88, 160, 205), "navy": (24, 50, 110),
    "green": (14, 118, 72), "light-green": (30, 150, 84), "dark-green": (10, 74, 50), "spruce": (20, 92, 84), "teal": (24, 134, 134),
    "grey": (168, 170, 172), "dark-grey": (88, 90, 92), "maroon": (120, 30, 48), "red": (176, 26, 36), "wine": (132, 52, 76),
    "tan": (186, 148, 104), "camel": (160, 118, 70), "purple": (84, 48, 130), "black": (40, 40, 44), "orange": (206, 100, 34),
    "pink": (205, 110, 150),
}  # fmt: skip


def linear(rgb: RGB) -> F64:
    """(3,) linear blue-green-red of an sRGB colour."""
    c = np.array(rgb[::-1], dtype=np.float64) / 255
    return np.where(c <= 0.04045, c / 12.92, ((c + 0.055) / 1.055) ** 2.4)


@dataclass(frozen=True, slots=True)
class ClothLook:
    """Cloth and what lies or is drawn on it (``wear``, ``chalk``, 0 … 1; ``logo`` names a kind or is empty)."""

    colour: RGB = CLOTHS["tournament-blue"]
    grain: float = 0.05
    wear: float = 0.2
    chalk: float = 0.2
    lines: str = ""  # "", "head", "both", "box"
    spot: str = "black"  # "", "black", "white"
    logo: str = ""  # "", "text", "ring", "bars", "emblem"
    sighting: bool = False  # the small triangles and dots some broadcast tables carry
    cushion: float = 1.0  # brightness of the cushion's cloth against the bed's


@dataclass(frozen=True, slots=True)
class RailLook:
    """Rails, pockets and the table's body; metres where it is a length."""

    cap: RGB = (34, 34, 36)
    trim: RGB = (34, 34, 36)  # corner and side castings
    rim: RGB = (24, 24, 24)
    liner: RGB = (20, 18, 18)
    body: RGB = (30, 30, 32)
    sight: RGB = (235, 235, 230)
    width: float = 0.135
    cushion_width: float = 0.05
    rounding: float = 0.06
    diamonds: bool = False
    sight_size: float = 0.006
    wood: float = 0.0
    gloss: float = 0.4
    trim_gloss: float = 0.4
    rim_width: float = 0.014
    corner_trim: float = 0.0
    side_trim: float = 0.0


@dataclass(frozen=True, slots=True)
class BallLook:
    """A set of balls: colours, cue ball, markings, how shiny and how worn."""

    name: str = "standard"
    cue: str = "plain"  # plain, measles, logo
    spot: float = 0.40
    band: float = 0.55
    white: RGB = (240, 236, 224)
    gloss: float = 1.0
    softness: float = 0.08
    shift: tuple[float, float, float] = (0.0, 1.0, 1.0)  # hue turn, saturation factor, value factor
    dark_white: bool = False  # black where others are white


@dataclass(frozen=True, slots=True)
class RoomLook:
    """Lamps and surroundings; ``lamps`` rows: x, y, z, half width x, half width y, metres, and an sRGB colour."""

    lamps: tuple[tuple[float, float, float, float, float, RGB], ...] = ()
    ambient: float = 0.3
    ambient_colour: RGB = (255, 250, 240)
    floor: str = "carpet"  # plain, carpet, tiles, wood, lines
    floor_colour: RGB = (60, 62, 70)
    floor_light: float = 0.5
    wall: str = "banner"  # plain, banner, bricks, busy
    wall_colour: RGB = (30, 30, 34)
    wall_light: float = 0.4
    mirrored: float = 0.15


@dataclass(frozen=True, slots=True)
class FilmLook:
    """What camera and codec make of it."""

    exposure: float = 1.0
    balance: tuple[float, float, float] = (1.0, 1.0, 1.0)  # red, green, blue
    contrast: float = 1.0
    saturation: float = 1.0
    shoulder: float = 0.5
    vignette: float = 0.1
    blur: float = 0.0  # standard deviation, pixels
    sharpen: float = 0.0
    noise: float = 0.01
    shrink: float = 1.0  # drawn at this share of the size and enlarged
    jpeg: int = 0  # 0: none
    h264: int = 0  # constant rate factor, 0: none


@dataclass(frozen=True, slots=True)
class Looks:
    """Everything that is seen apart from where things are."""

    cloth: ClothLook = field(default_factory=ClothLook)
    rails: RailLook = field(default_factory=RailLook)
    balls: BallLook = field(default_factory=BallLook)
    room: RoomLook = field(default_factory=RoomLook)
    film: FilmLook = field(default_factory=FilmLook)
    seed: int = 0


def default_lamps(width: float, length: float) -> tuple[tuple[float, float, float, float, float, RGB], ...]:
    """A tournament table's lamp: two long panels over the table."""
    white = (255, 252, 244)
    return tuple((width / 2, length * q, 1.25, 0.28, 0.42, white) for q in (0.27, 0.73))


def _jitter(rng: np.random.Generator, rgb: RGB, amount: float = 0.12) -> RGB:
    h, s, v = colorsys.rgb_to_hsv(*(c / 255 for c in rgb))
    h = (h + rng.normal(0, 0.02) * amount / 0.12) % 1
    s = min(1.0, max(0.0, s * (1 + rng.normal(0, amount))))
    v = min(1.0, max(0.02, v * (1 + rng.normal(0, amount * 1.3))))
    r, g, b = colorsys.hsv_to_rgb(h, s, v)
    return (round(r * 255), round(g * 255), round(b * 255))


def _random_lamps(
    rng: np.random.Generator, width: float, length: float
) -> tuple[tuple[float, float, float, float, float, RGB], ...]:
    warm = float(rng.uniform(0, 1))
    colour: RGB = (255, round(252 - 40 * warm), round(248 - 100 * warm))
    z = float(rng.uniform(0.75, 2.4))
    kind = rng.choice(["panels", "bar", "bulbs", "frame", "room", "spots"], p=[0.22, 0.2, 0.2, 0.1, 0.16, 0.12])
    cx, cy = width / 2, length / 2
    if kind == "panels":
        n = int(rng.integers(1, 4))
        hy = float(rng.uniform(0.2, 0.45)) * length / max(n, 2)
        hx = float(rng.uniform(0.12, 0.4))
        return tuple((cx, length * (k + 0.5) / n, z, hx, hy, colour) for k in range(n))
    if kind == "bar":
        return ((cx, cy, z, float(rng.uniform(0.05, 0.15)), float(rng.uniform(0.3, 0.5)) * length, colour),)
    if kind == "bulbs":
        n = int(rng.integers(2, 5))
        r = float(rng.uniform(0.06, 0.16))
        return tuple((cx, length * (k + 0.5) / n, z, r, r, colour) for k in range(n))
    if kind == "frame":
        return (
            (cx - 0.45, cy, z, 0.06, length * 0.42, colour), (cx + 0.45, cy, z, 0.06, length * 0.42, colour),
            (cx, cy - length * 0.42, z, 0.45, 0.06, colour), (cx, cy + length * 0.42, z, 0.45, 0.06, colour),
        )  # fmt: skip
    if kind == "room":
        n = int(rng.integers(2, 7))
        return tuple(
            (cx + float(rng.uniform(-2, 2)), cy + float(rng.uniform(-2.5, 2.5)), float(rng.uniform(1.4, 2.6)),
             float(rng.uniform(0.05, 0.6)), float(rng.uniform(0.05, 0.6)), colour)
            for _ in range(n)
        )  # fmt: skip
    n = int(rng.integers(4, 9))
    return tuple(
        (
            cx + (k % 2 - 0.5) * float(rng.uniform(0.5, 2.4)),
            length * (k // 2 + 0.5) / ((n + 1) // 2),
            z + 0.6,
            0.09,
            0.09,
            colour,
        )
        for k in range(n)
    )


def random_looks(rng: np.random.Generator, width: float, length: float, *, tidy: bool = False) -> Looks:
    """Looks drawn from a wide spread; ``tidy`` keeps to what a watchable video has (exposure, noise, compression)."""
    u = rng.uniform
    common = ["tournament-blue", "electric-blue", "green", "grey", "powder-blue", "teal", "light-green"]
    name = str(rng.choice(common)) if rng.random() < 0.6 else str(rng.choice(list(CLOTHS)))
    colour = _jitter(rng, CLOTHS[name], 0.16)
    cloth = ClothLook(
        colour,
        grain=float(rng.choice([u(0.0, 0.04), u(0.02, 0.14)])),
        wear=float(rng.beta(0.8, 3.0)),
        chalk=float(rng.beta(0.7, 3.5)),
        lines=str(rng.choice(["", "head", "both", "box"], p=[0.6, 0.2, 0.1, 0.1])),
        spot=str(rng.choice(["", "black", "white"], p=[0.3, 0.5, 0.2])),
        logo=str(rng.choice(["", "text", "ring", "bars", "emblem"], p=[0.66, 0.1, 0.08, 0.08, 0.08])),
        sighting=bool(rng.random() < 0.1),
        cushion=float(u(0.75, 1.15)),
    )
    style = rng.choice(["black", "wood", "metal", "white", "grey"], p=[0.38, 0.32, 0.08, 0.08, 0.14])
    cap: RGB = {
        "black": (30, 30, 32), "wood": (108, 62, 34), "metal": (140, 142, 146), "white": (215, 214, 208), "grey": (88, 88, 92),
    }[str(style)]  # fmt: skip
    cap = _jitter(rng, cap, 0.2)
    trim = (
        cap
        if rng.random() < 0.45
        else _jitter(rng, ((30, 30, 30), (165, 166, 170), (190, 190, 190))[int(rng.integers(3))], 0.15)
    )
    rim = _jitter(
        rng,
        ((20, 20, 20), (26, 24, 22), (70, 46, 30), (120, 120, 124), (90, 60, 36))[
            int(rng.choice(5, p=[0.4, 0.25, 0.12, 0.15, 0.08]))
        ],
    )
    metal = max(trim) > 110
    rails = RailLook(
        cap=cap, trim=trim, rim=rim,
        liner=_jitter(rng, ((14, 13, 13), (30, 26, 24), (60, 44, 30), (70, 70, 72))[int(rng.choice(4, p=[0.5, 0.25, 0.15, 0.1]))]),
        body=_jitter(rng, cap if rng.random() < 0.7 else (30, 28, 28)),
        sight=((238, 238, 232), (240, 228, 190), (20, 20, 20), (190, 192, 196))[int(rng.choice(4, p=[0.6, 0.15, 0.1, 0.15]))],
        width=float(u(0.11, 0.16)), cushion_width=float(u(0.042, 0.056)), rounding=float(u(0.01, 0.12)),
        diamonds=bool(rng.random() < 0.4), sight_size=float(u(0.004, 0.009)),
        wood=float(u(0.05, 0.25)) if style == "wood" else float(u(0, 0.05)),
        gloss=float(u(0, 1.2)), trim_gloss=float(u(0.5, 3)) if metal else float(u(0, 0.8)),
        rim_width=float(u(0.004, 0.022)),
        corner_trim=float(u(0.05, 0.12)) if rng.random() < 0.55 else 0.0,
        side_trim=float(u(0.03, 0.06)) if rng.random() < 0.45 else 0.0,
    )  # fmt: skip
    balls = BallLook(
        name=str(rng.choice(list(BALL_SETS), p=[0.34, 0.18, 0.12, 0.14, 0.14, 0.08])),
        cue=str(rng.choice(["plain", "measles", "logo"], p=[0.55, 0.3, 0.15])),
        spot=float(u(0.3, 0.5)), band=float(u(0.46, 0.66)),
        white=_jitter(rng, ((244, 242, 236), (238, 226, 196), (226, 214, 180))[int(rng.choice(3, p=[0.6, 0.25, 0.15]))], 0.04),
        gloss=float(u(0.35, 1.4)), softness=float(rng.choice([0.05, 0.15, 0.5, 1.2])),
        shift=(float(rng.normal(0, 0.012)), float(u(0.75, 1.1)), float(u(0.75, 1.12))),
        dark_white=bool(rng.random() < 0.03),
    )  # fmt: skip
    room = RoomLook(
        lamps=_random_lamps(rng, width, length),
        ambient=float(u(0.1, 0.9)),
        ambient_colour=_jitter(rng, ((255, 250, 240), (255, 220, 180), (220, 232, 255), (150, 140, 255))[int(rng.choice(4, p=[0.5, 0.25, 0.17, 0.08]))], 0.05),
        floor=str(rng.choice(["plain", "carpet", "tiles", "wood", "lines"])),
        floor_colour=_jitter(rng, ((60, 62, 70), (120, 110, 100), (150, 110, 70), (40, 50, 90), (170, 165, 155), (90, 30, 30), (196, 160, 70))[int(rng.integers(7))], 0.25),
        floor_light=float(u(0.1, 0.9)),
        wall=str(rng.choice(["plain", "banner", "bricks", "busy"], p=[0.15, 0.35, 0.1, 0.4])),
        wall_colour=_jitter(rng, ((30, 30, 34), (150, 145, 135), (24, 40, 80), (90, 60, 45), (200, 200, 200))[int(rng.integers(5))], 0.2),
        wall_light=float(u(0.08, 0.8)),
        mirrored=float(u(0.03, 0.4)),
    )  # fmt: skip
    if tidy:
        film = FilmLook(
            exposure=float(u(0.85, 1.15)), balance=(float(u(0.94, 1.06)), 1.0, float(u(0.94, 1.06))),
            contrast=float(u(0.95, 1.1)), saturation=float(u(0.9, 1.15)), shoulder=float(u(0.3, 0.8)),
            vignette=float(u(0, 0.2)), noise=float(u(0.003, 0.012)), blur=float(u(0.3, 0.7)),
        )  # fmt: skip
        return Looks(cloth, rails, balls, room, film, int(rng.integers(2**31)))
    film = FilmLook(
        exposure=float(np.exp(rng.normal(0.2, 0.3))),
        balance=(float(np.exp(rng.normal(0, 0.09))), 1.0, float(np.exp(rng.normal(0, 0.11)))),
        contrast=float(u(0.85, 1.35)), saturation=float(u(0.6, 1.25)), shoulder=float(u(0, 1)),
        vignette=float(rng.choice([0, u(0, 0.5)])),
        blur=float(rng.choice([0.0, u(0.3, 0.8), u(0.6, 1.8)], p=[0.3, 0.5, 0.2])),
        sharpen=float(rng.choice([0.0, u(0.2, 1.5)], p=[0.55, 0.45])),
        noise=float(rng.choice([u(0, 0.008), u(0.005, 0.035)])),
        shrink=float(rng.choice([1.0, u(0.5, 0.95)], p=[0.7, 0.3])),
        jpeg=int(rng.choice([0, rng.integers(25, 95)])),
        h264=int(rng.choice([0, rng.integers(18, 36)], p=[0.75, 0.25])),
    )  # fmt: skip
    return Looks(cloth, rails, balls, room, film, int(rng.integers(2**31)))


def is_uk(look: BallLook) -> bool:
    """Whether the set is of reds and yellows without numbers."""
    return look.name == "uk"


def ball_paint(look: BallLook, number: int, rng: np.random.Generator | None = None) -> tuple[int, F64]:
    """Style and (5, 3) paint table of ball ``number`` as ``shade_balls.marking`` reads it."""
    white = linear(look.white)
    dark = linear((14, 14, 16))
    body = dark if look.dark_white else white
    geometry = np.array([look.spot, look.band, 0.0])
    if number == 0:
        colour, style = white, {"plain": CUE, "measles": MEASLES, "logo": LOGO}[look.cue]
        geometry[0] = 0.22 if look.cue == "measles" else 0.3
        geometry[2] = 0.45
        mark = linear((190, 20, 30) if look.cue == "measles" else (40, 40, 120))
        return style, np.stack([colour, white, mark, white, geometry])
    if is_uk(look) and number != 8:
        rgb = BALL_SETS["uk"][0] if number < 8 else UK_YELLOW
        return PLAIN, np.stack([linear(_shifted(look, rgb)), body, dark, white, geometry])
    rgb = BALL_SETS[look.name][(number - 1) % 8] if number <= 8 else BALL_SETS[look.name][number - 9]
    colour = linear(_shifted(look, rgb))
    return (SOLID if number <= 8 else STRIPE), np.stack([colour, body, dark, white, geometry])


def _shifted(look: BallLook, rgb: RGB) -> RGB:
    turn, sat, val = look.shift
    h, s, v = colorsys.rgb_to_hsv(*(c / 255 for c in rgb))
    r, g, b = colorsys.hsv_to_rgb((h + turn) % 1, min(1.0, s * sat), min(1.0, v * val))
    return (round(r * 255), round(g * 255), round(b * 255))


def lamp_arrays(room: RoomLook, width: float, length: float) -> tuple[F64, F64, F64]:
    """Small square lamps (n, 8) that give the light, whole lamps (m, 8) as they are mirrored, and (3,) ambient light.

    The sum on the middle of the cloth is 1 (white light).
    """
    rows: list[list[float]] = []
    rects: list[list[float]] = []
    for x, y, z, hx, hy, rgb in room.lamps or default_lamps(width, length):
        colour = linear(rgb)
        nx, ny = max(1, min(4, round(hx / 0.25))), max(1, min(4, round(hy / 0.25)))
        if hx > 2.5 * hy or hy > 2.5 * hx:
            nx, ny = (min(4, math.ceil(hx / 0.3)), 1) if hx > hy else (1, min(4, math.ceil(hy / 0.3)))
        for i in range(nx):
            for j in range(ny):
                sx, sy = x + hx * (2 * (i + 0.5) / nx - 1), y + hy * (2 * (j + 0.5) / ny - 1)
                rows.append([sx, sy, z, hx / nx, hy / ny, *(colour * hx * hy / (nx * ny))])
        rects.append([x, y, z, hx, hy, *colour])
    lamps, seen = np.array(rows), np.array(rects)
    # equal power per whole lamp area would leave small bulbs dark: scale so that the whole gives its share
    ambient = linear(room.ambient_colour) * room.ambient
    d = np.array([width / 2, length / 2, 0.0]) - lamps[:, :3]
    d2 = (d**2).sum(axis=1)
    direct = (lamps[:, 2] ** 2 / d2**2) @ lamps[:, 5:]
    scale = (1 - min(0.85, room.ambient)) / direct.mean()
    lamps[:, 5:] *= scale
    seen[:, 5:] *= min(150.0, max(4.0, scale * 1.2))  # radiance that gives this light, and a little for the polish
    return lamps, seen, ambient
