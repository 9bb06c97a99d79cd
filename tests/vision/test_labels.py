"""Labelled pictures on disk, and crops made of them."""

from __future__ import annotations

from pathlib import Path

import cv2
import numpy as np
import pytest

from calibration.errors import InputError
from tests.vision.picture import BLUE_CLOTH, table
from vision import augment, labels
from vision.labels import Labelled


def picture(folder: Path) -> Labelled:
    balls = [(40.0, 50.0, 9.0), (80.5, 30.0, 9.0), (120.0, 90.0, 9.0)]
    path = folder / "a.png"
    cv2.imwrite(str(path), table(balls, [(40, 40, 200), (225, 235, 240), (40, 200, 230)], size=(160, 120)))
    b = np.array(balls)
    return Labelled(path, b[:, :2], b[:, 2], np.array([3, -1, 17]), np.array([1, 2, 2]), np.array([1.0, 0.9, 0.5]),
                    np.array([[5.0, 5.0, 20.0, 20.0]]), "club")  # fmt: skip


def test_written_labels_read_the_same(tmp_path: Path) -> None:
    p = picture(tmp_path)
    labels.write(tmp_path, [p])
    (q,) = labels.read(tmp_path)
    assert q.path == p.path
    assert q.group == "club"
    np.testing.assert_allclose(q.centre, p.centre, atol=0.02)
    np.testing.assert_allclose(q.radius, p.radius, atol=0.02)
    np.testing.assert_array_equal(q.number, p.number)
    np.testing.assert_array_equal(q.kind, p.kind)
    np.testing.assert_allclose(q.ignore, p.ignore)


def test_no_labels_says_how_to_make_some(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="railbird render"):
        labels.read(tmp_path)


def test_rendered_folders_are_read(tmp_path: Path) -> None:
    dataset = pytest.importorskip("sample_videos.dataset", reason="the renderer's extra is not installed")
    assert list(dataset.write_folder(tmp_path, 2, seed=31, size=(480, 270), workers=1)) == [1, 2]
    read = labels.read(tmp_path)
    assert len(read) == 2
    assert all(len(p.centre) == len(p.number) == len(p.radius) for p in read)
    assert sum(len(p.centre) for p in read) > 2


def test_crops_carry_their_boxes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        augment, "photograph", lambda rng, image: image
    )  # leave the light alone: colours tell balls here
    shelf = augment.Shelf([picture(tmp_path)])
    assert len(shelf) == 1
    rng = np.random.default_rng(3)
    seen = 0
    for _ in range(40):
        image, boxes = augment.crop(rng, shelf.images[0], shelf.circles[0], shelf.usual[0], (128, 128))
        assert image.shape == (128, 128, 3)
        assert ((boxes >= 0) & (boxes <= 1)).all()
        for x, y, w, h in boxes * 128:
            if min(w, h) > 10:
                seen += 1
                at = image[int(y), int(x)].astype(int)
                assert np.abs(at - BLUE_CLOTH).sum() > 90  # not cloth
    assert seen > 20


def test_the_same_seed_gives_the_same_crops(tmp_path: Path) -> None:
    from vision.train import Schedule, crops

    shelf = augment.Shelf([picture(tmp_path)])
    schedule = Schedule(batch=2, size=64)
    a, b = next(crops(shelf, schedule, 7)), next(crops(shelf, schedule, 7))
    np.testing.assert_array_equal(a[0], b[0])
    other = next(crops(shelf, schedule, 8))
    assert not np.array_equal(a[0], other[0])
