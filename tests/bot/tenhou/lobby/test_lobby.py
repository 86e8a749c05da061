"""The lobby over real sockets: login, queue, whole games, returning players, and hostile clients."""

from __future__ import annotations

import asyncio
import re
from pathlib import Path
from urllib.parse import unquote

import pytest
from structlog.testing import capture_logs
from websockets.asyncio.client import connect
from websockets.exceptions import InvalidStatus

from bot.tenhou.lobby import Lobby, LobbySettings, core, member
from bot.tenhou.lobby.table_seat import ClockSettings
from game.events import EndGame, GameEvent, PlayerLeft, PlayerReturned
from replays.mjlog.reader import read_record
from replays.record import GameRecord
from replays.store.library import Library
from tests.bot.tenhou.lobby.lobby_client import ACCOUNT, OTHER, client, plain_reply, whole_game
from tests.bot.whole_game import SHORT


def moves(record: GameRecord) -> list[GameEvent]:
    return [event for event in record.events if not isinstance(event, PlayerLeft | PlayerReturned)]


# --- login --------------------------------------------------------------------------------------------


async def test_a_guest_and_an_account_are_let_in_and_told_their_names() -> None:
    async with Lobby() as lobby, client(lobby.url) as guest, client(lobby.url) as member:
        assert await guest.login() == {"tag": "HELO", "uname": "%4E%6F%4E%61%6D%65"}
        assert (await guest.hear())["tag"] == "LN"
        hello = await member.login(ACCOUNT)
        assert "ID" not in hello["uname"]


@pytest.mark.parametrize(
    "name",
    [
        "",
        "x" * 17,
        "id0",
        " a",
        "a\n",
        "ID0123ABCD",
        "ID0123abcd-aBcD5678",
        "IDIDIDIDID-aBcD5678",
        ACCOUNT + "x",
    ],
)
async def test_a_bad_id_gets_1003(name: str) -> None:
    async with Lobby() as lobby, client(lobby.url) as player:
        assert await player.login(name) == {"tag": "ERR", "code": "1003"}


async def test_an_id_that_is_connected_gets_1004_and_the_first_line_keeps_it() -> None:
    async with Lobby() as lobby, client(lobby.url) as first, client(lobby.url) as second:
        await first.login(ACCOUNT)
        assert await second.login(ACCOUNT) == {"tag": "ERR", "code": "1004"}
        await first.say("<ECHO />")
        await first.hear_until("ECHO")


async def test_an_id_is_free_again_after_logging_out_and_the_line_can_be_used_again() -> None:
    async with Lobby() as lobby, client(lobby.url) as first, client(lobby.url) as second:
        await first.login(ACCOUNT)
        await first.say("<BYE/>")
        await first.login(OTHER)
        assert (await second.login(ACCOUNT))["tag"] == "HELO"


async def test_a_line_without_a_login_is_closed() -> None:
    async with Lobby(LobbySettings(login_s=0.02)) as lobby, client(lobby.url) as player:
        assert await player.closed() == 1008


async def test_a_guest_may_have_a_name_and_keeps_it_on_return() -> None:
    async with Lobby() as lobby, client(lobby.url) as first:
        assert unquote((await first.login("Alice"))["uname"]) == "Alice"
        await first.queue("0,1")
        await first.hear_until("TAIKYOKU")
        await first.socket.close()
        async with client(lobby.url) as second:
            await second.login("Alice", gpid=first.gpid)
            un = await second.hear_until("UN")
            assert "Alice" in {unquote(un[f"n{seat}"]) for seat in range(4)}


# --- allowed connections ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "origin",
    [
        "https://evil.example",
        "null",
        "http://tenhou.net",
        "https://tenhou.net.evil.example",
        "https://tenhou.net:8443",
        "https://nottenhou.net",
        "http://127.0.0.1.evil.example",
        "http://localhost@evil.example",
        "file://",
        "https://10.0.0.1",
        "chrome-extension://abcdef",
    ],
)
async def test_a_page_from_elsewhere_opens_no_line(origin: str) -> None:
    with capture_logs() as logs:
        async with Lobby() as lobby:
            with pytest.raises(InvalidStatus, match="403"):
                await connect(lobby.url, origin=origin)  # type: ignore[arg-type] # a NewType of str
    assert [entry["event"] for entry in logs].count("line.refused") == 1


@pytest.mark.parametrize(
    "host", ["evil.example", "evil.example:4000", "10.0.0.1", "127.0.0.1.evil.example", ""]
)
async def test_a_name_made_to_lead_here_opens_no_line(host: str) -> None:
    async with Lobby(LobbySettings(own_host="lobby.lan")) as lobby:
        assert b" 403 " in await answer(lobby.port, f"Host: {host}")
        assert b" 403 " in await answer(lobby.port, f"Host: 127.0.0.1\r\nHost: {host}")
        for known in ("127.0.0.1", "localhost:80", "[::1]:80", "LOBBY.lan:80"):
            assert b" 101 " in await answer(lobby.port, f"Host: {known}")
    async with Lobby() as lobby:
        assert b" 403 " in await answer(lobby.port, "Host: lobby.lan")


@pytest.mark.parametrize(
    "origin", [None, "https://tenhou.net", "http://localhost:8000", "http://127.0.0.1", "https://[::1]:1"]
)
async def test_programs_this_machines_pages_and_tenhous_page_are_let_in(origin: str | None) -> None:
    async with Lobby() as lobby:
        socket = await connect(lobby.url, origin=origin)  # type: ignore[arg-type] # a NewType of str
        await socket.close()


async def test_refused_lines_do_not_fill_the_log(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(core, "REFUSALS_LOGGED", 3)
    with capture_logs() as logs:
        async with Lobby() as lobby:
            for _ in range(9):
                await answer(lobby.port, "Host: evil.example")
    assert [entry["event"] for entry in logs].count("line.refused") == 3


async def answer(port: int, *headers: str) -> bytes:
    """The first line of the lobby's answer to a handshake with these headers."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    key = (
        "Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: "
        + "A" * 22
    )
    writer.write("\r\n".join(["GET / HTTP/1.1", *headers, key + "==", "", ""]).encode())
    line = await reader.readline()
    writer.close()
    return line


async def test_a_line_begins_no_game_while_one_it_began_still_runs() -> None:
    """After a logout the lobby plays the seat, and the game continues."""
    settings = LobbySettings(delay_s=0.05)
    async with Lobby(settings) as lobby, client(lobby.url) as player:
        for _ in range(3):
            await player.login()
            await player.say({"tag": "JOIN", "t": "0,1,r"})
            await player.say("<BYE/>")
        await player.login()
        await player.say("<ECHO />")
        await player.hear_until("ECHO")
        assert lobby.games == 1
        refused = [frame for frame in player.heard if frame["tag"] == "ERR"]
        assert [frame["code"] for frame in refused] == ["9002"] * 2


async def test_games_at_once_are_bounded_and_the_next_begins_when_one_ends(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("bot.tenhou.lobby.games.MAX_GAMES", 1)
    settings = LobbySettings(seed=SHORT)
    async with Lobby(settings) as lobby, client(lobby.url) as first, client(lobby.url) as second:
        await first.login()
        await first.queue("0,1")
        await first.hear_until("TAIKYOKU")
        await second.login()
        await second.queue("0,1")
        await second.say("<ECHO />")
        await second.hear_until("ECHO")
        assert lobby.games == 1
        await first.say({"tag": "GOK"})
        await first.say({"tag": "NEXTREADY"})
        await first.play()
        await second.hear_until("GO")


# --- the lobby ----------------------------------------------------------------------------------------


async def test_small_talk_is_answered_as_the_real_server_does() -> None:
    async with Lobby() as lobby, client(lobby.url) as player:
        await player.login()
        await player.hear()
        for said, tag in [
            ('<PXR V="9" />', "LN"),
            ("<Z/>", "LN"),
            ("<ECHO />", "ECHO"),
            ({"tag": "LOBBY", "id": "7994"}, "CHAT"),
            ({"tag": "CS", "lobby": "C12345678"}, "CS"),
            ({"tag": "CS", "lobby": "C1"}, "ERR"),
            ("<DATE />", "DATE"),
        ]:
            await player.say(said)
            assert (await player.hear())["tag"] == tag
        assert re.fullmatch(r"20\d{12}", player.heard[-1]["t"])


@pytest.mark.parametrize("number", [17, 2, 3, 4, 13, 185, 265, 1536, 2048, 9999])
async def test_tables_we_do_not_play_are_refused_and_the_log_says_why(number: int) -> None:
    with capture_logs() as logs:
        async with Lobby() as lobby, client(lobby.url) as player:
            await player.login()
            await player.hear()
            await player.say({"tag": "JOIN", "t": f"0,{number}"})
            assert await player.hear() == {"tag": "ERR", "code": "9001"}
    (refused,) = [entry for entry in logs if entry["event"] == "table.refused"]
    assert refused["reason"]


async def test_a_table_waits_for_as_many_clients_as_it_is_set_to() -> None:
    settings = LobbySettings(clients_per_table=2, requeue_s=0.01)
    async with Lobby(settings) as lobby, client(lobby.url) as first, client(lobby.url) as second:
        await first.login()
        await first.queue()
        await first.hear_until("REJOIN")  # asked again while it waits
        await second.login()
        await second.queue()
        assert (await first.hear_until("GO"))["type"] == "9"
        un = await second.hear_until("UN")
        assert un["sx"].count("M") == 2


async def test_waiting_players_are_told_their_number() -> None:
    settings = LobbySettings(clients_per_table=3)
    with capture_logs() as logs:
        async with Lobby(settings) as lobby, client(lobby.url) as first, client(lobby.url) as second:
            for player in (first, second):
                await player.login()
                await player.queue()
            for said in ("waiting, 1 of 3", "waiting, 2 of 3"):
                assert unquote((await first.hear_until("CHAT"))["text"]) == said
            await second.say({"tag": "JOIN"})
            assert unquote((await first.hear_until("CHAT"))["text"]) == "waiting, 1 of 3"
    told = [(entry["players"], entry["of"]) for entry in logs if entry["event"] == "table.waiting"]
    assert told == [(1, 3), (2, 3), (1, 3)]


# --- whole games --------------------------------------------------------------------------------------


async def test_a_whole_game_is_played_and_recorded(tmp_path: Path) -> None:
    library, paths = Library(tmp_path), []
    async with Lobby(LobbySettings(seed=SHORT), on_record=lambda r: paths.append(library.keep(r))) as lobby:
        player = await whole_game(lobby.url)
    (path,) = paths
    taikyoku = next(frame for frame in player.heard if frame["tag"] == "TAIKYOKU")
    assert path.name == taikyoku["log"] + ".mjlog.xml"
    assert isinstance(read_record(path.read_text()).events[-1], EndGame)
    assert player.tags.index("GO") < player.tags.index("UN") < player.tags.index("TAIKYOKU")
    assert player.tags[-2] == "PROF"


async def test_games_repeat_with_their_seed_and_differ_from_each_other() -> None:
    async def two_games() -> list[list[GameEvent]]:
        records: list[GameRecord] = []
        async with Lobby(LobbySettings(seed=29), on_record=records.append) as lobby:
            for _ in range(2):
                await whole_game(lobby.url)
        return [moves(record) for record in records]

    once = await two_games()
    assert once == await two_games()
    assert once[0] != once[1]


async def test_several_tables_play_side_by_side() -> None:
    records: list[GameRecord] = []
    async with Lobby(LobbySettings(seed=SHORT), on_record=records.append) as lobby:
        await asyncio.gather(*(whole_game(lobby.url) for _ in range(3)))
    assert len({record.game_id for record in records}) == 3


async def test_practice_tables_hand_out_no_code_and_neither_name_nor_keep_a_record() -> None:
    records: list[GameRecord] = []
    async with Lobby(LobbySettings(seed=SHORT), on_record=records.append) as lobby:
        player = await whole_game(lobby.url, ticket="0,64")
    assert not records  # the player keeps it, as on Tenhou
    go = next(frame for frame in player.heard if frame["tag"] == "GO")
    assert go == {"tag": "GO", "type": "64", "lobby": "0"}
    assert "PROF" not in player.tags
    assert "log" not in next(frame for frame in player.heard if frame["tag"] == "TAIKYOKU")


async def test_a_record_that_cannot_be_kept_ends_no_lobby() -> None:
    def refuse(_: GameRecord) -> None:
        raise OSError("disk full")

    with capture_logs() as logs:
        async with Lobby(LobbySettings(seed=SHORT), on_record=refuse) as lobby:
            await whole_game(lobby.url)
            await lobby.records_saved()
            async with client(lobby.url) as player:
                await player.login()
                await player.queue()
                await player.hear_until("GO")
    assert [entry["event"] for entry in logs].count("record.unsaved") == 1


async def test_a_silent_client_does_not_hold_a_table_up() -> None:
    clock = ClockSettings(base_s=0.002, bank_s=0.0, grace_s=0.0, popup_s=0.0, start_s=0.0)
    async with Lobby(LobbySettings(seed=SHORT, clock=clock)) as lobby, client(lobby.url) as player:
        await player.login()
        await player.queue("0,1")
        while "owari" not in await player.hear():
            pass


# --- returning ----------------------------------------------------------------------------------------


async def test_an_account_returns_by_its_id_and_a_guest_by_its_code() -> None:
    for name in (ACCOUNT, "NoName"):
        records: list[GameRecord] = []
        async with Lobby(LobbySettings(seed=SHORT), on_record=records.append) as lobby:
            async with client(lobby.url) as first:
                await first.login(name)
                await first.queue("0,1")
                await first.play(until=lambda frame: frame["tag"].startswith("T1"))
            async with client(lobby.url) as second:
                gpid = "" if name == ACCOUNT else first.gpid
                assert (await second.login(name, gpid))["tag"] == "GO"
                await second.say({"tag": "GOK"})
                await second.hear_until("REINIT")
                drawn = await second.play(until=lambda frame: frame["tag"].startswith("T1"))
                assert drawn["tag"] == first.heard[-1]["tag"]
                await second.say({"tag": "D", "p": int(drawn["tag"][1:])})
                await second.play()
        (record,) = records
        assert sum(isinstance(event, PlayerLeft) for event in record.events) >= 1


async def test_a_foreign_code_takes_no_seat() -> None:
    async with Lobby() as lobby, client(lobby.url) as owner:
        await owner.login(ACCOUNT)
        await owner.queue()
        await owner.hear_until("GO")
        for name in ("NoName", OTHER):
            async with client(lobby.url) as thief:
                assert await thief.login(name, owner.gpid) == {"tag": "ERR", "code": "1003"}
        async with client(lobby.url) as stranger:
            assert (await stranger.login("NoName", "00000000-00000000"))["tag"] == "HELO"


async def test_a_code_replaces_the_line_that_holds_the_seat() -> None:
    async with Lobby() as lobby, client(lobby.url) as first:
        await first.login()
        await first.queue()
        await first.play(until=lambda frame: frame["tag"] == "INIT")
        async with client(lobby.url) as second:
            assert (await second.login(gpid=first.gpid))["tag"] == "GO"
            assert (await first.hear_until("ERR"))["code"] == "1004"
            assert await first.closed() == 1008


async def test_after_the_game_a_code_is_worth_nothing() -> None:
    async with Lobby(LobbySettings(seed=SHORT)) as lobby:
        player = await whole_game(lobby.url)
        async with client(lobby.url) as again:
            assert (await again.login(gpid=player.gpid))["tag"] == "HELO"


# --- hostile clients ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "garbage",
    ["", "{", "[]", '{"tag":1}', "<D p=", '{"tag":"D","p":136}', b"\x00\xff", '{"tag":"D","p":"x"}'],
)
async def test_fault_09_garbage_is_counted_and_a_few_close_the_line(garbage: str | bytes) -> None:
    with capture_logs() as logs:
        async with Lobby() as lobby, client(lobby.url) as player:
            await player.login()
            for _ in range(5):
                await player.socket.send(garbage)
            assert await player.closed() == 1008
    assert [entry["event"] for entry in logs].count("proto.rejected") == 5


async def test_many_illegal_frames_or_too_many_close_the_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(member.BAD_FRAMES, "illegal", 5)
    async with Lobby() as lobby, client(lobby.url) as player:
        await player.login()
        for _ in range(5):
            await player.say({"tag": "D", "p": 135})
        assert await player.closed() == 1008
    monkeypatch.setattr(member, "FRAMES_PER_S", 0.0)
    monkeypatch.setattr(member, "FRAMES_BURST", 5)
    async with Lobby() as lobby, client(lobby.url) as player:
        await player.login()
        for _ in range(5):
            await player.say("<ECHO />")
        assert await player.closed() == 1008
        assert [frame["tag"] for frame in player.heard] == ["HELO"]


async def test_fault_09_a_huge_frame_closes_the_line_and_nothing_else() -> None:
    async with Lobby() as lobby, client(lobby.url) as player:
        await player.login()
        await player.socket.send("x" * 200_000)
        assert await player.closed() == 1009
        async with client(lobby.url) as other:
            assert (await other.login())["tag"] == "HELO"


async def test_an_illegal_frame_is_ignored_and_the_log_says_why() -> None:
    with capture_logs() as logs:
        async with Lobby(LobbySettings(seed=1)) as lobby, client(lobby.url) as player:
            await player.login()
            await player.queue("0,1")
            await player.play(until=lambda frame: re.fullmatch(r"T\d+", frame["tag"]) is not None)
            drawn = player.heard[-1]
            for frame in ({"tag": "D", "p": 135}, {"tag": "N", "type": 6}, {"tag": "JOIN", "t": "0,9"}):
                await player.say(frame)
            await player.say("<NOSUCH/>")
            await player.say(plain_reply(drawn) or "")
            assert (await player.hear())["tag"] == "D" + drawn["tag"][1:]
    reasons = [entry["reason"] for entry in logs if entry["event"] == "proto.rejected"]
    assert [reason.split()[0] for reason in reasons] == ["discard", "N", "JOIN"]
    assert [entry["tag"] for entry in logs if entry["event"] == "proto.unknown_tag"] == ["NOSUCH"]


async def test_frames_before_the_login_are_refused() -> None:
    with capture_logs() as logs:
        async with Lobby() as lobby, client(lobby.url) as player:
            await player.say({"tag": "JOIN", "t": "0,9"})
            await player.say("<Z/>")
            assert (await player.login())["tag"] == "HELO"
    assert [entry["reason"] for entry in logs if entry["event"] == "proto.rejected"] == [
        "Queue before the login"
    ]


async def test_fault_23_ids_and_codes_reach_no_log() -> None:
    with capture_logs() as logs:
        async with Lobby() as lobby, client(lobby.url) as player:
            await player.login(ACCOUNT)
            await player.queue("0,1")
            await player.play(until=lambda frame: frame["tag"] == "INIT")
            await player.say(f'{{"tag":"HELO","name":"{ACCOUNT}","sx":')
            await player.say({"tag": "HELO", "name": ACCOUNT, "sx": "M", "gpid": player.gpid})
            await player.say("<ECHO />")
            await player.hear_until("ECHO")
    text = str(logs)
    assert "proto.rejected" in text
    assert player.gpid
    assert all(secret not in text for secret in (ACCOUNT, ACCOUNT[2:], player.gpid))
