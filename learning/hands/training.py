"""Training of the three models of opponents' hands."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final

from game.errors import ConfigError
from learning.corpus.reader import Corpus
from learning.hands.direct import DirectRun
from learning.hands.generators import AutoregressiveRun, DiffusionRun, DistillationRun
from learning.hands.plan import HandsPlan
from learning.supervised.run import Parent
from learning.supervised.samples_run import kept
from policies.checkpoint import Card, HandModel
from policies.slots import Slot

_RUNS: Final[Mapping[HandModel, Callable[..., DirectRun | DiffusionRun | AutoregressiveRun]]] = {
    "direct": DirectRun,
    "diffusion": DiffusionRun,
    "autoregressive": AutoregressiveRun,
}


def parent_of(plan: HandsPlan, continue_from: Path | None, tower_from: Path | None) -> Parent | None:
    """The checkpoint to begin from, according to the user's flags.

    Raises:
        ConfigError: both flags are given, or a generator is not told whose tower it has.
    """
    if continue_from is not None and tower_from is not None:
        raise ConfigError("--continue-from and --tower-from: give only one of them")
    if plan.distil and continue_from is None:
        raise ConfigError("--continue-from: give the folder of the diffusion model to distil")
    if continue_from is not None:
        return Parent(continue_from, plan.model)
    if plan.model == "direct":
        return None if tower_from is None else Parent(tower_from, Slot.DISCARD)
    if tower_from is None:
        raise ConfigError("--tower-from: give the folder of a direct model, whose tower sees the state")
    return Parent(tower_from, "direct")


def train_hands(
    plan: HandsPlan,
    corpus: Corpus,
    out: Path,
    *,
    parent: Parent | None = None,
    commit: str = "",
    quiet: bool = False,
) -> Card:
    """Train a model of hands, or resume an interrupted run.

    Args:
        plan: the training settings.
        corpus: the games.
        out: folder of the checkpoint; the run's state and curves are in its subfolder ``runs/<model>``.
        parent: the checkpoint to begin from, or whose tower to take; new weights if None.
        commit: commit of the code, for the card.
        quiet: show no progress.

    Returns:
        The card of the kept checkpoint.

    Raises:
        BotError: as in `learning.supervised.samples_run.kept`.
    """
    begin = DistillationRun if plan.distil else _RUNS[plan.model]
    return kept(lambda: begin(plan, corpus, out, parent, commit), quiet=quiet)
