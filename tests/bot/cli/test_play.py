"""`suzaku play`, `lobby` and `check`."""

from __future__ import annotations

import asyncio
import errno
import json
import os
import re
import signal
import socket
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from bot.records.keeping import RecordKeeper
from bot.tenhou.client.journal import GameResult
from bot.tenhou.client.settings import Waits
from kit.files import replace_file
from replays.formats import read_game
from replays.review.report import known_hands
from replays.store.library import Closing
from tests.bot.beside import beside
from tests.bot.client_bench import ClientBench
from tests.bot.fake_server import Say, fake_server, free_port
from tests.bot.scripts import GAME
from tests.bot.whole_game import SHORT, TONPUU
from tests.cli import run_cli as run
from tests.cli import start

LOGIN = "ID0A1B2C3D-Marker01"
ANOTHER_GAME = [
    Say(str(step.frame).replace("0123abcd", "4567cdef")) if isinstance(step, Say) else step for step in GAME
]
NO_WAITS = Waits(first_s=0.001, growth=1.0, longest_s=0.001, tries=1)
pytestmark = pytest.mark.usefixtures("restore_logs")


@pytest.fixture(autouse=True)
def _by_the_rules(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SUZAKU_DECISION__POLICY", "heuristic")


def test_dry_run_describes_the_run_and_changes_nothing(tmp_path: Path) -> None:
    code, out, _ = run("play", "--dry-run", "--games", "3", "--type", "fast", "--out", "records")
    assert code == 0
    for part in ("3 games", "built-in lobby", "ippan tonpuu fast", "instant pace", "records"):
        assert part in out
    assert list(tmp_path.iterdir()) == []
    code, out, _ = run("lobby", "--dry-run", "--port", "4001")
    assert code == 0
    assert "port 4001" in out


def test_dry_run_on_tenhou_shows_no_id(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TENHOU_ID", LOGIN)
    monkeypatch.setenv("SUZAKU_TENHOU__ENABLED", "true")
    code, out, err = run("play", "--server", "tenhou", "--dry-run")
    assert code == 0
    assert "the id in $TENHOU_ID" in out
    assert "practice" in out
    assert "Marker01" not in out + err


def test_check_prints_the_configuration_and_what_it_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_ID", LOGIN)
    monkeypatch.setenv("SUZAKU_LOCAL__USER_ID_ENV", "MY_ID")
    monkeypatch.delenv("SUZAKU_DECISION__POLICY")
    code, out, err = run("check")
    assert code == 0
    for part in (
        "server: local",
        "9 (ippan hanchan)",
        "kernels",
        "model discard",
        "model kan",
        "policy",
        "lobby",
        "opens at ws://127.0.0.1:",
    ):
        assert part in out
    assert "MY_ID holds an id (not shown)" in out
    assert "Marker01" not in out + err
    assert run("play", "--config", "config.yaml")[0] == 2
    monkeypatch.setenv("SUZAKU_DECISION__POLICY", "heuristic")
    found = json.loads(run("check", "--json")[1])
    assert found["config"]["play"]["server"] == "local"


def test_check_and_dry_run_tell_of_adaptation(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SUZAKU_DECISION__POLICY")
    monkeypatch.setenv("SUZAKU_ADAPTATION__MODE", "both")
    assert re.search("^adaptation +both", run("check").stdout, re.MULTILINE)
    assert "adaptation: both" in run("play", "--dry-run").stdout
    monkeypatch.setenv("SUZAKU_ADAPTATION__SAMPLER", "diffusion:steps=abc")
    assert run("check").exit_code == 2


def test_check_opens_no_lobby_where_another_is_joined(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SUZAKU_LOCAL__URL", "ws://127.0.0.1:4000")
    code, out, _ = run("check")
    assert (code, "opens at" in out) == (0, False)


@pytest.mark.parametrize("command", ["check", "play", "lobby"])
def test_a_records_folder_that_cannot_be_written_exits_2_before_anything_starts(
    command: str, tmp_path: Path
) -> None:
    (tmp_path / "file").write_text("")
    Path("c.yaml").write_text("records: {folder: file/records}\n")
    code, out, err = run(command, "--config", "c.yaml")
    assert (code, out) == (2, "")
    assert "records.folder" in err


@pytest.mark.parametrize("command", ["check", "play", "lobby"])
def test_a_port_that_is_taken_exits_2(command: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        monkeypatch.setenv("SUZAKU_LOCAL__PORT", str(taken.getsockname()[1]))
        code, out, err = run(command)
    assert (code, out) == (2, "")
    assert "local.port" in err


def test_play_plays_a_whole_game_and_prints_standings_and_record(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SUZAKU_DECISION__POLICY")
    args = f"--type tonpuu --seed {SHORT} --out records --capture cap.tsv --log-format json".split()
    code, out, err = run("play", *args)
    assert code == 0
    assert re.search(r"^  1  \w+ +[\d,]+ +\+", out, re.MULTILINE)
    assert "<- Suzaku" in out
    record = re.search(r"record: (\S+)", out)
    assert Path(record[1]).read_text().startswith("<mjloggm")
    (decisions,) = Path("records").glob("*.seat?.decisions.jsonl")
    assert decisions.name.startswith(Path(record[1]).name.removesuffix(".mjlog.xml"))
    lines = [json.loads(line) for line in decisions.read_text().splitlines()]
    logged = [json.loads(line) for line in err.splitlines() if '"decision.made"' in line]
    assert len(lines) == len(logged) > 10
    assert {"action", "source", "probability", "top", "shanten", "latency_ms", "budget_ms"} <= set(logged[0])
    frames = Path("cap.tsv").read_text().splitlines()
    assert {line.split("\t")[1] for line in frames[1:]} == {"C", "S"}
    assert not re.search(r"[0-9A-F]{8}-[0-9A-F]{8}", Path("cap.tsv").read_text())


def test_json_prints_one_object_with_games_decisions_and_records_and_a_seed_repeats_the_first_game() -> None:
    args = ("play", "--type", "tonpuu", "--seed", SHORT, "--json", "--out", "records")
    (code, out, _), again = run(*args, "--games", "2"), json.loads(run(*args).stdout)
    assert code == 0
    result = json.loads(out)
    assert len(result["games"]) == 2
    for same in ("scores", "names"):
        assert again["games"][0][same] == result["games"][0][same]
    for game in result["games"]:
        assert sorted(game["placements"]) == [1, 2, 3, 4]
        assert sum(game["scores"]) == 100_000
        assert game["rounds"] >= 1
        assert Path(game["record"]).exists()
    decisions = result["decisions"]
    assert decisions["count"] > 20
    assert (decisions["fallbacks"], decisions["late"]) == (0, 0)
    assert 0 < decisions["p50_ms"] <= decisions["p99_ms"]


def test_a_dead_address_says_what_to_start_and_exits_1(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SUZAKU_CONNECTION__LOGIN_TRIES", "1")
    monkeypatch.setattr("bot.play.run.AT_HOME", NO_WAITS)
    code, out, err = run("play", "--url", "ws://127.0.0.1:9/", "--log-format", "json")
    assert code == 1
    said = "nothing listens at ws://127.0.0.1:9/; start a lobby there with `suzaku lobby --port 9`"
    retry = next(json.loads(line) for line in err.splitlines() if '"conn.retry"' in line)
    assert retry["reason"] == said
    assert f"stopped: gave up after 1 tries: {said}" in out
    assert "0 games" in out


@pytest.mark.slow
def test_two_of_us_at_one_table_lose_no_decision_and_hear_how_many_wait(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with start("lobby", "--clients-per-table", "2", "--out", "lobby", "--log-format", "json") as lobby:
        url = lobby.stdout.readline().strip()
        args = ("play", "--url", url, "--type", "tonpuu", "--json", "--log-format", "json", "--out", "ours")
        with start(*args, "--name", "Alice") as alice, ThreadPoolExecutor(1) as reader:
            next(line for line in lobby.stderr if '"table.waiting"' in line)
            # read as she writes: the log of a long game does not fit into a pipe, and she would wait for ever
            told = reader.submit(alice.communicate)
            code, out, _ = run(*args, "--name", "Bob")
            alice_out, heard = told.result()
            assert (code, alice.returncode) == (0, 0)
            results = [json.loads(out), json.loads(alice_out)]
        lobby.send_signal(signal.SIGINT)
        assert lobby.wait() == 0
        lobby.stderr.read()
    assert '"waiting, 1 of 2"' in heard
    assert {"Alice", "Bob"} < set(results[0]["games"][0]["names"])
    games = [result["games"][0] for result in results]
    assert games[0]["record"] == games[1]["record"] is not None
    for game, result in zip(games, results, strict=True):
        kept = Path("ours") / f"{game['game_id']}.seat{game['player']}.decisions.jsonl"
        assert len(kept.read_text().splitlines()) == result["decisions"]["count"] > 10
    # each can be reviewed from its own seat: the record shows both hands
    record = read_game(Path(games[0]["record"]))
    assert [p for p, known in enumerate(known_hands(record)) if known] == sorted(g["player"] for g in games)


@pytest.mark.parametrize("also_elsewhere", [False, True])
def test_fault_19_games_that_their_folder_does_not_take_are_told_and_exit_1(
    also_elsewhere: bool, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def refuse(path: Path, data: bytes) -> None:
        if also_elsewhere or path.parent == tmp_path / "r":
            raise OSError(errno.ENOSPC, "No space left on device")
        replace_file(path, data)

    monkeypatch.setattr("replays.store.library.replace_file", refuse)
    with beside(fake_server(GAME, ANOTHER_GAME)) as server:
        code, out, err = run(
            "play", "--url", server.url, "--games", "2", "--out", "r", "--log-format", "json"
        )
    assert code == 1
    assert err.count('"record.unsaved"') >= 2
    rescued = tmp_path / "state" / "suzaku" / "rescued"
    if also_elsewhere:
        assert "2 games could not be written anywhere" in out
        assert out.count("record: not written, see the log") == 2
        return
    assert (
        f"2 games could not be completely written to r (No space left on device); saved in {rescued}" in out
    )
    assert len(list(rescued.glob("*.mjlog.xml"))) == len(list(rescued.glob("*.seat?.decisions.jsonl"))) == 2
    assert out.count(f"record: {rescued}") == 2


def test_fault_19_a_game_that_is_written_at_the_last_try_is_no_failure(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    has_room = False

    def refuse(path: Path, data: bytes) -> None:
        if not has_room:
            raise OSError(errno.ENOSPC, "No space left on device")
        replace_file(path, data)

    def make_room(records: RecordKeeper) -> Closing:
        nonlocal has_room
        has_room = True
        return close(records)

    close = RecordKeeper.close
    monkeypatch.setattr(RecordKeeper, "close", make_room)
    monkeypatch.setattr("replays.store.library.replace_file", refuse)
    with beside(fake_server(GAME)) as server:
        code, out, _ = run("play", "--url", server.url, "--json", "--out", "r")
    assert code == 0
    (game,) = json.loads(out)["games"]
    assert Path(game["record"]).parent == tmp_path / "r"
    assert len(list(Path("r").glob("*.seat?.decisions.jsonl"))) == 1


def test_a_capture_that_cannot_be_written_exits_2(monkeypatch: pytest.MonkeyPatch) -> None:
    code, _, err = run("play", "--capture", "/")
    assert code == 2
    assert "--capture: `/`: a folder, expected the name of a file to write" in err
    monkeypatch.setenv("SUZAKU_RECORDS__CAPTURE", "/")
    code, _, err = run("play")
    assert code == 2
    assert "records.capture" in err


CTRL_C = """
import os, signal
from policies.heuristic.player import HeuristicPolicy

class Mine(HeuristicPolicy):
    left = {times}

    def answer(self, slot, questions):
        if self.left and slot == "discard" and all(each.record["discard_count"] >= 8 for each in questions):
            self.left -= 1
            os.kill(os.getpid(), signal.SIGINT)
        return super().answer(slot, questions)
"""


@pytest.mark.parametrize(("times", "games"), [(1, 1), (2, 0)])
def test_the_first_ctrl_c_finishes_the_game_and_the_second_stops_now(
    times: int, games: int, tmp_path: Path
) -> None:
    (tmp_path / "mine.py").write_text(CTRL_C.format(times=times))
    args = ("--games", "500", "--type", "tonpuu", "--seed", SHORT, "--json", "--log-format", "json")
    code, out, err = run("play", "--policy", "python:mine.py", *args, "--out", "r")
    result = json.loads(out)
    assert (code, result["interrupted"], len(result["games"])) == (130, True, games)
    assert '"program.stopping"' in err


@pytest.mark.parametrize("writable", [True, False])
def test_the_lobby_runs_alone_takes_a_player_and_tells_what_it_could_not_write(
    writable: bool, tmp_path: Path
) -> None:
    """Fault 19: without a folder for its records, it saves them elsewhere and exits with 1."""
    port = free_port()
    soon = Waits(first_s=0.01, growth=1.0, longest_s=0.01, tries=1 << 20)
    games: list[GameResult] = []

    def spoil() -> None:
        Path("r").rmdir()
        Path("r").write_text("a file where the folder was")

    async def play_a_game() -> None:
        url = f"ws://127.0.0.1:{port}/"
        async with ClientBench(url, game_type=TONPUU, at_login=soon) as bench:
            while not bench.frames:  # the lobby is being opened
                await bench.clock.advance(0.01)
                await asyncio.sleep(0.001)
            if not writable:
                spoil()
            await bench.hurry(step_s=0.01)
            games.extend(bench.journal.results)

    def play_and_stop() -> None:
        try:
            asyncio.run(play_a_game())
        finally:
            os.kill(os.getpid(), signal.SIGINT)

    player = threading.Thread(target=play_and_stop)
    player.start()
    code, out, err = run("lobby", "--port", port, "--seed", SHORT, "--out", "r")
    player.join()
    assert (code, out) == (0 if writable else 1, f"ws://127.0.0.1:{port}/\n")
    assert ("1 game could not be completely written to" in err) != writable
    folder = Path("r") if writable else tmp_path / "state" / "suzaku" / "rescued"
    assert [path.name for path in folder.glob("*.xml")] == [f"{games[0].game_id}.mjlog.xml"]


def test_tenhou_says_what_its_operator_asks_before_the_first_try_only(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("SUZAKU_CONNECTION__LOGIN_TRIES", "1")
    monkeypatch.setenv("SUZAKU_TENHOU__ENABLED", "true")
    monkeypatch.setenv("SUZAKU_TENHOU__USER_ID_ENV", "")
    monkeypatch.setenv("SUZAKU_TENHOU__HOSTS", "[127.0.0.1:9]")
    monkeypatch.setattr("bot.play.run.AT_LOGIN", NO_WAITS)
    told = [run("play", "--server", "tenhou") for _ in range(2)]
    assert [code for code, _, _ in told] == [1, 1]
    assert ["support@c-egg.com" in err for _, _, err in told] == [True, False]
