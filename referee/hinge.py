"""On which fact two readings part: a code for programs and a line for people."""

from __future__ import annotations

from referee.facts import Played, ShotFacts
from referee.ruling import Hinge
from referee.state import State
from referee.terms import Foul
from tracking.events import Contact, Pocketed


def _hinge(reason: str, message: str = "", **values: object) -> Hinge:
    return Hinge(reason, message or reason, tuple(values.items()))


CLOSE_MS = 100.0  # contacts farther apart than this are not in doubt for their order


def hangs_on(
    mine: ShotFacts,
    other: ShotFacts,
    my_shot: Played,
    other_shot: Played,
    my_entered: tuple[Foul, ...],
    other_entered: tuple[Foul, ...],
    my_state: State,
    other_state: State,
    shot: Played,
) -> Hinge:
    """The first fact, in the order in which a referee would ask, on which two readings part."""
    if my_state.groups != other_state.groups:
        return _hinge("groups-unknown")
    if mine.first != other.first:
        gap = _gap_ms(mine.first, other.first, shot)
        if mine.first is None or other.first is None:
            ball = other.first if mine.first is None else mine.first
            return _hinge("first-contact", "contact-or-none", ball=ball)
        code = "first-contact" if gap is None or gap > CLOSE_MS else "first-contact-gap"
        return _hinge("first-contact", code, one=mine.first, other=other.first, gap=gap or 0.0)
    if mine.scratch != other.scratch:
        return _hinge("cue-ball")
    if mine.pocketed_balls != other.pocketed_balls or mine.off != other.off:
        balls = sorted((mine.pocketed_balls | mine.off) ^ (other.pocketed_balls | other.off)) or sorted(
            mine.pocketed_balls | mine.off
        )
        mine_only, others_only = mine.pocketed_balls - other.pocketed_balls, other.pocketed_balls - mine.pocketed_balls
        told = {event.ball for event in shot.events if isinstance(event, Pocketed)}
        if mine.off == other.off and len(mine_only) == len(others_only) == 1 and not mine_only | others_only <= told:
            return _hinge("pocketed", "pocketed-number", one=min(mine_only), other=min(others_only))
        return _hinge("pocketed", balls=", ".join(map(str, balls)))
    if mine.pocketed != other.pocketed:
        return _hinge("pocket")
    if my_entered != other_entered:
        fouls = sorted({f.value for f in my_entered} ^ {f.value for f in other_entered})
        return _hinge("entered-foul", fouls=", ".join(fouls))
    if mine.railed != other.railed or mine.touches != other.touches:
        balls = sorted((mine.railed ^ other.railed) - {0})
        return _hinge("rail", "rail" if balls else "rail-any", balls=", ".join(map(str, balls)))
    if my_shot.call != other_shot.call:
        return _hinge("call-unknown")
    if (mine.first_in_kitchen, mine.stayed_in_kitchen) != (other.first_in_kitchen, other.stayed_in_kitchen):
        return _hinge("kitchen")
    if mine.past_head_string != other.past_head_string:
        return _hinge("head-string")
    return _hinge("several-readings")


def _gap_ms(one: int | None, other: int | None, shot: Played) -> float | None:
    """Milliseconds between the cue ball's contacts with two balls."""
    times: dict[int | None, float] = {}
    for event in shot.events:
        if isinstance(event, Contact) and event.balls[0] == 0 and event.balls[1] in (one, other):
            times.setdefault(event.balls[1], event.t_s)
    return abs(times[one] - times[other]) * 1000 if one in times and other in times else None
