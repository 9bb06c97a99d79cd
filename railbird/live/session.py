"""One match at a table: rules on what is seen and entered, lets people put it right, and says how things stand.

Knows no web and no camera. What it does to the match it does as lines of the ledger, which keeps each before it is announced.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from calibration.errors import InputError
from railbird.live import fitting, standing
from railbird.live import readings as reading
from railbird.live.ledger import Ledger, News
from railbird.live.missing import came_back, went_unseen
from railbird.live.seen import SeenShot, thin_paths, to_script
from referee.commands import Shoot
from referee.state import State


class Session(Ledger):
    """A match that is being played; see `Ledger` for what it is made from."""

    # -- what is seen --------------------------------------------------------------------------------------------
    def play(self, seen: SeenShot, *, clock_s: float | None = None, extension: bool = False) -> News:
        """Rule on a finished shot; calls and choices that were open are used up.

        Raises
        ------
        InputError
            Where the match is over or the shot cannot be at all.
        """
        with self._lock:
            remarks = self._fit_rack(seen) + self._account(seen)
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

    def _account(self, seen: SeenShot) -> list[dict[str, Any]]:
        """Put down what went down unseen, where that changes nothing but the balls left; else only say so."""
        remarks: list[dict[str, Any]] = []
        lost = [(one, True) for one in went_unseen(self._match, self._notes, seen.shot)]
        found = [(one, False) for one in came_back(self._match, self._gone, seen.shot)]
        for gone, down in lost + found:
            line = {"overrule": {"shot": gone.shot, "shot_facts": {"events": gone.events}}}
            before = _decided(self._match.state)
            try:
                self._apply(line)
            except InputError:
                continue
            if _decided(self._match.state) == before:
                self._commit("script", "camera", line)
                self._note("camera", {"gone" if down else "back": {"ball": gone.ball, "shot": gone.shot}})
                remarks.append({"code": "gone-unseen" if down else "back", "ball": gone.ball, "shot": gone.shot})
            else:
                self._match.undo()
                remarks.append(
                    {"code": "missing" if down else "left-out", "ball": gone.ball, "what": f"ball {gone.ball}"}
                )
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

    # -- readings ------------------------------------------------------------------------------------------------
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


def _decided(state: State) -> tuple[Any, ...]:
    """What people were told of how a match stands, balls left out."""
    return state.shooter, state.score, state.match_winner, state.is_break, state.cue_ball, state.choice, state.groups


__all__ = ["News", "Session"]
