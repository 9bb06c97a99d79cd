"""Pictures shown two or three times in a file get their even clock back; what is uneven is left alone."""

from __future__ import annotations

import numpy as np
import pytest

from vision.cadence import find_cadence


def shown(
    picture_rate: float, file_rate: float, seconds: float, phase: float
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """File times, repeat flags, and the true time of the picture in each file frame."""
    t = np.arange(int(seconds * file_rate)) / file_rate
    number = np.floor((t - phase) * picture_rate)
    repeats = np.concatenate([[False], np.diff(number) == 0])
    return t, repeats, phase + number / picture_rate


@pytest.mark.parametrize(
    ("picture_rate", "file_rate"),
    [(25.0, 60.0), (25.0, 29.97), (24.0, 60.0), (30.0, 60.0), (23.976, 29.97), (25.0, 50.0)],
)
def test_the_even_clock_is_found(picture_rate: float, file_rate: float) -> None:
    t, repeats, taken = shown(picture_rate, file_rate, 6.0, 0.0137)
    cadence = find_cadence(t, repeats)
    assert cadence is not None
    fresh = ~repeats
    error = cadence.corrected(t[fresh]) - taken[fresh]
    # A constant shift is the media time's own; what matters is that no jitter is left.
    assert np.abs(error - np.median(error))[2:].max() < 0.003
    assert np.abs(np.median(error)) < 1.1 / file_rate


def test_nothing_repeated_means_no_other_clock() -> None:
    t = np.arange(200) / 30
    assert find_cadence(t, np.zeros(200, bool)) is None


def test_uneven_pictures_keep_the_streams_times() -> None:
    rng = np.random.default_rng(4)
    t = np.arange(300) / 60
    repeats = rng.random(300) < 0.5
    assert find_cadence(t, repeats) is None
