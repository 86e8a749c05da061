"""The comparison of Hosei's paper: its network and its base model, at its number of games and at more.

The paper learns from 61,011 discards, ten times over, and guesses that more passes and more games would
help. So each network learns from as many discards ten, five and thirty times, and once from all games. At the
paper's 512 filters a position costs seventeen times as much as at 32; those runs have 32 too.

As in the paper: batches of 64, a validation of 15,046 discards (and the rest of a batch), a test of 11,966.
Unlike in the paper: games of the Phoenix room, not of ten players; illegal discards are left out of the
answers; the learning rate, which the paper does not state, falls from 0.001 to 0; the best epoch on the
validation is kept.

Source: Mizuguchi and Fujita, "Learning behavioral models of mahjong players with enhanced convolution",
section 3, table 1 and figures 2 to 4.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray

from game.errors import ConfigError
from game.tiles import KINDS
from learning.corpus.reader import Corpus
from learning.runs.loop import RUNS_FOLDER
from learning.runs.state import CURVES_FOLDER, Curve, read_curves
from learning.samples.choice import choose
from learning.samples.loader import Batch, Loader
from learning.samples.positions import first_games
from learning.studies.plots import figure, save
from learning.studies.study import PHOENIX, Report, Study, StudyResult, margin_of
from learning.supervised.imitation import allowed
from learning.supervised.plan import TrainingPlan, make_plan
from policies.checkpoint import load, network_of
from policies.networks import as_input
from policies.slots import Slot

SAMPLES: Final = 61_011
VALIDATION_ROWS: Final = 15_046
TEST_ROWS: Final = 11_966
"""Numbers of discards of the paper."""
NARROW: Final = 32
"""Filters of the first layer where the paper's 512 take too long."""
CHOICES: Final = 3
"""The accuracy counts a discard among the first one, two and three choices."""
LOSSES_FILE: Final = "losses.svg"
DISCARDS_FILE: Final = "discards.svg"

_TRAINING, _VALIDATION = "training/loss", "validation/loss"
_POINTS: Final = 60
"""Points of a drawn curve; each is the mean of those between."""
_BATCH: Final = 512

_SETTINGS: Final[dict[str, Any]] = {
    "batch_size": 64,
    "precision": "fp32",
    "weight_decay": 0.0,
    "averaging": 0.0,
    "augment": False,
    "validation_rows": VALIDATION_ROWS,
}
_SHORT: Final[dict[str, Any]] = {
    "selection": {"rooms": PHOENIX, "decisions": SAMPLES},
    "validate_every": SAMPLES,
}
_BASE: Final = {"tower": "hosei-base"}
_NARROW: Final = {"tower": "hosei", "width": NARROW}
_PAPER: Final = {"tower": "hosei"}
_ALL: Final[dict[str, Any]] = {"selection": {"rooms": PHOENIX}, "validate_every": 500_000}

_RUNS: Final[dict[str, dict[str, Any]]] = {
    "base, 10 epochs": {**_BASE, **_SHORT, "passes": 10.0},
    "32 filters, 10 epochs": {**_NARROW, **_SHORT, "passes": 10.0},
    "512 filters, 10 epochs": {**_PAPER, **_SHORT, "passes": 10.0},
    "base, 5 epochs": {**_BASE, **_SHORT, "passes": 5.0},
    "32 filters, 5 epochs": {**_NARROW, **_SHORT, "passes": 5.0},
    "base, 30 epochs": {**_BASE, **_SHORT, "passes": 30.0},
    "32 filters, 30 epochs": {**_NARROW, **_SHORT, "passes": 30.0},
    "base, all games": {**_BASE, **_ALL},
    "32 filters, all games": {**_NARROW, **_ALL},
    "512 filters, all games": {**_PAPER, **_ALL},
}
"""The first three are the paper's comparison, and the same with fewer filters."""

_CLASSES: Final[dict[str, tuple[int, ...]]] = {
    "1, 9": tuple(kind for kind in range(27) if kind % 9 in (0, 8)),
    "2, 8": tuple(kind for kind in range(27) if kind % 9 in (1, 7)),
    "3 to 7": tuple(kind for kind in range(27) if 2 <= kind % 9 <= 6),
    "winds": tuple(range(27, 31)),
    "dragons": tuple(range(31, KINDS)),
}
_LETTERS: Final = [f"{rank}{suit}" for suit in "mps" for rank in range(1, 10)] + [
    f"{rank}z" for rank in range(1, 8)
]


class AnswerCounts(NamedTuple):
    """What a network answers to the test.

    Attributes:
        right: ``[3]``, shares of the discards among the first one, two and three choices.
        true: ``[34]``, discards of the players.
        predicted: ``[34]``, first choices.
    """

    right: NDArray[np.float64]
    true: NDArray[np.int64]
    predicted: NDArray[np.int64]


def test_batches(corpus: Corpus, features: str, rows: int = TEST_ROWS) -> list[Batch]:
    """Discards of the test split, always the same.

    Raises:
        ConfigError: there are none.
    """
    games = corpus.select(split="test")
    choice = first_games(corpus, choose(corpus, games, rooms=PHOENIX), Slot.DISCARD, rows)
    if not len(choice.games):
        raise ConfigError(f"no game of the test split is of the room {PHOENIX[0]}")
    loader = Loader(corpus, choice, features=features, batch_size=_BATCH, augment=False)
    batches, left = [], rows
    for batch in loader.epoch():
        batches.append(_first_rows(batch, left))
        left -= len(batch.labels)
        if left <= 0:
            break
    return batches


@torch.no_grad()
def answers_of(network: torch.nn.Module, batches: Sequence[Batch]) -> AnswerCounts:
    """Ask a network for the discards of a test."""
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    network = network.to(device)
    right = np.zeros(CHOICES)
    true, predicted = np.zeros(KINDS, np.int64), np.zeros(KINDS, np.int64)
    for batch in batches:
        scores = allowed(network(as_input(batch.planes.to(device))), batch)
        chosen = scores.topk(CHOICES).indices.cpu()
        hits = (chosen == batch.labels[:, None]).cumsum(1)
        right += hits.sum(0).numpy()
        true += np.bincount(batch.labels.numpy(), minlength=KINDS)
        predicted += np.bincount(chosen[:, 0].numpy(), minlength=KINDS)
    return AnswerCounts(right / max(1, int(true.sum())), true, predicted)


def _plans(seed: int) -> dict[str, TrainingPlan]:
    return {name: make_plan("discard", **_SETTINGS, **changes, seed=seed) for name, changes in _RUNS.items()}


def _report(results: list[StudyResult], corpus: Corpus, folder: Path) -> Report:
    batches = test_batches(corpus, results[0].card.features)
    measured, curves = [], []
    for result in results:
        place = Path(result.folder)
        found = answers_of(network_of(load(place, Slot.DISCARD)), batches)
        curves.append(read_curves(place / RUNS_FOLDER / Slot.DISCARD / CURVES_FOLDER))
        figures = {name: values.tolist() for name, values in found._asdict().items()}
        measured.append(StudyResult(result.name, result.folder, result.card, figures))
    draw_losses(measured, curves, folder / LOSSES_FILE)
    draw_discards(measured, folder / DISCARDS_FILE)
    return Report(measured, (_accuracy_table(measured, curves), _discards_table(measured)))


def _first_rows(batch: Batch, rows: int) -> Batch:
    assert batch.legal is not None, "these are discards"
    return batch._replace(planes=batch.planes[:rows], labels=batch.labels[:rows], legal=batch.legal[:rows])


# --- tables -------------------------------------------------------------------------------------------------


def _accuracy_table(results: Sequence[StudyResult], curves: Sequence[dict[str, Curve]]) -> str:
    """The paper's table 1, and where the losses end."""
    lines = [
        "| run | test top-1 | top-2 | top-3 | training loss at the end | lowest validation loss | at epoch |",
        "| --- | ---: | ---: | ---: | ---: | ---: | ---: |",
    ]
    for result, curve in zip(results, curves, strict=True):
        first, second, third = result.figures["right"]
        lowest = min(curve[_VALIDATION], key=lambda point: point[1])
        training = _thinned(curve[_TRAINING])[-1][1]
        epoch = lowest[0] / result.card.training.steps * result.card.training.epochs
        rows = sum(result.figures["true"])
        lines.append(
            f"| {result.name} | {first:.2%} ± {margin_of(first, rows):.2%} | {second:.2%} | {third:.2%} | "
            f"{training:.3f} | {lowest[1]:.3f} | {epoch:.1f} of {result.card.training.epochs:.1f} |"
        )
    return "\n".join(lines)


def _discards_table(results: Sequence[StudyResult]) -> str:
    """The paper's figures 3 and 4, the suits together."""
    columns = [("players", results[0].figures["true"])]
    columns += [(result.name, result.figures["predicted"]) for result in results]
    lines = [
        f"| first choices | {' | '.join(name for name, _ in columns)} |",
        f"| --- |{' ---: |' * len(columns)}",
    ]
    for name, kinds in _CLASSES.items():
        shares = [sum(counts[kind] for kind in kinds) / sum(counts) for _, counts in columns]
        lines.append(f"| {name} | {' | '.join(f'{share:.1%}' for share in shares)} |")
    return "\n".join(lines)


# --- plots --------------------------------------------------------------------------------------------------


def draw_losses(results: Sequence[StudyResult], curves: Sequence[dict[str, Curve]], path: Path) -> None:
    """Draw the losses over the epochs, as SVG: training as lines, validation as points."""
    drawing = figure(7.2, 4.4)
    axes = drawing.subplots()
    for number, (result, curve) in enumerate(zip(results, curves, strict=True)):
        an_epoch = result.card.training.steps / result.card.training.epochs
        colour = f"C{number}"
        for name, style in ((_TRAINING, "-"), (_VALIDATION, "o")):
            points = _thinned(curve[name]) if name == _TRAINING else curve[name]
            axes.plot(
                [step / an_epoch for step, _ in points],
                [loss for _, loss in points],
                style,
                color=colour,
                markersize=3,
                label=result.name if name == _TRAINING else None,
            )
    axes.set_xlabel("epochs (lines: training, points: validation)")
    axes.set_ylabel("loss, nats")
    axes.grid(alpha=0.3)
    axes.legend()
    save(drawing, path)


def draw_discards(results: Sequence[StudyResult], path: Path) -> None:
    """Draw the distributions of true and predicted discards, one panel a run, as SVG."""
    drawing = figure(8.0, 2.0 * len(results))
    panels = drawing.subplots(len(results), sharex=True, squeeze=False)[:, 0]
    places = np.arange(KINDS)
    for axes, result in zip(panels, results, strict=True):
        for name, offset in (("true", -0.2), ("predicted", 0.2)):
            counts = np.array(result.figures[name])
            axes.bar(places + offset, 100 * counts / counts.sum(), 0.4, label=name)
        axes.set_title(result.name, fontsize="small")
        axes.set_ylabel("%")
    panels[0].legend(fontsize="small")
    panels[-1].set_xticks(places, _LETTERS, rotation=90, fontsize="small")
    save(drawing, path)


def _thinned(points: Curve) -> Curve:
    """A curve of at most `_POINTS` points, each the mean of several."""
    parts = np.array_split(np.array(points), min(_POINTS, len(points)))
    return [(int(part[-1, 0]), float(part[:, 1].mean())) for part in parts]


STUDY: Final = Study(_plans, _report, draws=True)
