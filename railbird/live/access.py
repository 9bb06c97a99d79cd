"""Who may do what: join codes by role, signed cookies, host and origin checks, and limits on how often.

On this machine alone the page is open. On the network everybody needs the code of a role; a code is 58 random bits, is
kept in the data folder across restarts, and wrong ones are counted and slowed down.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import ipaddress
import json
import os
import secrets
import socket
import threading
import time
from collections import OrderedDict
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from urllib.parse import urlsplit

from calibration.errors import InputError

COOKIE = "railbird"
COOKIE_S = 14 * 3600  # an evening and the night after it
_ALPHABET = "23456789ABCDEFGHJKMNPQRSTVWXYZ"  # no 0/O, 1/I/L, U: read aloud across a noisy room


class Role(StrEnum):
    """What somebody is here for; each may do what the ones after it may."""

    REFEREE = "referee"
    PLAYER = "player"
    VIEWER = "viewer"

    @property
    def rank(self) -> int:
        return {"referee": 2, "player": 1, "viewer": 0}[self.value]

    def covers(self, other: Role) -> bool:
        return self.rank >= other.rank


@dataclass(frozen=True, slots=True)
class Visitor:
    """Somebody at the page. ``seat``: 0 or 1 where a player said which one he is, ``None`` for both or neither."""

    role: Role
    seat: int | None = None

    @property
    def name(self) -> str:
        """For the log."""
        return self.role.value if self.seat is None else f"{self.role.value}:{self.seat}"


class Access:
    """Codes and cookies of one installation.

    Parameters
    ----------
    folder : where ``codes.json`` is kept (readable by its owner alone).
    locked : whether a code is needed at all.
    names : host names that may lead here, beside this machine's own and any address in figures.
    """

    def __init__(self, folder: Path, *, locked: bool, names: Iterable[str] = ()) -> None:
        self.locked = locked
        self._file = folder / "codes.json"
        own = socket.gethostname().lower()
        self._names = {"localhost", own, f"{own}.local", *map(str.lower, names)}
        self._load()

    def _load(self) -> None:
        try:
            document = json.loads(self._file.read_text(encoding="utf-8"))
            self.codes = {role: str(document["codes"][role.value]) for role in Role}
            self._key = bytes.fromhex(document["key"])
        except (OSError, ValueError, KeyError, TypeError):
            self.renew()

    def renew(self) -> None:
        """New codes and a new key: everybody has to join again."""
        self.codes = {role: _code() for role in Role}
        self._key = secrets.token_bytes(32)
        text = json.dumps({"codes": {r.value: c for r, c in self.codes.items()}, "key": self._key.hex()})
        try:
            self._file.parent.mkdir(parents=True, exist_ok=True)
            part = self._file.with_suffix(".part")
            handle = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
            with os.fdopen(handle, "w", encoding="utf-8") as file:
                file.write(text)
            os.replace(part, self._file)
        except OSError as error:
            raise InputError(f"{self._file}: cannot be written ({error.strerror}); give another data folder") from None

    # -- codes and cookies ---------------------------------------------------------------------------------------
    def role_of(self, code: str) -> Role | None:
        """The role a code opens; every code is compared in constant time."""
        plain = "".join(c for c in code.upper() if c.isalnum())[:64].encode()
        found = None
        for role, right in self.codes.items():
            if hmac.compare_digest(plain, right.replace("-", "").encode()):
                found = role
        return found

    def cookie(self, visitor: Visitor, now: float | None = None) -> str:
        """A signed cookie; nothing is kept here, so phones stay joined over a restart."""
        expires = int((time.time() if now is None else now) + COOKIE_S)
        text = f"{visitor.role.value}.{'-' if visitor.seat is None else visitor.seat}.{expires}.{secrets.token_hex(4)}"
        return f"{text}.{self._sign(text)}"

    def visitor(self, cookie: str | None, now: float | None = None) -> Visitor | None:
        """Who a cookie belongs to; ``None`` where it is missing, forged or too old."""
        if not self.locked and not cookie:
            return Visitor(Role.REFEREE)
        text, _, sign = (cookie or "")[:200].rpartition(".")
        if not text or not hmac.compare_digest(sign.encode(), self._sign(text).encode()):
            return None if self.locked else Visitor(Role.REFEREE)
        role, seat, expires, _ = text.split(".")
        if int(expires) < (time.time() if now is None else now):
            return None if self.locked else Visitor(Role.REFEREE)
        return Visitor(Role(role), None if seat == "-" else int(seat))

    def _sign(self, text: str) -> str:
        digest = hmac.new(self._key, text.encode(), hashlib.sha256).digest()
        return base64.urlsafe_b64encode(digest[:18]).decode()

    # -- where a request comes from ------------------------------------------------------------------------------
    def known_host(self, host: str | None) -> bool:
        """Whether a Host header may lead here. A name somebody else controls may not: it could be pointed at this
        machine to read it through a visitor's browser. An address in figures cannot be pointed elsewhere.
        """
        if not host or len(host) > 255:
            return False
        try:
            name = (urlsplit(f"//{host}").hostname or "").lower()
        except ValueError:
            return False
        if name in self._names:
            return True
        try:
            address = ipaddress.ip_address(name)
        except ValueError:
            return False
        return self.locked or address.is_loopback

    @staticmethod
    def same_origin(origin: str | None, host: str | None) -> bool:
        """Whether a page of ours sent the request; programs send no origin and are told apart by their code."""
        if origin is None:
            return True
        try:
            parts = urlsplit(origin)
        except ValueError:
            return False
        return parts.scheme in ("http", "https") and bool(host) and parts.netloc.lower() == (host or "").lower()


def _code() -> str:
    letters = "".join(secrets.choice(_ALPHABET) for _ in range(12))
    return f"{letters[:4]}-{letters[4:8]}-{letters[8:]}"


class Limit:
    """So many at once, then so many a second, for each caller; forgets the caller it has not heard of longest.

    Parameters
    ----------
    burst : how many may come at once.
    per_s : how many a second after that.
    callers : how many callers are remembered.
    """

    def __init__(self, burst: float, per_s: float, callers: int = 4096) -> None:
        self.burst, self.per_s, self._callers = burst, per_s, callers
        self._left: OrderedDict[str, tuple[float, float]] = OrderedDict()
        self._lock = threading.Lock()

    def allow(self, caller: str, now: float | None = None, cost: float = 1.0) -> bool:
        """Whether this one may come in; counts it if so. ``cost`` 0 asks whether one might, without counting."""
        now = time.monotonic() if now is None else now
        with self._lock:
            left, at = self._left.pop(caller, (self.burst, now))
            left = min(self.burst, left + (now - at) * self.per_s)
            fine = left >= (cost or 1.0)
            self._left[caller] = (left - cost if fine else left, now)
            while len(self._left) > self._callers:
                self._left.popitem(last=False)
            return fine
