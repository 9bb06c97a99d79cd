"""The rule book's predicates, each by itself."""

from __future__ import annotations

import pytest

from calibration.table import Table
from referee import definitions as book
from referee.racks import fixed_balls, in_outline, on_spot, slots
from referee.rulesets import EST_14_1, FOUL_GAMES, RULE_SETS, WPA_2008, WPA_2025, article_order
from referee.spotting import spot_all, spot_ball
from referee.terms import Foul, Game
from tracking.events import Contact, RailHit

TABLE = Table()


@pytest.mark.parametrize(
    ("rail", "frozen_to", "leaves", "counts"),
    [
        ("left", (), False, True),
        ("left", ("left",), False, False),
        ("left", ("left",), True, True),
        ("foot", ("left",), False, True),
    ],
)
def test_driven_to_rail(rail: str, frozen_to: tuple[str, ...], leaves: bool, counts: bool) -> None:
    assert book.driven_to_rail(rail, frozen_to, leaves) is counts


@pytest.mark.parametrize(
    ("rail_t", "on_cloth", "out"),
    [(None, False, False), (None, True, True), (1.5, False, True), (1.02, False, False), (0.5, False, False)],
)
def test_bounced_out(rail_t: float | None, on_cloth: bool, out: bool) -> None:
    assert book.bounced_out(1.0, rail_t, on_cloth) is out


@pytest.mark.parametrize(("since", "hung"), [(1.0, True), (1.1, False), (5.9, False)])
def test_hung_and_dropped(since: float, hung: bool) -> None:
    assert book.hung_and_dropped(6.0, since) is hung


def test_cue_ball_touching_a_pocketed_ball() -> None:
    assert book.touches_pocketed_ball(1.5, 1.0)
    assert not book.touches_pocketed_ball(1.0, 1.0)
    assert not book.touches_pocketed_ball(0.9, 1.0)


def test_leaning_ball_is_pocketed() -> None:
    pocket = TABLE.pockets["foot-left"]
    assert book.leans_into_pocket(pocket.centre, (0.05, 2.49), pocket.centre, pocket.radius)
    assert not book.leans_into_pocket((0.3, 2.2), (0.35, 2.2), pocket.centre, pocket.radius)


@pytest.mark.parametrize(
    ("at_rest", "foreign", "off"),
    [
        ("cloth", False, False),
        ("pocket", False, False),
        ("elsewhere", False, True),
        ("rail-top", False, True),
        ("cloth", True, True),
    ],
)
def test_off_table(at_rest: str, foreign: bool, off: bool) -> None:
    assert book.off_table(at_rest, foreign) is off


def test_simultaneous() -> None:
    contact = Contact(t_s=0.3, balls=(0, 2))
    assert book.simultaneous(contact, RailHit(t_s=0.3, ball=0, rail="left"))
    assert not book.simultaneous(contact, RailHit(t_s=0.31, ball=0, rail="left"))
    assert not book.simultaneous(contact, RailHit(t_s=0.3, ball=0, rail="left", sigma_s=0.001))


def test_legal_ball_first() -> None:
    assert book.hits_legal_ball_first(2, {2})
    assert not book.hits_legal_ball_first(5, {2})
    assert book.hits_legal_ball_first(None, {2})


def test_kitchen_ends_before_the_head_string() -> None:
    assert TABLE.in_kitchen((0.3, TABLE.head_string - 1e-6))
    assert not TABLE.in_kitchen((0.3, TABLE.head_string))
    assert not book.off_the_break(TABLE, (0.3, TABLE.head_string))


@pytest.mark.parametrize("game", list(Game))
@pytest.mark.parametrize("rules", [WPA_2008, WPA_2025])
def test_racked_balls_touch_and_do_not_overlap(game: Game, rules: object) -> None:
    places = slots(game, TABLE, rules)  # type: ignore[arg-type]
    gaps = [((a[0] - b[0]) ** 2 + (a[1] - b[1]) ** 2) ** 0.5 for i, a in enumerate(places) for b in places[:i]]
    assert min(gaps) == pytest.approx(TABLE.ball_m)


def test_racks_stand_where_the_book_says() -> None:
    assert slots(Game.NINE_BALL, TABLE, WPA_2008)[0] == TABLE.foot_spot
    assert slots(Game.NINE_BALL, TABLE, WPA_2025)[4] == pytest.approx(TABLE.foot_spot)
    assert fixed_balls(Game.NINE_BALL, WPA_2025) == {0: 1, 4: 9}
    assert fixed_balls(Game.EIGHT_BALL, WPA_2008) == {4: 8}
    assert fixed_balls(Game.TEN_BALL, WPA_2008) == {0: 1, 4: 10}
    corners = fixed_balls(Game.STRAIGHT_POOL, EST_14_1)
    places = slots(Game.STRAIGHT_POOL, TABLE, EST_14_1)
    one, five = (next(slot for slot, ball in corners.items() if ball == number) for number in (1, 5))
    # Seen from the foot, looking to the head, the right side is where x is small.
    assert places[one][0] < TABLE.long_string < places[five][0]


def test_outline_of_the_rack() -> None:
    for place in slots(Game.STRAIGHT_POOL, TABLE, WPA_2008):
        assert in_outline(place, TABLE)
    x, y = TABLE.foot_spot
    assert in_outline((x, y - TABLE.ball_m + 1e-4), TABLE)
    assert not in_outline((x, y - TABLE.ball_m - 1e-4), TABLE)
    assert not in_outline(None, TABLE)
    assert on_spot((x, y), (x, y), TABLE)
    assert not on_spot((x + TABLE.ball_m, y), (x, y), TABLE)


def test_spotted_balls_never_overlap() -> None:
    places = {1: (0.635, 1.905), 2: (0.66, 1.97), 0: (0.62, 2.05), 3: (0.61, 2.12), 4: (0.64, 1.84)}
    spotted = spot_all((7, 9, 11, 12, 13), places, TABLE)
    together = {**places, **spotted}
    for ball, at in spotted.items():
        assert at[0] == TABLE.long_string
        for other, there in together.items():
            if other != ball:
                gap = ((at[0] - there[0]) ** 2 + (at[1] - there[1]) ** 2) ** 0.5
                assert gap >= TABLE.ball_m - 1e-6
                if other == 0:
                    assert gap > TABLE.ball_m


def test_spot_is_the_foot_spot_when_free() -> None:
    assert spot_ball({}, TABLE) == TABLE.foot_spot
    assert spot_ball({5: (0.635, 1.905 - TABLE.ball_m)}, TABLE) == TABLE.foot_spot


def test_articles_sort_as_numbers() -> None:
    assert article_order("6.2") < article_order("6.10") < article_order("10")


@pytest.mark.parametrize("rules", RULE_SETS.values(), ids=list(RULE_SETS))
def test_every_foul_of_an_edition_has_one_article(rules: object) -> None:
    for game in rules.games:  # type: ignore[attr-defined]
        articles = [rules.article(foul, game) for foul in Foul if rules.has_foul(foul, game)]  # type: ignore[attr-defined]
        assert all(articles)
    assert set(FOUL_GAMES) == set(Foul)
