"""The rule book's words as enumerations; what people read comes from the message catalogues, never from here."""

from __future__ import annotations

from enum import StrEnum


class Term(StrEnum):
    """A word of the rule book; its value is how scripts and results spell it."""

    __str__ = str.__str__
    __hash__ = str.__hash__


class Game(Term):
    """The games of chapters 2, 3, 4 and 9."""

    EIGHT_BALL = "8-ball"
    NINE_BALL = "9-ball"
    TEN_BALL = "10-ball"
    STRAIGHT_POOL = "14.1"


class Foul(Term):
    """Every foul the books name. Articles stand in :mod:`referee.rulesets`."""

    SCRATCH = "scratch"
    WRONG_BALL_FIRST = "wrong-ball-first"
    NO_RAIL = "no-rail"
    NO_FOOT = "no-foot"
    BALL_OFF_TABLE = "ball-off-table"
    TOUCHED_BALL = "touched-ball"
    DOUBLE_HIT = "double-hit"
    PUSH = "push"
    BALLS_MOVING = "balls-moving"
    BAD_PLACEMENT = "bad-placement"
    BAD_KITCHEN_PLAY = "bad-kitchen-play"
    CUE_ON_TABLE = "cue-on-table"
    OUT_OF_TURN = "out-of-turn"
    THREE_FOULS = "three-fouls"
    SLOW_PLAY = "slow-play"
    UNSPORTING = "unsporting"
    TEMPLATE = "template"
    DELIBERATE_TOUCH = "deliberate-touch"
    FEW_RAILS = "few-rails"
    BREAKING_FOUL = "breaking-foul"


#: Fouls that the rules work out from other facts; nobody can enter them.
DERIVED_FOULS = frozenset({Foul.THREE_FOULS, Foul.FEW_RAILS, Foul.BREAKING_FOUL})


class CueBall(Term):
    """How the cue ball comes to the next player."""

    AS_LIES = "as-lies"
    IN_HAND = "in-hand"
    KITCHEN = "kitchen"
    HEAD_SPOT = "head-spot"
    CENTRE_SPOT = "centre-spot"


class Option(Term):
    """What a player may be asked to choose."""

    ACCEPT = "accept"
    KITCHEN = "kitchen"
    RERACK_SELF = "rerack-self"
    RERACK_OTHER = "rerack-other"
    SPOT_8 = "spot-8"
    REBREAK = "rebreak"
    PLAY = "play"
    HAND_BACK = "hand-back"
    BREAK_SELF = "break-self"
    BREAK_OTHER = "break-other"


class Group(Term):
    """The two groups of 8-ball (ch. 3)."""

    SOLIDS = "solids"
    STRIPES = "stripes"

    @property
    def other(self) -> Group:
        return Group.STRIPES if self is Group.SOLIDS else Group.SOLIDS

    @property
    def balls(self) -> frozenset[int]:
        return SOLIDS if self is Group.SOLIDS else STRIPES


SOLIDS = frozenset(range(1, 8))
STRIPES = frozenset(range(9, 16))


class Fifteenth(Term):
    """Where the fifteenth ball goes when fourteen are racked (14.1, 4.8)."""

    STAYS = "stays"
    HEAD_SPOT = "head-spot"
    CENTRE_SPOT = "centre-spot"
    RACKED = "racked"


class Level(Term):
    """The referee's choice of penalty for unsporting conduct (6.16)."""

    WARNING = "warning"
    FOUL = "foul"
    SERIOUS = "serious"
    RACK = "rack"
    MATCH = "match"


class BreakOrder(Term):
    """Who breaks the next rack."""

    ALTERNATE = "alternate"
    WINNER = "winner"
    LOSER = "loser"


class Reason(Term):
    """What made a ruling come out as it did, beside fouls: the clause it stands on."""

    CONTINUES = "continues"
    MISS = "miss"
    SAFETY = "safety"
    WRONGLY_POCKETED = "wrongly-pocketed"
    PUSHED_OUT = "pushed-out"
    BREAK_OPEN = "break-open"
    ILLEGAL_BREAK = "illegal-break"
    THREE_BALL = "three-ball"
    EIGHT_ON_BREAK = "eight-on-break"
    BALL_OFF_ON_BREAK = "ball-off-on-break"
    FOUL_ON_BREAK = "foul-on-break"
    RACK_WON = "rack-won"
    EIGHT_ON_FOUL = "eight-on-foul"
    EIGHT_EARLY = "eight-early"
    EIGHT_WRONG_POCKET = "eight-wrong-pocket"
    EIGHT_ON_SAFETY = "eight-on-safety"
    EIGHT_OFF_TABLE = "eight-off-table"
    STANDARD_FOUL = "standard-foul"
    THIRD_FOUL = "third-foul"
    BREAKING_FOUL = "breaking-foul"
    DELIBERATE = "deliberate"
    RERACK = "rerack"
    POINTS_REACHED = "points-reached"
    LAG_WON = "lag-won"
    LAG_AGAIN = "lag-again"
    CHOSEN = "chosen"
    STALEMATE = "stalemate"
    STALEMATE_ANNOUNCED = "stalemate-announced"
    CONCEDED = "conceded"
    PENALTY = "penalty"
    REPLAY = "replay"
    SPOT_REQUEST = "spot-request"


class Clause(Term):
    """Articles that are no fouls, named by what they regulate."""

    LAG = "lag"
    EQUIPMENT = "equipment"
    SPOTTING = "spotting"
    IN_HAND = "ball-in-hand"
    CALLS = "calls"
    SETTLING = "settling"
    RESTORING = "restoring"
    INTERFERENCE = "interference"
    APPEAL = "appeal"
    CONCESSION = "concession"
    STALEMATE = "stalemate"
    TABLE = "table"
    SHOT = "shot"
    POCKETED = "pocketed"
    DRIVEN_TO_RAIL = "driven-to-rail"
    OFF_TABLE = "off-table"
    CUE_BALL_POCKETED = "cue-ball-pocketed"
    POSITION = "position"
    MISCUE = "miscue"
    RACK = "rack"
    BREAK = "break"
    PUSH_OUT = "push-out"
    OPEN_TABLE = "open-table"
    CONTINUING = "continuing"
    GAME_CALLS = "game-calls"
    GAME_SPOTTING = "game-spotting"
    LOSS = "loss"
    FOULS = "fouls"
    SERIOUS = "serious-fouls"
    SCORING = "scoring"
    RERACK = "re-rack"
    GAME_STALEMATE = "game-stalemate"
    WRONGLY_POCKETED = "wrongly-pocketed"
    SPOT_REQUEST = "spot-request"
