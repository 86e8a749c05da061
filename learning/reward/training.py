"""Training of the global reward predictor on finished games of the corpus.

A sample is one player of a game at the start of a round: the rounds so far, and the player's final reward.
All four players of a game and all its rounds are used together, and every game has the same weight regardless
of its length (equation 4 of the paper).

Some games are shown as if they had been joined midway, so that the predictor can also be used where the
earlier rounds are unknown: after a restart, or in a game that begins at a chosen position.

Source: Suphx, arXiv:2003.13590, section 3.2.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Final, NamedTuple

import msgspec
import numpy as np
import torch
from torch import Tensor

from game.errors import ConfigError
from learning.corpus.layout import ROOMS, SPLIT_RULE, Split
from learning.corpus.reader import Corpus
from learning.reward.games import Played, played_games
from learning.reward.report import RewardReport, mean_square_error, report_on
from learning.runs.progress import TrainingProgress
from learning.runs.state import RunFolder
from policies.checkpoint import Card, Data, Training, load, network_of, save
from policies.reward import CHANGES, HANCHAN_REWARDS, RewardArchitecture, RewardNetwork, Rewards, encode

MODEL: Final = "reward"
RUN_FOLDER: Final = "runs/reward"


class RewardPlan(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Everything that determines what a run learns.

    Attributes:
        rewards: rewards of the places, first to fourth.
        hidden: width of each layer of the GRU.
        dense: width between the two dense layers.
        rooms: rooms of the games to learn from.
        epochs: passes over them.
        batch_games: games per step, with four players each.
        learning_rate: the peak; it falls as a cosine to 0.
        weight_decay: of AdamW.
        joined: share of the games that are shown from a later round on.
        patience: passes without a better validation after which a run stops; 0 for never.
        seed: seed of the initial weights, the order and the rounds where games are joined.
    """

    rewards: Rewards = HANCHAN_REWARDS
    hidden: int = 64
    dense: int = 64
    rooms: tuple[str, ...] = ("houou",)
    epochs: int = 20
    batch_games: int = 256
    learning_rate: float = 2e-3
    weight_decay: float = 1e-4
    joined: float = 0.25
    patience: int = 5
    seed: int = 0

    def __post_init__(self) -> None:
        faults = [
            f"{name}: {getattr(self, name)} must be above 0"
            for name in ("hidden", "dense", "epochs", "batch_games", "learning_rate")
            if getattr(self, name) <= 0
        ]
        faults += [
            f"room: no room {room!r}; there are {', '.join(ROOMS)}"
            for room in self.rooms
            if room not in ROOMS
        ]
        if not 0.0 <= self.joined <= 1.0:
            faults.append(f"joined: {self.joined} must be 0 to 1")
        if not all(map(math.isfinite, self.rewards)) or not any(self.rewards):
            faults.append(f"rewards: {self.rewards} must be finite, and not all zero")
        if faults:
            raise ConfigError("\n".join(faults))


class Standing(msgspec.Struct, kw_only=True):
    """Progress of a run; saved with its weights.

    Attributes:
        epoch: passes done.
        samples: samples learned from.
        seconds: time spent learning, over all starts.
        best: lowest mean square error of the validations.
        worse: validations since the best.
    """

    epoch: int = 0
    samples: int = 0
    seconds: float = 0.0
    best: float = math.inf
    worse: int = 0


class Lesson(NamedTuple):
    """Games as tensors: ``rounds [G, 4, T, 16]``, ``counts [G]`` of them, ``rewards [G, 4]`` scaled."""

    rounds: Tensor
    counts: Tensor
    rewards: Tensor


def train_reward(
    plan: RewardPlan, corpus: Corpus, out: Path, *, commit: str = "", quiet: bool = False
) -> tuple[Card, RewardReport]:
    """Train the predictor, or resume an interrupted run.

    Args:
        plan: the training settings.
        corpus: the games.
        out: folder of the checkpoint; the run's state is in its subfolder ``runs/reward``.
        commit: commit of the code, for the card.
        quiet: show no progress.

    Returns:
        The card of the kept checkpoint, the best on the validation split, and its results on the test split.

    Raises:
        ConfigError: no game matches the selection, or ``out`` holds a run of another plan.
        TrainingError: the state cannot be saved or read.
    """
    run = _Run(plan, corpus, out, commit)
    test = games_of(plan, corpus, "test")
    run.resume()
    try:
        run.learn(quiet=quiet)
    except KeyboardInterrupt:
        raise KeyboardInterrupt(run.left_off) from None
    checkpoint = load(out, MODEL)
    network = network_of(checkpoint)
    assert isinstance(network, RewardNetwork)
    return checkpoint.card, report_on(network, run.played, test, split="test", corpus=run.content)


def games_of(plan: RewardPlan, corpus: Corpus, split: Split) -> Played:
    """The games of a split that a plan selects.

    Raises:
        ConfigError: there are none.
    """
    rooms = [room for room in ROOMS if room in plan.rooms]
    numbers = corpus.select(split=split, rooms=rooms)
    if not numbers.size:
        raise ConfigError(f"no game of the {split} split was played in {', '.join(rooms)}")
    return played_games(corpus, numbers)


def lesson_of(played: Played, architecture: RewardArchitecture) -> Lesson:
    """Games as tensors for the network."""
    rewards = np.array(architecture.rewards)[played.places - 1] / architecture.scale
    return Lesson(
        torch.from_numpy(encode(played.games)),
        torch.from_numpy(played.games.counts),
        torch.from_numpy(rewards.astype(np.float32)),
    )


def joined_late(lesson: Lesson, first: Tensor) -> Lesson:
    """Games without their first rounds.

    Args:
        lesson: games.
        first: ``[G]`` rounds to leave out of each, fewer than it has.
    """
    counts = lesson.counts - first
    kept = (torch.arange(int(counts.max())) + first[:, None]).clamp(max=lesson.rounds.shape[2] - 1)
    games, _, _, inputs = lesson.rounds.shape
    places = kept[:, None, :, None].expand(games, 4, -1, inputs)
    rounds = lesson.rounds.gather(2, places)
    rounds[:, :, 0, CHANGES] = 0.0
    return Lesson(rounds, counts, lesson.rewards)


def loss_of(network: RewardNetwork, lesson: Lesson) -> Tensor:
    """Mean over games and players of the mean square error over rounds, in units of the largest reward."""
    expected = network(lesson.rounds.flatten(0, 1)).unflatten(0, (-1, 4))
    dealt = torch.arange(expected.shape[2]) < lesson.counts[:, None]
    weights = dealt / (4 * len(lesson.counts) * lesson.counts[:, None])
    loss: Tensor = (weights[:, None] * (expected - lesson.rewards[..., None]) ** 2).sum()
    return loss


class _Run:
    """One run: its data, and its loop."""

    def __init__(self, plan: RewardPlan, corpus: Corpus, out: Path, commit: str) -> None:
        self.plan, self.out, self.commit = plan, out, commit
        self.content: str = corpus.card["content_sha256"]
        self.played = games_of(plan, corpus, "train")
        self.validation = games_of(plan, corpus, "validation")
        self.architecture = RewardArchitecture(hidden=plan.hidden, dense=plan.dense, rewards=plan.rewards)
        self.lesson = lesson_of(self.played, self.architecture)
        torch.manual_seed(plan.seed)
        self.network = RewardNetwork(self.architecture)
        self.optimiser = torch.optim.AdamW(
            self.network.parameters(), lr=plan.learning_rate, weight_decay=plan.weight_decay
        )
        self.standing = Standing()
        identity = {"plan": msgspec.to_builtins(plan), "corpus": self.content}
        self.folder = RunFolder(out / RUN_FOLDER, identity)

    def learn(self, *, quiet: bool) -> None:
        """Train to the end of the plan."""
        standing, plan = self.standing, self.plan
        each = 4 * int(self.lesson.counts.sum())
        with TrainingProgress(MODEL, plan.epochs * each, standing.epoch * each, quiet=quiet) as progress:
            while standing.epoch < plan.epochs and not 0 < plan.patience <= standing.worse:
                begun = time.monotonic()
                for games, shown in self._batches():
                    loss = self._step(shown)
                    standing.samples += 4 * int(shown.counts.sum())
                    progress.learned(4 * int(self.lesson.counts[games].sum()), loss)
                standing.epoch += 1
                standing.seconds += time.monotonic() - begun
                error = mean_square_error(self.network, self.validation)
                progress.validated(f"root mean square error {math.sqrt(error):.3f}")
                self._keep_if_best(error)
                self._save()

    @property
    def left_off(self) -> str:
        """Message for an interrupted run."""
        return (
            f"stopped: {self.standing.epoch} of {self.plan.epochs} passes are done and saved in "
            f"{self.folder.folder}; give the same command again to resume"
        )

    def _batches(self) -> Iterator[tuple[Tensor, Lesson]]:
        """The shuffled games of a pass, and as they are shown; sets the learning rate for each batch."""
        plan, epoch = self.plan, self.standing.epoch
        dice = np.random.default_rng((plan.seed, epoch))
        order = torch.from_numpy(dice.permutation(len(self.lesson.counts)))
        parts = torch.split(order, plan.batch_games)
        for number, games in enumerate(parts):
            done = (epoch + number / len(parts)) / plan.epochs
            for group in self.optimiser.param_groups:
                group["lr"] = plan.learning_rate * (1.0 + math.cos(math.pi * done)) / 2
            lesson = Lesson(*(part[games] for part in self.lesson))
            late = torch.from_numpy(dice.random(len(games)) < plan.joined)
            rounds = torch.from_numpy(dice.random(len(games))) * lesson.counts
            yield games, joined_late(lesson, rounds.long() * late)

    def _step(self, lesson: Lesson) -> float:
        self.optimiser.zero_grad()
        loss = loss_of(self.network, lesson)
        loss.backward()  # type: ignore[no-untyped-call]
        self.optimiser.step()
        return float(loss.detach())

    # --- saved state --------------------------------------------------------------------------------------

    def resume(self) -> None:
        """Restore the saved state, if there is one.

        Raises:
            ConfigError: it is another run's.
            TrainingError: it cannot be read.
        """
        state = self.folder.load()
        if state is None:
            return
        self.network.load_state_dict(state["network"])
        # earlier runs saved it under the other spelling
        self.optimiser.load_state_dict(state["optimiser" if "optimiser" in state else "optimizer"])
        self.standing = msgspec.convert(state["standing"], Standing)

    def _save(self) -> None:
        self.folder.save(
            {
                "network": self.network.state_dict(),
                "optimiser": self.optimiser.state_dict(),
                "standing": msgspec.to_builtins(self.standing),
            }
        )

    def _keep_if_best(self, error: float) -> None:
        standing = self.standing
        if not error < standing.best:
            standing.worse += 1
            return
        standing.best, standing.worse = error, 0
        save(self.out, self._card(error), self.network.state_dict())

    def _card(self, error: float) -> Card:
        plan, standing, counts = self.plan, self.standing, self.lesson.counts
        return Card(
            model=MODEL,
            architecture=self.architecture,
            data=Data(
                corpus=self.content,
                split=f"train ({SPLIT_RULE})",
                players=f"all players, rooms {', '.join(plan.rooms)}",
                games=len(counts),
                samples=4 * int(counts.sum()),
            ),
            training=Training(
                samples=standing.samples,
                steps=standing.epoch * math.ceil(len(counts) / plan.batch_games),
                epochs=standing.epoch,
                batch_size=4 * plan.batch_games,
                learning_rate=plan.learning_rate,
                seconds=round(standing.seconds, 1),
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
            metrics={
                "error": error,
                "root_error": math.sqrt(error),
                "games": float(len(self.validation.places)),
            },
        )
