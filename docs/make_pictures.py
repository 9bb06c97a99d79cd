"""Makes the README's pictures from clips that railbird draws itself: an annotated frame, a shot of the report, a check page.

``python docs/make_pictures.py [FOLDER]`` (default ``docs/images``); needs the extras ``render`` and ``browser`` and
Debian's ``chromium``. Nothing third-party is in the pictures, and everything goes the way a user's recording would.
"""

from __future__ import annotations

import base64
import shutil
import sys
import tempfile
from importlib.resources import files
from pathlib import Path

import cv2
from PIL import Image

from railbird import report
from railbird.annotate import still
from railbird.check import check_match
from railbird.pipeline import Options, analyse_video
from railbird.render import run as render
from railbird.script import rule

SCENES = Path(__file__).resolve().parent.parent / "sample_videos" / "scenes"
SHOWN, DISPUTED = "combination", "two-contacts-3ms"
WIDTH = 1280
QUALITY = 86


def analysed(scene: str, folder: Path, on_table: list[int]) -> tuple[dict, Path]:
    """A scene's clip and what railbird sees in it, told what lies on the table as a user in mid-rack would."""
    render([str(SCENES / f"{scene}.toml")], out=folder, dataset=None, seed=0)
    clip = folder / f"{scene}.mp4"
    match = analyse_video(str(clip), Options(game="9-ball", players=["Ann", "Bo"], progress=False))
    return rule(match, setup={"break": False, "on_table": on_table}), clip


def save(image: Image.Image, path: Path) -> None:
    """As JPEG, no wider than a README shows."""
    if image.width > WIDTH:
        image = image.resize((WIDTH, round(image.height * WIDTH / image.width)), Image.Resampling.LANCZOS)
    image.convert("RGB").save(path, quality=QUALITY, optimize=True, progressive=True)
    print(f"{path}: {image.width} x {image.height}, {path.stat().st_size // 1024} KiB")


def typeface() -> str:
    """Style that sets a page in the typeface of our videos: a bare server's own is not what people's machines show."""
    fonts = files("railbird.drawing").joinpath("fonts")
    faces = [
        f"@font-face {{ font-family: Inter; font-weight: {weight}; src: url(data:font/ttf;base64,"
        f"{base64.b64encode(fonts.joinpath(name).read_bytes()).decode()}); }}"
        for name, weight in (("Inter-Medium.ttf", "100 500"), ("Inter-Bold.ttf", "600 900"))
    ]
    return "".join(faces) + "body { font-family: Inter, sans-serif; }"


def report_shot(page: Path, picture: Path) -> None:
    """The first shot of a report, as Chromium shows it."""
    from playwright.sync_api import sync_playwright

    chromium = shutil.which("chromium") or shutil.which("chromium-browser")
    with sync_playwright() as play:
        browser = play.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        tab = browser.new_page(viewport={"width": 1180, "height": 800}, bypass_csp=True)
        tab.goto(page.as_uri())
        tab.add_style_tag(content=typeface())
        tab.evaluate("document.fonts.ready")
        tab.locator("article.shot").first.screenshot(path=str(picture))
        browser.close()


def main(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as scratch:
        work = Path(scratch)
        match, clip = analysed(SHOWN, work, [0, 1, 4, 9])
        shot = match["shots"][0]
        first = next((e["t_s"] for e in shot["events"] if e["kind"] == "contact"), shot["start_s"])
        frame = still(match, clip, first + 0.45)
        save(Image.fromarray(cv2.cvtColor(frame, cv2.COLOR_BGR2RGB)), folder / "annotated.jpg")
        report_shot(report.write(match, work), work / "shot.png")
        save(Image.open(work / "shot.png"), folder / "report.jpg")
        match, clip = analysed(DISPUTED, work, [0, 2, 6, 8, 9])
        check_match(match, clip, at=match["shots"][0]["start_s"] + 0.3, question="first-contact", out=work / "check")
        save(Image.open(work / "check" / "check.png"), folder / "check.jpg")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).resolve().parent / "images")
