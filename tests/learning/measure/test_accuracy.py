from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pytest
import torch

from game.scoring.settlement import LAST_ROUND
from learning.data.build import build
from learning.data.choice import SelectedDecisions, seats
from learning.data.corpus import Corpus
from learning.data.layout import SPLITS
from learning.data.positions import Positions, positions_of
from learning.measure import accuracy
from learning.measure.accuracy import AccuracyPlan, evaluate
from learning.measure.games import GamesPlan, opened, players_of
from learning.runs.statistics import Estimate
from learning.train.plan import features_of
from policies.checkpoint.card import Card
from policies.checkpoint.store import save
from policies.features.encode import encode
from policies.features.table import SETS
from policies.flow.slots import Slot
from policies.nets.architectures import DISCARDS, YES_NO, Architecture
from policies.nets.compute import Compute
from policies.nets.networks import Network, as_input
from tests.cli import run_cli
from tests.learning.data.games import MODERN, texts, write_shard
from tests.policies.models import weights_of

pytestmark = pytest.mark.usefixtures("restore_logs")
STRONG = "strongbot-00"
GAMES = 4


@pytest.fixture(scope="module")
def shard(tmp_path_factory: pytest.TempPathFactory) -> Path:
    games = (*texts(MODERN, GAMES), *texts(STRONG, 2))
    return write_shard(tmp_path_factory.mktemp("accuracy") / "a.jsonl.zst", games)


@pytest.fixture(scope="module")
def corpus(shard: Path) -> Corpus:
    build([shard], shard.parent / "corpus", workers=1)
    return Corpus(shard.parent / "corpus")


@pytest.fixture(scope="module")
def checkpoints(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return saved(tmp_path_factory.mktemp("checkpoints"), seed=1)


def network(slot: Slot, seed: int) -> Network:
    torch.manual_seed(seed)
    planes = SETS[features_of(slot)].planes
    outputs: Literal[34, 2] = DISCARDS if slot is Slot.DISCARD else YES_NO
    return Network(Architecture(planes, outputs, width=4, depth=1)).eval()


def saved(folder: Path, seed: int, slots: tuple[Slot, ...] = tuple(Slot)) -> Path:
    for slot in slots:
        made = network(slot, seed)
        card = Card(model=slot.value, architecture=made.architecture, features=features_of(slot))
        save(folder, card, weights_of(made).arrays)
    return folder


def everybody(corpus: Corpus) -> SelectedDecisions:
    with opened([corpus.folder]) as source:
        return players_of(source, GamesPlan(split="all"))


@pytest.mark.parametrize("slot", list(Slot))
def test_a_network_is_asked_about_the_positions(
    corpus: Corpus, slot: Slot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(accuracy, "_BATCH", 5 if slot is not Slot.DISCARD else 500)
    found = positions_of(corpus, everybody(corpus), slot)
    plan = AccuracyPlan(models=(slot,), split="all", compute=Compute(precision="fp32"))
    (got,) = evaluate([corpus.folder], [saved(tmp_path, 0, (slot,))], plan, quiet=True).models
    right = expected(network(slot, 0), slot, found)
    assert got.decisions == len(right) > 10
    assert 0.0 < np.mean(right) < 1.0
    assert got.top1.value == pytest.approx(np.mean(right))


def expected(trained: Network, slot: Slot, found: Positions) -> list[bool]:
    """Whether the network's likeliest answer is the player's, one decision at a time."""
    calls = found.calls if slot in (Slot.CHI, Slot.PON, Slot.KAN) else None
    owners = found.owners
    planes = encode(
        found.states[owners],
        found.players[owners],
        features_of(slot),
        calls=calls,
        last_round=LAST_ROUND["hanchan"],
    )
    with torch.inference_mode():
        logits = trained(as_input(torch.from_numpy(planes))).double()
    out = []
    for decision in range(len(found.players)):
        rows = np.arange(*np.searchsorted(owners, (decision, decision + 1)))
        if slot is Slot.DISCARD:
            (row,) = rows
            legal = [kind for kind in range(34) if int(found.legal[decision]) >> kind & 1]
            out.append(max(legal, key=lambda kind: float(logits[row, kind])) == int(found.labels[row]))
            continue
        yes = torch.softmax(logits[rows], 1)[:, 1]
        actual = found.labels[rows].argmax() if found.labels[rows].any() else None
        ours = int(yes.argmax()) if float(yes.max()) > 0.5 else None
        out.append(actual == ours)
    return out


def test_two_folders_are_compared_on_the_same_decisions(
    corpus: Corpus, checkpoints: Path, tmp_path: Path
) -> None:
    other, again = saved(tmp_path / "other", 2, (Slot.RIICHI,)), saved(tmp_path / "again", 1, (Slot.RIICHI,))
    report = evaluate([corpus.folder], [checkpoints, other, again], AccuracyPlan(split="all"), quiet=True)
    first, second, third = (row for row in report.models if row.model == "riichi")
    assert first.difference is None
    assert first.weights == third.weights != second.weights
    assert second.difference.value == pytest.approx(second.top1.value - first.top1.value)
    assert third.difference == Estimate(0.0, 0.0, 0.0)
    assert [row.model for row in report.models if row.folder == str(other)] == ["riichi"]
    assert f"{again}, permutations 1: no clear difference in riichi" in str(report)


def test_games_and_players_are_chosen(corpus: Corpus) -> None:
    with opened([corpus.folder]) as source:
        every = players_of(source, GamesPlan(split="all"))
        assert every.games.tolist() == list(range(len(corpus)))
        drawn = players_of(source, GamesPlan(split="all", games=3, seed=1))
        assert len(drawn.games) == 3
        assert (
            drawn.games.tolist() == players_of(source, GamesPlan(split="all", games=3, seed=1)).games.tolist()
        )
        only = players_of(source, AccuracyPlan(split="all", ai=True))
        assert only.games.tolist() == np.flatnonzero(corpus.index["ai"]).tolist()
        train = players_of(source, GamesPlan(split="train"))
        assert train.games.tolist() == corpus.select(split="train").tolist()
        strong = players_of(source, AccuracyPlan(split="all", least_rank=17))
        assert (corpus.index["ranks"][strong.games][seats(strong.players)] >= 17).all()


def run(*arguments: str | int | Path) -> Any:
    return run_cli("eval", "accuracy", *map(str, arguments))


def test_the_command_measures_records(shard: Path, corpus: Corpus, checkpoints: Path) -> None:
    result = run("--data", shard, "--checkpoints", checkpoints, "--json")
    assert result.exit_code == 0, result.output
    report = json.loads(result.stdout)
    assert report["data"]["split"] == "all"
    assert report["data"]["games"] == len(corpus)
    assert report["data"]["content"] == corpus.card["content_sha256"]
    train = int((corpus.index["split"] == SPLITS.index("train")).sum())
    assert report["data"]["from_training"] == train > 0
    assert [row["model"] for row in report["models"]] == list(Slot)
    assert all(row["top1"]["low"] <= row["top1"]["value"] <= row["top1"]["high"] for row in report["models"])


def test_the_command_prints_a_row_for_each_number_of_permutations(corpus: Corpus, checkpoints: Path) -> None:
    result = run(
        "--data", corpus.folder, "--split", "all", "--checkpoints", checkpoints, "--model", "riichi",
        "--permutations", 1, "--permutations", 6, "--games", 4,
    )  # fmt: skip
    assert result.exit_code == 0, result.output
    first, _, _, names, one, six, _, plan, *_ = result.stdout.splitlines()
    assert first.endswith("riichi decisions; Suphx: 85.7 %")
    columns = ["model", "checkpoints", "permutations", "decisions", "top-1 %", "Suphx %", "difference"]
    assert re.split("  +", names) == columns
    assert [line.split()[2] for line in (one, six)] == ["1", "6"]
    assert one.split()[4:] != six.split()[4:]
    assert plan.startswith("4 games of ")


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (["--data", "missing"], 2, "`missing`: no such file or folder"),
        (["--data", "{empty}"], 1, "no records in"),
        (["--data", "{corpus}", "--checkpoints", "{empty}"], 1, "no discard.json"),
        (["--data", "{corpus}", "--split", "tests"], 2, 'Invalid value "tests" for --split'),
        (["--data", "{corpus}", "--permutations", "2"], 2, 'Invalid value "2" for --permutations'),
        (["--data", "{corpus}", "--room", "x", "--model", "y"], 2, 'Invalid value "x" for --room'),
        (["--data", "{corpus}", "--player", "nobody of this name"], 2, "no game matches"),
        (["--data", "{corpus}", "--data", "{empty}"], 1, "measured alone"),
    ],
)
def test_the_command_reports_bad_input(
    corpus: Corpus, checkpoints: Path, tmp_path: Path, arguments: list[str], code: int, said: str
) -> None:
    places = {"{corpus}": str(corpus.folder), "{empty}": str(tmp_path)}
    given = [places.get(each, each) for each in arguments]
    if "--checkpoints" not in given:
        given += ["--checkpoints", str(checkpoints)]
    result = run(*given)
    assert result.exit_code == code, result.output
    assert said in result.stderr
    assert "Traceback" not in result.output


def test_a_file_without_a_record_is_named(checkpoints: Path, tmp_path: Path) -> None:
    (tmp_path / "a.xml").write_text("nothing")
    result = run("--data", tmp_path / "a.xml", "--checkpoints", checkpoints)
    assert result.exit_code == 1
    assert "a.xml: no usable game: 1 unreadable" in result.stderr
