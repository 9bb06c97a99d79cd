"""What a camera hands to the desk: a finished shot with its paths, and the words for its states."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from pathlib import Path
from typing import Any, Protocol

from calibration.table import Table
from railbird.doubts import rail_unseen
from railbird.result import event_to_json
from railbird.script import STRING_MARGIN_M
from tracking.events import AnyEvent, Contact, Point, Shot, Strike


class CameraState(StrEnum):
    """What the camera sees, as people are told."""

    STARTING = "starting"
    CALIBRATING = "calibrating"
    READY = "ready"
    SHOT = "shot"
    OCCLUDED = "occluded"
    RACKING = "racking"
    PAUSED = "paused"
    LOST = "lost"
    NO_TABLE = "no-table"
    ENDED = "ended"


@dataclass(frozen=True, slots=True)
class SeenShot:
    """A finished shot.

    Parameters
    ----------
    shot : the facts.
    paths : ball -> rows of ``t_s, x, y`` (seconds, metres, table frame).
    rest_wall_s : when the picture of the last ball at rest arrived, ``time.monotonic`` seconds, for the latency.
    corners : the table's corners in the clip's pictures, pixels, by name.
    """

    shot: Shot
    paths: Mapping[int, Sequence[Sequence[float]]] = field(default_factory=dict)
    rest_wall_s: float | None = None
    corners: Mapping[str, Sequence[float]] = field(default_factory=dict)


class Desk(Protocol):
    """Where a camera reports to; every method may be called from the camera's threads and returns quickly."""

    @property
    def game(self) -> str:
        """The game that is being played."""

    @property
    def rack_due(self) -> bool:
        """Whether a rack has to be set up now."""

    @property
    def in_play(self) -> frozenset[int]:
        """Balls that may be on the table, cue ball included."""

    def on_table(self, table: Mapping[str, float]) -> None:
        """The table was found; its sizes in metres."""

    def on_state(self, state: CameraState, text: str = "") -> None:
        """The camera's state, with a reason where there is one."""

    def on_balls(self, t_s: float, balls: Mapping[int, Point]) -> None:
        """Where the balls are, metres."""

    def on_shot(self, seen: SeenShot) -> tuple[str, int] | None:
        """A finished shot; gives match and number under which its clip is to be kept."""

    def on_fault(self, text: str) -> None:
        """Something of ours failed; people are told to look themselves."""

    def clip_file(self) -> Path | None:
        """Where the clip of the shot that begins now may be written."""

    def on_clip(self, match: str, shot: int, file: Path, began_s: float) -> None:
        """A clip is written; ``began_s`` is the stream's time of its first picture."""


class Camera(Protocol):
    """A source of shots: the live pipeline, or a script in a test."""

    def start(self, desk: Desk) -> None: ...

    def stop(self) -> None: ...

    def picture(self) -> bytes | None: ...


#: Codes that tracking may report and a script takes as observed or suspected.
_CODES = {"touched-ball", "balls-moving", "push", "double-hit", "bad-placement"}
PATH_ROWS = 60
MIXED_UP_P = 0.5  # that a stroke told of an object ball was one, though the cue ball moved


@dataclass(frozen=True, slots=True)
class Taken:
    """A seen shot as script keys; ``left_out`` names what the state of the match rules out."""

    facts: dict[str, Any]
    left_out: tuple[str, ...]


def to_script(shot: Shot, on_table: Iterable[int], table: Table) -> Taken:
    """The script's keys of a shot. Balls that cannot be on the table are left out and named, so that a person looks."""
    shot = struck_is_cue_ball(shot)
    on = set(on_table)
    reach = 2 * table.ball_m
    left: list[str] = []
    # The cue ball moved, so something struck it: a stroke told of another ball is as likely a mix-up of the two.
    plays = any(0 in getattr(event, "balls", (getattr(event, "ball", -1),)) for event in shot.events)
    mixed_up = False
    events: list[dict[str, Any]] = []
    for event in shot.events:
        balls = set(getattr(event, "balls", None) or (getattr(event, "ball", 0),))
        if balls <= on:
            row = event_to_json(event)
            if row["kind"] == "strike" and row["ball"] != 0 and plays:
                row["ball"], mixed_up = 0, True
            if "at" in row and not table.on_surface(tuple(row["at"]), -2 * reach):
                del row["at"]
            events.append(row)
        else:
            row = event_to_json(event)
            left.append(f"{row['kind']} of ball {', '.join(map(str, sorted(balls - on)))}")
    strangers = sorted((set(shot.start) | set(shot.end)) - on)
    left += [f"ball {ball} on the table" for ball in strangers]
    start, rest = _places(shot.start, on, table, reach), _places(shot.end, on, table, reach)
    facts: dict[str, Any] = {
        "events": [*events, *rail_unseen(events, start, rest, on, table)],
        "start": start,
        "rest": rest,
        "observed": [code for code in shot.observed if code in _CODES],
    }
    suspected = {
        code: round(float(p), 4) for code, p in shot.suspected.items() if code in _CODES and code not in shot.observed
    }
    if mixed_up and "touched-ball" not in shot.observed:
        suspected["touched-ball"] = max(suspected.get("touched-ball", 0.0), MIXED_UP_P)
    if suspected:
        facts["suspected"] = suspected
    # Nearer to the head string than a camera can tell, where the cue ball lay stays unknown, which is never a foul.
    if (
        0 in shot.start
        and abs(shot.start[0][1] - table.head_string) > STRING_MARGIN_M
        and table.on_surface(shot.start[0])
    ):
        facts["cue_ball_at"] = [round(v, 5) for v in shot.start[0]]
    rails = {str(ball): list(r) for ball, r in sorted(shot.frozen_rails.items()) if ball in on}
    touching = [ball for ball in shot.frozen_cue if ball in on]
    if rails or touching:
        facts["frozen"] = {"rails": rails, "cue": touching}
    if shot.partial:
        facts["partial"] = shot.partial
    return Taken(facts, tuple(left))


def struck_is_cue_ball(shot: Shot) -> Shot:
    """The shot with the cue ball under its own number: what is struck while no cue ball is seen anywhere is the cue ball."""
    struck = next((event.ball for event in shot.events if isinstance(event, Strike)), 0)
    told = any(0 in getattr(event, "balls", (getattr(event, "ball", -1),)) for event in shot.events)
    if struck == 0 or told or 0 in shot.start or 0 in shot.end:
        return shot
    events: list[AnyEvent] = []
    for event in shot.events:
        if isinstance(event, Contact):
            a, b = sorted(0 if ball == struck else ball for ball in event.balls)
            events.append(replace(event, balls=(a, b)))
        elif getattr(event, "ball", None) == struck:
            events.append(replace(event, ball=0))
        else:
            events.append(event)
    start = {0 if ball == struck else ball: at for ball, at in shot.start.items()}
    end = {0 if ball == struck else ball: at for ball, at in shot.end.items()}
    return replace(shot, events=tuple(events), start=start, end=end)


def thin_paths(paths: Mapping[int, Sequence[Sequence[float]]]) -> dict[str, list[list[float]]]:
    """Paths for drawing: at most 60 rows a ball, the ends kept."""
    thin: dict[str, list[list[float]]] = {}
    for ball, rows in sorted(paths.items()):
        step = max(1, -(-len(rows) // PATH_ROWS))
        picked = list(rows[::step])
        if len(rows) and tuple(picked[-1]) != tuple(rows[-1]):
            picked.append(rows[-1])
        thin[str(ball)] = [[round(float(t), 3), round(float(x), 4), round(float(y), 4)] for t, x, y in picked]
    return thin


def _places(places: Mapping[int, Point], on: set[int], table: Table, reach: float) -> dict[str, list[float]]:
    """Places as a script has them; a ball on a rail's top or in a jaw's depth lies nowhere on the playing surface."""
    return {
        str(ball): [round(float(x), 5), round(float(y), 5)]
        for ball, (x, y) in sorted(places.items())
        if ball in on and table.on_surface((x, y), -reach)
    }
