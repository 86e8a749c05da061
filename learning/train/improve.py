"""Fine-tunes a policy on labels; a KL penalty keeps everything else.

At a labelled decision the loss is minus the expected value of the options under the policy, over the
temperature; everywhere the divergence from the policy at the start is added. At its minimum an option's
probability is the start's over 1 - a / τ, where a is what its value exceeds the expected one by: for small
values the start's times exp(a / τ). The noise of labels averages out, so their errors do not weigh them: a
value that is rare and large has a large error, too, and a riichi that wins seldom but much would look worse
than it is. For the same reason values are clipped only far out.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Annotated, Any, Final, Literal, NamedTuple

import msgspec
import numpy as np
import torch
from msgspec import Meta
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional

from kit.errors import ConfigError
from kit.options import INTERNAL, Count, NotNegative, Share
from learning.data.choice import SelectedDecisions
from learning.data.corpus import Corpus, Numbers
from learning.data.layout import Split
from learning.data.loader import Batch, Moments
from learning.runs.learner import Learner
from learning.runs.loop import EvaluationResult
from learning.runs.statistics import Estimate, Means
from learning.runs.store import read_rows
from learning.train.first_weights import Parent
from learning.train.labels import (
    FORMAT,
    NO,
    SLOTS,
    Label,
    LabelledGame,
    LabelsPlan,
    critic_bias,
)
from learning.train.plan import CALL_SLOTS, LearningRate, SamplesPlan, faults_in, training_precision
from learning.train.samples_run import SamplesRun, choice_of, train
from policies.checkpoint.card import Card
from policies.checkpoint.store import load, models_in, save
from policies.features.permute import KIND_MAPS
from policies.features.table import KINDS
from policies.flow.slots import Slot
from policies.nets.architectures import YES_NO
from policies.nets.networks import network_of

_LEAST: Final = 1e-6
_TEMPERATURES: Final = {"points": 20.0, "reward": 0.4}
_NO_GAIN: Final = Estimate(0.0, 0.0, 0.0)
_SLOT_NUMBERS: Final = {slot: number for number, slot in enumerate(SLOTS)}


class ImprovementPlan(SamplesPlan, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Everything that determines what a run learns from labels.

    Attributes:
        model: one of the models with labels: discard, riichi, chi or pon.
        features: feature set of the start.
        without: planes that the start does not see.
        width: the start's.
        depth: the start's.
        learning_rate: peak learning rate.
        labels: hash of the labels.
        one_in: take every n-th decision without a label, others in each pass.
        unit: unit of the values: points, or reward for the expected final reward.
        temperature: difference in value that multiplies the odds of an option by e, in that unit; by default
            20 points, or 0.4 of final reward.
        limit: largest absolute value; larger ones are clipped.
    """

    model: Annotated[Slot, INTERNAL]
    features: Annotated[str, INTERNAL]
    without: Annotated[tuple[str, ...], INTERNAL] = ()
    width: Annotated[int, INTERNAL]
    depth: Annotated[int, INTERNAL]
    learning_rate: LearningRate = 5e-4
    labels: Annotated[str, INTERNAL]
    one_in: Count = 4
    unit: Literal["points", "reward"] = "points"
    temperature: Annotated[float, Meta(gt=0.0)] | None = None
    limit: Annotated[float, Meta(gt=0.0)] = 12_000.0
    passes: NotNegative = 3.0
    averaging: Share = 0.99
    validate_every: Count = 100_000

    @property
    def slot(self) -> Slot:
        """The slot whose decisions are the samples."""
        return self.model

    @property
    def scale(self) -> float:
        """The temperature, that of the unit if none is given."""
        return self.temperature or _TEMPERATURES[self.unit]


class LabelledBatch(NamedTuple):
    """Decisions, some of them with labels.

    Attributes:
        planes: ``[B, C, 34]`` uint8.
        legal: ``[B, K]`` bool, answers that are possible.
        start: ``[B, K]`` the start's probabilities of them.
        values: ``[B, K]`` of the options with a label, over the temperature; 0 for others.
        valued: ``[B, K]`` bool, whether an answer has a value.
        games: ``[B]`` int64, the game of each.
    """

    planes: Tensor
    legal: Tensor
    start: Tensor
    values: Tensor
    valued: Tensor
    games: Tensor


def improvement_loss(scores: Tensor, batch: LabelledBatch) -> Tensor:
    """The mean loss of ``[B, K]`` scores."""
    logs = _log_softmax(scores, batch.legal)
    start = batch.start.to(scores.device)
    held = functional.kl_div(logs, start, reduction="sum")
    valued = batch.valued.to(scores.device)
    shares = torch.softmax(logs.masked_fill(~valued, -torch.inf), 1).nan_to_num(0.0)
    gained = (shares * batch.values.to(scores.device)).sum()
    return (held - gained) / len(scores)


def _centred(values: Tensor, valued: Tensor) -> Tensor:
    """``[B, K]``: values less the mean of those that count, 0 for others."""
    count = valued.sum(1, keepdim=True).clamp(min=1)
    mean = values.masked_fill(~valued, 0.0).sum(1, keepdim=True) / count
    return (values - mean).masked_fill(~valued, 0.0)


def _log_softmax(scores: Tensor, legal: Tensor) -> Tensor:
    masked = scores.float().masked_fill(~legal.to(scores.device), -torch.inf)
    return torch.log_softmax(masked, 1).clamp(min=-100.0)


class ImprovementRun(SamplesRun[ImprovementPlan, LabelledBatch]):
    """One run over the decisions of labelled games.

    Args:
        plan: the training settings.
        corpus: the games.
        out: folder of the checkpoint.
        parent: the model to improve.
        games: with their labels, by place in the corpus.
    """

    moments = True

    def __init__(
        self,
        plan: ImprovementPlan,
        corpus: Corpus,
        out: Path,
        parent: Parent | None,
        *,
        games: Mapping[int, LabelledGame],
    ) -> None:
        self._labelled = list(games)
        number = _SLOT_NUMBERS[plan.model]
        self._labels = {
            (place, label.place): label
            for place, game in games.items()
            for label in game.labels
            if label.slot == number
        }
        error = critic_bias(list(games.values()), plan.model, plan.unit)
        # one game tells too little to correct all others by it
        self._critic_bias = 0.0 if error is None or error.low is None else error.value or 0.0
        super().__init__(plan, corpus, out, parent)

    def first_learner(self) -> Learner[LabelledBatch]:
        """The network in training, and the policy at the start."""
        assert self.begin is not None, "there is a model to improve"
        first = network_of(self.begin.weights)
        learner = Learner(first, self.plan, self.threads, loss=improvement_loss, frozen=True)
        self._start = network_of(self.begin.weights).to(learner.device)
        return learner

    def always(self) -> dict[int, Numbers]:
        """The labelled decisions."""
        places: dict[int, list[int]] = {}
        for game, place in self._labels:
            places.setdefault(game, []).append(place)
        return {game: np.array(each, np.int64) for game, each in places.items()}

    def chosen(self, split: Split) -> SelectedDecisions:
        """The decisions of the labelled games of a split; the test split validates, too."""
        splits: tuple[Split, ...] = ("train",) if split == "train" else ("validation", "test")
        parts = [choice_of(self.plan, self.corpus, each) for each in splits]
        games, players = (np.concatenate(column) for column in zip(*parts, strict=True))
        labelled = np.isin(games, self._labelled)
        if not labelled.any():
            raise ConfigError(f"no game of the {split} split has labels; label more --games")
        return SelectedDecisions(games[labelled], players[labelled])

    def settings(self) -> dict[str, bool | int | float | str]:
        """The other settings that determine the numbers of a run, for the card."""
        chosen = {name: getattr(self.plan, name) for name in ("labels", "one_in", "unit", "limit")}
        found = {"temperature": self.plan.scale, "critic_bias": round(self._critic_bias, 2)}
        return {**super().settings(), **chosen, **found}

    def prepared(self, batch: Batch, draw: tuple[int, ...]) -> LabelledBatch:
        """The planes, the probabilities of the initial policy, and the values of labels."""
        assert batch.moments is not None, "they were asked for"
        values, valued = self._values(batch.moments)
        legal = batch.legal if batch.legal is not None else torch.ones(len(values), YES_NO, dtype=torch.bool)
        with torch.inference_mode():
            scores = self.learner.scores_of(self._start, batch).float().cpu()
        start = torch.softmax(scores.masked_fill(~legal, -torch.inf), 1)
        tensors = map(torch.from_numpy, (values, valued, batch.moments.game))
        return LabelledBatch(batch.planes, legal, start, *tensors)

    def _values(self, moments: Moments) -> tuple[NDArray[np.float32], NDArray[np.bool_]]:
        answers = KINDS if self.plan.model is Slot.DISCARD else YES_NO
        values = np.zeros((len(moments.game), answers), np.float32)
        valued = np.zeros(values.shape, np.bool_)
        places = zip(moments.game.tolist(), moments.place.tolist(), strict=True)
        for row, place in enumerate(places):
            label = self._labels.get(place)
            if label is None:
                continue
            columns = self._columns(label, int(moments.candidate[row]), int(moments.permutation[row]))
            if columns is not None:
                values[row, columns] = self._advantages(label) / self.plan.scale
                valued[row, columns] = True
        return values, valued

    def _columns(self, label: Label, candidate: int, permutation: int) -> list[int] | None:
        """The answers that a label's options are; None if it is about another candidate."""
        if self.plan.model is Slot.DISCARD:
            return [int(KIND_MAPS[permutation, kind]) for kind in label.options]
        if candidate not in label.options:
            return None
        return [int(option != NO) for option in label.options]

    def _advantages(self, label: Label) -> NDArray[np.float64]:
        """The advantages of the options over the first, without the critic's bias."""
        values = np.array(label.points if self.plan.unit == "points" else label.reward, np.float64)
        if self._critic_bias:  # the first option is worth 0 by definition, whichever it is
            values[1] += self._critic_bias if label.options[1] == NO else -self._critic_bias
        return np.clip(values, -self.plan.limit, self.plan.limit)

    def evaluate(self) -> EvaluationResult:
        """The loss on the validation split, and the gain there where the choice changes."""
        losses, gains, games = [], [], []
        products = np.zeros(3)  # of values and what was learned of them: each with the other and with itself
        for batch in self.validation_batches():
            games.append(batch.games)
            scores = self.learner.scores(batch)
            losses.append(improvement_loss(scores, batch).item() * len(batch.planes))
            gains.append(_gains(scores.cpu(), batch) * self.plan.scale)
            learned = _centred(scores.float().cpu() - batch.start.clamp(min=_LEAST).log(), batch.valued)
            values = _centred(batch.values, batch.valued)
            products += [
                (one * other).sum().item()
                for one, other in ((learned, values), (learned, learned), (values, values))
            ]
        gained = torch.cat(gains)
        chosen = gained.isfinite() & (gained != 0.0)
        changed, valued = gained[chosen], int(gained.isfinite().sum())
        loss = sum(losses) / len(gained)
        gain = Means(torch.cat(games)[chosen].numpy(), changed.numpy())[0] if len(changed) else _NO_GAIN
        mean = gain.value or 0.0
        correlation = float(products[0] / max(1e-9, np.sqrt(products[1] * products[2])))
        return self.judged_by(
            loss,
            f"loss {loss:.5f}, {len(changed)} of {valued} labelled choices change and gain "
            f"{gain} {self.plan.unit} each; "
            f"correlation of changes with labels {correlation:.3f}",
            {
                "validation/gain": mean * len(changed) / max(1, valued),
                "validation/correlation": correlation,
            },
            {
                "gain": mean,
                "gain_low": gain.low or 0.0,
                "gain_high": gain.high or 0.0,
                "changed": len(changed),
                "labels": valued,
                "correlation": correlation,
            },
        )


def _gains(scores: Tensor, batch: LabelledBatch) -> Tensor:
    """``[B]``: the advantage of the likeliest option with a label over the start's; NaN without a label."""
    ours, theirs = (
        each.masked_fill(~batch.valued, -torch.inf).argmax(1, keepdim=True)
        for each in (scores.float(), batch.start)
    )
    gained = batch.values.gather(1, ours) - batch.values.gather(1, theirs)
    return gained.squeeze(1).masked_fill(~batch.valued.any(1), torch.nan)


def improve(
    model: Slot,
    corpus: Corpus,
    labels: Sequence[Path],
    start: Path,
    out: Path,
    *,
    precision: str = "auto",
    quiet: bool = False,
    **settings: Any,
) -> Card:
    """Fine-tune a model on labels, or resume an interrupted run; the other models are the start's.

    Args:
        model: one of `SLOTS`.
        corpus: the games.
        labels: folders of their labels; the labels there so far are used.
        start: folder of the policy to improve.
        out: folder of the checkpoint.
        precision: of learning.
        quiet: show no progress.
        settings: other fields of the plan.

    Returns:
        The card of the kept checkpoint.

    Raises:
        ConfigError: the labels are of other games or another version, a game is labelled twice, or no label
            is of this model.
        BotError: as in `learning.train.samples_run.train`.
    """
    found, identity = _read(labels, corpus)
    checkpoint = load(start, model)
    shape = checkpoint.card.architecture
    run_plan = ImprovementPlan(
        model=model,
        labels=identity,
        features=checkpoint.card.features,
        without=checkpoint.card.without,
        width=shape.width,  # type: ignore[union-attr]
        depth=shape.depth,  # type: ignore[union-attr]
        precision=training_precision(precision),
        **settings,
    )
    if faults := faults_in(run_plan, calls=model in CALL_SLOTS, purpose=model):
        raise ConfigError("\n".join(faults))
    begin, parent = partial(ImprovementRun, games=found), Parent(start, model)
    card = train(begin, run_plan, corpus, out, parent=parent, quiet=quiet)
    _complete(out, start)
    return card


def _read(folders: Sequence[Path], corpus: Corpus) -> tuple[dict[int, LabelledGame], str]:
    """Labelled games by their places in a corpus, and a hash of them."""
    labelled: dict[int, LabelledGame] = {}
    digest = hashlib.sha256()
    for folder in folders:
        plan, games = read_rows(folder, LabelsPlan, LabelledGame)
        if plan.corpus != corpus.card["content_sha256"]:
            raise ConfigError(f"{folder}: labels of another corpus; give the one that they were made of")
        found = {plan.first + row.number: row for row in games}
        if plan.format != FORMAT:
            raise ConfigError(f"{folder}: labels of another version ({plan.format}); make them again")
        if twice := labelled.keys() & found.keys():
            raise ConfigError(
                f"{folder}: {len(twice)} of its games have labels in another folder, too; label other games "
                "with --first"
            )
        labelled |= found
        digest.update(msgspec.json.encode((plan, games)))
    return labelled, digest.hexdigest()


def _complete(out: Path, start: Path) -> None:
    """Copy the models that a folder lacks from the start, so that it can play."""
    for model in set(models_in(start)) - set(models_in(out)):
        checkpoint = load(start, model)
        save(out, checkpoint.card, checkpoint.arrays)
