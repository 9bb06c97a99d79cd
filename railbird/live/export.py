"""Past matches out of the log: as a script, as a match document, as a report."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from calibration.errors import InputError
from railbird import result
from railbird.live.config import Club
from railbird.live.seen import thin_paths
from railbird.live.session import Session
from railbird.live.store import Store


def replayed(store: Store, match: str) -> Session:
    """A match of the log as it stands, to be read only.

    Raises
    ------
    InputError
        Where there is none of that name.
    """
    record = store.match(match)
    return Session({"match": record.options}, _closed, store.lines(record.id))


def _closed(kind: str, who: str, body: Mapping[str, Any]) -> Any:
    raise RuntimeError("a past match is read only")


def script_lines(store: Store, match: str) -> str:
    """The match as ``railbird adjudicate`` reads it, one JSON object a line."""
    return "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in replayed(store, match).script())


def match_document(store: Store, match: str) -> dict[str, Any]:
    """The match as ``match.json`` (``railbird/1``): shots with events, paths and the rulings given at the table."""
    record = store.match(match)
    session = replayed(store, match)
    view = session.view()
    shots = [_shot(number, facts, session) for number, facts in enumerate(session.shot_facts(), 1)]
    return {
        "format": "railbird/1",
        "source": {"file": f"{record.table}, live", "match": record.id, "began": round(record.began, 3)},
        "table": {**view["table"], "corners_px": {}},
        "game": view["game"],
        "rules": view["rules"],
        "players": view["players"],
        "language": record.language,
        "options": {k: v for k, v in record.options.items() if k not in ("game", "rules", "players", "table")},
        "shots": shots,
        "warnings": [],
    }


def _shot(number: int, facts: Mapping[str, Any], session: Session) -> dict[str, Any]:
    note = session.note_of(number)
    times = [float(event["t_s"]) for event in facts["events"]]
    ruling = session.ruling_of(number)
    row: dict[str, Any] = {
        "number": number,
        "start_s": note.get("start_s", min(times, default=0.0)),
        "end_s": max(note.get("end_s", 0.0), max(times, default=0.0)),
        "shooter": ruling["shooter"] if ruling else None,
        "call": facts.get("call"),
        "start": facts.get("start", {}),
        "end": facts.get("rest", {}),
        "events": [{"sigma_s": 0.0, "p": 1.0, **event} for event in facts["events"]],
        "paths": thin_paths({int(ball): rows for ball, rows in note.get("paths", {}).items()}),
        "ruling": ruling,
    }
    for key in ("frozen", "observed", "suspected"):
        if facts.get(key):
            row[key] = facts[key]
    return row


def report_page(store: Store, match: str) -> str:
    """The report of a past match as one HTML page."""
    from railbird.report import render

    return render(match_document(store, match), language=store.match(match).language)


def run(
    match: str | None,
    *,
    data: Path | None,
    script: Path | None,
    export: Path | None,
    report: Path | None,
    show: Callable[[str], None],
) -> None:
    """The command ``railbird matches``: list the log, or write one match of it.

    Raises
    ------
    InputError
        Where there is no log, no such match, or a file cannot be written.
    """
    folder = Club().folder if data is None else data
    if not (folder / "matches.sqlite3").is_file():
        raise InputError(f"{folder}: no match log there; give the folder of `railbird live` with --data")
    store = Store(folder)
    try:
        if match is None:
            if script or export or report:
                raise InputError("say which match: `railbird matches` lists them")
            for record in store.matches():
                when = time.strftime("%Y-%m-%d %H:%M", time.localtime(record.began))
                how = f"won by {record.winner}" if record.winner else "stopped" if record.ended else "open"
                players = " - ".join(record.options["players"])
                show(f"{record.id}  {when}  {record.table}  {record.options['game']}  {players}  {how}")
            return
        if script is not None:
            result.write_text(script, script_lines(store, match))
        if export is not None:
            result.write(export, match_document(store, match))
        if report is not None:
            result.write_text(report, report_page(store, match))
        if not (script or export or report):
            show(script_lines(store, match).rstrip())
    finally:
        store.close()
