"""Faults 5, 19 and 26 with real processes: started twice, on one id, on a full disk."""

from __future__ import annotations

import asyncio
import errno
import functools
import os
from pathlib import Path

import pytest
from structlog.testing import capture_logs

from bot.play.resume_store import resume_store
from bot.tenhou.client.journal import Journal
from bot.tenhou.lobby import Lobby, LobbySettings
from game.errors import SessionReplaced
from replays.library import Library
from replays.record import GameRecord
from tests.bot.client_bench import ClientBench
from tests.bot.fake_clock import until
from tests.bot.fake_server import fake_server
from tests.bot.program import files_in, suzaku_play
from tests.bot.scripts import GAME
from tests.bot.whole_game import ACCOUNT

SEED = 7
AS_US = {"local.user_id_env": "OUR_ID"}


@pytest.fixture(autouse=True)
def _our_id(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OUR_ID", ACCOUNT)


async def test_the_end_of_a_game_that_was_heard_is_not_told_again() -> None:
    async with Lobby(LobbySettings(seed=SEED)) as lobby:
        async with ClientBench(lobby.url, name=ACCOUNT, games=2) as bench:
            await bench.ended()
        assert lobby.games == 2
    first, second = bench.journal.results
    assert first.game_id != second.game_id
    assert not bench.logged("state.resynced")


async def test_fault_05_two_clients_on_one_id_the_first_keeps_the_seat(tmp_path: Path) -> None:
    records: list[GameRecord] = []
    settings = LobbySettings(seed=SEED, delay_s=0.02)
    async with (
        Lobby(settings, on_record=records.append) as lobby,
        suzaku_play(tmp_path, "--url", lobby.url, "--type", "tonpuu", settings=AS_US) as first,
    ):
        await first.logs("decision.made")
        async with ClientBench(lobby.url, name=ACCOUNT) as bench:
            while len(bench.logged("login.rejected")) < 2:
                await bench.clock.advance(1)
                await asyncio.sleep(0.002)
            assert bench.logged("login.rejected")[0]["code"] == "1004"
            assert not bench.logged("game.started")
        assert await first.ends() == 0
        await lobby.records_saved()
    assert len(records) == 1


async def test_fault_05_whoever_has_the_code_takes_the_seat_and_the_first_stops(tmp_path: Path) -> None:
    settings = LobbySettings(seed=SEED, delay_s=0.02)
    async with Lobby(settings) as lobby, ClientBench(lobby.url) as first:
        await until(lambda: "decision.made" in first.events())
        with resume_store(tmp_path / "state" / "suzaku" / "seats", lobby.url) as store:
            assert store is not None
            store.save(first.session.resume_code)
        async with suzaku_play(tmp_path, "--url", lobby.url) as second:
            with pytest.raises(SessionReplaced):
                await first.ended()
            await first.clock.advance(3600)
            await second.logs("decision.made")
            assert second.named("state.resynced")
    assert "session.replaced" in first.events()
    assert first.events().count("conn.opened") == 1


async def test_fault_26_a_second_process_of_one_id_exits_2_and_a_killed_one_leaves_no_lock(
    tmp_path: Path,
) -> None:
    async with Lobby(LobbySettings(seed=SEED, delay_s=0.05)) as lobby:
        us = functools.partial(suzaku_play, tmp_path, "--url", lobby.url, settings=AS_US)
        async with us() as first:
            await first.logs("decision.made")
            async with us() as second:
                assert await second.ends() == 2
            assert "another process" in second.said
            await first.kill()
        async with us() as third:
            await third.logs("decision.made")


@pytest.mark.parametrize("error", [errno.ENOSPC, errno.EROFS])
async def test_fault_19_a_full_or_read_only_disk_costs_no_game(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: int
) -> None:
    def refuse(_: int) -> None:
        raise OSError(error, os.strerror(error))

    library = Library(tmp_path)
    with monkeypatch.context() as disk, capture_logs() as logs:
        disk.setattr("game.files.os.fsync", refuse)
        async with Lobby(LobbySettings(seed=SEED), on_record=library.keep) as lobby:
            async with ClientBench(lobby.url) as bench:
                await bench.ended()
            await lobby.records_saved()
            assert len(bench.journal.results) == 1
    assert library.waiting == 1
    assert any(entry["event"] == "record.unsaved" for entry in (*logs, *bench.logs))
    assert files_in(tmp_path, "*.tmp") == []
    # space again: the record is still there
    async with Lobby(LobbySettings(seed=SEED + 1), on_record=library.keep) as lobby:
        async with ClientBench(lobby.url) as bench:
            await bench.ended()
        await lobby.records_saved()
    assert library.waiting == 0
    assert len(files_in(tmp_path, "*.mjlog.xml")) == 2


async def test_fault_19_a_record_that_cannot_be_kept_is_said_and_the_next_game_begins() -> None:
    def refuse(_: GameRecord) -> Path | None:
        raise OSError(errno.ENOSPC, "No space left on device")

    async with (
        fake_server(GAME, GAME) as server,
        ClientBench(server.url, games=2, journal=Journal(keep=refuse)) as bench,
    ):
        await bench.ended()
    assert [result.record for result in bench.journal.results] == [None, None]
    assert len(bench.logged("record.unsaved")) == 2
