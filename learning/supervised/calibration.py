"""Temperature scaling: how sure a model is, by how often players do what it finds likely.

Its scores are multiplied by the one factor that makes the players' answers likeliest. It chooses as before.

Source: Guo et al., On Calibration of Modern Neural Networks, arXiv:1706.04599, section 4.2.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Final

import msgspec
import numpy as np
from msgspec import Meta
from msgspec.structs import replace
from numpy.typing import NDArray

from kit.options import Count, flag
from kit.workers.ordered import default_workers
from learning.corpus.layout import Room
from learning.corpus.reader import Corpus
from learning.runs.progress import Progress
from learning.samples.loader import Loader
from learning.samples.positions import count
from learning.supervised.plan import Selection
from learning.supervised.samples_run import complete, described, selected
from policies.checkpoint import Card, load, network_of, save
from policies.features.table import looks_deep
from policies.flow.slots import Slot
from policies.nets.compute import Compute
from policies.nets.networks import Network, multiplied_answers
from policies.play.inference import Model

_BATCH: Final = 1024
_FACTORS: Final = (1e-2, 1e2)
_HALVINGS: Final = 40


class CalibrationPlan(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The decisions to compare a model with.

    Attributes:
        rooms: only games in this room; may be repeated; default: all rooms.
        least_rank: only players of at least this rank; 16 is 7-dan.
        player: only the player with this name.
        rows: stop after about this many positions of the validation split.
    """

    rooms: Annotated[tuple[Room, ...], flag("--room")] = ()
    least_rank: Annotated[int, Meta(le=100)] = -1
    player: str = ""
    rows: Count = 100_000


def calibrate(
    model: Slot,
    corpus: Corpus,
    start: Path,
    out: Path,
    plan: CalibrationPlan,
    *,
    ai: bool | None = None,
    quiet: bool = False,
) -> Card:
    """Calibrate a model; the other models in the folder are those of the start.

    Args:
        model: one of the five.
        corpus: the games.
        start: folder of the checkpoint.
        out: folder of the calibrated one.
        plan: the decisions.
        ai: only official AI accounts if true, only people if false.
        quiet: show no progress.

    Returns:
        The card of the calibrated checkpoint.

    Raises:
        ConfigError: no decision matches.
        CheckpointError: the checkpoint cannot be used.
    """
    checkpoint = load(start, model)
    network, card = network_of(checkpoint), checkpoint.card
    assert isinstance(network, Network)
    selection = Selection(rooms=plan.rooms, least_rank=plan.least_rank, player=plan.player, ai=ai)
    asked = Model(network, card.features, card.without, Compute("cpu", "fp32"))
    scores, answers = _scores(asked, model, corpus, selection, card, rows=plan.rows, quiet=quiet)
    factor = likeliest_factor(scores, answers)
    settings = {
        **card.training.settings,
        "sharpness": round(factor, 4),
        "sharpness_corpus": corpus.card["content_sha256"],
        "sharpness_players": described(selection),
    }
    metrics = {
        **card.metrics,
        "log_loss_before": log_loss(scores, answers),
        "log_loss": log_loss(scores * factor, answers),
    }
    calibrated = replace(
        card,
        training=replace(card.training, settings=settings),
        metrics=metrics,
        parents=(card.tensors.sha256,),
    )
    kept = save(out, calibrated, multiplied_answers(checkpoint.tensors, factor))
    complete(out, start)
    return kept


def _scores(
    asked: Model, slot: Slot, corpus: Corpus, selection: Selection, card: Card, *, rows: int, quiet: bool
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """``[N, K]`` scores, minus infinity where an answer is not possible, and ``[N]`` the players' answers."""
    choice = selected(selection, corpus, "validation")
    rows = min(rows, count(corpus, choice, slot).rows)
    loader = Loader(
        corpus,
        choice,
        slot,
        features=card.features,
        deep=looks_deep(card.features, card.without),
        batch_size=_BATCH,
        augment=False,
        workers=default_workers(),
    )
    scores: list[NDArray[np.float64]] = []
    answers: list[NDArray[np.int64]] = []
    batches = loader.epoch()
    with Progress("calibrate.progress", str(slot), "positions", total=rows, quiet=quiet) as progress:
        for batch in batches:
            found = asked.scores(batch.planes.numpy()).astype(np.float64)
            scores.append(found if batch.legal is None else np.where(batch.legal.numpy(), found, -np.inf))
            answers.append(batch.labels.numpy())
            progress.advance(len(found))
            if sum(map(len, answers)) >= rows:
                break
    batches.close()
    return np.concatenate(scores), np.concatenate(answers)


def log_loss(scores: NDArray[np.float64], answers: NDArray[np.int64]) -> float:
    """Mean of minus the logarithm of the answers' probabilities, in nats.

    Args:
        scores: ``[N, K]``, minus infinity where an answer is not possible.
        answers: ``[N]`` places of the answers that were given.
    """
    given = np.take_along_axis(scores, answers[:, None], 1)[:, 0]
    return float(np.mean(np.logaddexp.reduce(scores, axis=1) - given))


def likeliest_factor(scores: NDArray[np.float64], answers: NDArray[np.int64]) -> float:
    """The factor, from 0.01 to 100, by which the scores' `log_loss` is smallest.

    >>> scores = np.array([[2.0, 0.0]] * 4)
    >>> round(likeliest_factor(scores, np.array([0, 0, 0, 1])) * 2.0, 3)  # the logarithm of 3 to 1
    1.099
    """
    given = np.take_along_axis(scores, answers[:, None], 1)[:, 0]
    finite = np.where(np.isfinite(scores), scores, 0.0)
    low, high = _FACTORS
    for _ in range(_HALVINGS):
        factor = float(np.sqrt(low * high))
        logs = factor * scores
        chances = np.exp(logs - np.logaddexp.reduce(logs, axis=1)[:, None])
        # the loss is convex in the factor, and this is its derivative
        if float(np.mean((chances * finite).sum(axis=1) - given)) < 0.0:
            low = factor
        else:
            high = factor
    return float(np.sqrt(low * high))
