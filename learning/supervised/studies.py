"""Experiments on what improves the discard model: one resumable run each, one command for all.

``parts`` removes parts from the plan of the included network or adds them, at equal samples; ``data`` trains
the same network on a growing share of the games. Both are evaluated on the validation split; the test split
is reserved for the included networks.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final, Literal, TypeAlias, get_args

import msgspec

from game.distribution import require
from game.errors import ConfigError
from learning.corpus.reader import Corpus
from learning.runs.commit import current_commit
from learning.supervised.plan import TrainingPlan, make_plan
from learning.supervised.run import train
from policies.checkpoint import Card
from policies.features.table import LITE, SETS, SUPHX

StudyName: TypeAlias = Literal["parts", "data"]
STUDIES: Final[tuple[StudyName, ...]] = get_args(StudyName)
SAMPLES: Final = 150_000
"""Samples of a run of ``parts``."""
SHARES: Final = {0.01: 5.0, 0.03: 3.0, 0.1: 1.5, 0.3: 0.75, 1.0: 1.5}
"""Shares of the games, and the passes over each: a small share is passed over more often."""
PLOT_FILE: Final = "data.svg"

_VALIDATION_ROWS: Final = 50_000
_LARGE: Final = 1_000_000


class StudyResult(msgspec.Struct, frozen=True):
    """One run of a study."""

    name: str
    card: Card

    @property
    def margin(self) -> float:
        """Half a 95 % interval of the accuracy, as if positions were independent."""
        p, n = self.card.metrics["accuracy"], self.card.metrics["rows"]
        return 1.96 * math.sqrt(p * (1.0 - p) / n)


def plans_of(study: str, *, seed: int = 0) -> dict[str, TrainingPlan]:
    """The runs of a study by name.

    Raises:
        ConfigError: there is no such study.
    """
    if study == "parts":
        return {name: _plan(**{"seed": seed, **changes}) for name, changes in _PARTS.items()}
    if study == "data":
        return {
            f"{100 * share:g} % of the games": _plan(
                samples=0, passes=passes, seed=seed, selection={**_PHOENIX, "share": share}
            )
            for share, passes in SHARES.items()
        }
    raise ConfigError(f"no study {study!r}; there are {', '.join(STUDIES)}")


def run_study(
    study: str, corpus: Corpus, out: Path, *, seed: int = 0, quiet: bool = False
) -> list[StudyResult]:
    """Train all networks of a study, or resume them.

    Args:
        study: its name.
        corpus: the games.
        out: folder; each run has a subfolder of its own.
        seed: seed of all runs except those that vary it.
        quiet: show no progress.

    Raises:
        ConfigError: no such study, ``out`` holds other runs, or a package of the extra `learn` is missing.
        TrainingError: a state cannot be saved or read.
    """
    plans = plans_of(study, seed=seed)
    if study == "data":
        require("matplotlib", "`suzaku train study data`")  # used only at the end, hours from here
    results = []
    for number, (name, plan) in enumerate(plans.items()):
        card = train(plan, corpus, out / study / f"{number:02}", commit=current_commit(), quiet=quiet)
        results.append(StudyResult(name, card))
    if study == "data":
        draw(results, out / study / PLOT_FILE)
    return results


def print_study(results: list[StudyResult], *, as_json: bool) -> int:
    """Print a study as JSON or as a Markdown table; return the exit code."""
    if as_json:
        print(msgspec.json.encode(results).decode())
        return 0
    first = results[0].card.metrics["accuracy"]
    print("| run | samples seen | validation top-1 | difference | loss | minutes |")
    print("| --- | ---: | ---: | ---: | ---: | ---: |")
    for result in results:
        metrics, training = result.card.metrics, result.card.training
        accuracy = metrics["accuracy"]
        cells = (
            result.name,
            f"{training.samples:,}",
            f"{accuracy:.2%} ± {result.margin:.2%}",
            f"{100 * (accuracy - first):+.2f}",
            f"{metrics['loss']:.4f}",
            f"{training.seconds / 60:.1f}",
        )
        print(f"| {' | '.join(cells)} |")
    return 0


def draw(results: list[StudyResult], path: Path) -> None:
    """Draw accuracy over games, as SVG."""
    from matplotlib import rc_context  # noqa: PLC0415 - of the extra `learn`, and slow to import
    from matplotlib.figure import Figure  # noqa: PLC0415

    games = [result.card.data.games for result in results]
    accuracies = [100 * result.card.metrics["accuracy"] for result in results]
    figure = Figure(figsize=(6.4, 3.6), layout="constrained")
    axes = figure.subplots()
    axes.errorbar(games, accuracies, yerr=[100 * result.margin for result in results], marker="o", capsize=3)
    for x, y in zip(games, accuracies, strict=True):
        axes.annotate(f"{y:.1f}", (x, y), textcoords="offset points", xytext=(6, -12))
    axes.set_xscale("log")
    axes.set_xlabel("games learned from")
    axes.set_ylabel("discards that match the player's, % of validation")
    axes.grid(alpha=0.3)
    axes.margins(x=0.1)
    with rc_context({"svg.fonttype": "none", "svg.hashsalt": "suzaku"}):  # small, and reproducible
        figure.savefig(path, format="svg", metadata={"Date": None})


_PHOENIX: Final[Mapping[str, Any]] = {"rooms": ("houou",)}


def _groups(*prefixes: str) -> tuple[str, ...]:
    """Groups of the lite set whose names begin with a prefix."""
    return tuple(group.id for group in SETS[LITE].groups if group.id.startswith(prefixes))


_PARTS: Final[Mapping[str, Mapping[str, Any]]] = {
    "as shipped, 64×6": {},
    "another seed": {"seed": 101},
    "without look-ahead (LA3)": {"without": _groups("LA3")},
    "838 planes, without LA1 and LA2": {"features": SUPHX, "without": ("LA1", "LA2")},
    "838 planes, with LA1 and LA2": {"features": SUPHX},
    "without safety and unseen copies (G, H)": {"without": _groups("G", "H")},
    "without discard sums and recency (E, F)": {"without": _groups("E", "F")},
    "no renaming of tiles": {"augment": False},
    "no averaging of weights": {"averaging": 0.0},
    "32×4": {"width": 32, "depth": 4},
}


def _plan(**changes: Any) -> TrainingPlan:
    settings = {
        "preset": "small",
        "selection": _PHOENIX,
        "samples": SAMPLES,
        "validate_every": _LARGE,
        "validation_rows": _VALIDATION_ROWS,
    }
    return make_plan("discard", **{**settings, **changes})
