from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

import learning.matches.runner
from kit.workers.pool import DONE, Done
from learning.corpus.build import build
from learning.corpus.reader import Corpus
from learning.matches.runner import GameEnd, Setup, Stretch, player_of_blocks
from tests.bot.conftest import restore_logs
from tests.learning.corpus.games import MODERN, texts, write_shard

__all__ = ["here", "restore_logs"]

GAMES = 54


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A corpus of so many games that the split gives at least one to each part."""
    place = tmp_path_factory.mktemp("learning")
    build([write_shard(place / "a.jsonl.zst", texts(MODERN, GAMES))], place / "corpus", workers=1)
    return place / "corpus"


@pytest.fixture(scope="session")
def corpus(folder: Path) -> Corpus:
    return Corpus(folder)


@pytest.fixture
def here(monkeypatch: pytest.MonkeyPatch) -> None:
    """Play in this process."""

    def spread(
        prepare: object, setup: Setup, tasks: list[Stretch], *, workers: int | None, ray: str | None
    ) -> Iterator[tuple[Stretch, GameEnd | Done]]:
        work = player_of_blocks(setup)
        for task in tasks:
            for ended in work(task):
                yield task, ended
            yield task, DONE

    monkeypatch.setattr(learning.matches.runner, "spread", spread)
