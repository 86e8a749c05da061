"""Faults 5, 15, 19 and 26 with whole processes: killed, started twice, on one id, on a full disk."""

from __future__ import annotations

import asyncio
import contextlib
import errno
import os
import signal
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from structlog.testing import capture_logs

from bot.tenhou.client.journal import Journal
from bot.tenhou.lobby import Lobby, LobbySettings
from game.errors import SessionReplaced
from replays.library import Library
from replays.record import GameRecord
from tests.bot.client_bench import ClientBench
from tests.bot.fake_clock import until
from tests.bot.fake_server import fake_server
from tests.bot.scripts import GAME
from tests.bot.whole_game import ACCOUNT

SEED = 7
SLOW_PLAYERS_S = 0.005


@contextlib.asynccontextmanager
async def client(*arguments: str) -> AsyncIterator[asyncio.subprocess.Process]:
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "tests.bot.faults.client_process",
        *arguments,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
    )
    try:
        yield process
    finally:
        with contextlib.suppress(ProcessLookupError):
            process.kill()
        await process.wait()


async def line_of(process: asyncio.subprocess.Process) -> str:
    assert process.stdout is not None
    async with asyncio.timeout(60):
        return (await process.stdout.readline()).decode().strip()


def children_of(pid: int) -> list[str]:
    return Path(f"/proc/{pid}/task/{pid}/children").read_text().split()


def files(folder: Path, pattern: str) -> list[Path]:
    return list(folder.glob(pattern))


@pytest.mark.parametrize("name", [ACCOUNT, "NoName"], ids=["account", "guest"])
async def test_fault_15_killed_in_a_round_and_started_again_the_client_resumes(
    name: str, tmp_path: Path
) -> None:
    records: list[GameRecord] = []
    settings = LobbySettings(seed=SEED, delay_s=SLOW_PLAYERS_S)
    async with Lobby(settings, on_record=records.append) as lobby:
        async with client(lobby.url, name, str(tmp_path)) as first:
            assert (await line_of(first)).startswith("playing")
            if sys.platform == "linux":
                assert children_of(first.pid) == []  # nothing that could outlive it
            first.send_signal(signal.SIGKILL)
            await first.wait()
        async with client(lobby.url, name, str(tmp_path)) as second:
            assert (await line_of(second)).startswith("playing")
            assert (await line_of(second)).startswith("ended")
            assert await second.wait() == 0
        await lobby.records_saved()
    [record] = records
    assert record.ending is not None
    assert lobby.games == 1  # the new start took the old seat
    assert files(tmp_path, "*.code") == []  # the game is over, its code forgotten


async def test_the_end_of_a_game_that_was_heard_is_not_told_again() -> None:
    async with Lobby(LobbySettings(seed=SEED)) as lobby:
        async with ClientBench(lobby.url, name=ACCOUNT, games=2) as bench:
            await bench.ended()
        assert lobby.games == 2
    first, second = bench.journal.results
    assert first.game_id != second.game_id
    assert not bench.logged("state.resynced")


async def test_fault_05_two_clients_on_one_id_the_first_keeps_the_seat() -> None:
    records: list[GameRecord] = []
    settings = LobbySettings(seed=SEED, delay_s=0.02)
    async with Lobby(settings, on_record=records.append) as lobby, client(lobby.url, ACCOUNT) as first:
        assert (await line_of(first)).startswith("playing")
        async with ClientBench(lobby.url, name=ACCOUNT) as bench:
            while len(bench.logged("login.rejected")) < 2:
                await bench.clock.advance(1)
                await asyncio.sleep(0.002)
            assert bench.logged("login.rejected")[0]["code"] == "1004"
            assert not bench.logged("game.started")
        assert (await line_of(first)).startswith("ended")
        await lobby.records_saved()
    assert len(records) == 1


async def test_fault_05_whoever_has_the_code_takes_the_seat_and_the_first_stops() -> None:
    records: list[GameRecord] = []
    settings = LobbySettings(seed=SEED, delay_s=0.02)
    async with Lobby(settings, on_record=records.append) as lobby, ClientBench(lobby.url) as first:
        await until(lambda: "decision.made" in first.events())
        async with client(lobby.url, "NoName", first.session.resume_code) as second:
            with pytest.raises(SessionReplaced):
                await first.ended()
            await first.clock.advance(3600)
            assert (await line_of(second)).startswith("playing")
    assert "session.replaced" in first.events()
    assert first.events().count("conn.opened") == 1


async def test_fault_26_a_second_process_of_one_id_exits_2_and_a_killed_one_leaves_no_lock(
    tmp_path: Path,
) -> None:
    settings = LobbySettings(seed=SEED, delay_s=0.05)
    async with Lobby(settings) as lobby, client(lobby.url, ACCOUNT, str(tmp_path)) as first:
        assert (await line_of(first)).startswith("playing")
        async with client(lobby.url, ACCOUNT, str(tmp_path)) as second:
            assert "another process" in await line_of(second)
            assert await second.wait() == 2
        first.send_signal(signal.SIGKILL)
        await first.wait()
        async with client(lobby.url, ACCOUNT, str(tmp_path)) as third:
            assert (await line_of(third)).startswith("playing")


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
    assert files(tmp_path, "*.tmp") == []
    # room again: the record is still there
    async with Lobby(LobbySettings(seed=SEED + 1), on_record=library.keep) as lobby:
        async with ClientBench(lobby.url) as bench:
            await bench.ended()
        await lobby.records_saved()
    assert library.waiting == 0
    assert len(files(tmp_path, "*.mjlog.xml")) == 2


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
