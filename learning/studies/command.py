"""Runs a study and prints it."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import islice
from pathlib import Path
from typing import Final

from game.distribution import require
from game.errors import ConfigError
from game.reports import write_json
from learning.corpus.reader import Corpus
from learning.runs.commit import current_commit
from learning.studies import data, hosei, parts, towers
from learning.studies.study import Report, Study, StudyResult
from learning.supervised.run import train

STUDIES: Final[Mapping[str, Study]] = {
    "parts": parts.STUDY,
    "data": data.STUDY,
    "towers": towers.STUDY,
    "hosei": hosei.STUDY,
}
"""All studies by name."""


def study_named(name: str) -> Study:
    """A study.

    Raises:
        ConfigError: there is none of this name.
    """
    if name not in STUDIES:
        raise ConfigError(f"no study {name!r}; there are {', '.join(STUDIES)}")
    return STUDIES[name]


def run_study(
    name: str, corpus: Corpus, out: Path, *, seed: int = 0, runs: int | None = None, quiet: bool = False
) -> Report:
    """Train all networks of a study, or resume them, and report on them.

    Args:
        name: the study's name.
        corpus: the games.
        out: folder; each run has a subfolder of its own.
        seed: seed of all runs except those that vary it.
        runs: only so many of the first runs; all of them if None.
        quiet: show no progress.

    Raises:
        ConfigError: no such study, ``out`` holds other runs, or a package of the extra `learn` is missing.
        TrainingError: a state cannot be saved or read.
    """
    study = study_named(name)
    if study.draws:
        require("matplotlib", f"`suzaku train study {name}`")  # used only at the end, hours from here
    results = []
    for number, (run, plan) in enumerate(islice(study.plans(seed).items(), runs)):
        folder = out / name / f"{number:02}"
        card = train(plan, corpus, folder, commit=current_commit(), quiet=quiet)
        results.append(StudyResult(run, str(folder), card))
    return study.report(results, corpus, out / name)


def print_study(report: Report, *, as_json: bool) -> int:
    """Print a study as JSON or as Markdown tables; return the exit code."""
    if as_json:
        write_json(report.results)
        return 0
    first = report.results[0].card.metrics["accuracy"]
    print("| run | samples seen | validation top-1 | difference | loss | minutes |")
    print("| --- | ---: | ---: | ---: | ---: | ---: |")
    for result in report.results:
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
    for table in report.tables:
        print(f"\n{table}")
    return 0
