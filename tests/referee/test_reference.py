"""The reference pages are made from the code's tables and kept current."""

from __future__ import annotations

from pathlib import Path

from referee.reference import page
from referee.rulesets import RULE_SETS
from referee.terms import Foul
from tests.referee.notation import clause_table, load

DOCS = Path(__file__).parents[2] / "docs"


def test_the_rules_page_is_current() -> None:
    assert (DOCS / "rules.md").read_text(encoding="utf-8") == page(), "run: python -m referee.reference > docs/rules.md"


def test_the_table_of_cases_is_current() -> None:
    told = "run: python -m tests.referee.notation > docs/rules-cases.md"
    assert (DOCS / "rules-cases.md").read_text(encoding="utf-8") == clause_table(load()), told


def test_every_foul_and_edition_is_on_the_page() -> None:
    text = page()
    assert all(f"`{foul.value}`" in text for foul in Foul)
    assert all(f"## {name}" in text for name in RULE_SETS)
    assert "three ball rule" in text
