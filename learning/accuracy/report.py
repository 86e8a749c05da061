"""What comes of measuring accuracy: plain data, as ``--json`` writes it."""

from __future__ import annotations

import msgspec

from learning.accuracy.scores import Interval, Scores


class Measured(msgspec.Struct, frozen=True):
    """The decisions that figures are about.

    Attributes:
        paths: what was asked for.
        content: hash of the corpus, or of what was made of the records.
        split: part of it; "all" of records.
        players: whose decisions, in words.
        games: with such a player.
        from_training: of them, games that the split gives to training.
        left_out: records that could not be used, by the reason.
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
        scores: its own.
        cuts: its own by turn, riichi and rank.
        network: what the network scores there.
        seconds: it took.
    """

    scores: Scores
    cuts: dict[str, dict[str, Scores]]
    network: Scores
    seconds: float


class Difference(msgspec.Struct, frozen=True):
    """How much more often this network is right than that of another folder, in the same decisions.

    Attributes:
        folder: the other's.
        top1: share of this one less that of the other.
        interval: of the difference; None if there is but one game.
    """

    folder: str
    top1: float
    interval: Interval | None


class ModelReport(msgspec.Struct, frozen=True, kw_only=True):
    """How good one checkpoint is.

    Attributes:
        folder: it lies in.
        model: which of the five.
        weights: hash of its file of weights.
        card: hash of its card.
        described: the card in words.
        parameters: numbers it has learned.
        rows: it was asked about: one for each candidate meld, else one for each decision.
        seconds: it took, with folding and encoding.
        scores: over all decisions.
        cuts: by turn, by riichi of an opponent, by rank of the player.
        heuristic: the rule-based player; None if it was not asked.
        difference: to the first folder's; None for that itself.
    """

    folder: str
    model: str
    weights: str
    card: str
    described: str
    parameters: int
    rows: int
    seconds: float
    scores: Scores
    cuts: dict[str, dict[str, Scores]]
    heuristic: Baseline | None
    difference: Difference | None


class AccuracyReport(msgspec.Struct, frozen=True, kw_only=True):
    """Everything `suzaku eval accuracy` finds out.

    Attributes:
        machine: it ran on.
        device: that networks computed on.
        seconds: in all.
        data: what was measured on.
        permutations: renamings of tiles that each position was looked at under.
        seed: of everything random.
        resamples: draws of games behind each interval.
        models: by model, then by folder.
    """

    machine: str
    device: str
    seconds: float
    data: Measured
    permutations: int
    seed: int
    resamples: int
    models: tuple[ModelReport, ...]
