"""One match at a table: folds what is seen and entered, keeps every line before it is announced, and says how things stand.

Knows no web and no camera. Every method may be called from any thread; a line that cannot be is refused with an
``InputError`` and changes nothing, and a line that cannot be kept is not announced.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from calibration.errors import InputError
from calibration.table import Table
from railbird.live import fitting, standing
from railbird.live import readings as reading
from railbird.live.seen import SeenShot, thin_paths, to_script
from railbird.live.store import Line
from referee.commands import Shoot
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


class Session:
    """A match that is being played.

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

    # -- what is seen --------------------------------------------------------------------------------------------
    def play(self, seen: SeenShot, *, clock_s: float | None = None, extension: bool = False) -> News:
        """Rule on a finished shot; calls and choices that were open are used up.

        Raises
        ------
        InputError
            Where the match is over or the shot cannot be at all.
        """
        with self._lock:
            remarks = self._fit_rack(seen)
            state = self._ready()
            taken = to_script(seen.shot, state.on_table, self._match.options.table)
            facts = dict(taken.facts)
            if state.is_break:
                fitting.forget_hands(facts)
            remarks += [{"code": "left-out", "what": what} for what in taken.left_out]
            facts["call"], facts["claim"] = self._pending.call, self._pending.claim
            if facts["claim"] is None:
                del facts["claim"]
            if clock_s is not None:
                facts["clock_s"] = round(clock_s, 2)
            if extension:
                facts["extension"] = True
            remarks += fitting.strayed(self._match.state, seen.shot)
            try:
                ruling = self._apply({"shot": facts})
            except InputError as error:
                if facts["call"] is None and "claim" not in facts:
                    raise
                # A call that went stale (another ball dropped, somebody chose a re-rack) must not cost the ruling.
                remarks.append({"code": "call-dropped", "what": str(error)})
                facts["call"] = None
                facts.pop("claim", None)
                ruling = self._apply({"shot": facts})
            self._commit("script", "camera", {"shot": facts})
            number = self.shots
            note = {
                "shot": number,
                "start_s": round(seen.shot.start_s, 3),
                "end_s": round(seen.shot.end_s, 3),
                "paths": thin_paths(seen.paths),
                "corners": {k: [round(float(v), 1) for v in at] for k, at in seen.corners.items()},
                "remarks": remarks,
            }
            self._note("camera", {"seen": note})
            return News(ruling, tuple(remarks))

    def _fit_rack(self, seen: SeenShot) -> list[dict[str, Any]]:
        """A rack that was set up, or was not, answers choices and corrects the state; that is kept as lines."""
        line, remarks = fitting.fit_rack(self._match, seen.shot)
        if line is not None:
            self._enter("camera", line)
        return remarks

    def _ready(self) -> State:
        """The state the next shot begins in: an open choice falls to its first option."""
        from referee.choices import resolve_pending

        if self.over:
            raise InputError(f"the match is over, {self.winner} won it: begin another on the set-up page")
        return resolve_pending(self._match.state, self._match.options)

    # -- what people say -----------------------------------------------------------------------------------------
    def call(self, who: str, call: Any, claim: str | None = None) -> News:
        """Announce the next shot: ``{"ball", "pocket"}``, ``"safety"``, ``"push-out"``, or ``None`` to take it back."""
        with self._lock:
            state = self._ready()
            self._check_call(state, call, claim)
            body = {"call": call} if claim is None else {"call": call, "claim": claim}
            self._commit("call", who, body)
            return News()

    def _check_call(self, state: State, call: Any, claim: str | None) -> None:
        from referee.calls import check_call
        from referee.script import parse_line

        line: dict[str, Any] = {"shot": {"events": [], "call": call}}
        if claim is not None:
            line["shot"]["claim"] = claim
        command = parse_line(line, self._match.options, state)
        assert isinstance(command, Shoot)
        check_call(command.played, state, self._match.options)

    def choose(self, who: str, option: str) -> News:
        """Take one of the options a ruling offers."""
        return self._enter(who, {"choose": option})

    def observed(self, who: str, code: str, there: bool = True) -> News:
        """Enter a foul that somebody saw on the last shot, or take it back."""
        with self._lock:
            step, number = self._last_shot()
            codes = [c for c in step.line["shot"].get("observed", []) if c != code]
            return self._overrule(who, number, {"observed": [*codes, code] if there else codes})

    def correct(self, who: str, shot: int, facts: Mapping[str, Any]) -> News:
        """Replace facts of a shot; every ruling from there on follows."""
        with self._lock:
            self._shot(shot)
            return self._overrule(who, shot, facts)

    def correct_by_reading(self, who: str, shot: int, name: str) -> News:
        """Take one of the readings that the shot's own doubt allows."""
        with self._lock:
            for one in self._readings(shot):
                if one.id == name:
                    return self._overrule(who, shot, one.facts)
            raise InputError(f"shot {shot} has no reading {name!r}")

    def correct_facts(
        self,
        who: str,
        shot: int,
        *,
        first: int | None = None,
        rail: bool | None = None,
        pocketed: Mapping[int, str] | None = None,
        off: Sequence[int] | None = None,
        call: Any = ...,
    ) -> News:
        """Say what was really hit first, whether a rail was reached, what went down, or what was called."""
        with self._lock:
            events = list(self._shot(shot).line["shot"]["events"])
            if first is not None:
                events = reading.hit_first(events, first)
            if rail is not None:
                events = reading.reached_rail(events, rail)
            if pocketed is not None:
                events = reading.went_down(events, pocketed, off)
            facts: dict[str, Any] = {"events": events}
            if pocketed is not None:
                # Where a ball rests that is said to be down is known no more.
                rest = self._shot(shot).line["shot"].get("rest", {})
                gone = {str(ball) for ball in (*pocketed, *(off or ()))}
                facts["rest"] = {ball: at for ball, at in rest.items() if ball not in gone}
            if call is not ...:
                facts["call"] = call
                if first is None and rail is None and pocketed is None:
                    del facts["events"]
            return self._overrule(who, shot, facts)

    def enter(self, who: str, line: Mapping[str, Any]) -> News:
        """Any other script line: concede, penalty, stalemate, replay, spot_request, warn, setup."""
        return self._enter(who, line)

    def set_state(self, who: str, **given: Any) -> News:
        """The referee states how things are; what is not given stays as it is.

        Parameters
        ----------
        given : keys of a ``setup`` line.
        """
        with self._lock:
            line = fitting.setup_line(self._match, given)
            return self._enter(who, {"setup": line})

    def breaker(self, who: str, seat: int) -> News:
        """Say who breaks, as long as nothing was played."""
        with self._lock:
            if self.shots:
                raise InputError("the first shot was played: who broke can only be corrected with the set-up")
            return self._enter(who, {"setup": {"shooter": self.players[seat], "break": True}})

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

    def _readings(self, number: int) -> list[reading.Reading]:
        return reading.readings(self._shot(number).line["shot"], call_shot=self.game in standing.CALL_SHOT)

    def offers(self, number: int) -> list[dict[str, Any]]:
        """Readings of a shot with the ruling each would give, those that change nothing marked."""
        with self._lock:
            step = self._shot(number)
            assert step.ruling is not None
            now = step.ruling.key()
            found = []
            for one in self._readings(number):
                try:
                    ruling = self._match.what_if(number, one.facts)[0]
                except InputError:
                    continue  # a reading that cannot be is none
                found.append(
                    {
                        "id": one.id,
                        "kind": one.kind,
                        "detail": one.detail,
                        "at_s": one.at_s,
                        "changes": ruling.key() != now,
                        "ruling": standing.brief(ruling),
                    }
                )
            return found

    def place_of(self, number: int, at_s: float) -> dict[str, Any]:
        """Where on the table, and in the clip, something happened at an instant of a shot.

        Returns
        -------
        ``point`` (metres) or ``None`` where no event tells, and ``corners`` of the table in the clip, pixels by name.
        """
        with self._lock:
            events = [e for e in self._shot(number).line["shot"]["events"] if "at" in e]
            near = min(events, key=lambda e: abs(float(e["t_s"]) - at_s), default=None)
            return {"point": near["at"] if near else None, "corners": self._notes.get(number, {}).get("corners", {})}

    # -- what pages show -----------------------------------------------------------------------------------------
    def view(self) -> dict[str, Any]:
        """How the match stands, as pages, overlay and other programs read it."""
        with self._lock:
            match = self._match
            corrected = {line.body["overrule"]["shot"] for line in self._script if "overrule" in line.body}
            return {
                **standing.standing(match),
                "call": self._pending.call,
                "claim": self._pending.claim,
                "calls": standing.callable_now(match.state, match.options, self._check_call),
                "last": standing.last(match, self._notes, corrected),
                "undo": bool(self._script),
                "redo": bool(self._withdrawn),
                "paused": self.paused,
            }


__all__ = ["News", "Session"]
