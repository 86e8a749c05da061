"""Faults of `suzaku play` as users start it: a process of its own, and real time."""

from __future__ import annotations

import asyncio
import json
import signal
import sys
from pathlib import Path

import pytest

from bot.tenhou.client.connection import JUMP_S, TICK_S
from bot.tenhou.lobby import Lobby, LobbySettings
from tests.bot.beside import beside
from tests.bot.fake_clock import until
from tests.bot.fake_server import Hang, Say, Script, fake_server
from tests.bot.program import children_of, files_in, suzaku_play
from tests.bot.scripts import BACK, DEAL, DRAW, END, LOGIN, SEAT, TURN, reinit
from tests.bot.whole_game import ACCOUNT
from tests.cli import run_cli, start

SILENT: tuple[Script, Script] = (
    [*LOGIN, *SEAT, *DEAL, *TURN, Hang()],
    [*BACK, reinit(), Say(DRAW), *TURN, *END],
)


# --- fault 2: silence --------------------------------------------------------------------------------------


@pytest.mark.slow
async def test_fault_02_silence_makes_a_started_program_reconnect(tmp_path: Path) -> None:
    limits = {"connection.silence_s": 5}
    async with (
        fake_server(*SILENT) as server,
        suzaku_play(tmp_path, "--url", server.url, settings=limits) as run,
    ):
        assert await run.ends() == 0
        assert server.handshakes == 2
    assert "nothing received for" in run.named("conn.lost")[0]["reason"]
    assert run.named("state.resynced")
    assert len(run.result["games"]) == 1


# --- faults 11 and 15: decisions ---------------------------------------------------------------------------

HANGS = """
import time
from policies.heuristic.player import HeuristicPolicy

class Mine(HeuristicPolicy):
    def answer(self, slot, questions):
        if slot == "discard" and all(each.record["discard_count"] >= 8 for each in questions):
            time.sleep(3.0)
        return super().answer(slot, questions)
"""
"""Some turns into each round."""


@pytest.mark.slow
async def test_fault_11_and_15_a_policy_that_hangs_costs_a_started_program_no_game(tmp_path: Path) -> None:
    limits = {"decision.budget_ms": 500}
    (tmp_path / "mine.py").write_text(HANGS)
    flags = ("--policy", "python:mine.py", "--type", "tonpuu", "--seed", "7", "--out", "r")
    async with suzaku_play(tmp_path, *flags, settings=limits) as run:
        assert await run.ends() == 0
    assert len(run.result["games"]) == 1
    assert run.named("decision.fallback")
    assert len(run.named("decision.worker_restarted")) == 1
    assert all(each["latency_ms"] < 3000 for each in run.named("decision.made"))


@pytest.mark.skipif(sys.platform == "win32", reason="stops the process by a signal")
@pytest.mark.usefixtures("restore_logs")
def test_fault_15_and_26_a_second_copy_exits_2_and_a_killed_one_is_resumed_and_leaves_no_lock(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setenv("SUZAKU_DECISION__POLICY", "heuristic")
    monkeypatch.setenv("SUZAKU_LOCAL__USER_ID_ENV", "OUR_ID")
    monkeypatch.setenv("OUR_ID", ACCOUNT)
    with beside(Lobby(LobbySettings(seed=7, delay_s=0.005))) as lobby:
        us = ("play", "--url", lobby.url, "--type", "tonpuu", "--json", "--log-format", "json")
        with start(*us) as first:
            assert first.stderr is not None
            next(line for line in first.stderr if '"decision.made"' in line)
            first.send_signal(signal.SIGSTOP)  # or its game could be over before the second has looked
            second = run_cli(*us)
            if sys.platform == "linux":
                assert children_of(first.pid) == []  # no child that could outlive it
        assert (second.exit_code, second.stdout) == (2, "")
        assert "another process" in second.stderr
        third = run_cli(*us)
        assert lobby.games == 1  # the third took the seat of the first
    assert third.exit_code == 0
    assert '"state.resynced"' in third.stderr
    assert len(json.loads(third.stdout)["games"]) == 1


@pytest.mark.slow
async def test_fault_15_a_killed_guest_that_is_started_again_resumes_by_the_saved_code(
    tmp_path: Path,
) -> None:
    async with Lobby(LobbySettings(seed=7, delay_s=0.005)) as lobby:
        flags = ("--url", lobby.url, "--type", "tonpuu")
        async with suzaku_play(tmp_path, *flags) as first:
            await first.logs("decision.made")
            await first.kill()
        async with suzaku_play(tmp_path, *flags) as second:
            assert await second.ends() == 0
        assert lobby.games == 1
    assert second.named("state.resynced")
    assert files_in(tmp_path, "*.code") == []  # the game is over and its code removed


# --- fault 25: the machine sleeps --------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="stops the process by a signal")
async def test_fault_25_a_started_program_reconnects_after_it_was_suspended(tmp_path: Path) -> None:
    async with fake_server(*SILENT) as server, suzaku_play(tmp_path, "--url", server.url) as run:
        await until(lambda: "D" in server.tags())
        run.process.send_signal(signal.SIGSTOP)
        await asyncio.sleep(JUMP_S + 2 * TICK_S)  # the program's clock goes on, as while a machine sleeps
        run.process.send_signal(signal.SIGCONT)
        assert await run.ends() == 0
        assert server.handshakes == 2
    assert "was suspended for" in run.named("conn.lost")[0]["reason"]
    assert len(run.result["games"]) == 1
