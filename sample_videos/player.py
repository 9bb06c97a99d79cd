"""A player for simulated racks: finds strokes that pot a ball, that miss it, or that fail, by trying them in the simulator.

Knows no rules: whoever asks says which balls may be played at.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from calibration.errors import InputError
from calibration.table import Table
from sample_videos.motion import Piece, Track, still
from sample_videos.simulate import Played, Simulator, Stroke
from tracking.events import Contact, Pocketed, RailHit

Point = tuple[float, float]
MOST_CUT_DEG = 58.0
MOST_INTO_SIDE_DEG = 48.0  # from straight across, for a side pocket
CLEAR = 1.03  # of a ball's diameter that others have to keep from a path
SPEEDS = (0.6, 0.8, 1.05, 1.4, 1.9)  # m/s of the cue
HEIGHTS = (0.0, -0.4, 0.3)  # of the tip, radii
FINE_DEG = (0.0, 0.35, -0.35, 0.8, -0.8)
ENOUGH = 4  # strokes that do what is wanted, of which the best is taken


@dataclass(frozen=True, slots=True)
class Idea:
    """A ball, a pocket and the direction that sends one into the other, with how hard it looks (0 is straight in)."""

    ball: int
    pocket: str
    direction: float
    hard: float


@dataclass(frozen=True, slots=True)
class Choice:
    """A stroke with what was wanted of it and what came of it when it was tried."""

    stroke: Stroke
    ball: int
    pocket: str
    played: Played


def trial(table: Table, places: Mapping[int, Point], stroke: Stroke) -> Played | None:
    """What comes of a stroke at these balls; None where it cannot be simulated."""
    simulator = Simulator(table, {}, {})
    for ball, (x, y) in places.items():  # a ball may hang in a pocket's jaws, or touch another: that is how it lies
        simulator.tracks[ball] = Track(table.ball_radius, simulator.physics, np.eye(3))
        simulator.tracks[ball].add(Piece(-1e3, rvw=still(x, y, table.ball_radius)))
    try:
        return simulator.strike(stroke, 0.0)
    except InputError:
        return None


def pocketed(played: Played) -> dict[int, str]:
    """Balls that went down, and where."""
    return {e.ball: e.pocket for e in played.events if isinstance(e, Pocketed)}


def first_met(played: Played) -> int | None:
    """The ball that the cue ball met first."""
    return next((max(e.balls) for e in played.events if isinstance(e, Contact) and 0 in e.balls), None)


def reaches_rail(played: Played) -> bool:
    """Whether a ball touched a rail, or went down, after the cue ball met one."""
    met = next((e.t_s for e in played.events if isinstance(e, Contact) and 0 in e.balls), math.inf)
    return any(isinstance(e, RailHit | Pocketed) and e.t_s > met for e in played.events)


def ideas(table: Table, places: Mapping[int, Point], at: Collection[int]) -> list[Idea]:
    """Straight pots of the balls ``at`` with nothing in the way, the easiest first."""
    cue = np.array(places[0])
    found = []
    for ball in sorted(at):
        here = np.array(places[ball])
        others = [np.array(p) for b, p in places.items() if b not in (0, ball)]
        for name, pocket in table.pockets.items():
            mouth = np.mean(pocket.points, axis=0)
            way = mouth - here
            far = float(np.linalg.norm(way))
            if far < 1e-6:
                continue
            way /= far
            if name.startswith("side") and abs(way[0]) < math.cos(math.radians(MOST_INTO_SIDE_DEG)):
                continue
            ghost = here - way * table.ball_m
            aim = ghost - cue
            long = float(np.linalg.norm(aim))
            if long < 0.01 or not table.on_surface((float(ghost[0]), float(ghost[1])), table.ball_radius * 0.98):
                continue
            cut = math.degrees(math.acos(float(np.clip(aim @ way / long, -1, 1))))
            if cut > MOST_CUT_DEG or _in_the_way(cue, ghost, others, table) or _in_the_way(here, mouth, others, table):
                continue
            hard = cut / 45 + 0.5 * far + 0.25 * long + (0.5 if name.startswith("side") else 0.0)
            found.append(Idea(ball, name, math.degrees(math.atan2(aim[1], aim[0])), hard))
    return sorted(found, key=lambda idea: idea.hard)


def _in_the_way(a: np.ndarray, b: np.ndarray, others: Sequence[np.ndarray], table: Table) -> bool:  # type: ignore[type-arg]
    """Whether a ball that rolls from ``a`` to ``b`` would touch one of the others."""
    if not others:
        return False
    line = b - a
    long = float(np.linalg.norm(line))
    if long < 1e-9:
        return False
    spots = np.array(others)
    along = np.clip((spots - a) @ line / long**2, 0, 1)
    gaps = np.linalg.norm(a + along[:, None] * line - spots, axis=1)
    return bool((gaps < CLEAR * table.ball_m).any())


def find_pot(
    table: Table,
    places: Mapping[int, Point],
    at: Collection[int],
    then: Collection[int] = (),
    keep: Collection[int] = (),
) -> Choice | None:
    """A stroke that pots one of the balls ``at`` and nothing else, soon at rest and with a pot to follow.

    Parameters
    ----------
    then : balls that will be played at afterwards (the one that was potted left out).
    keep : balls that would spoil everything if they went down.
    """
    good: list[tuple[float, Choice]] = []
    for idea in ideas(table, places, at)[:6]:
        for choice in _tries(table, places, idea):
            down = pocketed(choice.played)
            if down != {idea.ball: idea.pocket} or first_met(choice.played) != idea.ball or set(down) & set(keep):
                continue
            left = [b for b in (then or at) if b in choice.played.end and b != idea.ball]
            following = ideas(table, choice.played.end, left) if left else []
            next_hard = following[0].hard if following else (0.0 if not left else 6.0)
            worth = idea.hard + 1.3 * next_hard + 0.12 * choice.played.end_s
            good.append((worth, choice))
            if len(good) >= ENOUGH:
                return min(good, key=lambda g: g[0])[1]
    return min(good, key=lambda g: g[0])[1] if good else None


def _tries(table: Table, places: Mapping[int, Point], idea: Idea) -> Iterator[Choice]:
    """The idea's stroke at several speeds and heights; the first fine turn that pots it is kept for all of them."""
    for turn in FINE_DEG:
        hit = False
        for speed in SPEEDS:
            for above in HEIGHTS:
                if speed > 1.5 and above:
                    continue
                stroke = Stroke(speed, idea.direction + turn, above=above, elevation=4.0)
                played = trial(table, places, stroke)
                if played is None:
                    continue
                hit = hit or pocketed(played).get(idea.ball) == idea.pocket
                yield Choice(stroke, idea.ball, idea.pocket, played)
        if hit:
            return


def find_like(
    table: Table,
    places: Mapping[int, Point],
    at: Collection[int],
    wanted: Sequence[Callable[[Played], bool]],
    rng: np.random.Generator,
    tries: int = 80,
) -> Choice | None:
    """A stroke at one of the balls ``at`` (full, thin, or off rails) that is wanted: the first wish that a stroke meets counts.

    Ends early with the first wish met twice; of strokes that meet the same wish the one soonest at rest is taken.
    """
    good: list[tuple[int, float, Choice]] = []
    cue = np.array(places[0])
    targets = sorted(at)
    for k in range(tries):
        ball = targets[k % len(targets)]
        way = np.array(places[ball]) - cue
        spread = math.degrees(math.asin(min(1.0, table.ball_m / float(np.linalg.norm(way)))))
        direction = math.degrees(math.atan2(way[1], way[0])) + float(rng.uniform(-1, 1)) * spread
        if k >= tries // 2:  # nothing that simple: anywhere, so off rails too
            direction = float(rng.uniform(-180, 180))
        stroke = Stroke(float(rng.uniform(0.6, 1.8)), direction, elevation=4.0)
        played = trial(table, places, stroke)
        if played is None:
            continue
        rank = next((n for n, wish in enumerate(wanted) if wish(played)), None)
        if rank is not None:
            pocket = min(table.pockets.values(), key=lambda p, b=ball: math.dist(p.centre, places[b])).name  # type: ignore[misc]
            good.append((rank, played.end_s, Choice(stroke, first_met(played) or ball, pocket, played)))
            if sum(g[0] == 0 for g in good) >= 2:
                break
    return min(good, key=lambda g: g[:2])[2] if good else None
