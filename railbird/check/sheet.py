"""The one page of a disputed call, to send or to print: verdict, pictures, diagram, the other reading, limits."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from io import BytesIO
from typing import Any

from PIL import Image, ImageDraw, PdfImagePlugin, PngImagePlugin  # noqa: F401  two writers: else all forty are loaded

from railbird.check.diagram import Diagram
from railbird.check.pictures import Still, as_image
from railbird.drawing.lettering import WASH, WHITE, font, rgb, text_width

WIDTH, HEIGHT = 1240, 1754  # A4 at 150 units an inch; everything on the page is laid out in these
DOTS = 1.5  # a unit: 225 an inch, sharp on paper and in a phone's zoom
EDGE = 70
Colour = tuple[int, int, int]
INK, SOFT, PAPER = rgb("#18211f"), rgb("#55605c"), rgb("#f6f4ee")
PALE = rgb("#cfe6e0")
TONES = {"sure": rgb("#11675b"), "likely": rgb("#7a5200"), "open": rgb("#7a5200")}


class Page:
    """A sheet that is written from top to bottom, in units of its layout."""

    def __init__(self) -> None:
        self.image = Image.new("RGB", (round(WIDTH * DOTS), round(HEIGHT * DOTS)), PAPER)
        self.draw = ImageDraw.Draw(self.image)
        self.y = 0

    def write(
        self, at: tuple[float, float], text: str, size: int, fill: Colour, *, bold: bool = True, anchor: str = "la"
    ) -> None:
        """One line."""
        where = (at[0] * DOTS, at[1] * DOTS)
        self.draw.text(where, text, font=font(round(size * DOTS), bold), fill=fill, anchor=anchor)

    def box(self, edges: tuple[float, float, float, float], fill: Colour, *, round_off: bool = False) -> None:
        """A filled rectangle, or the ellipse in it."""
        (self.draw.ellipse if round_off else self.draw.rectangle)([edge * DOTS for edge in edges], fill=fill)

    def picture(self, image: Image.Image, at: tuple[float, float], size: tuple[float, float]) -> None:
        """A picture brought to a size."""
        dots = (round(size[0] * DOTS), round(size[1] * DOTS))
        if image.size != dots:
            image = image.resize(dots, Image.Resampling.LANCZOS)
        self.image.paste(image, (round(at[0] * DOTS), round(at[1] * DOTS)))

    def text(
        self,
        text: str,
        size: int,
        fill: Colour = INK,
        *,
        bold: bool = False,
        x: int = EDGE,
        width: int = WIDTH - 2 * EDGE,
        lines: int = 9,
    ) -> None:
        """A paragraph, wrapped; what does not fit into ``lines`` is cut with an ellipsis."""
        rows = wrap(text, size, width, bold)
        if len(rows) > lines:
            rows = [*rows[: lines - 1], rows[lines - 1].rstrip(".,;: ") + " …"]
        for row in rows:
            self.write((x, self.y), row, size, fill, bold=bold)
            self.y += round(size * 1.32)

    def head(self, text: str) -> None:
        self.y += 22
        self.text(text, 27, bold=True)
        self.y += 6


def wrap(text: str, size: int, width: int, bold: bool = False) -> list[str]:
    """Lines that fit into ``width`` pixels; a word that does not is cut."""
    rows, row = [], ""
    for word in text.split():
        while text_width(word, size, bold) > width:
            n = len(word)
            while n > 1 and text_width(word[:n], size, bold) > width:
                n -= 1
            rows.append(word[:n])
            word = word[n:]
        longer = f"{row} {word}".strip()
        if row and text_width(longer, size, bold) > width:
            rows.append(row)
            row = word
        else:
            row = longer
    return [*rows, row] if row else rows


def sheet(page: Mapping[str, Any], stills: Sequence[Still], diagram: Diagram) -> tuple[bytes, bytes]:
    """The sheet as bytes of a PNG and of a PDF of one page, A4; ``page`` is what the HTML page is made from."""
    out = Page()
    t = page["t"]
    _masthead(out, page)
    article = f" ({page['ruling']['article']})" if page["ruling"]["article"] else ""
    out.text(page["ruling"]["headline"] + article, 32, bold=True, lines=2)
    out.text(page["ruling"]["announce"] or page["ruling"]["next"], 23, SOFT, lines=2)
    if page["notes"]:
        out.text(" ".join(page["notes"]), 22, SOFT, lines=2)
    if page["hangs_on"]:
        out.text(f"{page['ruling_sure']} {t('report.hangs_on', what=page['hangs_on'])}", 22, SOFT, lines=2)
    if page["default"]:
        out.text(page["default"], 22, TONES["open"], lines=2)
    out.head(t("check.frames"))
    _pictures(out, page, stills)
    out.head(t("check.diagram"))
    scale = _room(page, out.y) / diagram.layout.height
    width, height = diagram.layout.width * scale, diagram.layout.height * scale
    out.picture(diagram.paint(scale * DOTS), ((WIDTH - width) / 2, out.y), (width, height))
    out.y += round(height)
    if page["other"]:
        out.head(t("check.other"))
        then = t("check.same_ruling") if page["other"]["same"] else page["other"]["text"]
        out.text(f"{page['other']['if']}: {then}", 23, lines=3)
    out.head(t("check.limits"))
    for line in page["limits"] or [t("check.no_limits")]:
        if out.y > HEIGHT - 130:
            break
        out.box((EDGE, out.y + 9, EDGE + 8, out.y + 17), SOFT, round_off=True)
        out.text(line, 20, x=EDGE + 24, width=WIDTH - 2 * EDGE - 24, lines=max(1, (HEIGHT - 90 - out.y) // 27))
        out.y += 4
    out.write((EDGE, HEIGHT - 46), page["foot"], 18, SOFT, bold=False)
    return _bytes(out.image, "PNG", compress_level=3), _bytes(
        out.image, "PDF", resolution=150 * DOTS, quality=90, title=page["title"], author="railbird"
    )


def _bytes(image: Image.Image, kind: str, **how: Any) -> bytes:
    data = BytesIO()
    image.save(data, kind, **how)
    return data.getvalue()


def _room(page: Mapping[str, Any], y: int) -> float:
    """Height for the diagram: what the texts below it leave, between a size that can be read and the page's width."""
    t = page["t"]
    rows = [wrap(line, 20, WIDTH - 2 * EDGE - 24) for line in page["limits"] or [t("check.no_limits")]]
    below = 64 + sum(31 + 27 * (len(row) - 1) for row in rows) + 120
    if page["other"]:
        below += 64 + 31 * min(3, len(wrap(f"{page['other']['if']}: {page['other']['text']}", 23, WIDTH - 2 * EDGE)))
    return float(min(max(HEIGHT - y - below, 430), 740))


def _masthead(out: Page, page: Mapping[str, Any]) -> None:
    """Question, answer, and how sure, on a band of cloth."""
    size = 54
    rows = wrap(page["answer"], size, WIDTH - 2 * EDGE - 330, True)[:3]
    height = max(250, 130 + len(rows) * 66)
    out.box((0, 0, WIDTH, height), WASH)
    out.write((EDGE, 44), page["kicker"], 21, PALE, bold=False)
    out.write((EDGE, 78), page["question"], 25, PALE)
    for k, row in enumerate(rows):
        out.write((EDGE, 122 + 66 * k), row, size, WHITE)
    tone = (111, 208, 191) if page["level"] == "sure" else (241, 196, 107)
    big = 104
    while text_width(page["p"], big) > 300:
        big -= 4
    out.write((WIDTH - EDGE, 158), page["p"], big, tone, anchor="rm")
    out.write((WIDTH - EDGE, 222), page["p_words"], 20, PALE, bold=False, anchor="rm")
    out.y = height + 26


def _pictures(out: Page, page: Mapping[str, Any], stills: Sequence[Still]) -> None:
    if not stills:
        return
    gap = 16
    width = (WIDTH - 2 * EDGE - gap * (len(stills) - 1)) // max(3, len(stills))
    height = width * 3 // 4
    for k, (still, words) in enumerate(zip(stills, page["stills"], strict=True)):
        x = EDGE + k * (width + gap)
        out.picture(as_image(still.image), (x, out.y), (width, height))
        out.write((x, out.y + height + 8), words["label"], 20, INK)
    out.y += height + 38
