"""The corpus of rulings: every case by every edition it names, through the same door as ``railbird adjudicate``."""

from __future__ import annotations

import json
from typing import Any

import pytest

from calibration.errors import InputError
from railbird.adjudicate import adjudicate
from tests.referee.notation import CORPUS, Case, load

CASES = load()
MISSING = "(no such key)"


def dig(value: Any, path: str) -> Any:
    for key in path.split("."):
        if isinstance(value, list):
            value = value[int(key)] if int(key) < len(value) else MISSING
        elif isinstance(value, dict):
            value = value.get(key, MISSING)
        else:
            return MISSING
    return value


def same(got: Any, want: Any) -> bool:
    if isinstance(want, bool) or want is None:
        return got is want
    if isinstance(want, dict) and set(want) == {"min", "max"}:
        return isinstance(got, (int, float)) and want["min"] <= got <= want["max"]
    if isinstance(want, (int, float)):
        return isinstance(got, (int, float)) and not isinstance(got, bool) and abs(got - want) < 1e-5
    if isinstance(want, list):
        return isinstance(got, list) and len(got) == len(want) and all(map(same, got, want))
    return bool(got == want)


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.id}-{case.rules}")
def test_case(case: Case) -> None:
    script = [json.dumps(line) for line in case.lines]
    if case.error is not None:
        with pytest.raises(InputError) as caught:
            list(adjudicate(script))
        assert case.error in str(caught.value)
        assert str(caught.value).startswith(f"line {len(script)}:")
        return
    ruling = [json.loads(line)["ruling"] for line in adjudicate(script)][-1]
    wrong = []
    for path, want in case.expect.items():
        if path == "spotted_balls":
            got, want = sorted(spot["ball"] for spot in ruling["spotted"]), sorted(want)
        elif path == "foul_codes":
            got, want = sorted(foul["code"] for foul in ruling["fouls"]), sorted(want)
        else:
            got = dig(ruling, path)
        if not same(got, want):
            wrong.append(f"{path}: wanted {want!r}, got {got!r}")
    assert not wrong, f"{case.where} [{case.id}] {case.note}: " + "; ".join(wrong)


def test_identifiers_are_unique() -> None:
    keys = [(case.id, case.rules) for case in CASES]
    assert len(keys) == len(set(keys))


def test_the_corpus_is_large_enough() -> None:
    assert len({case.id for case in CASES}) >= 200


def test_every_clause_has_a_case() -> None:
    """``clauses.txt`` lists the rows and clauses of the rules; each has at least one case."""
    listed = [
        line.split("|")[0].strip()
        for line in (CORPUS / "clauses.md").read_text(encoding="utf-8").splitlines()
        if line.startswith("- ")
    ]
    tagged = {clause for case in CASES for clause in case.clauses}
    missing = [clause[2:] for clause in listed if clause[2:] not in tagged]
    assert listed
    assert not missing, f"no case for {missing}"
