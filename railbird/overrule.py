"""Corrects a shot of ``match.json``: facts are changed, and every ruling from there on follows."""

from __future__ import annotations

import json
from collections.abc import Mapping
from copy import deepcopy
from pathlib import Path
from typing import Any

from calibration.errors import InputError
from railbird import result
from railbird.validation import check_call, check_event, show

#: What may be corrected as it stands in a shot.
SHOT_KEYS = ("events", "call", "claim", "choice", "observed", "suspected", "frozen", "start", "end", "shooter")
#: Short words for the facts that are disputed most.
FACTS = ("first_contact", "rail", "pocketed")
GAP_S = 0.0005


def run(match: str | Path, *, shot: int, facts: str | Path | Mapping[str, Any]) -> dict[str, Any]:
    """Correct shot number ``shot`` of a ``match.json`` file, rule the match again, write it and its pages.

    Parameters
    ----------
    facts : a JSON file (or its content) with the keys that change: those of a shot (``events``, ``call``, ``claim``,
        ``choice``, ``observed``, ``suspected``, ``frozen``, ``start``, ``end``, ``shooter``), or in short
        ``{"first_contact": 5}``, ``{"rail": false}``, ``{"pocketed": [3, 9]}``.

    Returns
    -------
    The whole match document as it now stands.

    Raises
    ------
    InputError
        Where the file, the shot or a fact is at fault; nothing is written then.
    """
    from railbird.report import rebuild
    from railbird.script import rule

    path = Path(match)
    document = result.read(path)
    given = read_facts(facts) if isinstance(facts, (str, Path)) else facts
    ruled = rule(corrected(document, shot, given))
    row = next(s for s in ruled["shots"] if s["number"] == shot)
    if row.get("ruling") is None:
        why = next((w["text"] for w in ruled["warnings"] if w["code"] == "not-ruled" and w.get("shot") == shot), "")
        raise InputError(f"with these facts the rules refuse it: {why}")
    result.write(path, ruled)
    if (path.parent / "report.html").exists():
        rebuild(path)
    return ruled


def read_facts(path: str | Path) -> Mapping[str, Any]:
    """The facts of a file: one JSON object, or a script's ``shot_facts`` around it."""
    facts = result.read_json(path)
    facts = facts.get("overrule", facts)
    return dict(facts.get("shot_facts", facts))


def corrected(match: Mapping[str, Any], number: int, facts: Mapping[str, Any]) -> dict[str, Any]:
    """A copy of ``match`` with the facts of one shot changed and marked as a person's word; not ruled yet.

    Raises
    ------
    InputError
        Where there is no such shot, or a fact is unknown or cannot be.
    """
    document: dict[str, Any] = deepcopy(dict(match))
    shot = next((s for s in document["shots"] if s["number"] == number), None)
    if shot is None:
        numbers = [s["number"] for s in document["shots"]]
        had = f"the match has shots {numbers[0]} to {numbers[-1]}" if numbers else "the match has no shots"
        raise InputError(f"--shot {number}: {had}")
    before = {key: deepcopy(shot.get(key)) for key in SHOT_KEYS if key in shot}
    apply_facts(shot, facts)
    changed = {key: old for key, old in before.items() if shot.get(key) != old}
    history = list(shot.get("overruled") or ())
    shot["overruled"] = [*history, {"facts": json.loads(json.dumps(dict(facts))), "before": changed}]
    result.check(document)
    return document


def apply_facts(shot: dict[str, Any], facts: Mapping[str, Any]) -> None:
    """Change a shot's facts in place; :func:`run` says which.

    Raises
    ------
    InputError
        Where a fact is unknown or cannot be.
    """
    if not facts:
        raise InputError('facts: empty; give what was seen wrongly, as {"first_contact": 5}')
    for key in facts:
        if key not in (*SHOT_KEYS, *FACTS, "rest"):
            raise InputError(f"facts: {key!r} is not known: one of {', '.join((*SHOT_KEYS, *FACTS))}")
    for key in SHOT_KEYS:
        if key in facts:
            shot[key] = deepcopy(facts[key])
    if "rest" in facts:
        shot["end"] = deepcopy(facts["rest"])
    if "shooter" in facts:
        shot["by"] = facts["shooter"]
    if not isinstance(shot["events"], list):
        raise InputError(f"facts.events is {show(shot['events'])}, wanted a list of events")
    for i, event in enumerate(shot["events"]):
        check_event(event, f"facts.events[{i}]")
    check_call(shot.get("call"), "facts.call")
    if "first_contact" in facts:
        _first_contact(shot, facts["first_contact"])
    if "pocketed" in facts:
        _pocketed(shot, facts["pocketed"])
    if "rail" in facts:
        _rail(shot, facts["rail"])
    shot["events"].sort(key=lambda event: event["t_s"])


def cue_contacts(shot: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Contacts of the cue ball in time order, unlikely ones included."""
    found = [e for e in shot["events"] if e["kind"] == "contact" and 0 in e["balls"]]
    return sorted(found, key=lambda event: float(event["t_s"]))


def _first_contact(shot: dict[str, Any], ball: Any) -> None:
    hits = cue_contacts(shot)
    if ball is None:
        # Nothing was hit, so no other ball moved: what it was seen to do was not so either.
        shot["events"] = [e for e in shot["events"] if set(e.get("balls") or [e.get("ball", 0)]) == {0}]
        still = {key: at for key, at in shot["start"].items() if key != "0"}
        shot["end"] = {key: at for key, at in (shot.get("end") or {}).items() if key == "0"} | still
        return
    if isinstance(ball, bool) or not isinstance(ball, int) or not 1 <= ball <= 15:
        raise InputError(f"facts.first_contact is {show(ball)}: an object ball, 1 to 15, or null for none")
    if str(ball) not in shot["start"] and not any(ball in e["balls"] for e in hits):
        raise InputError(
            f"facts.first_contact is {ball}: that ball was not on the table; on it: {', '.join(shot['start'])}"
        )
    mine = next((e for e in hits if ball in e["balls"]), None)
    others = [e for e in hits if e is not mine]
    first_s = hits[0]["t_s"] if hits else (shot["start_s"] + shot["end_s"]) / 2
    if mine is None:
        mine = {"kind": "contact", "balls": [0, ball], "t_s": first_s}
        shot["events"].append(mine)
    strike_s = next((e["t_s"] for e in shot["events"] if e["kind"] == "strike"), shot["start_s"])
    # It came first: its time goes before the others', but not before the stroke; a person's word has no spread.
    earlier = max(first_s - GAP_S, (strike_s + first_s) / 2) if others and mine is not hits[0] else mine["t_s"]
    mine |= {"t_s": earlier, "sigma_s": 0.0, "p": 1.0}
    for event in others:
        event["sigma_s"] = min(event.get("sigma_s") or 0.0, GAP_S / 10)
        event["t_s"] = max(event["t_s"], mine["t_s"] + GAP_S)


def _pocketed(shot: dict[str, Any], balls: Any) -> None:
    if not isinstance(balls, list) or not all(
        isinstance(b, int) and not isinstance(b, bool) and 0 <= b <= 15 for b in balls
    ):
        raise InputError(f"facts.pocketed is {show(balls)}: a list of balls, as [3, 9]")
    kept = [e for e in shot["events"] if e["kind"] != "pocket" or e["ball"] in balls]
    for event in kept:
        if event["kind"] == "pocket":
            event["p"] = 1.0
    there = {e["ball"] for e in kept if e["kind"] == "pocket"}
    missing = [ball for ball in balls if ball not in there]
    if missing:
        raise InputError(
            f'facts.pocketed: no camera saw ball {missing[0]} fall; give its event in "events", with the pocket'
        )
    shot["events"] = kept


def _rail(shot: dict[str, Any], reached: Any) -> None:
    """Whether any ball reached a rail after the first contact."""
    if not isinstance(reached, bool):
        raise InputError(f"facts.rail is {show(reached)}: true or false")
    hits = cue_contacts(shot)
    since = hits[0]["t_s"] if hits else shot["start_s"]
    rails = [e for e in shot["events"] if e["kind"] == "rail" and e["t_s"] > since]
    if not reached:
        shot["events"] = [e for e in shot["events"] if e not in rails]
    elif rails:
        max(rails, key=lambda e: float(e.get("p", 1.0)))["p"] = 1.0
    else:
        ball = max(hits[0]["balls"]) if hits else 0
        at = (since + shot["end_s"]) / 2
        shot["events"].append({"kind": "rail", "ball": ball, "rail": "foot", "t_s": at, "sigma_s": 0.0, "p": 1.0})
