"""Training and tuning: what a recording teaches, schedules, weights in and out."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from calibration.errors import InputError
from railbird.training import gather, shares
from tests.vision.picture import table
from vision import labels, train_identity
from vision.detections import Detections
from vision.labels import Labelled
from vision.tune import compare, rests, tune

BALLS = np.array([[40.0, 40.0], [90.0, 60.0], [60.0, 95.0]])
NUMBERS = np.array([0, 3, 7])


class Eyes:
    """Sees the three balls, moved by ``shift`` every time ``moves`` says so; takes the 7 for a 3 in every look."""

    def __init__(self, moves: set[int]) -> None:
        self.moves, self.count, self.shift = moves, 0, 0.0

    def look(self, image: np.ndarray) -> Detections:
        if self.count in self.moves:
            self.shift += 15.0
        self.count += 1
        return self.identify(image, Detections.of(BALLS + self.shift, np.full(3, 8.0), np.full(3, 0.9)))

    def identify(self, image: np.ndarray, found: Detections) -> Detections:
        evidence = np.full((3, 16), -6.0)
        evidence[[0, 1, 2], NUMBERS] = 0.0
        evidence[2, 3] = 0.8
        return found.with_(evidence=evidence)


def stream(n: int) -> Iterator[tuple[float, np.ndarray]]:
    colours = [(235, 240, 240), (40, 40, 200), (30, 40, 110)]
    image = table([(*c, 8.0) for c in BALLS], colours, size=(130, 130), shadow=False)
    for k in range(n):
        yield k * 0.4, image


def test_rests_end_where_balls_move() -> None:
    found = rests(stream(20), Eyes({5, 11}), tuple(range(16)))  # type: ignore[arg-type]
    assert [round(r.t_s, 1) for r in found] == [1.6, 4.0, 7.6]


def test_all_looks_together_know_more_than_one() -> None:
    found = rests(stream(8), Eyes(set()), tuple(range(16)))  # type: ignore[arg-type]
    assert len(found) == 1
    assert found[0].number.tolist() == [0, 3, 7]
    single = compare(Eyes(set()).identify, found)  # type: ignore[arg-type]
    assert single["right"] == 2
    assert single["of"] == 3


def test_too_short_a_recording_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="too few"):
        tune(stream(6), tmp_path, Eyes(set()), tmp_path / "identity.pt")  # type: ignore[arg-type]


def test_rendered_pictures_are_what_real_tables_leave() -> None:
    def one(group: str) -> Labelled:
        none = np.zeros(0)
        return Labelled(Path("x"), none.reshape(0, 2), none, none.astype(int), none.astype(int), none, group=group)

    pictures = [one("club")] * 4 + [one("bar")] + [one("rendered/1")] * 5
    share = np.array(shares(pictures))
    assert share.sum() == pytest.approx(1)
    assert share[5:].sum() == pytest.approx(0.55)
    assert share[:4].sum() == pytest.approx(2 * share[4])  # four pictures of one table count as two


def test_a_folder_that_is_not_there() -> None:
    with pytest.raises(InputError, match="no such folder"):
        gather(Path("/nowhere/at/all"))


def test_identity_trains_calibrates_and_exports(tmp_path: Path) -> None:
    pytest.importorskip("torch", reason="the extra yolo is not installed")
    import cv2

    from vision import identity

    image = next(stream(1))[1]
    path = tmp_path / "a.png"
    cv2.imwrite(str(path), image)
    picture = Labelled(path, BALLS, np.full(3, 8.0), NUMBERS, np.array([0, 1, 1]), np.ones(3))
    labels.write(tmp_path, [picture])
    tray = train_identity.tray(labels.read(tmp_path)[0], np.random.default_rng(0))
    assert tray is not None
    assert len(tray.crops) > 3
    schedule = train_identity.Schedule(steps=8, pictures=2, warm=2, save_every=8)
    lines: list[str] = []
    out = train_identity.train([tray], tmp_path / "w", schedule, say=lines.append)
    assert 0.29 < train_identity.calibrate(tmp_path / "w" / "identity.pt", [tray]) < 2.1
    found = identity.load(out)(image, Detections.of(BALLS, np.full(3, 8.0), np.ones(3)))
    assert found.evidence.shape == (3, 16)
    assert found.evidence.max(axis=1).tolist() == pytest.approx([0, 0, 0], abs=1e-5)


def test_detector_trains_a_step_and_goes_on(tmp_path: Path) -> None:
    pytest.importorskip("ultralytics", reason="the extra yolo is not installed")
    import cv2

    from vision import network, yolo
    from vision.train import Schedule, train

    path = tmp_path / "a.png"
    cv2.imwrite(str(path), next(stream(1))[1])
    picture = Labelled(path, BALLS, np.full(3, 8.0), NUMBERS, np.array([0, 1, 1]), np.ones(3))
    lines: list[str] = []
    for steps in (1, 2):
        schedule = Schedule(steps=steps, batch=2, size=64, save_every=1)
        checkpoint = train([picture], tmp_path / "w", schedule, resume=True, say=lines.append)
    assert "going on from step 1" in lines
    network.export(checkpoint, tmp_path / "w" / "detector.onnx")
    yolo.load(tmp_path / "w", threads=1)(next(stream(1))[1])


def test_mistakes_are_what_lies_on_no_label(tmp_path: Path) -> None:
    import cv2

    from vision.mistakes import mistakes

    class Finds:
        def __call__(self, image: np.ndarray) -> Detections:
            centre = np.vstack([BALLS, [[20.0, 110.0], [110.0, 20.0], [118.0, 118.0]]])
            return Detections.of(centre, np.full(6, 8.0), [0.9, 0.9, 0.9, 0.3, 0.5, 0.95])

    path = tmp_path / "a.png"
    cv2.imwrite(str(path), next(stream(1))[1])
    none = np.array([[100.0, 10.0, 20.0, 20.0]])
    picture = Labelled(path, BALLS, np.full(3, 8.0), NUMBERS, np.array([0, 1, 1]), np.ones(3), none, group="club")
    found = mistakes(Finds(), picture)  # type: ignore[arg-type]
    np.testing.assert_allclose(found, [[20.0, 110.0, 8.0]])  # one is ignored, one may be a ball nobody labelled
