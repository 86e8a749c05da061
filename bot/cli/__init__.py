"""The command line: `suzaku play | table | lobby | dashboard | engine | check | games | review | train | …`.

Results go to stdout, logs to stderr. Exit codes: 0 done, 1 failed while running, 2 usage or configuration,
130 interrupted. Each command imports the heavy modules that it needs, so that ``--help`` is quick.
"""

from __future__ import annotations

import gc
import os
import signal
import sys
from types import FrameType
from typing import Final

from bot.cli.output import checked_output
from kit.processes import DROPPED

_RARELY: Final = (100_000, 50, 50)
"""Thresholds of the garbage collector; with the usual ones, it takes a tenth of a start."""
_STREAMS: Final = (0, 1, 2)
_INTERRUPTED: Final = 130


def main() -> None:
    """Entry point of the `suzaku` program."""
    end_as_on_ctrl_c()
    gc.set_threshold(*_RARELY)
    try:
        from bot.cli.program import run

        with checked_output():
            code = run(sys.argv[1:])
    except (KeyboardInterrupt, Exception) as error:
        # an interrupt while that is imported, or what becomes of one that was dropped
        if not isinstance(error, KeyboardInterrupt) and not DROPPED.is_set():
            raise
        signal.signal(signal.SIGTERM, signal.SIG_IGN)  # one that comes again
        sys.stderr.write("suzaku: interrupted\n")
        code = _INTERRUPTED
    gc.freeze()  # or Python's end collects garbage among all objects, for 0.05 to 0.15 s
    sys.exit(code)


def end_as_on_ctrl_c() -> None:
    """Turn SIGTERM and SIGHUP into Ctrl-C, for whatever handles that at the time; call it in the main thread.

    A signal that the program was told to ignore, as `nohup` does, stays ignored. When the terminal is closed,
    output goes nowhere, so that what is printed at the end cannot fail.
    """
    terminals = [stream for stream in _STREAMS if os.isatty(stream)]

    def interrupt(_number: int, _frame: FrameType | None) -> None:
        if callable(signal.getsignal(signal.SIGINT)):
            signal.raise_signal(signal.SIGINT)
        else:  # a shell ignores Ctrl-C for what it runs in the background
            raise KeyboardInterrupt

    def hang_up(number: int, frame: FrameType | None) -> None:
        nowhere = os.open(os.devnull, os.O_RDWR)
        for stream in terminals:
            os.dup2(nowhere, stream)
        os.close(nowhere)
        interrupt(number, frame)

    signal.signal(signal.SIGTERM, interrupt)
    hangup = getattr(signal, "SIGHUP", None)  # not on Windows
    if hangup is not None and signal.getsignal(hangup) is not signal.SIG_IGN:
        signal.signal(hangup, hang_up)
