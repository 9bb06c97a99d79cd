"""The file of calls: what it holds, and errors that name the line."""

from __future__ import annotations

from pathlib import Path

import pytest

from calibration.errors import InputError
from railbird.calls import parse_calls, put_calls, read_calls
from railbird.script import rule
from tests.railbird.made import a_match

TEXT = """\
# the final
shot 1: 1 foot-right
shot 2: Safety      # said twice

SHOT 3 : push-out
shot 4: 8 side-left, claim stripes
after shot 4: hand-back
"""


def test_what_a_file_says() -> None:
    calls = parse_calls(TEXT)
    assert calls.calls == {
        1: {"ball": 1, "pocket": "foot-right"},
        2: "safety",
        3: "push-out",
        4: {"ball": 8, "pocket": "side-left"},
    }
    assert calls.claims == {4: "stripes"}
    assert calls.choices == {4: "hand-back"}


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("shot 1: 1 foot-right\nnonsense", "line 2"),
        ("\n\nshot 3: 2 north", "line 3: pocket 'north'"),
        ("shot 3: 16 foot-left", "ball 16"),
        ("shot 0: safety", "numbered from 1"),
        ("shot 3: safety\nshot 3: safety", "line 2: shot 3 was given before"),
        ("after shot 3: sleep", "choice 'sleep'"),
        ("shot 3: two side-left", "call 'two side-left'"),
        ("shot 5: 8 side-left, claim reds", "claim 'reds'"),
    ],
)
def test_wrong_line_is_named(text: str, says: str) -> None:
    with pytest.raises(InputError, match=says) as caught:
        parse_calls(text, "calls.txt")
    assert str(caught.value).startswith("calls.txt line ")


def test_call_for_a_shot_that_was_not_played(tmp_path: Path) -> None:
    file = tmp_path / "calls.txt"
    file.write_text("shot 2: safety\nshot 9: 3 side-left\n", encoding="utf-8")
    with pytest.raises(InputError, match=r"line 2: shot 9: the recording has shots 1 to 4"):
        rule(a_match(), calls=file)


def test_byte_order_mark_and_missing_file(tmp_path: Path) -> None:
    file = tmp_path / "calls.txt"
    file.write_bytes(b"\xef\xbb\xbfshot 1: safety\r\n")
    assert read_calls(file).calls == {1: "safety"}
    with pytest.raises(InputError, match="cannot be read"):
        read_calls(tmp_path / "none.txt")


def test_calls_stand_in_the_document() -> None:
    match = a_match()
    put_calls(match, parse_calls("shot 2: push-out"))
    assert match["shots"][1]["call"] == "push-out"
