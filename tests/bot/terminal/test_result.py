from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import pytest

from bot.player.tally import DecisionTally
from bot.tenhou.client.journal import GameResult, MissedGame
from bot.terminal.result import RunResult, decisions_of, played_game, resident_mb, result_text


def a_result(
    record: Path | None = Path("r/a.mjlog.xml"), interrupted: bool = False, late: Path | None = None
) -> RunResult:
    game = GameResult(
        game_id="2026010203gm-0009-0000-0123abcd",
        game_type=9,
        player=2,
        placement=1,
        scores=(15_700, 18_900, 58_300, 7_100),
        results=(-243, -11, 683, -429),
        placements=(3, 2, 1, 4),
        rounds=9,
        record=record,
    )
    played = played_game(game, ("a", "b\x1b[2J", "Suzaku", ""), resident_mb(), late)
    return RunResult((played,), decisions_of(DecisionTally()), 1.0, None, (), interrupted)


def test_standings_are_in_order_of_place_and_mark_ours() -> None:
    lines = result_text(a_result()).splitlines()
    assert "ippan hanchan, 9 rounds" in lines[0]
    assert [line.split()[0] for line in lines[1:5]] == ["1", "2", "3", "4"]
    assert "Suzaku" in lines[1]
    assert "58,300" in lines[1]
    assert "+68.3" in lines[1]
    assert lines[1].endswith("<- Suzaku")
    assert "b[2J" in lines[2]
    assert "player 3" in lines[4]
    assert "record: r/a.mjlog.xml" in lines[5]


def test_an_unwritten_record_and_an_interruption_are_reported() -> None:
    text = result_text(a_result(record=None, interrupted=True))
    assert "not written" in text
    assert "interrupted" in text


@pytest.mark.parametrize(
    ("changed", "code", "said"),
    [
        ({}, 0, ""),
        ({"interrupted": True}, 130, "; interrupted"),
        ({"missed": (MissedGame("G1", "it ended"),)}, 1, "game G1 was missed: it ended"),
        ({"missed": (MissedGame("G1", ""),), "interrupted": True}, 1, "game G1 was missed"),
        ({"missed": (MissedGame("G1", "", "a.xml"),)}, 1, "its record up to there: a.xml"),
        ({"unfinished": "G2", "interrupted": True}, 130, "game G2 was not finished: the bot left it"),
        (
            {"unfinished": "G2", "failure": "no line"},
            1,
            "game G2 was not finished: the bot could not return to it\nstopped: no line",
        ),
        ({"unwritten": "2 games could not be written"}, 1, "2 games could not be written"),
    ],
)
def test_problems_are_reported_and_decide_the_exit_code(
    changed: dict[str, Any], code: int, said: str
) -> None:
    result = msgspec.structs.replace(a_result(), **changed)
    assert result.exit_code == code
    assert said in result_text(result)


def test_a_record_that_was_written_late_is_shown() -> None:
    shown = a_result(record=None).games[0]
    assert shown.record is None
    late = a_result(record=None, late=Path("x/late.mjlog.xml")).games[0]
    assert late.record == "x/late.mjlog.xml"


def test_a_run_without_a_decision_has_zeros() -> None:
    assert decisions_of(DecisionTally()).p99_ms == 0


def test_resident_size_is_plausible_where_it_is_known() -> None:
    size = resident_mb()
    assert size is None or 10 < size < 100_000
