"""The state of a match between two lines of its script, and the options it is played with; both frozen."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from calibration.table import Point, Table
from referee.racks import balls_of
from referee.rulesets import RuleSet
from referee.ruling import Choice, Pair
from referee.terms import BreakOrder, CueBall, Game, Group

NearRail = tuple[int, str, int]  # ball, rail, running shots at it that used just that rail (est 7.2)


@dataclass(frozen=True, slots=True)
class Options:
    """What a match is played with: the ``match`` line.

    Parameters
    ----------
    game, rules, players : what is played, by which edition, by whom (two names, or two teams' names).
    breaker : who breaks first (or lags for it), 0 or 1.
    race_to : racks that win (a set, where ``sets_to`` is given); ``None`` plays on.
    points_to : 14.1, points that win.
    sets_to : sets that win the match (8.9).
    break_order : who breaks the next rack.
    three_ball_rule : whether the three-ball rule is on.
    shot_clock_s : time for a shot; a number means that both are on the clock (6.15).
    table : the table's geometry.
    sure : probability at which a foul is called.
    partners : team members in their order, where teams play; they alternate.
    alternate_innings : partners alternate at each turn instead of at each shot.
    """

    game: Game
    rules: RuleSet
    players: tuple[str, str]
    breaker: int = 0
    race_to: int | None = None
    points_to: int | None = None
    sets_to: int | None = None
    break_order: BreakOrder = BreakOrder.ALTERNATE
    three_ball_rule: bool = False
    shot_clock_s: float | None = None
    table: Table = field(default_factory=Table)
    sure: float = 0.95
    partners: tuple[tuple[str, ...], tuple[str, ...]] | None = None
    alternate_innings: bool = False


@dataclass(frozen=True, slots=True)
class State:
    """Everything that the rules remember about a match; a fold over its lines, nothing else keeps any.

    Parameters
    ----------
    shooter : whose turn it is.
    on_table : balls in play, cue ball included.
    positions : ball -> place, metres, where known. Treat it as frozen.
    racked : balls standing in a rack that nobody has touched yet.
    cue_ball : how the cue ball comes to the shooter.
    is_break, push_out_allowed : what the next shot is or may be.
    groups : of both players, once decided; ``groups_known`` is false where a recorded clip began in mid-rack.
    fouls_in_row, warned : of both players.
    score, sets : racks or points of this set, and sets won.
    rack_breaker : the original breaker of the rack.
    shots : shots in the log so far.
    choice : what a player is asked, if anything.
    lag_needed : the lag has to decide who plays on.
    stalemate_turns : turns left to both since a stalemate was announced.
    near_rail : est 7.2, what each player has done at a ball near a rail.
    extensions : whether each player has used the extension of this rack.
    strokes, innings : of both sides, counted where partners alternate.
    rack_winner, match_winner : who won the match; a rack's winner shows in the ruling only.
    group_odds : while the groups are not known, how likely the table is open, the first player has solids, has stripes.
    before : the state before the last shot, while it can be replayed.
    """

    shooter: int
    on_table: frozenset[int]
    positions: Mapping[int, Point] = field(default_factory=dict)
    racked: frozenset[int] = frozenset()
    cue_ball: CueBall = CueBall.KITCHEN
    is_break: bool = True
    push_out_allowed: bool = False
    groups: tuple[Group, Group] | None = None
    groups_known: bool = True
    fouls_in_row: Pair = (0, 0)
    warned: tuple[bool, bool] = (False, False)
    score: Pair = (0, 0)
    sets: Pair = (0, 0)
    rack_breaker: int = 0
    shots: int = 0
    choice: Choice | None = None
    lag_needed: bool = False
    stalemate_turns: Pair | None = None
    near_rail: tuple[NearRail | None, NearRail | None] = (None, None)
    extensions: tuple[bool, bool] = (False, False)
    strokes: Pair = (0, 0)
    innings: Pair = (0, 0)
    match_winner: int | None = None
    group_odds: tuple[float, float, float] | None = None
    before: State | None = field(default=None, compare=False, repr=False)

    @property
    def opponent(self) -> int:
        return 1 - self.shooter

    @property
    def object_balls(self) -> frozenset[int]:
        return self.on_table - _CUE


_CUE = frozenset({0})


def first_state(options: Options) -> State:
    """The state before the first shot: balls racked, cue ball in hand in the kitchen."""
    balls = balls_of(options.game)
    return State(shooter=options.breaker, on_table=balls, racked=balls - _CUE, rack_breaker=options.breaker)


def with_player(pair: Pair, player: int, value: int) -> Pair:
    """A pair with one player's number replaced."""
    return (value, pair[1]) if player == 0 else (pair[0], value)


def with_flag(pair: tuple[bool, bool], player: int, value: bool) -> tuple[bool, bool]:
    """A pair of flags with one player's replaced."""
    return (value, pair[1]) if player == 0 else (pair[0], value)
