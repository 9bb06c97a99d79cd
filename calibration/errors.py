"""The one root of everything railbird raises on purpose."""

from __future__ import annotations


class RailbirdError(Exception):
    """Root of all errors raised on purpose."""


class InputError(RailbirdError, ValueError):
    """The user's input is at fault; the message names the thing, the value and the way out (exit status 2)."""


class MissingExtra(InputError):
    """A command needs packages of an optional extra; the message is the command that installs them."""

    def __init__(self, what: str, extra: str) -> None:
        super().__init__(f"{what} needs the extra '{extra}': pip install 'railbird[{extra}]'")
