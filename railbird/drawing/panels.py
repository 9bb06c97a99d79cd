"""The panels of an annotated video as RGBA pictures: score bug, ruling banner, bare table, contact numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from PIL import Image, ImageDraw

from calibration.table import Table
from railbird.drawing.lettering import (
    BRASS,
    CLOTH,
    FOUL,
    INK,
    OVER,
    SIDES,
    WASH,
    fitted,
    font,
    panel,
    rgb,
    text_width,
    write,
)
from railbird.report.top_view import IVORY
from railbird.report.view import SURE, verdict
from railbird.words import Words

Bytes = npt.NDArray[np.uint8]
RIM_M = 0.13


class View:
    """The small table on its side: head to the left as in the report, or to the right where the picture has it there."""

    def __init__(self, table: Table, width: int, *, turned: bool = False) -> None:
        self.table = table
        self.turned = turned
        self.px = width / (table.length_m + 2 * RIM_M)
        self.width = width & ~1
        self.height = round((table.width_m + 2 * RIM_M) * self.px) & ~1

    @property
    def ball_px(self) -> float:
        """Diameter of a ball there: larger than life, or nobody could tell them apart."""
        return max(11.0, 1.7 * self.table.ball_m * self.px)

    def place(self, at: Sequence[float]) -> tuple[float, float]:
        """A point on the table (metres) in the panel, pixels."""
        across, along = at[0], at[1]
        if self.turned:
            across, along = self.table.width_m - across, self.table.length_m - along
        return (along + RIM_M) * self.px, (across + RIM_M) * self.px


def head_right(match: Mapping[str, Any]) -> bool:
    """Whether the head end lies to the right of the foot end in the picture, clearly."""
    corners = match["table"].get("corners_px") or {}
    if len(corners) < 4:
        return False
    head, foot = (np.mean([corners[f"{end}-left"], corners[f"{end}-right"]], axis=0) for end in ("head", "foot"))
    away = foot - head
    return bool(away[0] < 0 and abs(away[0]) > abs(away[1]))


class Panels:
    """Makes panels of a match, scaled to the video (1 is 1080 lines); ``view`` is the top view's width at that size."""

    def __init__(self, match: Mapping[str, Any], words: Words, scale: float, view: int = 400) -> None:
        self.match = match
        self.words = words
        self.scale = scale
        self.view = View(Table.from_json(match["table"]), self._px(view), turned=head_right(match))
        self.bug_size = (self._px(470), self._px(116))
        self.banner_size = (self._px(900), self._px(128))

    def _px(self, value: float) -> int:
        return max(2, round(value * self.scale) & ~1)

    def sizes(self) -> dict[str, tuple[int, int]]:
        """(width, height) of each panel, pixels."""
        return {"view": (self.view.width, self.view.height), "bug": self.bug_size, "banner": self.banner_size}

    # -- score bug -----------------------------------------------------------------------------------------------------
    def bug(self, i: int, ended: bool) -> Bytes:
        """Names and score as they stand at shot ``i`` (an index; -1 before the first), and what is being played."""
        width, height = self.bug_size
        shots, players = self.match["shots"], self.match["players"]
        shot = shots[i] if i >= 0 else (shots[0] if shots else None)
        score = self._score(i if ended else i - 1)
        at_table = shot.get("shooter") if shot else None
        if ended and shot and (shot.get("ruling") or {}).get("next"):
            at_table = shot["ruling"]["next"].get("player")
        image = panel(width, height, WASH, 0.9, self._px(12))
        draw = ImageDraw.Draw(image)
        row = height * 0.34
        pad, number_x = self._px(22), width - self._px(26)
        size = self._px(30)
        for k, name in enumerate(players):
            y = height * 0.055 + row * (k + 0.5)
            if name == at_table:
                draw.rounded_rectangle(
                    (self._px(8), y - row * 0.32, self._px(13), y + row * 0.32), self._px(2), fill=(*SIDES[k], 255)
                )
            text = str(score[k])
            room = number_x - text_width(text, size) - pad - self._px(16)
            write(image, (pad, y), fitted(name, size, room, bold=name == at_table), size, bold=name == at_table)
            write(image, (number_x, y), text, size, anchor="rm")
        y = height * 0.86
        note = self.words("video.shot", number=shot["number"]) if shot else ""
        info = f"{self.words.game(self.match['game'])} · {self.words.rules(self.match['rules'])}"
        small = self._px(19)
        draw.line(
            (pad, height * 0.74, width - pad, height * 0.74), fill=(255, 255, 255, 60), width=max(1, self._px(2) // 2)
        )
        write(image, (pad, y), note, small, SIDES[0])
        room = width - 2 * pad - text_width(note, small) - self._px(20)
        write(
            image,
            (width - pad, y),
            fitted(info, small, room, bold=False),
            small,
            (207, 230, 224),
            bold=False,
            anchor="rm",
        )
        return np.asarray(image, np.uint8)

    def _score(self, i: int) -> tuple[int, int]:
        """The score after shot ``i``; before the first ruling that of the set-up, else nil all."""
        players = self.match["players"]
        for shot in reversed(self.match["shots"][: i + 1]):
            score = (shot.get("ruling") or {}).get("score")
            if score:
                return int(score.get(players[0], 0)), int(score.get(players[1], 0))
        given = (self.match.get("setup") or {}).get("score") or {}
        return int(given.get(players[0], 0)), int(given.get(players[1], 0))

    # -- banner --------------------------------------------------------------------------------------------------------
    def banner(self, i: int, *, opening: bool) -> Bytes:
        """The ruling on shot ``i``: what it is, its article, how sure, and the call in full below."""
        width, height = self.banner_size
        shot = self.match["shots"][i]
        ruling = shot["ruling"]
        kind, headline = verdict(shot, self.words, opening=opening)
        foul = kind == "foul"
        sure = float(self.match.get("sure", SURE))
        doubt = bool(ruling.get("needs_referee")) or float(ruling.get("p", 0.0)) < sure
        image = panel(width, height, WASH, 0.93, self._px(14))
        edge = panel(self._px(20), height, FOUL if foul else BRASS if doubt else CLOTH, 1.0, self._px(14))
        image.paste(edge.crop((0, 0, self._px(14), height)), (0, 0))
        pad = self._px(40)
        big, small = self._px(42), self._px(25)
        tag = " · ".join(t for t in (self.words("video.shot", number=shot["number"]), shot.get("shooter") or "") if t)
        tone = BRASS if doubt else (255, 157, 143) if foul else SIDES[0]
        percent = self.words("video.sure", p=self.words.percent(float(ruling.get("p", 0.0))))
        article = next(
            (f.get("article") for f in ruling.get("fouls") or () if f["code"] == ruling.get("enforced")), None
        )
        right = f"{self.words.rules(ruling.get('rules', self.match['rules']))} · {article}" if article else ""
        write(image, (pad, height * 0.2), fitted(tag, small, width // 2), small, (207, 230, 224))
        write(image, (width - pad, height * 0.2), percent, small, tone, bold=doubt, anchor="rm")
        room = width - 2 * pad - (text_width(right, small, False) + self._px(24) if right else 0)
        write(image, (pad, height * 0.5), fitted(headline, big, room), big)
        if right:
            write(image, (width - pad, height * 0.52), right, small, (207, 230, 224), bold=False, anchor="rm")
        announce = (ruling.get("announce") or {}).get(self.words.language, "")
        write(
            image,
            (pad, height * 0.82),
            fitted(announce, small, width - 2 * pad, bold=False),
            small,
            (222, 236, 231),
            bold=False,
        )
        return np.asarray(image, np.uint8)

    # -- top view ------------------------------------------------------------------------------------------------------
    def table(self) -> Bytes:
        """The bare table of the inset."""
        view, table = self.view, self.view.table
        n = OVER
        big = Image.new("RGBA", (view.width * n, view.height * n), (0, 0, 0, 0))
        draw = ImageDraw.Draw(big)
        draw.rounded_rectangle(
            (0, 0, view.width * n - 1, view.height * n - 1), 12 * n * self.scale, fill=(*rgb("#4a3023"), 240)
        )

        def box(x0: float, y0: float, x1: float, y1: float) -> tuple[float, float, float, float]:
            (ax, ay), (bx, by) = view.place((x0, y0)), view.place((x1, y1))
            return min(ax, bx) * n, min(ay, by) * n, max(ax, bx) * n, max(ay, by) * n

        w, length = table.width_m, table.length_m
        draw.rectangle(box(-0.05, -0.05, w + 0.05, length + 0.05), fill=(*rgb("#0b5a4e"), 245))
        draw.rectangle(box(0, 0, w, length), fill=(*rgb("#14786a"), 245))
        for pocket in table.pockets.values():
            x, y = view.place(pocket.centre)
            r = pocket.radius * view.px * n
            draw.ellipse((x * n - r, y * n - r, x * n + r, y * n + r), fill=(13, 15, 15, 255))
        x, _ = view.place((0, table.head_string))
        draw.line((x * n, box(0, 0, w, length)[1], x * n, box(0, 0, w, length)[3]), fill=(255, 255, 255, 60), width=n)
        return np.asarray(big.resize((view.width, view.height), Image.Resampling.LANCZOS), np.uint8)

    @staticmethod
    def number(number: int, size: int) -> Bytes:
        """A contact's number on an ivory disc."""
        n = size * OVER
        image = Image.new("RGBA", (n, n), (0, 0, 0, 0))
        draw = ImageDraw.Draw(image)
        draw.ellipse((0, 0, n - 1, n - 1), fill=(*INK, 255))
        edge = n // 14
        draw.ellipse((edge, edge, n - 1 - edge, n - 1 - edge), fill=(*rgb(IVORY), 255))
        draw.text((n / 2, n / 2), str(number), font=font(round(n * 0.56)), fill=(*INK, 255), anchor="mm")
        return np.asarray(image.resize((size, size), Image.Resampling.LANCZOS), np.uint8)
