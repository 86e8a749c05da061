from __future__ import annotations

import io
import json
import logging
import re
import sys
import threading

import pytest
import structlog

from bot.logs.redaction import REDACTOR
from bot.logs.setup import CAUSED_BY_OTHERS, LIMIT, RateLimit, hidden, set_up_logs, tell_left_out

LOGIN = "ID0A1B2C3D-Marker01"
HOSTILE = "\x1b[31mred\u202e\nnext\x00"


pytestmark = pytest.mark.usefixtures("restore_logs")


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def lines(stream: io.StringIO) -> list[dict[str, object]]:
    return [json.loads(line) for line in stream.getvalue().splitlines()]


def test_json_lines_away_from_a_terminal_and_console_on_one() -> None:
    plain, terminal = io.StringIO(), Terminal()
    set_up_logs(stream=plain)
    structlog.get_logger().info("game.started", names=["ひよこ"])
    set_up_logs(stream=terminal)
    structlog.get_logger().info("game.started", names=["ひよこ"])
    assert lines(plain)[0]["event"] == "game.started"
    assert "ひよこ" in plain.getvalue()
    assert "{" not in terminal.getvalue()
    assert "game.started" in terminal.getvalue()
    # both with the offset from UTC
    assert str(lines(plain)[0]["timestamp"]).endswith("Z")
    assert re.search(r"\d\d:\d\d:\d\d[+-]\d{4}", terminal.getvalue())


def test_level_and_format_can_be_chosen() -> None:
    stream = Terminal()
    set_up_logs("warning", "json", stream)
    structlog.get_logger().info("game.started")
    structlog.get_logger().warning("conn.lost")
    assert [line["event"] for line in lines(stream)] == ["conn.lost"]


@pytest.mark.parametrize("form", ["json", "console"])
def test_no_secret_reaches_a_log_line_or_a_traceback(form: str) -> None:
    stream = io.StringIO()
    set_up_logs("debug", form, stream)  # type: ignore[arg-type]
    REDACTOR.register("another-secret")
    log = structlog.get_logger()
    log.info(f"login {LOGIN}", gpid="0A1B2C3D-4E5F6071", raw=f'{{"name":"{LOGIN}"}}')
    try:
        raise RuntimeError(LOGIN) from ValueError("another-secret")
    except RuntimeError:
        log.exception("conn.lost")
        logging.getLogger("elsewhere").exception("from the library: %s", LOGIN)
    logging.getLogger("websockets.client").debug("> TEXT %s", LOGIN)
    error = KeyError(LOGIN)
    sys.excepthook(KeyError, error, None)
    threading.excepthook(threading.ExceptHookArgs((KeyError, error, None, None)))
    shown = stream.getvalue()
    assert "Marker01" not in shown
    assert "another-secret" not in shown
    assert "4E5F6071" not in shown
    assert shown.count("program.failed") == 2
    assert "RuntimeError" in shown


@pytest.mark.parametrize("form", ["json", "console"])
def test_names_of_strangers_cannot_steer_the_terminal(form: str) -> None:
    stream = io.StringIO()
    set_up_logs("info", form, stream)  # type: ignore[arg-type]
    structlog.get_logger().info("server.text", name=HOSTILE, names=[HOSTILE, {"a": HOSTILE}])
    try:
        raise RuntimeError(HOSTILE)
    except RuntimeError:
        structlog.get_logger().exception("conn.lost")
    logging.getLogger("elsewhere").warning("name %s", HOSTILE)
    shown = stream.getvalue()
    assert not any((ord(c) < 32 and c != "\n") or c == "\u202e" for c in shown)


def test_hidden_events_come_back_after_the_block() -> None:
    stream = io.StringIO()
    set_up_logs(stream=stream)
    log = structlog.get_logger()
    with hidden(event="decision.made", side="lobby"):
        log.info("decision.made")
        log.info("game.started", side="lobby")
        log.info("round.ended")
        log.warning("table.refused", side="lobby")
    log.info("decision.made")
    shown = [line["event"] for line in lines(stream)]
    assert shown == ["round.ended", "table.refused", "decision.made"]


def test_the_console_names_the_game_where_it_begins_and_ends_and_machines_always() -> None:
    for form, count in (("console", 2), ("json", 4)):
        stream = io.StringIO()
        set_up_logs("info", form, stream)  # type: ignore[arg-type]
        log = structlog.get_logger().bind(game_id="2026010203gm-0009-0000-0123abcd")
        for event in ("game.started", "round.started", "round.ended", "game.ended"):
            log.info(event)
        assert stream.getvalue().count("2026010203gm") == count


def test_lines_follow_stderr_when_a_live_table_takes_it_over(monkeypatch: pytest.MonkeyPatch) -> None:
    set_up_logs(log_format="json")
    taken = io.StringIO()
    monkeypatch.setattr(sys, "stderr", taken)
    structlog.get_logger().info("round.ended")
    assert lines(taken)[0]["event"] == "round.ended"


@pytest.mark.parametrize("event", sorted(CAUSED_BY_OTHERS))
def test_what_others_cause_is_written_a_few_times_a_minute_and_then_counted(event: str) -> None:
    stream = io.StringIO()
    set_up_logs(stream=stream)
    log = structlog.get_logger()
    for _ in range(5000):
        log.warning(event)
    log.info("round.started")
    tell_left_out()
    *written, other, told = lines(stream)
    assert [line["event"] for line in written] == [event] * LIMIT
    assert other["event"] == "round.started"
    assert (told["event"], told["kind"], told["lines"]) == ("log.left_out", event, 5000 - LIMIT)


def test_the_next_line_after_a_minute_counts_those_left_out() -> None:
    now = 0.0
    limit = RateLimit(limit=2, window_s=60.0, now=lambda: now)
    assert [limit.admit("chat") for _ in range(5)] == [0, 0, None, None, None]
    assert limit.admit("other") == 0
    now = 60.0
    assert limit.admit("chat") == 3
    assert limit.take_left_out() == {}
