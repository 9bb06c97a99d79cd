"""Codes, cookies, hosts and origins; limits on how often; the shot clock; settings."""

from __future__ import annotations

from pathlib import Path

import pytest

from calibration.errors import InputError
from railbird.live.access import COOKIE_S, Access, Limit, Role, Visitor
from railbird.live.clock import ShotClock
from railbird.live.config import clean_name, club_from, read_club, with_options


def test_codes_open_their_role_and_survive_a_restart(tmp_path: Path) -> None:
    access = Access(tmp_path, locked=True)
    for role in Role:
        code = access.codes[role]
        assert access.role_of(code) is role
        assert access.role_of(code.lower().replace("-", " ")) is role
    again = Access(tmp_path, locked=True)
    assert again.codes == access.codes
    assert again.visitor(access.cookie(Visitor(Role.PLAYER, 1))) == Visitor(Role.PLAYER, 1)
    assert (tmp_path / "codes.json").stat().st_mode & 0o077 == 0
    again.renew()
    assert again.codes != access.codes
    assert again.visitor(access.cookie(Visitor(Role.PLAYER, 1))) is None


@pytest.mark.parametrize("code", ["", "AAAA-BBBB-CCCC", "0", "'; --", "\u0660" * 12, "A" * 10_000])
def test_wrong_codes_open_nothing(tmp_path: Path, code: str) -> None:
    assert Access(tmp_path, locked=True).role_of(code) is None


def test_cookies_are_not_to_be_forged_and_run_out(tmp_path: Path) -> None:
    access = Access(tmp_path, locked=True)
    good = access.cookie(Visitor(Role.VIEWER), now=1000.0)
    assert access.visitor(good, now=1001.0) == Visitor(Role.VIEWER)
    assert access.visitor(good, now=1001.0 + COOKIE_S) is None
    for bad in (good.replace("viewer", "referee"), good[:-1], "referee.-.99999999999.aa.xx", "", None, "." * 50, "é.é"):
        assert access.visitor(bad, now=1001.0) is None


def test_open_on_this_machine_alone(tmp_path: Path) -> None:
    assert Access(tmp_path, locked=False).visitor(None) == Visitor(Role.REFEREE)
    assert Access(tmp_path, locked=True).visitor(None) is None


@pytest.mark.parametrize(
    ("host", "local", "network"),
    [
        ("localhost:8765", True, True),
        ("127.0.0.1:8765", True, True),
        ("[::1]:8765", True, True),
        ("192.168.1.20:8765", False, True),
        ("evil.example", False, False),
        ("table1.club.lan:8765", True, True),
        ("", False, False),
        ("[::1", False, False),
    ],
)
def test_hosts(tmp_path: Path, host: str, local: bool, network: bool) -> None:
    """A name that somebody else controls never leads here, so that it cannot be pointed here behind our back."""
    names = ["table1.club.lan"]
    assert Access(tmp_path, locked=False, names=names).known_host(host) is local
    assert Access(tmp_path, locked=True, names=names).known_host(host) is network


@pytest.mark.parametrize(
    ("origin", "fine"),
    [
        (None, True),
        ("http://t:1", True),
        ("http://t:2", False),
        ("http://t.evil:1", False),
        ("null", False),
        ("file://", False),
        ("http://[", False),
    ],
)
def test_origins(origin: str | None, fine: bool) -> None:
    assert Access.same_origin(origin, "t:1") is fine


def test_a_limit_lets_a_burst_through_then_a_rate_and_forgets_old_callers() -> None:
    limit = Limit(burst=3, per_s=1.0, callers=2)
    assert [limit.allow("a", now=0.0) for _ in range(4)] == [True, True, True, False]
    assert limit.allow("b", now=0.0)
    assert not limit.allow("a", now=0.5)
    assert limit.allow("a", now=1.6)
    for caller in "cdefg":
        limit.allow(caller, now=2.0)
    assert len(limit._left) == 2


def test_the_shot_clock_calls_ten_seconds_and_time_once() -> None:
    clock = ShotClock(35.0)
    clock.start(100.0)
    assert clock.due(120.0) is None
    assert clock.due(125.1) == "call"
    assert clock.due(126.0) is None
    clock.extend()
    assert clock.left(126.0) == pytest.approx(34.0)
    assert clock.due(150.2) == "call"
    clock.hold(151.0)
    assert clock.left(500.0) == pytest.approx(9.0)
    clock.go_on(500.0)
    assert clock.due(509.1) == "over"
    assert clock.due(510.0) is None
    assert clock.stop(510.0) == pytest.approx(61.0)
    assert clock.left(511.0) is None


def test_no_clock_no_time() -> None:
    clock = ShotClock(None)
    clock.start(0.0)
    assert clock.view(5.0) is None
    assert clock.stop(9.0) is None


def test_settings_of_the_documentation_can_be_read() -> None:
    club = read_club(Path(__file__).parents[3] / "docs" / "club.toml")
    assert club.on_network
    assert club.match.game == "8-ball"
    assert club.camera.source


@pytest.mark.parametrize(
    ("document", "named"),
    [
        ({"tabel": "x"}, "tabel"),
        ({"match": {"gmae": "8-ball"}}, "match.gmae"),
        ({"match": {"game": "snooker"}}, "snooker"),
        ({"match": {"players": ["Ann", "Ann"]}}, "Ann"),
        ({"page": {"port": 70000}}, "page.port"),
        ({"page": {"port": 80.5}}, "page.port"),
        ({"sound": {"speak": "yes"}}, "sound.speak"),
        ({"keep": {"clips_mb": -1}}, "keep.clips_mb"),
        ({"match": 3}, "match"),
        ({"language": "fr"}, "language"),
    ],
)
def test_wrong_settings_are_named(document: dict[str, object], named: str) -> None:
    with pytest.raises(InputError, match=named):
        club_from(document)


def test_the_command_line_goes_before_the_file() -> None:
    club = club_from({"match": {"game": "9-ball", "race_to": 7}})
    assert with_options(club, "match", game="10-ball", race_to=None).match.game == "10-ball"
    assert with_options(club, "match", game=None, race_to=None).match.race_to == 7


@pytest.mark.parametrize(
    ("name", "kept"),
    [(" Ann \n", "Ann"), ("A\u202eB\x00", "A B"), ("<b>Ann</b>", "<b>Ann</b>"), ("Ővári Éva", "Ővári Éva")],
)
def test_names_keep_what_can_be_read(name: str, kept: str) -> None:
    assert clean_name(name) == kept


@pytest.mark.parametrize("name", ["", "\x00\x01", "x" * 41, 5, None])
def test_names_that_are_none(name: object) -> None:
    with pytest.raises(InputError):
        clean_name(name)
