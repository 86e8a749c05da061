"""Faults 1 to 6, 25 and 27: the connection drops, falls silent, is refused, taken over, or floods us."""

from __future__ import annotations

import asyncio
import threading
from pathlib import Path

import pytest

from bot.player.seat_player import PlayerSettings
from bot.tenhou.client.journal import Journal
from bot.tenhou.client.settings import AT_LOGIN, ID_BUSY, IN_GAME
from kit.errors import ConnectionLost, LoginRejected, SessionReplaced
from replays.formats import read_game
from replays.store.library import Library
from tests.bot.bench import Stub
from tests.bot.client_bench import ClientBench
from tests.bot.fake_clock import until
from tests.bot.fake_server import Drop, Flood, Half, Hang, Hear, Refuse, Say, Step, fake_server, free_port
from tests.bot.scripts import BACK, DEAL, DRAW, DRAWN, END, GAME, LOGIN, SEAT, SECRET_CODE, TURN, reinit

OTHERS_TURN: list[Step] = [Say('{"tag":"U"}')]
AGAIN: list[Step] = [*BACK, reinit(), Say(DRAW), *TURN, *END]


# --- fault 1: drops ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "cut",
    [Drop(), Drop(1000), Drop(1001), Drop(1011), Half(DRAW)],
    ids=["abort", "1000", "1001", "1011", "half"],
)
async def test_fault_01_a_drop_on_our_turn_resumes_and_decides(cut: Step) -> None:
    scripts = ([*LOGIN, *SEAT, *DEAL, cut], AGAIN)
    async with fake_server(*scripts) as server, ClientBench(server.url) as bench:
        await bench.hurry()
        await bench.ended()
        assert server.tags() == ["HELO", "GOK", "D", "BYE"]
        assert f'"gpid":"{SECRET_CODE}"' in server.received[1][0]
    assert len(bench.journal.results) == 1
    assert bench.events().count("conn.lost") == 1
    [retry] = bench.logged("conn.retry")
    assert retry["wait_s"] <= 1.0
    assert bench.logged("state.resynced")[0]["exact"]


async def test_fault_01_many_drops_in_one_game_are_all_survived() -> None:
    again = [*BACK, reinit(), Say(DRAW), Drop()]
    scripts = ([*LOGIN, *SEAT, *DEAL, Drop()], *[again] * (IN_GAME.tries + 2), AGAIN)
    async with fake_server(*scripts) as server, ClientBench(server.url) as bench:
        await bench.hurry()
        await bench.ended()
        assert server.handshakes == IN_GAME.tries + 4
    assert len(bench.journal.results) == 1


async def test_fault_01_another_game_in_the_middle_of_one_is_played_and_the_first_is_kept(
    tmp_path: Path,
) -> None:
    script = [*LOGIN, *SEAT, *DEAL, *TURN, *OTHERS_TURN, *SEAT, *DEAL, *TURN, *END]
    kept = Journal(keep=Library(tmp_path).keep)
    async with fake_server(script) as server, ClientBench(server.url, journal=kept) as bench:
        await bench.hurry()
        await bench.ended()
        assert server.handshakes == 1
        assert server.tags() == ["HELO", "JOIN", *["GOK", "NEXTREADY", "D"] * 2, "BYE"]
    assert "conn.lost" not in bench.events()
    [missed] = bench.journal.missed_games
    [result] = bench.journal.results
    assert bench.logged("game.ended")[0]["missed"]
    assert missed.why == "the server seated us at another table"
    assert missed.record is not None
    cut, whole = (read_game(Path(path)) for path in (missed.record, result.record) if path is not None)
    assert cut.ending is None
    names = [type(event).__name__ for event in cut.events]
    assert names == ["StartGame", "StartRound", "Draw", "Discard", "Draw"]
    assert whole.ending is not None
    assert missed.record != result.record


# --- fault 2: silence --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("script", "then", "silent_s"),
    [
        ([*LOGIN, *SEAT, *DEAL, *TURN, Hang()], AGAIN, 30),
        ([*LOGIN, *SEAT, *DEAL, Hear("D"), Hang()], AGAIN, 15),
        ([Hear("HELO"), Hang()], GAME, 15),
    ],
    ids=["in a game", "after a discard", "at login"],
)
async def test_fault_02_silence_is_a_drop_sooner_where_an_answer_is_due(
    script: list[Step], then: list[Step], silent_s: int
) -> None:
    awaited = next(step.tag for step in reversed(script) if isinstance(step, Hear))
    limits = {"silence_s": 30.0, "echo_s": 15.0, "login_s": 15.0}
    async with fake_server(script, then) as server, ClientBench(server.url, **limits) as bench:
        await until(lambda: server.tags()[-1:] == [awaited])
        began = bench.clock.now()
        while "conn.lost" not in bench.events():
            await bench.clock.advance(0.5)
            await asyncio.sleep(0.001)
        assert silent_s - 1 <= bench.clock.now() - began <= silent_s + 3
        assert "nothing received" in bench.logged("conn.lost")[0]["reason"]
        await bench.hurry()
        await bench.ended()
        assert server.handshakes == 2
    assert len(bench.journal.results) == 1


async def test_fault_02_a_handshake_that_is_not_answered_is_a_drop() -> None:
    async def say_nothing(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read()
        writer.close()

    deaf = await asyncio.start_server(say_nothing, "127.0.0.1", 0)
    port = deaf.sockets[0].getsockname()[1]
    async with deaf, fake_server(GAME) as server:
        async with ClientBench(f"ws://127.0.0.1:{port}/", server.url, open_s=0.05) as bench:
            await until(lambda: bench.logged("conn.retry"))
            await bench.hurry()
            await bench.ended()
        assert "in time" in bench.logged("conn.retry")[0]["reason"]


# --- fault 3: between our send and the echo ----------------------------------------------------------------


async def test_fault_03_a_discard_that_was_lost_is_decided_anew_once() -> None:
    scripts = ([*LOGIN, *SEAT, *DEAL, Hear("D"), Drop()], AGAIN)
    async with fake_server(*scripts) as server, ClientBench(server.url) as bench:
        await bench.hurry()
        await bench.ended()
        assert server.tags(1) == ["HELO", "GOK", "D", "BYE"]
        assert [f for f in server.received[0] if '"D"' in f] == [f for f in server.received[1] if '"D"' in f]


# --- fault 4: restart, maintenance -------------------------------------------------------------------------


async def test_fault_04_refused_then_503_then_accepted() -> None:
    async with fake_server(Refuse(503), Refuse(503), GAME) as server:
        await server.down()
        async with ClientBench(server.url) as bench:
            await until(lambda: len(bench.logged("conn.retry")) == 1)
            assert "nothing listens" in bench.logged("conn.retry")[0]["reason"]
            await server.up()
            await bench.hurry()
            await bench.ended()
        waits = [entry["wait_s"] for entry in bench.logged("conn.retry")]
        assert len(waits) == 3
        assert waits[0] >= 1.0
        assert "maintenance" in bench.logged("conn.retry")[1]["reason"]
    assert len(bench.journal.results) == 1


async def test_fault_04_tries_are_bounded_and_grow_without_hammering() -> None:
    async with ClientBench(f"ws://127.0.0.1:{free_port()}/") as bench:
        took = await bench.hurry(step_s=1.0)
        with pytest.raises(ConnectionLost, match=r"gave up after 8 tries.*`suzaku lobby --port"):
            await bench.ended()
    assert len(bench.logged("conn.retry")) == AT_LOGIN.tries
    assert took > 100


async def test_fault_04_a_seat_that_waits_is_tried_for_longer() -> None:
    async with fake_server([*LOGIN, *SEAT, *DEAL, Drop()]) as server, ClientBench(server.url) as bench:
        took = await bench.hurry(step_s=1.0)
        with pytest.raises(ConnectionLost, match=r"gave up after 20 tries.*maintenance"):
            await bench.ended()
        assert server.handshakes == IN_GAME.tries + 1
    assert took > 240


async def test_fault_04_a_restart_in_a_game_ends_it_and_the_next_one_is_played() -> None:
    async with (
        fake_server([*LOGIN, *SEAT, *DEAL, Drop()], GAME) as server,
        ClientBench(server.url, games=2) as bench,
    ):
        await until(lambda: bench.logged("conn.retry"))
        await server.down()
        await bench.clock.advance(5)
        await server.up()
        # The server has lost the game: it lets us log in as if there had been none.
        await bench.hurry()
        await bench.ended()
    assert len(bench.journal.missed_games) == 1
    assert len(bench.journal.results) == 1


async def test_fault_04_a_server_that_wants_a_new_login_gets_it_five_seconds_later() -> None:
    script = [Hear("HELO"), Say('{"tag":"REHELO"}'), Hang()]
    async with fake_server(script, GAME) as server, ClientBench(server.url) as bench:
        await until(lambda: bench.logged("conn.retry"))
        assert bench.logged("conn.retry")[0]["wait_s"] == 5.0
        await bench.hurry()
        await bench.ended()


# --- fault 5: the same id elsewhere ------------------------------------------------------------------------

BUSY = [Hear("HELO"), Say('{"tag":"ERR","code":"1004"}'), Hang()]


async def test_fault_05_already_connected_at_login_waits_and_tries_few_times() -> None:
    async with fake_server(BUSY, BUSY, GAME) as server, ClientBench(server.url) as bench:
        await bench.hurry()
        await bench.ended()
        assert server.handshakes == 3
    waits = [entry["wait_s"] for entry in bench.logged("conn.retry")]
    assert all(wait >= 2.5 for wait in waits)
    assert len(bench.logged("login.rejected")) == 2


async def test_fault_05_an_id_that_stays_connected_elsewhere_is_given_up() -> None:
    async with fake_server(*[BUSY] * 20) as server, ClientBench(server.url) as bench:
        await bench.hurry(step_s=1.0)
        with pytest.raises(ConnectionLost, match="still connected"):
            await bench.ended()
        assert server.handshakes == ID_BUSY.tries + 1


async def test_fault_05_a_seat_taken_over_in_play_is_not_taken_back() -> None:
    script = [*LOGIN, *SEAT, *DEAL, *TURN, Say('{"tag":"ERR","code":"1004"}'), Hang()]
    async with fake_server(script, GAME) as server, ClientBench(server.url) as bench:
        with pytest.raises(SessionReplaced, match="elsewhere"):
            await bench.ended()
        await bench.clock.advance(3600)
        assert server.handshakes == 1
    assert bench.logged("session.replaced")


# --- fault 6: never retry ----------------------------------------------------------------------------------


@pytest.mark.parametrize("code", ["1001", "1002", "1003", "1005", "1006", "1019", "1020", "4711"])
async def test_fault_06_an_id_that_is_not_let_in_stops_at_once(code: str) -> None:
    script = [Hear("HELO"), Say(f'{{"tag":"ERR","code":"{code}"}}'), Hang()]
    async with fake_server(script, GAME) as server, ClientBench(server.url) as bench:
        with pytest.raises(LoginRejected) as caught:
            await bench.ended()
        assert caught.value.code == code
        assert server.handshakes == 1
    assert bench.logged("login.rejected")[0]["code"] == code


# --- fault 25: the machine was suspended -------------------------------------------------------------------


async def test_fault_25_after_a_sleep_of_the_machine_the_line_is_made_anew() -> None:
    scripts = ([*LOGIN, *SEAT, *DEAL, *TURN, Hang()], AGAIN)
    async with fake_server(*scripts) as server, ClientBench(server.url) as bench:
        await until(lambda: "D" in server.tags())
        bench.clock.jump(3600)
        while "conn.lost" not in bench.events():
            await bench.clock.advance(0.5)
        assert "was suspended" in bench.logged("conn.lost")[0]["reason"]
        await bench.hurry()
        await bench.ended()
        assert server.handshakes == 2
    assert len(bench.journal.results) == 1


async def test_fault_25_no_timer_reads_the_wall_clock(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("time.time", lambda: 0.0)  # the date is 1970, then jumps
    async with fake_server(GAME) as server, ClientBench(server.url) as bench:
        await until(lambda: "login.accepted" in bench.events())
        monkeypatch.setattr("time.time", lambda: 4e9)
        await bench.ended()
    assert not bench.logged("conn.lost")


# --- fault 27: more data than we can take ------------------------------------------------------------------


async def test_fault_27_a_flood_loses_no_frame_and_delays_no_answer() -> None:
    flood: list[Step] = [Flood('{"tag":"CHAT","text":"%41"}', 5000)]
    script = [*LOGIN, *flood, *SEAT, *DEAL, *flood, *TURN, *flood, *END]
    async with fake_server(script) as server, ClientBench(server.url) as bench:
        await bench.ended()
        assert len([1 for side, _ in bench.frames if side == "S"]) == 15000 + 10
    assert len(bench.journal.results) == 1
    assert bench.player.tally.late == 0


async def test_fault_27_state_goes_on_while_a_decision_hangs() -> None:
    gate = threading.Event()
    script = [*LOGIN, *SEAT, *DEAL, Say(f'{{"tag":"D{DRAWN}"}}'), *END]
    async with (
        fake_server(script) as server,
        ClientBench(
            server.url, load_policy=lambda: Stub(lambda _: gate.wait() and None), player=PlayerSettings()
        ) as bench,
    ):
        await bench.ended()  # the server discarded for us; the game ends before the decision
        gate.set()
        assert server.tags() == ["HELO", "JOIN", "GOK", "NEXTREADY", "BYE"]
    assert len(bench.journal.results) == 1
