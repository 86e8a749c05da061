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
from learning.data.choice import ALL_PLAYERS, SelectedDecisions
from learning.measure.games import GamesPlan, Measured, measured, opened, players_of
from learning.measure.hands_figures import (
    ModelFigures,
    decisions_of,
    model_figures,
    predicted_by_samples,
    predicted_directly,
    shares_by_turn,
    true_shares,
)
from learning.runs import plots
from learning.runs.measurement import report_text
from policies.checkpoint.card import HAND_MODELS, HandModel
from policies.checkpoint.store import models_in
from policies.hands.autoregressive import AutoregressiveSettings, load_autoregressive
from policies.hands.diffusion import DiffusionSettings, load_diffusion
from policies.hands.direct import DirectModel
from policies.hands.generation import Generator
from policies.nets.architectures import SHANTEN_CLASSES

_DIRECT: Final = "direct"
_PAPER: Final = {
    "direct": ("0.86 ± 0.64", "0.00080"),
    "diffusion": ("1.00 ± 0.75", "0.00188"),
    "autoregressive": ("1.03 ± 0.78", "0.00390"),
}
"""L2 error of shanten and calibration error of waits in the paper (`learning.measure.hands_figures`)."""
_COLUMNS: Final = (
    "model",
    "L2 of shanten ± deviation",
    "paper",
    "ready %",
    "waits: ECE",
    "after Platt",
    "paper",
    "hands/s",
)


class HandsEvaluation(GamesPlan, frozen=True, kw_only=True):
    """A measurement of models of hands.

    Attributes:
        models: only this model; may be repeated.
        decisions: decisions at which hands are predicted.
        hands: hands to generate for each opponent at each decision.
        steps: steps of the diffusion; default: those it was distilled for, or 12; may be repeated.
        noise: share of the noise of DDPM at each step; 0 is DDIM; default: 0 if distilled, else 1.
        guidance: strength of the diffusion's guidance.
        greedy: round greedily as in the paper, not all hands together.
        one_tile: autoregressive: ask the network for every tile, not for three.
        match_ready: make as many generated hands ready as the direct model predicts.
    """

    models: Annotated[tuple[HandModel, ...], flag("--model")] = ()
    decisions: Annotated[int, Meta(ge=2)] = 1000
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
        models: figures of each model.
        by_turn: ``[18, 7]`` true shares of the shanten, by turn.
        ready: true share of ready hands.
        decisions: decisions at which hands were predicted.
        hands: hands generated for each opponent at each of them.
        data: the games.
    """

    models: tuple[ModelFigures, ...]
    by_turn: list[list[float]]
    ready: float
    decisions: int
    hands: int
    data: Measured

    def __str__(self) -> str:
        """The report for people."""
        best = min(self.models, key=lambda each: each.l2.value or 0.0)
        plan = f"{self.decisions:,} decisions, {self.hands} hands each; {self.data}"
        verdict = (
            f"{best.model} expects the shanten with an L2 error of {best.l2.text(3)}"
            f"{', the least of these models' if len(self.models) > 1 else ''}; "
            f"{_paper(best)[0]} in the paper, at other decisions"
        )
        games = ("games", "", "", f"{100.0 * self.ready:.1f}", "", "", "", "")
        return report_text((verdict,), _COLUMNS, (games, *map(_cells, self.models)), plan)


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
        players = players_of(source, plan)
        games = players.games
        choice = SelectedDecisions(games, np.full(len(games), ALL_PLAYERS, np.uint8))
        decisions = decisions_of(source.corpus, choice, plan.decisions, plan.seed)
        figures: list[ModelFigures] = []
        if direct is not None:
            figures.append(model_figures(_DIRECT, predicted_directly(direct, decisions), decisions))
        for name, load in samplers.items():
            found = predicted_by_samples(load(), decisions, plan.hands, plan.seed, title=name, quiet=quiet)
            figures.append(model_figures(name, found, decisions))
        return HandsReport(
            models=tuple(figures),
            by_turn=shares_by_turn(true_shares(decisions), decisions).tolist(),
            ready=float((decisions.hands.shanten == 0).mean()),
            decisions=len(decisions.players),
            hands=plan.hands,
            data=measured(source, players, plan),
        )


def _cells(found: ModelFigures) -> tuple[str, ...]:
    return (
        found.model,
        f"{found.l2.text(3)} ± {found.l2_deviation:.3f}",
        _paper(found)[0],
        f"{100.0 * found.ready:.1f}",
        found.waits.ece.text(5),
        f"{found.scaled_waits.ece.value:.5f}",
        _paper(found)[1],
        f"{found.hands_per_s:,.0f}",
    )


def _paper(found: ModelFigures) -> tuple[str, str]:
    return _PAPER[found.model.partition(",")[0]]


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
    words = [f"diffusion, {how.steps} steps" if how.steps else "diffusion"]
    if how.noise is not None:
        words.append(f"noise {how.noise:g}")
    if how.guidance:
        words.append(f"guidance {how.guidance:g}")
    if how.rounding == "greedy":
        words.append("greedy")
    if not how.match_ready:
        words.append("ready not matched")
    return ", ".join(words)


def save_plots(report: HandsReport, folder: Path) -> None:
    """Draw the shanten by turn and the calibration of waits, as SVG."""
    folder.mkdir(parents=True, exist_ok=True)
    truth = np.array(report.by_turn)
    drawing = plots.figure(10.0, 2.6 * (1 + len(report.models)))
    axes = drawing.subplots(len(report.models) + 1, 1, sharex=True)
    turns = np.arange(len(truth))
    axes[0].plot(turns, truth @ np.arange(SHANTEN_CLASSES), label="games", color="black")
    for each in report.models:
        axes[0].plot(turns, np.array(each.by_turn) @ np.arange(SHANTEN_CLASSES), label=each.model)
    axes[0].set_ylabel("mean shanten")
    axes[0].legend(fontsize="small")
    for axis, each in zip(axes[1:], report.models, strict=True):
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
    for axis, name in zip(drawing.subplots(1, 2), ("waits", "scaled_waits"), strict=True):
        axis.plot((0, 1), (0, 1), ":", color="black")
        for each in report.models:
            curve = np.array(getattr(each, name).curve)
            used = curve[:, 0] > 0
            axis.plot(curve[used, 1], curve[used, 2], ".-", label=each.model)
        axis.set_xlabel("predicted share of waits" + (", after Platt scaling" if name != "waits" else ""))
        axis.set_ylabel("actual share")
        axis.legend(fontsize="small")
    plots.save(drawing, folder / "waits.svg")
