from __future__ import annotations

import io
import json
from typing import Any

import pytest
from structlog.testing import capture_logs

from bot.mjai.engine import MjaiEngine
from bot.mjai.pipe import MAX_LINE, Answers, converse
from game.table.table import Table
from policies.heuristic.player import HeuristicPolicy
from replays.mjai.seat import SeatFeed
from tests.cli import run_cli

NONE = {"type": "none"}


def opening() -> list[dict[str, Any]]:
    """A game up to the dealer's first decision, as the dealer sees it."""
    return SeatFeed(0).messages(Table(1).events)


def said(source: bytes, *, answers: Answers = "auto", arrays: bool = False) -> list[Any]:
    out = io.StringIO()
    converse(MjaiEngine(HeuristicPolicy()), io.BytesIO(source), out, answers=answers, arrays=arrays)
    return [json.loads(line) for line in out.getvalue().splitlines()]


def lines(*values: object) -> bytes:
    return "".join(json.dumps(value) + "\n" for value in values).encode()


def test_single_events_are_answered_where_they_ask_and_arrays_always() -> None:
    game = opening()
    one_by_one = said(lines(*game))
    assert [answer["type"] for answer in one_by_one] == ["dahai"]
    assert said(lines(*game), answers="every") == [NONE, NONE, *one_by_one]
    assert said(lines([game[0]], game[1:])) == [NONE, *one_by_one]
    assert said(lines([game[0]], game[1:]), answers="asked") == one_by_one
    assert said(lines([game[0]], game[1:]), arrays=True) == [[NONE], one_by_one]
    assert said(lines([])) == [NONE]


def test_a_server_that_says_hello_is_joined_and_gets_an_answer_to_every_line() -> None:
    game = opening()
    greeting, *answers = said(lines({"type": "hello", "protocol": "mjsonp", "protocol_version": 3}, *game))
    assert greeting == {"type": "join", "name": "Suzaku", "room": "default"}
    assert answers == said(lines(*game), answers="every")


def test_empty_lines_are_not_answered_and_the_last_needs_no_end() -> None:
    game = opening()
    assert len(said(b"\n  \n\r\n" + lines([game[0]]) + json.dumps(game[1:]).encode())) == 2


@pytest.mark.parametrize(
    "line",
    [b"xx", b"{", b"\xff\xfe", b"[" * 100_000, b'{"type":"' + b"x" * (2 * MAX_LINE) + b'"}', b"9" * 5000],
    ids=["text", "cut short", "no UTF-8", "deep", "long", "huge number"],
)
def test_invalid_json_is_answered_none_and_play_continues(line: bytes) -> None:
    game = opening()
    with capture_logs() as logs:
        first, second, third = said(lines([game[0]]) + line + b"\n" + lines(game[1:]))
    assert (first, second) == (NONE, NONE)
    assert third["type"] == "dahai"
    assert [entry["event"] for entry in logs if entry["log_level"] == "error"] == ["engine.misunderstood"]


@pytest.mark.usefixtures("restore_logs")
def test_the_command_answers_on_stdout_and_complains_on_stderr() -> None:
    game = opening()
    said = b"nonsense\n" + lines([game[0]], game[1:])
    code, out, err = run_cli("engine", "--policy", "heuristic", "--log-format", "json", stdin=said)
    assert code == 0
    assert [json.loads(line)["type"] for line in out.splitlines()] == ["none", "none", "dahai"]
    assert [json.loads(line)["event"] for line in err.splitlines()] == ["engine.misunderstood"]
