"""Three racks from pixels: a camera's stream with all that happens to one, the real program, a phone, the wall, and the score at the end.

Set ``RAILBIRD_EVENING`` to a folder that ``python -m tests.railbird.live.evening.film`` filled, else the evening is drawn first (half an
hour of one core). ``RAILBIRD_PACE`` below 1 slows the camera down on a machine that is busy; times stay the camera's.
"""

from __future__ import annotations

import os
import socket
from fractions import Fraction
from pathlib import Path

import av
import numpy as np
import pytest

from tests.railbird.live.chromium import CHROMIUM
from tests.railbird.live.evening.film import film, name_of, read_truth, whole
from tests.railbird.live.evening.referee import referee, until
from tests.railbird.live.evening.stream import Broadcast
from vision.video import open_video

#: Share of shots whose foul may be told wrongly: what contacts and rails of crowded shots cost at 30 frames/s (docs/measured.md).
MOST_WRONG = 0.1


@pytest.mark.slow
@pytest.mark.browser
@pytest.mark.skipif(CHROMIUM is None, reason="needs Debian's chromium: apt-get install chromium")
def test_a_filmed_evening_is_refereed_without_a_hand(tmp_path: Path, request: pytest.FixtureRequest) -> None:
    pytest.importorskip("playwright.sync_api", reason="needs playwright: pip install -e '.[browser]'")
    pytest.importorskip("pooltool", reason="needs pooltool: pip install -e '.[render]'")
    given = os.environ.get("RAILBIRD_EVENING")
    cache = request.config.cache
    assert cache is not None
    folder = Path(given) if given else Path(str(cache.mkdir("evening")))
    if not whole(folder):
        film(folder)
    found = referee(tmp_path, folder, pace=float(os.environ.get("RAILBIRD_PACE", "1")), say=print)
    told = read_truth(folder)["told"]

    assert [d for d in found.differences if ": foul " not in d] == []
    wrong = [d for d in found.differences if ": foul " in d]
    assert len(wrong) <= MOST_WRONG * len(told), wrong
    assert list(found.final["score"].values()) == list(told[-1]["score"])
    assert found.final["winner"] == found.final["players"][int(told[-1]["score"][1] > told[-1]["score"][0])]
    assert found.wall_score == tuple(str(n) for n in told[-1]["score"])

    # The power went in mid-rack: nothing that was announced is lost, the call for the next shot included.
    assert found.before_kill is not None
    assert found.after_kill is not None
    assert found.after_kill["match_id"] == found.before_kill["match_id"]
    assert found.after_kill["match"] == found.before_kill["match"]

    # Somebody in the way, a bump, a lost stream and a rack being set are told as such; the brushed ball is remarked.
    assert {"occluded", "racking", "shot", "ready", "calibrating", "lost"} <= found.states
    # the bump came before the power went: the counters began anew then, the log did not
    assert "recalibrated" in (tmp_path / "live.log").read_text()
    brushed = next(t for t in told if t["moved"])
    moved = [r["ball"] for r in found.remarks[brushed["number"]] if r["code"] == "moved-at-rest"]
    assert moved == brushed["moved"]

    text = " ".join(found.spoken)
    assert f"{found.final['winner']} wins the match" in text
    assert len(found.spoken) >= len(told) - 2  # while pages come back after the restart one may go unheard


# -- the camera itself ---------------------------------------------------------------------------------------------------
@pytest.fixture
def short_film(tmp_path: Path) -> Path:
    """Three parts of ten pictures, each of one brightness, the second a still."""
    kinds = ("shot", "still", "shot")
    rows = [
        f'{{"kind": "{kind}", "begin_s": {k / 3}, "end_s": {(k + 1) / 3}, "rack": 0, "shot": 0}}'
        for k, kind in enumerate(kinds)
    ]
    (tmp_path / "evening.json").write_text(
        f'{{"fps": 30.0, "size": [64, 64], "parts": [{", ".join(rows)}], "told": []}}'
    )
    for k in range(3):
        with av.open(str(tmp_path / name_of(k)), "w") as out:
            stream = out.add_stream("libx264", rate=30)
            stream.width = stream.height = 64
            stream.pix_fmt = "yuv420p"
            stream.options = {"bf": "0", "tune": "zerolatency"}
            for n in range(10):
                frame = av.VideoFrame.from_ndarray(np.full((64, 64, 3), 60 + 60 * k, np.uint8), format="bgr24")
                frame.pts, frame.time_base = n, Fraction(1, 30)
                out.mux(stream.encode(frame))
            out.mux(stream.encode())
    return tmp_path


def test_the_film_waits_at_a_still_part_and_keeps_time(short_film: Path) -> None:
    broadcast = Broadcast(short_film, pace=4.0)
    broadcast.start()
    with open_video(broadcast.url) as video:
        frames = []
        for frame in video:
            frames.append((frame.t_s, int(frame.luma.mean())))
            if len(frames) == 60:
                assert broadcast.at == 1  # it shows the still part over and over
                broadcast.go_on(1)
    broadcast.stop()
    times = np.array([t for t, _ in frames])
    assert np.allclose(np.diff(times), 1 / 30, atol=1e-4)
    levels = [level for _, level in frames]
    assert levels[-1] > levels[30]
    assert broadcast.fault is None


def test_a_viewer_that_goes_away_does_not_stop_the_film(short_film: Path) -> None:
    broadcast = Broadcast(short_film, pace=4.0)
    broadcast.start()
    with socket.create_connection(("127.0.0.1", broadcast.port)) as viewer:
        assert viewer.recv(1)
    until(lambda: broadcast.at == 1, 10, "the still part is reached")
    with socket.create_connection(("127.0.0.1", broadcast.port)) as viewer:
        assert viewer.recv(1)
    broadcast.go_on(1)
    until(lambda: broadcast.over, 10, "the film ends")
    assert broadcast.fault is None
