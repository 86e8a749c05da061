"""A fixture for tests that coverage need not see."""

from __future__ import annotations

import pytest

_OF_COVERAGE = ("COVERAGE_PROCESS_START", "COVERAGE_PROCESS_CONFIG")
"""Variables by which processes that a test starts would be traced."""


@pytest.fixture(autouse=True)
def untraced(no_cover: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """Coverage is measured of `bot.tenhou` and `game`; tracing would add half to the time of these tests."""
    for name in _OF_COVERAGE:
        monkeypatch.delenv(name, raising=False)
