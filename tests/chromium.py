"""Chromium for tests of pages; where it or Playwright is missing, they skip and say so.

The fixtures `browser` and `open_page` are in `tests/conftest.py`.
"""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable, Iterator
from typing import Any, Final

import pytest

sync_api: Final = pytest.importorskip(
    "playwright.sync_api", reason="NO BROWSER TESTS: Playwright for Python is missing; pip install playwright"
)
PATIENCE_S: Final = 240.0
"""A busy machine may take long over something that is immediate on an idle one."""
HOSTILE: Final = (
    "<img src=x onerror=alert(1)>",
    "</script><script>alert(1)</script>",
    "\u202e\u2066evil\u202c\u200f\x07\u0000name",
    "a\u0300" + "\u0301" * 30 + "W" * 90,
)
"""Names that could do harm on a page."""
STARTED: Final = "#app > :not(noscript)"
"""A page unpacks its data after it has loaded."""
_PROGRAM: Final = (
    shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
)
needs_chromium: Final = pytest.mark.skipif(
    _PROGRAM is None, reason="NO BROWSER TESTS: Chromium is missing; apt-get install chromium"
)


def launched() -> Iterator[Any]:
    """The browser, closed afterwards. Until then Playwright runs an event loop on this thread."""
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=_PROGRAM, args=["--no-sandbox"])
        yield browser
        browser.close()


class Opened:
    """A page, its errors, and its requests.

    Args:
        tab: Playwright's page.
        url: its address.
        seen: JavaScript for the state of the page, null before its script has run.
    """

    def __init__(self, tab: Any, url: str, seen: str = "() => null") -> None:
        self.tab = tab
        self.faults: list[str] = []
        self.requests: list[str] = []
        self._seen = seen
        self._own = ("data:", "file:" if url.startswith("file:") else url.partition("?")[0].partition("#")[0])
        self._heard: dict[str, Callable[[Any], None]] = {
            "console": lambda message: self.faults.append(message.text),
            "pageerror": lambda error: self.faults.append(str(error)),
            "dialog": self._refuse,
            "request": lambda request: self.requests.append(request.url),
            "websocket": lambda line: self.requests.append(line.url.replace("ws:", "http:")),
        }
        for event, hear in self._heard.items():
            tab.on(event, hear)
        tab.goto(url)
        if url.startswith("file:"):
            tab.wait_for_selector(STARTED, state="attached")

    def _refuse(self, dialog: Any) -> None:
        self.faults.append(dialog.message)
        dialog.dismiss()

    def leave(self) -> None:
        """Leave the tab as if it were new."""
        for event, hear in self._heard.items():
            self.tab.remove_listener(event, hear)
        self.tab.evaluate("try { localStorage.clear(); } catch {}")  # an empty page has none
        self.tab.goto("about:blank")
        self.tab.context.clear_cookies()
        self.tab.emulate_media(media="null")
        self.tab.mouse.move(0, 0)

    @property
    def place(self) -> list[int]:
        """Round and event in the address."""
        return [int(part) for part in self.tab.evaluate("location.hash").removeprefix("#").split(".")[:2]]

    def until(
        self, true: Callable[[dict[str, Any]], object], patience_s: float = PATIENCE_S
    ) -> dict[str, Any]:
        """Wait in Python: the security policy of served pages lets no test inject a condition."""
        end = time.monotonic() + patience_s
        while True:
            seen: dict[str, Any] | None = self.tab.evaluate(self._seen)
            if seen is not None and true(seen):
                return seen
            assert time.monotonic() < end, seen
            self.tab.wait_for_timeout(30)

    def check(self) -> None:
        """Check that there were no errors and no requests to other machines, and that nothing is too wide."""
        assert self.faults == []
        assert [url for url in self.requests if not url.startswith(self._own)] == []
        assert self.tab.evaluate("document.documentElement.scrollWidth <= innerWidth")


def reloaded(tab: Any) -> None:
    """Reload a page that keeps choices in its address or in the browser's storage.

    On a crowded machine Chromium now and then shows a page an old storage, right after the page has written
    to it and been reloaded. The data is there, and the next reload shows it. The page asks for the reload
    itself: one from outside can overtake the page's last change of its address.
    """
    stored = "JSON.stringify(Object.entries(localStorage).sort())"
    kept = tab.evaluate(stored)
    end = time.monotonic() + PATIENCE_S
    while True:
        with tab.expect_navigation():
            tab.evaluate("location.reload()")
        tab.wait_for_selector(STARTED, state="attached")
        if tab.evaluate(stored) == kept:
            return
        assert time.monotonic() < end, "the browser forgot what the page had stored"
        tab.wait_for_timeout(30)
