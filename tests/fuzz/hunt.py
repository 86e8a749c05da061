"""Runs scripts until the time is over, and saves minimised copies of those that break a rule."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from tests.fuzz.mutate import Mutator
from tests.fuzz.oracle import Broken, run
from tests.fuzz.script import Script, scripts_in, write_script

HERE: Final = Path(__file__).parent
CORPUS: Final = HERE / "corpus"
FINDINGS: Final = HERE / "findings"
SMALLER_S: Final = 30.0
"""Seconds spent on minimising a finding."""


@dataclass
class Hunt:
    """What came of it.

    Attributes:
        seed: of everything made.
        runs: inputs tried.
        steps: of them all.
        ways: different things seen to happen one after the other.
        broken: by rule, the file of an input that breaks it.
    """

    seed: int
    runs: int = 0
    steps: int = 0
    ways: int = 0
    broken: dict[str, Path] = field(default_factory=dict)

    def __str__(self) -> str:
        return (
            f"seed {self.seed}: {self.runs:,} inputs, {self.steps:,} steps, {self.ways:,} ways, "
            f"{len(self.broken)} findings"
        )


def hunt(
    seed: int, seconds: float, keep: Path, more: Sequence[Script] = (), tell: Callable[[str], None] = print
) -> Hunt:
    """Try inputs for some time.

    Args:
        seed: the same one makes the same inputs, as far as the time reaches.
        seconds: of wall-clock time.
        keep: folder for inputs that break something.
        more: scripts to begin with, beside the corpus and earlier findings.
        tell: takes a line about each finding.
    """
    scripts = [*scripts_in(CORPUS).values(), *scripts_in(FINDINGS).values(), *more]
    mutator = Mutator(scripts, random.Random(seed))
    report, seen = Hunt(seed), set[str]()
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        script = mutator.make()
        report.runs += 1
        report.steps += len(script)
        try:
            ways = run(script)
        except Broken as broken:
            _note(report, broken, script, keep, tell)
            continue
        if not ways <= seen:
            seen |= ways
            mutator.keep(script)
    report.ways = len(seen)
    return report


def _note(report: Hunt, broken: Broken, script: Script, keep: Path, tell: Callable[[str], None]) -> None:
    if broken.rule in report.broken:
        return
    small = smaller(script[: broken.step + 1], broken.rule)
    keep.mkdir(parents=True, exist_ok=True)
    path = keep / f"{report.seed}-{report.runs}.txt"
    write_script(path, small)
    report.broken[broken.rule] = path
    where = f"seed {report.seed}, input {report.runs}, {len(small)} steps"
    tell(f"{broken.rule} ({where}): python -m tests.fuzz {path}")


def smaller(script: Script, rule: str) -> Script:
    """The steps needed to break the rule."""
    until = time.monotonic() + SMALLER_S
    size = len(script) // 2
    while size and time.monotonic() < until:
        for at in range(0, len(script), size):
            without = script[:at] + script[at + size :]
            if without and breaks(without, rule):
                script = without
                break
        else:
            size //= 2
    return script


def breaks(script: Script, rule: str) -> bool:
    """Whether a script breaks this rule."""
    try:
        run(script)
    except Broken as broken:
        return broken.rule == rule
    return False
