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


def fault_tests() -> dict[int, list[str]]:
    """The names of the tests of each fault, those of a module together."""
    found: dict[int, list[str]] = defaultdict(list)
    for path in sorted((ROOT / "tests").rglob("test_*.py")):
        for name in _TEST.findall(path.read_text(encoding="utf-8")):
            number = re.match(r"test_fault_(\d+)_", name)
            assert number, f"{path}: {name} has no number"
            found[int(number[1])].append(name)
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
