from __future__ import annotations

from collections.abc import Iterator

import pytest

import learning.matches.runner
from game.workers.pool import DONE, Done
from learning.matches.runner import Ended, Setup, Stretch, player_of_blocks
from tests.bot.conftest import restore_logs

__all__ = ["here", "restore_logs"]


@pytest.fixture
def here(monkeypatch: pytest.MonkeyPatch) -> None:
    """Play in this process."""

    def spread(
        prepare: object, setup: Setup, tasks: list[Stretch], *, workers: int | None, ray: str | None
    ) -> Iterator[tuple[Stretch, Ended | Done]]:
        work = player_of_blocks(setup)
        for task in tasks:
            for ended in work(task):
                yield task, ended
            yield task, DONE

    monkeypatch.setattr(learning.matches.runner, "spread", spread)
