from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from bot import cli
from game.errors import ConfigError
from learning.corpus.build import build
from learning.corpus.layout import SPLITS, split_of
from learning.studies.command import STUDIES, study_named
from learning.studies.data import PLOT_FILE, SHARES
from learning.studies.hosei import DISCARDS_FILE, LOSSES_FILE, NARROW
from learning.supervised.plan import TrainingPlan, make_plan
from tests.learning.corpus.games import MODERN, texts, write_shard

pytestmark = pytest.mark.usefixtures("restore_logs")
GAMES = 40


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("studies")
    tested = [game for game in texts(MODERN, 5 * GAMES)[GAMES:] if SPLITS[split_of(game[0])] == "test"]
    games = [*texts(MODERN, GAMES), *tested[:2]]
    build([write_shard(place / "a.jsonl.zst", games)], place / "corpus", workers=1)
    return place / "corpus"


def tiny(samples: int) -> TrainingPlan:
    return make_plan(
        "discard", preset="tiny", precision="fp32", samples=samples, batch_size=64, validation_rows=99
    )


@pytest.mark.parametrize("study", STUDIES)
def test_no_two_runs_of_a_study_are_the_same(study: str) -> None:
    plans = list(STUDIES[study].plans(0).values())
    assert all(plan not in plans[:number] for number, plan in enumerate(plans))


def test_each_part_differs_from_the_first_run_as_named() -> None:
    plans = STUDIES["parts"].plans(5)
    first = plans["as shipped, 64×6"]
    assert first.seed == 5
    assert plans["without look-ahead (LA3)"].without
    assert not first.without
    assert plans["838 planes, with LA1 and LA2"].features != first.features
    assert {plan.samples for plan in plans.values()} == {first.samples}


def test_the_data_grow() -> None:
    assert [plan.selection.share for plan in STUDIES["data"].plans(0).values()] == sorted(SHARES)


def test_hosei_s_runs_are_those_of_the_paper_and_shorter_ones() -> None:
    plans = STUDIES["hosei"].plans(3)
    paper = plans["512 filters, 10 epochs"]
    assert (paper.tower, paper.width, paper.depth, paper.passes, paper.batch_size) == (
        "hosei",
        512,
        2,
        10,
        64,
    )
    assert paper.selection.decisions == 61_011
    assert plans["32 filters, 10 epochs"].width == NARROW
    assert not plans["base, all games"].selection.decisions
    assert {(plan.seed, plan.features) for plan in plans.values()} == {(3, "suit-55/1")}


def test_an_unknown_study_is_refused() -> None:
    with pytest.raises(ConfigError, match="no study 'luck'; there are parts, data, towers, hosei"):
        study_named("luck")


def test_the_help_names_every_study() -> None:
    """It cannot ask `STUDIES`: `--help` must not import torch."""
    text = CliRunner().invoke(cli.app, ["train", "study", "--help"]).stdout
    described = " ".join(text.replace("│", " ").split())
    assert f"Study to run: {', '.join(STUDIES)}".replace(", hosei", " or hosei.") in described
    assert all(f"`{name}`" in described for name in STUDIES)


def test_the_command_prints_a_table_and_draws(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    short = STUDIES["data"]._replace(plans=lambda _: {"one": tiny(64), "two": tiny(128)})
    monkeypatch.setitem(STUDIES, "data", short)  # type: ignore[arg-type]
    args = ["train", "study", "data", "--corpus", str(folder), "--out", str(tmp_path)]
    result = CliRunner().invoke(cli.app, args)
    assert result.exit_code == 0, result.output
    rows = [line.split("|")[1].strip() for line in result.stdout.splitlines() if line.startswith("|")]
    assert rows == ["run", "---", "one", "two"]
    assert (tmp_path / "data" / PLOT_FILE).read_text().startswith("<?xml")
    again = CliRunner().invoke(cli.app, [*args, "--json"])
    assert [each["name"] for each in json.loads(again.stdout)] == ["one", "two"]


def test_the_study_of_towers_prices_each_run(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def plan(**changes: Any) -> TrainingPlan:
        return make_plan(
            "discard", precision="fp32", samples=64, batch_size=64, validation_rows=99, **changes
        )

    plans = {"wide": plan(width=64, depth=8), "narrow": plan(width=4, depth=1, tower="residual")}
    monkeypatch.setitem(STUDIES, "towers", STUDIES["towers"]._replace(plans=lambda _: plans))  # type: ignore[arg-type]
    args = ["train", "study", "towers", "--corpus", str(folder), "--out", str(tmp_path)]
    result = CliRunner().invoke(cli.app, args)
    assert result.exit_code == 0, result.output
    assert "| run | top-1 | loss | µs a position | training samples/s |" in result.stdout
    prices = {
        cells[1].strip(): float(cells[4])
        for cells in (line.split("|") for line in result.stdout.splitlines())
        if len(cells) == 7 and cells[1].strip() in plans
    }
    assert prices["wide"] > 2 * prices["narrow"] > 0


def test_hosei_s_comparison_from_the_command_line(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def plan(tower: str, width: int) -> TrainingPlan:
        sizes = {"tower": tower, "width": width, "samples": 192, "batch_size": 64}
        return make_plan("discard", precision="fp32", validation_rows=99, validate_every=64, **sizes)

    plans = {"base": plan("hosei-base", 4), "few filters": plan("hosei", 6)}
    monkeypatch.setitem(STUDIES, "hosei", STUDIES["hosei"]._replace(plans=lambda _: plans))  # type: ignore[arg-type]
    args = ["train", "study", "hosei", "--corpus", str(folder), "--out", str(tmp_path)]
    result = CliRunner().invoke(cli.app, args)
    assert result.exit_code == 0, result.output
    rows = [line.split("|")[1].strip() for line in result.stdout.splitlines() if line.startswith("|")]
    assert rows.count("base") == rows.count("few filters") == 2
    assert [row for row in rows if row in ("1, 9", "winds", "dragons")] == ["1, 9", "winds", "dragons"]
    assert "| first choices | players | base | few filters |" in result.stdout
    for file in (LOSSES_FILE, DISCARDS_FILE):
        assert (tmp_path / "hosei" / file).read_text().startswith("<?xml")
    first = CliRunner().invoke(cli.app, [*args, "--runs", "1", "--json"])
    assert [each["name"] for each in json.loads(first.stdout)] == ["base"]
    again = CliRunner().invoke(cli.app, [*args, "--json"])
    for each in json.loads(again.stdout):
        figures = each["figures"]
        assert figures["right"] == sorted(figures["right"])
        assert sum(figures["true"]) == sum(figures["predicted"]) > 0
        assert figures["true"] == json.loads(again.stdout)[0]["figures"]["true"]
