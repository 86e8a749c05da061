from __future__ import annotations

import asyncio
import logging
import pickle
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import structlog

from kit import processes
from policies.heuristic.outlook import discard_worths


@pytest.fixture(scope="session", autouse=True)
def _servers_end_soon() -> Iterator[None]:
    """uvicorn looks every tenth of a second whether it should stop, and sleeps another before it does."""
    soon = SimpleNamespace(**vars(asyncio) | {"sleep": lambda delay_s: asyncio.sleep(delay_s / 10)})
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("uvicorn.server.asyncio", soon)
        yield


@pytest.fixture
def restore_logs() -> Iterator[None]:
    """Undo what `set_up_logs` changed for the whole process."""
    root = logging.getLogger()
    before = (root.handlers[:], root.level, sys.excepthook, threading.excepthook, sys.unraisablehook)
    yield
    root.handlers[:], root.level, sys.excepthook, threading.excepthook, sys.unraisablehook = before
    logging.captureWarnings(False)
    structlog.reset_defaults()
    processes.on_start(processes.nothing)


@pytest.fixture(scope="session", autouse=True)
def _discards_valued_once() -> Iterator[None]:
    """The rules value the discards of a position once: that is half the work of a game, and many repeat."""
    values: dict[bytes, Any] = {}

    def remembered(*arguments: Any) -> None:
        *position, out = arguments
        key = pickle.dumps(position)
        if key not in values:
            discard_worths(*arguments)
            values[key] = out.copy()
        out[:] = values[key]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("policies.heuristic.player.discard_worths", remembered)
        yield


@pytest.fixture(autouse=True)
def _hide_the_tests_own_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    """The variable is for the tests; the program would report it as a misspelt key."""
    monkeypatch.delenv("SUZAKU_SHARED", raising=False)


@pytest.fixture(autouse=True)
def _keep_records_of_tests_apart(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Without a configuration file records go to the user's data folder."""
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
