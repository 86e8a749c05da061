"""The repository's Markdown: links lead somewhere, and every fault of docs/faults.md is tested."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path
from typing import Final

import pytest

ROOT: Final = Path(__file__).parents[1]
_LINK: Final = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
_CODE: Final = re.compile(r"^```.*?^```$|`[^`\n]*`", re.DOTALL | re.MULTILINE)
_IN_CODE: Final = r"docs/[a-z0-9/-]+\.md(#[a-z0-9-]+)?"


def git(*command: str) -> list[str]:
    """The lines that a git command prints."""
    listed = subprocess.run(("git", *command), cwd=ROOT, capture_output=True, text=True, check=False)
    if listed.returncode:
        pytest.skip("not a git checkout")
    return listed.stdout.splitlines()


def anchors(path: Path) -> set[str]:
    """Those of a document's headings, as GitHub makes them."""
    text = re.sub(r"^```.*?^```$", "", path.read_text(encoding="utf-8"), flags=re.DOTALL | re.MULTILINE)
    found: dict[str, int] = {}
    for heading in re.findall(r"^#+ +(.*?) *#*$", text, re.MULTILINE):
        words = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading)
        anchor = re.sub(r"[^\w\- ]", "", words.lower()).replace(" ", "-")
        found[anchor] = found.get(anchor, -1) + 1
    return {f"{anchor}-{n}" if n else anchor for anchor, times in found.items() for n in range(times + 1)}


def leads_somewhere(target: str, page: Path, folder: Path) -> bool:
    """Whether a link of a page is to a file of this repository, and to a heading in it, or to elsewhere."""
    file, _, anchor = target.partition("#")
    there = (folder / file).resolve() if file else page
    if "://" in target or target.startswith("mailto:"):
        return True
    return there.exists() and (not anchor or there.suffix != ".md" or anchor in anchors(there))


def test_links_between_documents_lead_somewhere() -> None:
    names = git("ls-files", "--cached", "--others", "--exclude-standard", "*.md")
    pages = [path for path in map(ROOT.joinpath, names) if path.exists()]
    assert pages
    for page in pages:
        targets = _LINK.findall(_CODE.sub("", page.read_text(encoding="utf-8")))
        assert [each for each in targets if not leads_somewhere(each, page, page.parent)] == [], page


def test_references_to_documents_in_the_code_lead_somewhere() -> None:
    for line in git("grep", "-noE", _IN_CODE, "--", "*.py", "*.yaml", "*.toml", "*.js"):
        assert leads_somewhere(line.rpartition(":")[2], ROOT, ROOT), line


def test_every_fault_has_a_test_with_its_number() -> None:
    document = (ROOT / "docs" / "faults.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| (\d+) \| .* \| .* \|$", document, re.MULTILINE)
    tests = "\n".join(path.read_text(encoding="utf-8") for path in (ROOT / "tests").rglob("test_*.py"))
    assert rows
    assert [row for row in rows if not re.search(rf"def test_(?:\w*_)?fault_{int(row):02}_", tests)] == []
