"""One fault of a row through `suzaku play` or `suzaku review`; the other tests of the row vary it."""

from __future__ import annotations

import gzip
import json
import re
import signal
import sys
import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from structlog.testing import capture_logs

from bot.logs.setup import LIMIT, tell_left_out
from bot.tenhou.client.settings import ClientSettings, Waits
from bot.tenhou.lobby import Lobby, LobbySettings
from policies.heuristic.player import HeuristicPolicy
from tests.bot.beside import beside
from tests.bot.fake_server import Drop, FakeServer, Flood, Hang, Hear, Say, Script, Step, fake_server
from tests.bot.scripts import BACK, DEAL, DRAW, END, GAME, LOGIN, SEAT, SECRET_CODE, TURN, reinit
from tests.bot.whole_game import ACCOUNT
from tests.cli import run_cli, start

pytestmark = pytest.mark.usefixtures("restore_logs")


def served(*scripts: Script) -> AbstractContextManager[FakeServer]:
    """A fake server on a thread of its own."""
    return beside(fake_server(*scripts))


@pytest.fixture(autouse=True)
def _home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setenv("SUZAKU_DECISION__POLICY", "heuristic")


def play(url: str, *more: str) -> tuple[int, str, list[dict[str, Any]]]:
    """Exit code, everything shown, and what was logged, of one game at a server."""
    args = ["play", "--url", url, "--log-format", "json", "--out", "r", *more]
    result = run_cli(*args)
    logged = [json.loads(line) for line in result.stderr.splitlines() if line.startswith("{")]
    return result.exit_code, result.output, logged


def named(logged: list[dict[str, Any]], event: str) -> list[dict[str, Any]]:
    return [entry for entry in logged if entry["event"] == event]


LOST: dict[str, tuple[Script | None, str]] = {
    "for good": (None, "was not finished: the bot could not return to it"),
    "and another comes up": ([*LOGIN, Hear("BYE")], "was missed: it ended while we were disconnected"),
}


@pytest.mark.parametrize("case", LOST)
def test_fault_04_a_game_that_was_lost_with_its_server_is_named_and_exits_1(
    case: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bot.play.run.AT_HOME", Waits(first_s=0.001, growth=1.0, longest_s=0.001, tries=1))
    monkeypatch.setenv("SUZAKU_CONNECTION__RESUME_TRIES", "1")
    after, told = LOST[case]
    with served([*LOGIN, *SEAT, *DEAL, Drop()], *([after] if after else [])) as server:
        code, shown, logged = play(server.url)
    assert code == 1, shown
    [started] = named(logged, "game.started")
    assert f"game {started['game_id']} {told}" in shown
    assert ("stopped: gave up after 1 tries" in shown) == (after is None)


def fail_in_play(
    patch: pytest.MonkeyPatch, server: FakeServer, fault: Callable[[], list[list[float]]]
) -> None:
    """Make every answer of the policy the fault's, once we have connected; getting ready goes well."""
    answer = HeuristicPolicy.answer
    patch.setattr(HeuristicPolicy, "answer", lambda *args: fault() if server.handshakes else answer(*args))


def raises() -> list[list[float]]:
    raise RuntimeError("weights are gone")


FAULTY: dict[str, Callable[[], list[list[float]]]] = {
    "raises": raises,
    "not a number": lambda: [[float("nan")] * 14],
    "zeros": lambda: [[0.0] * 14],
    "too short": lambda: [[]],
    "nothing": list,
}


@pytest.mark.parametrize("fault", FAULTY.values(), ids=FAULTY)
def test_fault_12_a_failing_policy_costs_no_game(
    fault: Callable[[], list[list[float]]], monkeypatch: pytest.MonkeyPatch
) -> None:
    with served(GAME) as server:
        fail_in_play(monkeypatch, server, fault)
        code, shown, logged = play(server.url)
        assert code == 0, shown
    # only a server that has ended has read all that was sent
    assert server.tags() == ["HELO", "JOIN", "GOK", "NEXTREADY", "D", "BYE"]
    assert len(named(logged, "decision.fallback")) == 1


def test_fault_11_a_decision_over_budget_costs_no_game(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SUZAKU_DECISION__BUDGET_MS", "200")
    with served(GAME) as server:

        def hang() -> list[list[float]]:
            """Until the program has answered without it."""
            until = time.monotonic() + 120
            while "D" not in server.tags() and time.monotonic() < until:
                time.sleep(0.01)
            return []

        fail_in_play(monkeypatch, server, hang)
        code, shown, logged = play(server.url)
    assert code == 0, shown
    assert named(logged, "decision.fallback")


HOSTILE = {
    "chat": '{"tag":"CHAT","uname":"%1B%5B2J%E2%80%AEevil","text":"%1B%5D0;x%07"}',
    "name": "%1B%5B2J%E2%80%AEevil",
}


def test_fault_24_names_and_chat_cannot_steer_the_terminal() -> None:
    seat = [
        Say(step.frame.replace('"n1":"%41"', f'"n1":"{HOSTILE["name"]}"')) if isinstance(step, Say) else step
        for step in SEAT
        if not isinstance(step, Say) or isinstance(step.frame, str)
    ]
    with served([*LOGIN, Say(HOSTILE["chat"]), *seat, *DEAL, *TURN, *END]) as server:
        code, shown, _ = play(server.url)
    assert code == 0, shown
    assert "evil" in shown
    assert not any(char in shown for char in "\x1b\x07\u202e")


MARKER = "ID4D41524B-mArKeR99"
SECRET = re.compile("4D41524B|mArKeR99|AAAA1111|BBBB2222|6D41724B6552|%6D%41%72%4B", re.IGNORECASE)
QUICK = Waits(first_s=0.002, growth=2.0, longest_s=0.01, tries=2)
ECHOED: Script = [Hear("HELO"), Say(f'{{"tag":"ERR","code":"1004","id":"{MARKER}"}}'), Hang()]
SECRETS: dict[str, tuple[Script, ...]] = {
    "a game with a cut": ([*LOGIN, *SEAT, *DEAL, Drop()], [*BACK, reinit(), Say(DRAW), *TURN, *END]),
    "broken frames that hold secrets": (
        [
            *LOGIN,
            *SEAT,
            Say(f'{{"tag":"GO","type":"9","gpid":"{SECRET_CODE}"'),
            Say(f'{{"tag":"HELO","uname":"{MARKER}"'),
            Say(f'{{"tag":"ODD","name":"{MARKER}","gpid":"{SECRET_CODE}"}}'),
            *DEAL,
            *TURN,
            *END,
        ],
    ),
    "refused": (ECHOED, ECHOED, ECHOED),
    "echoed in talk": (
        [
            *LOGIN,
            Say(f'{{"tag":"CHAT","uname":"{MARKER}","text":"{MARKER} {SECRET_CODE}"}}'),
            *SEAT,
            *DEAL,
            *TURN,
            *END,
        ],
    ),
    "seated at a table we refuse": (
        [*LOGIN, Say(f'{{"tag":"GO","type":"17","lobby":"0","gpid":"{SECRET_CODE}"}}'), Hang()],
    ),
}


@pytest.mark.parametrize("case", SECRETS)
def test_fault_23_no_secret_in_any_output(case: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_ID", MARKER)
    monkeypatch.setenv("SUZAKU_LOCAL__USER_ID_ENV", "MY_ID")
    monkeypatch.setenv("SUZAKU_CONNECTION__RESUME_TRIES", "2")
    monkeypatch.setenv("SUZAKU_CONNECTION__SILENCE_S", "5")
    monkeypatch.setattr("bot.play.run.AT_HOME", QUICK)
    monkeypatch.setattr("bot.play.run.ClientSettings", partial(ClientSettings, id_busy=QUICK))
    with served(*SECRETS[case]) as server:
        _, shown, _ = play(server.url, "--log-level", "debug", "--capture", "c.tsv")
        assert any(MARKER in frame for received in server.received for frame in received)
    kept = [path.read_text(errors="replace") for path in tmp_path.rglob("*") if path.is_file()]
    assert "HELO" in Path("c.tsv").read_text()
    for text in (shown, *kept, *map(str, tmp_path.rglob("*"))):
        assert not SECRET.search(text)


@pytest.mark.skipif(sys.platform == "win32", reason="stops the process by a signal")
@pytest.mark.parametrize("account", [True, pytest.param(False, marks=pytest.mark.slow)])
def test_fault_15_and_fault_26_a_second_copy_exits_2_and_a_killed_one_is_resumed_and_leaves_no_lock(
    account: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A guest may play twice, and returns by the saved code of its seat."""
    if account:
        monkeypatch.setenv("SUZAKU_LOCAL__USER_ID_ENV", "OUR_ID")
        monkeypatch.setenv("OUR_ID", ACCOUNT)
    with beside(Lobby(LobbySettings(seed=7, delay_s=0.005))) as lobby:
        us = ("play", "--url", lobby.url, "--type", "tonpuu", "--json", "--log-format", "json")
        with start(*us) as first:
            next(line for line in first.stderr if '"decision.made"' in line)
            first.send_signal(signal.SIGSTOP)  # or its game could be over before the second has looked
            if sys.platform == "linux":  # no child that could outlive it
                assert not Path(f"/proc/{first.pid}/task/{first.pid}/children").read_text()
            if account:
                second = run_cli(*us)
                assert (second.exit_code, second.stdout) == (2, "")
                assert "another process" in second.stderr
                assert ACCOUNT not in second.stderr
        third = run_cli(*us)
        assert lobby.games == 1  # the third took the seat of the first
    assert third.exit_code == 0
    assert '"state.resynced"' in third.stderr
    assert len(json.loads(third.stdout)["games"]) == 1
    assert list(tmp_path.rglob("*.code")) == []  # the game is over


CHATS = 1500
MOST_BYTES = 150_000
"""A fraction of the size of all the chat."""


def test_fault_27_chat_without_end_fills_neither_log_nor_capture(tmp_path: Path) -> None:
    flood: list[Step] = [Flood('{"tag":"CHAT","uname":"%41","text":"' + "%41" * 80 + '"}', CHATS)]
    capture = tmp_path / "frames.tsv"
    with served([*LOGIN, *flood, *SEAT, *DEAL, *flood, *TURN, *END]) as server:
        code, shown, logged = play(server.url, "--capture", str(capture))
    assert code == 0, shown[-2000:]
    written = len(named(logged, "server.text"))
    # a slow machine needs more than one minute, and each minute has its own lines
    assert LIMIT <= written <= 10 * LIMIT
    left_out = sum(entry.get("left_out", 0) for entry in logged)
    with capture_logs() as rest:
        tell_left_out()  # as at the end of the process
    left_out += sum(entry["lines"] for entry in rest)
    assert written + left_out == 2 * CHATS
    assert len(shown) < MOST_BYTES
    assert capture.stat().st_size < MOST_BYTES
    assert " chat frames left out" in capture.read_text()


BOMB = gzip.compress(b'<mjloggm ver="2.3">' + b" " * (64 << 20))
FILES = {
    "20 entities": (b'<?xml version="1.0"?><!DOCTYPE x [<!ENTITY a "b">]><mjloggm ver="2.3"/>', "DOCTYPE"),
    "20 a huge attribute": (b'<mjloggm ver="' + b"9" * (4 << 20) + b'"/>', ""),
    "21 a gzip bomb": (BOMB, "expands"),
    "21 a cut gzip": (BOMB[: len(BOMB) // 2], ""),
}


@pytest.mark.parametrize("case", FILES)
def test_fault_20_and_fault_21_a_hostile_record_is_refused(case: str, tmp_path: Path) -> None:
    data, said = FILES[case]
    (tmp_path / "evil.mjlog").write_bytes(data)
    result = run_cli("review", "evil.mjlog", "--policy", "heuristic")
    assert result.exit_code in (1, 2), result.output
    assert "evil.mjlog" in result.output
    assert said in result.output


@pytest.mark.parametrize("name", ["../../etc/passwd", "2026112100gm-0009-0000-0123abcd/../x", "a\0b"])
def test_fault_22_an_id_that_is_a_path_is_refused(name: str, tmp_path: Path) -> None:
    result = run_cli("review", f"https://tenhou.net/0/?log={name}")
    assert result.exit_code == 1, result.output
    assert "not a game id" in result.output
    assert sorted(path.name for path in tmp_path.iterdir()) in ([], ["state"])
