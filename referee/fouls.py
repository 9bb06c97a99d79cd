"""Chapter 6: which fouls a shot has, all of them, in the order of their articles."""

from __future__ import annotations

from referee.facts import PUSH_OUT, Played, ShotFacts, rail_after_contact
from referee.rulesets import RuleSet, article_order
from referee.ruling import FoulFound
from referee.state import Options, State
from referee.terms import CueBall, Foul, Game
from tracking.events import Contact, OffTable, Pocketed, Strike

FEW = 4  # object balls to a rail that a break needs if nothing is pocketed (2.3, 3.3, 9.3)
_NEAR_GAP = 1.0  # est 7.2: nearer to the nose than this many ball diameters


def find_fouls(
    facts: ShotFacts, shot: Played, entered: tuple[Foul, ...], state: State, options: Options, legal: frozenset[int]
) -> tuple[Foul, ...]:
    """All fouls of a shot but those of the game's own break, and the third in a row; not yet in any order.

    Parameters
    ----------
    facts : the shot's facts.
    shot : what was put before the referee.
    entered : fouls that somebody saw or entered, as far as they count in this reading.
    state, options : before the shot.
    legal : balls that might be hit first.
    """
    found: list[Foul] = []
    push_out = shot.call is PUSH_OUT
    if facts.cue_pocketed or facts.cue_off:
        found.append(Foul.SCRATCH)
    if not push_out:
        if facts.first is not None and facts.first not in legal and options.game is not Game.STRAIGHT_POOL:
            found.append(Foul.WRONG_BALL_FIRST)
        if not reached_rail(facts, shot, state, options):
            found.append(Foul.NO_RAIL)
    if facts.off:
        found.append(Foul.BALL_OFF_TABLE)
    if state.cue_ball is CueBall.KITCHEN:
        at = shot.cue_ball_at
        if at is not None and not options.table.in_kitchen(at):
            found.append(Foul.BAD_PLACEMENT)
        if (facts.first_in_kitchen or facts.stayed_in_kitchen) and options.rules.has_foul(
            Foul.BAD_KITCHEN_PLAY, options.game
        ):
            found.append(Foul.BAD_KITCHEN_PLAY)
    strikes = 0
    for event in shot.events:
        if type(event) is not Strike:
            if strikes:
                break
            continue
        if event.ball:
            found.append(Foul.TOUCHED_BALL)  # the tip met another ball than the cue ball (6.6)
        strikes += 1
    if shot.clock_s is not None and options.shot_clock_s is not None:
        limit = options.shot_clock_s + (options.rules.extension_s if shot.extension else 0.0)
        if shot.clock_s > limit:
            found.append(Foul.SLOW_PLAY)
    if shot.shooter is not None:
        found.append(Foul.OUT_OF_TURN)
    for foul in entered:
        counted = effective(foul, options.rules, options.game)
        if counted is not None and counted not in found:
            found.append(counted)
    return tuple(found)


def effective(foul: Foul, rules: RuleSet, game: Game) -> Foul | None:
    """What an entered fact is by these rules: itself, another foul, or none at all."""
    if foul is Foul.DELIBERATE_TOUCH and not rules.deliberate_touch:
        return Foul.UNSPORTING  # 6.6: deliberate touching is unsporting conduct
    return foul if rules.has_foul(foul, game) else None


def in_article_order(
    fouls: tuple[Foul, ...], facts: ShotFacts | None, shot: Played | None, options: Options
) -> tuple[FoulFound, ...]:
    """Fouls with their articles and the events that show them, in the order of the articles."""
    found = [
        FoulFound(foul, options.rules.article(foul, options.game) or "", _evidence(foul, facts, shot)) for foul in fouls
    ]
    return tuple(sorted(found, key=lambda one: article_order(one.article)))


def _evidence(foul: Foul, facts: ShotFacts | None, shot: Played | None) -> tuple[int, ...]:
    if facts is None or shot is None:
        return ()
    numbered = enumerate(shot.events)
    if foul is Foul.SCRATCH:
        return tuple(i for i, e in numbered if isinstance(e, Pocketed | OffTable) and e.ball == 0)
    if foul is Foul.BALL_OFF_TABLE:
        return tuple(i for i, e in numbered if isinstance(e, OffTable) and e.ball in facts.off)
    if foul in (Foul.WRONG_BALL_FIRST, Foul.NO_RAIL, Foul.BAD_KITCHEN_PLAY) and facts.first is not None:
        return tuple(i for i, e in numbered if isinstance(e, Contact) and 0 in e.balls and facts.first in e.balls)[:1]
    return ()


def reached_rail(facts: ShotFacts, shot: Played, state: State, options: Options) -> bool:
    """Whether the shot meets 6.3, or est 7.2 with its rules for a first ball that is frozen or counts as frozen.

    Where object balls are seen to have moved but no contact of the cue ball was, a contact cannot be denied.
    """
    if not rail_after_contact(facts):
        return False
    if (
        facts.first is None
        or not options.rules.frozen_first_rule
        or state.is_break
        or facts.pocketed
        or facts.cue_pocketed
        or facts.cue_off
        or facts.off
    ):
        return True
    frozen_to = set(shot.frozen_rails.get(facts.first, ()))
    rail = treated_as_frozen(facts.first, state, options)
    if rail is not None:
        frozen_to.add(rail)
    if not frozen_to:
        return True
    return any(ball != facts.first or touched not in frozen_to for ball, touched in facts.touches)


def near_rail(ball: int, state: State, options: Options) -> str | None:
    """The rail an object ball lies near to but not frozen to, less than a ball's diameter from its nose (est 7.2)."""
    at = state.positions.get(ball)
    if at is None or not options.rules.near_rail_rule:
        return None
    table = options.table
    rail = table.nearest_rail(at)
    return rail if table.rail_gap(at, rail) < _NEAR_GAP * table.ball_m - 1e-9 else None


def treated_as_frozen(ball: int, state: State, options: Options) -> str | None:
    """The rail a ball counts as frozen to: at the third running try, or at once after a foul (est 7.2)."""
    rail = near_rail(ball, state, options)
    if rail is None:
        return None
    if state.fouls_in_row[state.shooter] > 0:
        return rail
    tries = state.near_rail[state.shooter]
    return rail if tries is not None and tries[:2] == (ball, rail) and tries[2] >= 2 else None


def near_rail_after(facts: ShotFacts, fouled: bool, state: State, options: Options) -> tuple[int, str, int] | None:
    """What the shooter has done at a ball near a rail, this shot included (est 7.2)."""
    if facts.first is None or fouled or facts.pocketed:
        return None
    rail = near_rail(facts.first, state, options)
    if rail is None or {touched for _, touched in facts.touches} != {rail}:
        return None
    before = state.near_rail[state.shooter]
    running = before[2] if before is not None and before[:2] == (facts.first, rail) else 0
    return facts.first, rail, running + 1
