"""An evening that plays itself: three racks of 8-ball by two simulated players, with what happens to a club's camera.

The referee is asked after every shot who plays next, from the simulator's own facts: the truth that the filmed evening is held against.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from calibration.table import Table
from railbird.result import event_to_json
from referee.match import Match
from referee.terms import CueBall, Group
from sample_videos import player
from sample_videos.bodies import random_dress
from sample_videos.choreography import Placing, act_of
from sample_videos.interludes import Brushing, Leaning, Racking, brush, rack
from sample_videos.layouts import random_rotation
from sample_videos.player import Choice, Point, first_met, pocketed, reaches_rail
from sample_videos.scene import Disturbance, Scene, default_places, from_dict
from sample_videos.simulate import Played, Simulator, Stroke
from tracking.events import RailHit

SEED = 42
PLAYERS = ("Ann", "Bo")
FAVOURED = (0, 1, 0)  # who is to win each rack: the other one misses
OPENING: dict[str, Any] = {
    "game": "8-ball", "rules": "wpa-2025", "players": list(PLAYERS), "breaker": "Ann", "race_to": 2, "break_order": "alternate",
}  # fmt: skip
COMES_S = 3.0  # from the moment that the player sets off until the stroke
LEAVES_S = 1.9
STILL_S = 0.5  # of film of a table at rest, shown again until the players go on
TAIL_S = 0.4
BEGIN_S = 0.5
SOLIDS, STRIPES = frozenset(range(1, 8)), frozenset(range(9, 16))
#: Rack and shot after which something happens.
INTERLUDES = {(0, 2): "leaning", (0, 5): "light", (1, 2): "bump", (1, 4): "kill", (2, 2): "lost", (2, 4): "sleeve"}


@dataclass(frozen=True, slots=True)
class Part:
    """A stretch of the evening, ``begin_s`` to ``end_s`` of the scene's clock.

    Parameters
    ----------
    kind : ``still`` (nothing moves, may be shown any number of times), ``shot``, ``rack``, or an interlude's name.
    shot : number of the shot in the match, for ``shot`` and the ``still`` before it.
    """

    kind: str
    begin_s: float
    end_s: float
    rack: int
    shot: int = 0


@dataclass(frozen=True, slots=True)
class Told:
    """A shot as it was: what was called before it, its facts, and how things stood after it."""

    number: int
    rack: int
    shooter: str
    call: Any
    foul: str | None
    down: dict[int, str]
    score: tuple[int, int]
    shooter_next: str
    moved: tuple[int, ...] = ()


@dataclass
class Evening:
    """The evening as it was played: scene and simulator for the painter, parts in order, and the truth."""

    scene: Scene
    simulator: Simulator
    acts: list[Any] = field(default_factory=list)
    parts: list[Part] = field(default_factory=list)
    told: list[Told] = field(default_factory=list)
    match: Match = field(default_factory=lambda: Match({"match": OPENING}))


class Host:
    """Plays the evening."""

    def __init__(self, seed: int = SEED, size: tuple[int, int] = (960, 540), fps: float = 30.0) -> None:
        self.rng = np.random.default_rng(seed)
        scene = from_dict(
            {
                "game": "8-ball", "seed": seed, "fps": fps, "size": list(size), "players": list(PLAYERS), "crf": 20,
                "camera": {"kind": "overhead", "height": 3.2, "fill": 0.93},
                "looks": {
                    "cloth": {"colour": "tournament-blue", "grain": 0.03, "wear": 0.15},
                    "room": {"floor": "carpet", "floor_colour": [70, 62, 58], "ambient": 0.4, "floor_light": 0.5},
                    "film": {"exposure": 1.0, "noise": 0.006, "blur": 0.4},
                },
                "stroke": [{"speed": 1.0, "direction": 90.0}],
            },
            "evening",
        )  # fmt: skip
        self.table: Table = scene.table
        turns = {ball: random_rotation(self.rng) for ball in range(16)}
        places = default_places("8-ball", self.table, (0.5, 0.45), self.rng)
        self.evening = Evening(scene, Simulator(self.table, places, turns))
        self.dresses = [random_dress(np.random.default_rng(seed + k)) for k in (1, 2)]
        self.now = 0.0
        self.disturbances: list[Disturbance] = []
        self.moved: tuple[int, ...] = ()

    # -- the evening -----------------------------------------------------------------------------------------------
    def play(self) -> Evening:
        """Three racks, or as many as it takes."""
        evening = self.evening
        for number in range(3):
            if number:
                self._rack(number)
            self._play_rack(number)
            assert evening.match.state.score[0] + evening.match.state.score[1] == number + 1
        self._part("still", STILL_S, 2, 0)
        evening.scene = replace(evening.scene, disturbances=tuple(self.disturbances))
        return evening

    def _play_rack(self, number: int) -> None:
        match = self.evening.match
        racks = sum(match.state.score)
        played = 0
        while sum(match.state.score) == racks:
            self._shot(number, played)
            played += 1
            if played > 40:
                raise RuntimeError("this rack does not end: take another seed")
            if (number, played) in INTERLUDES and sum(match.state.score) == racks:
                self._interlude(INTERLUDES[number, played], number)

    def _part(self, kind: str, lasts_s: float, number: int, shot: int) -> Part:
        part = Part(kind, self.now, self.now + lasts_s, number, shot)
        self.now = part.end_s
        self.evening.parts.append(part)
        return part

    # -- a shot ----------------------------------------------------------------------------------------------------
    def _shot(self, number: int, played: int) -> None:
        evening, state = self.evening, self.evening.match.state
        shot = len(evening.told) + 1
        self._part("still", STILL_S, number, shot)
        begin_s = self.now
        places = evening.simulator.on_table(begin_s)
        fresh = None
        if state.is_break:
            fresh = (0.45 + 0.1 * number, 0.42)
        elif state.cue_ball in (CueBall.IN_HAND, CueBall.KITCHEN) or 0 not in places:
            fresh = self._place_cue_ball(places, kitchen=state.cue_ball is CueBall.KITCHEN)
        at = begin_s
        if fresh is not None and not (state.is_break and number == 0):
            at = begin_s + 1.2
            evening.simulator.place(0, fresh[0], fresh[1], at)
            evening.acts.append(Placing(self.table, at, fresh, self.dresses[state.shooter], shot))
            at += 0.4
            places = evening.simulator.on_table(at)
        choice, call = self._choose(places, number, played)
        strike_s = at + COMES_S
        real = evening.simulator.strike(choice.stroke, strike_s)
        dress = self.dresses[state.shooter]
        evening.acts.append(act_of(self.table, choice.stroke, real, dress, strike_s + LEAVES_S, 7 * shot, "player"))
        self._part("shot", max(real.end_s, strike_s + LEAVES_S) + TAIL_S - begin_s, number, shot)
        self._tell(real, call, number, shot)

    def _tell(self, real: Played, call: Any, number: int, shot: int) -> None:
        match = self.evening.match
        shooter = PLAYERS[match.state.shooter]
        facts = {
            "events": [{k: v for k, v in event_to_json(e).items() if k != "at"} for e in real.events],
            "start": {str(b): [round(v, 5) for v in p] for b, p in real.start.items()},
            "rest": {str(b): [round(v, 5) for v in p] for b, p in real.end.items()},
            "call": call,
        }
        (ruling,) = match.apply({"shot": facts})
        foul = None if ruling.enforced is None else ruling.enforced.value
        state = match.state
        if state.choice is not None:
            raise RuntimeError(f"shot {shot} ends in a choice, which nobody is there to make: take another seed")
        self.evening.told.append(
            Told(shot, number, shooter, call, foul, pocketed(real), state.score, PLAYERS[state.shooter], self.moved)
        )
        self.moved = ()

    def _place_cue_ball(self, places: Mapping[int, Point], *, kitchen: bool) -> Point:
        """Where an easy pot follows."""
        best: tuple[float, Point] | None = None
        targets = self._targets(places)
        high = self.table.head_string - 0.05 if kitchen else self.table.length_m - 0.2
        for _ in range(300):
            at = (float(self.rng.uniform(0.15, self.table.width_m - 0.15)), float(self.rng.uniform(0.2, high)))
            if any(np.hypot(at[0] - x, at[1] - y) < 2.5 * self.table.ball_m for b, (x, y) in places.items() if b):
                continue
            found = player.ideas(self.table, {**places, 0: at}, targets)
            worth = found[0].hard if found else 9.0
            if best is None or worth < best[0]:
                best = (worth, at)
        assert best is not None
        return best[1]

    def _targets(self, places: Mapping[int, Point]) -> set[int]:
        """Balls that the shooter may play at."""
        state = self.evening.match.state
        on = set(places) - {0}
        if state.groups is None:
            return on - {8}
        own = on & (SOLIDS if state.groups[state.shooter] is Group.SOLIDS else STRIPES)
        return own or {8}

    def _choose(self, places: Mapping[int, Point], number: int, played: int) -> tuple[Choice, Any]:
        state = self.evening.match.state
        if state.is_break:
            return self._break(places), None
        targets = self._targets(places)
        favoured = state.shooter == FAVOURED[number]
        then = targets if state.groups is not None else targets & (SOLIDS if self._more_solids(places) else STRIPES)
        pot = player.find_pot(self.table, places, then or targets, then or targets, keep={8} - targets)
        if pot is None and then != targets:
            pot = player.find_pot(self.table, places, targets, targets, keep={8})
        if not favoured and (targets == {8} or self._has_potted(number) or pot is None):
            wanted_foul = number == 0 and not any(t.foul for t in self.evening.told)
            choice = self._spoil(places, targets, foul=wanted_foul)
            return choice, {"ball": choice.ball if choice.ball in targets else min(targets), "pocket": choice.pocket}
        if pot is not None:
            return pot, {"ball": pot.ball, "pocket": pot.pocket}
        choice = self._spoil(places, targets, foul=False)
        return choice, "safety"

    def _more_solids(self, places: Mapping[int, Point]) -> bool:
        return len(SOLIDS & set(places)) <= len(STRIPES & set(places))

    def _has_potted(self, number: int) -> bool:
        """Whether the one who is to lose this rack has had a pot of their own."""
        loser = PLAYERS[1 - FAVOURED[number]]
        return any(t.rack == number and t.shooter == loser and t.down and t.call is not None for t in self.evening.told)

    def _spoil(self, places: Mapping[int, Point], targets: set[int], *, foul: bool) -> Choice:
        """A legal miss; or a scratch after a good hit; or, where the targets are out of reach, a hit of another ball."""

        def miss(p: Played) -> bool:
            return first_met(p) in targets and reaches_rail(p) and not pocketed(p) and p.end_s < 11

        def scratch(p: Played) -> bool:
            return first_met(p) in targets and set(pocketed(p)) == {0}

        def hooked(p: Played) -> bool:
            return first_met(p) is not None and not pocketed(p)

        wishes = [miss, hooked] if not foul else [scratch, miss, hooked]
        found = player.find_like(self.table, places, targets, wishes, self.rng)
        if found is not None:
            return found
        raise RuntimeError("no such stroke: take another seed")

    def _break(self, places: Mapping[int, Point]) -> Choice:
        """A legal break without a foul and without the 8, quiet if one is found soon."""
        for _ in range(60):
            x, y = places[0]
            fx, fy = self.table.foot_spot
            straight = float(np.degrees(np.arctan2(fy - y, fx - x)))
            stroke = Stroke(
                float(self.rng.uniform(5.2, 6.8)), straight + float(self.rng.uniform(-0.5, 0.5)), elevation=4.0
            )
            played = player.trial(self.table, places, stroke)
            if played is None:
                continue
            railed = {e.ball for e in played.events if isinstance(e, RailHit) and e.ball}
            down = set(pocketed(played))
            if len(railed) >= 6 and not down & {0, 8} and len(down) <= 2 and first_met(played):
                return Choice(stroke, 0, "", played)
        raise RuntimeError("no good break: take another seed")

    # -- between shots -----------------------------------------------------------------------------------------------
    def _interlude(self, kind: str, number: int) -> None:
        if kind in ("kill", "lost"):
            self._part(kind, STILL_S, number, 0)
            return
        if kind == "light":
            self.disturbances.append(Disturbance(self.now + 0.5, "light", factor=0.72))
            self._part(kind, 1.5, number, 0)
            return
        if kind == "bump":
            turn = (0.006, -0.01, 0.004)
            self.disturbances.append(Disturbance(self.now + 0.5, "bump", shift=(0.01, -0.006, 0.0), turn=turn))
            self._part(kind, 1.5, number, 0)
            return
        begin_s = self.now + 0.3
        dress = self.dresses[self.evening.match.state.opponent]
        if kind == "leaning":
            end_s = begin_s + 4.0
            at = (0.3, self.table.length_m * 0.6)
            self.evening.acts.append(Leaning(self.table, begin_s, end_s, at, dress, 5))
            self._part(kind, end_s + TAIL_S - self.now, number, 0)
            return
        assert kind == "sleeve"
        t = begin_s + 1.3
        places = self.evening.simulator.on_table(t)
        ball, end = self._brushed(places)
        self.evening.acts.append(Brushing(self.table, t, places[ball], end, dress, 6))
        brush(self.evening.simulator, ball, end, t)
        self.moved = (ball,)
        self._part(kind, t + 2.0 - self.now, number, 0)

    def _brushed(self, places: Mapping[int, Point]) -> tuple[int, Point]:
        """An object ball near a rail with room along it."""

        def gap(b: int) -> float:
            x, y = places[b]
            return min(x, self.table.width_m - x, y, self.table.length_m - y)

        for ball in sorted((b for b in places if b not in (0, 8)), key=gap):
            x, y = places[ball]
            for dx, dy in ((0, 0.05), (0, -0.05), (0.05, 0), (-0.05, 0)):
                end = (x + dx, y + dy)
                free = all(
                    np.hypot(end[0] - u, end[1] - v) > 2.2 * self.table.ball_m
                    for b, (u, v) in places.items()
                    if b != ball
                )
                mouth = self.table.nearest_pocket(end)
                if (
                    free
                    and gap(ball) > 0.04
                    and self.table.on_surface(end, 0.06)
                    and np.hypot(end[0] - mouth.centre[0], end[1] - mouth.centre[1]) > 0.2
                ):
                    return ball, end
        raise RuntimeError("no ball to brush: take another seed")

    def _rack(self, number: int) -> None:
        self._part("still", STILL_S, number, 0)
        racking = Racking(self.table, self.now, self.now + 5.0, self.dresses[number % 2], 8)
        places = default_places("8-ball", self.table, (0.5, 0.45), self.rng)
        rack(self.evening.simulator, places, racking)
        self.evening.acts.append(racking)
        self._part("rack", 5.2, number, 0)
