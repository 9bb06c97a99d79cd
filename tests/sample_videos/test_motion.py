"""Turning and moving against closed forms."""

import math

import numpy as np
import pytest

from sample_videos.layouts import quaternion_matrix, random_rotation, turn_by
from sample_videos.motion import ROLLING, STATIONARY, Physics, Piece, Track, still

R = 0.028575


@pytest.mark.parametrize("angle", [0.0, 0.3, math.pi / 2, 3.0])
def test_turn_about_z_is_the_plane_rotation(angle: float) -> None:
    c, s = math.cos(angle), math.sin(angle)
    np.testing.assert_allclose(turn_by([0, 0, angle]), [[c, -s, 0], [s, c, 0], [0, 0, 1]], atol=1e-12)


def test_random_rotations_are_rotations_and_even() -> None:
    rng = np.random.default_rng(0)
    turns = np.array([random_rotation(rng) for _ in range(3000)])
    np.testing.assert_allclose(turns @ turns.transpose(0, 2, 1), np.broadcast_to(np.eye(3), turns.shape), atol=1e-12)
    np.testing.assert_allclose(np.linalg.det(turns), 1, atol=1e-12)
    # the pole's direction is even over the sphere: mean 0, second moments 1/3
    poles = turns[:, :, 2]
    assert np.abs(poles.mean(axis=0)).max() < 0.04
    np.testing.assert_allclose((poles[:, :, None] * poles[:, None]).mean(axis=0), np.eye(3) / 3, atol=0.03)


def test_unit_quaternion_is_no_turn() -> None:
    np.testing.assert_array_equal(quaternion_matrix([1, 0, 0, 0]), np.eye(3))


def rolling(speed: float, direction: float = 0.0) -> Track:
    d = np.array([math.cos(direction), math.sin(direction), 0])
    spin = np.cross([0, 0, 1.0], d) * speed / R
    track = Track(R, Physics(), np.eye(3))
    track.add(Piece(0.0, ROLLING, np.stack([[0.3, 0.4, R], d * speed, spin])))
    return track


@pytest.mark.parametrize("direction", [0.0, 1.0, 2.5, -1.2])
def test_a_rolling_ball_slows_evenly_and_turns_by_way_over_radius(direction: float) -> None:
    track = rolling(1.5, direction)
    a = Physics().u_r * Physics().g
    for t in (0.01, 0.3, 0.7311, 1.5):
        way = 1.5 * t - a * t * t / 2
        state = track.rvw(t)
        assert state is not None
        d = np.array([math.cos(direction), math.sin(direction)])
        np.testing.assert_allclose(state[0][:2], [0.3, 0.4] + d * way, atol=1e-9)
        expected = turn_by(np.cross([0, 0, 1.0], [*d, 0]) * way / R)
        np.testing.assert_allclose(track.turn(t), expected, atol=2e-3)


def test_turn_goes_on_where_the_last_piece_left_it() -> None:
    track = rolling(1.0)
    before = track.turn(0.5 - 1e-9)
    track.add(Piece(0.5, STATIONARY, still(0.7, 0.4, R)))
    np.testing.assert_allclose(track.turn(3.0), before, atol=1e-6)
    assert track.moving(0.2, 0.3)
    assert not track.moving(0.6, 0.9)
    assert track.changes(0.49, 0.51)


def test_lying_on_is_no_change() -> None:
    track = Track(R, Physics(), np.eye(3))
    track.add(Piece(0.0, STATIONARY, still(0.5, 0.5, R)))
    track.add(Piece(1.0, STATIONARY, still(0.5, 0.5, R)))
    assert not track.changes(0.9, 1.1)
