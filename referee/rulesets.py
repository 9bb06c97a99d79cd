"""The editions as data: named switches, and every article number in one table per edition."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from referee.terms import Clause, Foul, Game

_POOL = frozenset({Game.EIGHT_BALL, Game.NINE_BALL, Game.TEN_BALL})
_ALL = _POOL | {Game.STRAIGHT_POOL}

#: In which games a foul exists at all (RULES section 3; the lists in 2.7, 3.9, 4.9 and 9.8).
FOUL_GAMES: Mapping[Foul, frozenset[Game]] = MappingProxyType(
    {
        **dict.fromkeys(Foul, _ALL),
        Foul.WRONG_BALL_FIRST: _POOL,
        Foul.BAD_KITCHEN_PLAY: frozenset({Game.EIGHT_BALL, Game.STRAIGHT_POOL}),
        Foul.THREE_FOULS: frozenset({Game.NINE_BALL, Game.TEN_BALL, Game.STRAIGHT_POOL}),
        Foul.TEMPLATE: _POOL,
        Foul.FEW_RAILS: frozenset({Game.NINE_BALL, Game.TEN_BALL}),
        Foul.BREAKING_FOUL: frozenset({Game.STRAIGHT_POOL}),
    }
)

Articles = Mapping[tuple[Game | None, Foul | Clause], str]


@dataclass(frozen=True, slots=True)
class RuleSet:
    """One edition: its name, games, articles and the switches in which editions differ.

    Parameters
    ----------
    name : as scripts spell it, e.g. ``wpa-2025``.
    games : the games it regulates.
    articles : (game or None, foul or clause) -> article; a game's own entry goes before the general one.
    three_ball_rule : 9-ball break needs three balls pocketed or past the head string (Regulation 16), by default.
    nine_on_foot_spot : 9-ball racks with the 9 on the foot spot.
    ten_safety : 10-ball allows a safety call.
    ten_wins_early : a called 10 wins at any time, and on a legal break; else only as the last object ball.
    eight_break_any_foul : the 8 on the break with any foul is case (f), not with a scratch alone.
    claim_empty_group : open table, a group all gone may be claimed and the 8 played (4.4).
    warning_needed : the third foul needs the warning at two (6.14).
    three_fouls_points : 14.1, points lost by the third foul in a row, all told.
    near_rail_rule : 14.1, the object ball near a cushion (est 7.2).
    frozen_first_rule : 14.1, the requirements when a frozen ball is hit first (est 7.2).
    deliberate_touch : 14.1, catching or touching a moving ball costs sixteen (est 7.5).
    lag_fouls : a further foul on the lag makes it bad.
    clock_s, call_left_s, extension_s : the shot clock when in use.
    """

    name: str
    games: frozenset[Game]
    articles: Articles
    three_ball_rule: bool = False
    nine_on_foot_spot: bool = False
    ten_safety: bool = True
    ten_wins_early: bool = True
    eight_break_any_foul: bool = False
    claim_empty_group: bool = False
    warning_needed: bool = True
    three_fouls_points: int = 16
    near_rail_rule: bool = False
    frozen_first_rule: bool = False
    deliberate_touch: bool = False
    lag_fouls: bool = False
    clock_s: float = 35.0
    call_left_s: float = 10.0
    extension_s: float = 25.0

    def article(self, what: Foul | Clause, game: Game | None = None) -> str | None:
        """Article of a foul or clause in this edition, the game's own if it has one; ``None`` where there is none."""
        return self.articles.get((game, what)) or self.articles.get((None, what))

    def has_foul(self, foul: Foul, game: Game) -> bool:
        """Whether this edition knows the foul in this game."""
        return game in FOUL_GAMES[foul] and self.article(foul, game) is not None


_GENERAL_2008: dict[Foul | Clause, str] = {
    Clause.LAG: "1.2",
    Clause.EQUIPMENT: "1.3",
    Clause.SPOTTING: "1.4",
    Clause.IN_HAND: "1.5",
    Clause.SPOT_REQUEST: "1.5",
    Clause.CALLS: "1.6",
    Clause.SETTLING: "1.7",
    Clause.RESTORING: "1.8",
    Clause.INTERFERENCE: "1.9",
    Clause.APPEAL: "1.10",
    Clause.CONCESSION: "1.11",
    Clause.STALEMATE: "1.12",
    Clause.TABLE: "8.1",
    Clause.SHOT: "8.2",
    Clause.POCKETED: "8.3",
    Clause.DRIVEN_TO_RAIL: "8.4",
    Clause.OFF_TABLE: "8.5",
    Clause.CUE_BALL_POCKETED: "8.6",
    Clause.POSITION: "8.13",
    Clause.MISCUE: "8.18",
    Foul.SCRATCH: "6.1",
    Foul.WRONG_BALL_FIRST: "6.2",
    Foul.NO_RAIL: "6.3",
    Foul.NO_FOOT: "6.4",
    Foul.BALL_OFF_TABLE: "6.5",
    Foul.TOUCHED_BALL: "6.6",
    Foul.DOUBLE_HIT: "6.7",
    Foul.PUSH: "6.8",
    Foul.BALLS_MOVING: "6.9",
    Foul.BAD_PLACEMENT: "6.10",
    Foul.BAD_KITCHEN_PLAY: "6.11",
    Foul.CUE_ON_TABLE: "6.12",
    Foul.OUT_OF_TURN: "6.13",
    Foul.THREE_FOULS: "6.14",
    Foul.SLOW_PLAY: "6.15",
    Foul.UNSPORTING: "6.16",
}

_STRAIGHT_2008: dict[Foul | Clause, str] = {
    Clause.RACK: "4.2",
    Clause.BREAK: "4.3",
    Clause.CONTINUING: "4.4",
    Clause.GAME_CALLS: "4.5",
    Clause.GAME_SPOTTING: "4.6",
    Clause.SCORING: "4.7",
    Clause.RERACK: "4.8",
    Clause.FOULS: "4.9",
    Clause.SERIOUS: "4.11",
    Clause.GAME_STALEMATE: "4.12",
    Foul.BREAKING_FOUL: "4.10",
}

_GAMES_2008: dict[Game, dict[Foul | Clause, str]] = {
    Game.NINE_BALL: {
        Clause.RACK: "2.2",
        Clause.BREAK: "2.3",
        Clause.PUSH_OUT: "2.4",
        Clause.CONTINUING: "2.5",
        Clause.GAME_SPOTTING: "2.6",
        Clause.FOULS: "2.7",
        Clause.SERIOUS: "2.8",
        Clause.GAME_STALEMATE: "2.9",
        Foul.FEW_RAILS: "2.3",
    },
    Game.EIGHT_BALL: {
        Clause.RACK: "3.2",
        Clause.BREAK: "3.3",
        Clause.OPEN_TABLE: "3.4",
        Clause.CONTINUING: "3.5",
        Clause.GAME_CALLS: "3.6",
        Clause.GAME_SPOTTING: "3.7",
        Clause.LOSS: "3.8",
        Clause.FOULS: "3.9",
        Clause.SERIOUS: "3.10",
        Clause.GAME_STALEMATE: "3.11",
    },
    Game.STRAIGHT_POOL: _STRAIGHT_2008,
    Game.TEN_BALL: {
        Clause.RACK: "9.2",
        Clause.BREAK: "9.3",
        Clause.PUSH_OUT: "9.4",
        Clause.GAME_CALLS: "9.5",
        Clause.WRONGLY_POCKETED: "9.5",
        Clause.CONTINUING: "9.6",
        Clause.GAME_SPOTTING: "9.7",
        Clause.FOULS: "9.8",
        Clause.SERIOUS: "9.9",
        Clause.GAME_STALEMATE: "9.10",
        Foul.FEW_RAILS: "9.3",
    },
}

_GENERAL_2025: dict[Foul | Clause, str] = {
    Clause.LAG: "1.2",
    Clause.EQUIPMENT: "1.4",
    Clause.SPOTTING: "1.5",
    Clause.IN_HAND: "1.6",
    Clause.SPOT_REQUEST: "1.6",
    Clause.CALLS: "1.7",
    Clause.SETTLING: "1.8",
    Clause.RESTORING: "1.9",
    Clause.INTERFERENCE: "1.10",
    Clause.APPEAL: "1.11",
    Clause.CONCESSION: "1.12",
    Clause.STALEMATE: "1.13",
    Clause.TABLE: "2.1",
    Clause.POCKETED: "2.2",
    Clause.OFF_TABLE: "2.6",
    Clause.DRIVEN_TO_RAIL: "2.7",
    Clause.CUE_BALL_POCKETED: "2.2",
    Clause.MISCUE: "2.11",
    Clause.POSITION: "2.13",
    Clause.SHOT: "2.19",
    Foul.SCRATCH: "3.1",
    Foul.WRONG_BALL_FIRST: "3.2",
    Foul.NO_RAIL: "3.3",
    Foul.NO_FOOT: "3.4",
    Foul.BALL_OFF_TABLE: "3.5",
    Foul.TOUCHED_BALL: "3.6",
    Foul.DOUBLE_HIT: "3.7",
    Foul.PUSH: "3.8",
    Foul.BALLS_MOVING: "3.9",
    Foul.BAD_PLACEMENT: "3.10",
    Foul.BAD_KITCHEN_PLAY: "3.11",
    Foul.OUT_OF_TURN: "3.12",
    Foul.THREE_FOULS: "3.13",
    Foul.SLOW_PLAY: "3.14",
    Foul.TEMPLATE: "3.15",
    Foul.UNSPORTING: "3.16",
}

_GAMES_2025: dict[Game, dict[Foul | Clause, str]] = {
    Game.EIGHT_BALL: {
        Clause.RACK: "4.2",
        Clause.BREAK: "4.3",
        Clause.OPEN_TABLE: "4.4",
        Clause.CONTINUING: "4.5",
        Clause.GAME_CALLS: "4.6",
        Clause.GAME_SPOTTING: "4.7",
        Clause.LOSS: "4.8",
        Clause.FOULS: "4.9",
        Clause.SERIOUS: "4.10",
        Clause.GAME_STALEMATE: "4.11",
    },
    Game.NINE_BALL: {
        Clause.RACK: "5.2",
        Clause.BREAK: "5.3",
        Clause.PUSH_OUT: "5.4",
        Clause.CONTINUING: "5.5",
        Clause.GAME_SPOTTING: "5.6",
        Clause.FOULS: "5.7",
        Clause.SERIOUS: "5.8",
        Clause.GAME_STALEMATE: "5.9",
        Foul.FEW_RAILS: "5.3",
    },
    Game.TEN_BALL: {
        Clause.RACK: "6.2",
        Clause.BREAK: "6.3",
        Clause.PUSH_OUT: "6.4",
        Clause.GAME_CALLS: "6.5",
        Clause.WRONGLY_POCKETED: "6.6",
        Clause.CONTINUING: "6.7",
        Clause.GAME_SPOTTING: "6.8",
        Clause.FOULS: "6.9",
        Clause.SERIOUS: "6.10",
        Clause.GAME_STALEMATE: "6.11",
        Foul.FEW_RAILS: "6.3",
    },
    Game.STRAIGHT_POOL: {
        Clause.RACK: "7.2",
        Clause.BREAK: "7.3",
        Clause.CONTINUING: "7.4",
        Clause.GAME_CALLS: "7.5",
        Clause.GAME_SPOTTING: "7.6",
        Clause.SCORING: "7.7",
        Clause.RERACK: "7.8",
        Clause.FOULS: "7.9",
        Clause.SERIOUS: "7.11",
        Clause.GAME_STALEMATE: "7.12",
        Foul.BREAKING_FOUL: "7.10",
    },
}

_ESTONIAN: dict[Foul | Clause, str] = {
    Clause.RACK: "4",
    Clause.SCORING: "5",
    Clause.BREAK: "6",
    Foul.BREAKING_FOUL: "6",
    Clause.CONTINUING: "7.1",
    Clause.GAME_CALLS: "7.4",
    Foul.NO_RAIL: "7.2",
    Foul.DELIBERATE_TOUCH: "7.5",
    Clause.RERACK: "7.6",
    Clause.SPOT_REQUEST: "7.7",
    Clause.GAME_SPOTTING: "8",
    Foul.BALL_OFF_TABLE: "9",
    Foul.SCRATCH: "10",
    Clause.FOULS: "11",
    Clause.SERIOUS: "12",
    Foul.THREE_FOULS: "12",
}


def _table(general: dict[Foul | Clause, str], games: dict[Game, dict[Foul | Clause, str]]) -> Articles:
    table: dict[tuple[Game | None, Foul | Clause], str] = {(None, what): number for what, number in general.items()}
    for game, own in games.items():
        table.update({(game, what): number for what, number in own.items()})
    return MappingProxyType(table)


WPA_2008 = RuleSet("wpa-2008", _ALL, _table(_GENERAL_2008, _GAMES_2008))

WPA_2025 = RuleSet(
    "wpa-2025",
    _ALL,
    _table(_GENERAL_2025, _GAMES_2025),
    three_ball_rule=True,
    nine_on_foot_spot=True,
    ten_safety=False,
    ten_wins_early=False,
    eight_break_any_foul=True,
    claim_empty_group=True,
    warning_needed=False,
    lag_fouls=True,
)

EST_14_1 = RuleSet(
    "est-14.1",
    frozenset({Game.STRAIGHT_POOL}),
    _table(_GENERAL_2008, {Game.STRAIGHT_POOL: {Clause.GAME_STALEMATE: "4.12", **_ESTONIAN}}),
    warning_needed=False,
    three_fouls_points=15,
    near_rail_rule=True,
    frozen_first_rule=True,
    deliberate_touch=True,
)

#: Rule sets by name, the default first.
RULE_SETS: Mapping[str, RuleSet] = MappingProxyType({r.name: r for r in (WPA_2025, WPA_2008, EST_14_1)})


def article_order(article: str | None) -> tuple[int, ...]:
    """Sort key of an article number: 6.2 before 6.10."""
    return tuple(int(part) for part in (article or "99").split("."))
