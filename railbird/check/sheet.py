"""The one-page picture of a disputed call, to send: verdict, pictures, diagram, the other reading, limits."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from io import BytesIO
from typing import Any

from PIL import Image, ImageDraw

from railbird.check.diagram import Diagram
from railbird.check.pictures import Still, as_image
from railbird.drawing.lettering import WASH, WHITE, font, rgb, text_width

WIDTH, HEIGHT = 1240, 1754  # A4 at 150 dots an inch
EDGE = 70
INK, SOFT, PAPER = rgb("#18211f"), rgb("#55605c"), rgb("#f6f4ee")
TONES = {"sure": rgb("#11675b"), "likely": rgb("#7a5200"), "open": rgb("#7a5200")}


class Page:
    """A sheet that is written from top to bottom."""

    def __init__(self) -> None:
        self.image = Image.new("RGB", (WIDTH, HEIGHT), PAPER)
        self.draw = ImageDraw.Draw(self.image)
        self.y = 0

    def text(
        self,
        text: str,
        size: int,
        fill: tuple[int, int, int] = INK,
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
            self.draw.text((x, self.y), row, font=font(size, bold), fill=fill)
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


def sheet(page: Mapping[str, Any], stills: Sequence[Still], diagram: Diagram) -> bytes:
    """The sheet as PNG bytes; ``page`` is what the HTML page is made from."""
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
    picture = diagram.paint(_room(page, out.y) / diagram.height)
    out.image.paste(picture, ((WIDTH - picture.width) // 2, out.y))
    out.y += picture.height
    if page["other"]:
        out.head(t("check.other"))
        then = t("check.same_ruling") if page["other"]["same"] else page["other"]["text"]
        out.text(f"{page['other']['if']}: {then}", 23, lines=3)
    out.head(t("check.limits"))
    for line in page["limits"] or [t("check.no_limits")]:
        if out.y > HEIGHT - 130:
            break
        out.draw.ellipse((EDGE, out.y + 9, EDGE + 8, out.y + 17), fill=SOFT)
        out.text(line, 20, x=EDGE + 24, width=WIDTH - 2 * EDGE - 24, lines=max(1, (HEIGHT - 90 - out.y) // 27))
        out.y += 4
    out.draw.text((EDGE, HEIGHT - 46), page["foot"], font=font(18, False), fill=SOFT)
    data = BytesIO()
    out.image.save(data, "PNG")
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
    out.draw.rectangle((0, 0, WIDTH, height), fill=WASH)
    out.draw.text((EDGE, 44), page["kicker"], font=font(21, False), fill=(207, 230, 224))
    out.draw.text((EDGE, 78), page["question"], font=font(25), fill=(207, 230, 224))
    for k, row in enumerate(rows):
        out.draw.text((EDGE, 122 + 66 * k), row, font=font(size), fill=WHITE)
    tone = (111, 208, 191) if page["level"] == "sure" else (241, 196, 107)
    big = 104
    while text_width(page["p"], big) > 300:
        big -= 4
    out.draw.text((WIDTH - EDGE, 158), page["p"], font=font(big), fill=tone, anchor="rm")
    out.draw.text((WIDTH - EDGE, 222), page["p_words"], font=font(20, False), fill=(207, 230, 224), anchor="rm")
    out.y = height + 26


def _pictures(out: Page, page: Mapping[str, Any], stills: Sequence[Still]) -> None:
    if not stills:
        return
    gap = 16
    width = (WIDTH - 2 * EDGE - gap * (len(stills) - 1)) // max(3, len(stills))
    height = width * 3 // 4
    for k, (still, words) in enumerate(zip(stills, page["stills"], strict=True)):
        x = EDGE + k * (width + gap)
        out.image.paste(as_image(still.image).resize((width, height), Image.Resampling.LANCZOS), (x, out.y))
        out.draw.text((x, out.y + height + 8), words["label"], font=font(20), fill=INK)
    out.y += height + 38
