"""A policy of the user's own, through the commands that take one, and the document that says how."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path

import pytest

from tests.cli import ROOT
from tests.cli import run_cli as run

pytestmark = pytest.mark.usefixtures("restore_logs")

DOCUMENT = ROOT / "docs" / "policy.md"
RECORD = ROOT / "tests" / "replays" / "files" / "ok" / "kobalab-tonpuu.json"
SMALL = {
    "arena": ("--games", "4", "--tonpuu", "--workers", "1", "--json"),
    "play": ("--json", "--type", "tonpuu", "--seed", "7", "--out", "r"),
}
"""What a test adds to the commands of the document, to play less and to read what came of it."""

NO_ANSWER = """
class Mine:
    source = "rule"

    def answer(self, slot, questions):
        return questions.nothing
"""
ONE_ERROR = """
from policies.heuristic.player import HeuristicPolicy

class Mine(HeuristicPolicy):
    def answer(self, slot, questions):
        if slot == "discard" and any(8 <= each.record["discard_count"] < 12 for each in questions):
            questions[1000]
        return super().answer(slot, questions)
"""


def documented() -> tuple[str, str, list[list[str]]]:
    """The example, the name to save it under, and the commands that follow it."""
    text = DOCUMENT.read_text(encoding="utf-8")
    code = re.search(r"^```python\n(.*?)^```", text, re.DOTALL | re.MULTILINE)
    name = re.search(r"Save this as `(\w+\.py)`", text)
    assert code
    assert name
    commands = re.findall(r"^    suzaku (.*)$", text, re.MULTILINE)
    return code[1], name[1], [shlex.split(command) for command in commands]


@pytest.mark.slow
def test_the_documents_example_plays_and_is_measured_as_written(tmp_path: Path) -> None:
    code, name, commands = documented()
    (tmp_path / name).write_text(code)
    assert [words[0] for words in commands] == ["play", "arena", "arena"]
    play, weak, strong = (run(*words, *SMALL[words[0]]) for words in commands)
    assert (play[0], weak[0], strong[0]) == (0, 0, 0), (play[2], weak[2], strong[2])
    played = json.loads(play[1])
    assert played["decisions"]["fallbacks"] == 0
    assert played["decisions"]["count"] > 20
    (decisions,) = (tmp_path / "r").glob("*.decisions.jsonl")
    made = [json.loads(line)["decision"] for line in decisions.read_text().splitlines()]
    assert {decision["source"] for decision in made} == {"rule"}
    assert sum(decision["step"] == "discard" for decision in made) > 20
    for _, out, _ in (weak, strong):
        answer = json.loads(out)
        assert (answer["games"], answer["challenger"]["faults"], answer["faults"]) == (4, 0, [])
        assert answer["challenger"]["decisions"] > 100
    assert json.loads(weak[1])["challenger"]["placement"]["value"] == 1.0


@pytest.mark.parametrize(
    "command", ["play", "check", "engine", "arena", "selfplay", "review", "bench decision"]
)
def test_a_policy_that_fails_ends_a_command_before_it_connects_or_plays(
    command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def connect(*_: object, **__: object) -> None:
        pytest.fail("something was opened")

    monkeypatch.setattr("asyncio.run", connect)
    monkeypatch.setattr("learning.selfplay.series.spread", connect)
    (tmp_path / "mine.py").write_text(NO_ANSWER)
    name = "python:mine.py"
    ways = {
        "arena": ["--challenger", name],
        "selfplay": ["--players", name, "--games", "1", "--out", "games"],
        "review": [str(RECORD), "--seat", "0", "--policy", name],
    }
    if command not in ways:
        monkeypatch.setenv("SUZAKU_DECISION__POLICY", name)
    code, out, err = run(*command.split(), *ways.get(command, []))
    assert (code, out) == (2, "")
    (line,) = [line for line in err.splitlines() if line.startswith("suzaku: ")]
    assert "mine.py: tried on a known hand: kan slot: line 6: AttributeError: 'list' object has no" in line
    assert ("decision.policy: " in line) == (command not in ways)


def test_the_configuration_takes_a_file_and_no_other_name() -> None:
    code, _, err = run("play", "--policy", "mine.py")
    assert code == 2
    assert 'found "mine.py", expected one of network, heuristic, phoenix, players' in err
    assert "a folder of models, or python:FILE.py for your own" in err


def test_an_error_in_play_costs_one_decision_and_names_the_line(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(ONE_ERROR)
    code, out, err = run("play", "--policy", "python:mine.py", *SMALL["play"])
    assert code == 0
    assert json.loads(out)["decisions"]["fallbacks"] >= 1
    assert "discard slot: line 7: IndexError: " in err
    (record,) = (tmp_path / "r").glob("*.xml")
    code, _, err = run("review", str(record), "--seat", "0", "--policy", "python:mine.py")
    assert (code, "line 7: IndexError" in err) == (1, True)


@pytest.mark.slow
def test_an_error_in_the_arena_is_a_fault_and_a_changed_file_another_player(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(ONE_ERROR)
    flags = ("--challenger", "python:mine.py", "--champion", "random")
    code, out, _ = run("arena", *flags, *SMALL["arena"], "--out", "results")
    answer = json.loads(out)
    assert (code, len(answer["many_faults"])) == (1, 1)
    assert "line 7: IndexError" in answer["faults"][0]
    report = run("arena", "--report", "--out", "results", "--json")
    # results name the file, but only the command line has it run; a changed one is another player
    (tmp_path / "mine.py").write_text("raise AssertionError")
    assert run("arena", "--report", "--out", "results", "--json")[:2] == report[:2]
    (tmp_path / "mine.py").write_text(ONE_ERROR + "# changed")
    code, _, err = run("arena", *flags, *SMALL["arena"], "--out", "results")
    assert (code, "the files of a player have changed since that run began; choose another --out" in err) == (
        2,
        True,
    )
