"""Debian's Chromium without a screen, which notes what a page would have said aloud."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

CHROMIUM = shutil.which("chromium")
#: Records what the wall would speak, over reloads too.
EARS = """
window.spoken = JSON.parse(sessionStorage.getItem('spoken') || '[]');
const voice = { speak: (u) => { if (u.text) { window.spoken.push(u.text); sessionStorage.setItem('spoken', JSON.stringify(window.spoken)); }
                setTimeout(() => u.onend && u.onend(), 5); }, cancel: () => {}, getVoices: () => [] };
Object.defineProperty(window, 'speechSynthesis', { value: voice });
"""


@contextmanager
def browser() -> Iterator[Callable[[str], Any]]:
    """Opens pages in a headless Chromium; ``page.spoken()`` is what it would have said aloud."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as driver:
        chromium = driver.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox", "--disable-gpu"])
        context = chromium.new_context(viewport={"width": 1280, "height": 720})
        context.add_init_script(EARS)

        def give(url: str) -> Any:
            page = context.new_page()
            page.set_default_timeout(60_000)
            page.goto(url)
            return page

        yield give
        chromium.close()
