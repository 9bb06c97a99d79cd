"""The log of matches on disk: every line is kept for good before anybody hears of it (SQLite, write-ahead log).

Lines are append-only; the database itself refuses to change or delete one. What a match stands at is never stored: it
is folded from its lines, so a crash can lose nothing that was announced.
"""

from __future__ import annotations

import json
import re
import secrets
import sqlite3
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from calibration.errors import InputError, RailbirdError

_SCHEMA = """
CREATE TABLE IF NOT EXISTS matches (
  id TEXT PRIMARY KEY, table_name TEXT NOT NULL, began REAL NOT NULL, ended REAL, winner TEXT, options TEXT NOT NULL,
  language TEXT NOT NULL DEFAULT 'en'
);
CREATE TABLE IF NOT EXISTS lines (
  number INTEGER PRIMARY KEY AUTOINCREMENT, match TEXT NOT NULL REFERENCES matches(id),
  at REAL NOT NULL, kind TEXT NOT NULL, who TEXT NOT NULL, body TEXT NOT NULL
);
CREATE INDEX IF NOT EXISTS lines_of_match ON lines(match, number);
CREATE TRIGGER IF NOT EXISTS lines_do_not_change BEFORE UPDATE ON lines
  BEGIN SELECT RAISE(ABORT, 'the log is append-only'); END;
CREATE TRIGGER IF NOT EXISTS lines_are_not_deleted BEFORE DELETE ON lines
  BEGIN SELECT RAISE(ABORT, 'the log is append-only'); END;
CREATE TABLE IF NOT EXISTS clips (
  id INTEGER PRIMARY KEY AUTOINCREMENT, match TEXT NOT NULL REFERENCES matches(id), shot INTEGER NOT NULL,
  at REAL NOT NULL, file TEXT NOT NULL, bytes INTEGER NOT NULL, began_s REAL NOT NULL
);
CREATE TABLE IF NOT EXISTS disputes (
  id INTEGER PRIMARY KEY AUTOINCREMENT, match TEXT NOT NULL REFERENCES matches(id), shot INTEGER NOT NULL,
  at REAL NOT NULL, who TEXT NOT NULL, body TEXT NOT NULL
);
"""

KINDS = ("script", "call", "withdraw", "restore", "note")
MATCH_ID = re.compile(r"^[0-9]{8}-[0-9]{6}-[0-9a-f]{8}$")


class StoreFault(RailbirdError):
    """The log cannot be written; nothing may be announced."""


@dataclass(frozen=True, slots=True)
class Line:
    """One line of a match's log.

    Parameters
    ----------
    number : grows over all matches.
    at : seconds since 1970.
    kind : ``script`` (a line of ``railbird adjudicate``), ``call`` (announced for the next shot), ``withdraw`` and
        ``restore`` (of the script line whose number is in the body), ``note`` (anything else a person may ask about).
    who : role and seat that entered it, ``camera`` where it was seen.
    body : the line itself.
    """

    number: int
    at: float
    kind: str
    who: str
    body: dict[str, Any]


@dataclass(frozen=True, slots=True)
class MatchRecord:
    """A match in the list of matches; ``options`` is the ``match`` line it began with."""

    id: str
    table: str
    began: float
    ended: float | None
    winner: str | None
    options: dict[str, Any]
    language: str = "en"


@dataclass(frozen=True, slots=True)
class Clip:
    """A shot's clip; ``began_s`` is the stream's time of its first picture, seconds."""

    id: int
    match: str
    shot: int
    at: float
    file: Path
    bytes: int
    began_s: float


class Store:
    """The log in one folder: ``matches.sqlite3`` and ``clips/``. Safe to use from several threads.

    Raises
    ------
    InputError
        Where the folder cannot be written or holds something else than a log.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.clip_folder = folder / "clips"
        self._lock = threading.RLock()
        try:
            self.clip_folder.mkdir(parents=True, exist_ok=True)
            self._db = sqlite3.connect(folder / "matches.sqlite3", check_same_thread=False, isolation_level=None)
            self._db.execute("PRAGMA journal_mode=WAL")
            # FULL: a line is on the disk when append returns, a power cut included.
            self._db.execute("PRAGMA synchronous=FULL")
            self._db.execute("PRAGMA foreign_keys=ON")
            self._db.execute("PRAGMA busy_timeout=5000")
            self._db.executescript(_SCHEMA)
        except (OSError, sqlite3.Error) as error:
            raise InputError(f"{folder}: cannot keep the match log there ({error}); give another folder") from None

    def close(self) -> None:
        with self._lock:
            self._db.close()

    # -- matches -------------------------------------------------------------------------------------------------
    def begin(self, table: str, options: Mapping[str, Any], language: str = "en") -> MatchRecord:
        """Open a match and give it a name."""
        now = time.time()
        name = f"{time.strftime('%Y%m%d-%H%M%S', time.localtime(now))}-{secrets.token_hex(4)}"
        record = MatchRecord(name, table, now, None, None, dict(options), language)
        self._write(
            "INSERT INTO matches (id, table_name, began, options, language) VALUES (?, ?, ?, ?, ?)",
            (record.id, table, now, _dumps(options), language),
        )
        return record

    def amend(self, match: str, options: Mapping[str, Any]) -> bool:
        """Change the opening of a match in which nothing was played yet; whether that was so."""
        with self._lock:
            if self._read("SELECT 1 FROM lines WHERE match = ? AND kind = 'script' LIMIT 1", (match,)):
                return False
            self._write("UPDATE matches SET options = ? WHERE id = ?", (_dumps(options), match))
            return True

    def end(self, match: str, winner: str | None) -> None:
        """Close a match; its lines stay."""
        self._write("UPDATE matches SET ended = ?, winner = ? WHERE id = ?", (time.time(), winner, match))

    def reopen(self, match: str) -> None:
        """Go on with a match that was closed (its last ruling was withdrawn)."""
        self._write("UPDATE matches SET ended = NULL, winner = NULL WHERE id = ?", (match,))

    def unfinished(self, table: str) -> MatchRecord | None:
        """The match that was being played at this table when the power went."""
        rows = self._read(
            "SELECT * FROM matches WHERE table_name = ? AND ended IS NULL ORDER BY began DESC LIMIT 1", (table,)
        )
        return _match(rows[0]) if rows else None

    def matches(self, limit: int = 200) -> list[MatchRecord]:
        """Matches, the latest first."""
        return [_match(row) for row in self._read("SELECT * FROM matches ORDER BY began DESC LIMIT ?", (limit,))]

    def match(self, name: str) -> MatchRecord:
        """One match.

        Raises
        ------
        InputError
            Where there is none of that name.
        """
        rows = self._read("SELECT * FROM matches WHERE id = ?", (name,)) if MATCH_ID.match(name) else []
        if not rows:
            raise InputError(f"no match {name[:40]!r} in the log; `railbird matches` lists them")
        return _match(rows[0])

    # -- lines ---------------------------------------------------------------------------------------------------
    def append(self, match: str, kind: str, who: str, body: Mapping[str, Any]) -> Line:
        """Keep a line for good; when this returns it is on the disk.

        Raises
        ------
        StoreFault
            Where the disk is full or broken; the line must then not be announced.
        """
        if kind not in KINDS:
            raise ValueError(f"kind {kind!r}: one of {', '.join(KINDS)}")
        now = time.time()
        number = self._write(
            "INSERT INTO lines (match, at, kind, who, body) VALUES (?, ?, ?, ?, ?)",
            (match, now, kind, who, _dumps(body)),
        )
        return Line(number, now, kind, who, dict(body))

    def lines(self, match: str) -> list[Line]:
        """All lines of a match in order, withdrawn ones included."""
        rows = self._read("SELECT number, at, kind, who, body FROM lines WHERE match = ? ORDER BY number", (match,))
        return [Line(n, at, kind, who, json.loads(body)) for n, at, kind, who, body in rows]

    # -- clips ---------------------------------------------------------------------------------------------------
    def new_clip_file(self, match: str, shot: int) -> Path:
        """A file name for a clip; no part of it comes from outside."""
        return self.clip_folder / f"{match}-{shot:04d}-{secrets.token_hex(3)}.mp4"

    def add_clip(self, match: str, shot: int, file: Path, began_s: float, budget_bytes: int) -> Clip:
        """Enter a finished clip, then delete the oldest ones over the budget; clips in dispute are not touched."""
        size = file.stat().st_size
        now = time.time()
        number = self._write(
            "INSERT INTO clips (match, shot, at, file, bytes, began_s) VALUES (?, ?, ?, ?, ?, ?)",
            (match, shot, now, file.name, size, began_s),
        )
        self._thin(budget_bytes)
        return Clip(number, match, shot, now, file, size, began_s)

    def clip(self, match: str, shot: int) -> Clip | None:
        """The latest clip of a shot, if it is still there."""
        rows = self._read("SELECT * FROM clips WHERE match = ? AND shot = ? ORDER BY id DESC LIMIT 1", (match, shot))
        if not rows:
            return None
        n, name, number, at, file, size, began = rows[0]
        path = self.clip_folder / Path(file).name
        return Clip(n, name, number, at, path, size, began) if path.exists() else None

    def _thin(self, budget_bytes: int) -> None:
        with self._lock:
            rows = self._read(
                "SELECT id, file, bytes FROM clips WHERE NOT EXISTS (SELECT 1 FROM disputes WHERE"
                " disputes.match = clips.match AND disputes.shot = clips.shot) ORDER BY id"
            )
            total = sum(size for _, _, size in rows)
            # The newest stays whatever the budget: somebody is about to ask for it.
            for number, file, size in rows[:-1]:
                if total <= budget_bytes:
                    break
                (self.clip_folder / Path(file).name).unlink(missing_ok=True)
                self._write("DELETE FROM clips WHERE id = ?", (number,))
                total -= size

    # -- disputes ------------------------------------------------------------------------------------------------
    def dispute(self, match: str, shot: int, who: str, body: Mapping[str, Any]) -> int:
        """Keep a shot's clip until the dispute is deleted."""
        return self._write(
            "INSERT INTO disputes (match, shot, at, who, body) VALUES (?, ?, ?, ?, ?)",
            (match, shot, time.time(), who, _dumps(body)),
        )

    def disputes(self) -> list[dict[str, Any]]:
        """Disputes, the latest first."""
        rows = self._read("SELECT id, match, shot, at, who, body FROM disputes ORDER BY id DESC")
        return [
            {"id": n, "match": match, "shot": shot, "at": at, "who": who, **json.loads(body)}
            for n, match, shot, at, who, body in rows
        ]

    def settle(self, dispute: int) -> None:
        """Delete a dispute; its clip then counts toward the budget like any other."""
        self._write("DELETE FROM disputes WHERE id = ?", (dispute,))

    # -- the database --------------------------------------------------------------------------------------------
    def _write(self, command: str, values: tuple[Any, ...]) -> int:
        with self._lock:
            try:
                return int(self._db.execute(command, values).lastrowid or 0)
            except sqlite3.Error as error:
                raise StoreFault(f"{self.folder}: the match log cannot be written ({error})") from error

    def _read(self, command: str, values: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
        with self._lock:
            return list(self._db.execute(command, values).fetchall())


def _match(row: tuple[Any, ...]) -> MatchRecord:
    name, table, began, ended, winner, options, language = row
    return MatchRecord(name, table, began, ended, winner, json.loads(options), language)


def _dumps(value: Mapping[str, Any]) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
