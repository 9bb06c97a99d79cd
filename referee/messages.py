"""Message catalogues: every sentence people read or hear, by language and key; a language is one module."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from functools import cache

LANGUAGES = ("en", "hu", "et")


@cache
def catalogue(language: str) -> Mapping[str, str]:
    """All messages of a language, loaded when first asked for."""
    messages: Mapping[str, str] = importlib.import_module(f"referee.messages_{language}").MESSAGES
    return messages


def text(language: str, key: str, **values: object) -> str:
    """A message with its values filled in."""
    message = catalogue(language)[key]
    return message.format(**values) if values else message
