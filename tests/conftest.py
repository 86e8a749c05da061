"""What every test starts from."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

# a shell ignores Ctrl-C for what it runs in the background, and so would programs that tests start and stop
signal.signal(signal.SIGINT, signal.default_int_handler)

# the same examples at every run, so that a run fails only for what was changed; HYPOTHESIS_PROFILE=default
# takes new ones
settings.register_profile("same", derandomize=True)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "same"))

TRACED = (
    "game",
    "fuzz",
    "bot/tenhou",
    "bot/faults",
    "bot/traffic",
    "bot/player",
    "bot/play",
    "bot/table",
    "bot/test_cli.py",
)
"""Tests that coverage follows, because they are about the packages that it is measured of."""
_OF_COVERAGE = ("COVERAGE_PROCESS_START", "COVERAGE_PROCESS_CONFIG")
"""Variables by which processes that a test starts would be traced."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Leave all other tests untraced, which take two thirds of the time then."""
    traced = [Path(__file__).parent / part for part in TRACED]
    for item in items:
        if not any(item.path.is_relative_to(part) for part in traced):
            item.add_marker(pytest.mark.no_cover)


@pytest.fixture(autouse=True)
def _processes_as_this_one(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Processes that an untraced test starts are not traced either."""
    if request.node.get_closest_marker("no_cover"):
        for name in _OF_COVERAGE:
            monkeypatch.delenv(name, raising=False)


@pytest.fixture(scope="module")
def one_thread() -> Iterator[None]:
    """torch as in play, for a module: two threads that wait for each other cost more than they save."""
    import torch

    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


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
