"""Pictures laid on surfaces: cloth with its wear and marks, floors, walls, digits, noise."""

from __future__ import annotations

from functools import lru_cache

import cv2
import numpy as np

from sample_videos.looks import ClothLook, RoomLook, linear
from sample_videos.optics import F32

MARGIN_M = 0.1
WORDS = (
    "OPEN", "MASTERS", "CHAMPIONSHIP", "9-BALL", "8-BALL", "BILLIARDS", "CLASSIC", "LEAGUE", "CUES", "WORLD CUP", "SPORT BAR",
    "TABLES", "CITY CUP", "TV", "ROUND 4", "FINAL", "RACE TO 9", "POOL CLUB",
)  # fmt: skip


def smooth_noise(rng: np.random.Generator, h: int, w: int, cells: int) -> F32:
    """(h, w) noise of about unit spread with ``cells`` bumps along the longer side."""
    rows, cols = max(2, cells * h // max(h, w)), max(2, cells * w // max(h, w))
    small = rng.standard_normal((rows, cols)).astype(np.float32)
    return cv2.resize(small, (w, h), interpolation=cv2.INTER_CUBIC)


def cloth_texture(
    look: ClothLook, width: float, length: float, rng: np.random.Generator, per_metre: float = 340.0
) -> F32:
    """(h, w, 3) linear colour of the bed's cloth, from MARGIN_M before the nose lines to MARGIN_M beyond."""
    w, h = round((width + 2 * MARGIN_M) * per_metre), round((length + 2 * MARGIN_M) * per_metre)
    base = linear(look.colour).astype(np.float32)
    shade = (
        1
        + look.wear * (0.05 * smooth_noise(rng, h, w, 5) + 0.04 * smooth_noise(rng, h, w, 30))
        + 0.02 * smooth_noise(rng, h, w, 200)
    )
    picture = base * shade[..., None]

    def px(x: float, y: float) -> tuple[int, int]:
        return round((x + MARGIN_M) * per_metre * 16), round((y + MARGIN_M) * per_metre * 16)

    def blend(mask: F32, rgb: tuple[int, int, int], amount: float) -> None:
        at = np.nonzero(mask)
        a = (mask[at].astype(np.float32) / 255 * amount)[:, None]
        picture[at] = picture[at] * (1 - a) + linear(rgb).astype(np.float32) * a

    mask = np.zeros((h, w), np.uint8)
    for _ in range(int(look.wear * 60)):  # burns and tracks of the break
        a = (
            np.array([width / 2, length * 0.75]) + rng.normal(0, 0.12, 2)
            if rng.random() < 0.6
            else rng.uniform(0, 1, 2) * (width, length)
        )
        b = a + rng.normal(0, 0.25, 2)
        cv2.line(mask, px(*a), px(*b), int(rng.integers(60, 255)), 1, cv2.LINE_AA, 4)
    blend(
        cv2.GaussianBlur(mask, (0, 0), 1.0),
        (225, 225, 225) if rng.random() < 0.7 else (20, 20, 20),
        float(rng.uniform(0.04, 0.25)),
    )
    mask[:] = 0
    for _ in range(int(look.chalk * 90)):
        at = rng.uniform(0, 1, 2) * (width, length)
        cv2.circle(
            mask,
            px(*at),
            int(rng.uniform(0.002, 0.012) * per_metre * 16),
            int(rng.integers(60, 255)),
            -1,
            cv2.LINE_AA,
            4,
        )
    blend(cv2.GaussianBlur(mask, (0, 0), 1.6), ((120, 170, 220), (235, 235, 235))[int(rng.integers(2))], 0.35)

    mask[:] = 0
    thick = int(rng.integers(1, 3))
    if look.lines in ("head", "both", "box"):
        cv2.line(mask, px(0, length / 4), px(width, length / 4), 255, thick, cv2.LINE_AA, 4)
    if look.lines == "both":
        cv2.line(mask, px(width / 2, length * 0.75), px(width / 2, length), 255, thick, cv2.LINE_AA, 4)
    if look.lines == "box":
        cv2.line(mask, px(width * 0.3, 0), px(width * 0.3, length / 4), 255, thick, cv2.LINE_AA, 4)
        cv2.line(mask, px(width * 0.7, 0), px(width * 0.7, length / 4), 255, thick, cv2.LINE_AA, 4)
    blend(mask, (235, 235, 235), float(rng.uniform(0.3, 0.9)))
    mask[:] = 0
    if look.spot:
        cv2.circle(
            mask, px(width / 2, length * 0.75), int(rng.uniform(0.004, 0.009) * per_metre * 16), 255, -1, cv2.LINE_AA, 4
        )
        if rng.random() < 0.3:
            cv2.circle(mask, px(width / 2, length * 0.25), int(0.006 * per_metre * 16), 255, -1, cv2.LINE_AA, 4)
        blend(mask, (235, 235, 235) if look.spot == "white" else (12, 12, 14), 0.9)
    mask[:] = 0
    if look.sighting:
        for k in range(1, 8):
            for x in (0.03, width - 0.03):
                cv2.drawMarker(
                    mask, tuple(v // 16 for v in px(x, length * k / 8)), 255, cv2.MARKER_TRIANGLE_UP, 9, 1, cv2.LINE_AA
                )
        blend(mask, tuple(int(v) for v in rng.integers(0, 255, 3)), 0.8)  # type: ignore[arg-type]
    mask[:] = 0
    if look.logo:
        _logo(mask, look.logo, px, width, length, rng, per_metre)
        if rng.random() < 0.5:
            mask = np.ascontiguousarray(mask[::-1, ::-1])
        blend(
            mask,
            ((240, 240, 240), (10, 10, 12), (220, 180, 30), (200, 30, 40), (20, 40, 120))[int(rng.integers(5))],
            float(rng.uniform(0.3, 0.95)),
        )
    return np.ascontiguousarray(np.clip(picture, 0.002, 1.2), dtype=np.float32)


def _logo(mask: F32, kind: str, px, width: float, length: float, rng: np.random.Generator, per_metre: float) -> None:  # type: ignore[no-untyped-def,type-arg]
    cx, cy = px(width * rng.uniform(0.3, 0.7), length * rng.uniform(0.1, 0.9))
    cx, cy = cx // 16, cy // 16
    s = float(rng.uniform(0.05, 0.3)) * per_metre
    if kind == "text":
        text = str(rng.choice(WORDS))
        patch = np.zeros((mask.shape[1], mask.shape[1]), np.uint8)
        cv2.putText(
            patch,
            text,
            (10, patch.shape[0] // 2),
            int(rng.integers(0, 5)),
            s / 40,
            255,
            max(1, int(s / 14)),
            cv2.LINE_AA,
        )
        # seen from above, the table's frame has x to the right and y up: rows run against the picture's
        patch = np.rot90(patch[::-1], int(rng.integers(4)))
        y = int(rng.integers(0, mask.shape[0] - patch.shape[0]))
        mask[y : y + patch.shape[0]] = np.maximum(mask[y : y + patch.shape[0]], patch)
    elif kind == "ring":
        cv2.circle(mask, (cx, cy), int(s), 255, max(1, int(s * rng.uniform(0.03, 0.2))), cv2.LINE_AA)
        cv2.circle(mask, (cx, cy), int(s * 0.3), 255, -1, cv2.LINE_AA)
    elif kind == "bars":
        for k in range(int(rng.integers(2, 6))):
            cv2.rectangle(
                mask, (int(cx - s + k * s / 2), int(cy - s)), (int(cx - s + k * s / 2 + s / 4), int(cy + s)), 255, -1
            )
    else:
        points = np.array([(cx, cy)]) + rng.normal(0, s * 0.6, (int(rng.integers(4, 9)), 2))
        if rng.random() < 0.5:
            cv2.fillPoly(mask, [cv2.convexHull(points.astype(np.int32))], 255, cv2.LINE_AA)
        else:
            cv2.polylines(mask, [points.astype(np.int32)], True, 255, 2, cv2.LINE_AA)


@lru_cache(maxsize=1)
def grain_tile() -> F32:
    """(256, 256) fibres and nap, unit spread, always the same."""
    rng = np.random.default_rng(7)
    noise = rng.standard_normal((256, 256)).astype(np.float32)
    nap = cv2.GaussianBlur(noise, (0, 0), sigmaX=0.6, sigmaY=2.2)
    out = 0.5 * noise + 0.9 * nap / nap.std()
    return np.ascontiguousarray(out / out.std(), dtype=np.float32)


@lru_cache(maxsize=1)
def digit_atlas() -> F32:
    """(16, 40, 40) coverage of the numerals 0 … 15 inside a number spot; 6 and 9 are underlined."""
    atlas = np.zeros((16, 40, 40), np.float32)
    for n in range(1, 16):
        big = np.zeros((160, 160), np.uint8)
        text = str(n)
        scale, thick = (3.6, 14) if n < 10 else (2.7, 11)
        (w, h), _ = cv2.getTextSize(text, cv2.FONT_HERSHEY_DUPLEX, scale, thick)
        cv2.putText(big, text, (80 - w // 2, 80 + h // 2), cv2.FONT_HERSHEY_DUPLEX, scale, 255, thick, cv2.LINE_AA)
        if n in (6, 9):
            cv2.line(big, (55, 136), (105, 136), 255, 8, cv2.LINE_AA)
        atlas[n] = cv2.resize(big, (40, 40), interpolation=cv2.INTER_AREA).astype(np.float32) / 255
    return atlas


def floor_texture(look: RoomLook, rng: np.random.Generator) -> F32:
    """(256, 256, 3) linear tile of the floor."""
    n = 256
    base = linear(look.floor_colour).astype(np.float32)
    tile = np.ones((n, n), np.float32) + 0.06 * rng.standard_normal((n, n)).astype(np.float32)
    other = np.zeros((n, n), np.uint8)
    if look.floor == "carpet":
        for _ in range(int(rng.integers(8, 60))):
            x, y = (int(v) for v in rng.integers(0, n, 2))
            cv2.circle(
                other,
                (x, y),
                int(rng.integers(2, 20)),
                int(rng.integers(60, 255)),
                -1 if rng.random() < 0.6 else 2,
                cv2.LINE_AA,
            )
    elif look.floor == "tiles":
        step = int(rng.choice([32, 64, 128]))
        other[::step] = 200
        other[:, ::step] = 200
        tile *= 1 + 0.1 * np.kron(rng.standard_normal((n // step, n // step)), np.ones((step, step))).astype(np.float32)
    elif look.floor == "wood":
        for k in range(0, n, 16):
            tile[k : k + 16] *= 1 + 0.18 * float(rng.standard_normal())
            other[k] = 180
    elif look.floor == "lines":
        for _ in range(int(rng.integers(4, 16))):
            p = rng.integers(0, n, 4)
            cv2.line(
                other,
                (int(p[0]), int(p[1])),
                (int(p[2]), int(p[3])),
                int(rng.integers(60, 255)),
                int(rng.integers(1, 5)),
                cv2.LINE_AA,
            )
    a = (other.astype(np.float32) / 255 * float(rng.uniform(0.3, 1)))[..., None]
    second = linear(tuple(int(v) for v in rng.integers(0, 255, 3))).astype(np.float32)  # type: ignore[arg-type]
    return np.ascontiguousarray(
        np.clip((base * np.clip(tile, 0.2, 2)[..., None]) * (1 - a) + second * a, 0.001, 1), dtype=np.float32
    )


def wall_texture(look: RoomLook, rng: np.random.Generator) -> F32:
    """(256, 1024, 3) linear picture of the walls."""
    h, w = 256, 1024
    picture = np.ones((h, w, 3), np.uint8) * np.array(look.wall_colour[::-1], np.uint8)

    def colour() -> tuple[int, int, int]:
        return tuple(int(v) for v in rng.integers(0, 255, 3))  # type: ignore[return-value]

    if look.wall == "banner":
        top = int(rng.integers(90, 150))
        cv2.rectangle(picture, (0, top), (w, h - int(rng.integers(0, 30))), colour(), -1)
        for k in range(5):
            cv2.putText(
                picture,
                str(rng.choice(WORDS)),
                (k * 210, top + 60),
                int(rng.integers(0, 5)),
                1.6,
                colour(),
                4,
                cv2.LINE_AA,
            )
    elif look.wall == "bricks":
        picture[::16] = picture[::16] // 2
        for k in range(0, h, 16):
            picture[k : k + 16, (k // 16 % 2) * 16 :: 32] //= 2
    elif look.wall == "busy":
        for _ in range(90):
            x, y = int(rng.integers(0, w)), int(rng.integers(40, h))
            cv2.rectangle(picture, (x, y), (x + int(rng.integers(4, 70)), y + int(rng.integers(4, 90))), colour(), -1)
        for _ in range(40):
            x, y = int(rng.integers(0, w)), int(rng.integers(40, h))
            cv2.ellipse(
                picture,
                (x, y),
                (int(rng.integers(3, 16)), int(rng.integers(4, 30))),
                0,
                0,
                360,
                colour(),
                -1,
                cv2.LINE_AA,
            )
        for _ in range(12):
            x, y = int(rng.integers(0, w)), int(rng.integers(0, h))
            cv2.circle(picture, (x, y), int(rng.integers(2, 9)), (240, 250, 255), -1, cv2.LINE_AA)
        picture = cv2.GaussianBlur(picture, (0, 0), float(rng.uniform(0.5, 4)))
    c = picture.astype(np.float32) / 255
    return np.ascontiguousarray(
        np.power(c, 2.2) * (1 + 0.05 * rng.standard_normal((h, w, 1)).astype(np.float32)), dtype=np.float32
    )
