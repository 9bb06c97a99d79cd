"""Why a ruling came out as it did: the events it stands on, the clauses, and what would have changed it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from calibration.errors import InputError
from referee.commands import Shoot
from referee.doubt import rule
from referee.facts import NO_CALL, Played, in_order
from referee.match import Match
from referee.ruling import Ruling
from tracking.events import Contact, Strike


@dataclass(frozen=True, slots=True)
class Change:
    """One fact that, had it been otherwise, would have changed the ruling.

    ``kind`` is ``without`` (an event did not happen), ``swapped`` (two contacts the other way round) or ``called`` (the
    ball had been called); ``events`` are the event numbers it is about, ``ruling`` what the ruling would be.
    """

    kind: str
    events: tuple[int, ...]
    ruling: Ruling


@dataclass(frozen=True, slots=True)
class Explanation:
    """Evidence and clauses of a ruling, and the single facts on which it depends."""

    ruling: Ruling
    evidence: tuple[tuple[str, str, tuple[int, ...]], ...]
    clause: str | None
    changes: tuple[Change, ...]

    def to_json(self) -> dict[str, Any]:
        """As a JSON object: clause, fouls with article and event numbers, and changes with what they would lead to."""
        return {
            "shot": self.ruling.shot,
            "reason": self.ruling.reason.value,
            "clause": self.clause,
            "evidence": [
                {"code": code, "article": article, "events": list(events)} for code, article, events in self.evidence
            ],
            "changes": [
                {
                    "if": change.kind,
                    "events": list(change.events),
                    "legal": change.ruling.legal,
                    "enforced": change.ruling.enforced.value if change.ruling.enforced else None,
                    "next": change.ruling.to_json()["next"],
                }
                for change in self.changes
            ],
        }


def explain(match: Match, shot: int) -> Explanation:
    """Explain the ruling of a shot.

    Parameters
    ----------
    match : the match; it stays as it is.
    shot : the shot's number.

    Raises
    ------
    InputError
        Where there is no such shot.
    """
    before = match.start
    for step in match.steps:
        if isinstance(step.command, Shoot) and step.ruling is not None and step.ruling.shot == shot:
            evidence = tuple((f.foul.value, f.article, f.events) for f in step.ruling.fouls)
            changes = []
            for kind, events, other in _variants(step.command.played):
                try:
                    _, ruling = rule(before, other, match.options)
                except InputError:
                    continue
                if ruling.key() != step.ruling.key():
                    changes.append(Change(kind, events, ruling))
            return Explanation(step.ruling, evidence, step.ruling.article, tuple(changes))
        before = step.state
    raise InputError(f"explain: there is no shot {shot}; {match.state.shots} were played")


def _variants(shot: Played) -> list[tuple[str, tuple[int, ...], Played]]:
    variants: list[tuple[str, tuple[int, ...], Played]] = []
    plain = replace(shot, alternatives=())
    for number, event in enumerate(shot.events):
        if not isinstance(event, Strike):
            left = shot.events[:number] + shot.events[number + 1 :]
            variants.append(("without", (number,), replace(plain, events=left)))
    contacts = [n for n, event in enumerate(shot.events) if isinstance(event, Contact) and event.balls[0] == 0]
    if len(contacts) > 1:
        a, b = contacts[:2]
        events = list(shot.events)
        events[a], events[b] = replace(events[a], t_s=events[b].t_s), replace(events[b], t_s=events[a].t_s)
        variants.append(("swapped", (a, b), replace(plain, events=in_order(events))))
    if shot.observed:
        variants.append(("without", (), replace(plain, observed=())))
    if shot.call is not NO_CALL:
        variants.append(("called", (), replace(plain, call=NO_CALL)))
    return variants
