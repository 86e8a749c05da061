from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import pytest

from bot.config.settings import DecisionSection
from bot.dashboard.feed import Feed
from bot.dashboard.server import Pump
from kit.errors import ConfigError
from replays.store.index import games
from tests.bot.dashboard.scenes import (
    Watcher,
    decided,
    is_over,
    library,
    played,
    put,
    server,
    threads,
)
from tests.bot.web.requests import asked


def test_two_see_the_same_messages_in_order_and_a_late_one_gets_the_whole_game() -> None:
    feed = Feed()
    with server(feed, library()) as served:
        watchers = [Watcher(served.port), Watcher(served.port)]
        put(feed, played())
        heard = [[m for m in watcher.hear(is_over) if "seq" in m] for watcher in watchers]
        assert heard[0] == heard[1]
        assert [m["seq"] for m in heard[0]] == list(range(1, len(heard[0]) + 1))
        watchers.append(Watcher(served.port))
        watchers[-1].hear(is_over)
        assert watchers[-1].game == watchers[0].game
        assert len(watchers[-1].game["decisions"]) == decided(played())
        for watcher in watchers:
            watcher.close()


def test_a_returning_client_gets_only_what_it_missed() -> None:
    feed, items = Feed(), played()
    with server(feed, library()) as served:
        watcher = Watcher(served.port)
        put(feed, items[:100])
        watcher.hear(lambda message: message.get("seq", 0) > 60)
        watcher.close()
        seen = max(message.get("seq", 0) for message in watcher.messages)
        put(feed, items[100:])
        back = Watcher(served.port, run=watcher.hello["run"], seq=seen)
        numbers = [m["seq"] for m in back.hear(is_over) if "seq" in m]
        assert numbers[0] == seen + 1
        assert all(after == before + 1 for before, after in pairwise(numbers))
        assert not any(m["type"] == "reset" for m in back.messages)
        back.close()


def test_at_the_end_every_client_is_told_before_the_connection_closes() -> None:
    feed = Feed()
    with server(feed, library()) as served:
        watcher = Watcher(served.port)
        put(feed, played())
    watcher.hear(lambda message: message["type"] == "session" and message["line"] == "over")
    assert watcher.game["game"]["places"]
    watcher.close()
    assert threads("dashboard") == 0


def test_a_port_in_use_is_reported_before_the_start() -> None:
    with server(None, library()) as served, pytest.raises(ConfigError, match=r"dashboard\.port"):
        server(None, library(), served.port)


def test_an_address_of_another_machine_is_named() -> None:
    with pytest.raises(
        ConfigError, match=r"dashboard\.host: '192\.0\.2\.1' is not an address of this machine"
    ):
        server(None, library(), host="192.0.2.1")


def test_a_folder_that_cannot_be_listed_is_named_and_one_that_is_not_there_is_empty(tmp_path: Path) -> None:
    folder = tmp_path / "games"
    with server(None, folder) as served:
        assert asked(served.port, "/games").status == 200
        folder.write_text("a file")
        status, _, body = asked(served.port, "/games")
    assert status == 503
    assert str(folder).encode() in body


def test_without_a_game_past_ones_are_shown() -> None:
    with server(None, library()) as served:
        status, headers, _ = asked(served.port, "/")
        assert (status, headers["location"]) == (303, "/games")
        assert asked(served.port, "/live")[0] == 404
        body = asked(served.port, "/games")[2].decode()
        game_id = body.partition('"id":"')[2].partition('"')[0]
        status, _, body_of_game = asked(served.port, f"/games/{game_id}")
        assert status == 200
        assert b'"decision":{' in body_of_game


def test_a_review_computes_as_the_dashboard_is_configured(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = tmp_path / "program"
    program.write_text("#!/bin/sh\necho '{\"uma\":\"'$SUZAKU_DECISION__UMA'\"}'\n")
    program.chmod(0o700)
    monkeypatch.setattr("sys.executable", str(program))
    (game,) = games(library())[0]
    with server(None, library(), decision=DecisionSection(uma="15,5,-5,-15")) as served:
        body = asked(served.port, f"/games/{game.game_id}/review")[2]
    assert b"15,5,-5,-15" in body


def test_a_dashboard_that_fails_leaves_the_game_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(_: Pump) -> None:
        raise MemoryError

    feed = Feed(limit=100)
    monkeypatch.setattr(Pump, "work", fail)
    with server(feed, library()) as served:
        put(feed, played())
        assert asked(served.port, "/")[0] in (200, 500)
    assert len(feed.take()) <= 101
