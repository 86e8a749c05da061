from __future__ import annotations

import asyncio

import pytest

from bot.player.seat_player import PlayerSettings
from bot.tenhou.client.connection import OUTGOING_LIMIT, TenhouConnection
from bot.tenhou.client.journal import Journal
from bot.tenhou.lobby import Lobby, LobbySettings
from kit.errors import ConnectionLost, TransportError
from policies.flow.slots import Question, Slot
from replays.record import GameRecord
from tests.bot.bench import Stub
from tests.bot.client_bench import ClientBench
from tests.bot.fake_clock import FakeClock, until
from tests.bot.fake_server import Hang, Hear, Refuse, Say, fake_server, free_port
from tests.bot.scripts import DEAL, END, GAME, INIT, LN, LOGIN, SEAT, TURN, UN
from tests.bot.whole_game import ACCOUNT, SHORT, TONPUU


async def test_it_plays_a_game_and_takes_its_leave() -> None:
    async with fake_server(GAME) as server, ClientBench(server.url) as bench:
        await bench.ended()
        assert server.tags() == ["HELO", "JOIN", "GOK", "NEXTREADY", "D", "BYE"]
    [result] = bench.journal.results
    assert result.game_id == "2026112100gm-0009-0000-0123abcd"
    assert (result.placement, result.rounds, result.scores) == (1, 1, (25000,) * 4)
    assert bench.events() == [
        *("conn.opened", "login.accepted", "lobby.queued", "game.started", "round.started"),
        *("decision.made", "round.ended", "game.ended"),
    ]
    assert (bench.player.tally.decisions, bench.player.tally.fallbacks, bench.player.tally.late) == (1, 0, 0)


async def test_the_record_names_the_players() -> None:
    kept: list[GameRecord] = []

    def keep(record: GameRecord) -> None:
        kept.append(record)

    people = UN.replace('"0,0,0,0"', '"16,17,18,19"').replace("1500.00,1500.00", "2101.50,1999.00", 1)
    people = people.replace('"M,M,M,M"', '"C,M,F,M"')
    game = [Say(people) if step == Say(UN) else step for step in GAME]
    journal = Journal(keep=keep)
    async with fake_server(game) as server, ClientBench(server.url, journal=journal) as bench:
        await bench.ended()
    assert kept[0].names == ("NoName", "A", "B", "C")
    assert kept[0].ranks == (16, 17, 18, 19)
    assert kept[0].rates == (2101.5, 1999.0, 1500.0, 1500.0)
    assert kept[0].sexes == ("C", "M", "F", "M")


async def test_the_handshake_looks_like_the_official_client() -> None:
    async with fake_server(GAME) as server, ClientBench(server.url) as bench:
        await bench.ended()
        [request] = server.requests
    headers = request.headers
    assert headers["Origin"] == "https://tenhou.net"
    assert headers["User-Agent"].startswith("Mozilla/5.0")
    assert headers["Pragma"] == headers["Cache-Control"] == "no-cache"
    assert "Sec-WebSocket-Extensions" not in headers
    assert "Sec-WebSocket-Protocol" not in headers


async def test_human_pace_waits_before_the_first_round_and_before_a_discard() -> None:
    async with (
        fake_server(GAME) as server,
        ClientBench(server.url, pace="human", player=PlayerSettings(pace="human")) as bench,
    ):
        await until(lambda: "game.started" in bench.events())
        began = bench.clock.now()
        while "NEXTREADY" not in server.tags():
            await bench.clock.advance(0.05)
            await asyncio.sleep(0.001)
        assert 2.95 <= bench.clock.now() - began <= 5.0
        await until(lambda: "round.started" in bench.events())
        began = bench.clock.now()
        while "D" not in server.tags():
            await bench.clock.advance(0.01)
            await asyncio.sleep(0.001)
        assert 0.45 <= bench.clock.now() - began <= 3.0
        await bench.ended()


async def test_the_end_of_a_game_that_was_heard_is_not_told_again() -> None:
    async with Lobby(LobbySettings(seed=SHORT)) as lobby:
        async with ClientBench(lobby.url, name=ACCOUNT, game_type=TONPUU, games=2) as bench:
            await bench.ended()
        assert lobby.games == 2
    first, second = bench.journal.results
    assert first.game_id != second.game_id
    assert not bench.logged("state.resynced")
    assert bench.events().count("conn.opened") == 2


async def test_a_server_that_reads_nothing_is_a_drop() -> None:
    class Deaf:
        async def recv(self) -> str:
            await asyncio.Event().wait()
            return ""

        async def send(self, _: str, /) -> None:
            await asyncio.Event().wait()

    connection = TenhouConnection(Deaf(), FakeClock(), 10.0, lambda: None, lambda: 60.0)
    running = asyncio.create_task(connection.run(print))
    for _ in range(OUTGOING_LIMIT + 2):
        connection.post("x")
    with pytest.raises(ConnectionLost, match="does not read"):
        await running


async def test_it_falls_back_to_the_other_host() -> None:
    nowhere = f"ws://127.0.0.1:{free_port()}/"
    async with fake_server(GAME) as server, ClientBench(nowhere, server.url) as bench:
        await bench.hurry()
        await bench.ended()
    assert bench.events()[0] == "conn.retry"
    assert len(bench.journal.results) == 1


async def test_a_server_that_refuses_logins_stops_it_at_once() -> None:
    async with fake_server(Refuse(403)) as server, ClientBench(server.url) as bench:
        with pytest.raises(TransportError, match="refused access"):
            await bench.ended()
        assert server.handshakes == 1


async def test_finish_in_the_lobby_leaves_at_once() -> None:
    script = [*LOGIN, Hear("BYE")]
    async with fake_server(script) as server, ClientBench(server.url) as bench:
        await until(lambda: "JOIN" in server.tags())
        bench.client.finish()
        await bench.ended()
    assert not bench.journal.results


async def test_finish_during_the_handshake_starts_no_game() -> None:
    async with fake_server(GAME) as server, ClientBench(server.url) as bench:
        await asyncio.sleep(0)  # it connects
        bench.client.finish()
        await bench.ended()
        assert (server.handshakes, server.tags()) == (1, [])


async def test_finish_while_waiting_for_another_try_ends_the_wait() -> None:
    async with fake_server(Refuse(503)) as server, ClientBench(server.url) as bench:
        await until(lambda: "conn.retry" in bench.events())
        bench.client.finish()
        await bench.ended()
        assert server.handshakes == 1


async def test_a_riichi_that_is_not_confirmed_gets_its_discard_after_two_seconds() -> None:
    # 123m 456p 789s 11z 55z waits for 1z and 5z after discarding 2z
    hand = (0, 4, 8, 48, 53, 56, 96, 100, 104, 108, 109, 124, 125)
    init = INIT.replace(INIT.split('"hai":"')[1][:-2], ",".join(map(str, hand)))
    draw = '{"tag":"T112","t":"32"}'
    script = [*LOGIN, *SEAT, Say(init), Say(draw), Hear("REACH"), Hear("D"), *END[-1:]]

    def yes(questions: list[Question]) -> list[list[float]] | None:
        return [[0.9]] if questions[0].slot is Slot.RIICHI else None

    async with fake_server(script) as server, ClientBench(server.url, load_policy=lambda: Stub(yes)) as bench:
        await until(lambda: "REACH" in server.tags())
        await bench.clock.advance(1.9)
        assert server.tags()[-1] == "REACH"
        await bench.clock.advance(0.2)
        await until(lambda: server.tags()[-1] == "D")
        assert server.received[0][-1] == '{"tag":"D","p":112}'


async def test_a_lobby_may_keep_us_waiting_and_hears_every_ten_seconds_that_we_are_there() -> None:
    script = [*LOGIN, Hear("Z"), Say(LN), *[Hear("Z")] * 20, *SEAT, *DEAL, *TURN, *END]
    async with fake_server(script) as server, ClientBench(server.url) as bench:
        await until(lambda: server.received and len(server.received[0]) >= 2)
        for _ in range(22):
            await bench.clock.advance(10)
            await asyncio.sleep(0.002)
        await bench.ended()
        assert server.handshakes == 1
        assert server.received[0].count("<Z/>") in (21, 22)


async def test_cancelling_the_run_leaves_no_task_behind() -> None:
    before = asyncio.all_tasks()
    async with fake_server([*LOGIN, *SEAT, *DEAL, Hang()]) as server:
        async with ClientBench(server.url) as bench:
            await until(lambda: "decision.made" in bench.events())
        await until(lambda: len(asyncio.all_tasks() - before) <= 3)  # those of the server
    await until(lambda: asyncio.all_tasks() <= before)
