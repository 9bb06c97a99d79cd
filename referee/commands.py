"""The lines of a script as frozen values: what can happen in a match beside a shot."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from referee.facts import Played
from referee.lag import Lagged
from referee.state import State
from referee.terms import Level, Option


@dataclass(frozen=True, slots=True)
class Setup:
    """The state is replaced; what the line left out is as in a fresh rack."""

    state: State


@dataclass(frozen=True, slots=True)
class Shoot:
    """A shot was played."""

    played: Played


@dataclass(frozen=True, slots=True)
class Choose:
    """A player took an option."""

    option: Option


@dataclass(frozen=True, slots=True)
class Lag:
    """Both players lagged (1.2)."""

    lags: Mapping[int, Lagged]


@dataclass(frozen=True, slots=True)
class Warn:
    """A player was told that he is on two fouls (6.14)."""

    player: int


@dataclass(frozen=True, slots=True)
class SpotRequest:
    """The shooter in the kitchen asks for a ball to be spotted (1.5)."""

    ball: int


@dataclass(frozen=True, slots=True)
class Stalemate:
    """A stalemate was declared, or announced: three more turns each (1.12)."""

    announced: bool


@dataclass(frozen=True, slots=True)
class Concede:
    """A player conceded the match (1.11)."""

    player: int


@dataclass(frozen=True, slots=True)
class Penalty:
    """The referee penalised unsporting conduct (6.16)."""

    player: int
    level: Level


@dataclass(frozen=True, slots=True)
class Replay:
    """The last shot does not count; the position is restored (1.9)."""


@dataclass(frozen=True, slots=True)
class Overrule:
    """A shot is corrected by a person (1.10); ``facts`` are script keys that replace the shot's."""

    shot: int
    facts: Mapping[str, object]


Command = Setup | Shoot | Choose | Lag | Warn | SpotRequest | Stalemate | Concede | Penalty | Replay | Overrule
