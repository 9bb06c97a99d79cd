"""Names that the commands take: games, rule sets, questions."""

from __future__ import annotations

from collections.abc import Sequence

from calibration.errors import InputError

GAMES = ("8-ball", "9-ball", "10-ball", "14.1")
RULE_SETS = ("wpa-2025", "wpa-2008", "est-14.1")
QUESTIONS = ("first-contact", "rail", "pocket", "double-hit")

#: Object balls that can be on the table in a game.
BALLS: dict[str, tuple[int, ...]] = {
    "8-ball": tuple(range(1, 16)),
    "9-ball": tuple(range(1, 10)),
    "10-ball": tuple(range(1, 11)),
    "14.1": tuple(range(1, 16)),
}


def one_of(field: str, value: str, allowed: Sequence[str]) -> str:
    """``value`` if it is one of ``allowed``; else an error that lists them."""
    if value not in allowed:
        raise InputError(f"--{field} {value!r} is not known: one of {', '.join(allowed)}")
    return value
