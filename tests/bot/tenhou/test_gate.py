"""No way round the gate: Tenhou only on its terms, unencrypted connections only to one's own machines."""

from __future__ import annotations

import itertools
import random
import socket
import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from bot.config.settings import load_config
from bot.player.seat_player import PlayerSettings, SeatPlayer
from bot.tenhou.client import core
from bot.tenhou.client.core import TenhouClient
from bot.tenhou.client.journal import Journal
from bot.tenhou.client.opening import open_connection
from bot.tenhou.client.settings import ClientSettings, Hooks
from bot.tenhou.gate import Gate, PlayTerms, TenhouTerms
from bot.tenhou.session.core import Session, SessionSettings
from kit.errors import ConfigError, NotAllowed
from policies.heuristic.player import HeuristicPolicy
from tests.bot.client_bench import ClientBench
from tests.bot.fake_clock import FakeClock
from tests.bot.fake_server import Hang, Redirect, Say, Step, fake_server
from tests.bot.scripts import DRAW, END, GAME, LOGIN, TURN, reinit
from tests.cli import run_cli as run

pytestmark = pytest.mark.usefixtures("restore_logs")

INTERNET = "93.184.216.34"
PLAYING = PlayTerms(game_type=9, games=1, pace="instant")
AS_AGREED = PlayTerms(game_type=0, games=1, pace="human")
ENABLED = TenhouTerms(enabled=True)

ADDRESSES = tomllib.loads(Path(__file__).with_name("addresses.toml").read_text("utf-8"))


@pytest.fixture
def names(monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """Addresses by host name; a name that is not listed must not be looked up."""
    known: dict[str, str] = {}

    def look_up(host: str, port: int, *_: Any, **__: Any) -> list[Any]:
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (known[host], port))]

    monkeypatch.setattr(socket, "getaddrinfo", look_up)
    return known


@pytest.mark.parametrize("url", ADDRESSES["to_tenhou"])
def test_no_local_address_leads_to_tenhou(url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for own_host in ("", "b-ww.mjv.jp", "10.0.0.1"):
        with pytest.raises(ConfigError) as caught:
            load_config(None, {}, {"local.url": url, "local.own_host": own_host})
        assert "this is Tenhou" in str(caught.value)
    with pytest.raises(NotAllowed, match="this is Tenhou"):
        Gate(own_host="b-ww.mjv.jp").check(url, PLAYING)


@pytest.mark.parametrize("url", [*ADDRESSES["elsewhere"], *ADDRESSES["unreadable"]])
def test_a_local_address_is_on_this_machine(
    url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ConfigError, match=r"local\.url"):
        load_config(None, {}, {"local.url": url})
    with pytest.raises(NotAllowed):
        Gate().check(url, PLAYING)


@pytest.mark.parametrize("url", ADDRESSES["here"])
def test_this_machine_has_many_names(url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert load_config(None, {}, {"local.url": url}).local.url == url
    assert Gate().check(url, PLAYING).port == 4000


@pytest.mark.parametrize(
    ("own_host", "url"),
    [
        ("lobby.lan", "ws://lobby.lan:4000/"),
        ("Lobby.LAN.", "ws://lobby.lan:4000/"),
        ("192.168.0.7", "ws://192.168.0.7:4000/"),
        ("fd00::7", "ws://[FD00:0::7]:4000/"),
    ],
)
def test_a_host_configured_as_ones_own_is_allowed(
    own_host: str, url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    config = load_config(None, {}, {"local.url": url, "local.own_host": own_host})
    assert config.gate.check(url, PLAYING).port == 4000
    with pytest.raises(ConfigError):
        load_config(None, {}, {"local.url": "ws://other.lan/", "local.own_host": own_host})


def test_play_refuses_tenhou_by_any_door_before_a_name_is_looked_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, names: dict[str, str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert not names  # any look-up raises a KeyError
    code, out, err = run("play", "--url", "wss://b-ww.mjv.jp/")
    assert (code, out) == (2, "")
    assert "local.url (the command line): this is Tenhou" in err
    assert "--server tenhou" in err
    monkeypatch.setenv("SUZAKU_LOCAL__URL", "wss://b-ww.mjv.jp/")
    assert run("play")[0] == 2
    monkeypatch.delenv("SUZAKU_LOCAL__URL")
    Path("config.yaml").write_text("local: {url: 'wss://b-ww.mjv.jp/', own_host: b-ww.mjv.jp}\n")
    code, _, err = run("play")
    assert code == 2
    assert err.count("this is Tenhou") == 2


def test_the_id_never_goes_in_clear_to_another_machine(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, names: dict[str, str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MY_ID", "ID0A1B2C3D-Marker01")
    monkeypatch.setenv("SUZAKU_LOCAL__USER_ID_ENV", "MY_ID")
    code, _, err = run("play", "--url", "ws://10.0.0.1/")
    assert code == 2
    assert "local.own_host" in err
    assert not names


@pytest.mark.parametrize("name", ["localhost", "lobby.lan"])
def test_a_name_that_leads_to_the_internet_ends_the_run_before_anything_is_sent(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, names: dict[str, str]
) -> None:
    """Through the program: the hosts file or DNS can map any name to Tenhou."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setenv("SUZAKU_LOCAL__OWN_HOST", "lobby.lan")
    names[name] = INTERNET
    sent: list[object] = []
    monkeypatch.setattr(socket.socket, "connect", lambda _, address: sent.append(address))
    code, out, err = run("play", "--url", f"ws://{name}:4000/", "--out", "r", "--log-format", "json")
    assert code == 1
    assert f"the name resolves to {INTERNET}" in err
    assert "0 games" in out
    assert sent == []


@pytest.mark.parametrize("address", ["10.0.0.1", "169.254.169.254", "8.8.8.8", "0.0.0.0", "fd00::1"])
def test_localhost_is_this_machine_and_no_other(address: str) -> None:
    server = Gate().check("ws://localhost:4000/", PLAYING)
    with pytest.raises(NotAllowed):
        Gate().check_peer(server, address)
    Gate().check_peer(server, "127.0.0.1")
    Gate().check_peer(server, "::1")


async def test_a_named_host_is_asked_directly_whatever_proxies_the_environment_names(
    names: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    names["lobby.lan"] = "127.0.0.1"
    for name in ("ws_proxy", "http_proxy", "https_proxy", "all_proxy", "HTTP_PROXY", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    async with fake_server([Hang()]) as server:
        url = server.url.replace("127.0.0.1", "lobby.lan")
        wire = await open_connection(url, Gate(own_host="lobby.lan"), PLAYING, 5.0)
        assert wire.remote_address[0] == "127.0.0.1"
        assert server.requests[0].headers["Host"].startswith("lobby.lan:")
        await wire.close()


async def test_a_redirect_is_not_followed() -> None:
    async with fake_server(GAME) as other, fake_server(Redirect(other.url)) as server:
        async with ClientBench(server.url) as bench:
            with pytest.raises(Exception, match="HTTP 302"):
                await bench.ended()
        assert server.handshakes == 1
        assert other.handshakes == 0


def test_tenhou_is_reached_as_agreed_and_by_tls_only() -> None:
    """What breaks the terms is told by the configuration, too, whose tests have all of it."""
    assert Gate(terms=ENABLED).check("wss://b-ww.mjv.jp/", AS_AGREED).host == "b-ww.mjv.jp"
    with pytest.raises(NotAllowed, match=r"tenhou\.enabled"):
        Gate(terms=TenhouTerms()).check("wss://b-ww.mjv.jp/", AS_AGREED)
    with pytest.raises(NotAllowed, match="wss"):
        Gate(terms=ENABLED).check("ws://b-ww.mjv.jp/", AS_AGREED)


@pytest.mark.parametrize(("line", "player"), list(itertools.product(("instant", "human"), repeat=2)))
async def test_the_client_itself_has_no_way_to_tenhou_at_machine_pace(
    line: Any, player: Any, names: dict[str, str]
) -> None:
    """However it is constructed: the default connects nowhere, and the terms bind answers and connection."""
    assert not names
    clock, rng = FakeClock(), random.Random(1)

    def client(gate: Gate) -> TenhouClient:
        settings = ClientSettings(urls=("wss://b-ww.mjv.jp/",), gate=gate, pace=line)
        session = Session(SessionSettings(game_type=0))
        seat = SeatPlayer(HeuristicPolicy, PlayerSettings(pace=player), clock, rng)
        return TenhouClient(settings, session, seat, Journal(), clock, rng, Hooks())

    with pytest.raises(NotAllowed, match="this is Tenhou"):
        await client(Gate()).run()
    if (line, player) != ("human", "human"):
        with pytest.raises(NotAllowed, match="the pace is always human"):
            await client(Gate(terms=ENABLED)).run()


@pytest.mark.parametrize(
    "script", [GAME, [*LOGIN, reinit(), Say(DRAW), *TURN, *END]], ids=["named", "brought back without a name"]
)
async def test_a_table_against_people_is_left_where_there_is_no_permission(
    script: Sequence[Step], monkeypatch: pytest.MonkeyPatch
) -> None:
    """An account may have started a game elsewhere, and the login leads back to it."""

    async def open_plainly(url: str, gate: Gate, conduct: PlayTerms, open_s: float) -> Any:
        assert gate.terms is not None
        return await open_connection(url, Gate(), conduct, open_s)

    monkeypatch.setattr(core, "open_connection", open_plainly)
    async with (
        fake_server(script) as server,
        ClientBench(server.url, gate=Gate(terms=ENABLED), game_type=0) as bench,
    ):
        with pytest.raises(NotAllowed, match="against people"):
            await bench.ended()
    assert "decision.made" not in bench.events()
    assert "D" not in server.tags()
    permitted = Gate(terms=TenhouTerms(enabled=True, permission=True))
    async with fake_server(script) as server, ClientBench(server.url, gate=permitted) as bench:
        await bench.ended()
    assert "decision.made" in bench.events()
