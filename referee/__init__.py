"""What the rules say: events of a shot in, a ruling out. Standard library only.

A match is a fold over the lines of a script, the same JSON objects that ``railbird adjudicate`` reads::

    from referee import Match

    match = Match({"game": "9-ball", "rules": "wpa-2025", "players": ["Ann", "Bo"], "race_to": 5})
    rulings = match.apply({"shot": {"events": [{"t_s": 0.0, "kind": "strike", "ball": 0}, …]}})
    rulings[0].to_json()                 # the "ruling" object, announcements in three languages included
    match.state                          # frozen: shooter, balls on the table, counts, score, choice …
    match.choice                         # ("Bo", (Option.ACCEPT, …)) while somebody has to choose
    match.apply({"choose": "accept"})
    match.overrule(1, {"observed": ["double-hit"]})   # every ruling from shot 1 on, derived again
    match.what_if(1, {"events": […]})    # the same, and the match stays as it is
    match.undo()                         # takes back the last line, an overrule included
    Match.replayed(match.log)            # the log is the match
    explain(match, 1)                    # evidence, clauses, and what would have changed the ruling

Doubt: events may carry ``p`` and ``sigma_s``, and ``balls_alt`` / ``ball_alt`` (``[{"balls": [0, 5], "p": 0.2}]``); a shot
may carry ``suspected`` (``{"double-hit": 0.6}``), ``partial`` (``"start"``, ``"end"``, ``"both"``), ``"call": "unknown"``; a
setup ``"groups": "unknown"``. Bad input raises :class:`calibration.errors.InputError` and changes nothing.
"""

from __future__ import annotations

import importlib
from typing import Any

_HOMES = {
    "Match": "referee.match",
    "Ruling": "referee.ruling",
    "State": "referee.state",
    "Options": "referee.state",
    "explain": "referee.explain",
    "spoken": "referee.announce",
    "written": "referee.announce",
    "read_clock": "referee.clock",
    "slots": "referee.racks",
    "RULE_SETS": "referee.rulesets",
}
__all__ = [*_HOMES]


def __getattr__(name: str) -> Any:
    """Hand on the public names without loading what is not asked for."""
    if name in _HOMES:
        return getattr(importlib.import_module(_HOMES[name]), name)
    raise AttributeError(f"module 'referee' has no attribute {name!r}")
