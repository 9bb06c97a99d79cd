"""The corpus's plain-text notation: a case is a header, the lines of a match, and what is expected of the last ruling.

::

    [id] game edition[,edition…] {clauses} note
    match: race_to=5 break_order=winner              (only where it is not the default)
    setup: shooter=Ann on=2,5,9 pos=5:0.3,0.2 cue=kitchen fouls=2,0 warned score=3,1 groups=solids push
    shot: call=2/side-left 0-2 2>foot 2/sl
    choose: accept                                   (any other line of a script, its value as JSON or a bare word)
    json: {"lag": …}                                 (a whole script line)
    expect: legal=false enforced=no-rail next=Bo/in-hand

Events stand 0.3 s apart unless ``@t`` gives a time; the strike at 0 is added. ``0-2`` contact, ``2>foot`` rail,
``2>foot!`` rail after leaving it, ``2/sl`` pocket (hl hr sl sr fl fr), ``2^`` off the table, ``2<hs`` and ``0>hs`` the head
string crossed toward the head or the foot; ``~0.8`` its probability, ``+-2`` its standard deviation in milliseconds.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

CORPUS = Path(__file__).parent / "corpus"
POCKETS = {
    "hl": "head-left",
    "hr": "head-right",
    "sl": "side-left",
    "sr": "side-right",
    "fl": "foot-left",
    "fr": "foot-right",
}
HEADER = re.compile(r"\[(?P<id>[\w.-]+)\] (?P<game>[\w.-]+) (?P<rules>[\w.,-]+) \{(?P<clauses>[^}]+)\} ?(?P<note>.*)")
EVENT = re.compile(r"(?P<what>[^@~+]+)(?:@(?P<t>[\d.]+))?(?:\+-(?P<sigma>[\d.]+))?(?:~(?P<p>[\d.]+))?$")


@dataclass
class Case:
    """One case by one edition."""

    id: str
    game: str
    rules: str
    clauses: tuple[str, ...]
    note: str
    where: str
    lines: list[dict[str, Any]] = field(default_factory=list)
    expect: dict[str, Any] = field(default_factory=dict)
    error: str | None = None


def load(folder: Path = CORPUS) -> list[Case]:
    """All cases of the corpus, one for each edition a case names."""
    return [
        case for path in sorted(folder.glob("*.txt")) for case in parse(path.read_text(encoding="utf-8"), path.name)
    ]


def parse(text: str, name: str) -> list[Case]:
    cases: list[Case] = []
    for block in re.split(r"\n(?=\[)", "\n" + text):
        rows = [row for row in block.strip().splitlines() if row.strip() and not row.startswith("#")]
        if not rows or not rows[0].startswith("["):
            continue
        head = HEADER.fullmatch(rows[0].strip())
        if head is None:
            raise ValueError(f"{name}: bad header {rows[0]!r}")
        for rules in head["rules"].split(","):
            case = Case(
                head["id"],
                head["game"],
                rules,
                tuple(c.strip() for c in head["clauses"].split(",")),
                head["note"],
                name,
            )
            match: dict[str, Any] = {"game": case.game, "rules": rules, "players": ["Ann", "Bo"], "breaker": "Ann"}
            match["points_to" if case.game == "14.1" else "race_to"] = 100 if case.game == "14.1" else 5
            case.lines.append({"match": match})
            for row in rows[1:]:
                kind, _, rest = row.partition(":")
                read(case, kind.strip(), rest.strip(), match)
            if not case.expect and case.error is None:
                raise ValueError(f"{name}: case {case.id} expects nothing")
            cases.append(case)
    return cases


def read(case: Case, kind: str, rest: str, match: dict[str, Any]) -> None:
    if kind == "match":
        match.update({key: value(text) for key, _, text in (word.partition("=") for word in rest.split())})
    elif kind == "setup":
        case.lines.append({"setup": setup(rest)})
    elif kind == "shot":
        case.lines.append({"shot": shot(rest)})
    elif kind == "json":
        case.lines.append(json.loads(rest))
    elif kind == "expect":
        expect(case, rest)
    else:
        case.lines.append({kind: value(rest)})


def value(text: str) -> Any:
    try:
        return json.loads(text)
    except json.JSONDecodeError:
        return text


def place(text: str) -> list[float]:
    return [float(part) for part in text.split(",")]


def places(text: str) -> dict[str, list[float]]:
    return {ball: place(at) for ball, at in (item.split(":") for item in text.split(";"))}


def setup(text: str) -> dict[str, Any]:
    given: dict[str, Any] = {"break": False}
    for word in text.split():
        key, _, rest = word.partition("=")
        if key == "on":
            given["on_table"] = [0, *(int(ball) for ball in rest.split(",") if ball)]
        elif key == "pos":
            given["positions"] = places(rest)
        elif key == "cue":
            given["cue_ball"] = rest
        elif key in ("fouls", "score", "sets"):
            given[{"fouls": "fouls_in_row"}.get(key, key)] = dict(
                zip(("Ann", "Bo"), map(int, rest.split(",")), strict=True)
            )
        elif key == "warned":
            given["warned"] = True
        elif key == "groups":
            other = {"solids": "stripes", "stripes": "solids"}.get(rest)
            given["groups"] = {"Ann": rest, "Bo": other} if other else rest
        elif key == "push":
            given["push_out_allowed"] = True
        elif key == "break":
            given["break"] = True
        else:
            given[key] = value(rest)
    return given


def shot(text: str) -> dict[str, Any]:
    given: dict[str, Any] = {"events": [{"t_s": 0.0, "kind": "strike", "ball": 0}]}
    clock = 0.0
    for word in text.split():
        key, equals, rest = word.partition("=")
        if equals and not key[:1].isdigit():
            if key == "call":
                ball, slash, pocket = rest.partition("/")
                given["call"] = {"ball": int(ball), "pocket": POCKETS.get(pocket, pocket)} if slash else value(rest)
            elif key == "at":
                given["cue_ball_at"] = place(rest)
            elif key in ("rest", "start"):
                given[key] = places(rest)
            elif key == "frozen":
                rails = given.setdefault("frozen", {}).setdefault("rails", {})
                rails.update({ball: names.split("+") for ball, names in (item.split(":") for item in rest.split(";"))})
            elif key == "touching":
                given.setdefault("frozen", {})["cue"] = [int(ball) for ball in rest.split(",")]
            elif key == "observed":
                given["observed"] = rest.split(",")
            else:
                given[key] = value(rest)
            continue
        parts = EVENT.fullmatch(word)
        if parts is None:
            raise ValueError(f"bad event {word!r}")
        clock = float(parts["t"]) if parts["t"] else round(clock + 0.3, 4)
        event: dict[str, Any] = {"t_s": clock, **what(parts["what"])}
        if parts["sigma"]:
            event["sigma_s"] = float(parts["sigma"]) / 1000
        if parts["p"]:
            event["p"] = float(parts["p"])
        given["events"].append(event)
    return given


def what(text: str) -> dict[str, Any]:
    if "-" in text and text[0].isdigit() and re.fullmatch(r"\d+-\d+", text):
        return {"kind": "contact", "balls": [int(ball) for ball in text.split("-")]}
    if text.endswith("^"):
        return {"kind": "off-table", "ball": int(text[:-1])}
    if "/" in text:
        ball, pocket = text.split("/")
        return {"kind": "pocket", "ball": int(ball), "pocket": POCKETS.get(pocket, pocket)}
    if "*" in text:  # 0*: a further strike
        return {"kind": "strike", "ball": int(text[:-1])}
    ball, sign, rail = re.fullmatch(r"(\d+)([<>])(.+)", text).groups()  # type: ignore[union-attr]
    if rail == "hs":
        return {"kind": "cross", "ball": int(ball), "line": "head-string", "toward": "head" if sign == "<" else "foot"}
    if rail == "ls":
        return {"kind": "cross", "ball": int(ball), "line": "long-string", "toward": "left" if sign == "<" else "right"}
    event: dict[str, Any] = {"kind": "rail", "ball": int(ball), "rail": rail.rstrip("!")}
    if rail.endswith("!"):
        event["leaves_first"] = True
    return event


def expect(case: Case, text: str) -> None:
    for word in re.findall(r"error~.*|\S+", text):
        key, _, rest = word.partition("=")
        if key == "error" or word.startswith("error~"):
            case.error = word[6:].strip() if word.startswith("error~") else ""
        elif key == "next" and rest != "null":
            player, cue, *more = rest.split("/")
            case.expect |= {"next.player": value(player), "next.cue_ball": cue, "next.break": "break" in more}
            if "push" in more:
                case.expect["next.push_out_allowed"] = True
        elif key == "choice" and rest != "null":
            player, _, options = rest.partition(":")
            case.expect |= {"choice.player": player, "choice.options": options.split(",")}
        elif key == "fouls":
            case.expect["foul_codes"] = [code for code in rest.split(",") if code]
        elif key == "spotted":
            case.expect["spotted_balls"] = [int(ball) for ball in rest.split(",") if ball]
        elif key in ("points", "score", "fouls_in_row"):
            for name, number in zip(("Ann", "Bo"), rest.split(","), strict=True):
                case.expect[f"{key}.{name}"] = int(number)
        elif key == "groups" and rest != "null":
            case.expect["groups.Ann"] = rest
        elif (".." in rest and key == "p") or key.endswith(".p"):
            low, high = rest.split("..")
            case.expect[key] = {"min": float(low), "max": float(high)}
        elif key.endswith("article"):
            case.expect[key] = rest
        else:
            case.expect[key] = value(rest)


def clause_table(cases: list[Case]) -> str:
    """Which cases belong to which clause, as Markdown; ``python -m tests.referee.notation > docs/rules-cases.md``."""
    names = dict(
        line[2:].split(" | ")
        for line in (CORPUS / "clauses.md").read_text(encoding="utf-8").splitlines()
        if line.startswith("- ")
    )
    rows = [
        "# Which cases hold which clause",
        "",
        "Made by `python -m tests.referee.notation` from `tests/referee/corpus/`.",
        "",
    ]
    rows += ["| clause | | cases |", "| --- | --- | --- |"]
    for clause, name in names.items():
        ids = dict.fromkeys(case.id for case in cases if clause in case.clauses)
        rows.append(f"| {clause} | {name} | {', '.join(f'`{one}`' for one in ids)} |")
    return "\n".join(rows) + "\n"


if __name__ == "__main__":
    print(clause_table(load()), end="")
