"""The log keeps every line, refuses to change one, and thins clips without touching disputes."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from calibration.errors import InputError
from railbird.live.store import Store, StoreFault

OPTIONS = {"game": "8-ball", "players": ["Ann", "Bo"]}


def test_lines_come_back_in_order_after_reopening(tmp_path: Path) -> None:
    store = Store(tmp_path)
    match = store.begin("Table 1", OPTIONS, "hu")
    for n in range(5):
        store.append(match.id, "script", "camera", {"shot": {"n": n}})
    store.close()
    again = Store(tmp_path)
    assert [line.body["shot"]["n"] for line in again.lines(match.id)] == [0, 1, 2, 3, 4]
    found = again.unfinished("Table 1")
    assert found is not None
    assert (found.id, found.language, found.options) == (match.id, "hu", OPTIONS)
    assert again.unfinished("Table 2") is None


@pytest.mark.parametrize("command", ["UPDATE lines SET body = '{}'", "DELETE FROM lines"])
def test_the_database_itself_refuses_to_change_a_line(tmp_path: Path, command: str) -> None:
    store = Store(tmp_path)
    match = store.begin("Table 1", OPTIONS)
    store.append(match.id, "note", "camera", {"a": 1})
    with (
        sqlite3.connect(tmp_path / "matches.sqlite3") as other,
        pytest.raises(sqlite3.IntegrityError, match="append-only"),
    ):
        other.execute(command)
    assert store.lines(match.id)[0].body == {"a": 1}


def test_a_line_that_cannot_be_written_is_a_fault(tmp_path: Path) -> None:
    store = Store(tmp_path)
    with pytest.raises(StoreFault):
        store.append("20260101-000000-deadbeef", "script", "camera", {})  # no such match


def test_a_second_connection_sees_a_line_at_once(tmp_path: Path) -> None:
    """What append returned from is committed: another process reads it."""
    store = Store(tmp_path)
    match = store.begin("Table 1", OPTIONS)
    store.append(match.id, "script", "camera", {"x": 1})
    assert len(Store(tmp_path).lines(match.id)) == 1


def test_ended_matches_are_not_taken_up(tmp_path: Path) -> None:
    store = Store(tmp_path)
    match = store.begin("Table 1", OPTIONS)
    store.end(match.id, "Ann")
    assert store.unfinished("Table 1") is None
    assert store.matches()[0].winner == "Ann"
    store.reopen(match.id)
    assert store.unfinished("Table 1") is not None


def test_options_change_only_before_the_first_line(tmp_path: Path) -> None:
    store = Store(tmp_path)
    match = store.begin("Table 1", OPTIONS)
    assert store.amend(match.id, {**OPTIONS, "race_to": 7})
    store.append(match.id, "script", "camera", {"choose": "accept"})
    assert not store.amend(match.id, OPTIONS)
    assert store.match(match.id).options["race_to"] == 7


@pytest.mark.parametrize("name", ["", "../etc", "20260101-000000-zzzzzzzz", "x" * 500, "20260101-000000-deadbeef"])
def test_unknown_match_names_are_input_errors(tmp_path: Path, name: str) -> None:
    with pytest.raises(InputError):
        Store(tmp_path).match(name)


def clip(store: Store, match: str, shot: int, size: int, budget: int) -> Path:
    path = store.new_clip_file(match, shot)
    path.write_bytes(b"x" * size)
    store.add_clip(match, shot, path, 0.0, budget)
    return path


def test_old_clips_go_first_and_disputes_stay(tmp_path: Path) -> None:
    store = Store(tmp_path)
    match = store.begin("Table 1", OPTIONS).id
    first = clip(store, match, 1, 100, 250)
    number = store.dispute(match, 1, "player:0", {"text": "was it the 3?"})
    second = clip(store, match, 2, 100, 250)
    third = clip(store, match, 3, 100, 250)
    fourth = clip(store, match, 4, 100, 250)
    assert first.exists()  # in dispute, and not counted
    assert not second.exists()
    assert third.exists()
    assert fourth.exists()
    assert store.clip(match, 2) is None
    assert store.disputes()[0]["text"] == "was it the 3?"
    store.settle(number)
    clip(store, match, 5, 100, 250)
    assert not first.exists()


def test_the_newest_clip_stays_whatever_the_budget(tmp_path: Path) -> None:
    store = Store(tmp_path)
    match = store.begin("Table 1", OPTIONS).id
    assert clip(store, match, 1, 1000, 10).exists()


def test_a_folder_that_is_a_file_is_an_input_error(tmp_path: Path) -> None:
    (tmp_path / "f").write_text("x")
    with pytest.raises(InputError, match="another folder"):
        Store(tmp_path / "f")
