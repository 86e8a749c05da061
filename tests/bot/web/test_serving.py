"""Whatever opens connections to a page, games are played and saved, and the page answers again afterwards."""

from __future__ import annotations

import contextlib
import http.client
import json
import logging
import os
import re
import resource
import shlex
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
import structlog
from websockets.exceptions import ConnectionClosed

from bot.dashboard.feed import Feed
from bot.logs.setup import RateLimit
from bot.web.limits import Limits, most_connections
from tests.bot.dashboard.scenes import Watcher, is_over, library, played, put, server
from tests.bot.descriptors import no_descriptor_left
from tests.bot.web.requests import PATIENCE_S, asked

ROOT = Path(__file__).parents[3]
HALF_A_REQUEST = b"GET / HT"
A_REQUEST = b"GET /games HTTP/1.1\r\nHost: 127.0.0.1:PORT\r\n\r\n"
UNREAD = 60 * b"GET /web/style.css HTTP/1.1\r\nHost: 127.0.0.1:PORT\r\n\r\n"
"""Requests whose answers nobody reads, and that do not fit into the buffers in between."""
WATCHES = (
    b"GET /live?run=&seq=0 HTTP/1.1\r\nHost: 127.0.0.1:PORT\r\nOrigin: http://127.0.0.1:PORT\r\n"
    b"Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
    b"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
)
FLOOD = 100
"""Half-open connections: more than the program may have file descriptors."""
FEW = Limits(connections=16)


@pytest.fixture(autouse=True)
def _this_minute(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bot.web.serving._SELDOM", RateLimit(limit=1))
    monkeypatch.setattr("asyncio.constants.ACCEPT_RETRY_DELAY", 0.05)


@contextlib.contextmanager
def opened(port: int, count: int, sent: bytes = b"") -> Iterator[list[socket.socket]]:
    """Connections that have each sent these bytes, and read nothing."""
    with contextlib.ExitStack() as stack:
        lines = []
        for _ in range(count):
            line = stack.enter_context(socket.socket())
            line.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            line.settimeout(PATIENCE_S)
            line.connect(("127.0.0.1", port))
            line.sendall(sent.replace(b"PORT", str(port).encode()))
            lines.append(line)
        yield lines


def is_closed(line: socket.socket) -> bool:
    """Whether the other side eventually closes the connection; anything it sends before is ignored."""
    try:
        while line.recv(1 << 16):
            pass
    except ConnectionError:
        return True
    except TimeoutError:
        return False
    return True


def is_reset(line: socket.socket, sends: bytes) -> bool:
    """The same without reading: whether sent data is answered by a reset."""
    until = time.monotonic() + PATIENCE_S
    while time.monotonic() < until:
        try:
            line.sendall(sends)
        except ConnectionError:
            return True
        time.sleep(0.02)
    return False


# --- in number --------------------------------------------------------------------------------------------


def test_connections_beyond_the_limit_are_closed_and_the_last_allowed_is_answered_503() -> None:
    with structlog.testing.capture_logs() as logs, server(None, library(), limits=FEW) as served:
        with opened(served.port, FEW.connections) as held:
            with opened(served.port, 5) as more:
                assert all(is_closed(line) for line in more)
            held[0].sendall(A_REQUEST.replace(b"PORT", str(served.port).encode()))
            assert held[0].recv(12) == b"HTTP/1.1 503"
            assert is_closed(held[0])
        until = time.monotonic() + PATIENCE_S
        while asked(served.port, "/games")[0] != 200:
            assert time.monotonic() < until
    assert [line["event"] for line in logs].count("dashboard.crowded") == 1


def test_only_so_many_browsers_watch_that_others_can_load_a_page() -> None:
    with server(Feed(), library(), limits=FEW) as served:
        watchers = [Watcher(served.port) for _ in range(FEW.watching)]
        with pytest.raises(ConnectionClosed) as refused:
            Watcher(served.port)
        assert refused.value.rcvd is not None
        assert refused.value.rcvd.code == 1013  # the page tries again later
        assert asked(served.port, "/games")[0] == 200
        for watcher in watchers:
            watcher.close()
        Watcher(served.port).close()


@pytest.mark.parametrize(
    ("descriptors", "connections"), [(20, 8), (64, 16), (256, 64), (1024, 128), (resource.RLIM_INFINITY, 128)]
)
def test_connections_get_a_share_of_the_descriptors(
    descriptors: int, connections: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(resource, "getrlimit", lambda _: (descriptors, descriptors))
    assert most_connections() == connections


def test_without_a_descriptor_left_connections_wait_until_there_is_one() -> None:
    with (
        structlog.testing.capture_logs() as logs,
        server(None, library()) as served,
        socket.socket() as line,
    ):
        assert asked(served.port, "/games")[0] == 200  # whatever the first answer opens once is open
        line.settimeout(PATIENCE_S)
        with no_descriptor_left():
            line.connect(("127.0.0.1", served.port))
            line.sendall(A_REQUEST.replace(b"PORT", str(served.port).encode()))
            until = time.monotonic() + PATIENCE_S
            while not any(each["event"] == "dashboard.crowded" for each in logs):
                assert time.monotonic() < until
                time.sleep(0.02)
        assert line.recv(12) == b"HTTP/1.1 200"


# --- in time ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("sent", [b"", HALF_A_REQUEST, A_REQUEST + HALF_A_REQUEST])
def test_a_connection_without_a_complete_request_is_closed(sent: bytes) -> None:
    with (
        server(None, library(), limits=Limits(message_s=0.2)) as served,
        opened(served.port, 1, sent) as lines,
    ):
        assert is_closed(lines[0])


def test_a_connection_whose_responses_nobody_reads_is_closed() -> None:
    with (
        server(None, library(), limits=Limits(message_s=0.2)) as served,
        opened(served.port, 1, UNREAD) as lines,
    ):
        assert is_reset(lines[0], HALF_A_REQUEST)


def test_a_watcher_that_reads_nothing_is_dropped_and_delays_no_other(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bot.web.serving.SEND_BUFFER", 4096)
    feed = Feed()
    with (
        server(feed, library(), limits=Limits(message_s=1.0)) as served,
        opened(served.port, 1, WATCHES) as lines,
    ):
        quick = Watcher(served.port)
        for _ in range(3):  # more than fits into the buffers in between
            put(feed, played())
            quick.hear(is_over)
            quick.messages.clear()
        assert is_reset(lines[0], b"\x89\x80\0\0\0\0")  # pings
        quick.close()


def test_a_request_is_answered_however_long_that_takes(monkeypatch: pytest.MonkeyPatch) -> None:
    def answer_slowly() -> str:
        time.sleep(0.5)
        return ""

    monkeypatch.setattr("bot.web.pages.styles", answer_slowly)
    with server(None, library(), limits=Limits(message_s=0.1)) as served:
        assert asked(served.port, "/web/style.css")[0] == 200


def test_a_client_that_answers_no_ping_is_closed() -> None:
    with (
        server(Feed(), library(), limits=Limits(ping_s=0.1)) as served,
        opened(served.port, 1, WATCHES) as lines,
    ):
        assert is_closed(lines[0])


def test_the_server_ends_promptly_although_clients_are_connected() -> None:
    with contextlib.ExitStack() as clients:
        with server(Feed(), library()) as served:
            for sent in (b"", HALF_A_REQUEST, UNREAD, WATCHES):
                clients.enter_context(opened(served.port, 1, sent))
            assert asked(served.port, "/games")[0] == 200
            began = time.monotonic()
        assert time.monotonic() - began < 4.0
        assert not any(thread.name == "dashboard" for thread in threading.enumerate())


# --- in lines of the log ----------------------------------------------------------------------------------


def test_invalid_requests_are_logged_once_a_minute(caplog: pytest.LogCaptureFixture) -> None:
    with server(None, library()) as served, opened(served.port, 20, b"\0\r\n\r\n") as lines:
        assert all(is_closed(line) for line in lines)
    assert sum("Invalid HTTP request" in record.message for record in caplog.records) <= 1
    assert all(record.levelno < logging.ERROR for record in caplog.records)


# --- through the program ----------------------------------------------------------------------------------


@pytest.mark.slow
def test_games_are_kept_beside_a_flood_of_half_open_connections(tmp_path: Path) -> None:
    play = (
        f"{sys.executable} -m bot.cli play --dashboard --dashboard-port 0 --type tonpuu --games 100 --json "
        f"--seed 7 --pace instant --out {shlex.quote(str(tmp_path / 'games'))}"
    )
    with (
        (tmp_path / "log").open("w+b") as log,
        subprocess.Popen(
            ["sh", "-c", f"ulimit -n 64; exec {play}"],
            cwd=tmp_path,
            env={**os.environ, "PYTHONPATH": str(ROOT), "SUZAKU_DECISION__POLICY": "heuristic"},
            stdout=subprocess.PIPE,
            stderr=log,
        ) as process,
    ):
        watchdog = threading.Timer(2 * PATIENCE_S, process.kill)
        watchdog.start()
        try:
            port = port_of(process, tmp_path / "log")
            besiege(process, port, tmp_path / "games")
            while not answers(port):
                assert process.poll() is None
                time.sleep(0.02)
            process.send_signal(signal.SIGINT)
            assert process.stdout is not None
            games = json.loads(process.stdout.read())["games"]
            assert process.wait() == 130
        finally:
            watchdog.cancel()
            process.kill()
    assert len(list((tmp_path / "games").glob("*.mjlog.xml"))) == len(games)
    assert len(list((tmp_path / "games").glob("*.decisions.jsonl"))) == len(games)
    text = (tmp_path / "log").read_text()
    assert "Too many open files" not in text
    assert text.count("dashboard.crowded") == 1


def port_of(process: subprocess.Popen[bytes], log: Path) -> int:
    """The port of the program's dashboard, from its log."""
    while process.poll() is None:
        if found := re.search(r"dashboard: http://\S+:(\d+)/\n", log.read_text()):
            return int(found[1])
        time.sleep(0.02)
    raise AssertionError(log.read_text())


def besiege(process: subprocess.Popen[bytes], port: int, games: Path) -> None:
    """Keep many half-open connections until games are saved."""
    held: list[socket.socket] = []
    while len(held) < FLOOD or len(list(games.glob("*.mjlog.xml"))) < 2:
        assert process.poll() is None
        with contextlib.suppress(OSError):  # closed because there are too many
            held.append(socket.create_connection(("127.0.0.1", port), timeout=1))
            held[-1].sendall(HALF_A_REQUEST)
        if len(held) > FLOOD:
            held.pop(0).close()
        time.sleep(0.002)
    for line in held:
        line.close()


def answers(port: int) -> bool:
    with contextlib.suppress(OSError, http.client.HTTPException):
        return asked(port, "/").status == 200
    return False
