"""What people may ask of the desk: one strict model for each command, and who may ask it."""

from __future__ import annotations

from typing import Annotated, Any, Literal, Union

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from calibration.errors import InputError
from railbird.live.access import Role
from tracking.events import PocketName, RailName

Ball = Annotated[int, Field(ge=0, le=15)]
ObjectBall = Annotated[int, Field(ge=1, le=15)]
Seat = Literal[0, 1]
ShotNumber = Annotated[int, Field(ge=1, le=100_000)]
#: Fouls that only people know of (RULES 3).
ENTERED = ("no-foot", "touched-ball", "double-hit", "push", "balls-moving", "cue-on-table", "out-of-turn", "template")
Entered = Literal[
    "no-foot", "touched-ball", "double-hit", "push", "balls-moving", "cue-on-table", "out-of-turn", "template"
]


class Command(BaseModel):
    """A command; unknown fields and wrong types are refused."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class Call(Command):
    """Announce the next shot: a ball and a pocket, a safety or a push-out; nothing takes the call back."""

    do: Literal["call"]
    ball: ObjectBall | None = None
    pocket: PocketName | None = None
    kind: Literal["ball", "safety", "push-out", "none"] = "ball"
    claim: Literal["solids", "stripes"] | None = None


class Choose(Command):
    """Choose among the options that a ruling offers."""

    do: Literal["choose"]
    option: Annotated[str, Field(max_length=20)]


class Observed(Command):
    """Enter a foul that somebody saw on the last shot; ``there`` false takes it back."""

    do: Literal["observed"]
    code: Entered
    there: bool = True


class Correct(Command):
    """Correct a fact of a shot: one of the readings offered, or what was really hit, railed, pocketed."""

    do: Literal["correct"]
    shot: ShotNumber
    reading: Annotated[str, Field(max_length=60)] | None = None
    first: Ball | None = None
    rail: bool | None = None
    pocketed: dict[Annotated[str, Field(max_length=2)], PocketName] | None = None
    off: Annotated[list[Ball], Field(max_length=16)] | None = None
    call: Call | None = None


class Undo(Command):
    """Withdraw the last line of the match."""

    do: Literal["undo"]


class Redo(Command):
    """Restore what was withdrawn last."""

    do: Literal["redo"]


class Concede(Command):
    """Concede the match for a player."""

    do: Literal["concede"]
    seat: Seat


class Pause(Command):
    """A time-out: what happens on the table is not ruled on. ``on`` false ends it."""

    do: Literal["pause"]
    on: bool


class Extension(Command):
    """Take the shot clock's extension."""

    do: Literal["extension"]


class WatchHit(Command):
    """Watch the next hit: the gap is shown and the clip is kept."""

    do: Literal["watch-hit"]
    on: bool


class PutBack(Command):
    """Show where the balls lay before the last shot, to put them back."""

    do: Literal["put-back"]
    on: bool


class Dispute(Command):
    """Keep the clip of a shot, with a word about it, until somebody deletes it."""

    do: Literal["dispute"]
    shot: ShotNumber
    text: Annotated[str, Field(max_length=300)] = ""


class Settle(Command):
    """Delete a dispute."""

    do: Literal["settle"]
    dispute: Annotated[int, Field(ge=1)]


class Breaker(Command):
    """Say who breaks, before the first shot."""

    do: Literal["breaker"]
    seat: Seat


class Replay(Command):
    """The last shot does not count (interference)."""

    do: Literal["replay"]


class SpotRequest(Command):
    """Cue ball in the kitchen and every legal ball too: ask for the nearest one to be spotted."""

    do: Literal["spot-request"]
    ball: ObjectBall


class Stalemate(Command):
    """Announce or declare a stalemate."""

    do: Literal["stalemate"]
    announced: bool = False


class Warn(Command):
    """Tell a player that he is on two fouls."""

    do: Literal["warn"]
    seat: Seat


class Penalty(Command):
    """The referee's penalty for unsporting conduct."""

    do: Literal["penalty"]
    seat: Seat
    level: Literal["warning", "foul", "serious", "rack", "match"]


class SetState(Command):
    """The referee states how things are: who shoots, what is on the table, score, groups."""

    do: Literal["set-state"]
    shooter: Seat
    on_table: Annotated[list[Ball], Field(max_length=16)] | None = None
    cue_ball: Literal["as-lies", "in-hand", "kitchen"] | None = None
    score: Annotated[list[Annotated[int, Field(ge=-999, le=999)]], Field(min_length=2, max_length=2)] | None = None
    groups: Annotated[list[Literal["solids", "stripes"]], Field(min_length=2, max_length=2)] | None = None
    is_break: bool = False


class Sound(Command):
    """What is spoken on this machine and on the wall."""

    do: Literal["sound"]
    volume: Annotated[int, Field(ge=0, le=100)] | None = None
    fouls_only: bool | None = None


class NewMatch(Command):
    """Begin a match; the one that is being played is closed."""

    do: Literal["new-match"]
    game: Literal["8-ball", "9-ball", "10-ball", "14.1"]
    rules: Literal["wpa-2025", "wpa-2008", "est-14.1"]
    players: Annotated[list[Annotated[str, Field(max_length=200)]], Field(min_length=2, max_length=2)]
    breaker: Seat | None = None
    race_to: Annotated[int, Field(ge=1, le=99)] = 5
    points_to: Annotated[int, Field(ge=1, le=999)] = 100
    break_order: Literal["alternate", "winner", "loser"] = "alternate"
    three_ball_rule: bool | None = None
    shot_clock_s: Annotated[int, Field(ge=10, le=600)] | None = None
    language: Literal["en", "hu", "et"] = "en"


AnyCommand = Annotated[
    Union[  # noqa: UP007 - pydantic wants the union written out for its discriminator
        Call, Choose, Observed, Correct, Undo, Redo, Concede, Pause, Extension, WatchHit, PutBack, Dispute, Settle,
        Breaker, Replay, SpotRequest, Stalemate, Warn, Penalty, SetState, Sound, NewMatch,
    ],
    Field(discriminator="do"),
]  # fmt: skip
_ADAPTER: TypeAdapter[Any] = TypeAdapter(AnyCommand)

#: The least role that may give a command.
NEEDS: dict[type[Command], Role] = {
    **dict.fromkeys(
        (Call, Choose, Observed, Correct, Undo, Redo, Concede, Pause, Extension, WatchHit, PutBack, Dispute, Breaker),
        Role.PLAYER,
    ),
    **dict.fromkeys((Replay, SpotRequest, Stalemate), Role.PLAYER),
    **dict.fromkeys((Settle, Warn, Penalty, SetState, Sound, NewMatch), Role.REFEREE),
}


def parse(document: Any) -> Command:
    """The command that a JSON value means.

    Raises
    ------
    InputError
        Where it is none; the message names the field and never repeats more than a little of what was sent.
    """
    try:
        command: Command = _ADAPTER.validate_python(document)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False, include_context=False)[0]
        where = ".".join(str(part) for part in first["loc"])[:60] or "command"
        raise InputError(f"{where}: {first['msg'][:160]}") from None
    return command


__all__ = ["ENTERED", "NEEDS", "AnyCommand", "Command", "RailName", "parse"]
