"""Clips: frames stand for the middle of their exposure, truth is complete, the same scene gives the same pictures."""

import hashlib
import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("pooltool", reason="pooltool-billiards (extra 'render') is not installed")

from calibration.camera import Camera
from railbird.render import run
from railbird.result import check
from sample_videos.clip import ClipPainter
from sample_videos.looks import Looks
from sample_videos.render import encode, perform
from sample_videos.scene import Disturbance, Scene, from_dict

CLIPS = Path(__file__).parents[2] / "sample_videos" / "clips"


def small(**change: object) -> Scene:
    scene = from_dict(
        {"game": "9-ball", "size": [480, 270], "fps": 30, "people": "none", "tail": 0.1,
         "layout": {"balls": {"0": [0.4, 0.7], "1": [0.9, 1.9]}}, "stroke": [{"speed": 1.2, "direction": 62.0, "wait": 0.2}]},
        "small",
    )  # fmt: skip
    quiet = replace(scene.looks.film, noise=0.0, blur=0.0)
    return replace(scene, looks=replace(scene.looks, film=quiet), **change)  # type: ignore[arg-type]


def test_a_frame_shows_the_ball_where_it_is_in_the_middle_of_the_exposure() -> None:
    scene = small(shutter=0.5)
    performance = perform(scene)
    painter = ClipPainter(scene, performance.simulator, performance.acts, 1)
    empty = painter.stage.light
    for k in range(12):
        painter.frame(k)
        if k < 8:
            continue
        state = performance.simulator.tracks[0].rvw(k / 30)
        assert state is not None
        # the cue ball is brighter than the cloth everywhere but in its own shadow
        brighter = np.clip((painter._work.light - empty).sum(axis=2), 0, None)
        u, v = scene.camera.project(state[:1])[0]
        window = (slice(int(v) - 14, int(v) + 15), slice(int(u) - 14, int(u) + 15))
        cut = (brighter[window] > 0.35).astype(float)
        rows, cols = np.mgrid[window]
        centre = np.array([(cols * cut).sum(), (rows * cut).sum()]) / cut.sum()
        np.testing.assert_allclose(centre, [u, v], atol=0.6)
        assert np.linalg.norm(state[1]) > 0.5


def test_what_rests_is_drawn_the_same_whichever_way_it_came_about() -> None:
    scene = small()
    performance = perform(scene)
    painter = ClipPainter(scene, performance.simulator, performance.acts, 1)
    for k in range(0, performance.frames, 5):
        last = painter.frame(k)
    fresh = ClipPainter(scene, performance.simulator, performance.acts, 1)
    difference = np.abs(fresh.frame(k).astype(int) - last.astype(int))
    assert difference.max() <= 3


def test_the_same_scene_gives_the_same_pictures() -> None:
    digests = []
    for _ in range(2):
        scene = small(people="player")
        performance = perform(scene)
        painter = ClipPainter(scene, performance.simulator, performance.acts, 1)
        digests.append(hashlib.sha256(b"".join(painter.frame(k).tobytes() for k in (0, 6, 9))).hexdigest())
    assert digests[0] == digests[1]


def test_a_bump_moves_the_picture_and_a_light_change_dims_it() -> None:
    scene = small(disturbances=(Disturbance(0.1, "bump", turn=(0.0, 0.02, 0.0)), Disturbance(0.2, "light", factor=0.6)))
    performance = perform(scene)
    painter = ClipPainter(scene, performance.simulator, performance.acts, 1)
    before, bumped = painter.frame(0), painter.frame(4)
    dimmed = painter.frame(7)
    assert np.abs(before.astype(int) - bumped).mean() > 2
    assert dimmed.mean() < 0.9 * bumped.mean()


@pytest.mark.parametrize("fps", [30.0, 60.0, 120.0])
def test_timestamps_are_frame_number_over_rate(tmp_path: Path, fps: float) -> None:
    import av

    scene = small(fps=fps)
    pictures = [np.full((270, 480, 3), 40 + k, np.uint8) for k in range(9)]
    encode(iter(pictures), tmp_path / "t.mp4", scene)
    with av.open(str(tmp_path / "t.mp4")) as clip:
        assert clip.streams.video[0].codec_context.pix_fmt == "yuv420p"
        times = [frame.time for frame in clip.decode(video=0)]
    np.testing.assert_allclose(times, np.arange(9) / fps, atol=1e-4)


def test_render_writes_a_clip_with_a_ruled_truth(tmp_path: Path) -> None:
    scene = tmp_path / "tiny.toml"
    scene.write_text(
        'game = "9-ball"\nsize = [320, 180]\nfps = 30\npeople = "none"\ntail = 0.1\n[layout.balls]\n0 = [0.4, 0.7]\n3 = [0.55, 0.95]\n'
        "1 = [1.0, 1.0]\n9 = [1.0, 2.2]\n[[stroke]]\nspeed = 0.4\naim = 3\nwait = 0.2\n"
    )
    clip, truth_file = run([str(scene)], out=tmp_path / "out", quiet=True)
    truth = json.loads(truth_file.read_text())
    check(truth)
    shot = truth["shots"][0]
    assert [e["kind"] for e in shot["events"]][:2] == ["strike", "contact"]
    assert shot["events"][0]["t_s"] == shot["start_s"] == 0.2
    assert shot["ruling"]["enforced"] == "wrong-ball-first"
    assert truth["source"]["sha256"] == hashlib.sha256(clip.read_bytes()).hexdigest()
    assert set(truth["table"]["corners_px"]) == {"head-left", "head-right", "foot-right", "foot-left"}
    assert Camera.from_json(truth["table"]["camera"]).width == 320


def test_shipped_clips_are_small_and_bear_their_truth() -> None:
    clips = sorted(CLIPS.glob("*.mp4"))
    assert CLIPS / "demo.mp4" in clips
    assert sum(p.stat().st_size for p in CLIPS.iterdir()) < 10e6
    for clip in clips:
        truth = json.loads(clip.with_suffix(".truth.json").read_text())
        check(truth)
        assert truth["source"]["sha256"] == hashlib.sha256(clip.read_bytes()).hexdigest()
        for shot in truth["shots"]:
            times = [e["t_s"] for e in shot["events"]]
            assert times == sorted(times)
            assert shot["ruling"] is not None


def test_looks_have_defaults_that_need_nothing() -> None:
    assert Looks().balls.name == "standard"
