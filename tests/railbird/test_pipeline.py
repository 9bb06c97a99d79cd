"""The whole way: the shipped clip goes in, and what comes out agrees with its truth."""

from __future__ import annotations

import json
from importlib import resources
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from railbird.cli import main
from railbird.evaluate import run as evaluate
from railbird.pipeline import find_rack
from sample_videos import __file__ as samples
from tests.flat import overhead
from tracking.observations import Observation

CLIPS = Path(samples).parent / "clips"


@pytest.fixture(scope="module")
def analysed(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, Any]]:
    out = tmp_path_factory.mktemp("demo")
    clip = resources.files("sample_videos") / "clips" / "demo.mp4"
    assert main(["analyse", str(clip), "--game", "9-ball", "--players", "Ann,Bo", "--out", str(out)]) == 0
    return out, json.loads((out / "match.json").read_text())


def test_everything_promised_is_there(analysed: tuple[Path, dict[str, Any]]) -> None:
    out, _ = analysed
    names = {path.name for path in out.iterdir()}
    assert names == {"match.json", "report.html", "annotated.mp4", "shots.csv", "chapters.vtt"}


def test_it_agrees_with_the_truth(analysed: tuple[Path, dict[str, Any]]) -> None:
    out, match = analysed
    score = evaluate(out / "match.json", CLIPS / "demo.truth.json")
    assert score["shots"]["found"] == score["shots"]["truth"] == 1
    assert score["events"]["contact"]["f1"] == 1.0
    assert score["events"]["pocket"]["f1"] == 1.0
    assert score["events"]["contact"]["time_error_ms"]["median"] < 3.0
    assert score["first_contact"] == {"right": 1, "of": 1}
    assert score["rulings"]["wrong_and_sure"] == 0
    assert match["table"]["rms_px"] < 2.0
    assert match["shots"][0]["ruling"]["legal"] is True


def test_calls_that_do_not_fit_cost_no_second_analysis(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A line that cannot be read is told before the video is; one for a shot that was not played leaves what was seen."""
    clip, calls, out = CLIPS / "demo.mp4", tmp_path / "calls.txt", tmp_path / "out"
    how = ["analyse", str(clip), "--game", "8-ball", "--calls", str(calls), "--no-annotated", "--out", str(out)]
    calls.write_text("shot one: 3 side-left")
    with monkeypatch.context() as patch:
        patch.setattr("railbird.pipeline.analyse_video", lambda *_: pytest.fail("the video was read first"))
        assert main(how) == 2
    assert "line 1" in capsys.readouterr().err
    calls.write_text("shot 1: 3 side-left\nshot 7: safety")
    assert main(how) == 2
    told = capsys.readouterr().err
    assert "line 2" in told
    assert f"railbird report {out / 'match.json'} --calls {calls}" in told
    calls.write_text("shot 1: safety")
    assert main(["report", str(out / "match.json"), "--calls", str(calls)]) == 0
    match = json.loads((out / "match.json").read_text())
    assert [shot["call"] for shot in match["shots"]] == ["safety"]
    assert match["shots"][0]["ruling"]["next"]["player"] == "B", "a called safety ends the turn"
    assert "safety" in (out / "report.html").read_text()


def look(xy: np.ndarray) -> Observation:
    n = len(xy)
    return Observation(0.0, xy, np.tile(np.eye(2) * 1e-6, (n, 1, 1)), np.full(n, 0.9), np.zeros((n, 16)))


def test_a_rack_is_seen_and_scattered_balls_are_none() -> None:
    view = overhead()
    ball = view.table.ball_m
    rows = [(k - row / 2, row * 0.866) for row in range(4) for k in range(row + 1)]
    rack = np.array([[0.635 + x * ball * 1.005, 0.635 - y * ball * 1.005] for x, y in rows])
    with_cue = np.concatenate([rack, [[0.6, 2.0]]])
    assert find_rack(look(with_cue), view) == pytest.approx(0.635 - 2 * 0.866 * ball, abs=ball)
    rng = np.random.default_rng(2)
    scattered = rng.uniform([0.1, 0.1], [1.1, 2.4], (11, 2))
    assert find_rack(look(scattered), view) is None
