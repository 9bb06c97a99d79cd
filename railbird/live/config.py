"""What a club sets once: the table, the camera, the page, sound, clips; from the command line and club.toml."""

from __future__ import annotations

import os
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any

from calibration.errors import InputError
from railbird.games import GAMES, RULE_SETS
from railbird.validation import LANGUAGES

CORRECTIONS = ("either", "referee")


@dataclass(frozen=True, slots=True)
class MatchSection:
    """What a new match starts from; the set-up page changes it.

    Parameters
    ----------
    players : two different names.
    race_to : racks to win (14.1: ``points_to`` points instead).
    shot_clock_s : seconds a shot may take, ``None`` where no clock is used.
    """

    game: str = "8-ball"
    rules: str = "wpa-2025"
    players: tuple[str, str] = ("A", "B")
    breaker: str | None = None
    race_to: int = 5
    points_to: int = 100
    break_order: str = "alternate"
    shot_clock_s: float | None = None


@dataclass(frozen=True, slots=True)
class CameraSection:
    """The camera over the table: number, device, address or file; the table's length where it is known, metres."""

    source: str | None = None
    length_m: float | None = None
    table_file: Path | None = None
    weights: Path | None = None
    loop: bool = False


@dataclass(frozen=True, slots=True)
class PageSection:
    """Where the page is served. ``names`` are further host names that lead to it (``table1.club.lan``)."""

    host: str = "127.0.0.1"
    port: int = 8765
    names: tuple[str, ...] = ()
    corrections: str = "either"


@dataclass(frozen=True, slots=True)
class SoundSection:
    """Speech on this machine. ``volume`` 0 … 100; ``fouls_only`` keeps quiet about legal shots."""

    speak: bool = False
    volume: int = 80
    fouls_only: bool = False


@dataclass(frozen=True, slots=True)
class KeepSection:
    """What is kept and where. ``clips_mb`` is the budget of clips that are not in dispute, megabytes."""

    folder: Path | None = None
    clips: bool = True
    clips_mb: int = 2000
    clip_width: int = 1280


@dataclass(frozen=True, slots=True)
class Club:
    """All settings of one table."""

    table: str = "Table 1"
    language: str = "en"
    match: MatchSection = field(default_factory=MatchSection)
    camera: CameraSection = field(default_factory=CameraSection)
    page: PageSection = field(default_factory=PageSection)
    sound: SoundSection = field(default_factory=SoundSection)
    keep: KeepSection = field(default_factory=KeepSection)

    @property
    def folder(self) -> Path:
        """Where matches, clips and codes are kept."""
        if self.keep.folder is not None:
            return self.keep.folder
        base = os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share"
        return Path(base) / "railbird"

    @property
    def on_network(self) -> bool:
        """Whether others than this machine can reach the page, so that a join code is needed."""
        return self.page.host not in ("127.0.0.1", "localhost", "::1")


_SECTIONS = {
    "match": MatchSection,
    "camera": CameraSection,
    "page": PageSection,
    "sound": SoundSection,
    "keep": KeepSection,
}
_PATHS = {"folder", "table_file", "weights"}
_RANGES: dict[str, tuple[float, float]] = {
    "race_to": (1, 99),
    "points_to": (1, 999),
    "shot_clock_s": (10, 600),
    "length_m": (1.0, 4.0),
    "port": (0, 65535),
    "volume": (0, 100),
    "clips_mb": (0, 1_000_000),
    "clip_width": (320, 3840),
}
_WHOLE = {"race_to", "points_to", "port", "volume", "clips_mb", "clip_width"}
_FLAGS = {"loop", "speak", "fouls_only", "clips"}
_CHOICES = {
    "game": GAMES,
    "rules": RULE_SETS,
    "break_order": ("alternate", "winner", "loser"),
    "corrections": CORRECTIONS,
    "language": LANGUAGES,
}
_OPTIONAL = {"breaker", "shot_clock_s", "source", "length_m", "table_file", "weights", "folder"}


def read_club(path: Path) -> Club:
    """Read ``club.toml``.

    Raises
    ------
    InputError
        Where the file cannot be read or a setting is unknown or out of range; the message names file and setting.
    """
    try:
        document = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise InputError(f"--config {path}: cannot be read ({error.strerror}); see docs/club.toml") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise InputError(f"--config {path}: not a TOML file ({error}); see docs/club.toml") from None
    return club_from(document, str(path))


def club_from(document: Mapping[str, Any], name: str = "club.toml") -> Club:
    """Settings from a document of plain values, every one of them checked."""
    plain: dict[str, Any] = {}
    for key, value in document.items():
        if key in _SECTIONS:
            if not isinstance(value, Mapping):
                raise InputError(f"{name}: {key} is {value!r}: a section, [{key}]")
            kind = _SECTIONS[key]
            known = [f.name for f in fields(kind)]
            unknown = sorted(set(value) - set(known))
            if unknown:
                raise InputError(f"{name}: {key}.{unknown[0]} is not known: one of {', '.join(known)}")
            plain[key] = kind(**{k: _checked(k, v, f"{name}: {key}.{k}") for k, v in value.items()})
        elif key in ("table", "language"):
            plain[key] = _checked(key, value, f"{name}: {key}")
        else:
            raise InputError(f"{name}: {key} is not known: table, language, {', '.join(_SECTIONS)}")
    return Club(**plain)


def _checked(key: str, value: Any, where: str) -> Any:
    if value is None and key in _OPTIONAL:
        return None
    if key in _RANGES:
        low, high = _RANGES[key]
        number = isinstance(value, (int, float)) and not isinstance(value, bool)
        if not number or not low <= value <= high or (key in _WHOLE and value != int(value)):
            raise InputError(f"{where} is {value!r}: a {'whole ' if key in _WHOLE else ''}number, {low} to {high}")
        return int(value) if key in _WHOLE else float(value)
    if key in _FLAGS:
        if not isinstance(value, bool):
            raise InputError(f"{where} is {value!r}: true or false")
        return value
    if key == "players":
        if not isinstance(value, (list, tuple)) or len(value) != 2:
            raise InputError(f'{where} is {value!r}: two names, as ["Ann", "Bo"]')
        return clean_names(value[0], value[1], where)
    if key == "names":
        if not isinstance(value, (list, tuple)) or not all(isinstance(v, str) for v in value):
            raise InputError(f'{where} is {value!r}: host names, as ["table1.club.lan"]')
        return tuple(v.lower() for v in value)
    if not isinstance(value, (str, int) if key == "source" else str) or isinstance(value, bool) or value == "":
        raise InputError(f"{where} is {value!r}: a text")
    if key in _CHOICES and value not in _CHOICES[key]:
        raise InputError(f"{where} is {value!r}: one of {', '.join(_CHOICES[key])}")
    return Path(str(value)).expanduser() if key in _PATHS else str(value)


NAME_LENGTH = 40


def clean_name(name: Any, where: str = "name") -> str:
    """A player's name without control characters, at most 40 characters.

    Names come from anybody who holds a phone; they are text everywhere and never markup, so nothing else is removed.
    """
    if not isinstance(name, str):
        raise InputError(f"{where} is {name!r}: a name, as text")
    kept = " ".join("".join(c if c.isprintable() else " " for c in name).split())
    if not kept:
        raise InputError(f"{where} is empty: give a name")
    if len(kept) > NAME_LENGTH:
        raise InputError(f"{where} has {len(kept)} characters: {NAME_LENGTH} at most")
    return kept


def clean_names(one: Any, other: Any, where: str = "players") -> tuple[str, str]:
    """Two clean, different names."""
    names = clean_name(one, f"{where}[0]"), clean_name(other, f"{where}[1]")
    if names[0] == names[1]:
        raise InputError(f"{where} are both {names[0]!r}: two different names")
    return names


def with_options(club: Club, section: str, **given: Any) -> Club:
    """The club with what the command line gave; ``None`` leaves the setting as it was."""
    changes = {k: _checked(k, v, f"--{k}") for k, v in given.items() if v is not None}
    if not changes:
        return club
    if section == "":
        return replace(club, **changes)
    return replace(club, **{section: replace(getattr(club, section), **changes)})
