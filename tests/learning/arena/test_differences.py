"""What one policy gains over another, decision by decision."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from game.actions import Action, ActionKind
from kit.errors import ConfigError
from learning.arena.differences import (
    DifferencesGame,
    DifferencesPlan,
    alike,
    differences_of_games,
    figures_of,
    make_differences_plan,
    setup_of,
)
from tests.cli import run_cli

CAREFUL = "from tests.policies.fakes import Undecided\n"
WASTEFUL = """
from tests.policies.fakes import Undecided

class Wasteful(Undecided):
    '''The same, but it calls whatever it can.'''

    def _row(self, slot, question):
        row = super()._row(slot, question)
        return row if slot == 'discard' else [0.9] * len(row)
"""


@pytest.fixture
def players(tmp_path: Path) -> tuple[str, str]:
    for name, text in (("careful", CAREFUL), ("wasteful", WASTEFUL)):
        (tmp_path / f"{name}.py").write_text(text)
    return f"python:{tmp_path}/careful.py:Undecided", f"python:{tmp_path}/wasteful.py:Wasteful"


def a_plan(challenger: str, champion: str, games: int = 4) -> DifferencesPlan:
    return make_differences_plan(challenger, champion, games=games, walls=2, length="tonpuu", seed=3)


def rows(plan: DifferencesPlan, *together: range) -> list[DifferencesGame]:
    compare = differences_of_games(setup_of(plan))
    return [
        msgspec.structs.replace(row, seconds=0.1) for numbers in together for row in compare(list(numbers))
    ]


def test_a_player_gains_nothing_over_itself(players: tuple[str, str]) -> None:
    plan = a_plan(players[0], players[0])
    found = figures_of(plan, rows(plan, range(4)))
    assert found.gain.differences == 0.0
    assert found.gain.points.value == found.gain.points.low == found.gain.points.high == 0.0
    assert found.decisions > 20
    assert found.seconds_for_500 is None


def test_gains_are_the_sum_of_differences_whatever_is_played_side_by_side(players: tuple[str, str]) -> None:
    plan = a_plan(players[1], players[0])
    found = rows(plan, range(3))
    assert found == rows(plan, range(1), range(1, 3))
    assert {each.model for row in found for each in row.differences} >= {"chi", "pon"}
    figures = figures_of(plan, found)
    points = sum(each.points for row in found for each in row.differences) / 3
    assert figures.gain.points.value == pytest.approx(points)
    models = [each.points.value or 0.0 for each in figures.by if each.of in ("chi", "pon", "kan", "riichi")]
    assert sum(models) == pytest.approx(points)
    assert figures.seconds == pytest.approx(0.3)


def test_copies_of_a_face_are_the_same_choice() -> None:
    discard = ActionKind.DISCARD
    assert alike(Action(discard, 5), Action(discard, 6))
    assert not alike(Action(discard, 16), Action(discard, 17))
    assert not alike(Action(discard, 5), Action(ActionKind.RIICHI))
    one, other = (Action(ActionKind.PON, 4, (tile, 6)) for tile in (5, 7))
    assert alike(one, other)


def test_programs_that_follow_games_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="cannot be asked about a position"):
        make_differences_plan("network", "engine:true", games=4)
    out = str(tmp_path)
    result = run_cli("arena", "--differences", "--two", "--out", out, "--games", "4")
    assert result.exit_code == 2
    assert "--differences goes with none of" in result.output
    result = run_cli("arena", "--differences", "--report")
    assert result.exit_code == 2
    assert "--report needs --out" in result.output
