"""The words of the live pages, joined with those that reports and videos share, by language."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from functools import cache
from importlib.resources import files

from railbird.validation import LANGUAGES, one_of
from railbird.words import words
from referee.messages import catalogue

_SHARED = ("game.", "rules.", "call.", "pocket.", "ball.")
_REFEREE = ("foul.", "option.", "cue.", "group.", "needs.")


@cache
def page_words(language: str) -> Mapping[str, str]:
    """All texts of a page by key; the pages' own are under ``live.``.

    Raises
    ------
    InputError
        Where there is no catalogue of that language.
    """
    one_of(language, LANGUAGES, "language")
    text = (files("railbird.live") / "words" / f"{language}.toml").read_text(encoding="utf-8")
    shared = {key: value for key, value in words(language).texts.items() if key.startswith(_SHARED)}
    ruled = {key: value for key, value in catalogue(language).items() if key.startswith(_REFEREE)}
    return {**shared, **ruled, **{f"live.{key}": value for key, value in tomllib.loads(text).items()}}


def phrase(name: str) -> dict[str, str]:
    """What the desk says by itself, by language; rulings come with their own words."""
    return {language: page_words(language)[f"live.spoken_{name}"] for language in LANGUAGES}
