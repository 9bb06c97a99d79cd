"""Drives the report and the check page in a headless Chromium: phone and desktop, dark and light, keyboard, axe-core."""

from __future__ import annotations

import shutil
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from railbird import report
from railbird.annotate import annotate
from railbird.check import check_match
from tests.railbird.made import a_clip, ruled

pytestmark = pytest.mark.browser
PHONE, DESKTOP = {"width": 360, "height": 740}, {"width": 1280, "height": 800}
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
GRAVE = ("serious", "critical")


#: Tables that scroll sideways and texts in pictures that run out of them: what a width of the page does not show.
CUT = """() => [
  ...[...document.querySelectorAll('.scroll')].filter(e => e.scrollWidth > e.clientWidth + 1).map(e => e.innerText.slice(0, 40)),
  ...[...document.querySelectorAll('svg.diagram')].flatMap(svg => {
    const box = svg.getBoundingClientRect();
    return [...svg.querySelectorAll('text')].filter(t => {
      const b = t.getBoundingClientRect();
      return box.width && (b.left < box.left - 1 || b.right > box.right + 1);
    }).map(t => t.textContent);
  })]"""


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    sync_api = pytest.importorskip(
        "playwright.sync_api", reason="playwright is not installed: pip install 'railbird[browser]'"
    )
    if CHROMIUM is None:
        pytest.skip("Chromium is not installed: apt-get install chromium")
    with sync_api.sync_playwright() as play:
        opened = play.chromium.launch(
            executable_path=CHROMIUM, args=["--no-sandbox", "--autoplay-policy=no-user-gesture-required"]
        )
        yield opened
        opened.close()


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("pages")
    match = ruled(0.0012)
    clip = a_clip(made / "made.mp4", match)
    annotate(match, clip, made / "annotated.mp4", span=(0, 9))
    report.write(match, made, clip="annotated.mp4")
    check_match(match, clip, at=8.3, out=made / "check")
    for language in ("hu", "et"):
        report.write(match, made / language, language=language)
        check_match(match, clip, at=8.3, out=made / language, language=language)
    check_match(match, clip, at=1.6, question="first-contact", out=made / "sure", language="hu")
    report.write(ruled(0.0012, players=("Wolfeschlegelsteinhausenbergerdorff-Maximilian", "Ő")), made / "long")
    return made


@pytest.fixture
def visit(browser: Any) -> Iterator[Any]:
    contexts = []

    def open_page(path: Path, size: dict[str, int] = DESKTOP, **more: Any) -> Any:
        context = browser.new_context(viewport=size, **more)
        contexts.append(context)
        page = context.new_page()
        page.faults = []
        page.on("console", lambda m: page.faults.append(m.text) if m.type in ("error", "warning") else None)
        page.on("pageerror", lambda e: page.faults.append(str(e)))
        page.goto(path.as_uri())
        return page

    yield open_page
    for context in contexts:
        context.close()


def axe(page: Any) -> list[str]:
    """Serious and critical findings of axe-core."""
    kit = pytest.importorskip("axe_playwright_python.sync_playwright", reason="axe-playwright-python is not installed")
    found = kit.Axe().run(page).response["violations"]
    return [f"{v['id']}: {[n['target'] for n in v['nodes']][:3]}" for v in found if v["impact"] in GRAVE]


def until(page: Any, condition: str, seconds: float = 20.0) -> None:
    """Wait for a condition; asked from outside, because the page's policy lets nobody evaluate texts inside it."""
    end = time.monotonic() + seconds
    while not page.evaluate(f"() => Boolean({condition})"):
        assert time.monotonic() < end, f"never came true: {condition}"
        page.wait_for_timeout(30)


def wide(page: Any) -> int:
    return int(page.evaluate("document.documentElement.scrollWidth"))


@pytest.mark.parametrize("size", [PHONE, DESKTOP], ids=["phone", "desktop"])
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("name", ["report.html", "check/check.html"])
def test_fits_is_clean_and_is_accessible(
    visit: Any, folder: Path, name: str, size: dict[str, int], scheme: str
) -> None:
    page = visit(folder / name, size, color_scheme=scheme)
    page.evaluate("document.querySelectorAll('details').forEach(d => { d.open = true; })")
    assert wide(page) <= size["width"], "nothing runs out of the page"
    # The policy keeps out injected scripts, axe's too: bypass_csp is for that visit alone.
    second = visit(folder / name, size, color_scheme=scheme, bypass_csp=True)
    assert axe(second) == []
    assert page.faults == []


@pytest.mark.parametrize("language", ["hu", "et", "long", "sure"])
def test_other_languages_and_long_names_fit_the_phone(visit: Any, folder: Path, language: str) -> None:
    pages = {"long": ("report.html",), "sure": ("check.html",)}
    for name in pages.get(language, ("report.html", "check.html")):
        page = visit(folder / language / name, PHONE)
        page.evaluate("document.querySelectorAll('details').forEach(d => { d.open = true; })")
        if language == "sure":
            assert "több mint 99%" in page.locator(".certainty").inner_text(), "the longest that stands there"
        assert wide(page) <= 360, name
        cut = page.evaluate(CUT)
        assert cut == [], f"{name}: these are cut off at their edge"
        assert page.faults == []


def test_watch_seek_step_slow_and_close(visit: Any, folder: Path) -> None:
    page = visit(folder / "report.html")
    until(page, "document.getElementById('video').readyState >= 1")
    height = page.evaluate("document.body.scrollHeight")
    page.locator("#shot-2 [data-watch]").nth(1).click()
    state = (
        "(() => { const v = document.getElementById('video'); return [v.currentTime, v.playbackRate, v.paused]; })()"
    )
    until(page, "document.getElementById('video').currentTime >= 3")
    at, rate, _ = page.evaluate(state)
    assert 2.9 <= at <= 3.6
    assert rate == 0.25
    assert page.locator("#player.floating").count() == 1
    assert abs(page.evaluate("document.body.scrollHeight") - height) <= 2, "the page does not jump"
    page.locator('[data-do="forward"]').click()
    until(page, "document.getElementById('video').paused")
    before = page.evaluate(state)[0]
    page.keyboard.press(".")
    until(page, f"document.getElementById('video').currentTime > {before}")
    assert page.evaluate(state)[0] - before == pytest.approx(1 / 30, abs=0.006)
    page.keyboard.press(",")
    until(page, f"document.getElementById('video').currentTime < {before + 0.01}")
    page.locator('[data-rate="0.1"]').click()
    assert page.evaluate(state)[1] == pytest.approx(0.1)
    page.locator('[data-do="next"]').click()
    until(page, "document.getElementById('video').currentTime > 6")
    page.keyboard.press("Escape")
    assert page.locator("#player.floating").count() == 0
    assert page.evaluate("document.activeElement.dataset.watch") == "shot-2", "focus goes back to where it came from"
    assert page.faults == []


def test_stops_at_the_end_of_the_shot(visit: Any, folder: Path) -> None:
    page = visit(folder / "report.html")
    until(page, "document.getElementById('video').readyState >= 1")
    page.locator("#shot-1 [data-watch]").first.click()
    page.evaluate("document.getElementById('video').currentTime = 3.4")
    until(page, "document.getElementById('video').paused && document.getElementById('video').currentTime > 3.5")
    assert page.evaluate("document.getElementById('video').currentTime") < 4.6


def test_keyboard_reaches_the_shots(visit: Any, folder: Path) -> None:
    page = visit(folder / "report.html")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.className") == "skip"
    page.keyboard.press("Enter")
    until(page, "location.hash === '#shots'")
    page.locator(".chip").nth(2).focus()
    page.keyboard.press("Enter")
    until(page, "location.hash === '#shot-3'")


def test_print_leaves_out_the_controls(visit: Any, folder: Path) -> None:
    page = visit(folder / "report.html")
    page.emulate_media(media="print")
    assert not page.locator("#player").is_visible()
    assert not page.locator("#shot-1 [data-watch]").first.is_visible()
    assert page.locator("#shot-1 svg.top-view").is_visible()


def test_works_without_scripts(visit: Any, folder: Path) -> None:
    page = visit(folder / "check" / "check.html", java_script_enabled=False)
    assert page.locator(".outcome").count() >= 4
    assert page.locator(".outcome").last.is_visible(), "all what-ifs are shown"
    plain = visit(folder / "report.html", java_script_enabled=False)
    assert plain.locator("#shot-1 .watch").count() == 2
    assert not plain.locator("#shot-1 .watch").first.is_visible(), "no button that does nothing"


def test_what_if_and_slow_motion(visit: Any, folder: Path) -> None:
    page = visit(folder / "check" / "check.html")
    until(page, "document.getElementById('film').readyState >= 1")
    assert page.locator(".outcome:visible").count() == 1
    page.get_by_role("button", name="If the 5 was hit first").click()
    shown = page.locator(".outcome:visible")
    assert shown.count() == 1
    assert "wrong ball first" in shown.inner_text()
    assert page.get_by_role("button", name="If the 5 was hit first").get_attribute("aria-pressed") == "true"
    page.locator('#film-controls [data-do="forward"]').click()
    until(page, "document.getElementById('film').currentTime > 0.02")
    assert page.evaluate("document.getElementById('film').currentTime") < 0.1
    assert page.faults == []


def test_the_film_can_be_searched_and_its_ruler_is_not_covered(visit: Any, folder: Path) -> None:
    page = visit(folder / "check" / "check.html")
    until(page, "document.getElementById('film').readyState >= 1")
    assert page.evaluate("document.getElementById('film').controls") is False
    page.locator("#film-at").fill("500")
    until(page, "document.getElementById('film').currentTime > 1")
    length, now = page.evaluate(
        "(() => { const f = document.getElementById('film'); return [f.duration, f.currentTime]; })()"
    )
    assert now == pytest.approx(length / 2, abs=0.05)
    page.locator('#film-controls [data-do="forward"]').click()
    until(page, f"document.getElementById('film').currentTime > {now}")
    page.locator("#film").click()
    until(page, "!document.getElementById('film').paused")
    assert page.faults == []


def test_the_check_page_by_keyboard_alone(visit: Any, folder: Path) -> None:
    page = visit(folder / "check" / "check.html")
    until(page, "document.getElementById('film').readyState >= 1")
    reached: list[str] = []
    for _ in range(40):
        page.keyboard.press("Tab")
        name = page.evaluate(
            "(() => { const e = document.activeElement; return e.dataset.do || e.dataset.if || e.id || e.tagName; })()"
        )
        reached.append(name)
        if name == "forward":
            page.keyboard.press("Enter")
            until(page, "document.getElementById('film').currentTime > 0.02")
        if name == "film-at":
            page.keyboard.press("End")
            until(page, "document.getElementById('film').currentTime > 1")
        if name == "1":
            page.keyboard.press("Space")
            break
    assert [name for name in reached if name in ("back", "play", "forward")] == ["back", "play", "forward"]
    assert reached[-1] == "1", "the second what-if is reached"
    assert page.locator('[data-outcome="1"]').is_visible()
    assert not page.locator('[data-outcome="0"]').is_visible()
    assert page.faults == []


def test_the_diagram_can_be_read_on_a_phone(visit: Any, folder: Path) -> None:
    """Its texts are at least 9 pixels high at 360; a screen reader meets one diagram, not two."""
    page = visit(folder / "hu" / "check.html", PHONE)
    assert page.locator("svg.diagram:visible").count() == 1
    heights = page.evaluate(
        "[...document.querySelectorAll('svg.narrow > text')].map(t => Number(t.getAttribute('font-size')) * t.getScreenCTM().a)"
    )
    assert heights
    assert min(heights) > 9
    desk = visit(folder / "hu" / "check.html", DESKTOP)
    assert desk.locator("svg.diagram.wide").is_visible()
    assert not desk.locator("svg.diagram.narrow").is_visible()


def test_without_scripts_the_film_has_the_browsers_controls(visit: Any, folder: Path) -> None:
    page = visit(folder / "check" / "check.html", java_script_enabled=False)
    assert page.locator("#film").get_attribute("controls") is not None
    assert not page.locator("#film-controls").is_visible()


def test_injected_markup_does_not_run(visit: Any, folder: Path) -> None:
    page = visit(folder / "report.html")
    page.evaluate("document.body.insertAdjacentHTML('beforeend', '<img src=x onerror=\"window.bad = 1\">')")
    page.wait_for_timeout(200)
    assert page.evaluate("window.bad") is None, "the page's own policy stops what would get in"
