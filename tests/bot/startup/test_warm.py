from __future__ import annotations

import contextlib
import io
import subprocess
import sys
import time
from collections.abc import Callable, Iterator

import pytest
from structlog.testing import capture_logs

from bot.startup import warm
from kit.jit import WARM_UPS
from policies.flow.slots import Slot
from tests.policies.fakes import Scripted


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


class Compiling:
    """Two kernels are compiled, each until a condition of the test holds."""

    def __init__(self) -> None:
        self.told: Callable[[str], None] = str
        self.until: Callable[[str], bool] = bool

    @contextlib.contextmanager
    def watched(self, tell: Callable[[str], None]) -> Iterator[None]:
        self.told = tell
        yield

    def warm_up(self, **_: object) -> None:
        for name in ("game.one", "game.two"):
            self.told(name)
            while not self.until(name):
                time.sleep(0.001)


@pytest.fixture
def compiling(monkeypatch: pytest.MonkeyPatch) -> Compiling:
    steps = Compiling()
    monkeypatch.setattr(warm, "watched_compiler", steps.watched)
    monkeypatch.setattr(warm, "warm_up", steps.warm_up)
    monkeypatch.setattr(warm, "PATIENCE_S", 0.004)
    monkeypatch.setattr(warm, "REMIND_S", 0.004)
    return steps


def test_a_slow_start_is_logged_without_a_terminal(compiling: Compiling) -> None:
    with capture_logs() as logs:
        compiling.until = lambda kernel: any(entry.get("kernel") == kernel for entry in logs)
        warm.warm_up_visibly(io.StringIO())
    told = [entry for entry in logs if entry["event"] == "kernels.compiling"]
    assert {entry["kernel"] for entry in told} == {"game.one", "game.two"}
    assert all(0 <= entry["done"] <= entry["of"] for entry in told)
    assert {entry["hint"] for entry in told} == {warm.DURATION}
    assert logs[-1]["event"] == "kernels.ready"


@pytest.mark.usefixtures("compiling")
def test_a_terminal_gets_a_bar_and_no_reminders(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm")
    terminal = Terminal()
    with capture_logs() as logs:
        warm.warm_up_visibly(terminal)
    assert [entry["event"] for entry in logs] == ["kernels.ready"]
    assert terminal.getvalue().count(f"Compiling kernels: {warm.DURATION}.") == 1


def test_a_slow_start_that_compiles_nothing_is_not_called_compiling(monkeypatch: pytest.MonkeyPatch) -> None:
    def warm_up(**_: object) -> None:
        while not logs:
            time.sleep(0.001)

    monkeypatch.setattr(warm, "warm_up", warm_up)
    monkeypatch.setattr(warm, "PATIENCE_S", 0.004)
    with capture_logs() as logs:
        warm.warm_up_visibly(io.StringIO())
    assert [entry["event"] for entry in logs] == ["kernels.loading", "kernels.ready"]
    terminal = Terminal()
    warm.warm_up_visibly(terminal)
    assert "ompiling" not in terminal.getvalue()


@pytest.mark.usefixtures("compiling")
def test_what_must_be_compiled_is_compiled_for_all_of_a_players_commands(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    compile_two, warmed = warm.warm_up, list[set[str]]()

    def warm_up(**_: object) -> None:
        warmed.append(set(WARM_UPS))
        if len(warmed) == 1:
            compile_two()

    monkeypatch.setattr(warm, "warm_up", warm_up)
    warm.warm_up_visibly(io.StringIO())
    assert len(warmed) == 2
    assert warmed[1] >= {"policies.deals.uniform", "policies.nets.quantized", "game.two_player.rules"}
    warm.warm_up_visibly(io.StringIO())
    assert len(warmed) == 3  # nothing was compiled: nothing more is loaded


@pytest.mark.usefixtures("compiling")
def test_a_game_begins_before_the_kernels_of_other_commands_are_compiled(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    later: list[list[str]] = []
    monkeypatch.setattr(warm, "WARM_UPS", {"game.shanten": lambda: None})
    monkeypatch.setattr(warm, "compile_later", later.append)
    warm.warm_up_visibly(io.StringIO(), rest_later=True)
    [rest] = later
    assert {"policies.deals.uniform", "game.two_player.rules"} | warm.IDLE <= set(rest)
    assert "game.shanten" not in rest
    monkeypatch.setattr(warm, "warm_up", lambda **_: None)
    warm.warm_up_visibly(io.StringIO(), rest_later=True)
    assert len(later) == 1  # nothing was compiled


COMMANDS = "bot.play.run", "bot.table.command", "bot.review.command", "bot.ask.command", "bot.mjai.pipe"


@pytest.mark.slow
def test_no_command_of_a_player_needs_other_kernels() -> None:
    code = f"import {', '.join(COMMANDS)}, learning.selfplay.players, kit.jit\nprint(*kit.jit.WARM_UPS)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert {name.partition(".")[0] for name in done.stdout.split()} <= set(warm.PLAYED)


def test_the_policy_is_asked_in_every_slot(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(warm, "warm_up", lambda **_: None)
    policy = Scripted()
    warm.warm_up_visibly(io.StringIO(), policy)
    assert set(policy.asked) == set(Slot)
