"""How a match stands, as plain values: what pages, overlay and other programs read."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

from calibration.errors import InputError
from railbird.live import readings as reading
from referee.commands import Shoot
from referee.match import Match, Step
from referee.ruling import Ruling
from referee.state import Options, State
from referee.terms import Game

CALL_SHOT = (Game.EIGHT_BALL, Game.TEN_BALL, Game.STRAIGHT_POOL)
HISTORY = 40


def standing(match: Match) -> dict[str, Any]:
    """Options, score, turn, choice and the latest rulings of a match."""
    state, options = match.state, match.options
    names = options.players
    return {
        "players": list(names),
        "game": options.game.value,
        "rules": options.rules.name,
        "race_to": options.race_to,
        "points_to": options.points_to,
        "break_order": options.break_order.value,
        "shot_clock_s": options.shot_clock_s,
        "table": options.table.to_json(),
        "score": _by_name(names, state.score),
        "groups": _by_name(names, [group.value for group in state.groups]) if state.groups else None,
        "fouls_in_row": _by_name(names, state.fouls_in_row),
        "shooter": None if state.lag_needed else names[state.shooter],
        "cue_ball": state.cue_ball.value,
        "break": state.is_break,
        "push_out_allowed": state.push_out_allowed,
        "on_table": sorted(state.on_table),
        "choice": (
            {"player": names[state.choice.player], "options": [option.value for option in state.choice.options]}
            if state.choice
            else None
        ),
        "winner": None if state.match_winner is None else names[state.match_winner],
        "shots": len(shot_steps(match)),
        "history": [brief(step.ruling) for step in match.steps[-HISTORY:] if step.ruling is not None],
    }


def callable_now(state: State, options: Options, check: Callable[[State, Any, str | None], None]) -> dict[str, Any]:
    """What may be called for the next shot: balls, safety, push-out, claims, and whether a call is wanted at all.

    Parameters
    ----------
    check : raises ``InputError`` where the rules do not allow a call.
    """
    if state.match_winner is not None or state.lag_needed:
        return {"wanted": False, "balls": [], "safety": False, "push_out": False, "claims": []}
    call_shot = options.game in CALL_SHOT and not (state.is_break and options.game is not Game.STRAIGHT_POOL)

    def fine(call: Any, claim: str | None = None) -> bool:
        try:
            check(state, call, claim)
        except InputError:
            return False
        return True

    pocket = "foot-left"
    balls = [b for b in sorted(state.object_balls) if fine({"ball": b, "pocket": pocket})] if call_shot else []
    if options.game is Game.EIGHT_BALL and state.groups is not None:
        own = state.groups[state.shooter].balls
        balls = [b for b in balls if b in own or b == 8]
    claims = [group for group in ("solids", "stripes") if call_shot and fine({"ball": 8, "pocket": pocket}, group)]
    return {
        "wanted": call_shot,
        "balls": balls,
        "safety": call_shot and fine("safety"),
        "push_out": fine("push-out"),
        "claims": claims,
    }


def last(match: Match, notes: Mapping[int, Mapping[str, Any]], corrected: Collection[int]) -> dict[str, Any] | None:
    """The latest ruling, and the latest shot with what was seen of it.

    Parameters
    ----------
    notes : by shot number, what the camera noted beside the facts.
    corrected : numbers of the shots that a person corrected.
    """
    rulings = [step.ruling for step in match.steps if step.ruling is not None]
    if not rulings:
        return None
    view: dict[str, Any] = {"ruling": shown(rulings[-1]), "shot": None}
    shots = shot_steps(match)
    if shots:
        number = len(shots)
        facts, note, own = shots[-1].line["shot"], notes.get(number, {}), shots[-1].ruling
        view["shot"] = {
            "number": number,
            "facts": {key: facts[key] for key in ("events", "start", "rest", "call", "observed") if key in facts},
            "first": reading.first_contact(facts["events"]),
            "paths": note.get("paths", {}),
            "remarks": note.get("remarks", []),
            "corrected": number in corrected,
            "ruling": None if own is None else shown(own),
            "start_s": note.get("start_s"),
            "end_s": note.get("end_s"),
        }
    return view


def shot_steps(match: Match) -> list[Step]:
    """The shots of a match as they stand, in order."""
    return [step for step in match.steps if isinstance(step.command, Shoot)]


def shown(ruling: Ruling) -> dict[str, Any]:
    """A ruling in full."""
    return ruling.to_json()


def brief(ruling: Ruling) -> dict[str, Any]:
    """What a line of history and a reading need of a ruling."""
    document = ruling.to_json()
    keys = ("shot", "shooter", "legal", "enforced", "fouls", "p", "announce", "rack_winner", "next", "score")
    return {key: document[key] for key in keys}


def _by_name(names: tuple[str, str], values: Sequence[Any]) -> dict[str, Any]:
    return dict(zip(names, values, strict=True))
