"""Numbers: each at most once, one ball's pieces together."""

import time

import numpy as np
import pytest

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


def test_a_full_table_is_named_in_a_few_milliseconds() -> None:
    """Live pages ask for numbers many times a second."""
    rng = np.random.default_rng(3)
    rows = rng.normal(-45.0, 4.0, (16, 16))
    rows[np.arange(16), rng.permutation(16)] = 0.0
    three, four = rows[3].argmax(), rows[4].argmax()
    rows[3, four] = rows[4, three] = -3.0
    spans = np.tile([0.0, 9.0], (16, 1))
    looked = np.full(16, 9.0)
    began = time.process_time()
    for _ in range(10):
        found = identify(range(16), rows, spans, looked=looked)
    assert (time.process_time() - began) / 10 < 0.02
    assert sorted(found.number.values()) == list(range(16))
    assert 0.8 < found.p[3] < 0.95 < 0.999 < found.p[5]


def crowded(looked_10: float, looked_16: float) -> dict[int, int]:
    """Seventeen tracks of sixteen balls: track 16, long gone, looks like the 10 as track 10 does, which lies there."""
    rows = evidence(*((k, 9.0) for k in range(16)), (10, 9.0))
    spans = np.array([[0.0, 9.0]] * 16 + [[0.0, 5.3]])
    looked = np.array([*[3.0] * 16, looked_16])
    looked[10] = looked_10
    return identify(list(range(17)), rows, spans, looked=looked).number


@pytest.mark.parametrize(("looked_10", "looked_16"), [(3.0, 1.2), (1.7, 3.0)])
def test_what_lies_there_keeps_its_number(looked_10: float, looked_16: float) -> None:
    """A piece that lasted a moment takes it from no ball, nor one looked at for long from a ball that lay in the rack unmoved."""
    given = crowded(looked_10, looked_16)
    assert given[10] == 10
    assert 16 not in given
