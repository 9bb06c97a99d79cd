"""Letters, panels and balls as RGBA pictures, in a font that ships with railbird (Inter, SIL Open Font License)."""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from io import BytesIO

import numpy as np
import numpy.typing as npt
from PIL import Image, ImageDraw, ImageFont

from railbird.report.top_view import IVORY, colour

Bytes = npt.NDArray[np.uint8]
Colour = tuple[int, int, int]
PALE = 0.7  # opacity of a number that is not sure
OVER = 4  # discs are drawn so much larger and then shrunk: Pillow does not smooth edges

INK = (24, 33, 31)
WHITE = (255, 255, 255)
CLOTH = (20, 120, 106)
WASH = (11, 58, 52)
FOUL = (176, 42, 32)
BRASS = (241, 196, 107)
SIDES = ((111, 208, 191), (195, 164, 234))


@cache
def font(size: int, bold: bool = True) -> ImageFont.FreeTypeFont:
    """The shipped font at ``size`` pixels."""
    name = "Inter-Bold.ttf" if bold else "Inter-Medium.ttf"
    return ImageFont.truetype(BytesIO(files("railbird.drawing").joinpath("fonts", name).read_bytes()), size)


def rgb(css: str) -> Colour:
    """``#rrggbb`` as numbers."""
    return int(css[1:3], 16), int(css[3:5], 16), int(css[5:7], 16)


def ball_colour(ball: int) -> Colour:
    """A ball's colour; a stripe has that of its solid."""
    return rgb(colour(ball))


def text_width(text: str, size: int, bold: bool = True) -> int:
    """Advance of a text, pixels."""
    return int(np.ceil(font(size, bold).getlength(text)))


def fitted(text: str, size: int, width: int, bold: bool = True) -> str:
    """``text``, cut with an ellipsis where it would be wider than ``width`` pixels."""
    if text_width(text, size, bold) <= width:
        return text
    while text and text_width(text + "…", size, bold) > width:
        text = text[:-1]
    return text.rstrip() + "…"


def panel(width: int, height: int, fill: Colour, opacity: float = 0.88, radius: int | None = None) -> Image.Image:
    """A rounded, slightly transparent rectangle."""
    big = Image.new("L", (width * OVER, height * OVER), 0)
    r = (height // 5 if radius is None else radius) * OVER
    ImageDraw.Draw(big).rounded_rectangle((0, 0, width * OVER - 1, height * OVER - 1), r, fill=round(255 * opacity))
    image = Image.new("RGBA", (width, height), (*fill, 255))
    image.putalpha(big.resize((width, height), Image.Resampling.LANCZOS))
    return image


def write(
    image: Image.Image,
    at: tuple[float, float],
    text: str,
    size: int,
    fill: Colour = WHITE,
    *,
    bold: bool = True,
    anchor: str = "lm",
) -> None:
    """Write onto an RGBA picture; its transparency is kept where there are no letters."""
    layer = Image.new("RGBA", image.size, (*fill, 0))
    ImageDraw.Draw(layer).text(at, text, font=font(size, bold), fill=(*fill, 255), anchor=anchor)
    image.alpha_composite(layer)


@cache
def ball_picture(ball: int, size: int, unsure: bool = False) -> Bytes:
    """(size, size, 4) a ball as it is sold: solid or striped, its number on an ivory spot; pale with a ``?`` where unsure."""
    n = size * OVER
    image = Image.new("RGBA", (n, n), (0, 0, 0, 0))
    draw = ImageDraw.Draw(image)
    edge = max(1, n // 24)
    base = rgb(IVORY) if ball == 0 or ball > 8 else ball_colour(ball)
    draw.ellipse((0, 0, n - 1, n - 1), fill=(*base, 255))
    if ball > 8:
        band = Image.new("L", (n, n), 0)
        ImageDraw.Draw(band).ellipse((0, 0, n - 1, n - 1), fill=255)
        ImageDraw.Draw(band).rectangle((0, 0, n, round(n * 0.27)), fill=0)
        ImageDraw.Draw(band).rectangle((0, round(n * 0.73), n, n), fill=0)
        image.paste((*ball_colour(ball), 255), (0, 0), band)
    draw = ImageDraw.Draw(image)
    if ball:
        draw.ellipse((n * 0.22, n * 0.22, n * 0.78, n * 0.78), fill=(*rgb(IVORY), 255))
        text = f"{ball}?" if unsure else str(ball)
        size_px = round(n * {1: 0.46, 2: 0.38, 3: 0.3}[len(text)])
        draw.text((n / 2, n / 2), text, font=font(size_px), fill=(*INK, 255), anchor="mm")
    draw.ellipse((edge // 2, edge // 2, n - 1 - edge // 2, n - 1 - edge // 2), outline=(10, 16, 15, 150), width=edge)
    if unsure:
        image.putalpha(image.getchannel("A").point(lambda alpha: round(PALE * alpha)))
    return np.asarray(image.resize((size, size), Image.Resampling.LANCZOS), np.uint8)
