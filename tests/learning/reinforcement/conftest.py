"""One start and one undisturbed run for all tests, played in this process."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest

import learning.matches.runner
from kit.workers.pool import DONE, LATER
from learning.matches.runner import player_of_blocks
from learning.reinforcement import actors
from tests.learning.reinforcement.setting import learn, save_start, short_plan


def play_here(patch: pytest.MonkeyPatch) -> None:
    """Play the games of actors and of evaluations in this process."""
    patch.setattr(actors, "give_way", lambda: None)
    patch.setattr(actors, "spread", _spread)
    patch.setattr(
        learning.matches.runner,
        "spread",
        lambda _, setup, tasks, **how: _spread(player_of_blocks, setup, tasks, **how),
    )


def _spread(
    prepare: Callable[[Any], Any],
    setup: Any,
    tasks: Iterable[Any],
    *,
    workers: int | None,
    ray: str | None,
    stop: threading.Event | None = None,
) -> Iterator[tuple[Any, Any]]:
    work = prepare(setup)
    for task in tasks:
        if stop is not None and stop.is_set():
            return
        if task is LATER:
            time.sleep(0.001)
            continue
        for result in work(task):
            yield task, result
        yield task, DONE


@pytest.fixture
def here(monkeypatch: pytest.MonkeyPatch) -> None:
    play_here(monkeypatch)


@pytest.fixture(scope="session")
def start(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_start(tmp_path_factory.mktemp("start"))


@pytest.fixture(scope="session")
def whole(start: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run that nothing disturbed."""
    out = tmp_path_factory.mktemp("whole")
    with pytest.MonkeyPatch.context() as patch:
        play_here(patch)
        learn(short_plan(), start, out)
    return out
