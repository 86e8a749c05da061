"""Chromium for tests of pages; where it or Playwright is missing, they skip and say so.

The fixture `browser` is in `tests/conftest.py`.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from typing import Any, Final

import pytest

sync_api: Final = pytest.importorskip(
    "playwright.sync_api", reason="NO BROWSER TESTS: Playwright for Python is missing; pip install playwright"
)
_PROGRAM: Final = (
    shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
)
_RELOADS: Final = 5
needs_chromium: Final = pytest.mark.skipif(
    _PROGRAM is None, reason="NO BROWSER TESTS: Chromium is missing; apt-get install chromium"
)


def launched() -> Iterator[Any]:
    """The browser, closed afterwards. Until then Playwright runs an event loop on this thread."""
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=_PROGRAM, args=["--no-sandbox"])
        yield browser
        browser.close()


def reloaded(tab: Any) -> None:
    """Reload a page that keeps choices in its address or in the browser's storage.

    On a crowded machine Chromium now and then shows a page an empty storage, right after the page has written
    to it and been reloaded. The data is there, and the next reload shows it. The page asks for the reload
    itself: one from outside can overtake the page's last change of its address.
    """
    kept = tab.evaluate("localStorage.length")
    for _ in range(_RELOADS):
        with tab.expect_navigation():
            tab.evaluate("location.reload()")
        if tab.evaluate("localStorage.length") >= kept:
            break
