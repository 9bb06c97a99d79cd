"""Which ball is which: crops, the joint assignment, and pairs that are easily taken for one another."""

from __future__ import annotations

import time
from itertools import permutations

import numpy as np
import pytest

from calibration.errors import InputError
from tests.vision.picture import table
from vision import identity
from vision.detections import Detections
from vision.identity import crops, unnumbered_p
from vision.numbers import Assigner, assign, marginals


@pytest.mark.parametrize("radius", [5.0, 10.5, 40.0])
def test_crops_hold_the_ball_at_one_size(radius: float) -> None:
    middle = 2 * radius + 0.3
    size = int(4 * radius) + 2
    image = table(
        [(middle, middle, radius)], [(40, 40, 220)], size=(size, size), noise=0, shadow=False, highlight=False
    )
    crop = crops(image, np.array([[middle, middle]]), np.array([radius]))[0]
    red = crop[:, :, 2] > 130
    assert red.sum() == pytest.approx(np.pi * identity.CROP_RADIUS**2, rel=0.15)
    v, u = np.nonzero(red)
    assert u.mean() == pytest.approx(15.5, abs=0.5)
    assert v.mean() == pytest.approx(15.5, abs=0.5)


def test_marginals_against_all_assignments() -> None:
    rng = np.random.default_rng(0)
    log_like = rng.normal(0, 2, (3, 4))
    p = np.exp(log_like)
    want = np.zeros((3, 4))
    for c in permutations(range(4), 3):
        for k in range(3):
            want[k, c[k]] += np.prod([p[i, c[i]] for i in range(3)])
    want /= want.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(marginals(log_like, -60.0), want, atol=1e-9)


def test_marginals_of_tracks_that_share_no_number_are_those_of_all_together() -> None:
    """Worked out apart they are what the whole table gives, to what a number out of the question weighs."""
    rng = np.random.default_rng(5)
    log_like = np.full((6, 7), -60.0)
    log_like[:3, :3] = rng.normal(0, 2, (3, 3))
    log_like[3:5, 3:5] = rng.normal(0, 2, (2, 2))
    log_like[5, 5:] = [0.0, -1.0]
    whole = marginals(np.maximum(log_like, -29.0 + log_like.max(axis=1, keepdims=True)))
    np.testing.assert_allclose(marginals(log_like), whole, atol=1e-6)


def test_a_full_rack_of_sure_balls_costs_next_to_nothing() -> None:
    rng = np.random.default_rng(6)
    log_like = rng.normal(-45.0, 1.0, (16, 16))
    log_like[np.arange(16), rng.permutation(16)] = 0.0
    began = time.process_time()
    for _ in range(20):
        given, p = assign(log_like)
    assert (time.process_time() - began) / 20 < 0.02
    np.testing.assert_allclose(p.max(axis=1), 1.0, atol=1e-9)
    assert sorted(given) == list(range(16))


def look(**log_like: float) -> np.ndarray:
    row = np.full(16, -8.0)
    for name, value in log_like.items():
        row[int(name[1:])] = value
    return row


def test_no_number_twice() -> None:
    a = Assigner()
    for _ in range(10):
        a.add("left", look(n3=0, n7=-0.5))
        a.add("right", look(n3=0, n7=-2.5))
    given = a.assign()
    assert given["left"][0] == 7
    assert given["right"][0] == 3
    assert given["right"][1] > 0.9


def test_a_pocketed_ball_frees_nothing() -> None:
    a = Assigner()
    for _ in range(20):
        a.add("pocketed", look(n3=0))
        a.add("seen", look(n3=0, n7=-1.5))
    assert a.assign()["seen"][0] == 7


def test_an_end_on_stripe_for_a_while_does_not_become_a_solid() -> None:
    a = Assigner()
    for _ in range(30):
        a.add("ball", look(n9=0, n1=-4))
    for _ in range(10):
        a.add("ball", look(n1=0, n9=-3))
    number, p = a.assign()["ball"]
    assert number == 9
    assert p > 0.9


def test_what_is_left_open_is_said_so() -> None:
    a = Assigner()
    for _ in range(10):
        a.add("one", look(n3=0, n7=0))
    number, p = a.assign()["one"]
    assert number in (3, 7)
    assert p == pytest.approx(0.5, abs=0.02)


def test_the_game_limits_the_numbers() -> None:
    a = Assigner.of_game("9-ball")
    a.add("x", look(n12=0, n4=-3))
    assert a.assign()["x"][0] == 4
    with pytest.raises(InputError, match="snooker"):
        Assigner.of_game("snooker")


def test_more_tracks_than_numbers() -> None:
    a = Assigner(numbers=(0, 1))
    for name, row in (("a", look(n0=0)), ("b", look(n1=0)), ("c", look(n1=0, n0=-1))):
        for _ in range(10):
            a.add(name, row)
    given = a.assign()
    assert len(given) == 2
    assert sorted(n for n, _ in given.values()) == [0, 1]


def test_sets_without_numbers_are_recognised() -> None:
    base = Detections.of(np.zeros((8, 2)), np.ones(8), np.ones(8))
    numbered = np.full((8, 16), -9.0)
    plain = np.full((8, 2), -9.0)
    numbered[np.arange(8), np.arange(8)] = 0
    assert unnumbered_p([base.with_(evidence=numbered, unnumbered=plain)]) < 0.01
    red = plain.copy()
    red[:, 0] = 0
    assert unnumbered_p([base.with_(evidence=np.full((8, 16), -3.0), unnumbered=red)]) > 0.99


@pytest.fixture(scope="module")
def rendered() -> tuple[np.ndarray, np.ndarray]:
    """Evidence (n, 16) and numbers (n,) of clear balls in rendered pictures that no weights were trained on."""
    dataset = pytest.importorskip("sample_videos.dataset", reason="the renderer's extra is not installed")
    identifier = identity.load(threads=1)
    evidence, number = [], []
    for image, labels, _ in dataset.pictures(28, seed=4711, size=(640, 360)):
        balls = [b for b in labels if b.visible > 0.8 and b.radius > 4.5 and b.number_known and b.blur < b.radius]
        if len(balls) < 2 or not all(b.number_known for b in labels):
            continue
        middle = np.array([[b.box[0] + b.box[2] / 2 - 0.5, b.box[1] + b.box[3] / 2 - 0.5] for b in balls])
        radius = np.array([b.radius for b in balls])
        found = identifier(np.asarray(image), Detections.of(middle, radius, np.ones(len(balls))))
        evidence.append(found.evidence)
        number.append([b.number for b in balls])
    return np.concatenate(evidence), np.concatenate(number)


def test_single_looks_are_mostly_right(rendered: tuple[np.ndarray, np.ndarray]) -> None:
    evidence, number = rendered
    assert len(number) > 60
    assert np.mean(evidence.argmax(axis=1) == number) > 0.75


def test_single_looks_are_calibrated(rendered: tuple[np.ndarray, np.ndarray]) -> None:
    """What is called p is right in p of the cases: the gap over all looks, and of the sure ones, within a few per cent."""
    evidence, number = rendered
    p = np.exp(evidence) / np.exp(evidence).sum(axis=1, keepdims=True)
    top, right = p.max(axis=1), p.argmax(axis=1) == number
    assert abs(top.mean() - right.mean()) < 0.08
    sure = top > 0.9
    assert right[sure].mean() > top[sure].mean() - 0.07


@pytest.mark.parametrize("pair", [(3, 7), (4, 2), (1, 9), (5, 13), (0, 9), (8, 7)])
def test_confusable_pairs(rendered: tuple[np.ndarray, np.ndarray], pair: tuple[int, int]) -> None:
    """Between the two, the true one has the larger likelihood in most looks."""
    evidence, number = rendered
    a, b = pair
    rows = np.isin(number, pair)
    assert rows.sum() >= 3
    said = np.where(evidence[rows, a] > evidence[rows, b], a, b)
    assert np.mean(said == number[rows]) >= 0.7


def test_two_looks_at_a_picture_do_not_depend_on_its_side() -> None:
    """The mean over crops and their mirror images is that of the mirrored picture."""
    identify = identity.load(threads=1)
    image = table(
        [(60.0, 50.0, 12.0), (110.0, 60.0, 12.0)], [(40, 200, 230), (40, 40, 200)], size=(181, 121), stripe=True
    )
    found = Detections.of([[60.0, 50.0], [110.0, 60.0]], [12.0, 12.0], [0.9, 0.9])
    mirrored = found.with_(centre=np.array([180.0, 0.0]) + found.centre * (-1, 1))
    one = identify(image, found, twice=True)
    other = identify(np.ascontiguousarray(image[:, ::-1]), mirrored, twice=True)
    np.testing.assert_allclose(one.evidence, other.evidence, atol=0.15)
    assert np.abs(identify(image, found).evidence - one.evidence).max() > 0.15, "or one look says all that two say"
