"""The reference page ``docs/rules.md``, made from the code's own tables: ``python -m referee.reference > docs/rules.md``."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from dataclasses import fields, replace

from calibration.table import Table
from referee.facts import SAFETY, Played, ShotFacts
from referee.fold import judge
from referee.fouls import FEW
from referee.holes import HOLES
from referee.messages import text
from referee.outcome import Outcome
from referee.rulesets import RULE_SETS, RuleSet
from referee.state import Options, State, first_state
from referee.straight_pool import fifteenth_ball
from referee.terms import Clause, CueBall, Foul, Game, Group

_SEEN = {
    Foul.SCRATCH, Foul.WRONG_BALL_FIRST, Foul.NO_RAIL, Foul.BALL_OFF_TABLE, Foul.BAD_PLACEMENT, Foul.BAD_KITCHEN_PLAY,
    Foul.FEW_RAILS, Foul.BREAKING_FOUL,
}  # fmt: skip
_SUSPECTED = {Foul.DOUBLE_HIT, Foul.PUSH}
_SEEN_OR_ENTERED = {Foul.TOUCHED_BALL, Foul.BALLS_MOVING}
_NO_FACTS = ShotFacts(
    1, 1, frozenset({1}), ((1, "left"),), (), frozenset(), False, False, (), None, False, False, frozenset()
)


def page() -> str:
    """The whole page as Markdown."""
    return "\n".join(_lines()) + "\n"


def _lines() -> Iterator[str]:
    yield "# The rules, as the code has them"
    yield ""
    yield "Made by `python -m referee.reference` from the tables of `referee/`; a test keeps it current. Do not edit by hand."
    yield ""
    yield "A ruling cites its rule set and article, e.g. `wpa-2008 6.3`. Where the texts leave a hole, see the last section."
    for rules in RULE_SETS.values():
        yield from _edition(rules)
    yield from _differences()
    yield from _fifteenth()
    yield "\n## Holes, and what is done there\n"
    yield from _table(("clause", "chosen"), HOLES)


def _edition(rules: RuleSet) -> Iterator[str]:
    yield f"\n## {rules.name}\n"
    games = [game for game in Game if game in rules.games]
    yield "### Fouls\n"
    yield "Each cell: article and what follows. `-`: no foul of that game.\n"
    rows = []
    for foul in Foul:
        cells = [_consequence(foul, game, rules) for game in games]
        if any(cell != "-" for cell in cells):
            rows.append((f"`{foul.value}`", text("en", f"foul.{foul.value}"), _known(foul), *cells))
    yield from _table(("code", "foul", "how it is known", *(game.value for game in games)), rows)
    yield "\n### Other articles\n"
    rows = []
    for clause in Clause:
        numbers = [rules.article(clause, game) or "-" for game in games]
        if any(number != "-" for number in numbers):
            rows.append((clause.value, *numbers))
    yield from _table(("clause", *(game.value for game in games)), rows)
    if Game.EIGHT_BALL in rules.games:
        yield f"\n### Breaking in 8-ball ({rules.article(Clause.BREAK, Game.EIGHT_BALL)})\n"
        yield from _table(("what happened", "legal", "cue ball", "who chooses", "options"), _eight_break(rules))


def _known(foul: Foul) -> str:
    if foul is Foul.THREE_FOULS:
        return "counted"
    if foul is Foul.SLOW_PLAY:
        return "clock or entered"
    if foul in _SUSPECTED:
        return "suspected, decided by a person"
    if foul in _SEEN_OR_ENTERED:
        return "seen or entered"
    return "seen" if foul in _SEEN else "entered"


def _options(game: Game, rules: RuleSet) -> Options:
    return Options(game, rules, ("A", "B"), three_ball_rule=rules.three_ball_rule and game is Game.NINE_BALL)


def _mid_rack(game: Game, options: Options) -> State:
    state = replace(first_state(options), is_break=False, racked=frozenset(), cue_ball=CueBall.AS_LIES)
    return replace(state, groups=(Group.SOLIDS, Group.STRIPES)) if game is Game.EIGHT_BALL else state


def _consequence(foul: Foul, game: Game, rules: RuleSet) -> str:
    if not rules.has_foul(foul, game):
        return "-"
    options = _options(game, rules)
    state = _mid_rack(game, options)
    facts = _NO_FACTS
    entered: tuple[Foul, ...] = (foul,)
    if foul is Foul.SCRATCH:
        facts, entered = replace(facts, cue_pocketed=True), ()
    elif foul is Foul.THREE_FOULS:
        state, entered = replace(state, fouls_in_row=(2, 0), warned=(True, True)), (Foul.NO_FOOT,)
    elif foul in (Foul.FEW_RAILS, Foul.BREAKING_FOUL):
        state, entered = replace(state, is_break=True), ()
    elif foul is Foul.BAD_KITCHEN_PLAY:
        facts, entered = replace(facts, stayed_in_kitchen=True), (foul,)
    _, outcome = judge(state, Played((), call=SAFETY), facts, entered, state.object_balls, options)
    return f"{rules.article(foul, game)}: {_told(outcome, state)}"


def _told(outcome: Outcome, state: State) -> str:
    parts = []
    if outcome.points[0]:
        parts.append(f"{outcome.points[0]:+d}".replace("-", "−"))
    if outcome.rack_winner is not None:
        parts.append("loss of rack")
    elif outcome.choice is not None:
        parts.append("opponent: " + " or ".join(f"`{option.value}`" for option in outcome.choice.options))
    elif outcome.is_break:
        parts.append("all racked, offender breaks")
    else:
        parts.append(f"opponent, `{outcome.cue_ball.value}`")
    if outcome.count == "keep":
        parts.append("not counted")
    return ", ".join(parts)


def _eight_break(rules: RuleSet) -> Iterable[tuple[str, ...]]:
    options = _options(Game.EIGHT_BALL, rules)
    state = first_state(options)
    open_break = replace(_NO_FACTS, railed=frozenset(range(1, FEW + 1)))
    eight = replace(open_break, pocketed=((8, "foot-left"),))
    cases: tuple[tuple[str, ShotFacts, tuple[Foul, ...]], ...] = (
        ("a ball pocketed", replace(open_break, pocketed=((3, "foot-left"),)), ()),
        ("legal, nothing pocketed", open_break, ()),
        ("nothing pocketed, fewer than four rails", _NO_FACTS, ()),
        ("the same, and a scratch", replace(_NO_FACTS, cue_pocketed=True), ()),
        ("8 pocketed", eight, ()),
        ("8 and cue ball pocketed", replace(eight, cue_pocketed=True), ()),
        ("8 pocketed, another foul", eight, (Foul.NO_FOOT,)),
        ("object ball off the table", replace(open_break, off=frozenset({5})), ()),
        ("8 off the table", replace(open_break, off=frozenset({8})), ()),
        ("scratch", replace(open_break, cue_pocketed=True), ()),
        ("another foul", open_break, (Foul.NO_FOOT,)),
    )
    for name, facts, entered in cases:
        _, outcome = judge(state, Played(()), facts, entered, state.object_balls, options)
        choice = outcome.choice
        who = "-" if choice is None else "breaker" if choice.player == 0 else "opponent"
        offered = "-" if choice is None else ", ".join(f"`{option.value}`" for option in choice.options)
        plays = "breaker" if outcome.player == 0 else "opponent"
        yield name, "yes" if outcome.legal else "no", f"{plays}, `{outcome.cue_ball.value}`", who, offered


def _differences() -> Iterator[str]:
    yield "\n## Differences between the editions\n"
    names = list(RULE_SETS)
    rows = []
    for one in fields(RuleSet):
        if one.name in ("name", "games", "articles"):
            continue
        values = [getattr(rules, one.name) for rules in RULE_SETS.values()]
        if len(set(values)) > 1:
            rows.append((one.name.replace("_", " "), *(_value(value) for value in values)))
    yield from _table(("switch", *names), rows)
    yield "\n### Numbers that moved\n"
    moved = []
    for game in Game:
        for what in (*Foul, *Clause):
            numbers = [rules.article(what, game) if game in rules.games else None for rules in RULE_SETS.values()]
            if isinstance(what, Foul):
                numbers = [
                    n if game in r.games and r.has_foul(what, game) else None
                    for n, r in zip(numbers, RULE_SETS.values(), strict=True)
                ]
            if len({number for number in numbers if number}) > 1 or (any(numbers) and None in numbers[:2]):
                moved.append((game.value, what.value, *(number or "-" for number in numbers)))
    yield from _table(("game", "clause or foul", *names), moved)


def _value(value: object) -> str:
    return {True: "yes", False: "no"}.get(value, str(value)) if isinstance(value, bool) else str(value)


def _fifteenth() -> Iterator[str]:
    yield "\n## The fifteenth ball (4.8; 2025 7.8; est 7.6)\n"
    table = Table()
    in_rack, elsewhere, spot = (table.long_string, table.foot_spot[1] + 0.1), (0.2, 1.3), table.head_spot
    cue_places = {"in the rack's outline": in_rack, "elsewhere": (0.3, 1.0), "on the head spot": spot}
    balls = {
        "in the outline": (table.long_string + 0.03, table.foot_spot[1] + 0.05),
        "pocketed with the 14th": None,
        "in the kitchen, not on the head spot": (0.2, 0.3),
        "elsewhere": elsewhere,
        "on the head spot": spot,
    }
    rows = []
    for name, at in balls.items():
        cells = []
        for cue in cue_places.values():
            if at == cue:
                cells.append("-")
                continue
            places = {0: cue} if at is None else {0: cue, 15: at}
            fifteenth, cue_ball = fifteenth_ball(None if at is None else 15, places, table)
            cells.append(f"15th `{fifteenth.value}`, cue ball `{cue_ball.value}`")
        rows.append((name, *cells))
    yield from _table(("15th ball \\ cue ball", *cue_places), rows)


def _table(head: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> Iterator[str]:
    yield "| " + " | ".join(head) + " |"
    yield "|" + " --- |" * len(head)
    for row in rows:
        yield "| " + " | ".join(row) + " |"


if __name__ == "__main__":
    sys.stdout.write(page())
