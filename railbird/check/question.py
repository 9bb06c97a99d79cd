"""What is in dispute at a shot: the question, its answer with a probability, and the fact that the other reading changes."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from calibration.table import Table
from railbird.doubts import mistaken_for
from railbird.games import QUESTIONS
from railbird.overrule import cue_contacts
from railbird.words import Words

Event = Mapping[str, Any]
Shot = Mapping[str, Any]
NEAR_S = 0.6  # a question about a moment is about what happened so near to it
MUST_S = 0.0015  # times are not known better than this, whatever a fit says
SAID = 0.5
UNSEEN = "unseen"  # the answer where the recording has none
CLOSE_S = 0.1  # contacts further apart are told in seconds
MOVED_M = 0.03
NONE_ELSE = 0.995  # of a contact that nothing else can explain


@dataclass(frozen=True, slots=True)
class Rival:
    """One of the things that may have come first, or may have happened at all.

    Parameters
    ----------
    label : in words.
    event : as in ``match.json``.
    ball : the ball that it is about, beside the cue ball.
    """

    label: str
    event: Event
    ball: int

    @property
    def t_s(self) -> float:
        return float(self.event["t_s"])

    @property
    def sigma_s(self) -> float:
        """Standard deviation of its time, seconds; never less than the floor of any fit."""
        return max(float(self.event.get("sigma_s") or 0.0), MUST_S / 3)

    @property
    def p(self) -> float:
        return float(self.event.get("p", 1.0))


@dataclass(frozen=True, slots=True)
class Dispute:
    """A question about a shot, and what the recording says to it.

    Parameters
    ----------
    question : of ``QUESTIONS``.
    answer : in short, for programs (``"3"``, ``"none"``, ``"yes"`` …; ``UNSEEN`` where the recording has no answer).
    words : the answer as a sentence.
    p : probability of the answer.
    t_s : the instant, seconds.
    at : where, metres.
    rivals : what may have come first or happened, in the order of their times.
    balls : balls to be drawn.
    otherwise : the facts of the other reading, as ``railbird overrule`` takes them; ``None`` where there is none.
    other_words : that reading as a condition ("if the 5 was first").
    notes : what else belongs to the answer, as sentences.
    """

    question: str
    answer: str
    words: str
    p: float
    t_s: float
    at: tuple[float, float]
    rivals: tuple[Rival, ...]
    balls: tuple[int, ...]
    otherwise: Mapping[str, Any] | None
    other_words: str
    notes: tuple[str, ...] = field(default=())


def shot_near(match: Mapping[str, Any], at: float) -> int | None:
    """Index of the shot that runs at ``at`` seconds, else of the nearest; ``None`` where there is none."""
    shots = match["shots"]

    def gap(i: int) -> float:
        shot = shots[i]
        return max(float(shot["start_s"]) - at, at - float(shot["end_s"]), 0.0)

    return min(range(len(shots)), key=gap, default=None)


def which_question(shot: Shot, at: float) -> str:
    """The question that matters most at a shot: what its ruling hangs on, else what happened nearest to the moment."""
    ruling = shot.get("ruling") or {}
    reason = (ruling.get("needs_referee") or {}).get("reason")
    by_reason = {
        "first-contact": "first-contact",
        "rail": "rail",
        "pocketed": "pocket",
        "pocket": "pocket",
        "cue-ball": "pocket",
        "entered-foul": "double-hit",
    }
    if reason in by_reason:
        return by_reason[reason]
    by_foul = {"wrong-ball-first": "first-contact", "no-rail": "rail", "scratch": "pocket", "double-hit": "double-hit"}
    if ruling.get("enforced") in by_foul:
        return by_foul[ruling["enforced"]]
    first = cue_contacts(shot)[:1]
    near = [e for e in shot["events"] if e["kind"] == "pocket" and abs(e["t_s"] - at) < NEAR_S] + first
    if not near:
        return "first-contact"
    nearest = min(near, key=lambda e: abs(float(e["t_s"]) - at))
    return "pocket" if nearest["kind"] == "pocket" else "first-contact"


def examine(match: Mapping[str, Any], i: int, at: float, question: str, words: Words) -> Dispute:
    """Answer ``question`` about shot ``i`` (an index); ``at`` is the moment that was asked about, seconds."""
    shot = match["shots"][i]
    table = Table.from_json(match["table"])
    ask = dict(zip(QUESTIONS, (_first_contact, _rail, _pocket, _double_hit), strict=True))[question]
    return ask(shot, table, at, words)


def before(a: Rival, b: Rival, shot: Shot) -> float:
    """Probability that ``a`` came before ``b``, given that both happened.

    Where the motion fit knew both together (``orders``), its word stands: times that come from one ball's path err
    alike, and then their order is surer than either time.
    """
    events = list(shot["events"])
    for order in shot.get("orders") or ():
        pair = [events[k] for k in order["events"] if k < len(events)]
        if len(pair) == 2 and pair[0] is a.event and pair[1] is b.event:
            return float(order["p"])
        if len(pair) == 2 and pair[1] is a.event and pair[0] is b.event:
            return 1 - float(order["p"])
    sigma = math.hypot(a.sigma_s, b.sigma_s)
    return 0.5 * (1 + math.erf((b.t_s - a.t_s) / (sigma * math.sqrt(2))))


def _first_contact(shot: Shot, table: Table, at: float, words: Words) -> Dispute:
    rivals = [Rival(words.event(e), e, max(e["balls"])) for e in cue_contacts(shot)]
    one_each: list[Rival] = []
    for rival in rivals:
        if rival.ball not in {r.ball for r in one_each} and rival.p > 0.02:
            one_each.append(rival)
    movers = moved(shot)
    doubtful = not one_each or (one_each[0].p < SAID and len(one_each) == 1)
    if doubtful and (movers or (not one_each and "0" not in (shot.get("start") or {}))):
        return _unseen(shot, movers, at, table, words)
    if doubtful:
        none = 1.0 - (one_each[0].p if one_each else 0.0)
        place = _place(one_each[0].event if one_each else None, shot, table)
        other = {"first_contact": one_each[0].ball} if one_each else None
        return Dispute(
            "first-contact",
            "none",
            words("check.first_none"),
            min(none, 0.999) if one_each else 0.97,
            one_each[0].t_s if one_each else at,
            place,
            tuple(one_each),
            (0, *(r.ball for r in one_each)),
            other,
            words.about("check.if_first", one_each[0].ball) if one_each else "",
        )
    first, rest = one_each[0], one_each[1:3]
    rival: Rival | None = rest[0] if rest else None
    p = first.p
    if rival is not None:
        p = first.p * (1 - rival.p) + first.p * rival.p * before(first, rival, shot)
        if p < 0.5:  # an unlikely contact, seen a moment earlier, does not answer the question
            other = first
            first, rival = rival, other
            p = first.p * (1 - rival.p) + first.p * rival.p * before(first, rival, shot)
    notes = []
    if rival is not None:
        notes.append(_gap_note(rival.t_s - first.t_s, rival.ball, words))
    t = first.t_s if rival is None or abs(rival.t_s - first.t_s) > 0.1 else (first.t_s + rival.t_s) / 2
    shown = (first,) if rival is None else tuple(sorted((first, rival), key=lambda r: r.t_s))
    if rival is not None and rival.t_s - first.t_s > 0.5:
        shown = (first,)
    otherwise: Mapping[str, Any] | None = {"first_contact": None if rival is None else rival.ball}
    other_words = words("check.if_none") if rival is None else words.about("check.if_first", rival.ball)
    if rival is None and (movers or p >= NONE_ELSE):
        otherwise, other_words = None, ""  # no ball moves by itself: that nothing was hit is no reading
    number = mistaken_for(shot, first.ball)
    if number is not None:
        known = float(shot["identity_p"][str(first.ball)])
        notes.insert(0, _number_note(first.ball, number, known, words))
        if known < p:  # which ball was hit is plain; which number it bears is not
            otherwise, other_words = {"first_contact": number}, words.about("check.if_number", number)
        p *= known
    return Dispute(
        "first-contact",
        str(first.ball),
        words.about("check.first_ball", first.ball),
        min(p, 0.999),
        t,
        _place(first.event, shot, table),
        shown,
        (0, *(r.ball for r in shown)),
        otherwise,
        other_words,
        tuple(notes),
    )


def _gap_note(gap_s: float, ball: int, words: Words) -> str:
    """How much later (or earlier, where negative) another contact came, in the unit that one thinks in there."""
    close = abs(gap_s) < CLOSE_S
    time = (
        words("check.ms", value=words.number(1e3 * abs(gap_s), 1))
        if close
        else words("report.seconds", value=words.number(abs(gap_s), 2))
    )
    return words.about("check.later" if gap_s >= 0 else "check.earlier", ball, time=time)


def _number_note(ball: int, other: int, p: float, words: Words) -> str:
    """Which numbers the ball that was hit may bear."""
    return words("check.number", ball=ball, other=other, p=words.percent(p))


def sole_contact(shot: Shot) -> Shot:
    """The shot with its one contact of the cue ball as sure as an event gets, where object balls moved and nothing else explains it.

    An event's own probability tells how well one kink is explained. That the balls which moved were reached by way of this
    contact is more than a kink can say: no ball moves by itself.
    """
    hits = cue_contacts(shot)
    movers = {ball for _, ball, _ in moved(shot)}
    movers |= {e["ball"] for e in shot["events"] if e["kind"] == "pocket" and e["ball"] and e.get("p", 1.0) >= SAID}
    likely = [e for e in shot["events"] if e["kind"] == "contact" and e.get("p", 1.0) >= SAID]
    told = {ball for e in likely for ball in e["balls"]}
    if len(hits) != 1 or hits[0] not in likely or not movers or not movers <= told:
        return shot
    events = [{**e, "p": max(e.get("p", 1.0), NONE_ELSE)} if e is hits[0] else e for e in shot["events"]]
    return {**shot, "events": events}


def moved(shot: Shot) -> list[tuple[float, int, tuple[float, float]]]:
    """Object balls that were set in motion: when first seen elsewhere (seconds), number, where they had lain (metres)."""
    found = []
    for name, rows in (shot.get("paths") or {}).items():
        since = next((t for t, x, y in rows if math.dist((x, y), rows[0][1:]) > MOVED_M), None)
        if name != "0" and since is not None:
            found.append((float(since), int(name), (float(rows[0][1]), float(rows[0][2]))))
    return sorted(found)


def _unseen(
    shot: Shot, movers: Sequence[tuple[float, int, tuple[float, float]]], at: float, table: Table, words: Words
) -> Dispute:
    """The cue ball's first contact is not in the recording, though balls moved or the cue ball was not seen: no answer."""
    t, ball, place = movers[0] if movers else (at, 0, _place(None, shot, table))
    return Dispute(
        "first-contact",
        UNSEEN,
        words("check.first_unseen"),
        0.5,
        t,
        place,
        (),
        tuple(dict.fromkeys((0, ball, *(b for _, b, _ in movers[1:3])))),
        None,
        "",
    )


def _rail(shot: Shot, table: Table, at: float, words: Words) -> Dispute:
    hits = [e for e in cue_contacts(shot) if e.get("p", 1.0) >= SAID]
    since = float(hits[0]["t_s"]) if hits else float(shot["start_s"])
    events = [e for e in shot["events"] if e["kind"] in ("rail", "pocket") and e["t_s"] > since]
    rivals = [Rival(words.event(e), e, e["ball"]) for e in sorted(events, key=lambda e: float(e["t_s"]))]
    reached = 1 - math.prod(1 - r.p for r in rivals)
    if rivals and reached >= SAID:
        # The surest of them answers the question; the earliest of those that are as sure is shown.
        best = max(rivals, key=lambda r: (round(r.p, 2), -r.t_s))
        return Dispute(
            "rail",
            "yes",
            words("check.rail_yes", what=best.label),
            min(reached, 0.999),
            best.t_s,
            _place(best.event, shot, table),
            (best,),
            tuple(dict.fromkeys((best.ball,))),
            {"rail": False} if best.event["kind"] == "rail" and all(e["kind"] == "rail" for e in events) else None,
            words("check.if_no_rail"),
        )
    near = _closest_to_rail(shot, table, since)
    notes: tuple[str, ...] = ()
    t, place, balls = at, _place(None, shot, table), (0,)
    if near is not None:
        ball, t, place, gap, rail = near
        balls = (ball,)
        notes = (
            words(
                "check.rail_gap", ball=words.ball(ball), rail=words.rail(rail), mm=words.number(max(0.0, 1e3 * gap), 0)
            ),
        )
    if rivals:
        t, place, balls = rivals[0].t_s, _place(rivals[0].event, shot, table), (rivals[0].ball,)
    return Dispute(
        "rail",
        "no",
        words("check.rail_no"),
        min(1 - reached, 0.97 if not rivals else 0.999),
        t,
        place,
        tuple(rivals[:1]),
        balls,
        {"rail": True},
        words("check.if_rail"),
        notes,
    )


def _pocket(shot: Shot, table: Table, at: float, words: Words) -> Dispute:
    events = [e for e in shot["events"] if e["kind"] in ("pocket", "off-table")]
    rivals = [Rival(words.event(e), e, e["ball"]) for e in sorted(events, key=lambda e: float(e["t_s"]))]
    said = [r for r in rivals if r.p >= SAID]
    p = math.prod(max(r.p, 1 - r.p) for r in rivals)
    main = min(rivals, key=lambda r: (abs(r.p - 0.5) if r.p < 0.9 else 1.0, abs(r.t_s - at)), default=None)
    answer = ", ".join(str(r.ball) for r in said) or "none"
    text = (
        words("check.pocket_balls", balls=", ".join(words.ball(r.ball) for r in said))
        if said
        else words("check.pocket_none")
    )
    otherwise: dict[str, Any] | None = None
    other = ""
    if main is not None and main.event["kind"] == "pocket":
        down = [r.ball for r in said if r.event["kind"] == "pocket"]
        changed = [b for b in down if b != main.ball] if main in said else [*down, main.ball]
        otherwise = {"pocketed": changed}
        other = words.about("check.if_not_down" if main in said else "check.if_down", main.ball)
    return Dispute(
        "pocket",
        answer,
        text,
        min(p, 0.999) if rivals else 0.97,
        main.t_s if main else at,
        _place(main.event if main else None, shot, table),
        (main,) if main else (),
        (main.ball,) if main else (0,),
        otherwise,
        other,
    )


def _double_hit(shot: Shot, table: Table, at: float, words: Words) -> Dispute:
    suspected = float((shot.get("suspected") or {}).get("double-hit", 0.0))
    seen = "double-hit" in (shot.get("observed") or ())
    yes = seen or suspected >= SAID
    hits = cue_contacts(shot)
    strike = next((e for e in shot["events"] if e["kind"] == "strike"), None)
    first = hits[0] if hits else strike
    rivals = [Rival(words.event(e), e, max(e.get("balls") or [0])) for e in ([strike] if strike else []) + hits[:1]]
    return Dispute(
        "double-hit",
        "suspected" if yes else "not-seen",
        words("check.double_yes" if yes else "check.double_no"),
        1.0 if seen else max(suspected, 1 - suspected) if suspected else 0.5,
        float(first["t_s"]) if first else at,
        _place(first, shot, table),
        tuple(rivals),
        tuple(dict.fromkeys((0, *(r.ball for r in rivals)))),
        {
            "observed": [c for c in shot.get("observed") or () if c != "double-hit"] + ([] if yes else ["double-hit"]),
            "suspected": {},
        },
        words("check.if_not_double" if yes else "check.if_double"),
        (words("check.double_person"),),
    )


def _place(event: Event | None, shot: Shot, table: Table) -> tuple[float, float]:
    """Where an event is, metres; the cue ball's start where nothing is known."""
    if event is not None and event.get("at"):
        return float(event["at"][0]), float(event["at"][1])
    if event is not None and event["kind"] == "pocket":
        pocket = table.pockets[event["pocket"]]
        inward = 0.5 * table.ball_m
        x, y = pocket.centre
        return (x + math.copysign(inward, table.long_string - x), y + math.copysign(inward, table.centre_string - y))
    at: Sequence[float] = shot["start"].get("0") or (table.long_string, table.centre_string)
    return float(at[0]), float(at[1])


def _closest_to_rail(
    shot: Shot, table: Table, since: float
) -> tuple[int, float, tuple[float, float], float, str] | None:
    """Ball, time, place, gap (metres) and rail of the nearest approach after ``since`` of a ball that moved."""
    best: tuple[int, float, tuple[float, float], float, str] | None = None
    for name, rows in (shot.get("paths") or {}).items():
        if len(rows) < 2 or math.dist(rows[0][1:], rows[-1][1:]) < 1e-3:
            continue
        for t, x, y in rows:
            if t <= since:
                continue
            rail = table.nearest_rail((x, y))
            gap = table.rail_gap((x, y), rail)
            if best is None or gap < best[3]:
                best = (int(name), float(t), (float(x), float(y)), gap, rail)
    return best
