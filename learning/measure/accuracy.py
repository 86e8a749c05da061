"""`suzaku eval accuracy`: measures how often checkpoints agree with the players of real games."""

from __future__ import annotations

import itertools
import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Annotated, Final, NamedTuple

import msgspec
import numpy as np
import torch
from msgspec import Meta
from numpy.typing import NDArray

from kit.errors import CheckpointMissing, ConfigError
from kit.options import flag
from kit.workers.ordered import batches, default_workers
from learning.data.choice import SelectedDecisions, Selection
from learning.data.corpus import Corpus, Numbers
from learning.data.loader import Batch, Loader
from learning.data.positions import count
from learning.measure.games import GamesPlan, Measured, measured, opened, players_of
from learning.runs.measurement import report_text
from learning.runs.progress import Progress
from learning.runs.statistics import Estimate, Means
from policies.checkpoint.store import Checkpoint, load, models_in
from policies.features.table import looks_deep
from policies.flow.slots import Slot
from policies.nets.architectures import YES, YES_NO
from policies.nets.compute import IN_PLAY, Compute, Precision
from policies.play.inference import Averaging, Model

SUPHX: Final = {Slot.DISCARD: 0.767, Slot.RIICHI: 0.857, Slot.CHI: 0.95, Slot.PON: 0.919, Slot.KAN: 0.94}
"""Agreement of its models with players of the Phoenix room; Suphx, arXiv:2003.13590, table 3."""
_BATCH: Final = 1024
_COLUMNS: Final = ("model", "checkpoints", "permutations", "decisions", "top-1 %", "Suphx %", "difference")


class AccuracyPlan(GamesPlan, frozen=True, kw_only=True):
    """A measurement of checkpoints.

    Attributes:
        models: only this model; may be repeated.
        least_rank: only players of at least this rank; 16 is 7-dan.
        player: only the player with this name.
        ai: only official AI accounts if true, only people if false.
        permutations: tile permutations to average over in each position; may be repeated.
        compute: how the networks compute.
    """

    models: Annotated[tuple[Slot, ...], flag("--model")] = ()
    least_rank: Annotated[int, Meta(le=100)] = -1
    player: str = ""
    ai: bool | None = None
    permutations: tuple[Averaging, ...] = (1,)
    compute: Compute = IN_PLAY

    @property
    def selection(self) -> Selection:
        """The players."""
        return Selection(rooms=self.rooms, least_rank=self.least_rank, player=self.player, ai=self.ai)


class Agreement(msgspec.Struct, frozen=True, kw_only=True):
    """How often a checkpoint agrees with the players.

    Attributes:
        model: one of the five models.
        folder: its folder.
        weights: hash of its file of weights.
        permutations: tile permutations averaged over in each position.
        decisions: number of decisions.
        top1: share in which its likeliest answer is the player's; for chi, pon and kan with the same tiles.
        difference: from the model's first row, on the same decisions; None for that one itself.
        suphx: Suphx's share, on its own test games.
    """

    model: Slot
    folder: str
    weights: str
    permutations: int
    decisions: int
    top1: Estimate
    difference: Estimate | None
    suphx: float


class AccuracyReport(msgspec.Struct, frozen=True, kw_only=True):
    """Results of `suzaku eval accuracy`.

    Attributes:
        models: by model, by folder, and by permutations.
        data: the games.
        precision: type of the operands of the networks' products.
        seed: seed of the choice of games.
        seconds: duration.
    """

    models: tuple[Agreement, ...]
    data: Measured
    precision: Precision
    seed: int
    seconds: float

    def __str__(self) -> str:
        """The report for people."""
        first = self.models[0]
        plan = f"{self.data}; {self.precision}, seed {self.seed}, {self.seconds:.0f} s"
        verdict = (
            f"{first.folder} chooses what the player chose in {first.top1.text(2, 100.0)} % of "
            f"{first.decisions:,} {first.model} decisions; Suphx: {100.0 * first.suphx:.1f} %"
        )
        return report_text((verdict, *self._compared()), _COLUMNS, map(_cells, self.models), plan)

    def _compared(self) -> Iterator[str]:
        """How each other checkpoint differs, in words."""
        for folder, permutations in dict.fromkeys((row.folder, row.permutations) for row in self.models):
            found: dict[str, list[str]] = {}
            for row in self.models:
                if row.difference is not None and (row.folder, row.permutations) == (folder, permutations):
                    verdict = row.difference.verdict("more often", "less often")
                    found.setdefault(verdict, []).append(row.model)
            if found:
                text = "; ".join(f"{verdict} in {', '.join(models)}" for verdict, models in found.items())
                yield f"{folder}, permutations {permutations}: {text}"


def _cells(row: Agreement) -> tuple[str, ...]:
    difference = "" if row.difference is None else row.difference.text(2, 100.0)
    top1, suphx = row.top1.text(2, 100.0), f"{100.0 * row.suphx:.1f}"
    return row.model, row.folder, f"{row.permutations}", f"{row.decisions:,}", top1, suphx, difference


def evaluate(
    paths: Sequence[Path], checkpoints: Sequence[Path], plan: AccuracyPlan, *, quiet: bool = False
) -> AccuracyReport:
    """Measure checkpoints on real games.

    Args:
        paths: the folder of a built corpus, or records, folders of them, shards.
        checkpoints: folders; all others are compared with the first.
        plan: the measurement.
        quiet: show no progress.

    Raises:
        ConfigError: no decision matches.
        CheckpointError: a folder holds no checkpoint, or one that cannot be used.
        ReplayError: the corpus or the records cannot be read.
    """
    started = time.monotonic()
    found = _load_all(checkpoints, plan.models)
    with opened(paths) as source:
        players = players_of(source, plan)
        data = measured(source, players, plan)
        rows = [
            row
            for slot, loaded in found.items()
            for row in _agreements(source.corpus, players, slot, loaded, plan, quiet=quiet)
        ]
    if not rows:
        raise ConfigError(f"the {data.games} games hold no decision for {', '.join(found)}")
    seconds = round(time.monotonic() - started, 1)
    return AccuracyReport(
        models=tuple(rows), data=data, precision=plan.compute.precision, seed=plan.seed, seconds=seconds
    )


def _load_all(folders: Sequence[Path], models: Sequence[Slot]) -> Mapping[Slot, dict[Path, Checkpoint]]:
    """The checkpoints to measure, by model and folder.

    Raises:
        CheckpointError: there is none in a folder, or it cannot be used.
    """
    found: dict[Slot, dict[Path, Checkpoint]] = {slot: {} for slot in Slot}
    for folder in folders:
        there = models_in(folder)
        wanted = models or tuple(slot for slot in Slot if slot.value in there)
        if not wanted:
            advice = "give --checkpoints a folder that `suzaku train` has written"
            raise CheckpointMissing(folder, "card", f"no {'.json, '.join(Slot)}.json in this folder", advice)
        for slot in wanted:
            found[slot][folder] = load(folder, slot)
    return {slot: loaded for slot, loaded in found.items() if loaded}


def _agreements(
    corpus: Corpus,
    players: SelectedDecisions,
    slot: Slot,
    loaded: Mapping[Path, Checkpoint],
    plan: AccuracyPlan,
    *,
    quiet: bool,
) -> Iterator[Agreement]:
    """A row for each checkpoint of one model, if there are decisions."""
    total = count(corpus, players, slot).rows
    first: NDArray[np.bool_] | None = None
    for (folder, checkpoint), averaging in itertools.product(
        loaded.items() if total else (), plan.permutations
    ):
        card = checkpoint.card
        model = Model(checkpoint.weights, card.features, card.without, plan.compute)
        deep = looks_deep(card.features, card.without)
        title = f"{slot} {folder.name}"
        with Progress("eval.progress", title, "positions", total=total, quiet=quiet) as progress:
            loader = Loader(
                corpus,
                players,
                slot,
                features=model.features,
                deep=deep,
                batch_size=_BATCH,
                augment=False,
                moments=True,
                workers=default_workers(),
            )
            games, right = _agreed(loader, model, averaging, progress)
        first = right if first is None else first
        means = Means(games, right, right.astype(np.int8) - first)
        yield Agreement(
            model=slot,
            folder=str(folder),
            weights=card.tensors.sha256,
            permutations=averaging,
            decisions=len(right),
            top1=means[0],
            difference=None if right is first else means[1],
            suphx=SUPHX[slot],
        )


class _Rows(NamedTuple):
    """Candidates: their decisions and games, the log-odds of yes, and whether they happened."""

    decision: Numbers
    game: Numbers
    margin: NDArray[np.float64]
    happened: NDArray[np.bool_]


def _agreed(
    loader: Loader, model: Model, averaging: Averaging, progress: Progress
) -> tuple[Numbers, NDArray[np.bool_]]:
    """The game of each decision, ordered by the loader's numbers, and whether the answers are the same."""

    def judged(batch: Batch) -> _Rows:
        assert batch.moments is not None
        logits, labels = model.scores(batch.planes.numpy(), averaging), batch.labels.numpy()
        margin, happened = np.ones(len(labels)), labels == YES
        if logits.shape[1] == YES_NO:
            margin = np.diff(logits.astype(np.float64))[:, 0]
        else:
            legal = True if batch.legal is None else batch.legal.numpy()
            happened = np.where(legal, logits, -np.inf).argmax(1) == labels
        return _Rows(batch.decision.numpy(), batch.moments.game, margin, happened)

    parts: list[_Rows] = []
    # each thread computes on one core: small products gain nothing from two
    with ThreadPoolExecutor(loader.workers, "accuracy", torch.set_num_threads, (1,)) as pool:
        for some in batches(loader.epoch(), loader.workers):
            parts += pool.map(judged, some)
            progress.advance(sum(len(batch.labels) for batch in some))
    rows = _Rows(*map(np.concatenate, zip(*parts, strict=True)))
    order = np.lexsort((-rows.margin, rows.decision))
    begins = np.unique(rows.decision[order], return_index=True)[1]
    likeliest = order[begins]
    taken = np.logical_or.reduceat(rows.happened[order], begins)
    right = np.where(rows.margin[likeliest] > 0.0, rows.happened[likeliest], ~taken)
    return rows.game[likeliest], right
