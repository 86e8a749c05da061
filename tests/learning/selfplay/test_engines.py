"""External engines at the arena's tables: good ones, and every way of not answering."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path
from typing import NamedTuple

import msgspec
import pytest
from structlog.testing import capture_logs

import learning.selfplay.engines
from kit.errors import ConfigError, EngineUnusable
from learning.selfplay.arena.plan import ArenaPlan
from learning.selfplay.engines import Dialect, EngineProgram, SkipsForced, engine_of
from learning.selfplay.players import contender, seat_down, tables_for
from learning.selfplay.series import GameRow, row_of
from policies.play.rollout import TABLES, Rollout
from tests.learning.selfplay.arena.made_up import HEURISTIC, RANDOM, a_plan
from tests.learning.selfplay.engine_players import engine_text, games_ended, started, wait_for_the_end

PATIENT_S = 60.0
QUICK_S = 0.2


BEHIND_A_PIPE = f"{sys.executable} -m bot.cli engine --policy heuristic --type tonpuu"


@pytest.fixture
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Give engines no extra time to start."""
    monkeypatch.setattr(learning.selfplay.engines, "START_S", 0.0)


def plan_with(text: str, answer_s: float = PATIENT_S, *, tables: int = 1) -> ArenaPlan:
    """The engine against three random players."""
    who = contender(text, answer_s)
    return msgspec.structs.replace(a_plan(1), challenger=who, champions=RANDOM, tables=tables)


def rows_of(plan: ArenaPlan, *numbers: int) -> list[GameRow]:
    """The plan's games, or some of them, played in this process."""
    sides = (plan.challenger, plan.champions)
    loaded = {who: seat_down(who) for who in sides}
    rollout = Rollout([loaded[who] for who in sides], tables=plan.tables, length=plan.length)
    with capture_logs():
        return [row_of(played) for played in rollout.play(map(plan.seating, numbers or range(plan.games)))]


class Played(NamedTuple):
    """An engine's decisions, those that had to be replaced, why the first was, and its wins and calls."""

    decisions: int
    faults: int
    fault: str
    others: int


def play(text: str, answer_s: float = PATIENT_S, *, games: int = 1, tables: int = 1) -> Played:
    rows = rows_of(plan_with(text, answer_s, tables=tables), *range(games))
    assert not any(row.crash for row in rows)
    seats = [row.tallies[row.players.index(0)] for row in rows]
    return Played(
        sum(seat.decisions for seat in seats),
        sum(seat.faults for seat in seats),
        next((row.fault for row in rows if row.fault), ""),
        sum(seat.wins + seat.calls for seat in seats),
    )


def test_texts_that_mean_engines() -> None:
    assert engine_of("heuristic") is None
    assert engine_of("engine-whisper:node") is None
    assert engine_of("engine:node a/engine.js 'x y'") == EngineProgram(("node", "a/engine.js", "x y"))
    lines = engine_of("engine-lines:node a/engine.js")
    assert lines == EngineProgram(("node", "a/engine.js"), Dialect.LINES)
    assert lines.name == "node engine.js"
    assert len(EngineProgram(("a" * 100,)).name) == 28


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("engine:", "name a program"),
        ("engine:'node", "No closing quotation"),
        ("engine:no-such-program x", "there is no program 'no-such-program'"),
    ],
)
def test_an_invalid_engine_is_refused(text: str, problem: str) -> None:
    with pytest.raises(ConfigError, match=problem):
        contender(text)


def test_an_engine_is_identified_by_its_command_and_its_protocol(tmp_path: Path) -> None:
    one, other = engine_text(tmp_path / "e"), engine_text(tmp_path / "e", dialect="engine-lines")
    assert contender(one).identity != contender(other).identity
    assert contender(one) == contender(one) != contender(one, 1.0)
    assert tables_for(contender(one), RANDOM) == tables_for(RANDOM, contender(one)) == 4
    assert tables_for(RANDOM, HEURISTIC) == TABLES


@pytest.mark.parametrize("dialect", ["engine", "engine-lines"])
def test_an_engine_plays_without_a_fault(tmp_path: Path, dialect: str) -> None:
    found = play(engine_text(tmp_path / "e", dialect=dialect), games=4, tables=2)
    assert found.decisions > 50
    assert found.faults == found.others == 0
    assert games_ended(tmp_path / "e") == [2, 2]
    wait_for_the_end(tmp_path / "e")


def test_an_engine_in_all_seats_is_one_child_for_each(tmp_path: Path) -> None:
    text = engine_text(tmp_path / "e")
    plan = msgspec.structs.replace(plan_with(text), champions=contender(text))
    assert not any(row.fault or row.crash for row in rows_of(plan, 0))
    assert games_ended(tmp_path / "e") == [1, 1, 1, 1]


def test_an_engine_that_ends_with_every_game_is_started_again_without_a_fault(tmp_path: Path) -> None:
    found = play(engine_text(tmp_path / "e", "leave", "100000"), games=2)
    assert found.faults == 0
    assert games_ended(tmp_path / "e") == [1, 1]


@pytest.mark.usefixtures("at_once")
@pytest.mark.parametrize(
    ("way", "answer_s", "reason"),
    [
        ("garble", PATIENT_S, "answered 'thinking {…', which is not JSON"),
        ("die", PATIENT_S, "died with exit code 1, saying 'no tiles left'"),
        ("close", PATIENT_S, "closed its output"),
        ("babble", PATIENT_S, "answered a line of more than 65536 bytes"),
        ("hang", QUICK_S, "did not answer within 0.2 s"),
        ("rave", PATIENT_S, "wrote more than 16 MB to stderr instead of an answer"),
        ("launch", QUICK_S, "did not answer within 0.2 s"),
    ],
)
def test_an_engine_that_never_answers_ends_the_run_at_once(
    tmp_path: Path, way: str, answer_s: float, reason: str
) -> None:
    with pytest.raises(EngineUnusable, match=r"never answered: it was sent [01] lines? and") as caught:
        play(engine_text(tmp_path / "e", way), answer_s, games=4, tables=4)
    assert reason in str(caught.value)
    assert "choose engine-lines: (a line for each message, each answered) or engine-asked: (" in str(
        caught.value
    )
    assert len(started(tmp_path / "e")) <= 4 * (1 + (way == "launch")), "once at each table"
    wait_for_the_end(tmp_path / "e")


def test_an_engine_that_no_longer_answers_ends_the_run(tmp_path: Path) -> None:
    spoilt = tmp_path / "spoilt"
    code = (
        "import json, pathlib, sys\n"
        "if pathlib.Path(sys.argv[1]).exists(): sys.exit('gone')\n"
        "for number, line in enumerate(sys.stdin):\n"
        "    if number == 5: pathlib.Path(sys.argv[1]).touch(); sys.exit('going')\n"
        "    last = json.loads(line)[-1]\n"
        "    own = last['type'] == 'tsumo' and last['pai'] != '?'\n"
        "    print(json.dumps(last | {'type': 'dahai'} if own else {'type': 'none'}), flush=True)\n"
    )
    text = f"engine:{shlex.join([sys.executable, '-I', '-S', '-c', code, str(spoilt)])}"
    with pytest.raises(
        EngineUnusable, match=r"never answered: it was sent [01] lines? and died with exit code 1"
    ):
        play(text, games=4)


@pytest.mark.parametrize(
    ("way", "answer_s", "reason"),
    [
        ("hang", 0.75, "did not answer within 0.75 s"),
        ("die", PATIENT_S, "died with exit code 1, saying 'no tiles left'"),
        ("garble", PATIENT_S, "which is not JSON"),
    ],
)
def test_an_engine_lost_in_mid_game_resumes_where_it_was(
    tmp_path: Path, way: str, answer_s: float, reason: str
) -> None:
    found = play(engine_text(tmp_path / "e", way, "20"), answer_s)
    assert 1 <= found.faults < found.decisions
    assert reason in found.fault
    assert len(started(tmp_path / "e")) == 2


def test_one_loss_costs_one_decision(tmp_path: Path) -> None:
    decisions = play(engine_text(tmp_path / "whole"), games=2).decisions
    # the next process gets fewer lines than that
    found = play(engine_text(tmp_path / "e", "die", str(decisions * 2 // 3)), games=2)
    assert len(started(tmp_path / "e")) == 2
    assert found.faults == 1
    assert found.decisions > decisions * 2 // 3


@pytest.mark.slow
@pytest.mark.parametrize("text", [f"engine:{BEHIND_A_PIPE}", f"engine-lines:{BEHIND_A_PIPE} --answers every"])
def test_a_player_behind_a_pipe_plays_the_same_game(text: str) -> None:
    plan = plan_with(text)
    found = rows_of(plan, 0)
    # a fault would not show in the game, because the heuristic decides instead
    assert not any(row.fault for row in found)
    assert found == rows_of(msgspec.structs.replace(plan, challenger=HEURISTIC), 0)


def test_illegal_answers_are_replaced_one_by_one(tmp_path: Path) -> None:
    found = play(engine_text(tmp_path / "e", "cheat", "5"))
    assert found.faults == found.decisions - 5
    assert '"type": "hora"' in found.fault
    assert "the rules forbid a win with a hand that is not complete; it may only: " in found.fault
    assert games_ended(tmp_path / "e") == [1]


def test_an_extra_answer_is_not_taken_for_the_next_one(tmp_path: Path) -> None:
    found = play(engine_text(tmp_path / "e", "repeat", "5"))
    assert "said more than it was asked for" in found.fault
    assert len(started(tmp_path / "e")) == 2


def test_a_flood_of_output_blocks_no_game(tmp_path: Path) -> None:
    found = play(engine_text(tmp_path / "e", "flood", "10"))
    assert found.faults == 0
    assert games_ended(tmp_path / "e") == [1]


@pytest.mark.slow
def test_an_engine_that_answers_only_what_is_asked_plays_the_same_game() -> None:
    """It also sends forced discards, for example after riichi; these do not count as answers."""
    plan = plan_with(f"engine-asked:{BEHIND_A_PIPE}")
    (row,) = rows_of(msgspec.structs.replace(plan, challenger=HEURISTIC), 0)
    assert row.tallies[0].riichi > 0
    assert rows_of(plan, 0) == [row]


def test_only_forced_discards_do_not_count_as_answers() -> None:
    first, second = ({"type": "dahai", "actor": 1, "pai": pai, "tsumogiri": True} for pai in ("3m", "E"))
    skips = SkipsForced([first, second])
    assert not skips(b'{"type":"none"}')
    assert not skips(b"thinking")
    assert not skips(msgspec.json.encode(second))
    assert skips(msgspec.json.encode(first))
    assert not skips(msgspec.json.encode(first))
    assert skips(b'{"type":"dahai","pai":"E"}')


def test_cpu_time_of_engine_processes_is_reported(tmp_path: Path) -> None:
    text = engine_text(tmp_path / "e")
    plan = plan_with(text)
    rollout = Rollout([seat_down(plan.challenger), seat_down(plan.champions)], length=plan.length)
    list(rollout.play([plan.seating(0)]))
    assert rollout.times[f"processes of {plan.challenger.name}"] > 0.0
