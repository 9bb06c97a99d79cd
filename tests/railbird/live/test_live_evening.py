"""Three racks in a real process: phone and wall in Chromium, a kill in mid-rack, and the score of the scene at the end."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from referee.match import Match
from tests.railbird.live.chromium import CHROMIUM, browser
from tests.railbird.live.rig import free_port
from tests.railbird.live.test_live_crash import Process

pytest.importorskip("playwright.sync_api", reason="needs playwright: pip install -e '.[browser]'")
pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(CHROMIUM is None, reason="needs Debian's chromium: apt-get install chromium"),
]
SOLIDS, STRIPES = (1, 2, 3, 4, 5, 6, 7), (9, 10, 11, 12, 13, 14, 15)


@pytest.fixture
def pages() -> Iterator[Any]:
    with browser() as give:
        yield give


def call_by_hand(phone: Any, ball: int, pocket: str) -> None:
    """On the phone: the ball's chip, then the pocket in the table picture."""
    phone.bring_to_front()
    phone.click(f"#chips button[aria-label='{ball}']")
    phone.click(f"#table [data-pocket='{pocket}']")
    phone.wait_for_selector(".called-now")


def run_out(process: Process, balls: tuple[int, ...], phone: Any = None) -> None:
    """Pot a group and the 8, every shot called: by hand where a phone is given, else over the page's own interface."""
    for n, ball in enumerate((*balls, 8)):
        if phone is not None and n < 2:
            call_by_hand(phone, ball, "side-left")
        else:
            process.do(do="call", ball=ball, pocket="side-left")
        process.play("pot", ball, "side-left")


def test_an_evening_of_three_racks_with_a_kill_in_the_middle(tmp_path: Path, pages: Any) -> None:
    port = free_port()
    process = Process(tmp_path, port)
    try:
        process.do(do="new-match", game="8-ball", rules="wpa-2025", players=["Ann", "Bo"], breaker=0, race_to=2)
        wall, phone = pages(f"{process.url}/wall"), pages(f"{process.url}/phone")

        # Rack 1: Ann breaks and runs out.
        process.play("break_shot", [3, "foot-left"])
        run_out(process, (1, 2, 4, 5, 6, 7), phone)
        assert process.state()["match"]["score"] == {"Ann": 1, "Bo": 0}

        # Rack 2: Bo breaks, makes two, misses; Ann scratches; Bo calls, and the power goes.
        process.play("rack")
        process.play("break_shot", [9, "foot-left"])
        for ball in (10, 11):
            process.do(do="call", ball=ball, pocket="side-left")
            process.play("pot", ball, "side-left")
        process.play("miss", 12)
        process.play("scratch", 1)
        assert process.state()["match"]["cue_ball"] == "in-hand"
        call_by_hand(phone, 12, "head-left")
        before = process.state()
        process.kill()
        process = Process(tmp_path, port)
        after = process.state()
        assert after["match"] == before["match"]
        phone.wait_for_selector(".offline", state="detached")  # the pages come back by themselves
        wall.wait_for_selector(".offline", state="detached")
        phone.wait_for_selector(".called-now")
        lies = before["match"]["last"]["shot"]["facts"]["rest"]
        process.play("at", {**lies, "0": [0.5, 0.9]}, 300.0)
        process.play("pot", 12, "head-left")
        run_out(process, (13, 14, 15), phone)
        assert process.state()["match"]["score"] == {"Ann": 1, "Bo": 1}

        # Rack 3: Ann breaks; a touched ball that somebody saw, taken back again; she runs out and wins.
        process.play("rack")
        process.play("break_shot", [5, "foot-left"])
        process.do(do="observed", code="touched-ball")
        assert process.state()["match"]["shooter"] == "Bo"
        process.do(do="undo")
        run_out(process, (1, 2, 3, 4, 6, 7), phone)

        match = process.state()["match"]
        assert (match["winner"], match["score"]) == ("Ann", {"Ann": 2, "Bo": 1})
        wall.bring_to_front()
        wall.wait_for_selector(".said:has-text('Ann wins the match')")
        assert wall.locator("#player0 .number").inner_text() == "2"
        spoken = wall.evaluate("window.spoken")
        assert any("scratch" in text for text in spoken)
        assert any("Ann wins the match" in text for text in spoken)
        script = process.get(f"/api/matches/{after['match_id']}/script")
        again = Match.replayed([json.loads(line) for line in script.splitlines()])
        assert again.state.score == (2, 1)
    finally:
        process.kill()
