from __future__ import annotations

from collections.abc import Iterator

import pytest
from websockets.exceptions import InvalidStatus

from bot.config.settings import Config, load_config
from bot.config.settings import Dashboard as Section
from bot.dashboard.feed import Feed, LineStateChanged
from bot.dashboard.server import DashboardServer, open_dashboard
from bot.web.access import Access, is_loopback
from kit.errors import ConfigError
from tests.bot.dashboard.scenes import ABOUT, Watcher, library, server
from tests.bot.web.requests import PATIENCE_S, TOKEN, asked


@pytest.mark.parametrize(
    ("bound", "host", "known"),
    [
        ("127.0.0.1", "127.0.0.1:8765", True),
        ("127.0.0.1", "localhost:8765", True),
        ("127.0.0.1", "LocalHost:8765", True),
        ("127.0.0.1", "127.0.0.1:8766", False),
        ("127.0.0.1", "127.0.0.1", False),
        ("127.0.0.1", "evil.example:8765", False),
        ("127.0.0.1", "127.0.0.1.evil.example:8765", False),
        ("127.0.0.1", "localhost.:8765", False),
        ("127.0.0.1", "[::1]:8765", False),
        ("127.0.0.1", "127.0.0.1:8765@evil.example", False),
        ("127.0.0.1", "", False),
        ("127.0.0.1", ":8765", False),
        ("127.0.0.1", "127.0.0.1:0008765", False),
        ("::1", "[::1]:8765", True),
        ("::1", "::1:8765", False),
        ("192.168.1.5", "192.168.1.5:8765", True),
        ("192.168.1.5", "localhost:8765", False),
        ("0.0.0.0", "192.168.1.5:8765", True),
        ("0.0.0.0", "localhost:8765", True),
        ("0.0.0.0", "evil.example:8765", False),
    ],
)
def test_hosts(bound: str, host: str, known: bool) -> None:
    assert Access(bound, 8765).knows_host(host) is known


@pytest.mark.parametrize(
    ("origin", "known"),
    [
        ("http://127.0.0.1:8765", True),
        ("http://localhost:8765", False),
        ("https://127.0.0.1:8765", False),
        ("http://127.0.0.1:8766", False),
        ("http://evil.example", False),
        ("http://127.0.0.1:8765.evil.example", False),
        ("null", False),
        ("", False),
    ],
)
def test_origins(origin: str, known: bool) -> None:
    assert Access("127.0.0.1", 8765).knows_origin(origin, "127.0.0.1:8765") is known


def test_port_80_may_be_left_out() -> None:
    assert Access("127.0.0.1", 80).knows_host("127.0.0.1")
    assert Access("127.0.0.1", 80).knows_origin("http://127.0.0.1", "127.0.0.1:80")


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.168.1.5", "example.org", "127.0.0.1.example.org"])
def test_only_this_machine_is_loopback(host: str) -> None:
    assert not is_loopback(host)


@pytest.fixture(scope="module")
def served() -> Iterator[DashboardServer]:
    with server(Feed(), library()) as running:
        yield running


def test_strangers_are_refused_on_every_path(served: DashboardServer) -> None:
    ours = f"127.0.0.1:{served.port}"
    for path in ("/", "/games", "/web/live.js", "/live", "/nothing"):
        assert asked(served.port, path, host="evil.example")[0] == 403
        assert asked(served.port, path, host=f"evil.example:{served.port}")[0] == 403
        assert asked(served.port, path, origin="http://evil.example")[0] == 403
        assert asked(served.port, path, origin="null")[0] == 403
    assert asked(served.port, "/", origin=f"http://{ours}")[0] == 200
    assert asked(served.port, "/")[0] == 200


@pytest.mark.parametrize(
    "given",
    [
        {"origin": "http://evil.example"},
        {"origin": "null"},
        {"origin": None},
        {"additional_headers": {"Origin": "http://evil.example"}},  # a second one
    ],
)
def test_the_socket_is_opened_for_our_own_page_only(
    served: DashboardServer, given: dict[str, object]
) -> None:
    with pytest.raises(InvalidStatus) as refused:
        Watcher(served.port, **given)
    assert refused.value.response.status_code in (400, 403)


def test_pages_carry_a_strict_policy(served: DashboardServer) -> None:
    for path in ("/", "/games", "/web/style.css", "/web/viewer.js", "/nothing"):
        _, headers, body = asked(served.port, path)
        policy = headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "frame-ancestors 'none'" in policy
        assert "unsafe" not in policy
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["referrer-policy"] == "no-referrer"
        assert b"<script>" not in body
        assert "server" not in headers


@pytest.mark.parametrize(
    "path",
    ["/web/../page.html", "/web/%2e%2e%2fapp.py", "/web/page.py", "/web/", "/games/x", "/games/..%2fx"],
)
def test_other_files_are_not_there(served: DashboardServer, path: str) -> None:
    assert asked(served.port, path)[0] == 404


def test_nothing_can_be_sent() -> None:
    feed = Feed()
    with server(feed, library()) as served:
        watcher = Watcher(served.port)
        watcher.line.send("hello" * 100)
        assert watcher.line.ping().wait(PATIENCE_S)  # the text before it has arrived
        feed.put(LineStateChanged("closing"))
        watcher.hear(lambda message: message.get("line") == "closing")
        watcher.close()


def test_a_token_is_demanded_and_leaves_the_address() -> None:
    with server(Feed(), library(), token=TOKEN) as served:
        assert TOKEN not in served.url
        for path in ("/", "/web/live.js", "/games", "/?token=wrong", f"/?token={TOKEN}x", "/?token="):
            assert asked(served.port, path)[0] == 403
        with pytest.raises(InvalidStatus):
            Watcher(served.port)
        assert asked(served.port, f"/?token={TOKEN}", "POST").status == 403
        status, headers, _ = asked(served.port, f"/?token={TOKEN}")
        assert (status, headers["location"]) == (303, "/")
        cookie = headers["set-cookie"]
        assert "HttpOnly" in cookie
        assert "SameSite=strict" in cookie
        shown = cookie.partition(";")[0]
        assert asked(served.port, "/", cookie=shown)[0] == 200
        assert asked(served.port, "/", cookie=shown + "x")[0] == 403
        assert asked(served.port, "/", cookie=shown, host="evil.example")[0] == 403
        Watcher(served.port, additional_headers={"Cookie": shown}).close()


@pytest.mark.parametrize(
    ("section", "environment", "shown"),
    [({"host": "0.0.0.0"}, {}, 1), ({"token_env": "MY_TOKEN"}, {"MY_TOKEN": TOKEN}, 0)],
)
def test_a_token_made_here_is_shown_once_and_one_of_ones_own_never(
    section: dict[str, str], environment: dict[str, str], shown: int, capsys: pytest.CaptureFixture[str]
) -> None:
    config = Config(dashboard=Section(enabled=True, port=0, **section))
    with open_dashboard(config, environment, ABOUT, None) as served:
        token = served.link.partition("token=")[2]
        assert len(token) >= 20
        assert capsys.readouterr().err.count(token) == shown
        assert asked(served.port, "/games").status == 403
        assert asked(served.port, "/games", cookie=f"suzaku_{served.port}={token}").status == 200


@pytest.mark.parametrize("value", ["", "short", "with spaces in its middle", "ümlaut" * 4])
def test_a_poor_token_is_refused_before_play(value: str) -> None:
    config = Config(dashboard=Section(enabled=True, port=0, token_env="MY_TOKEN"))
    with pytest.raises(ConfigError, match="MY_TOKEN") as refused:
        open_dashboard(config, {"MY_TOKEN": value}, ABOUT, None)
    assert not value or value not in str(refused.value)


@pytest.mark.parametrize("host", ["127.0.0.1:80", "a b", "", 7])
def test_a_host_that_is_none_is_refused(host: object) -> None:
    with pytest.raises(ConfigError, match=r"dashboard\.host"):
        load_config(None, {}, {"dashboard.host": host})


def test_an_address_of_another_machine_is_refused() -> None:
    with pytest.raises(ConfigError, match="dashboard"):
        server(None, library(), host="192.0.2.1")
