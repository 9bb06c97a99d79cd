"""From light to a picture: exposure, tone, blur, noise, sharpening, compression, and graphics laid over it."""

from __future__ import annotations

import io
from functools import lru_cache

import cv2
import numpy as np
import numpy.typing as npt

from sample_videos.looks import FilmLook
from sample_videos.optics import F32
from sample_videos.textures import WORDS

Picture = npt.NDArray[np.uint8]
LUT_SIZE = 4096
LUT_TOP = 4.0


@lru_cache(maxsize=8)
def tone_table(contrast: float, shoulder: float) -> F32:
    """(LUT_SIZE,) tone curve over linear 0 … LUT_TOP, giving 0 … 255."""
    x = np.linspace(0, LUT_TOP, LUT_SIZE)
    soft = x * (1 + x / 6.0) / (1 + x)
    y = (1 - shoulder) * np.minimum(x, 1) + shoulder * soft * 1.25
    y = np.clip(y, 0, 1)
    y = np.where(y <= 0.0031308, 12.92 * y, 1.055 * np.maximum(y, 1e-9) ** (1 / 2.4) - 0.055)
    y = np.clip((y - 0.5) * contrast + 0.5, 0, 1)
    return np.asarray(y * 255, dtype=np.float32)


def develop(light: F32, look: FilmLook, falloff: F32 | None = None) -> F32:
    """(h, w, 3) linear light to picture values 0 … 255 (float), before blur, noise and compression."""
    gains = np.array([look.balance[2], look.balance[1], look.balance[0]], dtype=np.float32) * np.float32(look.exposure)
    x = light * gains
    if falloff is not None:
        x *= falloff[..., None]
    table = tone_table(round(look.contrast, 3), round(look.shoulder, 3))
    index = np.clip(x * np.float32((LUT_SIZE - 1) / LUT_TOP), 0, LUT_SIZE - 1).astype(np.int32)
    y = table[index]
    if look.saturation != 1.0:
        grey = y @ np.array([0.114, 0.587, 0.299], dtype=np.float32)
        y = np.clip(grey[..., None] + (y - grey[..., None]) * np.float32(look.saturation), 0, 255)
    return np.asarray(y, dtype=np.float32)


def falloff_map(h: int, w: int, strength: float) -> F32 | None:
    """(h, w) vignetting, 1 in the middle; None where there is none."""
    if strength <= 0:
        return None
    v, u = np.mgrid[0:h, 0:w].astype(np.float32)
    r2 = ((u - w / 2) ** 2 + (v - h / 2) ** 2) / ((w / 2) ** 2 + (h / 2) ** 2)
    return np.asarray(1 - strength * r2, dtype=np.float32)


def finish(values: F32, look: FilmLook, rng: np.random.Generator) -> Picture:
    """Blur, resampling, sensor noise and sharpening of developed values, and rounding to bytes."""
    h, w = values.shape[:2]
    y = values
    if look.shrink < 1:
        y = cv2.resize(
            y, (max(8, round(w * look.shrink)), max(8, round(h * look.shrink))), interpolation=cv2.INTER_AREA
        )
    if look.blur > 0:
        y = cv2.GaussianBlur(y, (0, 0), look.blur)
    if look.noise > 0:
        n = rng.integers(0, 2**31)
        y = y + noise_field(y.shape[0], y.shape[1], int(n)) * np.float32(look.noise * 255) * (
            0.6 + 0.6 * np.sqrt(np.clip(y, 0, 255) / 255)
        )
    if look.shrink < 1:
        y = cv2.resize(y, (w, h), interpolation=cv2.INTER_LINEAR)
    if look.sharpen > 0:
        y = y + look.sharpen * (y - cv2.GaussianBlur(y, (0, 0), 1.2))
    return np.asarray(np.clip(y + 0.5, 0, 255), dtype=np.uint8)


@lru_cache(maxsize=1)
def _noise_tile() -> F32:
    rng = np.random.default_rng(11)
    return rng.standard_normal((509, 521, 3)).astype(np.float32)


def noise_field(h: int, w: int, seed: int) -> F32:
    """(h, w, 3) noise of unit spread, cut from one tile at a place and turn that depend on the seed."""
    tile = _noise_tile()
    rng = np.random.default_rng(seed)
    a, b = int(rng.integers(tile.shape[0])), int(rng.integers(tile.shape[1]))
    rolled = np.roll(tile, (a, b), (0, 1))
    if seed & 1:
        rolled = -rolled
    reps = (-(-h // tile.shape[0]), -(-w // tile.shape[1]), 1)
    return np.tile(rolled, reps)[:h, :w]


def compress(picture: Picture, look: FilmLook) -> Picture:
    """The picture after its codec."""
    if look.h264 > 0:
        picture = _through_h264(picture, look.h264)
    if look.jpeg > 0:
        ok, data = cv2.imencode(".jpg", picture, [cv2.IMWRITE_JPEG_QUALITY, look.jpeg])
        if ok:
            picture = cv2.imdecode(data, cv2.IMREAD_COLOR)
    return picture


def _through_h264(picture: Picture, crf: int) -> Picture:
    import av

    h, w = picture.shape[0] // 2 * 2, picture.shape[1] // 2 * 2
    buffer = io.BytesIO()
    with av.open(buffer, "w", format="mp4") as out:
        stream = out.add_stream("libx264", rate=30)
        stream.width, stream.height, stream.pix_fmt = w, h, "yuv420p"
        stream.thread_count = 1
        stream.options = {"crf": str(crf), "preset": "veryfast", "tune": "zerolatency"}
        for packet in stream.encode(av.VideoFrame.from_ndarray(np.ascontiguousarray(picture[:h, :w]), format="bgr24")):
            out.mux(packet)
        for packet in stream.encode():
            out.mux(packet)
    buffer.seek(0)
    with av.open(buffer) as back:
        frame = next(back.decode(video=0)).to_ndarray(format="bgr24")
    result = picture.copy()
    result[:h, :w] = frame
    return result


def overlay(
    picture: Picture, rng: np.random.Generator, paints: list[tuple[int, int, int]]
) -> tuple[int, int, int, int] | None:
    """Lay television graphics on the picture: score bars, logos, balls as icons (in BGR ``paints``). Changes it in place.

    Returns the box (u0, v0, u1, v1) that hides what was under it, or None.
    """
    h, w = picture.shape[:2]

    def colour() -> tuple[int, int, int]:
        return tuple(int(v) for v in rng.integers(0, 255, 3))  # type: ignore[return-value]

    box = None
    s = h / 540
    if rng.random() < 0.6:
        y0 = int(h * rng.uniform(0.86, 0.95)) if rng.random() < 0.8 else int(h * 0.02)
        x0, x1 = int(w * rng.uniform(0.02, 0.35)), int(w * rng.uniform(0.5, 0.98))
        y1 = min(h, y0 + int(rng.uniform(18, 42) * s))
        cv2.rectangle(picture, (x0, y0), (x1, y1), colour(), -1)
        cv2.rectangle(picture, (x0, y0), (x0 + (x1 - x0) // 4, y1), colour(), -1)
        for k in range(3):
            cv2.putText(
                picture,
                str(rng.choice(WORDS)),
                (x0 + 6 + k * (x1 - x0) // 3, y1 - 6),
                int(rng.integers(0, 3)),
                0.5 * s,
                (245, 245, 245),
                1,
                cv2.LINE_AA,
            )
        if rng.random() < 0.6:
            r = max(3, int((y1 - y0) * rng.uniform(0.25, 0.45)))
            n = int(rng.integers(3, 12))
            start = x0 + (x1 - x0) // 2
            cv2.rectangle(
                picture,
                (start - r, y0),
                (min(w, start + int(n * 2.5 * r)), y1),
                (240, 240, 240) if rng.random() < 0.5 else colour(),
                -1,
            )
            for k in range(n):
                c = (start + int(2.5 * r * k) + r // 2, (y0 + y1) // 2)
                paint = paints[int(rng.integers(len(paints)))]
                cv2.circle(picture, c, r, paint, -1, cv2.LINE_AA)
                if rng.random() < 0.7:
                    cv2.circle(picture, c, max(1, r // 2), (245, 245, 245), -1, cv2.LINE_AA)
                if rng.random() < 0.5:
                    cv2.circle(picture, c, r, (10, 10, 10), 1, cv2.LINE_AA)
        box = (x0, y0, x1, y1)
    for _ in range(int(rng.integers(0, 3))):
        x, y = int(w * rng.choice([0.03, 0.82])), int(h * rng.choice([0.08, 0.9]))
        if rng.random() < 0.5:
            cv2.putText(
                picture,
                str(rng.choice(WORDS)),
                (x, y),
                int(rng.integers(0, 5)),
                0.8 * s,
                colour() if rng.random() < 0.4 else (250, 250, 250),
                max(1, int(2 * s)),
                cv2.LINE_AA,
            )
        else:
            cv2.circle(picture, (x + 20, y), int(rng.uniform(8, 22) * s), colour(), -1, cv2.LINE_AA)
            cv2.circle(picture, (x + 20, y), int(8 * s), colour(), 2, cv2.LINE_AA)
    return box
