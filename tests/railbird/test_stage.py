"""While a view is in doubt nothing that it shows is believed, and a table that is not there is not looked for all the time."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from calibration.camera import Camera
from calibration.errors import InputError
from calibration.result import Calibration
from calibration.table import Table
from railbird import stage as staging
from railbird.stage import Stage
from tests.calibration.painted import paint
from tracking.observations import Observation
from vision.video import Frame

CAMERA = Camera.looking([0.6, -2.0, 2.2], [0.63, 1.1, 0], width=640, height=360, focal=600)
PICTURE = paint(CAMERA, Table())
RATE = 25.0
Picture = npt.NDArray[np.uint8]


class Blind:
    """Stands in for the eye: it is only told of a new table."""

    def __init__(self) -> None:
        self.told: list[Calibration] = []

    def recalibrate(self, calibration: Calibration) -> None:
        self.told.append(calibration)


def frames(*pictures: tuple[Picture, int]) -> list[Frame]:
    flat = [p for p, count in pictures for _ in range(count)]
    return [Frame(k, k / RATE, None, p) for k, p in enumerate(flat)]


def look(frame: Frame) -> Observation:
    none = np.zeros((0, 2))
    return Observation(frame.t_s, none, np.zeros((0, 2, 2)), np.zeros(0), np.zeros((0, 16)))


def believed(some: list[Frame]) -> tuple[list[float], float | None]:
    """Times of the looks that were believed, and when the view was found to have changed."""
    stage = Stage(iter(some), some[0], Calibration(Table(), CAMERA, 0.3), 2.54)
    times: list[float] = []
    noticed = None
    for frame in some:
        verdict = stage.check(frame, Blind())  # type: ignore[arg-type]
        times += [o.t_s for o in stage.trusted(verdict, [look(frame)] if verdict.table_seen else [])]
        if not verdict.table_seen and noticed is None:
            noticed = frame.t_s
    return times, noticed


@pytest.fixture
def nowhere(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """No table is found again; how many pictures it was looked for in, each time."""
    asked: list[float] = []

    def find(pictures: list[Picture], **_: Any) -> Calibration:
        asked.append(len(pictures))
        raise InputError("no table found")

    monkeypatch.setattr(staging, "find_table", find)
    return asked


def test_looks_at_a_view_that_moved_are_dropped_from_the_first_on(nowhere: list[float]) -> None:
    bumped = np.roll(PICTURE, (3, 4), axis=(0, 1))
    times, noticed = believed(frames((PICTURE, 25), (bumped, 25)))
    assert noticed is not None
    assert 1.0 < noticed < 2.0  # not at once: it has to last
    assert times == pytest.approx([k / RATE for k in range(25)])


def test_looks_held_back_are_handed_on_where_nothing_had_moved(nowhere: list[float]) -> None:
    shaken = np.roll(PICTURE, (3, 4), axis=(0, 1))
    times, noticed = believed(frames((PICTURE, 25), (shaken, 4), (PICTURE, 25)))
    assert noticed is None
    assert times == pytest.approx([k / RATE for k in range(54)])


def test_a_table_that_is_not_there_is_looked_for_ever_less_often(nowhere: list[float]) -> None:
    other = np.ascontiguousarray(PICTURE[:, ::-1] // 2 + 60)
    other[:120] = 200
    _, noticed = believed(frames((PICTURE, 5), (other, 500)))
    assert noticed == pytest.approx(0.2)
    assert 3 <= len(nowhere) <= 6  # in 20 s; every 0.4 s would be 50


def test_in_another_view_it_is_looked_for_anew(nowhere: list[float]) -> None:
    other = np.ascontiguousarray(PICTURE[:, ::-1] // 2 + 60)
    other[:120] = 200
    third = np.ascontiguousarray(255 - other)
    believed(frames((PICTURE, 5), (other, 100)))
    alone = len(nowhere)
    nowhere.clear()
    believed(frames((PICTURE, 5), (other, 100), (third, 100)))
    assert len(nowhere) >= 2 * alone
