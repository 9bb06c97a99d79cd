"""annotated.mp4: plays anywhere, keeps time and sound, and flashes at the true instant."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

import av
import cv2
import numpy as np
import pytest

from calibration.camera import Camera
from calibration.errors import InputError
from railbird.annotate import annotate, cut_clips, still
from railbird.drawing.canvas import BT601, BT709, Canvas, Sprite
from railbird.drawing.course import Cameras, Course
from railbird.drawing.lettering import ball_picture
from railbird.drawing.overlay import Overlay, short_of_end
from railbird.drawing.panels import Panels
from railbird.drawing.placing import hides_table, place_panels
from railbird.words import words
from tests.railbird.made import DURATION_S, FPS, SIZE, R, a_clip, camera, ruled

UNTIL = 3.0


@pytest.fixture(scope="module")
def match() -> dict[str, Any]:
    return ruled(0.03)


@pytest.fixture(scope="module")
def clip(tmp_path_factory: pytest.TempPathFactory, match: dict[str, Any]) -> Path:
    return a_clip(tmp_path_factory.mktemp("clip") / "made.mp4", match, until=UNTIL)


@pytest.fixture(scope="module")
def film(clip: Path, match: dict[str, Any]) -> Path:
    return annotate(match, clip, clip.parent / "annotated.mp4")


def frames(path: Path) -> list[tuple[float, np.ndarray]]:
    with av.open(str(path)) as source:
        return [(frame.time, frame.to_ndarray(format="bgr24")) for frame in source.decode(video=0)]


def packets(path: Path) -> list[tuple[float, bytes]]:
    with av.open(str(path)) as source:
        stream = source.streams.audio[0]
        return [(float(p.pts * p.time_base), bytes(p)) for p in source.demux(stream) if p.size and p.pts is not None]


def test_plays_in_browsers_and_while_it_loads(film: Path) -> None:
    with av.open(str(film)) as source:
        video = source.streams.video[0]
        assert video.codec_context.name == "h264"
        assert video.codec_context.pix_fmt == "yuv420p"
        assert (video.width, video.height) == SIZE
    data = film.read_bytes()
    assert 0 < data.find(b"moov") < data.find(b"mdat"), "index in front"


def test_every_frame_at_its_time(clip: Path, film: Path) -> None:
    want, got = [t for t, _ in frames(clip)], [t for t, _ in frames(film)]
    assert got == pytest.approx(want, abs=1e-4)


def test_sound_is_copied_as_it_is(clip: Path, film: Path) -> None:
    want, got = packets(clip), packets(film)
    assert [data for _, data in got] == [data for _, data in want]
    assert [t for t, _ in got] == pytest.approx([t for t, _ in want], abs=1e-3)


def test_uneven_frame_times_are_kept(tmp_path: Path, match: dict[str, Any]) -> None:
    times = [0.0, 0.04, 0.06, 0.15, 0.16, 0.4]
    source = a_clip(tmp_path / "uneven.mp4", match, times=times, sound=None, until=0.5)
    film = annotate(match, source, tmp_path / "out.mp4")
    assert [t for t, _ in frames(film)] == pytest.approx(times, abs=1e-4)


def test_sound_that_mp4_cannot_hold_is_recoded(tmp_path: Path, match: dict[str, Any]) -> None:
    source = a_clip(tmp_path / "pcm.mkv", match, sound="pcm_s16le", until=0.6)
    film = annotate(match, source, tmp_path / "out.mp4")
    with av.open(str(film)) as made:
        assert made.streams.audio[0].codec_context.name == "aac"
        heard = np.concatenate([f.to_ndarray()[0] for f in made.decode(audio=0)])
    assert 0.5 < len(heard) / 48_000 < 0.8
    assert np.abs(heard).max() > 0.1


def test_flash_begins_with_the_first_frame_after_the_contact(clip: Path, film: Path, match: dict[str, Any]) -> None:
    contact = match["shots"][0]["events"][1]
    view = Camera.from_json(match["table"]["camera"])
    at = np.round(view.project([contact["at"]], R)[0]).astype(int)
    reach = 9

    def change(t: float) -> float:
        k = min(range(len(plain)), key=lambda i: abs(plain[i][0] - t))
        box = np.s_[at[1] - reach : at[1] + reach, at[0] - reach : at[0] + reach]
        return float(np.abs(plain[k][1][box].astype(int) - drawn[k][1][box]).mean())

    plain, drawn = frames(clip), frames(film)
    before, after = change(contact["t_s"] - 1 / FPS), change(contact["t_s"] + 2.5 / FPS)
    assert after > before + 10


def test_numbers_trails_and_panels_are_there(clip: Path, film: Path, match: dict[str, Any]) -> None:
    plain, drawn = frames(clip), frames(film)
    difference = np.abs(plain[60][1].astype(int) - drawn[60][1]).sum(axis=2) > 30
    overlay = Overlay(match, words("en"), SIZE, BT601)
    for name in ("view", "bug"):
        (x, y), (w, h) = overlay.corners[name], overlay.panels.sizes()[name]
        assert difference[y : y + h, x : x + w].mean() > 0.4, name
    assert difference.mean() < 0.35, "most of the picture is left alone"


def test_banner_comes_after_the_shot(tmp_path: Path, match: dict[str, Any]) -> None:
    source = a_clip(tmp_path / "made.mp4", match, sound=None, until=4.0)
    drawn = frames(annotate(match, source, tmp_path / "out.mp4"))
    end = match["shots"][0]["end_s"]
    before, after = (next(f for t, f in drawn if t >= end + dt) for dt in (-0.4, 0.6))
    assert (np.abs(before.astype(int) - after).sum(axis=2) > 60).mean() > 0.02


def test_failure_leaves_no_file(tmp_path: Path, match: dict[str, Any], clip: Path) -> None:
    (tmp_path / "broken.mp4").write_bytes(b"no film at all")
    with pytest.raises(InputError):
        annotate(match, tmp_path / "broken.mp4", tmp_path / "out.mp4")
    with pytest.raises(InputError, match="cannot be written"):
        annotate(match, clip, tmp_path / "broken.mp4" / "out.mp4", span=(0, 0.1))

    def stop() -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        annotate(match, clip, tmp_path / "out.mp4", step=stop)
    assert [p.name for p in tmp_path.iterdir()] == ["broken.mp4"]


def test_clips_of_fouls_only(tmp_path: Path, match: dict[str, Any]) -> None:
    source = a_clip(tmp_path / "made.mp4", match, until=DURATION_S)
    made = cut_clips(match, source, tmp_path / "clips", only_fouls=True)
    assert [p.name for p in made] == ["shot-002.mp4", "shot-004.mp4"]
    shot = match["shots"][1]
    got = frames(made[0])
    assert got[0][0] == pytest.approx(0, abs=1e-3)
    assert len(got) == pytest.approx(FPS * (shot["end_s"] - shot["start_s"] + 4.5), abs=3)
    heard = packets(made[0])
    assert heard[0][0] == pytest.approx(0, abs=0.06)
    assert heard[-1][0] == pytest.approx(got[-1][0], abs=0.2)


def test_very_large_recordings_are_written_smaller(
    tmp_path: Path, match: dict[str, Any], clip: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("railbird.annotate.LARGEST", 180)
    small = frames(annotate(match, clip, tmp_path / "small.mp4", span=(2.0, 2.2)))
    whole = frames(annotate(match, clip, tmp_path / "plain.mp4", span=(2.0, 2.2)))
    assert small[0][1].shape == (180, 320, 3)
    assert [t for t, _ in small] == [t for t, _ in whole]


def test_pixels_that_are_not_square_stay_so(tmp_path: Path, match: dict[str, Any]) -> None:
    source = a_clip(tmp_path / "wide.mp4", match, sound=None, until=0.2, pixel=Fraction(4, 3))
    with av.open(str(annotate(match, source, tmp_path / "out.mp4"))) as film:
        assert film.streams.video[0].sample_aspect_ratio == Fraction(4, 3)


@pytest.mark.parametrize("language", ["en", "hu", "et"])
def test_a_still_in_every_language(clip: Path, match: dict[str, Any], language: str) -> None:
    picture = still(match, clip, 2.0, language=language)
    assert picture.shape == (SIZE[1], SIZE[0], 3)


# -- pieces ------------------------------------------------------------------------------------------------------------
def test_colours_come_out_as_they_went_in() -> None:
    planes = np.zeros((120, 96), np.uint8)
    planes[80:] = 128
    canvas = Canvas(planes, BT601)
    canvas.disc((40, 40), 20, (200, 40, 60))
    picture = cv2.cvtColor(planes, cv2.COLOR_YUV2RGB_I420)
    assert picture[40, 40].astype(int) == pytest.approx([200, 40, 60], abs=4)
    rgba = np.zeros((20, 20, 4), np.uint8)
    rgba[:] = (30, 180, 90, 255)
    canvas.lay(Sprite.of(rgba, BT601), 60, 10)
    picture = cv2.cvtColor(planes, cv2.COLOR_YUV2RGB_I420)
    assert picture[20, 70].astype(int) == pytest.approx([30, 180, 90], abs=4)


@pytest.mark.parametrize("at", [(-15, -15), (90, 70), (-100, 0), (0, 500)])
def test_what_lies_outside_is_cut(at: tuple[int, int]) -> None:
    planes = np.zeros((120, 96), np.uint8)
    rgba = np.full((30, 30, 4), 255, np.uint8)
    Canvas(planes, BT601).lay(Sprite.of(rgba, BT601), *at)
    x0, y0, x1, y1 = max(at[0] & ~1, 0), max(at[1] & ~1, 0), min((at[0] & ~1) + 30, 96), min((at[1] & ~1) + 30, 80)
    area = max(0, x1 - x0) * max(0, y1 - y0)
    assert int((planes[:80] > 200).sum()) == area


def test_course_between_frames_and_shots(match: dict[str, Any]) -> None:
    course = Course(match)
    contact = match["shots"][0]["events"][1]
    x, y = course.balls(contact["t_s"] - 0.3)[0]
    assert (x, y) == pytest.approx(((0.635 + 0.884) / 2, (0.6 + 1.846) / 2), abs=1e-3)
    assert course.speed(0, 1.3) == pytest.approx(np.hypot(0.249, 1.246) / 0.6, rel=0.01)
    assert 1 not in course.balls(3.0), "the 1 is down"
    assert 0 in course.balls(3.5)
    assert 0 not in course.balls(7.2), "the cue ball was in hand: nobody knows where"
    assert course.balls(0.0).keys() == {0, 1, 2, 5, 9}
    assert set(course.trails(1.5, 0.9)) == {0}


def test_camera_that_moved(match: dict[str, Any]) -> None:
    moved = Camera.looking([0.5, -1.3, 2.6], [0.635, 1.2, 0], width=SIZE[0], height=SIZE[1], focal=520.0)
    table = {**match["table"], "camera": moved.to_json()}
    cameras = Cameras({**match, "warnings": [{"t_s": 5.0, "code": "recalibrated", "text": "", "table": table}]})
    assert cameras.at(4.9).position == pytest.approx(camera().position)
    assert cameras.at(5.1).position == pytest.approx(moved.position)


def test_panels_stay_off_the_cloth() -> None:
    size = (1920, 1080)
    left = {"head-left": [0, 0], "head-right": [0, 1080], "foot-right": [900, 1080], "foot-left": [900, 0]}
    spots = place_panels(
        {"table": {"corners_px": left}}, size, {"view": (400, 220), "bug": (470, 116), "banner": (900, 128)}
    )
    assert spots["view"][0] > 900
    assert spots["bug"][0] > 900
    assert spots["view"][1] != spots["bug"][1]


def test_top_view_hides_no_pocket(match: dict[str, Any]) -> None:
    """A table that fills the frame leaves room for a small top view in a corner, none for the usual one."""
    corners = {"head-left": [1620, 850], "head-right": [1620, 170], "foot-right": [300, 170], "foot-left": [300, 850]}
    full = {**match, "table": {**match["table"], "corners_px": corners}}
    overlay = Overlay(full, words("en"), (1920, 1080), BT709)
    usual = Panels(full, words("en"), 1.0).view
    place = (*overlay.corners["view"], overlay.panels.view.width, overlay.panels.view.height)
    assert overlay.panels.view.width < usual.width
    assert not hides_table(full, (1920, 1080), place)
    assert hides_table(full, (1920, 1080), (26, 1054 - usual.height, usual.width, usual.height))
    assert hides_table(full, (1920, 1080), (800, 400, 300, 200)), "cloth in plenty"


def test_top_view_lies_as_the_picture_does(match: dict[str, Any]) -> None:
    overhead = {"head-left": [900, 900], "head-right": [900, 100], "foot-right": [100, 100], "foot-left": [100, 900]}
    turned = Panels({**match, "table": {**match["table"], "corners_px": overhead}}, words("en"), 1.0).view
    x, y = turned.place((0.1, 0.2))
    assert x > turned.width / 2, "the head end is to the right"
    assert y > turned.height / 2
    x, y = Panels(match, words("en"), 1.0).view.place((0.1, 0.2))
    assert x < turned.width / 2
    assert y < turned.height / 2


def test_trail_stops_short_of_the_ball() -> None:
    way = np.array([[0.0, 0.0], [50.0, 0.0], [100.0, 0.0]])
    short = short_of_end(way, 12.0)
    assert short[-1] == pytest.approx([88.0, 0.0])
    assert len(short_of_end(way, 500.0)) == 0


def test_an_unsure_number_is_drawn_as_a_question() -> None:
    """A badge that may bear the wrong number differs from one that is sure, and only for the shot in which it is unsure."""
    match = ruled()
    match["shots"][0]["identity_p"] = {"0": 1.0, "1": 0.49, "2": 0.999}
    overlay = Overlay(match, words("en"), SIZE, BT601)
    assert overlay.unsure == [{1}, set(), set(), set()]
    sure, asked = ball_picture(1, 40), ball_picture(1, 40, unsure=True)
    assert asked[20, 4, 3] < sure[20, 4, 3]
    assert np.abs(asked[..., :3].astype(int) - sure[..., :3]).max() > 50, "with another text on it"
