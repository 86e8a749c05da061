"""Links to games on Tenhou: their contents; one request per game, to one host, within a size limit."""

from __future__ import annotations

import gzip
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import ClassVar

import pytest

from bot.tenhou.links import GameLink, fetched, parse_link
from kit.errors import ReplayError, ReplayFormatError
from replays.formats import MAX_FILE, read_game
from replays.mjlog.writer import write
from tests.replays.games import whole_game

GAME = "2026010203gm-0001-0000-0123abcd"


@pytest.mark.parametrize(
    ("text", "link"),
    [
        (f"http://tenhou.net/0/?log={GAME}&tw=2", GameLink(GAME, 2)),
        (f"https://tenhou.net/4/?log={GAME}", GameLink(GAME, None)),
        (f"tenhou.net/0/?log={GAME}&tw=0", GameLink(GAME, 0)),
        (f"https://tenhou.net/0/log/?{GAME}", GameLink(GAME, None)),
        (f"https://tenhou.net/3/?log={GAME}&tw=7", GameLink(GAME, None)),
        (f"https://tenhou.net/6/?log={GAME}&ts=4&tw=3#", GameLink(GAME, 3)),
        (f" HTTP://Tenhou.NET/0/?log={GAME}\n", GameLink(GAME, None)),
        (f"https://ron2.jp/3/?log={GAME.upper()}&tw=1", GameLink(GAME, 1)),
        ("https://example.com/0/?log=x", None),
        (f"https://tenhou.net:8080/0/?log={GAME}", None),
        (f"https://tenhou.net@example.com/0/?log={GAME}", None),
        ("game.xml", None),
    ],
)
def test_links_name_game_and_seat(text: str, link: GameLink | None) -> None:
    assert parse_link(text) == link


@pytest.mark.parametrize(
    "text",
    [
        "https://tenhou.net/0/?log=../../etc/passwd",
        "https://tenhou.net/",
        f"https://tenhou.net/evil/?log={GAME}",
    ],
)
def test_other_links_to_tenhou_are_refused(text: str) -> None:
    with pytest.raises(ReplayFormatError):
        parse_link(text)


class _Server(BaseHTTPRequestHandler):
    answers: ClassVar[list[tuple[int, dict[str, str], bytes]]] = []
    asked: ClassVar[list[str]] = []

    def do_GET(self) -> None:
        self.asked.append(self.path)
        status, headers, body = self.answers.pop(0)
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Log nothing."""


@pytest.fixture
def server() -> Iterator[str]:
    _Server.answers.clear()
    _Server.asked.clear()
    with ThreadingHTTPServer(("127.0.0.1", 0), _Server) as httpd:
        thread = threading.Thread(target=httpd.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield f"http://127.0.0.1:{httpd.server_port}/0/log/?"
        httpd.shutdown()
        thread.join()


def test_a_game_is_asked_for_once(server: str, tmp_path: Path) -> None:
    record = whole_game()
    _Server.answers.append((200, {}, gzip.compress(write(record).encode())))
    path = fetched(GAME, tmp_path / "logs", server)
    assert fetched(GAME, tmp_path / "logs", server) == path
    assert _Server.asked == [f"/0/log/?{GAME}"]
    assert read_game(path).events == record.events


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        ((404, {}, b""), "404|Not Found"),
        ((302, {"Location": "http://127.0.0.1:1/"}, b""), "302|Found"),
        ((200, {}, b"<html>no such log</html>"), "could not be downloaded"),
        ((200, {}, b"x" * (MAX_FILE + 1)), "bytes"),
    ],
)
def test_an_answer_that_is_not_a_record_is_not_kept(
    server: str, answer: tuple[int, dict[str, str], bytes], said: str, tmp_path: Path
) -> None:
    _Server.answers.append(answer)
    with pytest.raises(ReplayError, match=said) as error:
        fetched(GAME, tmp_path / "logs", server)
    assert "manually" in str(error.value)
    assert len(_Server.asked) == 1
    assert not list(tmp_path.iterdir())


def test_a_game_that_cannot_be_saved_gives_advice(server: str, tmp_path: Path) -> None:
    _Server.answers.append((200, {}, write(whole_game()).encode()))
    (tmp_path / "logs").write_text("a file")
    with pytest.raises(ReplayError, match="SUZAKU_CACHE_DIR"):
        fetched(GAME, tmp_path / "logs", server)


def test_a_refused_connection_is_reported(tmp_path: Path) -> None:
    with pytest.raises(ReplayError, match="could not be downloaded: Connection refused"):
        fetched(GAME, tmp_path, "http://127.0.0.1:1/0/log/?")


def test_only_ids_become_files(tmp_path: Path) -> None:
    with pytest.raises(ReplayFormatError):
        fetched("../x", tmp_path, "http://127.0.0.1:1/")
