"""Faults 5 and 19: two clients on one id, and a full disk."""

from __future__ import annotations

import asyncio
import errno
import itertools
import os
from pathlib import Path

import pytest
from structlog.testing import capture_logs

from bot.tenhou.client.journal import Journal
from bot.tenhou.lobby import Lobby, LobbySettings
from kit.errors import SessionReplaced
from replays.record import GameRecord
from replays.store.library import Library
from tests.bot.client_bench import ClientBench
from tests.bot.fake_clock import until
from tests.bot.fake_server import fake_server
from tests.bot.program import files_in
from tests.bot.scripts import GAME
from tests.bot.whole_game import ACCOUNT, SHORT, TONPUU


async def test_the_end_of_a_game_that_was_heard_is_not_told_again() -> None:
    async with Lobby(LobbySettings(seed=SHORT)) as lobby:
        async with ClientBench(lobby.url, name=ACCOUNT, game_type=TONPUU, games=2) as bench:
            await bench.ended()
        assert lobby.games == 2
    first, second = bench.journal.results
    assert first.game_id != second.game_id
    assert not bench.logged("state.resynced")


async def test_fault_05_two_clients_on_one_id_the_first_keeps_the_seat() -> None:
    settings = LobbySettings(seed=SHORT, delay_s=0.005)
    async with Lobby(settings) as lobby, ClientBench(lobby.url, name=ACCOUNT, game_type=TONPUU) as first:
        await until(lambda: "decision.made" in first.events())
        async with ClientBench(
            lobby.url, name=ACCOUNT
        ) as second:  # from here on it collects both clients' logs
            while len(second.logged("login.rejected")) < 2:
                await second.clock.advance(1)
                await asyncio.sleep(0.002)
            assert second.logged("login.rejected")[0]["code"] == "1004"
            assert not second.logged("game.started")
        await first.ended()
    assert len(first.journal.results) == 1


async def test_fault_05_whoever_has_the_code_takes_the_seat_and_the_first_stops() -> None:
    settings = LobbySettings(seed=SHORT, delay_s=0.005)
    async with Lobby(settings) as lobby, ClientBench(lobby.url) as first:
        await until(lambda: "decision.made" in first.events())
        async with ClientBench(lobby.url, gpid=first.session.resume_code) as second:
            with pytest.raises(SessionReplaced):
                await first.ended()
            await first.clock.advance(3600)
            await until(lambda: second.logged("decision.made"))
            assert second.logged("state.resynced")
            assert second.logged("session.replaced")
            assert second.events().count("conn.opened") == 1  # its own; the first does not come back


async def test_fault_19_a_full_or_read_only_disk_costs_no_game(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    errors = itertools.cycle([errno.ENOSPC, errno.EROFS])

    def refuse(_: int) -> None:
        error = next(errors)
        raise OSError(error, os.strerror(error))

    library = Library(tmp_path)
    with monkeypatch.context() as disk, capture_logs() as logs:
        disk.setattr("kit.files.os.fsync", refuse)
        async with Lobby(LobbySettings(seed=SHORT), on_record=library.keep) as lobby:
            async with ClientBench(lobby.url, game_type=TONPUU) as bench:
                await bench.ended()
            await lobby.records_saved()
            assert len(bench.journal.results) == 1
    assert library.waiting == 1
    assert any(entry["event"] == "record.unsaved" for entry in (*logs, *bench.logs))
    assert files_in(tmp_path, "*.tmp") == []
    # space again: the record is still there
    async with Lobby(LobbySettings(seed=0), on_record=library.keep) as lobby:
        async with ClientBench(lobby.url, game_type=TONPUU) as bench:
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
