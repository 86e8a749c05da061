"""One way to end a program: SIGTERM and SIGHUP do what Ctrl-C does."""

from __future__ import annotations

import os
import signal
from types import FrameType
from typing import Final

_STREAMS: Final = (0, 1, 2)


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
