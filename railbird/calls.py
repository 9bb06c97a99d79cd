"""Reads the small text file of calls and choices for a recorded match, with errors that name the line.

One a line; ``#`` begins a remark::

    shot 4: 3 side-left
    shot 5: 8 foot-left, claim stripes
    shot 7: safety
    shot 9: push-out
    after shot 9: hand-back
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from calibration.errors import InputError
from calibration.table import POCKETS

CHOICES = (
    "accept",
    "kitchen",
    "rerack-self",
    "rerack-other",
    "spot-8",
    "rebreak",
    "play",
    "hand-back",
    "break-self",
    "break-other",
)
_LINE = re.compile(r"(?P<after>after\s+)?shot\s+(?P<shot>\d+)\s*:\s*(?P<what>.+)", re.IGNORECASE)
_BALL = re.compile(r"(?P<ball>\d+)\s+(?P<pocket>[a-z-]+)(?:\s*,\s*claim\s+(?P<claim>[a-z]+))?")


@dataclass(frozen=True, slots=True)
class Calls:
    """What was said at the table, by shot number.

    Parameters
    ----------
    calls : ``"safety"``, ``"push-out"`` or ``{"ball", "pocket"}``.
    claims : group claimed for a shot at the 8 (``wpa-2025`` 4.4).
    choices : what was chosen after a shot whose ruling offered a choice.
    lines : where each shot's call stands in the file, for messages about it.
    """

    calls: Mapping[int, Any] = field(default_factory=dict)
    claims: Mapping[int, str] = field(default_factory=dict)
    choices: Mapping[int, str] = field(default_factory=dict)
    lines: Mapping[int, str] = field(default_factory=dict)


def parse_calls(text: str, name: str = "calls") -> Calls:
    """Calls from the text of a file.

    Raises
    ------
    InputError
        At the first line that cannot be read: file, line number, what is wrong and how it is written.
    """
    calls: dict[int, Any] = {}
    claims: dict[int, str] = {}
    choices: dict[int, str] = {}
    lines: dict[int, str] = {}
    for number, raw in enumerate(text.splitlines(), start=1):
        line = raw.split("#", 1)[0].strip()
        if not line:
            continue
        where = f"{name} line {number}"
        found = _LINE.fullmatch(line)
        if not found:
            raise InputError(
                f"{where}: {line!r} is no call; write 'shot 4: 3 side-left', 'shot 7: safety' or 'shot 9: push-out'"
            )
        shot, what = int(found["shot"]), found["what"].strip().lower()
        if shot < 1:
            raise InputError(f"{where}: shot {shot}: shots are numbered from 1")
        target: dict[int, Any] = choices if found["after"] else calls
        if shot in target:
            raise InputError(
                f"{where}: shot {shot} was given before, on {lines.get(shot, 'an earlier line')}; keep one of them"
            )
        if found["after"]:
            if what not in CHOICES:
                raise InputError(f"{where}: choice {what!r}: one of {', '.join(CHOICES)}")
            choices[shot] = what
            continue
        calls[shot] = _call(what, where, claims, shot)
        lines[shot] = where
    return Calls(calls, claims, choices, lines)


def _call(what: str, where: str, claims: dict[int, str], shot: int) -> Any:
    if what in ("safety", "push-out"):
        return what
    found = _BALL.fullmatch(what)
    if not found:
        raise InputError(f"{where}: call {what!r}: a ball and a pocket ('3 side-left'), 'safety' or 'push-out'")
    ball, pocket, claim = int(found["ball"]), found["pocket"], found["claim"]
    if not 1 <= ball <= 15:
        raise InputError(f"{where}: ball {ball}: object balls are 1 to 15")
    if pocket not in POCKETS:
        raise InputError(f"{where}: pocket {pocket!r}: one of {', '.join(POCKETS)}")
    if claim is not None:
        if claim not in ("solids", "stripes"):
            raise InputError(f"{where}: claim {claim!r}: solids or stripes")
        claims[shot] = claim
    return {"ball": ball, "pocket": pocket}


def read_calls(path: str | Path) -> Calls:
    """Calls from a file; :func:`parse_calls` says what it holds and what goes wrong."""
    path = Path(path)
    try:
        text = path.read_text(encoding="utf-8-sig")
    except OSError as problem:
        raise InputError(f"{path}: cannot be read ({problem.strerror or problem}); give a text file of calls") from None
    except UnicodeDecodeError:
        raise InputError(f"{path}: is no text file (UTF-8); write calls as 'shot 4: 3 side-left', one a line") from None
    return parse_calls(text, str(path))


def put_calls(match: dict[str, Any], calls: Calls) -> None:
    """Write calls into the shots of a match document.

    Raises
    ------
    InputError
        Where a call is for a shot that the recording does not have; the message names the line.
    """
    shots = {shot["number"]: shot for shot in match["shots"]}
    for number in (*calls.calls, *calls.choices):
        if number not in shots:
            where = calls.lines.get(number, "calls")
            had = f"the recording has shots 1 to {max(shots)}" if shots else "no shot was seen in the recording"
            raise InputError(f"{where}: shot {number}: {had}")
    for number, call in calls.calls.items():
        shots[number]["call"] = call
    for number, claim in calls.claims.items():
        shots[number]["claim"] = claim
    for number, choice in calls.choices.items():
        shots[number]["choice"] = choice
