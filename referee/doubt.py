"""From plausible readings of a shot to one ruling with its probability, and the best other one.

A foul is called only where its probability reaches ``sure`` (Regulations 25 and 26: doubt favours the shooter); where it
is sure that there was a foul but not which, the likeliest is called.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from referee.calls import own_balls
from referee.facts import UNKNOWN_CALL, Call, Played, ShotFacts, Situation, facts_of
from referee.fold import judge, ready, settle, situation
from referee.fouls import FEW, in_article_order, treated_as_frozen
from referee.hinge import hangs_on
from referee.outcome import Outcome
from referee.ruling import Alternative, Hinge, Ruling
from referee.state import Options, State
from referee.terms import SOLIDS, STRIPES, Foul, Game, Group
from referee.worlds import SHARE, Needs, World, worlds
from tracking.events import Contact

_THREE = frozenset({Foul.THREE_FOULS})
_NOT_MADE = Call("ball")
#: How likely a ball that went down had been called, by how it went down.
_CALLED_OBVIOUS, _CALLED_FIRST, _CALLED_OTHER = 0.97, 0.8, 0.6
#: How likely a player hits his own group first, and when a division of the groups counts as known.
_OWN_FIRST, _GROUPS_PLAIN = 0.95, 0.97
#: What a clip that was cut off could still have shown.
_SEEN_ALL, _LATER_SCRATCH, _LATER_RAIL, _LATER_POCKET = 0.7, 0.05, 0.15, 0.1
_FIRST_SEEN = 0.7
#: Object balls moved but no contact of the cue ball was seen: the ruling is one without a foul for it, unsure.
_CONTACT_UNSEEN = 0.75


@dataclass(frozen=True, slots=True)
class Reading:
    """One distinguishable reading of a shot, and what the rules make of it."""

    weight: float
    state: State
    shot: Played
    facts: ShotFacts
    entered: tuple[Foul, ...]
    legal: frozenset[int]
    fouls: tuple[Foul, ...]
    outcome: Outcome
    after: State
    ruling: Ruling
    groups: tuple[Group, Group] | None


def rule(state: State, shot: Played, options: Options) -> tuple[State, Ruling]:
    """Rule on one shot: the state after it and the ruling, with probability and alternative where there is doubt.

    Raises
    ------
    InputError
        Where the shot cannot be in this state.
    """
    state, shot = ready(state, shot, options)
    if state.groups_known and shot.call is not UNKNOWN_CALL and shot.certain:
        now = situation(state, shot, options)
        facts = facts_of(shot.events, shot, now)
        entered = tuple(foul for foul, _ in shot.observed) if shot.observed else ()
        fouls, outcome = judge(state, shot, facts, entered, now.legal_first, options)
        after, ruling = settle(state, shot, facts, fouls, outcome, options)
        if facts.first is None and facts.railed:
            ruling = replace(ruling, p=_CONTACT_UNSEEN, needs_referee="first-contact")
        return after, ruling
    return decide(list(readings(state, shot, options)), state, shot, options)


def readings(state: State, shot: Played, options: Options) -> Iterable[Reading]:
    """All plausible readings of a shot, each judged."""
    for share, assumed in _group_readings(state, shot, options):
        now = situation(assumed, shot, options)
        gathered: dict[tuple[ShotFacts, tuple[Foul, ...]], tuple[float, World]] = {}
        for world in worlds(shot, now, _needs(assumed, shot, options)):
            if any(ball not in assumed.on_table for ball in world.identity):
                continue
            facts = facts_of(world.events, shot, now)
            for part, seen in _cut_off(facts, shot, now):
                key = (seen, world.entered)
                weight, first = gathered.get(key, (0.0, world))
                gathered[key] = (weight + world.weight * part, first)
        for (facts, entered), (weight, world) in gathered.items():
            for part, call in _call_readings(assumed, shot, facts, options):
                played = (
                    shot
                    if call is shot.call and world.events == shot.events
                    else replace(shot, call=call, events=world.events)
                )
                fouls, outcome = judge(assumed, played, facts, entered, now.legal_first, options)
                after, ruling = settle(assumed, played, facts, fouls, outcome, options)
                groups = after.groups
                if not state.groups_known and not after.is_break:
                    after, ruling = replace(after, groups=None, groups_known=False), replace(ruling, groups=None)
                yield Reading(
                    share * weight * part,
                    assumed,
                    played,
                    facts,
                    entered,
                    now.legal_first,
                    fouls,
                    outcome,
                    after,
                    ruling,
                    groups,
                )


def decide(found: list[Reading], state: State, shot: Played, options: Options) -> tuple[State, Ruling]:
    """The ruling to print among judged readings."""
    total = sum(reading.weight for reading in found)
    trust = shot.trust
    chances: dict[Foul, float] = {}
    fouled = 0.0
    groups: dict[tuple[object, ...], list[Reading]] = {}
    for reading in found:
        share = trust * reading.weight / total
        for foul in reading.fouls:
            chances[foul] = chances.get(foul, 0.0) + share
        if reading.fouls:
            fouled += share
        groups.setdefault(reading.ruling.key(), []).append(reading)
    called = frozenset(foul for foul, p in chances.items() if p >= options.sure) - _THREE
    shares = {key: sum(r.weight for r in group) / total for key, group in groups.items()}
    fitting = [r for r in found if frozenset(r.fouls) - _THREE == called]
    if not called and fouled >= options.sure:
        fitting = [r for r in found if r.fouls]
    if fitting:
        best = _likeliest(fitting, shares)
    else:
        best = _likeliest([r for r in found if called <= frozenset(r.fouls)] or found, shares)
        ignore = frozenset(best.fouls) - called
        fouls, outcome = judge(best.state, best.shot, best.facts, best.entered, best.legal, options, ignore)
        after, ruling = settle(best.state, best.shot, best.facts, fouls, outcome, options)
        best = replace(best, fouls=fouls, outcome=outcome, after=after, ruling=ruling)
    key = best.ruling.key()
    p = min(1.0, trust * shares[key]) if key in shares else 0.0
    if trust < 1.0 and key not in shares:  # readings without such a foul, and balls taken for others: as likely as not
        p = trust - fouled + 0.5 * (1.0 - trust)
    others = [one for one in groups if one != key and shares[one] >= SHARE]
    alternative, reason = None, None
    if others:
        other_key = max(others, key=lambda one: shares[one])
        other = max(groups[other_key], key=lambda r: r.weight)
        numbers = trust < 1.0 and key not in shares  # the reading is one: what it hangs on is whose balls they are
        hinge = (
            Hinge("ball-numbers", "ball-numbers")
            if numbers
            else hangs_on(
                best.facts,
                other.facts,
                best.shot,
                other.shot,
                best.entered,
                other.entered,
                best.state,
                other.state,
                shot,
            )
        )
        alternative = Alternative(
            trust * shares[other_key], other.ruling.legal, other.ruling.enforced, other.ruling.next, hinge
        )
        reason = hinge.reason
    else:
        p = 1.0 if p > 1.0 - SHARE else p
    needs = None
    if p < options.sure or trust < options.sure:
        needs = (
            "clip-incomplete" if shot.partial else reason or ("several-readings" if trust == 1.0 else "ball-numbers")
        )
    fouls_found = in_article_order(best.fouls, best.facts, shot, options) if best.fouls else ()
    ruling = replace(
        best.ruling, fouls=fouls_found, p=p, alternative=alternative, needs_referee=needs or best.ruling.needs_referee
    )
    after = replace(best.after, before=state)
    return (after, ruling) if after.groups_known else _weigh_groups(found, after, ruling)


def _weigh_groups(found: list[Reading], after: State, ruling: Ruling) -> tuple[State, Ruling]:
    """How likely each division of the groups is after a shot; once it is plain, it is known."""
    odds = [0.0, 0.0, 0.0]
    for reading in found:
        place = 0 if reading.groups is None else 1 if reading.groups[0] is Group.SOLIDS else 2
        odds[place] += reading.weight
    total = sum(odds)
    if max(odds[1:]) >= _GROUPS_PLAIN * total:
        first = Group.SOLIDS if odds[1] > odds[2] else Group.STRIPES
        groups = (first, first.other)
        return replace(after, groups=groups, groups_known=True, group_odds=None), replace(ruling, groups=groups)
    return replace(after, group_odds=(odds[0] / total, odds[1] / total, odds[2] / total)), ruling


def _likeliest(among: list[Reading], shares: dict[tuple[object, ...], float]) -> Reading:
    """The heaviest reading of the likeliest ruling among some; ties fall to the shooter, then to what was listed first."""
    mine: dict[tuple[object, ...], float] = {}
    for reading in among:
        key = reading.ruling.key()
        mine[key] = mine.get(key, 0.0) + reading.weight
    return max(among, key=lambda r: (round(mine[r.ruling.key()], 9), r.ruling.legal is True, r.weight))


def _needs(state: State, shot: Played, options: Options) -> Needs:
    straight = options.game is Game.STRAIGHT_POOL
    first_rails: tuple[tuple[int, frozenset[str]], ...] = ()
    if options.rules.frozen_first_rule and not state.is_break:
        first_rails = tuple(
            (
                ball,
                frozenset(shot.frozen_rails.get(ball, ()))
                | ({rail} if (rail := treated_as_frozen(ball, state, options)) else set()),
            )
            for ball in state.object_balls
        )
    return Needs(
        (2 if straight else FEW) if state.is_break else 0,
        straight and state.is_break,
        3 if state.is_break and options.three_ball_rule else 0,
        first_rails,
        shot.call.kind in ("none", "unknown") and options.game is not Game.NINE_BALL,
    )


def _group_readings(state: State, shot: Played, options: Options) -> list[tuple[float, State]]:
    """8-ball in mid-rack without a setup: who has which group, weighed by the ball that was hit first."""
    if state.groups_known or options.game is not Game.EIGHT_BALL or state.is_break:
        return [(1.0, state)]
    full = state.on_table >= SOLIDS | STRIPES
    prior = state.group_odds or ((0.9, 0.05, 0.05) if full else (0.1, 0.45, 0.45))
    first = next((e.balls[1] for e in shot.events if isinstance(e, Contact) and e.balls[0] == 0), None)
    weighed = []
    for odds, group in zip(prior, (None, Group.SOLIDS, Group.STRIPES), strict=True):
        assumed = replace(state, groups=None if group is None else (group, group.other))
        own = own_balls(assumed, state.shooter) or {8}
        right = first is None or (first != 8 if group is None else first in own)
        weighed.append((odds * (_OWN_FIRST if right else 1 - _OWN_FIRST), assumed))
    total = sum(weight for weight, _ in weighed)
    return [(weight / total, assumed) for weight, assumed in weighed]


def _call_readings(state: State, shot: Played, facts: ShotFacts, options: Options) -> list[tuple[float, Call]]:
    """A call that nobody heard: what went down was probably called, the likelier the plainer it was."""
    if shot.call is not UNKNOWN_CALL:
        return [(1.0, shot.call)]
    uncalled_break = state.is_break and options.game is not Game.STRAIGHT_POOL
    if options.game is Game.NINE_BALL or uncalled_break or not facts.pocketed:
        return [(1.0, _NOT_MADE)]
    own = own_balls(state, state.shooter) if state.groups else state.object_balls - {8}
    eligible = [
        (ball, pocket) for ball, pocket in facts.pocketed if options.game is not Game.EIGHT_BALL or ball in (own or {8})
    ]
    if not eligible:
        return [(1.0, _NOT_MADE)]
    best = (
        facts.obvious
        if facts.obvious in eligible
        else next((one for one in eligible if one[0] == facts.first), eligible[0])
    )
    made = _CALLED_OBVIOUS if best == facts.obvious else _CALLED_FIRST if best[0] == facts.first else _CALLED_OTHER
    return [(made, Call("ball", *best)), (1.0 - made, _NOT_MADE)]


def _cut_off(facts: ShotFacts, shot: Played, now: Situation) -> list[tuple[float, ShotFacts]]:
    """What a clip that begins or ends within the shot could have left out."""
    variants = [(1.0, facts)]
    if shot.partial in ("end", "both"):
        later = [(_SEEN_ALL, facts), (_LATER_SCRATCH, replace(facts, cue_pocketed=True, railed=facts.railed | {0}))]
        if facts.first is None:
            hit = min(now.legal_first)
            railed = replace(facts, first=hit, railed=frozenset({hit}))
        else:
            railed = replace(facts, railed=facts.railed | {facts.first})
        later.append((_LATER_RAIL, railed))
        ball = railed.first
        if ball is not None and ball not in railed.pocketed_balls:
            pocket = shot.call.pocket if shot.call.ball == ball else "head-left"
            later.append((_LATER_POCKET, replace(railed, pocketed=(*railed.pocketed, (ball, pocket)))))
        else:
            later.append((_LATER_POCKET, facts))
        variants = later
    if shot.partial in ("start", "both"):
        legal = min(now.legal_first)
        variants = [
            (w * part, one)
            for w, seen in variants
            for part, one in (
                (_FIRST_SEEN, seen),
                (
                    1 - _FIRST_SEEN,
                    seen
                    if seen.first in now.legal_first
                    else replace(seen, first=legal, railed=seen.railed | seen.pocketed_balls),
                ),
            )
        ]
    return variants
