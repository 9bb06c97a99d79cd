"""The reader: timestamps of the stream, repeats, rotation, damage, and messages that help."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import av
import cv2
import numpy as np
import pytest

from calibration.errors import InputError
from vision.video import Frame, RepeatFilter, file_sha256, open_video


def picture(k: int, width: int = 320, height: int = 240) -> np.ndarray:
    image = np.full((height, width, 3), 90, np.uint8)
    cv2.circle(image, (20 + 7 * k, 120), 12, (240, 240, 240), -1)
    return image


def write(path: Path, pictures: list[np.ndarray], times: list[int] | None = None, rate: int = 30) -> Path:
    """A small H.264 file; ``times`` in ticks of 1/600 s make its rate variable."""
    with av.open(str(path), "w") as container:
        stream = container.add_stream("libx264", rate=rate)
        stream.height, stream.width = pictures[0].shape[:2]
        stream.pix_fmt = "yuv420p"
        stream.codec_context.time_base = Fraction(1, 600)
        stream.codec_context.gop_size = 30
        for k, image in enumerate(pictures):
            frame = av.VideoFrame.from_ndarray(image, format="bgr24")
            frame.pts = times[k] if times else k * 600 // rate
            frame.time_base = Fraction(1, 600)
            container.mux(stream.encode(frame))
        container.mux(stream.encode())
    return path


def test_timestamps_are_the_streams_own(tmp_path: Path) -> None:
    ticks = [0, 20, 40, 70, 80, 140, 160]
    path = write(tmp_path / "variable.mp4", [picture(k) for k in range(7)], ticks)
    with open_video(path) as video:
        times = [frame.t_s for frame in video]
    assert times == pytest.approx([t / 600 for t in ticks], abs=1e-6)


def test_luma_and_image_show_the_same_picture(tmp_path: Path) -> None:
    path = write(tmp_path / "a.mp4", [picture(k) for k in range(3)])
    with open_video(path) as video:
        frame = next(iter(video))
    assert frame.size == (320, 240)
    assert frame.image.shape == (240, 320, 3)
    assert frame.luma.shape == (240, 320)
    ball, cloth = frame.luma[120, 20], frame.luma[40, 200]
    assert int(ball) - int(cloth) > 100


def test_repeated_pictures_are_marked(tmp_path: Path) -> None:
    shown = [k // 2 for k in range(24)]
    path = write(tmp_path / "doubled.mp4", [picture(k) for k in shown], rate=60)
    with open_video(path) as video:
        repeats = [frame.repeat for frame in video]
    assert repeats[4:] == [k % 2 == 1 for k in range(4, 24)]


def test_a_still_picture_is_no_repeat() -> None:
    repeated = RepeatFilter()
    luma = picture(0)[..., 0]
    assert not any(repeated(luma) for _ in range(10))


def test_a_truncated_file_gives_what_decodes_and_says_so(tmp_path: Path) -> None:
    whole = tmp_path / "whole.ts"
    write(whole, [picture(k % 30) for k in range(90)])
    data = whole.read_bytes()
    cut = tmp_path / "cut.ts"
    cut.write_bytes(data[: len(data) * 6 // 10])
    with open_video(cut) as video:
        count = sum(1 for _ in video)
    assert 10 < count < 90


def test_a_folder_of_pictures_is_a_video(tmp_path: Path) -> None:
    for k in range(4):
        cv2.imwrite(str(tmp_path / f"{k:03d}.png"), picture(k))
    with open_video(tmp_path) as video:
        frames = list(video)
    assert [f.index for f in frames] == [0, 1, 2, 3]
    assert frames[3].t_s == pytest.approx(0.1)
    assert frames[2].image[120, 34].tolist() == [240, 240, 240]


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda p: p / "none.mp4", "no such file"),
        (lambda p: _file(p / "empty.mp4", b""), "empty"),
        (lambda p: _file(p / "text.mp4", b"this is no video at all\n" * 50), "cannot be read"),
        (lambda p: _folder(p / "folder"), "no pictures"),
    ],
)
def test_what_cannot_be_read_is_named(tmp_path: Path, make: object, words: str) -> None:
    path = make(tmp_path)  # type: ignore[operator]
    with pytest.raises(InputError, match=words) as caught:
        open_video(path)
    assert path.name in str(caught.value)
    assert "\n" not in str(caught.value)


def _file(path: Path, data: bytes) -> Path:
    path.write_bytes(data)
    return path


def _folder(path: Path) -> Path:
    path.mkdir()
    return path


def test_a_video_without_a_frame(tmp_path: Path) -> None:
    path = write(tmp_path / "short.mp4", [picture(0)])
    data = bytearray(path.read_bytes())
    at = data.find(b"mdat")
    data[at + 4 :] = b"\0" * (len(data) - at - 4)
    broken = _file(tmp_path / "none.mp4", bytes(data))
    with pytest.raises(InputError):
        open_video(broken)


def test_hash_is_of_the_bytes(tmp_path: Path) -> None:
    path = _file(tmp_path / "x", b"abc")
    assert file_sha256(path) == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
    assert file_sha256(tmp_path) is None


def test_frames_of_a_folder_need_no_stream() -> None:
    frame = Frame(0, 0.0, None, picture(0))
    assert frame.size == (320, 240)
    assert frame.luma[120, 20] == 240


@pytest.mark.parametrize("since", [0.0, 0.4, 1.7, 3.9])
def test_entered_later_the_frames_and_their_times_are_the_same(tmp_path: Path, since: float) -> None:
    ticks = [k * 20 + 7 * (k % 2) for k in range(120)]
    path = write(tmp_path / "long.mp4", [picture(k % 40) for k in range(120)], ticks)
    with open_video(path) as video:
        every = [(frame.t_s, frame.luma.copy()) for frame in video]
    with open_video(path, since) as video:
        later = [(frame.t_s, frame.luma.copy()) for frame in video]
    assert later[0][0] <= since
    assert len(later) < len(every) or since < 1.0, "a key frame nearer to it was there"
    for (t, luma), (t_whole, luma_whole) in zip(later, every[-len(later) :], strict=True):
        assert t == pytest.approx(t_whole, abs=1e-9)
        assert np.array_equal(luma, luma_whole)


def test_entered_after_its_end_a_file_is_read_from_a_key_frame(tmp_path: Path) -> None:
    path = write(tmp_path / "short.mp4", [picture(k) for k in range(30)])
    with open_video(path, 60.0) as video:
        assert [frame.t_s for frame in video][-1] == pytest.approx(29 / 30)
