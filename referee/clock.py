"""The shot clock (6.15; Regulation 18): when to call, when time is over."""

from __future__ import annotations

from dataclasses import dataclass

from referee.state import Options, State


@dataclass(frozen=True, slots=True)
class ClockReading:
    """How a shot stands on the clock: seconds left, whether ten seconds are to be called, whether time is over."""

    left_s: float
    call: bool
    over: bool
    extension_left: bool


def read_clock(elapsed_s: float, extended: bool, state: State, options: Options) -> ClockReading | None:
    """The clock of the shot that is being played; ``None`` where none is in use.

    It starts when the last ball has stopped, spin included, and stops at the tip's contact.

    Parameters
    ----------
    elapsed_s : seconds since the last ball stopped.
    extended : whether the shooter has taken the extension for this shot.
    """
    if options.shot_clock_s is None:
        return None
    limit = options.shot_clock_s + (options.rules.extension_s if extended else 0.0)
    left = limit - elapsed_s
    unused = not extended and not state.extensions[state.shooter]
    return ClockReading(max(0.0, left), 0.0 <= left <= options.rules.call_left_s, left < 0.0, unused)
