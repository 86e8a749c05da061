"""Shows the coverage of `bot.tenhou`, `game` and `kit`; fails below the floor.

    python -m tests.coverage_floor

Reads the data of `pytest --cov`; `[tool.coverage]` in pyproject.toml defines what is measured.
"""

from __future__ import annotations

import json
import sys
import tempfile
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Final

from coverage import Coverage
from coverage.exceptions import CoverageException

FLOOR: Final = {"bot/tenhou": 95.0, "game": 95.0, "kit": 82.0}
"""Per cent of the branches of a folder; the tests of `kit` alone reach 83.5."""
WORST: Final = 3
"""Files named for each folder: those with most branches left."""

Counts = Mapping[str, int]


def main() -> int:
    try:
        files = measured()
    except CoverageException as exc:
        print(f"coverage: {exc}; run `make test-all` without ARGS first", file=sys.stderr)
        return 1
    enough = [show(folder, files) for folder in FLOOR]
    return 0 if all(enough) else 1


def measured() -> dict[str, Counts]:
    """Coverage's counts for each file, by its path in the project."""
    coverage = Coverage()
    coverage.load()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "coverage.json"
        coverage.json_report(outfile=str(path))
        report: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return {name: file["summary"] for name, file in report["files"].items()}


def show(folder: str, files: Mapping[str, Counts]) -> bool:
    """Print a folder's figures; whether they reach the floor."""
    inside = {name: counts for name, counts in files.items() if name.startswith(f"{folder}/")}
    branches = percent(inside.values(), "branches", "num_branches")
    lines = percent(inside.values(), "lines", "num_statements")
    enough = branches >= FLOOR[folder]
    word = "at least" if enough else "BELOW"
    print(f"{folder:<12}{branches:6.1f} % of branches ({word} {FLOOR[folder]:g} %), {lines:.1f} % of lines")
    left = {name: counts["num_branches"] - counts["covered_branches"] for name, counts in inside.items()}
    for name in sorted(left, key=lambda name: -left[name])[:WORST]:
        if left[name]:
            print(f"{'':<12}{left[name]:4} branches left in {name}")
    return enough


def percent(counts: Iterable[Counts], what: str, total: str) -> float:
    """The share reached, in per cent; 0 if there is nothing to reach, so that an empty run fails."""
    counts = list(counts)
    there = sum(each[total] for each in counts)
    return 100.0 * sum(each[f"covered_{what}"] for each in counts) / there if there else 0.0


if __name__ == "__main__":
    raise SystemExit(main())
