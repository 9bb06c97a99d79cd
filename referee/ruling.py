"""A ruling: every foul found, the one enforced, what follows, and how sure it is."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from calibration.table import Point
from referee.terms import CueBall, Fifteenth, Foul, Group, Option, Reason

Pair = tuple[int, int]


@dataclass(frozen=True, slots=True)
class FoulFound:
    """One foul with its article and the numbers of the events that show it (none where it was entered)."""

    foul: Foul
    article: str
    events: tuple[int, ...] = ()

    def to_json(self) -> dict[str, Any]:
        return {"code": self.foul.value, "article": self.article, "events": list(self.events)}


@dataclass(frozen=True, slots=True)
class Choice:
    """What a player is asked; the first option is what ``next`` shows until he chooses."""

    player: int
    options: tuple[Option, ...]


@dataclass(frozen=True, slots=True)
class Next:
    """Who plays on and how; ``player`` is ``None`` where the lag has to decide."""

    player: int | None
    cue_ball: CueBall
    is_break: bool = False
    push_out_allowed: bool = False
    partner: str | None = None


@dataclass(frozen=True, slots=True)
class Hinge:
    """The fact on which two readings part: a reason code, and the message that tells it with its values."""

    reason: str
    message: str
    values: tuple[tuple[str, object], ...] = ()


@dataclass(frozen=True, slots=True)
class Alternative:
    """The best other ruling, its probability and the fact on which the two part."""

    p: float
    legal: bool | None
    enforced: Foul | None
    next: Next | None
    hinge: Hinge


@dataclass(frozen=True, slots=True)
class Ruling:
    """What the referee says after one line of the script; it shows the state *after* it.

    Players are numbers 0 and 1 in the order of ``players``; :meth:`to_json` writes their names.
    """

    shot: int | None
    shooter: int | None
    legal: bool | None
    fouls: tuple[FoulFound, ...]
    enforced: Foul | None
    rules: str
    game: str
    players: tuple[str, str]
    reason: Reason
    article: str | None
    pocketed: tuple[int, ...]
    points: Pair
    score: Pair
    fouls_in_row: Pair
    groups: tuple[Group, Group] | None
    spotted: Mapping[int, Point]
    rerack: int | None
    fifteenth: Fifteenth | None
    next: Next | None
    choice: Choice | None
    rack_winner: int | None
    match_winner: int | None
    p: float = 1.0
    alternative: Alternative | None = None
    needs_referee: str | None = None
    loss: Reason | None = None
    warning_due: int | None = None
    stalemate_turns: Pair | None = None
    sets: Pair | None = None
    chosen: Option | None = None

    def key(self) -> tuple[object, ...]:
        """What makes two rulings the same one: everything that follows, not which further fouls were recorded."""
        return (
            self.legal,
            self.enforced,
            frozenset(self.pocketed),
            self.points,
            self.score,
            self.fouls_in_row,
            self.groups,
            frozenset(self.spotted),
            self.rerack,
            self.fifteenth,
            self.next,
            self.choice,
            self.rack_winner,
            self.match_winner,
        )

    def name(self, player: int | None) -> str | None:
        """A player's name."""
        return None if player is None else self.players[player]

    def to_json(self) -> dict[str, Any]:
        """The ruling as the ``ruling`` object of FORMATS, announcements in all languages included."""
        from referee.announce import announce, hinge_text

        return {
            "shot": self.shot,
            "shooter": self.name(self.shooter),
            "legal": self.legal,
            "fouls": [foul.to_json() for foul in self.fouls],
            "enforced": self.enforced.value if self.enforced else None,
            "rules": self.rules,
            "reason": {"code": self.reason.value, "article": self.article},
            "pocketed": list(self.pocketed),
            "points": self._pair(self.points),
            "score": self._pair(self.score),
            "sets": self._pair(self.sets) if self.sets else None,
            "fouls_in_row": self._pair(self.fouls_in_row),
            "warning_due": self.name(self.warning_due),
            "groups": self._pair(self.groups) if self.groups else None,
            "spotted": [{"ball": b, "at": [round(at[0], 6), round(at[1], 6)]} for b, at in self.spotted.items()],
            "rerack": self.rerack,
            "fifteenth": self.fifteenth.value if self.fifteenth else None,
            "next": self._next(self.next),
            "choice": (
                {"player": self.name(self.choice.player), "options": [o.value for o in self.choice.options]}
                if self.choice
                else None
            ),
            "rack_winner": self.name(self.rack_winner),
            "match_winner": self.name(self.match_winner),
            "stalemate_turns": self._pair(self.stalemate_turns) if self.stalemate_turns else None,
            "p": round(self.p, 6),
            "alternative": (
                {
                    "p": round(self.alternative.p, 6),
                    "legal": self.alternative.legal,
                    "enforced": self.alternative.enforced.value if self.alternative.enforced else None,
                    "next": self._next(self.alternative.next),
                    "hangs_on": hinge_text(self.alternative.hinge),
                }
                if self.alternative
                else None
            ),
            "needs_referee": {"reason": self.needs_referee, "default": "shooter"} if self.needs_referee else None,
            "announce": announce(self),
            "announce_full": announce(self, full=True),
        }

    def _pair(self, pair: tuple[Any, Any]) -> dict[str, Any]:
        return dict(zip(self.players, (getattr(v, "value", v) for v in pair), strict=True))

    def _next(self, value: Next | None) -> dict[str, Any] | None:
        if value is None:
            return None
        document: dict[str, Any] = {
            "player": self.name(value.player),
            "cue_ball": value.cue_ball.value,
            "break": value.is_break,
            "push_out_allowed": value.push_out_allowed,
        }
        if value.partner is not None:
            document["partner"] = value.partner
        return document
