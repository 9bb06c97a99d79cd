"""``railbird adjudicate``: a match as JSON lines in, rulings as JSON lines out; standard library only."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterable, Iterator, Sequence
from typing import TextIO

from calibration.errors import InputError
from referee.match import Match

USAGE = "usage: railbird adjudicate SCRIPT   (a file of JSON lines; - reads stdin)"
HELP = f"""{USAGE}

Rules a match written down as JSON lines, one object a line, the first one {{"match": {{"game": …, "players": […]}}}}.
Prints one {{"ruling": …}} a line for each line that plays something. Exit status 2, with the line's number and what is
wrong on stderr, where the script cannot be."""


def adjudicate(lines: Iterable[str]) -> Iterator[str]:
    """Rulings of a script, as JSON lines, one by one.

    Raises
    ------
    InputError
        Naming the line, what is wrong with it and what is allowed.
    """
    match: Match | None = None
    for number, text in enumerate(lines, 1):
        if number == 1:
            text = text.removeprefix("\ufeff")  # some editors open a file with it
        if not text.strip():
            continue
        try:
            line = json.loads(text, parse_constant=_refuse)
            if match is None:
                match = Match(_opening(line))
                continue
            rulings = match.apply(line)
        except InputError as error:
            raise InputError(f"line {number}: {error}") from None
        except json.JSONDecodeError as error:
            raise InputError(
                f"line {number}: no JSON ({error.msg} at column {error.colno}); give one object a line"
            ) from None
        except ValueError:  # whole numbers of thousands of digits
            raise InputError(f"line {number}: a number has too many digits; give one that can be") from None
        except RecursionError:
            raise InputError(f"line {number}: nested too deep; give one object a line") from None
        for ruling in rulings:
            yield json.dumps({"ruling": ruling.to_json()}, ensure_ascii=False)
    if match is None:
        raise InputError('line 1: the script is empty; it opens with {"match": {"game": …, "players": […]}}')


def _opening(line: object) -> dict[str, object]:
    if not isinstance(line, dict) or set(line) != {"match"}:
        raise InputError('the first line opens the match: {"match": {"game": …, "players": […]}}')
    return line


def _refuse(name: str) -> None:
    raise InputError(f"{name} is no number of JSON; give a finite one")


def main(arguments: Sequence[str], out: TextIO | None = None) -> int:
    """Run the command; returns its exit status."""
    out = out or sys.stdout
    if "-h" in arguments or "--help" in arguments:
        print(HELP, file=out)
        return 0
    if len(arguments) != 1 or (arguments[0].startswith("-") and arguments[0] != "-"):
        print(f"railbird adjudicate: {USAGE}", file=sys.stderr)
        return 2
    try:
        if arguments[0] == "-":
            _print(adjudicate(sys.stdin), out)
        else:
            with open(arguments[0], encoding="utf-8") as script:
                _print(adjudicate(script), out)
    except InputError as error:
        print(f"railbird adjudicate: {error}", file=sys.stderr)
        return 2
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # the reader has seen enough
        return 0
    except OSError as error:
        print(
            f"railbird adjudicate: {arguments[0]}: {error.strerror}; give a file of JSON lines, or -", file=sys.stderr
        )
        return 2
    except UnicodeDecodeError as error:
        print(f"railbird adjudicate: {arguments[0]}: not UTF-8 ({error.reason} at byte {error.start})", file=sys.stderr)
        return 2
    return 0


def _print(lines: Iterable[str], out: TextIO) -> None:
    for line in lines:
        print(line, file=out, flush=True)
