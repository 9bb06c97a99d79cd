"""The shipped clip through the live camera: table found, balls seen, the shot ruled on as its truth says."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest

from railbird.live.camera import LiveCamera
from railbird.live.seen import CameraState
from tests.railbird.live.rig import club, parts

CLIPS = Path(__file__).parents[3] / "sample_videos" / "clips"


@pytest.mark.slow
def test_the_shipped_clip_is_refereed(tmp_path: Path) -> None:
    truth = json.loads((CLIPS / "demo.truth.json").read_text())
    opening = {"game": truth["game"], "rules": truth["rules"], "players": truth["players"], "race_to": 3}
    things = parts(tmp_path, opening=opening)
    settings = club(tmp_path, camera={"source": str(CLIPS / "demo.mp4")})
    camera = LiveCamera(settings, things.metrics, pace=None)
    camera.start(things.desk)
    end = time.monotonic() + 1500
    while things.desk.state()["camera"]["state"] != CameraState.ENDED.value and time.monotonic() < end:
        time.sleep(0.5)
    camera.stop()
    session = things.desk.session
    assert session is not None
    shots = session.shot_facts()
    assert len(shots) == len(truth["shots"])
    seen, real = shots[0], truth["shots"][0]
    down = sorted(e["ball"] for e in real["events"] if e["kind"] == "pocket")
    assert sorted(e["ball"] for e in seen["events"] if e["kind"] == "pocket") == down
    first = next(e["balls"] for e in real["events"] if e["kind"] == "contact")
    assert next(e["balls"] for e in seen["events"] if e["kind"] == "contact") == first
    ruling = session.ruling_of(1)
    assert ruling is not None
    assert (ruling["legal"], ruling["enforced"]) == (real["ruling"]["legal"], real["ruling"]["enforced"])
    record = things.desk.record
    assert record is not None
    assert things.store.clip(record.id, 1) is not None
