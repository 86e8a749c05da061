"""The list of tests in docs/faults.md: ``python -m tests.faults`` writes it."""

from __future__ import annotations

import re
from collections import defaultdict
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parents[1]
DOCUMENT: Final = ROOT / "docs" / "faults.md"
_TEST: Final = re.compile(r"^ *(?:async )?def (test_fault_\w+)\(", re.MULTILINE)
_HEADING: Final = "\n## Tests\n"


def numbers_of(name: str) -> range | tuple[int, ...]:
    """The faults that a test's name carries.

    >>> numbers_of("test_fault_23_a"), numbers_of("test_fault_05_and_06_b"), numbers_of("test_fault_1_to_3_c")
    ((23,), (5, 6), range(1, 4))
    """
    found = re.match(r"test_fault_(\d+)(?:_(and|to)_(\d+))?_", name)
    assert found, f"{name} carries no number"
    first, kind, last = int(found[1]), found[2], int(found[3] or 0)
    return range(first, last + 1) if kind == "to" else (first, last) if kind else (first,)


def fault_tests() -> dict[int, list[str]]:
    """The names of the tests of each fault, those of a module together."""
    found: dict[int, list[str]] = defaultdict(list)
    for path in sorted((ROOT / "tests").rglob("test_*.py")):
        for name in _TEST.findall(path.read_text(encoding="utf-8")):
            for number in numbers_of(name):
                found[number].append(name)
    return dict(sorted(found.items()))


def document() -> str:
    """The document with the list as it should be."""
    text, heading, rest = DOCUMENT.read_text(encoding="utf-8").partition(_HEADING)
    lines = [rest.strip().partition("\n\n")[0]]
    for number, names in fault_tests().items():
        lines += ["", f"### Fault {number}", "", *(f"- `{name}`" for name in names)]
    return "\n".join([f"{text}{heading}", *lines, ""])


if __name__ == "__main__":
    DOCUMENT.write_text(document(), encoding="utf-8")
