"""`suzaku ask`: a position on the command line, its answer as text and as JSON, and its errors."""

from __future__ import annotations

import json

import pytest

from tests.cli import Result, run_cli

pytestmark = pytest.mark.usefixtures("restore_logs")


def run(*args: str) -> Result:
    return run_cli("ask", *args, "--policy", "heuristic")


def test_a_hand_is_answered_with_its_options() -> None:
    code, out, _ = run("34067m345p3468s55z", "--dora", "4z", "--turn", "6", "--wind", "S", "--round", "e2")
    lines = out.splitlines()
    assert code == 0
    assert lines[0].startswith("East 2, honba 0, sticks 0, you are South, turn 6, 4")
    assert "dora indicator 4z" in lines
    assert "heuristic: discard" in out
    assert sum(line.startswith("  discard ") for line in lines) == 13
    assert any(line.startswith("  kamicha   tenpai") for line in lines)


def test_json_has_the_position_and_a_decision_as_in_a_review() -> None:
    code, out, _ = run(
        *("3406m345p34s5z", "--melds", "7~77z", "--offered", "5s", "--scores", "18000,32000,25000,24000"),
        *("--turn", "5", "--json"),
    )
    told = json.loads(out)
    assert code == 0
    assert (told["schema"], told["turn"], told["sticks"]) == ("suzaku-ask/2", 5, 1)
    assert told["position"]["hand"] == "3406m345p34s5z"
    assert {option["action"]["kind"] for option in told["decision"]["options"]} >= {"chi", "pass"}
    assert told["indicators"] == ["N"]


@pytest.mark.parametrize(
    ("args", "message"),
    [
        ((), "give a hand, such as 123m406p789s11z233z, or --page"),
        (("123m",), "suzaku: your hand has 3 tiles with 0 melds; write 14 tiles on your turn"),
        (("123m", "--round", "E5"), "--round E5: expected one of E1 to W4"),
        (("123m", "--scores", "25000"), "--scores 25000: expected four numbers with commas"),
        (("123m", "--from", "toimen"), "--from goes with --offered"),
        (("11111z",), "your hand has 5 tiles"),
    ],
)
def test_an_impossible_position_is_a_wrong_use(args: tuple[str, ...], message: str) -> None:
    code, out, err = run(*args)
    assert (code, out) == (2, "")
    assert message in err
