"""A study: the plans of its runs, and the report on them."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Final, NamedTuple

import msgspec

from learning.corpus.reader import Corpus
from learning.supervised.plan import TrainingPlan
from policies.checkpoint import Card

PHOENIX: Final = ("houou",)
"""The room of most studies."""


class StudyResult(msgspec.Struct, frozen=True):
    """One run of a study.

    Attributes:
        name: what differs in it.
        folder: holds its checkpoint and its curves.
        card: the card of its checkpoint.
        figures: what the study measured in addition, by name.
    """

    name: str
    folder: str
    card: Card
    figures: dict[str, list[float]] = {}

    @property
    def margin(self) -> float:
        """Half a 95 % interval of the accuracy, as if positions were independent."""
        return margin_of(self.card.metrics["accuracy"], self.card.metrics["rows"])


class Report(NamedTuple):
    """What a study says about its runs.

    Attributes:
        results: the runs, with figures.
        tables: Markdown printed after the table of all runs.
    """

    results: list[StudyResult]
    tables: Sequence[str] = ()


def plain_report(results: list[StudyResult], corpus: Corpus, folder: Path) -> Report:
    """Nothing but the runs themselves."""
    return Report(results)


class Study(NamedTuple):
    """A study.

    Attributes:
        plans: the plans of its runs by name, for a seed.
        report: takes the runs, the corpus and the folder for plots.
        draws: whether the report needs matplotlib.
    """

    plans: Callable[[int], Mapping[str, TrainingPlan]]
    report: Callable[[list[StudyResult], Corpus, Path], Report] = plain_report
    draws: bool = False


def margin_of(share: float, rows: float) -> float:
    """Half a 95 % interval of a share of rows.

    >>> round(margin_of(0.5, 10_000), 4)
    0.0098
    """
    return 1.96 * math.sqrt(share * (1.0 - share) / rows)
