from __future__ import annotations

import asyncio
import os
from pathlib import Path

import msgspec
import pytest

from bot.play.run import NOTICE, say_once
from bot.records.keeping import RecordKeeper
from replays.record import GameRecord
from tests.bot.descriptors import no_descriptor_left
from tests.replays.games import GAME_ID, seen_from, whole_game
from tests.replays.store.test_library import decided


@pytest.fixture(scope="module")
def records() -> tuple[GameRecord, GameRecord]:
    """One game as the lobby recorded it, and as player 2 saw it, with a decision."""
    return whole_game(), msgspec.structs.replace(seen_from(whole_game(), 2), decisions=(decided(),))


def test_two_threads_keep_games_without_loss(records: tuple[GameRecord, GameRecord], tmp_path: Path) -> None:
    library = RecordKeeper(tmp_path)
    games = [msgspec.structs.replace(records[i % 2], game_id=f"{GAME_ID[:-1]}{i // 2:x}") for i in range(12)]

    async def keep_all() -> None:
        await asyncio.gather(*(asyncio.to_thread(library.keep, game) for game in games))

    asyncio.run(keep_all())
    assert len(list(tmp_path.glob("*.mjlog.xml"))) == 6
    assert len(list(tmp_path.glob("*.decisions.jsonl"))) == 6


def test_a_game_is_kept_although_no_descriptor_is_left(
    records: tuple[GameRecord, GameRecord], tmp_path: Path
) -> None:
    library = RecordKeeper(tmp_path)
    with no_descriptor_left():
        assert library.keep(records[1]) is not None
        with pytest.raises(OSError, match="Too many open files"):  # the spare ones are in use again
            os.open(os.devnull, os.O_RDONLY)


def test_the_operators_wishes_are_told_once_and_again_if_that_cannot_be_noted(tmp_path: Path) -> None:
    told: list[str] = []
    assert say_once(tmp_path / "state", told.append)
    assert not say_once(tmp_path / "state", told.append)
    (tmp_path / "file").write_text("")
    for _ in range(2):
        assert say_once(tmp_path / "file" / "state", told.append)
    assert told == [NOTICE] * 3
    assert "permission" in NOTICE
    assert "support@c-egg.com" in NOTICE
