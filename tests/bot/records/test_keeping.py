from __future__ import annotations

import asyncio
import itertools
import os
from pathlib import Path

import msgspec
import pytest

from bot.play.run import NOTICE, say_once
from bot.records.keeping import RecordKeeper
from game.events import EndGame, EndRound, GameEvent
from game.table.table import Table, masked
from policies.heuristic.player import HeuristicPolicy
from policies.play.decide import decide
from replays.record import DecisionRecord, GameRecord
from tests.bot.descriptors import no_descriptor_left

GAME_ID = "2026010203gm-0001-0000-0123abcd"


@pytest.fixture(scope="module")
def records() -> tuple[GameRecord, GameRecord]:
    """One game as the lobby recorded it, and as player 0 saw it, with one decision."""
    table, policy = Table(3, length="tonpuu", names=("a", "b", "c", "d")), HeuristicPolicy()
    made = decide(table.observe(0), policy)
    while not table.done:
        table.step({p: decide(table.observe(p), policy).action for p in table.waiting()})
    names = ("a", "b", "c", "d")
    full = GameRecord(game_id=GAME_ID, game_type=1, names=names, events=tuple(table.events))
    seen: tuple[GameEvent, ...] = tuple(masked(event, 0) for event in table.events)
    decision = DecisionRecord(time=0, round_index=0, honba=0, turn=0, player=0, decision=made)
    return full, msgspec.structs.replace(full, events=seen, decisions=(decision,))


@pytest.mark.parametrize("order", list(itertools.permutations((0, 1))))
def test_the_fuller_record_stays_and_the_decisions_join_it_in_any_order(
    records: tuple[GameRecord, GameRecord], order: tuple[int, int], tmp_path: Path
) -> None:
    library = RecordKeeper(tmp_path)
    paths = {library.keep(records[index]) for index in order}
    assert len(paths) == 1
    text = (tmp_path / f"{GAME_ID}.mjlog.xml").read_text()
    assert all(f'hai{player}="' in text for player in range(4))
    assert (tmp_path / f"{GAME_ID}.seat0.decisions.jsonl").exists()


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


def test_only_a_game_with_all_hands_open_is_complete(records: tuple[GameRecord, GameRecord]) -> None:
    assert [record.is_complete for record in records] == [True, False]
    assert isinstance(records[0].events[-1], EndGame | EndRound)


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
