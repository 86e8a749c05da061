from __future__ import annotations

import json
import math
import shutil
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
import torch
from structlog.testing import capture_logs

from game.events import StartRound
from game.ranking import HANCHAN_REWARDS
from game.scoring.settlement import placements
from kit.errors import ConfigError
from learning.data.corpus import Corpus
from learning.data.games import GamesWithPlaces, played_games
from learning.runs.commit import current_commit
from learning.runs.state import STATE_FILE
from learning.train.reward import (
    FinishNetwork,
    RewardPlan,
    RewardReport,
    games_of,
    joined_late,
    loss_of,
    mean_square_error,
    report_on,
    tensors_of,
    train_reward,
)
from policies.checkpoint.card import Card
from policies.checkpoint.store import load
from policies.reward.encoding import ROUND_START, encode, round_starts, together
from policies.reward.predictor import ORDERS, FinishArchitecture, predict
from tests.cli import run_cli
from tests.learning.data.games import MODERN, records
from tests.learning.stopping import stop_at

pytestmark = pytest.mark.usefixtures("restore_logs")
REWARDS = np.array(HANCHAN_REWARDS)


def plan(**settings: Any) -> RewardPlan:
    return RewardPlan(**{"hidden": 6, "dense": 5, "epochs": 3, "batch_games": 8, **settings})


def network(architecture: FinishArchitecture | None = None) -> FinishNetwork:
    torch.manual_seed(2)
    return FinishNetwork(architecture or FinishArchitecture(hidden=6, dense=5))


def game(*rounds: tuple[int, tuple[int, int, int, int]]) -> np.ndarray:
    return np.array([(number, 0, 0, scores) for number, scores in rounds], ROUND_START)


EVEN = (25_000, 25_000, 25_000, 25_000)
AHEAD = (34_000, 25_000, 24_000, 17_000)


# --- games of the corpus ----------------------------------------------------------------------------------


def test_games_are_those_of_the_records(corpus: Corpus) -> None:
    played = played_games(corpus, corpus.select())
    for number, record in enumerate(records(MODERN, len(corpus))):
        rounds = round_starts(record.events)
        assert np.array_equal(played.games.starts[number][: len(rounds)], rounds)
        assert played.games.counts[number] == len(rounds)
        assert played.games.hanchan[number] == (corpus.index["hanchan"][number] == 1)
        assert tuple(played.places[number]) == placements(corpus.index["scores"][number])
        assert any(isinstance(event, StartRound) for event in record.events)


def test_an_empty_selection_is_refused(corpus: Corpus) -> None:
    assert played_games(corpus, corpus.select()[:0]).places.shape == (0, 4)
    with pytest.raises(ConfigError, match="no game of the test split was played in ippan"):
        games_of(plan(rooms=("ippan",)), corpus, "test")


# --- learning ---------------------------------------------------------------------------------------------


def test_every_round_has_equal_weight() -> None:
    games = together([(game((0, EVEN), (1, AHEAD), (2, AHEAD)), "hanchan"), (game((3, AHEAD)), "tonpuu")])
    played, model = GamesWithPlaces(games, np.array([[1, 2, 3, 4], [4, 3, 1, 2]])), network()
    tensors = tensors_of(played, model.architecture)
    with torch.no_grad():
        logs = model.orders(tensors.rounds).numpy()
        found = float(loss_of(model, tensors))
    first, second = ORDERS.index((0, 1, 2, 3)), ORDERS.index((3, 2, 0, 1))
    assert tensors.orders.tolist() == [first, second]
    assert found == pytest.approx(-(logs[0, :3, first].sum() + logs[1, 0, second]) / 4, rel=1e-5)


def test_a_game_joined_late_lacks_its_first_rounds(corpus: Corpus) -> None:
    played = played_games(corpus, corpus.select()[:3])
    tensors = tensors_of(played, FinishArchitecture())
    late = joined_late(tensors, torch.tensor([0, 2, int(played.games.counts[2]) - 1]))
    assert late.counts.tolist() == [int(played.games.counts[0]), int(played.games.counts[1]) - 2, 1]
    for number, first in enumerate((0, 2, int(played.games.counts[2]) - 1)):
        rounds = played.games.starts[number][first : played.games.counts[number]]
        wanted = encode(together([(rounds, "hanchan" if played.games.hanchan[number] else "tonpuu")]))
        assert np.array_equal(late.rounds[number, :, : len(rounds)].numpy(), wanted[0])
    assert torch.equal(late.orders, tensors.orders)


class Learned(NamedTuple):
    """A trained predictor."""

    folder: Path
    card: Card
    report: RewardReport


@pytest.fixture(scope="module")
def learned(corpus: Corpus, tmp_path_factory: pytest.TempPathFactory) -> Learned:
    folder = tmp_path_factory.mktemp("learned")
    return Learned(folder, *train_reward(plan(), corpus, folder, quiet=True))


def test_it_learns_and_keeps_the_best_weights_on_validation(corpus: Corpus, learned: Learned) -> None:
    folder, card, report = learned
    assert card == load(folder, "reward").card
    content = corpus.card["content_sha256"]
    assert (card.training.commit, card.training.seed, card.data.corpus) == (current_commit(), 0, content)
    assert (card.data.games, report.games) == tuple(len(corpus.select(split=s)) for s in ("train", "test"))
    assert card.training.steps == card.training.epochs * math.ceil(card.data.games / 8)
    assert card.training.samples <= card.training.epochs * card.data.samples
    assert card.metrics["root_error"] == pytest.approx(math.sqrt(card.metrics["error"]))


def test_a_run_stopped_within_a_pass_ends_with_the_same_numbers(
    corpus: Corpus, learned: Learned, tmp_path: Path
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        stop_at(patch, 9)  # of seven a pass
        with pytest.raises(
            KeyboardInterrupt, match=r"^stopped: [\d,]+ of [\d,]+ samples are learned and saved"
        ):
            train_reward(plan(), corpus, tmp_path / "parts", quiet=True)
    shutil.copytree(tmp_path / "parts" / "runs", tmp_path / "alone" / "runs")
    for out, warned in (("parts", []), ("alone", ["training.best_is_gone"])):
        with capture_logs() as logs:
            train_reward(plan(), corpus, tmp_path / out, quiet=True)
        assert [each["event"] for each in logs if each["log_level"] == "warning"] == warned
    ours, theirs = (load(folder, "reward").arrays for folder in (learned.folder, tmp_path / "parts"))
    assert all(np.array_equal(array, theirs[name]) for name, array in ours.items())


def test_the_places_of_games_seen_often_are_known(corpus: Corpus, tmp_path: Path) -> None:
    wanted = plan(hidden=16, dense=8, epochs=20, learning_rate=3e-2, joined=0.0, patience=0)
    train_reward(wanted, corpus, tmp_path, quiet=True)
    state = torch.load(tmp_path / "runs" / "reward" / STATE_FILE, weights_only=True)
    last = network(FinishArchitecture(hidden=16, dense=8))
    last.load_state_dict(state["network"])
    assert mean_square_error(last.predictor(), games_of(wanted, corpus, "train")) < 0.65 * (REWARDS**2).mean()


@pytest.mark.parametrize("wrong", [{"learning_rate": 0.0}, {"rewards": (5.0,) * 4}])
def test_an_invalid_plan_is_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(ConfigError, match=next(iter(wrong)).rstrip("s")):
        plan(**wrong)


def test_the_predictor_answers_as_the_network(corpus: Corpus) -> None:
    games, model = played_games(corpus, corpus.select()[:4]).games, network()
    rounds = encode(games)
    with torch.no_grad():
        wanted = model.orders(torch.from_numpy(rounds)).exp().numpy()
    np.testing.assert_allclose(model.predictor().orders(rounds), wanted, atol=1e-6)


def test_the_error_is_over_all_rounds_and_players(corpus: Corpus) -> None:
    played, model = games_of(plan(), corpus, "validation"), network().predictor()
    report, answers = report_on(model, played), predict(model, played.games)
    errors = [
        (answers[number, :count] - REWARDS[played.places[number] - 1]) ** 2
        for number, count in enumerate(played.games.counts.tolist())
    ]
    assert report.answers == sum(each.size for each in errors)
    assert report.root_error**2 == pytest.approx(np.concatenate(errors).mean())
    assert report.constant**2 == pytest.approx((REWARDS**2).mean())


def test_the_command_trains_and_reports(folder: Path, tmp_path: Path) -> None:
    sizes = ["--hidden", "4", "--dense", "4", "--epochs", "1", "--rewards", "3", "1", "-1", "-3"]
    command = ["train", "reward", "--corpus", str(folder), "--out", str(tmp_path), *sizes]
    result = run_cli(*command, "--json")
    assert result.exit_code == 0, result.output
    report = json.loads(result.stdout)
    assert report["constant"] ** 2 == pytest.approx(5.0)
    assert load(tmp_path, "reward").card.architecture.rewards == (3.0, 1.0, -1.0, -3.0)  # type: ignore[union-attr]
    again = run_cli(*command)
    assert again.exit_code == 0
    assert "root mean square error" in again.stdout
    refused = run_cli(*command, "--room", "phoenix")
    assert refused.exit_code == 2
