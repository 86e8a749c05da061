"""A failure to print is reported in one sentence, tested on the program as users start it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.bot.dashboard.scenes import library
from tests.cli import ROOT, run_cli

COMMANDS = {
    "help": ["--help"],
    "text": ["games"],
    "json": ["games", "--json"],
    "long": ["convert", "RECORD", "-", "--to", "mjai"],
}


def started(name: str, stdout: int | None, before: str = "") -> tuple[int, str]:
    """Exit code and stderr of a command; ``before`` runs in the shell that starts it."""
    record = next(library().glob("*.mjlog.xml"))
    args = [str(record) if arg == "RECORD" else arg for arg in COMMANDS[name]]
    ran = subprocess.run(
        ["sh", "-c", f'{before} exec "$@"', "sh", sys.executable, "-m", "bot.cli", *args],
        cwd=library(),
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdout=stdout,
        stderr=subprocess.PIPE,
        text=True,
        check=False,
    )
    return ran.returncode, ran.stderr


@pytest.mark.parametrize(
    "words",
    [
        pytest.param(["ask", "123m406p789s11z233z", "--policy", "heuristic"], marks=pytest.mark.slow),
        ["ask", "あ"],
    ],
)
def test_an_encoding_that_lacks_a_character_loses_no_output(words: list[str]) -> None:
    ran = subprocess.run(
        [sys.executable, "-m", "bot.cli", *words],
        env={**os.environ, "PYTHONPATH": str(ROOT), "LC_ALL": "C", "PYTHONIOENCODING": "ascii"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ("+-" in ran.stdout, r"\u3042" in ran.stderr) == (words[1] != "あ", words[1] == "あ")
    assert ran.returncode == (2 if words[1] == "あ" else 0)


@pytest.mark.parametrize("words", [["games"], ["convert", "RECORD", "new.mjson"], ["play"]])
def test_a_deleted_working_folder_is_one_sentence(tmp_path: Path, words: list[str]) -> None:
    folder = tmp_path / "gone"
    folder.mkdir()
    record = next(library().glob("*.mjlog.xml"))
    ran = subprocess.run(
        ["sh", "-c", 'rmdir "$PWD"; exec "$@"', "sh", sys.executable, "-m", "bot.cli"]
        + [str(record) if word == "RECORD" else word for word in words],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (ran.returncode, ran.stdout) == (1, "")
    assert ran.stderr == "suzaku: the working folder has been deleted; change to another one\n"


def test_a_home_that_cannot_be_written_is_one_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "home").write_text("no folder")
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("SHELL", "/bin/bash")
    result = run_cli("--install-completion")
    assert (result.exit_code, result.stdout, result.stderr.count("\n")) == (1, "", 1)
    assert "print the script instead with `suzaku completion bash`" in result.stderr


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="the system has no /dev/full")
@pytest.mark.parametrize("name", ["help", "text", "long", pytest.param("json", marks=pytest.mark.slow)])
def test_a_full_stdout_is_one_sentence(name: str) -> None:
    with Path("/dev/full").open("wb") as full:
        code, err = started(name, full.fileno())
    assert code == 1
    assert err == (
        "suzaku: cannot write to stdout: No space left on device; "
        "free some space, or redirect the output elsewhere\n"
    )


@pytest.mark.parametrize("name", ["help", "json"])
def test_a_closed_stdout_is_one_sentence(name: str) -> None:
    code, err = started(name, None, "exec >&-;")
    assert code == 1
    assert err == "suzaku: stdout is closed; redirect it to a file, or to /dev/null\n"


@pytest.mark.parametrize("name", ["json", "long"])
def test_a_reader_that_has_gone_is_a_quiet_end(name: str) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    try:
        code, err = started(name, writing)
    finally:
        os.close(writing)
    assert (code, err) == (1, "")
