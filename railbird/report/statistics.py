"""Counts what players ask for from a ruled match: pots, misses, safeties, fouls, breaks, runs, innings, shot times."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from statistics import median
from typing import Any

Shot = Mapping[str, Any]


@dataclass(slots=True)
class PlayerStatistics:
    """One player's match in numbers; times in seconds, ``None`` where nothing was timed."""

    name: str
    shots: int = 0
    innings: int = 0
    pots: int = 0
    pot_shots: int = 0
    misses: int = 0
    safeties: int = 0
    breaks: int = 0
    break_balls: int = 0
    high_run: int = 0
    fouls: Counter[str] = field(default_factory=Counter)
    times: list[float] = field(default_factory=list)

    @property
    def fouls_in_all(self) -> int:
        return self.fouls.total()

    @property
    def shot_time(self) -> float | None:
        return median(self.times) if self.times else None

    @property
    def longest_time(self) -> float | None:
        return max(self.times, default=None)


@dataclass(frozen=True, slots=True)
class Break:
    """A break: who, how many balls, and where the cue ball came to rest (metres; ``None`` where it is gone)."""

    shot: int
    player: str
    made: tuple[int, ...]
    cue_ball: tuple[float, float] | None
    foul: str | None


def pocketed_legally(shot: Shot) -> tuple[int, ...]:
    """Object balls that this shot pocketed and that stay down: none on a foul."""
    ruling = shot.get("ruling") or {}
    if not ruling.get("legal"):
        return ()
    down = ruling.get("pocketed")
    if down is None:
        down = [event["ball"] for event in shot["events"] if event["kind"] == "pocket"]
    return tuple(ball for ball in down if ball != 0)


def is_break(shots: Sequence[Shot], i: int) -> bool:
    """Whether shot ``i`` is a break: as the ruling before it said, or as the shot itself is marked."""
    if "break" in shots[i]:
        return bool(shots[i]["break"])
    if i == 0:
        return False
    upcoming = (shots[i - 1].get("ruling") or {}).get("next") or {}
    return bool(upcoming.get("break"))


def breaks(match: Mapping[str, Any]) -> list[Break]:
    """Every break of the match in order."""
    found = []
    shots = match["shots"]
    for i, shot in enumerate(shots):
        if is_break(shots, i):
            at = (shot.get("end") or {}).get("0")
            ruling = shot.get("ruling") or {}
            down = tuple(b for b in ruling.get("pocketed") or () if b != 0)
            place = (float(at[0]), float(at[1])) if at else None
            found.append(Break(shot["number"], shot.get("shooter") or "", down, place, ruling.get("enforced")))
    return found


def statistics(match: Mapping[str, Any]) -> list[PlayerStatistics]:
    """Both players' numbers, in the order of ``players``."""
    by_name = {name: PlayerStatistics(name) for name in match["players"]}
    shots = match["shots"]
    at_table: str | None = None
    run = 0
    still_since: float | None = None
    for i, shot in enumerate(shots):
        player = by_name.get(shot.get("shooter") or "")
        ruling = shot.get("ruling") or {}
        if player is None:
            at_table, still_since = None, shot["end_s"]
            continue
        if at_table != player.name or (i and (shots[i - 1].get("ruling") or {}).get("rack_winner")):
            player.innings += 1
            run = 0
        at_table = player.name
        player.shots += 1
        if still_since is not None and shot["start_s"] >= still_since:
            player.times.append(shot["start_s"] - still_since)
        still_since = shot["end_s"]
        opening = is_break(shots, i)
        down = pocketed_legally(shot)
        if opening:
            player.breaks += 1
            player.break_balls += len(down)
        if down:
            player.pots += len(down)
            player.pot_shots += 1
            run += len(down)
            player.high_run = max(player.high_run, run)
        called = shot.get("call")
        if called == "safety":
            player.safeties += 1
        elif ruling.get("legal") and not down and not opening and called != "push-out":
            player.misses += 1
        if ruling.get("enforced"):
            player.fouls[ruling["enforced"]] += 1
        if not down:
            run = 0
    return list(by_name.values())


@dataclass(frozen=True, slots=True)
class Score:
    """What stands at the end: the count, whether it is points, and who has won."""

    of: tuple[int, int]
    points: bool
    winner: str | None


def final_score(match: Mapping[str, Any]) -> Score:
    """The last ruling's score; nil all where nothing was ruled."""
    players = match["players"]
    rulings = [shot["ruling"] for shot in match["shots"] if shot.get("ruling")]
    score = (rulings[-1].get("score") or {}) if rulings else {}
    winner = rulings[-1].get("match_winner") if rulings else None
    return Score((int(score.get(players[0], 0)), int(score.get(players[1], 0))), match["game"] == "14.1", winner)
