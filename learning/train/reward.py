"""Training of the global reward predictor on finished games of the corpus.

A sample is one player of a game at the start of a round: the rounds so far, and the player's final place.
The network answers for the four players together, with the probabilities of the 24 orders of finish.

Every round has the same weight. In the paper (equation 4) every game has, so a round of a longer game counts
less. The length is unknown when the round begins, and leads are kept more often in games that end soon, so
those predictions are overconfident.

Some games are given without their first rounds, so that the predictor can also be used where the
earlier rounds are unknown: after a restart, or in a game that begins at a chosen position.

Source: Suphx, arXiv:2003.13590, section 3.2.
"""

from __future__ import annotations

import math
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import Annotated, Any, Final, NamedTuple

import msgspec
import numpy as np
import torch
from msgspec import Meta
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn import functional

from game.ranking import HANCHAN_REWARDS, Rewards
from kit.errors import ConfigError
from kit.options import INTERNAL, Seed, Share, flag
from learning.data.corpus import Corpus
from learning.data.games import GamesWithPlaces, played_games
from learning.data.layout import ROOMS, SPLIT_RULE, Room, Split
from learning.runs.commit import current_commit
from learning.runs.learner import Descent, backward
from learning.runs.loop import EvaluationResult, RunStatus, StepResult, carry_out, preparing, run_folder
from learning.train.plan import BatchSize, Channels, LearningRate
from policies.checkpoint.card import Card, Data, Training
from policies.checkpoint.store import load, load_predictor, models_in, save
from policies.nets.networks import arrays_of
from policies.reward.encoding import CHANGES, INPUTS, encode
from policies.reward.predictor import ORDERS, PLACES, FinishArchitecture, Predictor, predict

MODEL: Final = "reward"


class RewardPlan(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Everything that determines what a run learns.

    Attributes:
        rewards: rewards for first to fourth place.
        hidden: width of each GRU layer.
        dense: width between the two dense layers.
        rooms: only games in this room; may be repeated.
        epochs: passes over all games.
        batch_games: games per step, with four players each.
        learning_rate: peak learning rate; it falls as a cosine to 0.
        weight_decay: weight decay of AdamW.
        joined: share of the games shown only from a later round on, 0 to 1.
        patience: stop after this many passes without improvement; 0: never.
        seed: seed of weights, order and the rounds where games are joined.
    """

    rewards: Rewards = HANCHAN_REWARDS
    hidden: Channels = 64
    dense: Channels = 64
    rooms: Annotated[tuple[Room, ...], flag("--room")] = ("houou",)
    epochs: Annotated[int, Meta(ge=1, le=1_000_000)] = 8
    batch_games: BatchSize = 256
    learning_rate: LearningRate = 2e-3
    weight_decay: Annotated[float, INTERNAL] = 1e-4
    joined: Share = 0.25
    patience: Annotated[int, Meta(ge=0)] = 5
    seed: Seed = 0

    def __post_init__(self) -> None:
        faults = []
        if not self.learning_rate > 0:
            faults.append(f"learning_rate: {self.learning_rate} must be above 0")
        if not all(map(math.isfinite, self.rewards)) or len(set(self.rewards)) == 1:
            faults.append(f"rewards: {self.rewards} must be finite, and not all equal")
        if faults:
            raise ConfigError("\n".join(faults))


class FinishNetwork(nn.Module):
    """Scores each place for each player; an order of finish has the sum of the scores of its four places.

    Args:
        architecture: its sizes.
    """

    def __init__(self, architecture: FinishArchitecture) -> None:
        super().__init__()
        self.architecture = architecture
        hidden, dense = architecture.hidden, architecture.dense
        self.rounds = nn.GRU(INPUTS, hidden, num_layers=2, batch_first=True)
        self.dense = nn.Linear(hidden, dense)
        self.answer = nn.Linear(dense, 4)

    def predictor(self) -> Predictor:
        """A predictor with the current weights."""
        return Predictor(self.architecture, arrays_of(self.state_dict()))

    def orders(self, x: Tensor) -> Tensor:
        """Predict the order of finish at the start of each round, from its own and earlier rounds.

        Args:
            x: ``[G, 4, T, 36]`` from `policies.reward.encoding.encode`.

        Returns:
            ``[G, T, 24]`` logarithms of the probabilities of `ORDERS`.
        """
        seen, _ = self.rounds(x.flatten(0, 1))
        answers: Tensor = self.answer(functional.relu(self.dense(seen)))
        scores = answers.view(*x.shape[:3], -1).transpose(1, 2).flatten(2)
        return (scores @ torch.from_numpy(PLACES).view(len(ORDERS), -1).T).log_softmax(-1)


class RewardReport(msgspec.Struct, frozen=True):
    """The errors of predicted final rewards at the start of each round, for each player.

    Attributes:
        games: games of the test split.
        answers: players times rounds.
        root_error: root of the mean square error.
        constant: the same if every prediction is the mean reward.
    """

    games: int
    answers: int
    root_error: float
    constant: float

    def __str__(self) -> str:
        """The report for people."""
        return (
            f"{self.games:,} games of the test split: root mean square error {self.root_error:.2f}, "
            f"of a constant {self.constant:.2f}; explains {1.0 - (self.root_error / self.constant) ** 2:.1%}"
        )


class GameTensors(NamedTuple):
    """Games as tensors: ``rounds [G, 4, T, C]``, ``counts [G]`` of them, ``orders [G]`` index in `ORDERS`."""

    rounds: Tensor
    counts: Tensor
    orders: Tensor


def train_reward(
    plan: RewardPlan, corpus: Corpus, out: Path, *, quiet: bool = False
) -> tuple[Card, RewardReport]:
    """Train the predictor, or resume an interrupted run.

    Args:
        plan: the training settings.
        corpus: the games.
        out: folder of the checkpoint; the run's state is in its subfolder ``runs/reward``.
        quiet: show no progress.

    Returns:
        The card of the kept checkpoint, the best on the validation split, and its results on the test split.

    Raises:
        ConfigError: no game matches the selection, ``out`` holds a run of another plan, or tensorboard is
            missing.
        TrainingError: the state cannot be saved or read.
        KeyboardInterrupt: a signal asked to stop; the state is saved.
    """
    with preparing(_RewardRun.title, quiet=quiet):
        run = _RewardRun(plan, corpus, out)
        test = games_of(plan, corpus, "test")
    carry_out(run, quiet=quiet)
    return load(out, MODEL).card, report_on(load_predictor(out), test)


def report_on(predictor: Predictor, played: GamesWithPlaces) -> RewardReport:
    """Measure a predictor on some games."""
    return RewardReport(
        games=len(played.places),
        answers=count_samples(played.games.counts),
        root_error=math.sqrt(mean_square_error(predictor, played)),
        constant=float(np.std(predictor.architecture.rewards)),
    )


def mean_square_error(predictor: Predictor, played: GamesWithPlaces) -> float:
    """Mean square error of a predictor's rewards at the start of each round, for each player."""
    brought = np.array(predictor.architecture.rewards)[played.places - 1][:, None]
    return float(((predict(predictor, played.games) - brought) ** 2)[played.games.dealt].mean())


def games_of(plan: RewardPlan, corpus: Corpus, split: Split) -> GamesWithPlaces:
    """The games of a split that a plan selects.

    Raises:
        ConfigError: there are none.
    """
    rooms = [room for room in ROOMS if room in plan.rooms]
    numbers = corpus.select(split=split, rooms=rooms)
    if not numbers.size:
        raise ConfigError(f"no game of the {split} split was played in {', '.join(rooms)}")
    return played_games(corpus, numbers)


def tensors_of(played: GamesWithPlaces, architecture: FinishArchitecture) -> GameTensors:
    """Games as tensors for the network."""
    numbers = {order: number for number, order in enumerate(ORDERS)}
    return GameTensors(
        torch.from_numpy(encode(played.games)),
        torch.from_numpy(played.games.counts),
        torch.tensor([numbers[tuple(places)] for places in (played.places - 1).tolist()], dtype=torch.int64),
    )


def count_samples(counts: Tensor | NDArray[np.int64]) -> int:
    """Number of samples in games of so many rounds: each round is one for each of the four players."""
    return 4 * int(counts.sum())


def joined_late(tensors: GameTensors, first: Tensor) -> GameTensors:
    """Games without their first rounds.

    Args:
        tensors: games.
        first: ``[G]`` rounds to leave out of each, fewer than it has.
    """
    counts = tensors.counts - first
    kept = (torch.arange(int(counts.max())) + first[:, None]).clamp(max=tensors.rounds.shape[2] - 1)
    games, _, _, inputs = tensors.rounds.shape
    places = kept[:, None, :, None].expand(games, 4, -1, inputs)
    rounds = tensors.rounds.gather(2, places)
    rounds[:, :, 0, CHANGES] = 0.0
    return GameTensors(rounds, counts, tensors.orders)


def loss_of(network: FinishNetwork, tensors: GameTensors) -> Tensor:
    """Mean cross-entropy of the order of finish over the rounds of all games."""
    logs = network.orders(tensors.rounds)
    dealt = torch.arange(logs.shape[1]) < tensors.counts[:, None]
    found = logs.gather(2, tensors.orders[:, None, None].expand(-1, logs.shape[1], 1)).squeeze(2)
    return -found[dealt].mean()


class _RewardRun:
    """One run. A step takes a batch of games."""

    title = MODEL
    unit = "samples"

    def __init__(self, plan: RewardPlan, corpus: Corpus, out: Path) -> None:
        self.content: str = corpus.card["content_sha256"]
        self.architecture = FinishArchitecture(hidden=plan.hidden, dense=plan.dense, rewards=plan.rewards)
        others = {"encoding": self.architecture.encoding, "corpus": self.content}
        self.folder = run_folder(out, MODEL, plan, others)
        self.plan, self.out, self.patience = plan, out, plan.patience
        self.commit = current_commit()
        self.tensors = tensors_of(games_of(plan, corpus, "train"), self.architecture)
        self.validation = games_of(plan, corpus, "validation")
        self.batches = math.ceil(len(self.tensors.counts) / plan.batch_games)
        self.total = plan.epochs * count_samples(self.tensors.counts)
        self.status = RunStatus()
        torch.manual_seed(plan.seed)
        self.network = FinishNetwork(self.architecture)
        self.descent = Descent([{"params": self.network.parameters(), "weight_decay": plan.weight_decay}])

    @property
    def done(self) -> int:
        """Samples of the games learned from; games without their first rounds are counted whole."""
        epoch, batch = self.status.epoch, self.status.batch
        order, _ = self._order(epoch)
        begun = order[: batch * self.plan.batch_games]
        return epoch * count_samples(self.tensors.counts) + count_samples(self.tensors.counts[begun])

    @property
    def kept(self) -> bool:
        """Whether the folder has the predictor."""
        return MODEL in models_in(self.out)

    def steps(self) -> Generator[StepResult]:
        """Learn from the batches that remain."""
        status = self.status
        while status.epoch < self.plan.epochs:
            for number, (games, shown) in enumerate(self._batches(status.epoch)):
                if number >= status.batch:
                    yield self._step(games, shown)

    def _order(self, epoch: int) -> tuple[Tensor, np.random.Generator]:
        """The order of the games of a pass, and the generator of its other random numbers."""
        rng = np.random.default_rng((self.plan.seed, epoch))
        return torch.from_numpy(rng.permutation(len(self.tensors.counts))), rng

    def _batches(self, epoch: int) -> Iterator[tuple[Tensor, GameTensors]]:
        """The shuffled games of a pass, batch by batch, and their tensors."""
        order, rng = self._order(epoch)
        for games in torch.split(order, self.plan.batch_games):
            tensors = GameTensors(*(part[games] for part in self.tensors))
            late = torch.from_numpy(rng.random(len(games)) < self.plan.joined)
            rounds = torch.from_numpy(rng.random(len(games))) * tensors.counts
            yield games, joined_late(tensors, rounds.long() * late)

    def _step(self, games: Tensor, shown: GameTensors) -> StepResult:
        plan, status = self.plan, self.status
        done = (status.epoch + status.batch / self.batches) / plan.epochs
        rate = plan.learning_rate * (1.0 + math.cos(math.pi * done)) / 2
        loss = self.descent.step(rate, lambda: backward(loss_of(self.network, shown)))
        status.step += 1
        status.batch += 1
        status.samples += count_samples(shown.counts)
        over = status.batch == self.batches
        if over:
            status.epoch, status.batch = status.epoch + 1, 0
        return StepResult(count_samples(self.tensors.counts[games]), loss, rate, evaluate=over)

    def evaluate(self) -> EvaluationResult:
        """Mean square error on the validation split."""
        error, best = mean_square_error(self.network.predictor(), self.validation), self.status.best
        root = math.sqrt(error)
        return EvaluationResult(
            score=error,
            improved=best is None or error < best,
            text=f"root mean square error {root:.3f}",
            curves={"validation/root_error": root},
            metrics={"error": error, "root_error": root, "games": float(len(self.validation.places))},
        )

    def state(self) -> dict[str, Any]:
        """Everything needed to resume except the status."""
        return {"network": self.network.state_dict(), "optimiser": self.descent.state()}

    def restore(self, state: dict[str, Any]) -> None:
        """Restore what `state` returned."""
        self.network.load_state_dict(state["network"])
        self.descent.restore(state["optimiser"])

    def keep(self, metrics: dict[str, float]) -> None:
        """Save the weights as the checkpoint."""
        save(self.out, self._card(metrics), self.network.predictor().arrays)

    def _card(self, metrics: dict[str, float]) -> Card:
        plan, status, counts = self.plan, self.status, self.tensors.counts
        return Card(
            model=MODEL,
            architecture=self.architecture,
            data=Data(
                corpus=self.content,
                split=f"train ({SPLIT_RULE})",
                players=f"all players, rooms {', '.join(plan.rooms)}",
                games=len(counts),
                samples=count_samples(counts),
            ),
            training=Training(
                samples=status.samples,
                steps=status.step,
                epochs=status.epoch,
                batch_size=4 * plan.batch_games,
                learning_rate=plan.learning_rate,
                seconds=round(status.seconds, 1),
                seed=plan.seed,
                commit=self.commit,
                precision="fp32",
                device=f"CPU, {torch.get_num_threads()} threads",
                torch=str(torch.__version__),
                settings={
                    "planned_epochs": plan.epochs,
                    "weight_decay": plan.weight_decay,
                    "joined": plan.joined,
                    "patience": plan.patience,
                },
            ),
            metrics=metrics,
        )
