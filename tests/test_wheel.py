"""The wheel holds all that Suzaku needs: built, installed in a folder of its own, and used far from here."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple
from urllib.request import urlopen

import pytest

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[1]
OWN, SHARED = ROOT / "bot" / "table" / "web", ROOT / "bot" / "web" / "static"
PACKAGES = ("kit", "game", "policies", "replays", "learning", "bot", "suzaku")
BESIDE = ("pyproject.toml", "setup.py", "MANIFEST.in", "README.md", "LICENSE", "config.yaml")
_NOT_SOURCE = shutil.ignore_patterns("__pycache__", "games", "*.egg-info")
WATCH = f"""
import os, sys
_checkout, _allowed = {str(ROOT) + os.sep!r}, {str(ROOT / ".venv") + os.sep!r}
def _hook(event, args):
    if event == "open" and isinstance(args[0], str):
        path = os.path.abspath(args[0])
        if path.startswith(_checkout) and not path.startswith(_allowed):
            os.write(2, b"FROM THE CHECKOUT " + os.fsencode(path) + b"\\n")
sys.addaudithook(_hook)
"""
"""Python imports this module when it starts; it reports every file of the checkout that is opened."""


class Installed(NamedTuple):
    """An installation, and the empty folder from which it is used."""

    site: Path
    home: Path

    def run(self, *args: str) -> tuple[str, str]:
        """Run `suzaku`, which must succeed; what it printed on stdout and stderr."""
        with self.started(*args) as program:
            out, err = program.communicate(timeout=300)
        assert program.returncode == 0, (args, out, err)
        assert "FROM THE CHECKOUT" not in err
        return out, err

    def started(self, *args: str) -> subprocess.Popen[str]:
        """`suzaku`, started."""
        # measuring coverage writes to the checkout
        environment = {
            name: text for name, text in os.environ.items() if not name.startswith(("SUZAKU_", "COV"))
        }
        if cache := os.environ.get("SUZAKU_CACHE_DIR"):
            environment["SUZAKU_CACHE_DIR"] = cache
        environment |= {
            "PYTHONPATH": str(self.site),
            "XDG_DATA_HOME": str(self.home / "data"),
            "XDG_STATE_HOME": str(self.home / "state"),
        }
        here = self.home / "empty"
        here.mkdir(exist_ok=True)
        command = (sys.executable, str(self.site / "bin" / "suzaku"), *args)
        pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
        return subprocess.Popen(command, cwd=here, env=environment, text=True, **pipes)


def pip(*args: str) -> None:
    command = (sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check", *args)
    subprocess.run(command, check=True, capture_output=True, text=True, timeout=300)


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Installed:
    """The wheel, built without network, in a folder of its own; its dependencies are those of the tests."""
    home = tmp_path_factory.mktemp("wheel")
    source, site = home / "source", home / "site"
    for package in PACKAGES:
        shutil.copytree(ROOT / package, source / package, ignore=_NOT_SOURCE)
    for name in BESIDE:
        shutil.copy(ROOT / name, source / name)
    pip("wheel", "--no-build-isolation", "--no-deps", "--no-index", "-w", str(home), str(source))
    (wheel,) = home.glob("suzaku_mahjong-*.whl")
    pip("install", "--no-deps", "--no-index", "--no-compile", "--target", str(site), str(wheel))
    shutil.rmtree(source)
    (site / "sitecustomize.py").write_text(WATCH)
    return Installed(site, home)


def serves_a_table(installed: Installed) -> None:
    """Check that `suzaku table` serves its page and everything that the page loads."""
    flags = ("--opponents", "heuristic", "--policy", "heuristic", "--port", "0", "--no-browser")
    with installed.started("table", *flags) as program:
        link = program.stdout.readline().split(": ", 1)[1].strip()
        modules = (each.name for folder in (OWN, SHARED) for each in folder.iterdir() if each.suffix == ".js")
        loaded = [link, *(f"{link.split('?')[0]}web/{name}" for name in (*modules, "style.css"))]
        assert {urlopen(address, timeout=60).status for address in loaded} == {200}
        program.terminate()
        _, err = program.communicate(timeout=60)
    assert program.returncode == 0
    assert "FROM THE CHECKOUT" not in err


def test_the_wheel_plays_and_reviews_in_an_empty_folder_and_serves_a_table(installed: Installed) -> None:
    out, _ = installed.run("--version")
    assert out.startswith("suzaku ")
    assert "commit" not in out  # the checkout's commit says nothing about an installation
    found = json.loads(installed.run("check", "--json")[0])
    records = installed.home / "data" / "suzaku" / "games"
    assert found["config"]["records"]["folder"] == str(records)
    models = {each["subject"] for each in found["found"] if each["subject"].startswith("model ")}
    assert models == {"model chi", "model discard", "model kan", "model pon", "model riichi"}
    played = json.loads(installed.run("play", "--type", "tonpuu", "--seed", "7", "--json")[0])
    assert len(played["games"]) == 1
    (record,) = records.glob("*.xml")
    installed.run("review", str(record), "--policy", "phoenix")
    (page,) = (installed.home / "empty" / "reviews").glob("*.html")
    assert "data:image/svg+xml" in page.read_text(encoding="utf-8")
    assert sorted(path.name for path in (installed.home / "empty").iterdir()) == ["reviews"]
    serves_a_table(installed)


def test_the_watch_reports_files_of_the_checkout(installed: Installed) -> None:
    with pytest.raises(AssertionError, match="FROM THE CHECKOUT"):
        installed.run("games", "--config", str(ROOT / "config.yaml"))


def test_the_wheel_has_the_manual(installed: Installed) -> None:
    assert installed.run("config")[0] == (ROOT / "config.yaml").read_text(encoding="utf-8")


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_each_shell_has_completion(installed: Installed, shell: str) -> None:
    script = installed.run("completion", shell)[0]
    assert all(word in script for word in ("suzaku", "review", "pace", "houou"))


def files_of(package: str, suffixes: Sequence[str]) -> set[str]:
    """Files of a package in the checkout that Python does not import."""
    return {
        path.relative_to(ROOT).as_posix()
        for suffix in suffixes
        for path in (ROOT / package).rglob(f"*{suffix}")
        if "games" not in path.parts
    }


def test_the_wheel_has_every_data_file(installed: Installed) -> None:
    suffixes = (".html", ".css", ".js", ".svg", ".json", ".safetensors", ".npz", "py.typed", "LICENSE.txt")
    expected = {name for package in PACKAGES for name in files_of(package, suffixes)}
    assert len(expected) > 100
    assert {name for name in expected if not (installed.site / name).exists()} == set()
