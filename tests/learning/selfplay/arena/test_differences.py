"""What one policy gains over another, decision by decision."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from xml.etree import ElementTree as ET

import msgspec
import pytest

from game.actions import PASS, Action, ActionKind
from kit.errors import ConfigError
from learning.runs.measurement import Measurement, MeasurementReport
from learning.selfplay.arena.differences import (
    Difference,
    DifferencesGame,
    DifferencesPlan,
    alike,
    confidence_of,
    differences_of_games,
    make_differences_plan,
    setup_of,
)
from learning.selfplay.arena.differences_report import differences_figures, draw_differences, text_of
from policies.flow.decisions import model_of
from tests.cli import run_cli

CAREFUL = "from tests.policies.fakes import Undecided\n"
WASTEFUL = """
from tests.policies.fakes import Undecided

class Wasteful(Undecided):
    '''The same, but it calls whatever it can.'''

    def row(self, slot, question):
        row = super().row(slot, question)
        return row if slot == 'discard' else [0.9] * len(row)
"""
QUITTER = """
from game.shanten import shanten
from policies.heuristic.player import HeuristicPolicy

class Quitter(HeuristicPolicy):
    '''The same, but it gives up every hand that is tenpai.'''

    def answer(self, slot, questions):
        rows = super().answer(slot, questions)
        return [self._without_tenpai(slot, *each) for each in zip(questions, rows)]

    def _without_tenpai(self, slot, question, row):
        player, record = question.player, question.record
        hand = record['hand34'][player].copy()
        if shanten(hand, int(record['meld_count'][player])) > 0:
            return row
        if slot != 'discard':
            return [0.0] * len(row)
        least = min(range(len(row)), key=row.__getitem__)
        return [float(place == least) for place in range(len(row))]
"""
RIICHI = Action(ActionKind.RIICHI)
DISCARD, OTHER = (Action(ActionKind.DISCARD, tile) for tile in (5, 9))
PON, CHI = Action(ActionKind.PON, 4, (5, 6)), Action(ActionKind.CHI, 4, (8, 12))
ANKAN = Action(ActionKind.ANKAN, 4, (4, 5, 6, 7))


@pytest.fixture
def players(tmp_path: Path) -> tuple[str, str]:
    for name, text in (("careful", CAREFUL), ("wasteful", WASTEFUL)):
        (tmp_path / f"{name}.py").write_text(text)
    return f"python:{tmp_path}/careful.py:Undecided", f"python:{tmp_path}/wasteful.py:Wasteful"


def a_plan(challenger: str, champion: str, games: int = 4, horizon: int = 0) -> DifferencesPlan:
    return make_differences_plan(
        challenger, champion, games=games, walls=2, horizon=horizon, length="tonpuu", seed=3
    )


def rows(plan: DifferencesPlan, *together: range) -> list[DifferencesGame]:
    compare = differences_of_games(setup_of(plan))
    return [row for numbers in together for row in compare(list(numbers))]


def untimed(games: Sequence[DifferencesGame]) -> list[DifferencesGame]:
    return [msgspec.structs.replace(row, seconds=0.1) for row in games]


def test_a_player_gains_nothing_over_itself(players: tuple[str, str]) -> None:
    plan = a_plan(players[0], players[0])
    found = differences_figures(plan, rows(plan, range(2)))
    assert found.gain.differences == 0.0
    assert found.gain.points.value == found.gain.points.low == found.gain.points.high == 0.0
    assert found.decisions > 20
    assert found.seconds_for_500 is None


def test_gains_are_the_sum_of_differences(players: tuple[str, str]) -> None:
    plan = a_plan(players[1], players[0])
    found = untimed(rows(plan, range(2)))
    assert {each.model for row in found for each in row.differences} >= {"chi", "pon"}
    figures = differences_figures(plan, found)
    points = sum(each.points for row in found for each in row.differences) / 2
    assert figures.gain.points.value == pytest.approx(points)
    models = [
        each.points.value or 0.0 for each in figures.by if each.subset in ("chi", "pon", "kan", "riichi")
    ]
    assert sum(models) == pytest.approx(points)
    assert figures.seconds == pytest.approx(0.2)


def test_the_report_and_the_plot_have_a_row_for_each_part(players: tuple[str, str], tmp_path: Path) -> None:
    def differ(model: str, go_around: int, confidence: float | None) -> Difference:
        return Difference(model, go_around, tenpai=False, riichi=True, round_index=0, confidence=confidence,
                          points=-100.0, reward=-1.0, place=None)  # fmt: skip

    each = differ("pon", 20, None), differ("discard", 3, 0.2), differ("discard", 3, 0.1)
    rows = [DifferencesGame(number, 90, 0, each, 1.0) for number in range(2)]
    plan = a_plan(*players)
    found = differences_figures(plan, rows)
    verdict, _, names, *table = text_of(MeasurementReport(plan, found)).splitlines()
    one, other = plan.challenger.name, plan.champions.name
    assert verdict == f"{one} over {other}, points a game: -300 (-300 to -300): {one} loses"
    assert re.split("  +", names) == ["decisions", "differing decisions a game", "points", "rank points"]
    assert [re.split("  +", line)[0] for line in table[: table.index("")]] == [
        "all", "discard", "pon", "go-around 1 to 6", "go-around 13 and later", "not tenpai", "against riichi",
        "East", "confidence below 20 %", "confidence 20 to 50 %", "confidence unknown",
    ]  # fmt: skip
    assert re.split("  +", table[1])[1:] == ["2.0", "-200 (-200 to -200)", "-2.0 (-2.0 to -2.0)"]
    draw_differences(found, tmp_path / "differences.svg")
    texts = [text for node in ET.parse(tmp_path / "differences.svg").iter() for text in (node.text or "",)]
    shown = {f"{part.subset} ({part.differences:.1f} a game)" for part in (found.gain, *found.by)}
    assert shown <= set(texts)


@pytest.mark.slow
@pytest.mark.usefixtures("here")
def test_the_same_numbers_together_or_one_by_one_and_resumed(
    players: tuple[str, str], tmp_path: Path
) -> None:
    """Play-outs are cut, and valued by the critic, which knows no places."""
    plan = a_plan(players[1], players[0], games=2, horizon=8)
    whole = untimed(rows(plan, range(2)))
    measured = Measurement(
        "differences", DifferencesPlan, DifferencesGame, lambda _, found: found, setup_of,
        differences_of_games, together=2,
    )  # fmt: skip
    part = msgspec.structs.replace(plan, games=1)
    measured.run(part, tmp_path / "run", workers=1, quiet=True)
    resumed = measured.run(plan, tmp_path / "run", workers=1, quiet=True)
    assert untimed(resumed.figures) == whole
    assert {each.place for row in whole for each in row.differences} == {None}
    assert len((tmp_path / "run" / "results.jsonl").read_text().splitlines()) == 1 + 2


@pytest.mark.slow
def test_giving_up_tenpai_hands_loses_points(tmp_path: Path) -> None:
    (tmp_path / "quitter.py").write_text(QUITTER)
    plan = a_plan(f"python:{tmp_path}/quitter.py:Quitter", "heuristic", games=3)
    found = differences_figures(plan, rows(plan, range(3)))
    assert {each.subset for each in found.by} >= {"tenpai", "discard", "riichi"}
    assert "not tenpai" not in {each.subset for each in found.by}
    assert found.gain.points.high < 0.0
    assert found.gain.reward.value < 0.0
    assert found.gain.place.value > 0.0


def test_copies_of_a_face_are_the_same_choice() -> None:
    discard = ActionKind.DISCARD
    assert alike(Action(discard, 5), Action(discard, 6))
    assert not alike(Action(discard, 16), Action(discard, 17))
    assert not alike(Action(discard, 5), Action(ActionKind.RIICHI))
    one, other = (Action(ActionKind.PON, 4, (tile, 6)) for tile in (5, 7))
    assert alike(one, other)


@pytest.mark.parametrize(
    ("ours", "theirs", "said", "model", "confidence"),
    [
        (DISCARD, OTHER, {DISCARD: 0.2, OTHER: 0.7}, "discard", 0.5),
        (DISCARD, RIICHI, {RIICHI: 0.6}, "riichi", 0.2),
        (RIICHI, DISCARD, {RIICHI: 0.4, DISCARD: 0.9}, "riichi", 0.2),
        (ANKAN, RIICHI, {ANKAN: 0.1, RIICHI: 0.9}, "kan", 0.8),
        (PASS, PON, {PON: 0.7, PASS: 0.3}, "pon", 0.4),
        (CHI, PON, {CHI: 0.6, PON: 0.7, PASS: 0.3}, "pon", 0.1),
        (DISCARD, RIICHI, {}, "riichi", None),
    ],
)  # fmt: skip
def test_how_confident_the_champion_is(
    ours: Action, theirs: Action, said: dict[Action, float], model: str, confidence: float | None
) -> None:
    choices = (ours, theirs)
    assert model_of(choices) == model
    assert confidence_of(model, choices, said) == (None if confidence is None else pytest.approx(confidence))


def test_players_that_cannot_be_compared_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="cannot be asked about a position"):
        make_differences_plan("network", "engine:true", games=4)
    with pytest.raises(ConfigError, match="make it the --challenger"):
        make_differences_plan("network", "network+search=35", games=4)
    out = str(tmp_path)
    result = run_cli("arena", "--differences", "--two", "--out", out, "--games", "4")
    assert result.exit_code == 2
    assert "--differences goes with none of" in result.output
    for flag in ("--horizon", "--walls"):
        result = run_cli("arena", flag, "8")
        assert result.exit_code == 2
        assert "--walls and --horizon go with --differences" in result.output
    result = run_cli("arena", "--differences", "--horizon", "8", "--uma", "15,5,-5,-15")
    assert result.exit_code == 2
    assert "--uma goes without --horizon" in " ".join(result.output.split())
    result = run_cli("arena", "--differences", "--report")
    assert result.exit_code == 2
    assert "--report needs --out" in result.output


@pytest.mark.usefixtures("here")
def test_another_challenger_in_the_folder_is_named(players: tuple[str, str], tmp_path: Path) -> None:
    words = ("arena", "--differences", "--champion", players[0], "--games", "1", "--walls", "1", "--tonpuu",
             "--workers", "1", "--out", tmp_path / "run")  # fmt: skip
    assert run_cli(*words, "--challenger", players[1]).exit_code == 0
    other = run_cli(*words, "--challenger", players[0])
    assert other.exit_code == 2
    assert f"--challenger {players[1]}, not {players[0]}" in " ".join(other.output.split())
