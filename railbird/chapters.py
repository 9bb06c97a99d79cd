"""Writes what goes beside a video: ``chapters.vtt`` (a chapter a shot) and ``shots.csv`` (a line a shot)."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from railbird import result
from railbird.report.statistics import is_break
from railbird.report.view import LEAD_S, verdict
from railbird.words import words

COLUMNS = (
    "shot",
    "start_s",
    "end_s",
    "shooter",
    "break",
    "call",
    "first_contact",
    "first_contact_s",
    "contacts",
    "rails",
    "pocketed",
    "legal",
    "enforced",
    "article",
    "p",
    "needs_referee",
    "next_player",
    "cue_ball",
    "score_a",
    "score_b",
    "partial",
)


def stamp(seconds: float) -> str:
    """WebVTT's ``hh:mm:ss.mmm``."""
    total = round(1000 * max(0.0, seconds))
    rest, ms = divmod(total, 1000)
    minutes, s = divmod(rest, 60)
    hours, m = divmod(minutes, 60)
    return f"{hours:02d}:{m:02d}:{s:02d}.{ms:03d}"


def spans(match: Mapping[str, Any]) -> list[tuple[float, float]]:
    """A chapter's begin and end for every shot: a moment before the stroke until the next chapter begins."""
    shots = match["shots"]
    begins = [max(0.0, shot["start_s"] - LEAD_S) for shot in shots]
    for i in range(1, len(begins)):
        begins[i] = max(begins[i], shots[i - 1]["end_s"]) if shots[i - 1]["end_s"] < shots[i]["start_s"] else begins[i]
    duration = float((match.get("source") or {}).get("duration_s") or 0.0)
    ends = [*begins[1:], max(duration, shots[-1]["end_s"])] if shots else []
    return list(zip(begins, ends, strict=True))


def chapters(match: Mapping[str, Any], language: str | None = None) -> str:
    """The text of ``chapters.vtt``."""
    catalogue = words(language or match.get("language"))
    lines = ["WEBVTT", ""]
    for i, (shot, (begin, end)) in enumerate(zip(match["shots"], spans(match), strict=True)):
        _, headline = verdict(shot, catalogue, opening=is_break(match["shots"], i))
        name = " · ".join(
            part for part in (catalogue("report.shot", number=shot["number"]), shot.get("shooter"), headline) if part
        )
        # In WebVTT a cue's text is markup, and an arrow would look like a timing line.
        name = name.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
        lines += [str(shot["number"]), f"{stamp(begin)} --> {stamp(end)}", " ".join(name.split()), ""]
    return "\n".join(lines)


def write_chapters(match: Mapping[str, Any], path: str | Path, *, language: str | None = None) -> None:
    """Write ``chapters.vtt``."""
    result.write_text(path, chapters(match, language))


def shots_csv(match: Mapping[str, Any]) -> str:
    """The text of ``shots.csv``: UTF-8, commas, one line a shot, names of :data:`COLUMNS` first."""
    out = io.StringIO()
    writer = csv.DictWriter(out, COLUMNS, lineterminator="\n")
    writer.writeheader()
    first, second = match["players"]
    for i, shot in enumerate(match["shots"]):
        ruling = shot.get("ruling") or {}
        events = [event for event in shot["events"] if event.get("p", 1) >= 0.5]
        hits = sorted(
            (e for e in events if e["kind"] == "contact" and 0 in e["balls"]), key=lambda event: float(event["t_s"])
        )
        upcoming = ruling.get("next") or {}
        score = ruling.get("score") or {}
        row = {
            "shot": shot["number"],
            "start_s": shot["start_s"],
            "end_s": shot["end_s"],
            "shooter": shot.get("shooter"),
            "break": is_break(match["shots"], i),
            "call": _call(shot.get("call")),
            "first_contact": max(hits[0]["balls"]) if hits else None,
            "first_contact_s": hits[0]["t_s"] if hits else None,
            "contacts": sum(e["kind"] == "contact" for e in events),
            "rails": sum(e["kind"] == "rail" for e in events),
            "pocketed": " ".join(str(e["ball"]) for e in events if e["kind"] == "pocket"),
            "legal": ruling.get("legal"),
            "enforced": ruling.get("enforced"),
            "article": next(
                (f["article"] for f in ruling.get("fouls") or () if f["code"] == ruling.get("enforced")), None
            ),
            "p": ruling.get("p"),
            "needs_referee": (ruling.get("needs_referee") or {}).get("reason"),
            "next_player": upcoming.get("player"),
            "cue_ball": upcoming.get("cue_ball"),
            "score_a": score.get(first),
            "score_b": score.get(second),
            "partial": bool(shot.get("partial")),
        }
        writer.writerow({key: _cell(value) for key, value in row.items()})
    return out.getvalue()


def write_shots(match: Mapping[str, Any], path: str | Path) -> None:
    """Write ``shots.csv``."""
    result.write_text(path, shots_csv(match))


def _call(call: Any) -> str | None:
    return f"{call['ball']} {call['pocket']}" if isinstance(call, Mapping) else call


def _cell(value: Any) -> Any:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str) and value.startswith(("=", "+", "-", "@", "\t", "\r")):
        return f"'{value}"  # a spreadsheet would run a name that begins like this as a formula
    return "" if value is None else value
