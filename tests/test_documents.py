"""The repository's Markdown: links lead somewhere, and docs/faults.md tells of the tests there are."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path
from typing import Final

import pytest

from game.errors import BotError
from tests.faults import DOCUMENT, ROOT, document, fault_tests

_LINK: Final = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
_CODE: Final = re.compile(r"^```.*?^```$|`[^`\n]*`", re.DOTALL | re.MULTILINE)
_NOT_IMPLEMENTED: Final = "Not implemented"


def subclasses(error: type[BotError]) -> set[type[BotError]]:
    """Those that other modules may catch, and their families."""
    below = {found for child in error.__subclasses__() for found in (child, *subclasses(child))}
    return {each for each in below if each.__module__ == "game.errors"}


def markdown() -> list[Path]:
    """Every document of the repository, as git knows them."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "*.md"]
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    if listed.returncode:
        pytest.skip("not a git checkout")
    return [ROOT / name for name in listed.stdout.splitlines()]


def anchors(path: Path) -> set[str]:
    """Those of a document's headings, as GitHub makes them."""
    text = re.sub(r"^```.*?^```$", "", path.read_text(encoding="utf-8"), flags=re.DOTALL | re.MULTILINE)
    found: dict[str, int] = {}
    for heading in re.findall(r"^#+ +(.*?) *#*$", text, re.MULTILINE):
        words = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading)
        anchor = re.sub(r"[^\w\- ]", "", words.lower()).replace(" ", "-")
        found[anchor] = found.get(anchor, -1) + 1
    return {f"{anchor}-{n}" if n else anchor for anchor, times in found.items() for n in range(times + 1)}


def broken_links(path: Path) -> list[str]:
    """Links to files of the repository, or to headings in them, that are not there."""
    found = []
    for target in _LINK.findall(_CODE.sub("", path.read_text(encoding="utf-8"))):
        file, _, anchor = target.partition("#")
        if "://" in target or target.startswith("mailto:"):
            continue
        there = (path.parent / file).resolve() if file else path
        if not there.exists() or (anchor and there.suffix == ".md" and anchor not in anchors(there)):
            found.append(target)
    return found


def test_links_between_documents_lead_somewhere() -> None:
    found = {path.relative_to(ROOT).as_posix(): links for path in markdown() if (links := broken_links(path))}
    assert not found


def test_a_link_that_leads_nowhere_is_found(tmp_path: Path) -> None:
    (tmp_path / "there.md").write_text("# Two words [C]\n\n## Same\n\n## Same\n\n```\n# no heading\n```\n")
    links = ["there.md", "there.md#two-words-c", "there.md#same-1", "#here-it-is", "https://example.org/#x"]
    wrong = ["gone.md", "there.md#same-2", "there.md#no-heading", "#gone"]
    page = tmp_path / "page.md"
    page.write_text(
        "# Here it is\n\n" + " ".join(f"[a]({link})" for link in [*links, *wrong]) + " `[a](no)`\n"
    )
    assert broken_links(page) == wrong


def test_references_to_documents_in_the_code_lead_somewhere() -> None:
    command = [
        "git",
        "grep",
        "-noE",
        r"docs/[a-z0-9-]+\.md(#[a-z0-9-]+)?",
        "--",
        "*.py",
        "*.yaml",
        "*.toml",
        "*.js",
    ]
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    if listed.returncode:
        pytest.skip("not a git checkout")
    for line in listed.stdout.splitlines():
        file, _, anchor = line.rpartition(":")[2].partition("#")
        assert (ROOT / file).is_file(), line
        assert not anchor or anchor in anchors(ROOT / file), line


def test_every_fault_has_a_row_and_every_row_its_tests() -> None:
    table = dict(
        re.findall(r"^\| (\d+) \| .* \| (.*) \|$", DOCUMENT.read_text(encoding="utf-8"), re.MULTILINE)
    )
    rows = {int(number): done for number, done in table.items()}
    tests = fault_tests()
    assert list(rows) == list(range(1, len(rows) + 1))
    assert set(tests) <= set(rows), "a test of a fault that docs/faults.md does not tell of"
    missing = {number for number, done in rows.items() if done.startswith(_NOT_IMPLEMENTED)}
    assert set(rows) - set(tests) == missing
    assert all(re.match(r"test_fault_\d\d_", name) for names in tests.values() for name in names)


def test_the_list_of_fault_tests_is_current() -> None:
    assert DOCUMENT.read_text(encoding="utf-8") == document(), "run `python -m tests.faults`"


def test_the_fault_test_that_contributors_read_is_one_of_ours() -> None:
    shown = re.search(r"^```python\n(.*?)^```$", (ROOT / "CONTRIBUTING.md").read_text("utf-8"), re.S | re.M)
    assert shown
    assert any(shown[1] in path.read_text("utf-8") for path in (ROOT / "tests").rglob("test_*_faults.py"))


def test_the_table_of_errors_has_every_error_there_is() -> None:
    text = (ROOT / "CONTRIBUTING.md").read_text("utf-8").partition("\n## Errors\n")[2].partition("\n## ")[0]
    named = {
        name
        for line in text.splitlines()
        if line.startswith("|")
        for name in re.findall(r"`(\w+)`", line.split("|")[1])
    }
    assert named - {"PageError"} == {error.__name__ for error in subclasses(BotError)}
