"""What a shot's events mean in the rule book's words: the facts of one shot.

Everything here takes events that are certain and in order; :mod:`referee.doubt` decides which orders are plausible.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field

from calibration.table import Table
from referee.definitions import bounced_out, driven_to_rail, hung_and_dropped, off_the_break, touches_pocketed_ball
from referee.terms import Foul, Group
from tracking.events import AnyEvent, Contact, Crossing, OffTable, Pocketed, Point, RailHit, Strike

JAWS_M = 0.15  # rail touches this near a pocket are the pocket's jaws
JAWS_S = 0.25  # the same by time, where a touch has no place
_KIND_RANK = {Strike: 0, Crossing: 1, Contact: 2, RailHit: 3, Pocketed: 4, OffTable: 5}
_CUE = frozenset({0})
_UNCALLED = ("none", "unknown")  # calls with which it matters whether the shot was obvious
_RAILS_OF_POCKET = {
    "head-left": ("head", "left"),
    "head-right": ("head", "right"),
    "side-left": ("left",),
    "side-right": ("right",),
    "foot-left": ("foot", "left"),
    "foot-right": ("foot", "right"),
}


@dataclass(frozen=True, slots=True)
class Call:
    """What the shooter announced (1.6): a ball and a pocket, a safety, a push-out, or nothing that anybody knows of."""

    kind: str
    ball: int = -1
    pocket: str = ""


NO_CALL = Call("none")
SAFETY = Call("safety")
PUSH_OUT = Call("push-out")
UNKNOWN_CALL = Call("unknown")


@dataclass(frozen=True, slots=True)
class Alternative:
    """Another reading of which balls an event is about, with its probability."""

    event: int
    balls: tuple[int, ...]
    p: float


@dataclass(frozen=True, slots=True)
class Played:
    """One shot as it is put before the referee: what was announced, seen and entered.

    Parameters
    ----------
    events : in time order, simultaneous ones in the book's order (a contact before a rail).
    call, claim : what the shooter announced; the group claimed for this shot (2025 4.4).
    cue_ball_at : where the cue ball was played from, metres.
    frozen_rails : ball -> rails it was declared frozen to at the start (8.4).
    frozen_cue : balls declared frozen to the cue ball (6.7).
    observed : fouls that somebody saw or entered, with their probability (1 where a person says so).
    start, rest : ball -> place at the start and at the end, metres.
    partial : which end the clip cut off, ``""`` where none.
    alternatives : other readings of who an event is about.
    clock_s, extension : time taken for the shot, and whether the extension was used.
    shooter : who really played, where that is known to be another than the one whose turn it was.
    trust : probability that the balls the ruling rests on are those that the events name.
    balls : every ball an event names (worked out).
    certain : whether nothing about the shot is in doubt (worked out).
    """

    events: tuple[AnyEvent, ...]
    call: Call = NO_CALL
    claim: Group | None = None
    cue_ball_at: Point | None = None
    frozen_rails: Mapping[int, Collection[str]] = field(default_factory=dict)
    frozen_cue: Collection[int] = ()
    observed: tuple[tuple[Foul, float], ...] = ()
    start: Mapping[int, Point] = field(default_factory=dict)
    rest: Mapping[int, Point] = field(default_factory=dict)
    partial: str = ""
    alternatives: tuple[Alternative, ...] = ()
    clock_s: float | None = None
    extension: bool = False
    shooter: str | None = None
    trust: float = 1.0
    balls: frozenset[int] = field(init=False, compare=False, repr=False)
    certain: bool = field(init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        named: set[int] = set()
        certain = not self.partial and not self.alternatives and all(p >= 1.0 for _, p in self.observed)
        certain = certain and self.trust >= 1.0
        for event in self.events:
            if isinstance(event, Contact):
                named.update(event.balls)
            else:
                named.add(event.ball)
            if event.p < 1.0 or event.sigma_s:
                certain = False
        object.__setattr__(self, "balls", frozenset(named))
        object.__setattr__(self, "certain", certain)


@dataclass(frozen=True, slots=True)
class Situation:
    """What facts need to know of the state before the shot.

    Parameters
    ----------
    table : the table's geometry.
    legal_first : balls that may be hit first.
    positions : ball -> place, metres, as far as known.
    from_kitchen : the cue ball was in hand in the kitchen.
    racked : balls that stand in an untouched rack, all beyond the head string.
    """

    table: Table
    legal_first: frozenset[int]
    positions: Mapping[int, Point]
    from_kitchen: bool
    racked: frozenset[int] = frozenset()


@dataclass(frozen=True, slots=True)
class ShotFacts:
    """The book's facts of one shot, all of them certain.

    ``first`` is the object ball hit first (``None``: none was seen), ``railed`` the balls driven to a rail after that contact
    (8.4), ``touches`` the rails they reached, ``pocketed`` object balls with their pockets in order (8.3), ``off`` object
    balls off the table (8.5), ``hung`` balls that hung five seconds and dropped. ``obvious`` is the shot that needed no
    call (1.6). ``first_in_kitchen`` (and not left it before) and ``stayed_in_kitchen`` are the paragraphs of 6.11.
    """

    first: int | None
    first_event: int
    railed: frozenset[int]
    touches: tuple[tuple[int, str], ...]
    pocketed: tuple[tuple[int, str], ...]
    off: frozenset[int]
    cue_pocketed: bool
    cue_off: bool
    hung: tuple[int, ...]
    obvious: tuple[int, str] | None
    first_in_kitchen: bool
    stayed_in_kitchen: bool
    past_head_string: frozenset[int]

    @property
    def scratch(self) -> bool:
        """Cue ball pocketed or off the table (6.1)."""
        return self.cue_pocketed or self.cue_off

    @property
    def pocketed_balls(self) -> frozenset[int]:
        return frozenset(ball for ball, _ in self.pocketed)

    @property
    def objects_to_rail(self) -> int:
        """How many distinct object balls were driven to a rail, pocketed and off-table balls included (8.4)."""
        return len(self.railed - {0})


def in_order(events: Iterable[AnyEvent]) -> tuple[AnyEvent, ...]:
    """Sort events by time; simultaneous ones in the book's order, whatever order they were listed in.

    A crossing goes before a contact and a contact before a rail: each is the reading that favours the shooter
    (Regulation 26 and its like: what cannot be told apart goes to the shooter).
    """
    return tuple(sorted(events, key=_order))


def _order(event: AnyEvent) -> tuple[float, int, tuple[int, ...], str]:
    if isinstance(event, Contact):
        return event.t_s, 2, event.balls, ""
    name = event.rail if isinstance(event, RailHit) else event.pocket if isinstance(event, Pocketed) else ""
    return event.t_s, _KIND_RANK[type(event)], (event.ball,), name


def rail_after_contact(facts: ShotFacts) -> bool:
    """Whether a ball was pocketed or driven to a rail after the cue ball's contact (6.3)."""
    return bool(facts.railed - _CUE if facts.first is None else facts.railed or facts.pocketed)


# -- the facts of one shot -----------------------------------------------------------------------------------------


def facts_of(events: tuple[AnyEvent, ...], shot: Played, now: Situation) -> ShotFacts:
    """Work out the facts of one shot from events that are certain and in order.

    Parameters
    ----------
    events : as from :func:`in_order`; doubt's orders and subsets of ``shot.events`` come in here one by one.
    shot : what else was put before the referee.
    now : the situation before the shot.
    """
    frozen = shot.frozen_rails
    first: int | None = None
    first_event, first_t = -1, 0.0
    first_place: Point | None = None
    touches: list[tuple[int, str]] = []
    railed: set[int] = set()
    pocket_at: dict[int, tuple[float, str, float]] = {}
    rail_at: dict[int, float] = {}
    off: set[int] = set()
    crossed = left_before = scratch_in_pocket = False
    crossings: set[int] | None = None
    late: list[Contact] = []
    last_t = 0.0
    for number, event in enumerate(events):
        if isinstance(event, Contact):
            one, other = event.balls
            if one == 0 or other == 0:
                ball = other if one == 0 else one
                if first is None:
                    first, first_event, first_t, first_place, left_before = ball, number, event.t_s, event.at, crossed
                elif (
                    event.t_s == first_t
                    and not event.sigma_s
                    and ball in now.legal_first
                    and first not in now.legal_first
                ):
                    first, first_event, first_place = ball, number, event.at  # same instant: the legal ball (Reg. 26)
                if pocket_at and ball in pocket_at:
                    late.append(event)
                if event.at is not None and event.at[1] >= now.table.head_string:
                    crossed = True
        elif isinstance(event, RailHit):
            ball = event.ball
            rail_at[ball] = event.t_s
            if first is not None and driven_to_rail(event.rail, frozen.get(ball, ()), event.leaves_first):
                railed.add(ball)
                touches.append((ball, event.rail))
            if ball == 0 and (event.rail == "foot" or (event.at is not None and event.at[1] >= now.table.head_string)):
                crossed = True
        elif isinstance(event, Pocketed):
            still_since = last_t if event.hung_s is None else event.t_s - event.hung_s
            pocket_at[event.ball] = (event.t_s, event.pocket, still_since)
            if hung_and_dropped(event.t_s, still_since):
                continue  # nothing else waits for a ball that hangs
        elif isinstance(event, Crossing):
            if event.line == "head-string":
                if event.ball == 0:
                    crossed = crossed or event.toward == "foot"
                else:
                    crossings = crossings or set()
                    crossings.add(event.ball)  # either way it has been past the string
            elif event.ball == 0 and event.line != "long-string":
                crossed = True  # the centre and the foot string lie beyond
        elif isinstance(event, OffTable):
            off.add(event.ball)
        last_t = event.t_s
    pocketed: list[tuple[int, str]] = []
    hung: list[int] = []
    cue_pocketed = False
    for ball, (t, pocket, before) in pocket_at.items():
        if ball in off:
            continue
        if hung_and_dropped(t, before):
            hung.append(ball)
        elif not bounced_out(t, rail_at.get(ball), ball in shot.rest):
            if ball == 0:
                cue_pocketed = True
                scratch_in_pocket = pocket.startswith("head")
                crossed = crossed or not scratch_in_pocket
            else:
                pocketed.append((ball, pocket))
    down = {ball for ball, _ in pocketed}
    for contact in late:
        ball = contact.balls[1] if contact.balls[0] == 0 else contact.balls[0]
        if ball in down and touches_pocketed_ball(contact.t_s, pocket_at[ball][0]):
            cue_pocketed = True
    cue_off = 0 in off
    off.discard(0)
    if first is not None or down or off or any(rail_at):
        # Object balls do not move by themselves: where they did, a contact was there though nobody saw it.
        railed |= down
        railed |= off
        if first is None:
            railed.update(rail_at)
        if cue_pocketed or cue_off:
            railed.add(0)
    first_in_kitchen = stayed = False
    if now.from_kitchen:
        first_in_kitchen, stayed = _kitchen(
            events, shot, now, first, first_place, left_before, crossed, scratch_in_pocket
        )
    return ShotFacts(
        first,
        first_event,
        frozenset(railed),
        tuple(touches),
        tuple(pocketed),
        frozenset(off),
        cue_pocketed,
        cue_off,
        tuple(hung),
        _obvious(events, first, first_event, down, pocket_at, now.table)
        if down and shot.call.kind in _UNCALLED
        else None,
        first_in_kitchen,
        stayed,
        frozenset(crossings) | _rests_past(shot, now.table)
        if crossings is not None
        else _past_head_string(events, shot, now.table)
        if now.racked
        else frozenset(),
    )


def _place(ball: int, shot: Played, now: Situation) -> Point | None:
    return shot.start.get(ball) or now.positions.get(ball)


def _beyond(ball: int, shot: Played, now: Situation) -> bool | None:
    """Whether a ball lies on or beyond the head string; ``None`` where that is not known."""
    at = _place(ball, shot, now)
    if at is not None:
        return at[1] >= now.table.head_string
    return True if ball in now.racked else None


def _kitchen(
    events: tuple[AnyEvent, ...],
    shot: Played,
    now: Situation,
    first: int | None,
    first_place: Point | None,
    left_before: bool,
    crossed: bool,
    in_head_pocket: bool,
) -> tuple[bool, bool]:
    """The two paragraphs of 6.11, each true only where what is known proves it."""
    first_in_kitchen = False
    if first is not None and not left_before:
        beyond = _beyond(first, shot, now)
        if beyond is None and first_place is not None:
            beyond = first_place[1] >= now.table.head_string - now.table.ball_radius
        first_in_kitchen = beyond is False
    if crossed:
        return first_in_kitchen, False
    rest = shot.rest.get(0)
    came_to_rest_there = in_head_pocket or (rest is not None and rest[1] < now.table.head_string)
    touched = [_other(e.balls) for e in events if isinstance(e, Contact) and 0 in e.balls]
    return first_in_kitchen, came_to_rest_there and all(_beyond(ball, shot, now) is False for ball in touched)


def _other(balls: tuple[int, int]) -> int:
    return balls[1] if balls[0] == 0 else balls[0]


def _rests_past(shot: Played, table: Table) -> frozenset[int]:
    """Object balls that lie past the head string at the end, and so got past it whoever saw them cross."""
    return frozenset(ball for ball, at in shot.rest.items() if ball and off_the_break(table, at))


def _past_head_string(events: tuple[AnyEvent, ...], shot: Played, table: Table) -> frozenset[int]:
    """Object balls whose centre got past the head string, from places and what they touched, where no crossing is given."""
    past = set(_rests_past(shot, table))
    for event in events:
        if (
            isinstance(event, RailHit)
            and event.ball
            and (event.rail == "head" or (event.at is not None and off_the_break(table, event.at)))
        ) or (isinstance(event, Pocketed) and event.ball and event.pocket.startswith("head")):
            past.add(event.ball)
    return frozenset(past)


def _obvious(
    events: tuple[AnyEvent, ...],
    first: int | None,
    first_event: int,
    down: set[int],
    pocket_at: Mapping[int, tuple[float, str, float]],
    table: Table,
) -> tuple[int, str] | None:
    """The obvious shot of 1.6: cue ball straight to the ball, that ball straight into the pocket."""
    if first is None or first not in down:
        return None
    t, pocket, _ = pocket_at[first]
    for number, event in enumerate(events):
        if event.t_s > t or number == first_event:
            continue
        if isinstance(event, RailHit):
            if event.ball == 0 and number < first_event:
                return None
            if event.ball == first and not _in_jaws(event, t, pocket, table):
                return None
        elif isinstance(event, Contact) and first in event.balls:
            return None
    return first, pocket


def _in_jaws(event: RailHit, pocket_t: float, pocket: str, table: Table) -> bool:
    if event.rail not in _RAILS_OF_POCKET[pocket]:
        return False
    if event.at is None:
        return pocket_t - event.t_s <= JAWS_S
    centre = table.pockets[pocket].centre
    return (event.at[0] - centre[0]) ** 2 + (event.at[1] - centre[1]) ** 2 <= JAWS_M**2
