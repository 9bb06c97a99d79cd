"""Turns a ruled ``match.json`` into what the report's template shows: words, percentages, links, pictures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from markupsafe import Markup

from calibration.table import Table
from railbird.report.statistics import breaks, final_score, is_break, statistics
from railbird.report.top_view import NUMBERED, doubtful_numbers, numbered_events, top_view
from railbird.words import Words

LEAD_S = 1.5  # the clip starts so long before the stroke
SURE = 0.95
LIKELY = 0.75
WORTH_SAYING = 0.02  # a less likely other reading of a ruling that stands is noise

Row = dict[str, Any]


def sure_level(p: float, sure: float = SURE) -> str:
    """``sure``, ``likely`` or ``open``: how a probability is coloured."""
    return "sure" if p >= sure else "likely" if p >= LIKELY else "open"


def verdict(shot: Mapping[str, Any], words: Words, *, opening: bool) -> tuple[str, str]:
    """What happened at a shot in one glance: a kind for colour and sign, and its words."""
    ruling = shot.get("ruling")
    if not ruling:
        return "unruled", words("verdict.unruled")
    if ruling.get("enforced"):
        return "foul", words("verdict.foul_named", foul=words.foul(ruling["enforced"]))
    if ruling.get("match_winner"):
        return "win", words("verdict.match", player=ruling["match_winner"])
    if ruling.get("rack_winner"):
        return "win", words("verdict.rack", player=ruling["rack_winner"])
    if ruling.get("legal") is False:
        return "foul", words("verdict.illegal_break" if opening else "verdict.foul")
    if left_open(ruling):
        return "plain", words("verdict.open")
    down = [ball for ball in ruling.get("pocketed") or () if ball != 0]
    if shot.get("call") == "push-out":
        return "plain", words("verdict.push_out")
    if down:
        return "pot", words("verdict.pot")
    if shot.get("call") == "safety":
        return "plain", words("verdict.safety")
    return "plain", words("verdict.break" if opening else "verdict.miss")


def left_open(ruling: Mapping[str, Any]) -> bool:
    """Whether a ruling that waits for a person is less likely than not: then it is no verdict to print large."""
    return bool(ruling.get("needs_referee")) and not ruling.get("enforced") and float(ruling.get("p", 1.0)) < 0.5


def next_words(upcoming: Mapping[str, Any] | None, words: Words) -> str:
    """Who plays on and how, in words."""
    if not upcoming:
        return ""
    player = upcoming.get("player") or ""
    if upcoming.get("break"):
        return words("report.next_break", player=player)
    parts = [player, words.cue_ball(upcoming.get("cue_ball"))]
    if upcoming.get("push_out_allowed"):
        parts.append(words("report.next_push"))
    return ", ".join(part for part in parts if part)


def reading(ruling: Mapping[str, Any], words: Words) -> str:
    """A ruling, or the alternative of one, in a few words: legal or which foul, then who plays on."""
    if ruling.get("enforced"):
        head = words("verdict.foul_named", foul=words.foul(ruling["enforced"]))
    elif ruling.get("legal") is False:
        head = words("verdict.foul")
    else:
        head = words("verdict.legal")
    then = next_words(ruling.get("next"), words)
    return f"{head} – {then}" if then else head


def hinge_words(alternative: Mapping[str, Any] | None, words: Words) -> str:
    """The fact on which a ruling and its alternative part."""
    if not alternative:
        return ""
    return str((alternative.get("hangs_on_in") or {}).get(words.language) or alternative.get("hangs_on") or "")


def event_rows(shot: Mapping[str, Any], words: Words) -> list[Row]:
    """The list beside the picture; numbers are those in the picture."""
    return [
        {
            "number": number,
            "time": words.clock(event["t_s"], 3),
            "seek": round(event["t_s"], 3),
            "sigma": words("report.event_sigma", ms=words.number(1e3 * (event.get("sigma_s") or 0.0), 1)),
            "text": words.event(event),
            "sure": words.percent(event.get("p", 1.0)),
            "doubtful": event.get("p", 1.0) < SURE,
        }
        for number, event in numbered_events(shot)
    ]


def picture_text(shot: Mapping[str, Any], words: Words) -> str:
    """What the top view shows, for who cannot see it."""
    said = [words.event(e) for n, e in numbered_events(shot) if e["kind"] in ("contact", "pocket", "off-table")]
    return "; ".join(said[:6]) + (" …" if len(said) > 6 else "") if said else words("report.top_view_empty")


def numbers_text(shot: Mapping[str, Any], words: Words) -> str:
    """Which numbers are not sure in a shot, and how likely each is; empty where all are."""
    rows = [
        f"{words.ball(ball) if ball == 0 else ball}\N{NO-BREAK SPACE}({words.percent(p)})"
        for ball, p in doubtful_numbers(shot).items()
        if str(ball) in shot["start"]
    ]
    return words("report.unsure_numbers", balls=", ".join(rows)) if rows else ""


def shot_row(match: Mapping[str, Any], i: int, words: Words, table: Table) -> Row:
    """All that the page says of one shot."""
    shots = match["shots"]
    shot = shots[i]
    ruling: Mapping[str, Any] = shot.get("ruling") or {}
    sure = float(match.get("sure", SURE))
    opening = is_break(shots, i)
    kind, headline = verdict(shot, words, opening=opening)
    number = shot["number"]
    p = float(ruling.get("p", 0.0))
    alternative = ruling.get("alternative")
    if alternative and not ruling.get("needs_referee") and alternative["p"] < WORTH_SAYING:
        alternative = None
    choice = ruling.get("choice")
    shooter = shot.get("shooter") or ""
    seen, unsure = picture_text(shot, words), numbers_text(shot, words)
    frozen = sorted(int(ball) for ball in ((shot.get("frozen") or {}).get("rails") or {}))
    return {
        "id": f"shot-{number}",
        "number": number,
        "name": words("report.shot", number=number),
        "shooter": shooter,
        "side": match["players"].index(shooter) if shooter in match["players"] else None,
        "opening": opening,
        "time": words.clock(shot["start_s"], 1),
        "seek": round(max(0.0, shot["start_s"] - LEAD_S), 3),
        "stop": round(shot["end_s"] + 0.5, 3),
        "kind": kind,
        "headline": headline,
        "announce": (ruling.get("announce") or {}).get(words.language, ""),
        "p": p,
        "sure": words.percent(p) if ruling else "",
        "level": sure_level(p, sure),
        "level_word": words(f"sure.{sure_level(p, sure)}"),
        "bar": round(100 * p, 1),
        "fouls": [
            {
                "text": words.foul(f["code"]),
                "article": f.get("article") or "",
                "enforced": f["code"] == ruling.get("enforced"),
            }
            for f in ruling.get("fouls") or ()
        ],
        "article": next((f["article"] for f in ruling.get("fouls") or () if f["code"] == ruling.get("enforced")), ""),
        "rules": words.rules(ruling.get("rules", match["rules"])),
        "open": bool(ruling.get("needs_referee")),
        "stands": reading(ruling, words) if left_open(ruling) else "",
        "needs": _reason(ruling, words),
        "other": reading(alternative, words) if alternative else "",
        "other_sure": words.percent(alternative["p"]) if alternative else "",
        "hangs_on": hinge_words(alternative, words),
        "call": words.call(shot["call"]) if shot.get("call") is not None else "",
        "next": next_words(ruling.get("next"), words),
        "pocketed": list(ruling.get("pocketed") or ()),
        "spotted": [row["ball"] for row in ruling.get("spotted") or ()],
        "choice": (
            {
                "player": choice["player"],
                "options": [words.option(o) for o in choice["options"]],
                "taken": words.option(shot["choice"]) if shot.get("choice") else "",
            }
            if choice
            else None
        ),
        "frozen": frozen,
        "partial": bool(shot.get("partial")),
        "suspected": [(words.foul(code), words.percent(p)) for code, p in (shot.get("suspected") or {}).items()],
        "overruled": bool(shot.get("overruled")),
        "events": event_rows(shot, words),
        "unsure": unsure,
        "picture": Markup(
            top_view(
                shot,
                table,
                title=words("report.top_view", number=number, text=". ".join(filter(None, (seen, unsure)))),
                ident=f"view-{number}",
            )
        ),
    }


def _reason(ruling: Mapping[str, Any], words: Words) -> str:
    needs = ruling.get("needs_referee")
    if not needs:
        return ""
    reason = str(needs.get("reason") or "")
    return words.needs(reason)


def racks(match: Mapping[str, Any], rows: Sequence[Row]) -> list[Row]:
    """Shots by rack; a rack ends with the shot that won it."""
    found: list[Row] = []
    current: list[Row] = []
    for shot, row in zip(match["shots"], rows, strict=True):
        current.append(row)
        winner = (shot.get("ruling") or {}).get("rack_winner")
        if winner:
            found.append({"number": len(found) + 1, "shots": current, "winner": winner})
            current = []
    if current:
        found.append({"number": len(found) + 1, "shots": current, "winner": None})
    return found


def statistics_rows(match: Mapping[str, Any], words: Words) -> tuple[list[Row], list[Row]]:
    """The table of numbers (label and both players' values), and fouls by kind."""
    both = statistics(match)

    def seconds(value: float | None) -> str:
        return "–" if value is None else words("report.seconds", value=words.number(value, 1))

    def row(key: str, values: Sequence[Any]) -> Row:
        return {
            "label": words(f"report.{key}"),
            "values": [v if isinstance(v, str) else words.number(v) for v in values],
        }

    table = [
        row("stat_shots", [s.shots for s in both]),
        row("stat_innings", [s.innings for s in both]),
        row("stat_pots", [s.pots for s in both]),
        row("stat_pot_shots", [s.pot_shots for s in both]),
        row("stat_misses", [s.misses for s in both]),
        row("stat_safeties", [s.safeties for s in both]),
        row("stat_high_run", [s.high_run for s in both]),
        row("stat_fouls", [s.fouls_in_all for s in both]),
        row("stat_breaks", [s.breaks for s in both]),
        row("stat_break_balls", [s.break_balls for s in both]),
        row("stat_shot_time", [seconds(s.shot_time) for s in both]),
        row("stat_longest_time", [seconds(s.longest_time) for s in both]),
    ]
    kinds = sorted({code for s in both for code in s.fouls})
    fouls = [{"label": words.foul(code), "values": [words.number(s.fouls[code]) for s in both]} for code in kinds]
    return table, fouls


def page(match: Mapping[str, Any], words: Words) -> Row:
    """Everything the report's template needs but the video."""
    table = Table.from_json(match["table"])
    rows = [shot_row(match, i, words, table) for i in range(len(match["shots"]))]
    score = final_score(match)
    source = match.get("source") or {}
    duration = float(source.get("duration_s") or (match["shots"][-1]["end_s"] if match["shots"] else 0.0))
    numbers, fouls = statistics_rows(match, words)
    sure = float(match.get("sure", SURE))
    size = match["table"]
    return {
        "t": words,
        "language": words.language,
        "players": match["players"],
        "score": score.of,
        "points": score.points,
        "winner": score.winner,
        "game": words.game(match["game"]),
        "rules": words.rules(match["rules"]),
        "duration": words.clock(duration),
        "shots": rows,
        "racks": racks(match, rows),
        "open": [row for row in rows if row["open"]],
        "foul_count": sum(row["kind"] == "foul" for row in rows),
        "strip": [
            {
                "left": round(100 * shot["start_s"] / duration, 3) if duration else 0,
                "width": round(100 * (shot["end_s"] - shot["start_s"]) / duration, 3) if duration else 0,
                "side": row["side"],
                "kind": row["kind"],
            }
            for shot, row in zip(match["shots"], rows, strict=True)
        ],
        "numbers": numbers,
        "fouls": fouls,
        "breaks": [
            {
                "id": f"shot-{b.shot}",
                "name": words("report.shot", number=b.shot),
                "player": b.player,
                "made": list(b.made),
                "foul": words.foul(b.foul) if b.foul else "",
                "cue_ball": (
                    words(
                        "report.break_from",
                        across=words.number(b.cue_ball[0], 2),
                        along=words.number(b.cue_ball[1], 2),
                    )
                    if b.cue_ball
                    else words("report.break_cue_gone")
                ),
            }
            for b in breaks(match)
        ],
        "calls": call_rows(match, rows, words),
        "warnings": [
            {"time": words.clock(w["t_s"]) if w.get("t_s") is not None else "", "text": words.warning(w)}
            for w in match.get("warnings") or ()
        ],
        "about": [
            words(
                "report.about_file",
                file=source.get("file", ""),
                width=source.get("width", "?"),
                height=source.get("height", "?"),
                duration=words.clock(duration),
            ),
            words(
                "report.about_camera",
                px=words.number(float(size.get("rms_px") or 0.0), 2),
                length=words.number(size["length_m"], 2),
                width=words.number(size.get("width_m") or size["length_m"] / 2, 2),
            ),
            words("report.about_rules", rules=words.rules(match["rules"]), sure=words.percent(sure)),
            words("report.about_made"),
        ],
        "numbered": NUMBERED,
    }


def call_rows(match: Mapping[str, Any], rows: Sequence[Row], words: Words) -> list[Row]:
    """Calls given, choices offered, and missing calls that could change a ruling."""
    found = []
    for shot, row in zip(match["shots"], rows, strict=True):
        missing = [
            words(
                "report.calls_would",
                call=words.call(other["call"]),
                then=reading(other, words),
            )
            for other in shot.get("if_called") or ()
        ]
        if row["call"] or row["choice"] or missing:
            found.append({"shot": row, "missing": missing})
    return found
