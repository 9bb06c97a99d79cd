"""How fast the referee rules: ``python -m referee.bench`` prints certain rulings a second and a doubtful break's time."""

from __future__ import annotations

import sys
import time
from typing import Any

from referee.doubt import rule
from referee.match import Match
from referee.script_shot import parse_shot

_STRIKE = {"t_s": 0.0, "kind": "strike", "ball": 0}
_SHOT: dict[str, Any] = {
    "call": {"ball": 3, "pocket": "foot-left"},
    "events": [
        _STRIKE,
        {"t_s": 0.3, "kind": "contact", "balls": [0, 3]},
        {"t_s": 0.6, "kind": "rail", "ball": 0, "rail": "left"},
        {"t_s": 0.9, "kind": "contact", "balls": [0, 12]},
        {"t_s": 1.2, "kind": "pocket", "ball": 3, "pocket": "foot-left"},
    ],
}
_BREAK: dict[str, Any] = {
    "events": [
        _STRIKE,
        {"t_s": 0.3000, "kind": "contact", "balls": [0, 1], "sigma_s": 0.001, "p": 0.98},
        {"t_s": 0.3010, "kind": "contact", "balls": [0, 2], "sigma_s": 0.001, "p": 0.7},
        *(
            {"t_s": 0.8 + 0.1 * n, "kind": "rail", "ball": n, "rail": "left", "sigma_s": 0.002, "p": 0.7}
            for n in range(1, 7)
        ),
        *({"t_s": 1.6 + 0.1 * n, "kind": "pocket", "ball": n, "pocket": "foot-left", "p": 0.6} for n in (3, 7, 8)),
        {"t_s": 3.0, "kind": "pocket", "ball": 0, "pocket": "side-left", "p": 0.3},
    ],
}


def main() -> None:
    """Measure in processor time of one core."""
    match = Match({"game": "8-ball", "players": ["A", "B"]})
    match.apply({"setup": {"break": False, "on_table": [0, 3, 5, 8, 12], "groups": {"A": "solids", "B": "stripes"}}})
    shot, count = parse_shot(_SHOT, match.options), 20_000
    start = time.process_time()
    for _ in range(count):
        rule(match.state, shot, match.options)
    rate = count / (time.process_time() - start)
    fresh = Match({"game": "9-ball", "rules": "wpa-2008", "players": ["A", "B"]})
    doubtful, times = parse_shot(_BREAK, fresh.options), []
    for _ in range(30):
        start = time.process_time()
        rule(fresh.state, doubtful, fresh.options)
        times.append(time.process_time() - start)
    doubts = sum(event.get("p", 1.0) < 1.0 for event in _BREAK["events"])
    sys.stdout.write(f"certain rulings: {rate:,.0f} a second\n")
    sys.stdout.write(f"break with {doubts} uncertain events: {sorted(times)[len(times) // 2] * 1000:.1f} ms\n")


if __name__ == "__main__":
    main()
