"""The table of drawn frames, for the tests of the camera's side."""

from __future__ import annotations

import pytest

from tests.railbird.live.drawn import overhead


@pytest.fixture
def drawn_table(monkeypatch: pytest.MonkeyPatch) -> None:
    """The table is where it was drawn: finding it is tested elsewhere, on pictures that look like tables."""
    from railbird import stage

    monkeypatch.setattr(stage, "find_table", lambda pictures, length_m=None: overhead())
    monkeypatch.setattr(stage, "size_from_balls", lambda calibration, centres, radii: calibration)
