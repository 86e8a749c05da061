"""Which tower to choose: accuracy at equal samples, and what a position costs in play."""

from __future__ import annotations

import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import numpy as np
import torch

from learning.corpus.reader import Corpus
from learning.studies.parts import SAMPLES, small_plan
from learning.studies.study import Report, Study, StudyResult
from learning.supervised.plan import TrainingPlan
from policies.checkpoint import load, network_of
from policies.device import choose_compute
from policies.features.table import KINDS, ONE
from policies.inference import Model
from policies.networks import Network

LONG: Final = 1_000_000
"""Samples of the longer runs."""
COST: Final = "microseconds"
"""Figure: microseconds of a core for a position in self-play, the least of several measurements."""

_RUNS: Final[Mapping[str, Mapping[str, Any]]] = {
    "residual 64×6": {"tower": "residual"},
    "pooled 64×6": {"tower": "pooled"},
    "suits 64×6": {},
    "suits 64×6, another seed": {"seed": 101},
    "suits 48×8": {"width": 48, "depth": 8},
    "suits 48×11": {"width": 48, "depth": 11},
    "suits 96×3": {"width": 96, "depth": 3},
    "suits 96×4": {"width": 96, "depth": 4},
    "suits 128×2": {"width": 128, "depth": 2},
    "suits 128×4": {"width": 128, "depth": 4},
    "suits 64×6, planes squeezed to 32": {"squeeze": 32},
    "suits 64×6, not normalised": {"normalised": False},
}
_LONGER: Final = ("residual 64×6", "pooled 64×6", "suits 64×6")
_ROUNDS: Final = 20


def _plans(seed: int) -> dict[str, TrainingPlan]:
    plans = {
        f"{name}, {SAMPLES:,}": small_plan(**{"seed": seed, **changes}) for name, changes in _RUNS.items()
    }
    longer = {
        f"{name}, {LONG:,}": small_plan(**{"seed": seed, "samples": LONG, **_RUNS[name]}) for name in _LONGER
    }
    return plans | longer


def _report(results: list[StudyResult], corpus: Corpus, folder: Path) -> Report:
    priced = price(results)
    lines = [
        "| run | top-1 | loss | µs a position | training samples/s |",
        "| --- | ---: | ---: | ---: | ---: |",
    ]
    for result in priced:
        metrics, training = result.card.metrics, result.card.training
        lines.append(
            f"| {result.name} | {metrics['accuracy']:.2%} | {metrics['loss']:.4f} "
            f"| {result.figures[COST][0]:.0f} | {training.samples / max(training.seconds, 0.1):,.0f} |"
        )
    return Report(priced, ("\n".join(lines),))


def price(results: list[StudyResult]) -> list[StudyResult]:
    """The results with what a position costs in play, measured in turns on one thread."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        models = [_model(Path(result.folder)) for result in results]
        best = [float("inf")] * len(models)
        for _ in range(_ROUNDS):
            for place, (model, planes) in enumerate(models):
                begun = time.perf_counter()
                model.scores(planes)
                best[place] = min(best[place], (time.perf_counter() - begun) / len(planes))
    finally:
        torch.set_num_threads(threads)
    return [
        StudyResult(result.name, result.folder, result.card, {**result.figures, COST: [1e6 * seconds]})
        for result, seconds in zip(results, best, strict=True)
    ]


def _model(folder: Path) -> tuple[Model, np.ndarray[Any, np.dtype[np.uint8]]]:
    """The network of a run as it plays, and planes for it."""
    checkpoint = load(folder, "discard")
    network = network_of(checkpoint)
    assert isinstance(network, Network)
    shape = (256, network.architecture.planes, KINDS)
    planes = np.random.default_rng(0).integers(0, 2, shape, np.uint8) * np.uint8(ONE)
    return Model(network, checkpoint.card.features, compute=choose_compute()), planes


STUDY: Final = Study(_plans, _report)
