"""A match as a fold over its lines: apply, undo, overrule, and ask what would have been."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from calibration.errors import InputError
from referee import administration
from referee.choices import choose
from referee.commands import (
    Choose,
    Command,
    Concede,
    Lag,
    Overrule,
    Penalty,
    Replay,
    Setup,
    Shoot,
    SpotRequest,
    Stalemate,
    Warn,
)
from referee.doubt import rule
from referee.ruling import Ruling
from referee.script import parse_line, parse_match
from referee.state import Options, State, first_state
from referee.terms import Option


def step(state: State, command: Command, options: Options) -> tuple[State, Ruling | None]:
    """Fold one command into the match: a pure function of what it is given.

    Raises
    ------
    InputError
        Where the command cannot be in this state.
    """
    if isinstance(command, Shoot):
        return rule(state, command.played, options)
    if isinstance(command, Choose):
        return choose(state, command.option, options)
    if isinstance(command, Setup):
        return command.state, None
    if isinstance(command, Lag):
        return administration.lag(state, command, options)
    if isinstance(command, Warn):
        return administration.warn(state, command, options), None
    if isinstance(command, SpotRequest):
        return administration.spot_request(state, command, options)
    if isinstance(command, Stalemate):
        return administration.stalemate(state, command, options)
    if isinstance(command, Concede):
        return administration.concede(state, command, options)
    if isinstance(command, Penalty):
        return administration.penalty(state, command, options)
    if isinstance(command, Replay):
        return administration.replay(state, options)
    raise InputError("an overrule is not folded by itself; give it to Match.apply")


@dataclass(frozen=True, slots=True)
class Step:
    """One line of the match as it now stands: its source, its meaning, the state after it and its ruling."""

    line: Mapping[str, Any]
    command: Command
    state: State
    ruling: Ruling | None


class Match:
    """A match: the log of its lines, and everything derived from them.

    The log *is* the match: ``Match.replayed(match.log)`` gives an equal one. Nothing changes if a line is refused.

    Parameters
    ----------
    line : the ``match`` line of a script, with or without its ``"match"`` wrapper.

    Raises
    ------
    InputError
        Where the line is at fault; the message names field, value and what is allowed.
    """

    def __init__(self, line: Mapping[str, Any]) -> None:
        self._opening: Mapping[str, Any] = line if "match" in line else {"match": dict(line)}
        self.options: Options = parse_match(self._opening)
        self._start = first_state(self.options)
        self._steps: list[Step] = []
        self._log: list[Mapping[str, Any]] = []
        self._overruled: dict[int, list[Step]] = {}  # log length before an overrule -> the steps as they were

    @classmethod
    def replayed(cls, log: Sequence[Mapping[str, Any]]) -> Match:
        """The match that a log of lines describes."""
        match = cls(log[0])
        for line in log[1:]:
            match.apply(line)
        return match

    @property
    def start(self) -> State:
        """The state before the first line."""
        return self._start

    @property
    def state(self) -> State:
        """The state after the last line."""
        return self._steps[-1].state if self._steps else self._start

    @property
    def log(self) -> list[Mapping[str, Any]]:
        """All lines so far, the opening one first; enough to derive the match again."""
        return [self._opening, *self._log]

    @property
    def steps(self) -> tuple[Step, ...]:
        """Every line as it now stands, overruled shots corrected."""
        return tuple(self._steps)

    @property
    def rulings(self) -> list[Ruling]:
        """All rulings as they now stand."""
        return [step.ruling for step in self._steps if step.ruling is not None]

    @property
    def choice(self) -> tuple[str, tuple[Option, ...]] | None:
        """Who has to choose, and among what."""
        choice = self.state.choice
        return None if choice is None else (self.options.players[choice.player], choice.options)

    def apply(self, line: Mapping[str, Any]) -> list[Ruling]:
        """Fold one script line into the match.

        Returns
        -------
        The rulings it prints: none, one, or after an overrule every one from the corrected shot on.
        """
        command = parse_line(line, self.options, self.state)
        if isinstance(command, Overrule):
            return self._overrule(line, command)
        state, ruling = step(self.state, command, self.options)
        self._log.append(line)
        self._steps.append(Step(line, command, state, ruling))
        return [ruling] if ruling is not None else []

    def undo(self) -> Mapping[str, Any]:
        """Take back the last line, an overrule included, and return it.

        Raises
        ------
        InputError
            Where there is none.
        """
        if not self._log:
            raise InputError("undo: there is no line to take back")
        line = self._log.pop()
        before = self._overruled.pop(len(self._log), None)
        if before is not None:
            self._steps = before
        else:
            self._steps.pop()
        return line

    def overrule(self, shot: int, facts: Mapping[str, Any]) -> list[Ruling]:
        """Correct a shot; everything after it is derived again (1.10).

        Parameters
        ----------
        shot : its number.
        facts : script keys of the shot. With ``events`` and ``call`` they are the whole corrected shot; otherwise the
            keys given replace the shot's own.
        """
        return self.apply({"overrule": {"shot": shot, "shot_facts": dict(facts)}})

    def what_if(self, shot: int, facts: Mapping[str, Any]) -> list[Ruling]:
        """What the rulings from a shot on would be with other facts; the match stays as it is."""
        rulings = self.overrule(shot, facts)
        self.undo()
        return rulings

    def _overrule(self, line: Mapping[str, Any], command: Overrule) -> list[Ruling]:
        at = self._index_of(command.shot)
        steps = list(self._steps[:at])
        state = steps[-1].state if steps else self._start
        rulings: list[Ruling] = []
        for number, old in enumerate(self._steps[at:]):
            source = old.line
            if number == 0:
                given = dict(command.facts)
                whole = "events" in given and "call" in given
                source = {"shot": given if whole else {**old.line["shot"], **given}}
            # Lines are read again: what a setup leaves out depends on the state before it.
            try:
                again = parse_line(source, self.options, state)
                state, ruling = step(state, again, self.options)
            except InputError as error:
                if number == 0:
                    raise
                raise InputError(f"overrule: after the correction a later line no longer fits: {error}") from None
            steps.append(Step(source, again, state, ruling))
            if ruling is not None:
                rulings.append(ruling)
        self._overruled[len(self._log)] = self._steps
        self._log.append(line)
        self._steps = steps
        return rulings

    def _index_of(self, shot: int) -> int:
        number = 0
        for index, one in enumerate(self._steps):
            if isinstance(one.command, Shoot):
                number += 1
                if number == shot:
                    return index
        raise InputError(
            f"overrule.shot: there is no shot {shot}; shots 1 to {number} were played"
            if number
            else "overrule.shot: no shot was played yet"
        )
