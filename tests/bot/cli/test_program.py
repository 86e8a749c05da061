"""The program: help, completion, usage errors and exit codes."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
import structlog

from kit.errors import ConfigError, LoginRejected
from tests.cli import ROOT
from tests.cli import run_cli as run

LOGIN = "ID0A1B2C3D-Marker01"
pytestmark = pytest.mark.usefixtures("restore_logs")


def test_h_is_help_everywhere() -> None:
    for command in ([], ["play"], ["train"], ["train", "reward"], ["bench", "features"]):
        assert run(*command, "-h") == run(*command, "--help")
        assert run(*command, "-h")[0] == 0


def test_the_version_names_the_program_and_the_commit() -> None:
    from kit.distribution import version
    from learning.runs.commit import current_commit

    code, out, _ = run("--version")
    assert code == 0
    assert out.startswith(f"suzaku {version()}")
    assert f"(commit {current_commit()[:12]}" in out or not current_commit()


def test_a_commit_is_reported_only_for_code_in_its_own_repository(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Installed code may be inside another repository, in an environment that git ignores."""
    from learning.runs import commit

    git = ["git", "-C", str(tmp_path), "-c", "user.name=n", "-c", "user.email=e"]
    subprocess.run([*git, "init", "-q"], check=True)
    file = tmp_path / ".venv" / "commit.py"
    file.parent.mkdir()
    file.write_text("")
    subprocess.run([*git, "commit", "-q", "--allow-empty", "-m", "theirs"], check=True)
    monkeypatch.setattr(commit, "__file__", str(file))
    assert commit.current_commit() == ""
    subprocess.run([*git, "add", "."], check=True)
    subprocess.run([*git, "commit", "-q", "-m", "ours"], check=True)
    assert re.fullmatch("[0-9a-f]{40}", commit.current_commit())


def test_bash_completes_commands_flags_and_choices() -> None:
    script = run("completion", "bash").stdout
    for words, found in (
        (["cor"], "corpus"),
        (["corpus", "ext"], "extract"),
        (["review", "--cand"], "--candidates"),
        (["bench", "training", "--model", "disc"], "discard"),
    ):
        line = (
            f"COMP_WORDS=(suzaku {' '.join(words)}); COMP_CWORD={len(words)}; _suzaku; echo ${{COMPREPLY[*]}}"
        )
        ran = subprocess.run(["bash", "-c", script + line], capture_output=True, text=True, check=True)
        assert ran.stdout.strip() == found


@pytest.mark.parametrize(
    ("args", "package"),
    [
        (["train", "discard", "--corpus", "corpus", "--out", "out"], "tensorboard"),
        (["train", "reward", "--corpus", "corpus", "--out", "out"], "tensorboard"),
        (["arena", "--ray", "local"], "ray"),
        (["selfplay", "--games", "1", "--out", "out", "--ray", "local"], "ray"),
    ],
)
def test_a_package_that_is_missing_is_one_sentence_before_anything_is_done(
    args: list[str], package: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, package, None)
    monkeypatch.setattr("learning.data.corpus.Corpus.__init__", lambda *_: None)
    Path("corpus").mkdir()
    code, out, err = run(*args)
    assert (code, out) == (2, "")
    assert re.fullmatch(
        rf"suzaku: .* needs {package}, which is not installed; run `\S+ -m pip install .*`\n", err
    )
    assert "suzaku[" not in err
    assert "pip install suzaku" not in err
    assert not Path("out").exists()


@pytest.mark.parametrize(
    ("command", "flag", "values"),
    [
        ("bench training --corpus folder", "--seconds", "nan"),
        ("train discard --corpus folder --out o", "--learning-rate", "nan"),
        ("train discard --corpus folder --out o", "--width", "9" * 4000),
        ("train discard --corpus folder --out o", "--seed", "-1"),
        ("train reward --corpus folder --out o", "--rewards", "1 inf 2 3"),
        ("selfplay --out o", "--games", "9" * 4000),
        ("arena", "--answer-timeout", "nan"),
        ("arena", "--games", "0x10"),
        ("play", "--games", "9" * 5000),
        ("play", "--seed", "1:30"),
        ("lobby", "--port", "-1"),
        ("review file", "--seat", "4"),
        ("dashboard", "--host", "9" * 5000),
        ("dashboard", "--host", "a..b"),
        ("games", "--placement", "1e400"),
        ("engine", "--seat", "4"),
    ],
)
def test_numbers_and_names_that_mean_nothing_are_usage_errors(command: str, flag: str, values: str) -> None:
    Path("folder").mkdir()
    Path("file").write_text("")
    code, out, err = run(*command.split(), flag, *values.split())
    assert (code, out) == (2, "")
    assert "Traceback" not in err
    assert flag.removeprefix("--") in err
    assert list(Path("folder").iterdir()) == []


def test_an_unknown_home_folder_is_refused_for_the_cache() -> None:
    """The cache is accessed when modules are imported, before any command runs."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "SUZAKU_CACHE_DIR": "~nosuchuser/cache"}
    command = [sys.executable, "-m", "bot.cli", "bench", "features"]
    ran = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert (ran.returncode, ran.stdout) == (2, "")
    assert ran.stderr == (
        "suzaku: SUZAKU_CACHE_DIR: no home folder is known for `~nosuchuser`; write the path out\n"
    )


def test_help_waits_for_nothing_heavy() -> None:
    """Slow imports are left to the commands that need them."""
    heavy = ("torch", "numba", "numpy", "websockets", "starlette", "pydantic", "mahjong", "riichienv")
    says = f"import sys, bot.cli.program; print([name for name in {heavy} if name in sys.modules])"
    ran = subprocess.run([sys.executable, "-c", says], capture_output=True, text=True, check=True)
    assert ran.stdout.strip() == "[]"


@pytest.mark.parametrize(
    "args",
    [
        ["play", "--config", "missing.yaml", "--server", "tenhou"],
        ["lobby", "--port", "70000"],
        ["table", "--opponents", "heuristic,person"],
        ["table", "--opponents", "heuristic,heuristic,person", "--practice"],
        ["table", "--opponents", "mine=engine:cat", "--practice"],
        ["table", "--opponents", "nobody", "--no-browser"],
        ["table", "--opponents", "person", "--name", "a name that is much too long"],
        ["table", "--opponents", "person", "--name", "long " * 20_000],
        ["ask", "123m", "--policy", "players@"],
        ["ask", "123m", "--policy", "python:nofile.py"],
        ["arena", "--champion", "mine=python:nofile.py:Fast"],
        ["play", "--policy", "python:nofile.py"],
        ["table", "--host", "0.0.0.0", "--token-env", "UNSET_TOKEN"],
    ],
)
def test_bad_configuration_exits_2_and_says_why_on_stderr(args: list[str]) -> None:
    code, out, err = run(*args)
    assert code == 2
    assert out == ""
    assert err.strip()
    assert max(map(len, err.splitlines())) < 1100


@pytest.mark.parametrize(
    "args",
    [
        ["games", "--folder", "."],
        ["dashboard", "--host", "0.0.0.0", "--token-env", "UNSET_TOKEN"],
        ["lobby", "--dry-run"],
        ["engine"],
        ["table", "--opponents", "nobody"],
        ["review", "nothing.xml"],
        ["ask"],
        ["bench", "decision", "--decisions", "1"],
    ],
)
def test_a_command_that_joins_no_server_needs_no_id(args: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SUZAKU_DECISION__POLICY", "heuristic")
    text = "play: {server: tenhou}\nlocal: {user_id_env: X}\nadaptation: {mode: both}\n"
    Path("config.yaml").write_text(text)
    assert "the configuration has" not in run(*args).stderr


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (ConfigError(f"bad {LOGIN}\x1b[31m"), 2),
        (LoginRejected(f"bad {LOGIN}\x1b[31m"), 1),
        (KeyboardInterrupt(), 130),
    ],
)
def test_errors_become_exit_codes_without_secrets(
    error: BaseException, code: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise error

    monkeypatch.setattr("bot.check.check_everything", fail)
    ended = run("check")
    assert (ended.exit_code, ended.stdout) == (code, "")
    assert "Marker01" not in ended.stderr
    assert "\x1b" not in ended.stderr
    assert ended.stderr.startswith("suzaku: ")


def test_logs_are_set_up_before_anything_can_fail() -> None:
    structlog.reset_defaults()
    run("check", "--config", "missing.yaml")
    assert structlog.is_configured()
