"""What a picture's file tells of its lens, and what that is good for."""

from __future__ import annotations

from pathlib import Path

import cv2
import numpy as np
import pytest
from PIL import ExifTags, Image

from calibration.camera import Camera
from calibration.cloth import cloth_regions, quads
from calibration.find import find_table
from calibration.lens import USUAL, Lens, told_by
from calibration.pose import camera_from_corners, rectangle
from calibration.strips import RAIL_TOP_M
from calibration.table import Table
from tests.calibration.painted import Paint, error_mm, paint

TABLE = Table()
BARE = Paint(rail=(40, 80, 130), sight=(40, 80, 130))
#: An ultra-wide lens from over a long side: corners alone would rather have the long side for the short one.
WIDE = Camera.looking([2.5, 1.25, 1.1], [0.75, 1.27, -0.3], width=1280, height=960, focal=480)


def photo(folder: Path, size: tuple[int, int] = (400, 300), **tags: object) -> Path:
    image, exif = Image.new("RGB", size), Image.Exif()
    exif.get_ifd(ExifTags.IFD.Exif).update({ExifTags.Base[name].value: value for name, value in tags.items()})
    image.save(folder / "photo.jpg", exif=exif)
    return folder / "photo.jpg"


def test_a_phones_picture_tells_its_focal_length(tmp_path: Path) -> None:
    told = told_by(photo(tmp_path, FocalLengthIn35mmFilm=24, ExifImageWidth=4000, ExifImageHeight=3000))
    assert told is not None
    assert told.focal == pytest.approx(24 / 43.27 * 1.25, rel=1e-3)
    assert told.told
    assert not USUAL.told


def test_a_picture_turned_upright_tells_the_same(tmp_path: Path) -> None:
    told = told_by(photo(tmp_path, (300, 400), FocalLengthIn35mmFilm=24, ExifImageWidth=4000, ExifImageHeight=3000))
    assert told is not None
    assert told.focal == pytest.approx(24 / 43.27 * 1.25, rel=1e-3)


@pytest.mark.parametrize(
    "tags",
    [
        {},
        {"FocalLengthIn35mmFilm": 0},
        {"FocalLengthIn35mmFilm": 5},
        {"FocalLengthIn35mmFilm": 24, "ExifImageWidth": 4000, "ExifImageHeight": 2250},
    ],
    ids=["nothing", "unknown", "absurd", "cut out"],
)
def test_what_tells_nothing(tmp_path: Path, tags: dict[str, object]) -> None:
    assert told_by(photo(tmp_path, **tags)) is None


@pytest.mark.parametrize("content", [b"", b"\xff\xd8\xff\xe1\x00\x10Exif\x00\x00MM", b"not a picture"])
def test_broken_files_tell_nothing(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "a.jpg").write_bytes(content)
    assert told_by(tmp_path / "a.jpg") is None


def test_corners_and_a_known_lens_say_which_side_is_the_long_one() -> None:
    corners = WIDE.project(rectangle(TABLE.width_m, TABLE.length_m, 0.045), RAIL_TOP_M)
    ways = [np.roll(corners, k, axis=0) for k in (0, 1)]
    told = Lens(WIDE.focal / WIDE.width, 0.05)
    right, wrong = (camera_from_corners(way, TABLE, (WIDE.width, WIDE.height), lens=told) for way in ways)
    assert right.camera.focal == pytest.approx(WIDE.focal, rel=0.05)
    assert right.camera.lens == told
    assert right.cost < wrong.cost / 3


def test_a_wide_view_without_diamonds_is_found_when_its_file_tells_the_lens() -> None:
    picture = paint(WIDE, TABLE, BARE)
    found = find_table([picture], length_m=2.54, lens=Lens(WIDE.focal / WIDE.width * 1.03, 0.05))
    assert np.median(error_mm(found.camera, WIDE, TABLE)) < 8


@pytest.mark.parametrize("factor", [0.6, 1.7])
def test_what_a_file_tells_wrongly_does_not_lead_astray(factor: float) -> None:
    camera = Camera.looking([-1.6, -1.3, 2.0], [0.63, 1.2, 0], width=1280, height=720, focal=1000)
    found = find_table([paint(camera, TABLE, BARE)], length_m=2.54, lens=Lens(1000 / 1280 * factor, 0.05))
    assert np.median(error_mm(found.camera, camera, TABLE)) < 8


def test_a_cloth_that_pales_into_the_dark_is_one_cloth_when_looked_for_so() -> None:
    camera = Camera.looking([-1.2, -1.4, 1.6], [0.63, 1.2, 0], width=1120, height=840, focal=900)
    picture = paint(
        camera, TABLE, Paint(cloth=(70, 140, 30), rail=(30, 45, 70), sight=(30, 45, 70), floor=(12, 12, 12))
    )
    # light falls off over the picture, and haze lies over it: the cloth's far end is dark, pale and bluish
    light = np.linspace(0.18, 1.0, camera.height)[:, None, None] ** 1.5
    hazy = np.clip(picture * light + np.array([18.0, 14.0, 12.0]), 0, 255).astype(np.uint8)
    corners = camera.project(rectangle(TABLE.width_m, TABLE.length_m, 0.05), RAIL_TOP_M)
    whole = cv2.contourArea(corners.astype(np.float32)) / (camera.width * camera.height)
    shares = [
        max(r.area / r.mask.size for r in cloth_regions(hazy, hazy=hazily) if quads(r)) for hazily in (False, True)
    ]
    assert shares[1] == pytest.approx(whole, rel=0.08)
