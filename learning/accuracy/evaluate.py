"""`suzaku eval accuracy`: measures how often checkpoints agree with the players of real games."""

from __future__ import annotations

import platform
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple, get_args

import msgspec
import numpy as np
import torch

from game.errors import CheckpointMissing, ConfigError
from game.workers.ordered import default_workers
from learning.accuracy.answers import answers_of, heuristic_answers
from learning.accuracy.data import PARTS, EvaluatedPlayers, measured, opened, players_of
from learning.accuracy.report import AccuracyDifference, AccuracyReport, Baseline, ModelReport
from learning.accuracy.scores import RESAMPLES, Answers, Mask, cuts_of, interval_of, part_of, scores_of
from learning.corpus.layout import ROOMS
from learning.corpus.reader import Corpus
from learning.runs.progress import Progress
from learning.samples.positions import count
from learning.supervised.plan import Selection
from learning.supervised.samples_run import device_name
from policies.checkpoint import Card, describe, load, models_in, network_of
from policies.compute import IN_PLAY, Compute
from policies.features.table import looks_deep
from policies.included import SHIPPED
from policies.inference import Averaging, Model
from policies.networks import Network, parameters_of
from policies.slots import Slot

_EVENT: Final = "eval.progress"


class Settings(msgspec.Struct, frozen=True, kw_only=True):
    """Settings of a measurement.

    Attributes:
        checkpoints: folders of checkpoints; all others are compared with the first.
        models: models to measure; all that exist if empty.
        split: part of the corpus; if empty the test part, or everything for records.
        selection: filter for the players.
        games: number of matching games to draw; 0 for all.
        averaging: tile permutations to average over in each position.
        heuristic: decisions of each model to put to the rule-based player too; 0 for none.
        compute: how the networks compute.
        seed: seed of the games drawn, the decisions drawn and the intervals.
    """

    checkpoints: tuple[Path, ...] = (SHIPPED,)
    models: tuple[Slot, ...] = ()
    split: str = ""
    selection: Selection = Selection()
    games: int = 0
    averaging: Averaging = 1
    heuristic: int = 20_000
    compute: Compute = IN_PLAY
    seed: int = 0


def make_settings(
    *,
    checkpoints: Sequence[Path] = (),
    models: Sequence[str] = (),
    split: str = "",
    selection: Mapping[str, Any] | None = None,
    averaging: int = 1,
    **others: Any,
) -> Settings:
    """Make settings from the user's choices.

    Raises:
        ConfigError: a setting is not valid.
    """
    chosen = Selection(**(selection or {}))
    faults = [
        f"{name}: {found!r} is not one of {', '.join(map(str, known))}"
        for name, found, known in (
            ("split", split or "all", PARTS),
            ("permutations", averaging, get_args(Averaging)),
            *(("room", room, ROOMS) for room in chosen.rooms),
            *(("model", model, tuple(Slot)) for model in models),
        )
        if found not in known
    ]
    if faults:
        raise ConfigError("\n".join(faults))
    return Settings(
        checkpoints=tuple(checkpoints) or (SHIPPED,),
        models=tuple(Slot(model) for model in models),
        split=split,
        selection=chosen,
        averaging=averaging,  # type: ignore[arg-type]
        **others,
    )


class _LoadedNetwork(NamedTuple):
    folder: Path
    card: Card
    network: Network


def evaluate(paths: Sequence[Path], settings: Settings, *, quiet: bool = False) -> AccuracyReport:
    """Measure checkpoints on real games.

    Args:
        paths: the folder of a built corpus, or records, folders of them, shards.
        settings: settings of the measurement.
        quiet: show no progress.

    Raises:
        ConfigError: no decision matches.
        CheckpointError: a folder holds no checkpoint, or one that cannot be used.
        ReplayError: the corpus or the records cannot be read.
    """
    started = time.monotonic()
    found = _load_all(settings)
    reports: list[ModelReport] = []
    with opened(paths) as source:
        players = players_of(source, settings.split, settings.selection, settings.games, settings.seed)
        data = measured(source, players, settings.split, settings.selection)
        for slot, loaded in found.items():
            reports += _Evaluation(source.corpus, players, slot, settings, quiet=quiet).reports(loaded)
    if not reports:
        raise ConfigError(f"the {data.games} games hold no decision for {', '.join(found)}")
    return AccuracyReport(
        machine=f"{platform.machine()}, {default_workers()} cores, Python {platform.python_version()}, "
        f"torch {torch.__version__}",
        device=device_name(torch.device(settings.compute.device), default_workers()),
        precision=settings.compute.precision,
        seconds=round(time.monotonic() - started, 1),
        data=data,
        permutations=settings.averaging,
        seed=settings.seed,
        resamples=RESAMPLES,
        models=tuple(reports),
    )


class _Evaluation:
    """One slot: every decision is put to each checkpoint, and some to the rule-based player."""

    def __init__(
        self, corpus: Corpus, players: EvaluatedPlayers, slot: Slot, settings: Settings, *, quiet: bool
    ) -> None:
        self.corpus, self.players, self.slot = corpus, players, slot
        self.settings, self.quiet = settings, quiet
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
                parameters=parameters_of(each.network),
                rows=self.rows,
                seconds=round(seconds, 1),
                scores=scores_of(answers, self.slot, self.settings.seed),
                cuts=cuts_of(answers, self.slot, self.settings.seed),
                heuristic=self._baseline(rules, part_of(answers, chosen), rules_s) if rules else None,
                difference=self._difference(answers, first, loaded[0].folder) if first else None,
            )
            first = first or answers

    def _network_answers(self, loaded: _LoadedNetwork) -> Answers:
        card = loaded.card
        model = Model(loaded.network, card.features, card.without, self.settings.compute)
        title = f"{self.slot} {loaded.folder.name}"
        with Progress(_EVENT, title, "positions", total=self.rows, quiet=self.quiet) as progress:
            answers = answers_of(
                self.corpus,
                self.players,
                self.slot,
                model,
                deep=looks_deep(card.features, card.without),
                averaging=self.settings.averaging,
                workers=default_workers(),
                on_progress=progress.advance,
            )
        assert len(answers.place) == self.decisions
        return answers

    def _sample(self) -> Mask:
        """The decisions to put to the rule-based player."""
        wanted = min(self.settings.heuristic, self.decisions)
        chosen = np.zeros(self.decisions, np.bool_)
        rng = np.random.default_rng((self.settings.seed, 1))
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
        seed = self.settings.seed
        return Baseline(
            scores=scores_of(rules, self.slot, seed),
            cuts=cuts_of(rules, self.slot, seed),
            network=scores_of(network, self.slot, seed),
            seconds=round(seconds, 1),
        )

    def _difference(self, answers: Answers, first: Answers, folder: Path) -> AccuracyDifference:
        gained = (answers.place == 0).astype(np.int8) - (first.place == 0).astype(np.int8)
        return AccuracyDifference(
            str(folder), float(gained.mean()), interval_of(gained, answers.game, self.settings.seed)
        )


def _load_all(settings: Settings) -> Mapping[Slot, list[_LoadedNetwork]]:
    """The checkpoints to measure, by model.

    Raises:
        CheckpointError: there is none in a folder, or it cannot be used.
    """
    found: dict[Slot, list[_LoadedNetwork]] = {slot: [] for slot in Slot}
    for folder in settings.checkpoints:
        there = models_in(folder)
        wanted = settings.models or tuple(slot for slot in Slot if slot.value in there)
        if not wanted:
            advice = "give --checkpoints a folder that `suzaku train` has written"
            raise CheckpointMissing(folder, "card", f"no {'.json, '.join(Slot)}.json in this folder", advice)
        for slot in wanted:
            checkpoint = load(folder, slot)
            network = network_of(checkpoint)
            assert isinstance(network, Network)
            found[slot].append(_LoadedNetwork(folder, checkpoint.card, network))
    return {slot: loaded for slot, loaded in found.items() if loaded}
