"""One start and one undisturbed run for all tests, played in this process."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.here import in_this_process
from tests.learning.selfplay.rl.setting import learn, save_start, short_plan
from tests.made_once import made_once


@pytest.fixture(scope="session")
def start(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return made_once(tmp_path_factory, "start", save_start)


@pytest.fixture(scope="session")
def whole(start: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run that nothing disturbed."""
    with in_this_process():
        return made_once(tmp_path_factory, "rl", lambda out: learn(short_plan(), start, out))
