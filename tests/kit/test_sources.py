"""The key of a module's sources, and the stamp that saves reading them."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from kit import sources
from kit.sources import sources_key


def test_the_main_script_is_not_cached() -> None:
    assert sources_key(Path(__file__), "__main__") == ""
    assert sources_key(Path("missing.py"), "missing") == ""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """Two packages: ``policies.top`` calls ``game.middle``, which calls ``game.low.bottom``."""
    texts = {
        "game/__init__.py": "",
        "game/middle.py": "from .low import (\n    bottom,\n)\n",
        "game/low/__init__.py": "",
        "game/low/bottom.py": "import os, game.leaf as leaf\n",
        "game/leaf.py": "",
        "game/other.py": "",
        "policies/__init__.py": "",
        "policies/top.py": "import numpy\ndef late():\n    from game import middle  # inside\n",
    }
    for name, text in texts.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return tmp_path


@pytest.mark.parametrize(
    "edited",
    ["policies/top.py", "game/middle.py", "game/low/bottom.py", "game/low/__init__.py", "game/leaf.py"],
)
def test_an_edit_anywhere_below_a_kernel_changes_its_key(project: Path, edited: str) -> None:
    before = sources_key(project / "policies/top.py", "policies.top")
    with (project / edited).open("a") as file:
        file.write("# edited\n")
    assert sources_key(project / "policies/top.py", "policies.top") != before


def test_an_edit_elsewhere_keeps_the_key(project: Path) -> None:
    before = sources_key(project / "policies/top.py", "policies.top")
    (project / "game/other.py").write_text("# edited\n")
    assert sources_key(project / "policies/top.py", "policies.top") == before
    assert sources_key(project / "game/middle.py", "game.middle") != before


def test_a_package_that_imports_itself_has_a_key(project: Path) -> None:
    (project / "game/low/__init__.py").write_text("from game.low import bottom\n")
    assert sources_key(project / "game/low/__init__.py", "game.low")


# --- the stamp --------------------------------------------------------------------------------------------


@pytest.fixture
def stamped(project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[], str | None]:
    """Reads the key of ``policies.top`` from its stamp; None if the sources had to be read."""
    monkeypatch.setenv("SUZAKU_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setattr(sources, "_SETTLED_S", -3600.0)
    sources_key(project / "policies/top.py", "policies.top")

    def read() -> str | None:
        with monkeypatch.context() as patched:
            patched.setattr(sources, "_read_key", lambda *_: ("", {}))
            return sources_key(project / "policies/top.py", "policies.top") or None

    return read


def test_while_nothing_changes_no_source_is_read(project: Path, stamped: Callable[[], str | None]) -> None:
    (project / "game/other.py").write_text("# edited\n")
    assert stamped() == sources._read_key(project / "policies/top.py", project)[0]


@pytest.mark.parametrize("edited", ["policies/top.py", "game/low/bottom.py", "game/leaf.py"])
@pytest.mark.skipif(os.name != "posix", reason="elsewhere a file has no time of its last change of any kind")
def test_a_change_that_keeps_size_and_time_voids_the_stamp(
    project: Path, stamped: Callable[[], str | None], edited: str
) -> None:
    path = project / edited
    before = path.stat()
    path.write_text(path.read_text().swapcase())
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert (path.stat().st_size, path.stat().st_mtime_ns) == (before.st_size, before.st_mtime_ns)
    assert stamped() is None


def test_another_file_in_the_place_of_a_source_voids_the_stamp(
    project: Path, stamped: Callable[[], str | None]
) -> None:
    (project / "game/leaf.py").rename(project / "kept")
    (project / "game/leaf.py").write_text("")
    assert stamped() is None


@pytest.mark.parametrize("appears", ["game/low.py", "game/middle/__init__.py", "policies/late.py"])
def test_a_file_that_appears_beside_a_source_voids_the_stamp(
    project: Path, stamped: Callable[[], str | None], appears: str
) -> None:
    (project / appears).parent.mkdir(exist_ok=True)
    (project / appears).write_text("")
    assert stamped() is None


def test_a_source_that_is_gone_voids_the_stamp(project: Path, stamped: Callable[[], str | None]) -> None:
    (project / "game/leaf.py").unlink()
    assert stamped() is None


def test_sources_that_changed_a_moment_ago_get_no_stamp(
    project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SUZAKU_CACHE_DIR", str(tmp_path / "cache"))
    assert sources_key(project / "policies/top.py", "policies.top")
    assert not (tmp_path / "cache").exists()


@pytest.mark.parametrize("variable", ["NUMBA_OPT", "NUMBA_BOUNDSCHECK"])
def test_a_switch_of_the_compiler_has_a_stamp_of_its_own(
    stamped: Callable[[], str | None], monkeypatch: pytest.MonkeyPatch, variable: str
) -> None:
    monkeypatch.setenv(variable, "1")
    assert stamped() is None
