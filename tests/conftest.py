"""What every test starts from."""

from __future__ import annotations

import asyncio
import gc
import os
import signal
from collections import defaultdict
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import structlog
from hypothesis import settings

# a shell ignores Ctrl-C for what it runs in the background, and so would programs that tests start and stop
signal.signal(signal.SIGINT, signal.default_int_handler)

# the same examples at every run, so that a run fails only for what was changed; HYPOTHESIS_PROFILE=full takes
# many (and `tests.scale` more games and positions), =default new ones
settings.register_profile("same", derandomize=True, max_examples=25)
settings.register_profile("full", derandomize=True, max_examples=1000)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "same"))

QUICK_S = 3.0
"""CPU seconds; a test that takes more is marked `slow`, unless it is of the wire."""
_BEGAN, _COUNTED = pytest.StashKey[float](), pytest.StashKey[str]()


def _cpu_s() -> float:
    """The CPU seconds of this process and of the processes that it has waited for."""
    return sum(os.times()[:4])


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item, nextitem: pytest.Item | None) -> Iterator[None]:
    item.stash[_BEGAN] = _cpu_s()
    # after the last test, the processes of the whole session are waited for
    item.stash[_COUNTED] = "teardown" if nextitem else "call"
    return (yield)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]) -> Any:
    report = yield
    if call.when == item.stash[_COUNTED]:
        report.user_properties.append(("cpu_s", _cpu_s() - item.stash[_BEGAN]))
    return report


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Print the quick tests that take long, with what they were the first of a process to need."""
    reports = [report for kind in terminalreporter.stats.values() for report in kind]
    taken = [
        (dict(report.user_properties).get("cpu_s", 0.0), report.nodeid)
        for report in reports
        if isinstance(report, pytest.TestReport) and "slow" not in report.keywords
    ]
    for cpu_s, test in sorted(taken, reverse=True):
        if cpu_s > QUICK_S:
            terminalreporter.write_line(f"{cpu_s:5.1f} CPU s, more than {QUICK_S:.0f}: {test}")


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Iterator[object]:
    """What is imported and collected stays to the end: it is not searched for garbage, now or later."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


@pytest.fixture(autouse=True)
def _no_logs_set_up() -> None:
    """Everything is logged, whatever level a command of another test set; tracebacks are plain.

    Those of structlog's defaults show every variable, which takes a second of CPU time each.
    """
    structlog.reset_defaults()
    *others, _ = structlog.get_config()["processors"]
    renderer = structlog.dev.ConsoleRenderer(exception_formatter=structlog.dev.plain_traceback)
    structlog.configure(processors=[*others, renderer])


@pytest.fixture(scope="module")
def one_thread() -> Iterator[None]:
    """torch as in play, for a module: two threads that wait for each other cost more than they save."""
    import torch

    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture
def own_signals() -> Iterator[None]:
    """What a test sets is put back, and SIGHUP ends programs even if the tests run under nohup."""
    numbers = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
    before = [signal.getsignal(number) for number in numbers]
    signal.signal(signal.SIGHUP, signal.SIG_DFL)
    yield
    for number, handler in zip(numbers, before, strict=True):
        signal.signal(number, handler)


@pytest.fixture(scope="session")
def _chromium() -> Iterator[Any]:
    """Chromium, one for all tests of a process, and the event loop of Playwright."""
    from tests.chromium import launched

    for browser in launched():
        loop = asyncio.get_running_loop()
        asyncio._set_running_loop(None)
        yield browser, loop
        asyncio._set_running_loop(loop)


@pytest.fixture
def browser(_chromium: tuple[Any, Any]) -> Iterator[Any]:
    """Chromium. Only while a test uses it does this thread appear to run Playwright's event loop."""
    browser, loop = _chromium
    asyncio._set_running_loop(loop)
    yield browser
    asyncio._set_running_loop(None)


@pytest.fixture(scope="session")
def _idle_tabs() -> defaultdict[frozenset[tuple[str, Any]], list[Any]]:
    """Tabs for the next test: a new one takes Chromium a process and a second, a page in it a quarter."""
    return defaultdict(list)


@pytest.fixture
def open_page(
    browser: Any, _idle_tabs: defaultdict[frozenset[tuple[str, Any]], list[Any]]
) -> Iterator[Callable[..., Any]]:
    """Opens pages in empty browser contexts of their own: by address or file, size, class and locale."""
    from tests.chromium import PATIENCE_S, Opened

    pages = []

    def open_it(
        page: str | Path,
        where: str = "",
        width: int = 1440,
        height: int = 900,
        kind: Any = Opened,
        **options: Any,
    ) -> Any:
        options = {"locale": "en-GB", "reduced_motion": "reduce"} | options
        idle = _idle_tabs[frozenset(options.items())]
        tab = idle.pop() if idle else browser.new_context(**options).new_page()
        tab.set_default_timeout(1000 * PATIENCE_S)
        tab.set_viewport_size({"width": width, "height": height})
        url = page.as_uri() if isinstance(page, Path) else page
        pages.append((kind(tab, url + where), idle))
        return pages[-1][0]

    yield open_it
    for page, idle in pages:
        page.leave()
        idle.append(page.tab)
