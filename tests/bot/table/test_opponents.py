"""The players of the other seats, as the command line names them."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Sequence
from pathlib import Path

import pytest
import structlog

from bot.cli.playing.table import _loader, _numbered, _person
from bot.config.settings import Config
from bot.table.host import TableHost
from bot.table.plan import TableBot
from bot.table.reviews import TableReviews
from kit.errors import ConfigError
from learning.matches.players import names_in
from replays.record import GameRecord
from tests.bot.table.scenes import QUICK, Page, no_reviewer, play_through
from tests.learning.arena.engine_players import alive, engine_text, wait_for_the_end


def loaded(*texts: str) -> Sequence[TableBot]:
    return _loader(texts, ["Anna"], 10.0, Config())()


def test_players_are_split_at_commas_but_engines_are_not() -> None:
    assert names_in(["network, person,Ben=person"]) == ["network", "person", "Ben=person"]
    assert names_in(["engine:a b,c", "heuristic"]) == ["engine:a b,c", "heuristic"]
    persons = [_person(text) for text in ("person", "Ben=person", "network", "x=network")]
    assert persons == ["Guest", "Ben", None, None]


def test_names_at_a_table_differ() -> None:
    assert _numbered(["network"] * 3) == ["network 1", "network 2", "network 3"]
    assert _numbered(["heuristic"], ["heuristic"]) == ["heuristic 1"]


def test_seats_of_one_player_share_it() -> None:
    first, second, other = loaded("heuristic", "heuristic", "random")
    assert first.chooser is second.chooser
    assert first.chooser is not other.chooser
    assert [bot.name for bot in (first, second, other)] == ["Hibari", "Tsubame", "Mejiro"]
    assert [bot.player for bot in (first, second, other)] == ["heuristic", "heuristic", "random"]
    with pytest.raises(ConfigError):
        loaded("nobody", "heuristic", "heuristic")


async def test_an_engine_plays_beside_the_rules_without_a_fault(tmp_path: Path) -> None:
    engines, records = tmp_path / "engines", list[GameRecord]()

    def keep(record: GameRecord) -> None:
        records.append(record)

    host = TableHost(
        QUICK,
        ["Anna"],
        loaded(engine_text(engines), "heuristic", "random"),
        program="suzaku 0.0",
        keep=keep,
        reviews=TableReviews(no_reviewer),
    )
    page = Page(host.people[0], random.Random(1))
    page.open()
    with structlog.testing.capture_logs() as logs:
        await play_through([page], host)
    assert records[0].ending is not None
    assert [entry for entry in logs if entry["event"] in ("engine.lost", "decision.fallback")] == []
    assert len(alive(engines)) == 1
    host.close()
    await asyncio.to_thread(wait_for_the_end, engines)
