"""Results of measuring accuracy: plain data, as written by ``--json``."""

from __future__ import annotations

import msgspec

from learning.accuracy.scores import AnswerScores, Interval
from policies.nets.compute import Precision


class Measured(msgspec.Struct, frozen=True):
    """The decisions behind the figures.

    Attributes:
        paths: the paths given by the user.
        content: hash of the corpus, or of the one built from the records.
        split: part of it; "all" for records.
        players: the selected players, in words.
        games: games with such a player.
        from_training: how many of them belong to the training split.
        left_out: number of records that could not be used, by reason.
    """

    paths: tuple[str, ...]
    content: str
    split: str
    players: str
    games: int
    from_training: int
    left_out: dict[str, int]


class Baseline(msgspec.Struct, frozen=True):
    """The rule-based player on a sample of the decisions, and the network on the same ones.

    Attributes:
        scores: the rule-based player's scores.
        cuts: its scores by turn, riichi and rank.
        network: the network's scores on the sample.
        seconds: duration.
    """

    scores: AnswerScores
    cuts: dict[str, dict[str, AnswerScores]]
    network: AnswerScores
    seconds: float


class AccuracyDifference(msgspec.Struct, frozen=True):
    """Difference in accuracy from the network of another folder, on the same decisions.

    Attributes:
        folder: the other folder.
        top1: this share minus the other's.
        interval: confidence interval of the difference; None if there is only one game.
    """

    folder: str
    top1: float
    interval: Interval | None


class ModelReport(msgspec.Struct, frozen=True, kw_only=True):
    """Figures of one checkpoint.

    Attributes:
        folder: its folder.
        model: one of the five models.
        weights: hash of its file of weights.
        card: hash of its card.
        described: the card in words.
        parameters: number of learned parameters.
        rows: positions asked about: one per candidate meld, or else one per decision.
        seconds: duration, including folding and encoding.
        scores: over all decisions.
        cuts: by turn, by an opponent's riichi, by the player's rank.
        heuristic: the rule-based player; None if it was not asked.
        difference: from the first folder's checkpoint; None for that one itself.
    """

    folder: str
    model: str
    weights: str
    card: str
    described: str
    parameters: int
    rows: int
    seconds: float
    scores: AnswerScores
    cuts: dict[str, dict[str, AnswerScores]]
    heuristic: Baseline | None
    difference: AccuracyDifference | None


class AccuracyReport(msgspec.Struct, frozen=True, kw_only=True):
    """Results of `suzaku eval accuracy`.

    Attributes:
        machine: the machine it ran on.
        device: the networks' device.
        precision: type of the operands of their products.
        seconds: total duration.
        data: the decisions.
        permutations: tile permutations averaged over in each position.
        seed: seed of everything random.
        resamples: draws of games behind each interval.
        models: by model, then by folder.
    """

    machine: str
    device: str
    precision: Precision
    seconds: float
    data: Measured
    permutations: int
    seed: int
    resamples: int
    models: tuple[ModelReport, ...]
