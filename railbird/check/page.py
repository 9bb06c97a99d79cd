"""What the page of a disputed call says: verdict, ruling, the other reading, what-ifs, limits, as words for the template."""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from markupsafe import Markup

from calibration.errors import InputError
from railbird.check.diagram import Diagram
from railbird.check.pictures import Still, jpeg
from railbird.check.question import CLOSE_S, UNSEEN, Dispute, moved
from railbird.overrule import corrected, cue_contacts
from railbird.report.statistics import is_break
from railbird.report.view import SURE, event_rows, hinge_words, left_open, next_words, sure_level, verdict
from railbird.script import ROTATION, rule
from railbird.words import Words

Row = dict[str, Any]


def reruled(match: Mapping[str, Any], i: int, facts: Mapping[str, Any]) -> tuple[Row, Row] | None:
    """Shot ``i`` with other facts and its ruling then; ``None`` where the rules refuse them.

    Doubt is not carried along: the question is what the rules say *if* it was so. Who says that nothing was hit, or that no
    ball reached a rail, says it of the whole shot, also of what a clip cut off.
    """
    number = match["shots"][i]["number"]
    # The rules need no paths and no later shots, and copying them takes longer than ruling.
    bare = [
        {key: value for key, value in shot.items() if key not in ("paths", "ruling")}
        for shot in match["shots"][: i + 1]
    ]
    changed = corrected({**match, "shots": bare, "warnings": []}, number, facts)
    if facts.get("first_contact", 0) is None or facts.get("rail") is False:
        changed["shots"][i].pop("partial", None)
    shot = rule(changed)["shots"][i]
    return (shot, shot["ruling"]) if shot.get("ruling") else None


def reading_row(
    match: Mapping[str, Any], shots: Sequence[Mapping[str, Any]], i: int, ruling: Mapping[str, Any], words: Words
) -> Row:
    """A ruling in words: headline with article, who plays on, the call."""
    shot = {**shots[i], "ruling": ruling}
    kind, headline = verdict(shot, words, opening=is_break(shots, i))
    if ruling.get("legal") and kind in ("plain", "pot"):
        headline = words("verdict.legal")  # what is in dispute is whether it was one
    article = next((f["article"] for f in ruling.get("fouls") or () if f["code"] == ruling.get("enforced")), "")
    rules = words.rules(ruling.get("rules", match["rules"]))
    then = next_words(ruling.get("next"), words)
    tail = f" ({rules} · {article})" if article else ""
    return {
        "kind": kind,
        "headline": headline,
        "article": f"{rules} · {article}" if article else "",
        "next": then,
        "text": f"{headline}{tail}" + (f" – {then}" if then else ""),
        "announce": (ruling.get("announce") or {}).get(words.language, ""),
    }


def what_ifs(match: Mapping[str, Any], i: int, dispute: Dispute, words: Words) -> list[Row]:
    """Other facts that somebody may claim about this shot, each ruled again; those that the rules refuse are left out."""
    shot = match["shots"][i]
    asked: list[tuple[str, Mapping[str, Any]]] = []
    balls = list(dict.fromkeys(max(e["balls"]) for e in cue_contacts(shot)))[:3]
    asked += [(words.about("check.if_first", ball), {"first_contact": ball}) for ball in balls]
    if not moved(shot):  # no ball moves by itself
        asked.append((words("check.if_none"), {"first_contact": None}))
    pockets = [e for e in shot["events"] if e["kind"] == "pocket"]
    if not pockets:
        asked += [(words("check.if_no_rail"), {"rail": False}), (words("check.if_rail"), {"rail": True})]
    for event in pockets[:3]:
        left = [e["ball"] for e in pockets if e is not event and e.get("p", 1.0) >= 0.5]
        asked.append((words.about("check.if_not_down", event["ball"]), {"pocketed": left}))
    asked.append((words("check.if_double"), {"observed": [*(shot.get("observed") or ()), "double-hit"]}))
    rows, seen = [], set()
    for condition, facts in asked:
        if condition in seen:
            continue
        seen.add(condition)
        try:
            found = reruled(match, i, facts)
        except InputError:
            continue
        if found is not None:
            rows.append(
                {"if": condition, "facts": dict(facts)} | reading_row(match, match["shots"], i, found[1], words)
            )
    return rows


def document(
    match: Mapping[str, Any],
    i: int,
    dispute: Dispute,
    limits: Sequence[str],
    other: tuple[Row, Row] | None,
    files: Sequence[str],
) -> Row:
    """``check --json`` as FORMATS has it."""
    shot = match["shots"][i]
    return {
        "format": "railbird/1",
        "question": dispute.question,
        "answer": dispute.answer,
        "p": round(dispute.p, 4),
        "shot": shot["number"],
        "t_s": round(dispute.t_s, 6),
        "ruling": shot.get("ruling"),
        "alternative": None if other is None else other[1],
        "cannot_show": list(limits),
        "files": list(files),
    }


def page(
    match: Mapping[str, Any],
    i: int,
    at: float,
    dispute: Dispute,
    *,
    limits: Sequence[str],
    other: tuple[Row, Row] | None,
    given: tuple[Row, Row] | None,
    stills: Sequence[Still],
    diagrams: tuple[Diagram, Diagram],
    words: Words,
) -> Row:
    """Everything the template needs but the film, which is made meanwhile."""
    shot = match["shots"][i]
    sure = float(match.get("sure", SURE))
    ruling: Mapping[str, Any] = shot.get("ruling") or {}
    source = Path(str((match.get("source") or {}).get("file") or "")).name
    time = words.clock(dispute.t_s, 2)
    own = reading_row(match, match["shots"], i, ruling, words)
    if left_open(ruling):
        own |= {"kind": "plain", "headline": words("verdict.open")}
    balls = ", ".join(words.ball(b) for b in dispute.balls)
    about = words("check.about", number=shot["number"], file=source, time=time, rules=words.rules(match["rules"]))
    differs = _other(match, i, dispute, ruling, other, words)
    told = words("check.diagram_alt", text="; ".join(r.label for r in dispute.rivals) or dispute.words)
    needs = ruling.get("needs_referee")
    note = ""
    if dispute.p < sure and differs is not None and other is not None and not differs["same"]:
        close = len(dispute.rivals) > 1 and dispute.rivals[-1].t_s - dispute.rivals[0].t_s < CLOSE_S
        key = "check.default" if close else "check.default_open"
        if not ruling.get("enforced") and not other[1].get("enforced"):
            key = "check.default_likely"
        note = words(key, sure=words.percent(sure))
    elif needs:
        note = words("report.needs", reason=words.needs(str(needs.get("reason") or "")))
    return {
        "t": words,
        "language": words.language,
        "title": words("check.title", time=time),
        "kicker": f"{words('check.kicker')} · {words.game(match['game'])} · {words.rules(match['rules'])}",
        "question": words(f"check.question_{dispute.question}"),
        "answer": dispute.words,
        "p": "?" if dispute.answer == UNSEEN else words.percent(dispute.p),
        "p_words": words("check.no_answer" if dispute.answer == UNSEEN else "check.sure_answer"),
        "level": sure_level(dispute.p, sure),
        "notes": [*dispute.notes, *_lowest_note(match, shot, dispute, words)],
        "shooter": shot.get("shooter") or "",
        "ruling": own,
        "ruling_sure": words("check.ruling_sure", p=words.percent(float(ruling.get("p", 0.0)))) if ruling else "",
        "default": note,
        "hangs_on": hinge_words(ruling.get("alternative"), words),
        "other": differs,
        "given": None if given is None else reading_row(match, match["shots"], i, given[1], words),
        "what_ifs": what_ifs(match, i, dispute, words),
        "stills": [
            {
                "src": f"data:image/jpeg;base64,{base64.b64encode(jpeg(s.image)).decode()}",
                "label": words("check.frame_label", ms=signed(s.offset_ms, words)),
                "alt": words("check.frame_alt", ms=signed(s.offset_ms, words), balls=balls),
                "width": s.image.shape[1],
                "height": s.image.shape[0],
            }
            for s in stills
        ],
        "film": None,
        "diagrams": [
            Markup(diagram.svg(told, name)) for diagram, name in zip(diagrams, ("wide", "narrow"), strict=True)
        ],
        "limits": list(limits),
        "events": [
            row
            for row, event in zip(
                event_rows(shot, words),
                sorted((e for e in shot["events"] if e.get("p", 1) >= 0.5), key=lambda e: e["t_s"]),
                strict=True,
            )
            if abs(event["t_s"] - dispute.t_s) < 1.0
        ],
        "about": about,
        "foot": words("check.sheet_foot", number=shot["number"], file=source, time=time),
        "moment": words.clock(at, 2),
    }


def film_row(film: Path, factor: float, words: Words) -> Row:
    """The slow motion for the template; ``factor`` is how many times slower it is."""
    data = base64.b64encode(film.read_bytes()).decode()
    return {"src": f"data:video/mp4;base64,{data}", "text": words("check.slow_text", factor=words.number(factor))}


def _lowest_note(match: Mapping[str, Any], shot: Mapping[str, Any], dispute: Dispute, words: Words) -> Sequence[str]:
    """Where the lowest ball is the one to hit: which one that was taken to be, and how surely, unless it is the one hit."""
    told = (match.get("setup") or {}).get("on_table") if shot is match["shots"][0] else None
    lowest = min((int(ball) for ball in told or shot.get("start") or () if int(ball)), default=None)
    if match["game"] not in ROTATION or dispute.question != "first-contact" or str(lowest) == dispute.answer:
        return ()
    p = (shot.get("identity_p") or {}).get(str(lowest))
    return (
        () if lowest is None or p is None else (words("check.lowest", ball=words.numeral(lowest), p=words.percent(p)),)
    )


def signed(ms: float, words: Words) -> str:
    """Milliseconds with their sign."""
    text = words.number(ms, 1)
    return text if text.startswith("−") or float(f"{ms:.1f}") == 0 else f"+{text}"


def _other(
    match: Mapping[str, Any],
    i: int,
    dispute: Dispute,
    ruling: Mapping[str, Any],
    other: tuple[Row, Row] | None,
    words: Words,
) -> Row | None:
    if other is None:
        return None
    row = reading_row(match, match["shots"], i, other[1], words)
    keys = ("legal", "enforced", "next", "rack_winner", "pocketed")
    same = all(ruling.get(key) == other[1].get(key) for key in keys)
    return {"if": dispute.other_words, "p": words.percent(1 - dispute.p), "same": same} | row
