"""Normal equations as a band with a border give what dense algebra gives."""

import numpy as np
import pytest

from tracking.normal import VAGUE, Normal


@pytest.mark.parametrize("size", [20, 90])
def test_steps_and_covariances_are_those_of_the_dense_matrix(size: int) -> None:
    rng = np.random.default_rng(size)
    first = np.arange(size - 5)
    columns = np.column_stack([first, first + 2, np.full(len(first), size - 1), np.where(first % 3, size, size - 2)])
    columns = np.where(columns[:, :2].max(axis=1, keepdims=True) < size - 2, columns, size)
    normal = Normal(size, 2, [columns])
    dense, slope = np.eye(size), np.zeros(size)
    root = rng.normal(size=(len(columns), 3, 4))
    blocks, gradients = root.transpose(0, 2, 1) @ root, rng.normal(size=(len(columns), 4))
    normal.add(0, blocks, gradients)
    normal.add_diagonal(np.ones(size), np.zeros(size))
    for at, block, gradient in zip(columns, blocks, gradients, strict=True):
        for i in range(4):
            if at[i] < size:
                slope[at[i]] += gradient[i]
                for j in range(4):
                    if at[j] < size:
                        dense[at[i], at[j]] += block[i, j]
    system = normal.taken()
    np.testing.assert_allclose(system.gradient, slope)
    np.testing.assert_allclose(system.step(0.0), np.linalg.solve(dense, -slope), atol=1e-9)
    wanted = np.array([size - 1, 0, 3])
    np.testing.assert_allclose(system.covariance(wanted), np.linalg.inv(dense)[:, wanted], atol=1e-9)


def test_what_has_no_covariance_is_vague_and_finite() -> None:
    """It goes into match.json, where there is no infinity."""
    normal = Normal(4, 2, [])
    normal.add_diagonal(np.array([-1.0, 1.0, 1.0, 1.0]), np.zeros(4))
    found = normal.taken().covariance(np.array([0, 1]))
    np.testing.assert_array_equal(found, VAGUE * np.eye(4)[:, :2])
