from __future__ import annotations

import ast
from collections import Counter
from pathlib import Path

from bot import cli


def helps(path: Path) -> list[str]:
    """Help texts of the options and arguments that a module declares."""
    calls = [node for node in ast.walk(ast.parse(path.read_text("utf-8"))) if isinstance(node, ast.Call)]
    return [
        str(keyword.value.value)
        for call in calls
        if ast.unparse(call.func) in ("typer.Option", "typer.Argument")
        for keyword in call.keywords
        if keyword.arg == "help" and isinstance(keyword.value, ast.Constant)
    ]


def test_no_help_text_of_an_option_is_written_twice() -> None:
    found = Counter(text for path in Path(cli.__file__).parent.glob("*.py") for text in helps(path))
    assert len(found) > 50
    assert [text for text, count in found.items() if count > 1] == []
