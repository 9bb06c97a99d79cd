"""Numbers: each at most once, one ball's pieces together."""

import numpy as np

from tracking.identity import identify


def evidence(*best: tuple[int, float]) -> np.ndarray:
    out = np.full((len(best), 16), -8.0)
    for k, (number, lead) in enumerate(best):
        out[k] = -lead
        out[k, number] = 0.0
    return out


def test_a_number_is_given_once() -> None:
    rows = evidence((3, 6.0), (3, 6.0))
    rows[1, 11] = -0.5
    spans = np.array([[0.0, 9.0], [0.0, 9.0]])
    found = identify([7, 8], rows, spans)
    assert found.number == {7: 3, 8: 11}


def test_pieces_of_one_ball_share_its_number() -> None:
    found = identify([1, 2], evidence((5, 6.0), (5, 6.0)), np.array([[0.0, 4.0], [6.0, 9.0]]))
    assert found.number == {1: 5, 2: 5}


def test_only_balls_of_the_game() -> None:
    rows = evidence((12, 3.0), (0, 6.0))
    found = identify([1, 2], rows, np.array([[0.0, 9.0], [0.0, 9.0]]), game_balls=range(10))
    assert found.number[1] in range(1, 10)


def test_doubt_is_said() -> None:
    rows = evidence((2, 0.2), (0, 9.0))
    found = identify([1, 2], rows, np.array([[0.0, 9.0], [0.0, 9.0]]))
    assert found.p[1] < 0.3
    assert found.p[2] > 0.95
