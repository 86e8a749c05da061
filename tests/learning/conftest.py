from __future__ import annotations

from pathlib import Path

import pytest
import torch

from learning.data.build import build
from learning.data.corpus import Corpus
from tests.bot.conftest import restore_logs
from tests.here import here
from tests.learning.data.games import MODERN, texts, write_shard
from tests.made_once import made_once

__all__ = ["here", "restore_logs"]

GAMES = 54


@pytest.fixture(scope="session", autouse=True)
def _one_thread() -> None:
    """The number of threads determines what a run learns, and tests in other processes go on with it."""
    torch.set_num_threads(1)


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A corpus of so many games that the split gives at least one to each part."""

    def make(place: Path) -> None:
        build([write_shard(place / "a.jsonl.zst", texts(MODERN, GAMES))], place / "corpus", workers=1)

    return made_once(tmp_path_factory, "corpus", make) / "corpus"


@pytest.fixture(scope="session")
def corpus(folder: Path) -> Corpus:
    return Corpus(folder)
