from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from bot import cli
from game.errors import ConfigError
from learning.corpus.build import build
from learning.supervised import studies
from learning.supervised.plan import TrainingPlan, make_plan
from learning.supervised.studies import PLOT_FILE, SHARES, STUDIES, plans_of
from tests.learning.corpus.games import MODERN, texts, write_shard

pytestmark = pytest.mark.usefixtures("restore_logs")
GAMES = 40


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("studies")
    build([write_shard(place / "a.jsonl.zst", texts(MODERN, GAMES))], place / "corpus", workers=1)
    return place / "corpus"


def tiny(samples: int) -> TrainingPlan:
    return make_plan(
        "discard", preset="tiny", precision="fp32", samples=samples, batch_size=64, validation_rows=99
    )


@pytest.mark.parametrize("study", STUDIES)
def test_no_two_runs_of_a_study_are_the_same(study: str) -> None:
    plans = list(plans_of(study).values())
    assert all(plan not in plans[:number] for number, plan in enumerate(plans))


def test_each_part_differs_from_the_first_run_as_named() -> None:
    plans = plans_of("parts", seed=5)
    first = plans["as shipped, 64×6"]
    assert first.seed == 5
    assert plans["without look-ahead (LA3)"].without
    assert not first.without
    assert plans["838 planes, with LA1 and LA2"].features != first.features
    assert {plan.samples for plan in plans.values()} == {first.samples}


def test_the_data_grow() -> None:
    assert [plan.selection.share for plan in plans_of("data").values()] == sorted(SHARES)


def test_an_unknown_study_is_refused() -> None:
    with pytest.raises(ConfigError, match="no study 'luck'; there are parts, data"):
        plans_of("luck")


def test_the_command_prints_a_table_and_draws(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(studies, "plans_of", lambda *_, **__: {"one": tiny(64), "two": tiny(128)})
    args = ["train", "study", "data", "--corpus", str(folder), "--out", str(tmp_path)]
    result = CliRunner().invoke(cli.app, args)
    assert result.exit_code == 0, result.output
    rows = [line.split("|")[1].strip() for line in result.stdout.splitlines() if line.startswith("|")]
    assert rows == ["run", "---", "one", "two"]
    assert (tmp_path / "data" / PLOT_FILE).read_text().startswith("<?xml")
    again = CliRunner().invoke(cli.app, [*args, "--json"])
    assert [each["name"] for each in json.loads(again.stdout)] == ["one", "two"]
