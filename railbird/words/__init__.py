"""What people read, per language: one catalogue (``en.toml``, ``hu.toml``, ``et.toml``) for pages, videos and pictures."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

from railbird.validation import LANGUAGES, one_of
from referee.messages import catalogue

_HUNGARIAN_ENDING = {3: "as", 5: "ös", 6: "os", 8: "as", 13: "as", 15: "ös"}


def _the(ball: int) -> str:
    """The Hungarian article before a ball's number; other languages do not ask for it."""
    return "az" if ball in (1, 5) else "a"


@dataclass(frozen=True)
class Words:
    """One language's texts.

    Parameters
    ----------
    language : en, hu or et.
    texts : by ``section.key``.
    """

    language: str
    texts: Mapping[str, str]

    def __call__(self, key: str, /, **values: Any) -> str:
        """The text under ``section.key``, its braces filled in; raises KeyError where the catalogue lacks it."""
        text = self.texts[key]
        return text.format(**values) if values else text

    def get(self, key: str, otherwise: str) -> str:
        """The text under ``key``, or ``otherwise``: for codes that a newer file may bring."""
        return self.texts.get(key, otherwise)

    def about(self, key: str, ball: int, **values: Any) -> str:
        """A text about one ball: ``{ball}`` as one names it, ``{numeral}`` its number, ``{the}`` the article before it."""
        return self(key, ball=self.ball(ball), numeral=self.numeral(ball) if ball else "", the=_the(ball), **values)

    # -- numbers -------------------------------------------------------------------------------------------------------
    def number(self, value: float, digits: int = 0) -> str:
        """A number with the language's decimal sign and a true minus."""
        text = f"{value:.{digits}f}"
        if float(text) == 0:
            text = text.lstrip("-")
        text = text.replace("-", "−")
        return text if self.language == "en" else text.replace(".", ",")

    def percent(self, p: float, *, certain: bool = False) -> str:
        """A probability in words of the language: never 100 % or 0 %, which a camera cannot know.

        Parameters
        ----------
        certain : say 100 % and 0 % after all, for counted shares.
        """
        if not certain:
            if p >= 0.995:
                return self("number.over", value=self._percent(99))
            if p <= 0.005:
                return self("number.under", value=self._percent(1))
        return self._percent(100 * p)

    def _percent(self, value: float) -> str:
        gap = "" if self.language in ("en", "hu") else "\u202f"
        return f"{self.number(value)}{gap}%"

    def clock(self, seconds: float, digits: int = 0) -> str:
        """Seconds as ``m:ss`` (``h:mm:ss`` from an hour on), with ``digits`` decimals."""
        scale = 10**digits
        total = round(max(seconds, 0.0) * scale)
        whole, part = divmod(total, scale)
        hours, rest = divmod(whole, 3600)
        minutes, left = divmod(rest, 60)
        text = f"{hours}:{minutes:02d}:{left:02d}" if hours else f"{minutes}:{left:02d}"
        sign = "." if self.language == "en" else ","
        return f"{text}{sign}{part:0{digits}d}" if digits else text

    # -- the field's own terms -----------------------------------------------------------------------------------------
    def ball(self, ball: int) -> str:
        """A ball as one names it in a sentence."""
        return self("ball.cue") if ball == 0 else self("ball.object", ball=self.numeral(ball))

    def numeral(self, ball: int) -> str:
        """An object ball's number as it stands in a sentence (Hungarian gives it an ending: 3-as, 5-ös)."""
        return f"{ball}-{_HUNGARIAN_ENDING.get(ball, 'es')}" if self.language == "hu" else str(ball)

    def rule(self, key: str, otherwise: str) -> str:
        """A text of the referee's own catalogue: one word for a foul, wherever it is read or heard."""
        return catalogue(self.language).get(key, otherwise)

    def foul(self, code: str) -> str:
        return self.rule(f"foul.{code}", code)

    def cue_ball(self, code: str | None) -> str:
        return self.rule(f"cue.{code}", code or "")

    def option(self, code: str) -> str:
        return self.rule(f"option.{code}", code)

    def needs(self, reason: str) -> str:
        """Why a person has to look, in words."""
        return self.get(f"needs.{reason}", self.rule(f"needs.{reason}", reason))

    def pocket(self, code: str) -> str:
        return self.get(f"pocket.{code}", code)

    def rail(self, code: str) -> str:
        return self.get(f"rail.{code}", code)

    def game(self, code: str) -> str:
        return self.get(f"game.{code}", code)

    def rules(self, code: str) -> str:
        return self.get(f"rules.{code}", code)

    def call(self, call: Any) -> str:
        """A call as a person reads it; null is no call."""
        if call is None:
            return self("call.none")
        if isinstance(call, str):
            return self.get(f"call.{call}", call)
        return self("call.ball", ball=self.numeral(call["ball"]), pocket=self.pocket(call["pocket"]))

    def warning(self, warning: Mapping[str, Any]) -> str:
        """A warning of ``match.json`` in words; one that the catalogue does not know as it stands there."""
        known = self.texts.get(f"warning.{warning['code']}")
        if known is None:
            return str(warning.get("text") or warning["code"])
        return known.format(shot=warning.get("shot", ""), balls=warning.get("balls", ""))

    def event(self, event: Mapping[str, Any]) -> str:
        """One event of ``match.json`` in words, as a sentence begins."""
        text = self._event(event)
        return text[:1].upper() + text[1:]

    def _event(self, event: Mapping[str, Any]) -> str:
        match event["kind"]:
            case "contact":
                first, second = event["balls"]
                if first == 0:
                    return self("event.cue_contact", ball=self.numeral(second), the=_the(second))
                return self(
                    "event.contact",
                    first=self.numeral(first),
                    second=self.numeral(second),
                    the_first=_the(first),
                    the_second=_the(second),
                )
            case "rail":
                return self("event.rail", ball=self.ball(event["ball"]), rail=self.rail(event["rail"]))
            case "pocket":
                return self("event.pocket", ball=self.ball(event["ball"]), pocket=self.pocket(event["pocket"]))
            case "off-table":
                return self("event.off_table", ball=self.ball(event["ball"]))
            case "strike":
                return self("event.strike")
            case _:
                return self(
                    "event.cross", ball=self.ball(event["ball"]), line=self.get(f"line.{event['line']}", event["line"])
                )


@cache
def words(language: str | None) -> Words:
    """The catalogue of a language (English where none is given).

    Raises
    ------
    InputError
        Where there is no such catalogue.
    """
    language = one_of(language or "en", LANGUAGES, "language")
    data = tomllib.loads(files(__package__).joinpath(f"{language}.toml").read_text(encoding="utf-8"))
    texts = {f"{section}.{key}": text for section, rows in data.items() for key, text in rows.items()}
    return Words(language, texts)
