"""`suzaku eval accuracy`: measures how often checkpoints agree with the players of real games."""

from __future__ import annotations

import platform
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Final, NamedTuple

import numpy as np
import torch
from msgspec import Meta

from kit.errors import CheckpointMissing, ConfigError
from kit.options import Count, flag
from kit.workers.ordered import default_workers
from learning.accuracy.answers import answers_of, heuristic_answers
from learning.accuracy.data import EvaluatedPlayers, GamesPlan, measured, opened, players_of
from learning.accuracy.report import AccuracyDifference, AccuracyReport, Baseline, ModelReport
from learning.accuracy.scores import RESAMPLES, Answers, Mask, cuts_of, interval_of, part_of, scores_of
from learning.corpus.reader import Corpus
from learning.runs.progress import Progress
from learning.samples.positions import count
from learning.supervised.plan import Selection
from learning.supervised.samples_run import device_name
from policies.checkpoint import Card, describe, load, models_in
from policies.features.table import looks_deep
from policies.flow.slots import Slot
from policies.nets.architectures import Weights, parameters_of
from policies.nets.compute import IN_PLAY, Compute
from policies.play.inference import Averaging, Model

_EVENT: Final = "eval.progress"


class AccuracyPlan(GamesPlan, frozen=True, kw_only=True):
    """A measurement of checkpoints.

    Attributes:
        models: only this model; may be repeated.
        least_rank: only players of at least this rank; 16 is 7-dan.
        player: only the player with this name.
        ai: only official AI accounts if true, only people if false.
        permutations: tile permutations to average over in each position.
        heuristic: also evaluate the rule-based player.
        heuristic_decisions: decisions per model to sample for the rule-based player.
        compute: how the networks compute.
    """

    models: Annotated[tuple[Slot, ...], flag("--model")] = ()
    least_rank: Annotated[int, Meta(le=100)] = -1
    player: str = ""
    ai: bool | None = None
    permutations: Averaging = 1
    heuristic: bool = True
    heuristic_decisions: Count = 20_000
    compute: Compute = IN_PLAY

    @property
    def selection(self) -> Selection:
        """The players."""
        return Selection(rooms=self.rooms, least_rank=self.least_rank, player=self.player, ai=self.ai)


class _LoadedNetwork(NamedTuple):
    folder: Path
    card: Card
    weights: Weights


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
    reports: list[ModelReport] = []
    with opened(paths) as source:
        players = players_of(source, plan)
        data = measured(source, players, plan)
        for slot, loaded in found.items():
            reports += _Evaluation(source.corpus, players, slot, plan, quiet=quiet).reports(loaded)
    if not reports:
        raise ConfigError(f"the {data.games} games hold no decision for {', '.join(found)}")
    return AccuracyReport(
        machine=f"{platform.machine()}, {default_workers()} cores, Python {platform.python_version()}, "
        f"torch {torch.__version__}",
        device=device_name(torch.device(plan.compute.device), default_workers()),
        precision=plan.compute.precision,
        seconds=round(time.monotonic() - started, 1),
        data=data,
        permutations=plan.permutations,
        seed=plan.seed,
        resamples=RESAMPLES,
        models=tuple(reports),
    )


class _Evaluation:
    """One slot: every decision is put to each checkpoint, and some to the rule-based player."""

    def __init__(
        self, corpus: Corpus, players: EvaluatedPlayers, slot: Slot, plan: AccuracyPlan, *, quiet: bool
    ) -> None:
        self.corpus, self.players, self.slot = corpus, players, slot
        self.plan, self.quiet = plan, quiet
        counts = [count(corpus, choice, slot) for choice in players]
        self.rows = sum(each.rows for each in counts)
        self.decisions = sum(each.decisions for each in counts)

    def reports(self, loaded: Sequence[_LoadedNetwork]) -> Iterator[ModelReport]:
        """One report per checkpoint, if there are decisions."""
        if not self.decisions:
            return
        first: Answers | None = None
        rules: Answers | None = None
        rules_s = 0.0
        chosen = self._sample()
        for each in loaded:
            begun = time.monotonic()
            answers = self._network_answers(each)
            seconds = time.monotonic() - begun
            if rules is None and chosen.any():
                begun = time.monotonic()
                rules = self._heuristic_answers(answers, chosen)
                rules_s = time.monotonic() - begun
            yield ModelReport(
                folder=str(each.folder),
                model=each.card.model,
                weights=each.card.tensors.sha256,
                card=each.card.card_sha256,
                described=describe(each.card),
                parameters=sum(array.size for array in parameters_of(each.weights.arrays).values()),
                rows=self.rows,
                seconds=round(seconds, 1),
                scores=scores_of(answers, self.slot, self.plan.seed),
                cuts=cuts_of(answers, self.slot, self.plan.seed),
                heuristic=self._baseline(rules, part_of(answers, chosen), rules_s) if rules else None,
                difference=self._difference(answers, first, loaded[0].folder) if first else None,
            )
            first = first or answers

    def _network_answers(self, loaded: _LoadedNetwork) -> Answers:
        card = loaded.card
        model = Model(loaded.weights, card.features, card.without, self.plan.compute)
        title = f"{self.slot} {loaded.folder.name}"
        with Progress(_EVENT, title, "positions", total=self.rows, quiet=self.quiet) as progress:
            answers = answers_of(
                self.corpus,
                self.players,
                self.slot,
                model,
                deep=looks_deep(card.features, card.without),
                averaging=self.plan.permutations,
                workers=default_workers(),
                on_progress=progress.advance,
            )
        assert len(answers.place) == self.decisions
        return answers

    def _sample(self) -> Mask:
        """The decisions to put to the rule-based player."""
        wanted = min(self.plan.heuristic_decisions if self.plan.heuristic else 0, self.decisions)
        chosen = np.zeros(self.decisions, np.bool_)
        rng = np.random.default_rng((self.plan.seed, 1))
        chosen[rng.choice(self.decisions, wanted, replace=False)] = True
        return chosen

    def _heuristic_answers(self, answers: Answers, chosen: Mask) -> Answers:
        total = int(chosen.sum())
        title = f"{self.slot} heuristic"
        with Progress(_EVENT, title, "decisions", total=total, quiet=self.quiet) as progress:
            return heuristic_answers(
                self.corpus, self.players, self.slot, answers, chosen, on_progress=progress.advance
            )

    def _baseline(self, rules: Answers, network: Answers, seconds: float) -> Baseline:
        seed = self.plan.seed
        return Baseline(
            scores=scores_of(rules, self.slot, seed),
            cuts=cuts_of(rules, self.slot, seed),
            network=scores_of(network, self.slot, seed),
            seconds=round(seconds, 1),
        )

    def _difference(self, answers: Answers, first: Answers, folder: Path) -> AccuracyDifference:
        gained = (answers.place == 0).astype(np.int8) - (first.place == 0).astype(np.int8)
        return AccuracyDifference(
            str(folder), float(gained.mean()), interval_of(gained, answers.game, self.plan.seed)
        )


def _load_all(folders: Sequence[Path], models: Sequence[Slot]) -> Mapping[Slot, list[_LoadedNetwork]]:
    """The checkpoints to measure, by model.

    Raises:
        CheckpointError: there is none in a folder, or it cannot be used.
    """
    found: dict[Slot, list[_LoadedNetwork]] = {slot: [] for slot in Slot}
    for folder in folders:
        there = models_in(folder)
        wanted = models or tuple(slot for slot in Slot if slot.value in there)
        if not wanted:
            advice = "give --checkpoints a folder that `suzaku train` has written"
            raise CheckpointMissing(folder, "card", f"no {'.json, '.join(Slot)}.json in this folder", advice)
        for slot in wanted:
            checkpoint = load(folder, slot)
            found[slot].append(_LoadedNetwork(folder, checkpoint.card, checkpoint.weights))
    return {slot: loaded for slot, loaded in found.items() if loaded}
