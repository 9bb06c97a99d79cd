"""chapters.vtt and shots.csv."""

from __future__ import annotations

import csv
import io
import re
from itertools import pairwise

import pytest

from railbird.chapters import COLUMNS, chapters, shots_csv, stamp
from railbird.script import rule
from tests.railbird.made import a_match, ruled

CUE = re.compile(r"(\d\d:\d\d:\d\d\.\d{3}) --> (\d\d:\d\d:\d\d\.\d{3})")


def seconds(text: str) -> float:
    hours, minutes, rest = text.split(":")
    return 3600 * int(hours) + 60 * int(minutes) + float(rest)


def test_a_chapter_a_shot_without_gap_or_overlap() -> None:
    match = ruled(0.03)
    text = chapters(match)
    assert text.startswith("WEBVTT\n\n")
    spans = [(seconds(a), seconds(b)) for a, b in CUE.findall(text)]
    assert len(spans) == 4
    for (begin, end), shot in zip(spans, match["shots"], strict=True):
        assert begin <= shot["start_s"] < shot["end_s"] <= end
    assert all(a[1] == b[0] for a, b in pairwise(spans))
    assert "Foul: wrong ball first" in text


def test_names_cannot_break_the_file() -> None:
    text = chapters(rule(a_match(players=("<b>A --> &", "Bo\n\n00:00"))))
    assert "&lt;b&gt;A --&gt; &amp;" in text
    assert len(CUE.findall(text)) == 4
    blocks = text.strip().split("\n\n")
    assert len(blocks) == 5
    assert all(len(block.splitlines()) == 3 for block in blocks[1:])


@pytest.mark.parametrize(
    ("t", "text"), [(0, "00:00:00.000"), (59.9996, "00:01:00.000"), (3723.5, "01:02:03.500"), (-1, "00:00:00.000")]
)
def test_stamp(t: float, text: str) -> None:
    assert stamp(t) == text


def test_table_of_shots() -> None:
    rows = list(csv.DictReader(io.StringIO(shots_csv(ruled(0.03)))))
    assert tuple(rows[0]) == COLUMNS
    assert [r["first_contact"] for r in rows] == ["1", "5", "2", "2"]
    assert [r["enforced"] for r in rows] == ["", "wrong-ball-first", "", "scratch"]
    assert [r["pocketed"] for r in rows] == ["1", "", "", "0"]
    assert rows[1]["article"]
    assert [r["legal"] for r in rows] == ["true", "false", "true", "false"]


def test_formula_in_a_name_is_text() -> None:
    match = rule(a_match(players=('=HYPERLINK("http://x")', "Bo")))
    rows = list(csv.DictReader(io.StringIO(shots_csv(match))))
    assert rows[0]["shooter"] == '\'=HYPERLINK("http://x")'
