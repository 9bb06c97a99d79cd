"""The lines of one match: folded, kept for good before anything follows from them, withdrawn and restored.

Every method may be called from any thread; a line that cannot be is refused with an ``InputError`` and changes nothing, and
a line that cannot be kept is unfolded.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from calibration.errors import InputError
from calibration.table import Table
from railbird.live import standing
from railbird.live.store import Line
from referee.match import Match, Step
from referee.state import Options, State
from referee.terms import Game

Keep = Callable[[str, str, Mapping[str, Any]], Line]


@dataclass(frozen=True, slots=True)
class News:
    """What a line brought: the rulings it printed, and remarks for people (codes with details)."""

    rulings: tuple[dict[str, Any], ...] = ()
    remarks: tuple[dict[str, Any], ...] = ()


@dataclass(frozen=True, slots=True)
class Pending:
    """What was announced for the next shot."""

    call: Any = None
    claim: str | None = None


class Ledger:
    """The lines of a match that is being played.

    Parameters
    ----------
    opening : the ``match`` line.
    keep : writes a line for good and returns it; raises where it cannot.
    lines : the log so far, where the match is taken up again.

    Raises
    ------
    InputError
        Where opening or log are at fault.
    """

    def __init__(self, opening: Mapping[str, Any], keep: Keep, lines: Sequence[Line] = ()) -> None:
        self._keep = keep
        self._lock = threading.RLock()
        self._match = Match(opening)
        self._script: list[Line] = []
        self._withdrawn: list[Line] = []
        self._pending = Pending()
        self._notes: dict[int, dict[str, Any]] = {}
        self._gone: dict[int, int] = {}  # balls that were taken for down unseen, and in which shot
        self.paused = False
        for line in lines:
            self._take(line)

    def _take(self, line: Line) -> None:
        """Fold one kept line."""
        if line.kind == "script":
            self._match.apply(line.body)
            self._script.append(line)
            self._withdrawn.clear()
            if "shot" in line.body or "setup" in line.body:
                self._pending = Pending()
        elif line.kind == "call":
            self._pending = Pending(line.body.get("call"), line.body.get("claim"))
        elif line.kind == "withdraw":
            self._match.undo()
            self._withdrawn.append(self._script.pop())
        elif line.kind == "restore":
            back = self._withdrawn.pop()
            self._match.apply(back.body)
            self._script.append(back)
        elif "seen" in line.body:
            self._notes[int(line.body["seen"]["shot"])] = line.body["seen"]
        elif "gone" in line.body:
            self._gone[int(line.body["gone"]["ball"])] = int(line.body["gone"]["shot"])
        elif "back" in line.body:
            self._gone.pop(int(line.body["back"]["ball"]), None)
        elif "pause" in line.body:
            self.paused = bool(line.body["pause"])

    # -- how things stand ----------------------------------------------------------------------------------------
    @property
    def state(self) -> State:
        return self._match.state

    @property
    def options(self) -> Options:
        """What the match is played with."""
        return self._match.options

    @property
    def table(self) -> Table:
        return self._match.options.table

    @property
    def players(self) -> tuple[str, str]:
        return self._match.options.players

    @property
    def game(self) -> Game:
        return self._match.options.game

    @property
    def over(self) -> bool:
        return self._match.state.match_winner is not None

    @property
    def winner(self) -> str | None:
        won = self._match.state.match_winner
        return None if won is None else self.players[won]

    @property
    def shots(self) -> int:
        """How many shots are in the match as it stands."""
        return len(standing.shot_steps(self._match))

    def script(self) -> list[dict[str, Any]]:
        """The match as ``railbird adjudicate`` reads it, withdrawn lines left out."""
        with self._lock:
            return [dict(line) for line in self._match.log]

    def shot_facts(self) -> list[dict[str, Any]]:
        """The facts of every shot as they stand, corrections made."""
        with self._lock:
            return [dict(step.line["shot"]) for step in self._shot_steps()]

    def ruling_of(self, number: int) -> dict[str, Any] | None:
        """The ruling on a shot as it stands."""
        with self._lock:
            ruling = self._shot(number).ruling
            return None if ruling is None else standing.shown(ruling)

    def note_of(self, number: int) -> dict[str, Any]:
        """What the camera noted beside the facts: times, paths for drawing, remarks."""
        with self._lock:
            return dict(self._notes.get(number, {}))

    # -- taking back -------------------------------------------------------------------------------------------
    def undo(self, who: str) -> News:
        """Withdraw the last line; it stays in the log as withdrawn."""
        with self._lock:
            if not self._script:
                raise InputError("there is nothing to undo")
            self._commit("withdraw", who, {"line": self._script[-1].number})
            self._withdrawn.append(self._script.pop())
            self._match.undo()
            return News()

    def redo(self, who: str) -> News:
        """Restore what was withdrawn last."""
        with self._lock:
            if not self._withdrawn:
                raise InputError("there is nothing to restore")
            line = self._withdrawn[-1]
            rulings = self._apply(line.body)
            try:
                self._keep("restore", who, {"line": line.number})
            except BaseException:
                self._match.undo()
                raise
            self._script.append(self._withdrawn.pop())
            return News(rulings)

    def pause(self, who: str, on: bool) -> None:
        """A time-out, or the end of one."""
        with self._lock:
            self._note(who, {"pause": on})
            self.paused = on

    def remark(self, who: str, body: Mapping[str, Any]) -> None:
        """Anything else that belongs in the log."""
        with self._lock:
            self._note(who, body)

    # -- folding and keeping -------------------------------------------------------------------------------------
    def _enter(self, who: str, line: Mapping[str, Any]) -> News:
        with self._lock:
            rulings = self._apply(line)
            self._commit("script", who, line)
            return News(rulings)

    def _overrule(self, who: str, shot: int, facts: Mapping[str, Any]) -> News:
        return self._enter(who, {"overrule": {"shot": shot, "shot_facts": dict(facts)}})

    def _apply(self, line: Mapping[str, Any]) -> tuple[dict[str, Any], ...]:
        return tuple(standing.shown(ruling) for ruling in self._match.apply(line))

    def _commit(self, kind: str, who: str, body: Mapping[str, Any]) -> None:
        """Keep a line that was folded; unfold it where it cannot be kept."""
        try:
            line = self._keep(kind, who, body)
        except BaseException:
            if kind == "script":
                self._match.undo()
            raise
        if kind == "script":
            self._script.append(line)
            self._withdrawn.clear()
            if "shot" in body or "setup" in body:
                self._pending = Pending()
        elif kind == "call":
            self._pending = Pending(body.get("call"), body.get("claim"))

    def _note(self, who: str, body: Mapping[str, Any]) -> None:
        self._take(self._keep("note", who, body))

    # -- shots ---------------------------------------------------------------------------------------------------
    def _shot_steps(self) -> list[Step]:
        return standing.shot_steps(self._match)

    def _shot(self, number: int) -> Step:
        steps = self._shot_steps()
        if not 1 <= number <= len(steps):
            raise InputError(f"there is no shot {number}; {len(steps)} were played")
        return steps[number - 1]

    def _last_shot(self) -> tuple[Step, int]:
        steps = self._shot_steps()
        if not steps:
            raise InputError("no shot was played yet")
        return steps[-1], len(steps)
