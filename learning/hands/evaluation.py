"""`suzaku eval hands`: compares predictions of hidden hands with the hands of real games."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Final

import msgspec
import numpy as np
from msgspec import Meta

from kit.errors import ConfigError
from kit.options import Count, NotNegative, Share, flag
from learning import plots
from learning.accuracy.data import GamesPlan, opened, players_of
from learning.hands.figures import (
    DangerFigures,
    ModelFigures,
    danger_figures,
    model_figures,
    shares_by_turn,
    true_shares,
)
from learning.hands.foresight import (
    HandDecisions,
    danger_by_rule,
    decisions_of,
    foreseen_by_samples,
    foreseen_directly,
)
from learning.samples.choice import ALL_PLAYERS, SelectedDecisions
from policies.checkpoint import HAND_MODELS, HandModel, models_in
from policies.hands.autoregressive import AutoregressiveSettings, load_autoregressive
from policies.hands.diffusion import DiffusionSettings, load_diffusion
from policies.hands.direct import DirectModel
from policies.hands.generation import Generator
from policies.nets.architectures import SHANTEN_CLASSES

_COLUMNS: Final = 2
_DIRECT: Final = "direct"


class HandsEvaluation(GamesPlan, frozen=True, kw_only=True):
    """A measurement of models of hands.

    Attributes:
        models: only this model; may be repeated.
        decisions: decisions at which hands are generated.
        discards: discards whose danger is predicted.
        hands: hands to generate for each opponent at each decision.
        steps: steps of the diffusion; default: those it was distilled for, or 12; may be repeated.
        noise: share of the noise of DDPM at each step; 0 is DDIM; default: 0 if distilled, else 1.
        guidance: strength of the diffusion's guidance.
        greedy: round greedily as in the paper, not all hands together.
        one_tile: autoregressive: ask the network for every tile, not for three.
        match_ready: make as many generated hands ready as the direct model expects.
    """

    models: Annotated[tuple[HandModel, ...], flag("--model")] = ()
    decisions: Annotated[int, Meta(ge=2)] = 1000
    discards: Annotated[int, Meta(ge=2)] = 50_000
    hands: Count = 100
    steps: tuple[Count, ...] = ()
    noise: Share | None = None
    guidance: NotNegative = 0.0
    greedy: bool = False
    one_tile: bool = False
    match_ready: bool = True

    @property
    def diffusion(self) -> tuple[DiffusionSettings, ...]:
        """Settings of the diffusion model, one for each number of steps."""
        return tuple(
            DiffusionSettings(
                steps=steps,
                noise=self.noise,
                guidance=self.guidance,
                rounding="greedy" if self.greedy else "together",
                match_ready=self.match_ready,
            )
            for steps in self.steps or (0,)
        )


class HandsReport(msgspec.Struct, frozen=True):
    """The results of a measurement.

    Attributes:
        split: part of the corpus.
        corpus: its content hash.
        games: number of games.
        decisions: decisions at which hands were generated.
        by_turn: ``[18, 7]`` true shares of the shanten, by turn.
        ready: true share of ready hands.
        four: true share of hands with four of a kind.
        models: figures of each model.
        danger: predicted deal-ins, by rule and by the direct heads.
    """

    split: str
    corpus: str
    games: int
    decisions: int
    by_turn: list[list[float]]
    ready: float
    four: float
    models: tuple[ModelFigures, ...]
    danger: tuple[DangerFigures, ...]


def evaluate_hands(
    data: Sequence[Path], folder: Path, plan: HandsEvaluation, *, quiet: bool = False
) -> HandsReport:
    """Measure models of hands.

    Args:
        data: a corpus, or records.
        folder: the models.
        plan: the measurement.
        quiet: show no progress.

    Raises:
        CheckpointError: a model cannot be used.
        ConfigError: the folder has none of the models, or no game matches.
        ReplayError: there is no corpus, or it cannot be read.
    """
    samplers, direct = _models(folder, plan)
    with opened(data) as source:
        games = players_of(source, plan).games
        choice = SelectedDecisions(games, np.full(len(games), ALL_PLAYERS, np.uint8))
        decisions = decisions_of(source.corpus, choice, plan.decisions, plan.seed)
        figures: list[ModelFigures] = []
        danger: tuple[DangerFigures, ...] = ()
        if direct is not None:
            figures.append(model_figures(_DIRECT, foreseen_directly(direct, decisions), decisions))
            many = decisions_of(source.corpus, choice, plan.discards, plan.seed)
            figures.append(model_figures(f"{_DIRECT}, more", foreseen_directly(direct, many), many))
            danger = _danger(direct, many)
        for name, load in samplers.items():
            found = foreseen_by_samples(load(), decisions, plan.hands, plan.seed, title=name, quiet=quiet)
            figures.append(model_figures(name, found, decisions))
        return HandsReport(
            split=plan.split or source.split,
            corpus=source.corpus.card["content_sha256"],
            games=len(games),
            decisions=len(decisions.players),
            by_turn=shares_by_turn(true_shares(decisions), decisions).tolist(),
            ready=float((decisions.hands.shanten == 0).mean()),
            four=float((decisions.hands.copies[:, 1:] == 4).any(2).mean()),
            models=tuple(figures),
            danger=danger,
        )


def _models(
    folder: Path, plan: HandsEvaluation
) -> tuple[Mapping[str, Callable[[], Generator]], DirectModel | None]:
    """A function that loads each sampler, by its name in the report, and the direct model."""
    there = models_in(folder)
    wanted = [name for name in HAND_MODELS if name in (plan.models or there)]
    if not wanted:
        raise ConfigError(f"{folder}: no model of hands; run `suzaku train hands`")
    samplers: dict[str, Callable[[], Generator]] = {}
    if "diffusion" in wanted:
        for diffusion in plan.diffusion:
            samplers[_named(diffusion)] = lambda how=diffusion: load_diffusion(folder, how)  # type: ignore[misc]
    if "autoregressive" in wanted:
        name = "autoregressive, one tile at a time" if plan.one_tile else "autoregressive"
        name += "" if plan.match_ready else ", ready not matched"
        tiles = AutoregressiveSettings(together=not plan.one_tile, match_ready=plan.match_ready)
        samplers[name] = lambda: load_autoregressive(folder, tiles)
    return samplers, DirectModel.load(folder) if _DIRECT in wanted else None


def _named(how: DiffusionSettings) -> str:
    """A diffusion sampler in words.

    >>> _named(DiffusionSettings(steps=4, noise=0.0, guidance=0.5, rounding="greedy"))
    'diffusion, 4 steps, noise 0, guidance 0.5, greedy'
    """
    said = [f"diffusion, {how.steps} steps" if how.steps else "diffusion"]
    if how.noise is not None:
        said.append(f"noise {how.noise:g}")
    if how.guidance:
        said.append(f"guidance {how.guidance:g}")
    if how.rounding == "greedy":
        said.append("greedy")
    if not how.match_ready:
        said.append("ready not matched")
    return ", ".join(said)


def _danger(direct: DirectModel, decisions: HandDecisions) -> tuple[DangerFigures, ...]:
    rows = np.arange(len(decisions.players))[:, None]
    found = direct.read(decisions.states, decisions.players)
    heads = found.deal_ins[rows, np.arange(3), decisions.discards[:, None]].astype(np.float64)
    return danger_figures(danger_by_rule(decisions), heads, decisions)


def save_plots(report: HandsReport, folder: Path) -> None:
    """Draw the shanten by turn and the calibration of waits, as SVG."""
    folder.mkdir(parents=True, exist_ok=True)
    shown = [each for each in report.models if not each.model.endswith("more")]
    truth = np.array(report.by_turn)
    drawing = plots.figure(10.0, 2.6 * (1 + len(shown)))
    axes = drawing.subplots(len(shown) + 1, 1, sharex=True)
    turns = np.arange(len(truth))
    axes[0].plot(turns, truth @ np.arange(SHANTEN_CLASSES), label="games", color="black")
    for each in shown:
        axes[0].plot(turns, np.array(each.by_turn) @ np.arange(SHANTEN_CLASSES), label=each.model)
    axes[0].set_ylabel("mean shanten")
    axes[0].legend(fontsize="small")
    for axis, each in zip(axes[1:], shown, strict=True):
        for offset, shares, strength in ((-0.2, truth, 0.45), (0.2, np.array(each.by_turn), 1.0)):
            below = np.zeros(len(turns))
            for shanten in range(SHANTEN_CLASSES):
                height = np.nan_to_num(shares[:, shanten])
                axis.bar(turns + offset, height, 0.38, below, color=f"C{shanten}", alpha=strength)
                below += height
        axis.set_ylabel(each.model, fontsize="small")
    axes[-1].set_xlabel("turn; shanten 0 at the bottom; left the games, right the model")
    plots.save(drawing, folder / "shanten.svg")
    drawing = plots.figure(8.0, 4.0)
    for axis, name in zip(drawing.subplots(1, _COLUMNS), ("curve", "scaled_curve"), strict=True):
        axis.plot((0, 1), (0, 1), ":", color="black")
        for each in shown:
            curve = np.array(getattr(each, name))
            used = curve[:, 0] > 0
            axis.plot(curve[used, 1], curve[used, 2], ".-", label=each.model)
        axis.set_xlabel("predicted share of waits" + (", after Platt scaling" if name != "curve" else ""))
        axis.set_ylabel("actual share")
        axis.legend(fontsize="small")
    plots.save(drawing, folder / "waits.svg")
