"""SIGTERM and SIGHUP do what Ctrl-C does."""

from __future__ import annotations

import asyncio
import ctypes
import os
import signal
import sys
import threading
import time
import types

import pytest

from bot.cli import end_as_on_ctrl_c, main
from bot.logs.setup import set_up_logs
from bot.play.stopping import signals_call

BOTH = pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])

pytestmark = pytest.mark.usefixtures("own_signals")


@BOTH
@pytest.mark.parametrize("at_ctrl_c", [signal.default_int_handler, signal.SIG_IGN])
def test_a_command_that_only_knows_ctrl_c_is_interrupted(number: int, at_ctrl_c: signal.Handlers) -> None:
    signal.signal(signal.SIGINT, at_ctrl_c)  # ignored, as by a shell for what it runs in the background
    end_as_on_ctrl_c()
    with pytest.raises(KeyboardInterrupt):
        os.kill(os.getpid(), number)


@BOTH
def test_the_first_signal_finishes_and_the_second_stops(number: int) -> None:
    end_as_on_ctrl_c()

    async def run() -> None:
        finish, stop = asyncio.Event(), asyncio.Event()
        with signals_call(finish.set, stop.set):
            async with asyncio.timeout(60):
                os.kill(os.getpid(), number)
                await finish.wait()
                assert not stop.is_set()
                os.kill(os.getpid(), number)
                await stop.wait()

    asyncio.run(run())


def test_a_signal_while_the_program_is_imported_is_one_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def being_imported(_: str) -> None:
        os.kill(os.getpid(), signal.SIGTERM)

    monkeypatch.setattr(
        "bot.cli.gc", types.SimpleNamespace(set_threshold=lambda *_: None, freeze=lambda: None)
    )
    monkeypatch.setitem(sys.modules, "bot.cli.program", types.ModuleType("bot.cli.program"))
    monkeypatch.setattr(sys.modules["bot.cli.program"], "__getattr__", being_imported, raising=False)
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 130
    assert capsys.readouterr().err == "suzaku: interrupted\n"


@pytest.mark.usefixtures("restore_logs")
@pytest.mark.parametrize("fails", [True, False])
def test_a_signal_within_a_callback_of_the_compiler_is_one_line(
    fails: bool, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    callback = ctypes.CFUNCTYPE(None)(lambda: os.kill(os.getpid(), signal.SIGTERM))

    def compiling(_: object) -> int:
        set_up_logs()
        callback()
        if not fails:
            time.sleep(60.0)
        raise RuntimeError("no compiled object yet")

    monkeypatch.setattr(
        "bot.cli.gc", types.SimpleNamespace(set_threshold=lambda *_: None, freeze=lambda: None)
    )
    dropped = threading.Event()
    monkeypatch.setattr("kit.processes.DROPPED", dropped)
    monkeypatch.setattr("bot.cli.DROPPED", dropped)
    monkeypatch.setattr("bot.cli.program.run", compiling)
    with pytest.raises(SystemExit) as ended:
        main()
    for thread in threading.enumerate():
        if isinstance(thread, threading.Timer):
            thread.join()  # the repeated signal is ignored, but would end the next test
    assert ended.value.code == 130
    assert capsys.readouterr().err == "suzaku: interrupted\n"


def test_under_nohup_a_closed_terminal_ends_nothing() -> None:
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    end_as_on_ctrl_c()
    os.kill(os.getpid(), signal.SIGHUP)
    assert signal.getsignal(signal.SIGHUP) is signal.SIG_IGN
