"""A failure to print is reported in one sentence."""

from __future__ import annotations

import io
import os
import subprocess
import sys
from pathlib import Path

import pytest

from bot.cli import program
from bot.cli.output import ESCAPING, STDOUT, checked_output
from tests.bot.dashboard.scenes import library
from tests.cli import ROOT, run_cli

COMMANDS = {
    "help": ["--help"],
    "text": ["games"],
    "json": ["games", "--json"],
    "long": ["convert", "RECORD", "-", "--to", "mjai"],
    "new": ["convert", "RECORD", "new.mjson"],
    "play": ["play"],
}


def words_of(name: str) -> list[str]:
    """The words of a command."""
    record = next(library().glob("*.mjlog.xml"))
    return [str(record) if word == "RECORD" else word for word in COMMANDS[name]]


def started(name: str, stdout: int | None, before: str = "") -> tuple[int, str]:
    """Exit code and stderr of a command started among games; ``before`` is run by its shell first."""
    ran = subprocess.run(
        ["sh", "-c", f'{before} exec "$@"', "sh", sys.executable, "-m", "bot.cli", *words_of(name)],
        cwd=library(),
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdout=stdout,
        stderr=subprocess.PIPE,
        text=True,
        check=False,
    )
    return ran.returncode, ran.stderr


def within(name: str, stdout: int) -> tuple[int, str]:
    """The same within this process, up to its end; its stdout is replaced meanwhile."""
    told, kept = io.StringIO(), os.dup(STDOUT)
    os.dup2(stdout, STDOUT)
    try:
        with pytest.MonkeyPatch.context() as patch, pytest.raises(SystemExit) as ended:
            patch.chdir(library())
            patch.setattr(sys, "stdout", io.TextIOWrapper(io.BytesIO(), "utf-8"))
            patch.setattr(sys, "stderr", told)
            with checked_output():
                program.run(words_of(name))
    finally:
        os.dup2(kept, STDOUT)
        os.close(kept)
        with program.app.console.capture():  # the next help would print what is left in its buffer
            pass
    return int(str(ended.value)), told.getvalue()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("words", "code", "told"),
    [
        ("arena --challenger random --champion random --tonpuu --games 4 --workers 1", 0, "(25.0-25.0)"),
        ("ask あ", 2, r"\u3042"),
    ],
)
def test_an_encoding_that_lacks_a_character_loses_no_output(words: str, code: int, told: str) -> None:
    ran = subprocess.run(
        [sys.executable, "-m", "bot.cli", *words.split()],
        env={**os.environ, "PYTHONPATH": str(ROOT), "LC_ALL": "C", "PYTHONIOENCODING": "ascii"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (ran.returncode, told in (ran.stderr if code else ran.stdout)) == (code, True)


def test_a_character_that_an_encoding_lacks_is_written_in_plain_signs() -> None:
    assert "±あ".encode("ascii", ESCAPING) == rb"+-\u3042"


@pytest.mark.slow
@pytest.mark.parametrize("name", ["new", "play"])
def test_a_deleted_working_folder_is_one_sentence(name: str) -> None:
    told = "suzaku: the working folder has been deleted; change to another one\n"
    assert started(name, None, 'cd "$(mktemp -d)"; rmdir "$PWD";') == (1, told)


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
@pytest.mark.parametrize("name", ["help", "text", "json", "long"])
def test_a_full_stdout_is_one_sentence(name: str) -> None:
    with Path("/dev/full").open("wb") as full:
        code, err = within(name, full.fileno())
    assert code == 1
    assert err == (
        "suzaku: cannot write to stdout: No space left on device; "
        "free some space, or redirect the output elsewhere\n"
    )


@pytest.mark.slow
@pytest.mark.parametrize("name", ["help", "json"])
def test_a_closed_stdout_is_one_sentence(name: str) -> None:
    code, err = started(name, None, "exec >&-;")
    assert code == 1
    assert err == "suzaku: stdout is closed; redirect it to a file, or to /dev/null\n"


@pytest.mark.parametrize("name", ["help", pytest.param("long", marks=pytest.mark.slow)])
def test_a_reader_that_has_gone_is_a_quiet_end(name: str) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    try:
        code, err = started(name, writing)
    finally:
        os.close(writing)
    assert (code, err) == (1, "")
