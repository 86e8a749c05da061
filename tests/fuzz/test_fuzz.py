"""The corpus and earlier findings break no rule, and a short run of fuzzing finds nothing new."""

from __future__ import annotations

import os
import random
import sys
from pathlib import Path

import pytest

from bot.tenhou.session.core import Session
from bot.tenhou.session.events import SessionEvent
from game.layout import AT_UNSEEN
from kit.errors import StateMismatchError
from tests.bot.captures import captures
from tests.fuzz.__main__ import main
from tests.fuzz.hunt import CORPUS, FINDINGS, hunt
from tests.fuzz.mutate import Mutator
from tests.fuzz.oracle import Broken, run
from tests.fuzz.script import captured, read_script, scripts_in, write_script
from tests.scale import scaled

SECONDS = float(os.environ.get("FUZZ_SECONDS", "1"))
"""Enough to see that the search works; `make fuzz` searches for long."""
SEED = 0
"""Fixed, so that an unchanged program cannot fail. `make fuzz` uses new seeds."""
FILES = sorted([*CORPUS.glob("*.txt"), *FINDINGS.glob("*.txt")])


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_known_inputs_hold(path: Path) -> None:
    assert run(read_script(path))


def test_recorded_traffic_holds() -> None:
    for path in captures()[:: scaled(3, 1)]:
        run(captured(path))


def test_mutated_inputs_hold() -> None:
    report = hunt(SEED, SECONDS, FINDINGS)
    assert report.runs
    assert not report.broken


def test_the_same_seed_makes_the_same_inputs() -> None:
    corpus = list(scripts_in(CORPUS).values())
    one, two = (Mutator(corpus, random.Random(3)) for _ in range(2))
    assert [one.make() for _ in range(20)] == [two.make() for _ in range(20)]


# --- the oracle sees what it is for ------------------------------------------------------------------------

GAME = read_script(FILES[-1])


def crashes(_: Session, text: str) -> list[SessionEvent]:
    raise KeyError("seat")


def loses_a_tile(session: Session, text: str) -> list[SessionEvent]:
    events = RECEIVE(session, text)
    if len(session.log) > 30:
        session.state["where"][session.state["river"][0][0]] = AT_UNSEEN
    return events


def asks_nothing(session: Session, text: str) -> list[SessionEvent]:
    events = RECEIVE(session, text)
    if session.seat is not None and text.startswith('{"tag":"T'):
        session.seat.turn.prompt = None
    return events


def refuses_with_a_change(session: Session, text: str) -> list[SessionEvent]:
    if len(session.log) > 30:
        session.state["honba"] += 1
        raise StateMismatchError("no")
    return RECEIVE(session, text)


RECEIVE = Session.receive
FAULTS = {
    crashes: "KeyError in test_fuzz.py:crashes",
    loses_a_tile: "a tile is not where it lies",
    asks_nothing: "a prompt opened and is not there",
    refuses_with_a_change: "a refused frame changed the table",
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_of_the_session_is_found(
    fault: object, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Session, "receive", fault)
    with pytest.raises(Broken) as found:
        run(GAME)
    assert found.value.rule == FAULTS[fault]
    told: list[str] = []
    report = hunt(SEED, 0.3, tmp_path, tell=told.append)
    assert FAULTS[fault] in report.broken
    kept = report.broken[FAULTS[fault]]
    assert any(f"python -m tests.fuzz {kept}" in text and f"seed {SEED}, input" in text for text in told)
    with pytest.raises(Broken, match=FAULTS[fault]):
        run(read_script(kept))


def test_a_kept_input_is_run_again_by_its_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "x.txt"
    write_script(path, [None, '{"tag":"HELO","uname":"%41"}', "\ud800\0"])
    monkeypatch.setattr(sys, "argv", ["tests.fuzz", str(path)])
    assert main() == 0
    assert capsys.readouterr().out == f"{path}: holds\n"
