"""Several runs of the arena side by side."""

from __future__ import annotations

import json
from pathlib import Path
from xml.etree import ElementTree

import msgspec
import pytest

from kit.errors import ConfigError
from learning.arena.agents import compare_agents, draw_agents
from learning.arena.plan import ArenaPlan
from learning.matches.store import Store
from learning.matches.tally import GameRow
from tests.cli import run_cli
from tests.learning.arena.made_up import a_plan, a_row

pytestmark = pytest.mark.slow

STRONG, WEAK = [1, 2, 1, 4, 1, 1, 2, 4] * 2, [4, 4, 3, 1, 2, 4, 4, 3] * 2


def a_run(folder: Path, places: list[int], **told: object) -> Path:
    plan = msgspec.structs.replace(a_plan(sets=4), **told)
    with Store(plan, GameRow, folder) as results:
        for number, place in enumerate(places):
            results.add(a_row(plan, number, place))
    return folder


@pytest.fixture
def runs(tmp_path: Path) -> list[Path]:
    return [a_run(tmp_path / "strong", STRONG), a_run(tmp_path / "weak", WEAK)]


def test_each_player_has_the_figures_of_its_run(runs: list[Path]) -> None:
    result = run_cli("eval", "agents", *map(str, runs), "--json")
    assert result.exit_code == 0
    strong, weak = json.loads(result.stdout)["agents"]
    assert (strong["games"], weak["games"]) == (16, 16)
    assert strong["placement"]["value"] == pytest.approx(sum(STRONG) / 16)
    assert weak["placement"]["value"] == pytest.approx(sum(WEAK) / 16)
    assert strong["stable_rank"]["value"] > weak["stable_rank"]["value"]


def test_the_table_and_the_plot_name_all_players(runs: list[Path], tmp_path: Path) -> None:
    plot = tmp_path / "agents.svg"
    result = run_cli("eval", "agents", *map(str, runs), "--plot", str(plot))
    assert result.exit_code == 0
    found = compare_agents(runs)
    lines = result.stdout.splitlines()
    strong, weak = found.agents
    assert lines[0] == f"against three {found.opponents}: {strong.name} 16 games, {weak.name} 16 games"
    assert lines[1].split() == [strong.name, weak.name]
    placement = next(line for line in lines if line.startswith("average placement")).split()
    assert [placement[2], placement[5]] == [f"{sum(STRONG) / 16:.3f}", f"{sum(WEAK) / 16:.3f}"]
    drawn = plot.read_text()
    assert {each.name for each in found.agents} <= {
        text.text for text in ElementTree.fromstring(drawn).iter("{http://www.w3.org/2000/svg}text")
    }
    draw_agents(found, plot)
    assert plot.read_text() == drawn


def test_runs_that_cannot_be_compared_are_refused(runs: list[Path], tmp_path: Path) -> None:
    plan: ArenaPlan = a_plan()
    other = msgspec.structs.replace(plan.champions, text="other", identity="other")
    for told, why in (
        ({"champions": other}, "give runs with the same opponents"),
        ({"length": "hanchan"}, "give runs with the same opponents"),
        ({"mode": "2v2"}, "only runs of 1v3"),
    ):
        folder = a_run(tmp_path / why[-8:] / next(iter(told)), [1, 2, 3, 4, 1, 2], **told)
        with pytest.raises(ConfigError, match=why):
            compare_agents([runs[0], folder])
    with pytest.raises(ConfigError, match="no set of games is complete yet"):
        compare_agents([a_run(tmp_path / "begun", [1, 2])])


def test_a_stable_rank_that_is_not_defined_is_not_drawn(tmp_path: Path) -> None:
    never_fourth = compare_agents([a_run(tmp_path / "never", [1, 1, 2, 1, 1, 3, 2, 1])])
    with pytest.raises(ConfigError, match="no stable rank after 8 games"):
        draw_agents(never_fourth, tmp_path / "plot.svg")
