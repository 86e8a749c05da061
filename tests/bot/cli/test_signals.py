"""SIGTERM and SIGHUP do what Ctrl-C does."""

from __future__ import annotations

import asyncio
import os
import signal

import pytest

from bot.cli import end_as_on_ctrl_c
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


def test_under_nohup_a_closed_terminal_ends_nothing() -> None:
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    end_as_on_ctrl_c()
    os.kill(os.getpid(), signal.SIGHUP)
    assert signal.getsignal(signal.SIGHUP) is signal.SIG_IGN
