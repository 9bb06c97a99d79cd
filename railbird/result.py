"""Reads and writes ``match.json``: facts to JSON and back, and files that are written whole or not at all."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from calibration.errors import InputError
from railbird.validation import FORMAT, REQUIRED, check, check_event, check_shot, kind_of
from tracking.events import AnyEvent, Contact, Crossing, OffTable, Pocketed, Point, RailHit, Shot, Strike

__all__ = [
    "FORMAT",
    "REQUIRED",
    "check",
    "event_from_json",
    "event_to_json",
    "read",
    "read_json",
    "shot_from_json",
    "shot_to_json",
    "write",
    "write_bytes",
    "write_json",
    "write_text",
]


# -- files -------------------------------------------------------------------------------------------------------------
def read(path: str | Path, *, required: Sequence[str] = REQUIRED) -> dict[str, Any]:
    """Read and check a ``match.json``.

    Raises
    ------
    InputError
        Where the file cannot be read, is no JSON, or a field is wrong; the message names file and field.
    """
    match = read_json(path)
    check(match, name=str(path), required=required)
    return match


def write(path: str | Path, match: Mapping[str, Any]) -> None:
    """Check ``match`` and write it whole or not at all: a reader never meets half a file."""
    check(match, name=str(path))
    write_json(path, match)


def read_json(path: str | Path) -> dict[str, Any]:
    """One JSON object from a file, of any kind of ours.

    Raises
    ------
    InputError
        Where the file cannot be read or does not hold a JSON object.
    """
    path = Path(path)
    try:
        value = json.loads(path.read_text(encoding="utf-8"), parse_constant=_no_constant)
    except FileNotFoundError:
        raise InputError(f"{path}: no such file") from None
    except OSError as problem:
        raise InputError(f"{path}: cannot be read ({problem.strerror or problem})") from None
    except UnicodeDecodeError:
        raise InputError(f"{path}: is no text file, so no JSON") from None
    except json.JSONDecodeError as problem:
        raise InputError(f"{path}: no JSON, line {problem.lineno} column {problem.colno}: {problem.msg}") from None
    except ValueError as problem:
        raise InputError(f"{path}: {problem}") from None
    if not isinstance(value, dict):
        raise InputError(f'{path}: holds {kind_of(value)}, wanted a JSON object with "format": "{FORMAT}"')
    return value


def write_json(path: str | Path, value: Mapping[str, Any]) -> None:
    """Write any of our documents atomically, one shot or list of numbers a line where that reads well."""
    try:
        text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(", ", ": "))
    except ValueError:
        raise ValueError(f"{path}: holds a number that is not finite, which JSON does not know") from None
    write_text(path, _lay_out(value) if "shots" in value else text + "\n")


def write_text(path: str | Path, text: str) -> None:
    """Write a text file (UTF-8) whole or not at all."""
    write_bytes(path, text.encode("utf-8"))


def write_bytes(path: str | Path, data: bytes) -> None:
    """Write a file whole or not at all: to a neighbour first, then renamed over the old one.

    Raises
    ------
    InputError
        Where the folder does not exist and cannot be made, or is not writable.
    """
    path = Path(path)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, part = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.", suffix=".part")
    except OSError as problem:
        raise InputError(f"{path.parent}: cannot be written to ({problem.strerror or problem})") from None
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.chmod(part, 0o666 & ~_umask())
        os.replace(part, path)
    except OSError as problem:
        Path(part).unlink(missing_ok=True)
        raise InputError(f"{path}: cannot be written ({problem.strerror or problem})") from None
    except BaseException:
        Path(part).unlink(missing_ok=True)
        raise


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def _lay_out(match: Mapping[str, Any]) -> str:
    """Top-level keys a line each, shots a line each: small diffs, and a person can find his shot."""
    lines = []
    for key, value in match.items():
        if key == "shots" and value:
            rows = ",\n    ".join(_dumps(shot) for shot in value)
            lines.append(f'  "shots": [\n    {rows}\n  ]')
        else:
            lines.append(f"  {_dumps(key)}: {_dumps(value)}")
    return "{\n" + ",\n".join(lines) + "\n}\n"


def _dumps(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False)


def _no_constant(name: str) -> None:
    raise ValueError(f"{name} is no JSON number")


# -- facts to JSON and back --------------------------------------------------------------------------------------------
def event_to_json(event: AnyEvent) -> dict[str, Any]:
    """One event as FORMATS has it."""
    row: dict[str, Any] = {"t_s": _round(event.t_s, 6), "sigma_s": _round(event.sigma_s, 6)}
    match event:
        case Strike():
            row |= {"kind": "strike", "ball": event.ball}
        case Contact():
            row |= {"kind": "contact", "balls": list(event.balls)}
        case RailHit():
            row |= {"kind": "rail", "ball": event.ball, "rail": event.rail}
        case Pocketed():
            row |= {"kind": "pocket", "ball": event.ball, "pocket": event.pocket}
            if event.hung_s is not None:
                row["hung_s"] = _round(event.hung_s, 3)
        case OffTable():
            row |= {"kind": "off-table", "ball": event.ball}
        case Crossing():
            row |= {"kind": "cross", "ball": event.ball, "line": event.line, "toward": event.toward}
    at = getattr(event, "at", None)
    if at is not None:
        row["at"] = [_round(v, 5) for v in at]
    if getattr(event, "leaves_first", False):
        row["leaves_first"] = True
    row["p"] = _round(event.p, 4)
    return row


def event_from_json(row: Mapping[str, Any], where: str = "event") -> AnyEvent:
    """The fact that a row of ``events`` tells; the row is checked first."""
    check_event(row, where)
    when = {"t_s": float(row["t_s"]), "sigma_s": float(row.get("sigma_s") or 0.0), "p": float(row.get("p", 1.0))}
    at = (float(row["at"][0]), float(row["at"][1])) if row.get("at") is not None else None
    match row["kind"]:
        case "strike":
            return Strike(ball=row["ball"], **when)
        case "contact":
            return Contact(balls=(row["balls"][0], row["balls"][1]), at=at, **when)
        case "rail":
            return RailHit(
                ball=row["ball"], rail=row["rail"], at=at, leaves_first=bool(row.get("leaves_first")), **when
            )
        case "pocket":
            hung_s = float(row["hung_s"]) if row.get("hung_s") is not None else None
            return Pocketed(ball=row["ball"], pocket=row["pocket"], hung_s=hung_s, **when)
        case "off-table":
            return OffTable(ball=row["ball"], **when)
        case _:
            return Crossing(ball=row["ball"], line=row["line"], toward=row["toward"], **when)


def shot_to_json(
    shot: Shot,
    *,
    paths: Mapping[int, Iterable[Sequence[float]]] | None = None,
    shooter: str | None = None,
    call: Any = None,
) -> dict[str, Any]:
    """A shot as FORMATS has it, without its ruling (``railbird.script.rule`` adds that).

    Parameters
    ----------
    paths : per ball rows of ``t_s, x, y`` (seconds, metres, table frame), every frame while it moves.
    shooter, call : who shoots and what was called, where known.
    """
    row: dict[str, Any] = {
        "number": shot.number,
        "start_s": _round(shot.start_s, 6),
        "end_s": _round(shot.end_s, 6),
        "shooter": shooter,
        "call": call,
        "start": _places(shot.start),
        "end": _places(shot.end),
        "events": [event_to_json(event) for event in shot.events],
    }
    if shot.frozen_rails or shot.frozen_cue:
        row["frozen"] = {
            "rails": {str(ball): list(rails) for ball, rails in sorted(shot.frozen_rails.items())},
            "cue": list(shot.frozen_cue),
        }
    if shot.observed:
        row["observed"] = list(shot.observed)
    if shot.suspected:
        row["suspected"] = {code: _round(p, 4) for code, p in shot.suspected.items()}
    if shot.identity_p:
        row["identity_p"] = {str(ball): _round(p, 4) for ball, p in sorted(shot.identity_p.items())}
    if shot.partial:
        # FORMATS promises `true`; which end is cut stands beside it.
        row |= {"partial": True, "cut": shot.partial}
    if paths:
        row["paths"] = {
            str(ball): [[_round(t, 4), _round(x, 4), _round(y, 4)] for t, x, y in rows]
            for ball, rows in sorted(paths.items())
        }
    return row


def shot_from_json(row: Mapping[str, Any], where: str = "shot") -> Shot:
    """The facts of a shot in ``match.json``."""
    check_shot(row, where)
    frozen = row.get("frozen") or {}
    partial = row.get("partial")
    return Shot(
        number=row["number"],
        start_s=float(row["start_s"]),
        end_s=float(row["end_s"]),
        start=_points(row["start"]),
        end=_points(row.get("end") or {}),
        events=tuple(event_from_json(event, f"{where}.events[{i}]") for i, event in enumerate(row["events"])),
        frozen_rails={int(ball): tuple(rails) for ball, rails in (frozen.get("rails") or {}).items()},
        frozen_cue=tuple(frozen.get("cue") or ()),
        observed=tuple(row.get("observed") or ()),
        suspected=dict(row.get("suspected") or {}),
        partial=(row.get("cut") or "end") if partial else "",
        identity_p={int(ball): p for ball, p in (row.get("identity_p") or {}).items()},
    )


def _places(places: Mapping[int, Point]) -> dict[str, list[float]]:
    return {str(ball): [_round(x, 5), _round(y, 5)] for ball, (x, y) in sorted(places.items())}


def _points(places: Mapping[str, Sequence[float]]) -> dict[int, Point]:
    return {int(ball): (float(at[0]), float(at[1])) for ball, at in places.items()}


def _round(value: float, digits: int) -> float:
    return round(float(value), digits)
