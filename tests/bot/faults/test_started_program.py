"""Faults of `suzaku play` as users start it: a process of its own, and real time."""

from __future__ import annotations

import asyncio
import json
import signal
import sys
from pathlib import Path

import pytest

from bot.play.run import AT_HOME
from bot.tenhou.client.connection import JUMP_S, TICK_S
from bot.tenhou.lobby import Lobby, LobbySettings
from tests.bot.beside import beside
from tests.bot.fake_clock import until
from tests.bot.fake_server import Hang, Refuse, Say, Script, fake_server, free_port
from tests.bot.program import children_of, files_in, suzaku_play
from tests.bot.scripts import BACK, DEAL, DRAW, END, GAME, LOGIN, SEAT, TURN, reinit
from tests.bot.whole_game import ACCOUNT
from tests.cli import run_cli, start

SILENT: tuple[Script, Script] = (
    [*LOGIN, *SEAT, *DEAL, *TURN, Hang()],
    [*BACK, reinit(), Say(DRAW), *TURN, *END],
)


# --- faults 2 and 4: silence, maintenance ------------------------------------------------------------------


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


@pytest.mark.slow
async def test_fault_04_a_started_program_waits_for_the_end_of_maintenance(tmp_path: Path) -> None:
    async with (
        fake_server(Refuse(503), Refuse(503), GAME) as server,
        suzaku_play(tmp_path, "--url", server.url) as run,
    ):
        assert await run.ends() == 0
    retries = run.named("conn.retry")
    assert len(retries) == 2
    assert "maintenance" in retries[0]["reason"]
    waits = [
        retry["wait_s"] / (AT_HOME.first_s * AT_HOME.growth**number) for number, retry in enumerate(retries)
    ]
    assert all(0.5 <= wait <= 1.5 for wait in waits)  # the second is twice as long, each varied by a half
    assert len(run.result["games"]) == 1


@pytest.mark.slow
async def test_fault_04_a_started_program_gives_up_in_the_end_and_exits_1(tmp_path: Path) -> None:
    nowhere = f"ws://127.0.0.1:{free_port()}/"
    async with suzaku_play(tmp_path, "--url", nowhere, settings={"connection.login_tries": 2}) as run:
        assert await run.ends() == 1
    assert len(run.named("conn.retry")) == 2
    assert "gave up after 2 tries" in run.result["failure"]
    assert run.result["games"] == []


# --- faults 11, 12 and 15: decisions -----------------------------------------------------------------------

FAULTY = """
import time
from policies.heuristic.player import HeuristicPolicy

class Faulty(HeuristicPolicy):
    def answer(self, slot, questions):
        if slot == "discard" and all(each.record["discard_count"] >= 8 for each in questions):
            {fault}
        return super().answer(slot, questions)
"""


def faulty(folder: Path, fault: str) -> tuple[str, ...]:
    """The flags of a game with a policy that fails some turns into each round."""
    (folder / "faulty.py").write_text(FAULTY.format(fault=fault))
    return ("--policy", "python:faulty.py", "--type", "tonpuu", "--seed", "7", "--out", "r")


@pytest.mark.slow
@pytest.mark.parametrize(
    "fault",
    [
        "raise RuntimeError('weights are gone')",
        "return [[float('nan')] * 14]",
        "return []",
        "return [[1.0] * 15]",
    ],
    ids=["raises", "nan", "nothing", "too many"],
)
async def test_fault_12_the_rules_take_over_in_a_started_program(fault: str, tmp_path: Path) -> None:
    async with suzaku_play(tmp_path, *faulty(tmp_path, fault)) as run:
        assert await run.ends() == 0
    assert len(run.result["games"]) == 1
    *failures, last = run.named("decision.fallback")
    assert len(failures) == 3
    assert "the rest of the game" in last["reason"]
    after = [made for made in run.named("decision.made") if made["timestamp"] > last["timestamp"]]
    assert len(after) > 10
    assert {made["source"] for made in after} == {"fallback"}


@pytest.mark.slow
async def test_fault_11_and_15_a_policy_that_hangs_costs_a_started_program_no_game(tmp_path: Path) -> None:
    limits = {"decision.budget_ms": 500}
    async with suzaku_play(tmp_path, *faulty(tmp_path, "time.sleep(3.0)"), settings=limits) as run:
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
