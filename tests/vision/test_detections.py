"""Arrays of detections: shapes, indexing, what is derived from them."""

from __future__ import annotations

import numpy as np
import pytest

from vision.detections import KIND_OF, KINDS, Detections


def some(n: int) -> Detections:
    rng = np.random.default_rng(n)
    return Detections.of(rng.uniform(0, 100, (n, 2)), rng.uniform(5, 9, n), rng.uniform(0, 1, n))


def test_a_wrong_shape_is_named() -> None:
    d = some(3)
    with pytest.raises(ValueError, match=r"radius has shape \(2,\)"):
        d.with_(radius=np.ones(2))


@pytest.mark.parametrize("index", [np.array([True, False, True]), np.array([0, 2]), slice(0, 3, 2)])
def test_indexing_keeps_rows_together(index: object) -> None:
    d = some(3)
    part = d[index]
    assert len(part) == 2
    np.testing.assert_array_equal(part.centre, d.centre[[0, 2]])
    np.testing.assert_array_equal(part.score, d.score[[0, 2]])
    np.testing.assert_array_equal(part.cov, d.cov[[0, 2]])


def test_merge_and_empty() -> None:
    d = Detections.merge([some(2), Detections.empty(), some(1)])
    assert len(d) == 3
    assert len(Detections.merge([])) == 0
    assert Detections.empty().boxes.shape == (0, 4)
    assert Detections.empty().number_p.shape == (0, 16)


def test_box_of_a_ball_in_the_first_pixel_begins_at_the_edge() -> None:
    d = Detections.of([[0.0, 0.0]], [0.5], [1.0])
    np.testing.assert_allclose(d.boxes, [[0, 0, 1, 1]])


def test_probabilities_follow_evidence() -> None:
    evidence = np.full((1, 16), -10.0)
    evidence[0, [3, 11]] = [0.0, np.log(0.25)]
    d = some(1).with_(evidence=evidence)
    assert d.number_p[0, 3] == pytest.approx(0.8, abs=1e-3)
    assert d.kind_p[0, KINDS.index("stripe")] == pytest.approx(0.2, abs=1e-3)
    assert d.kind_p.sum() == pytest.approx(1.0)


def test_kinds_of_numbers() -> None:
    assert [KINDS[k] for k in KIND_OF[[0, 1, 7, 8, 9, 15]]] == ["cue", "solid", "solid", "eight", "stripe", "stripe"]
