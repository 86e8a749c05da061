"""The command line: `suzaku play | table | lobby | dashboard | engine | check | games | review | train | …`.

Results go to stdout, logs to stderr. Exit codes: 0 done, 1 failed while running, 2 usage or configuration,
130 interrupted. Each command imports the heavy modules that it needs, so that ``--help`` is quick.
"""

from __future__ import annotations

import gc
import sys
from typing import Final

from bot.cli.output import checked_output
from kit.signals import end_as_on_ctrl_c

_RARELY: Final = (100_000, 50, 50)
"""Thresholds of the garbage collector; with the usual ones, it takes a tenth of a start."""


def main() -> None:
    """Entry point of the `suzaku` program."""
    end_as_on_ctrl_c()
    gc.set_threshold(*_RARELY)
    from bot.cli.program import run

    with checked_output():
        code = run(sys.argv[1:])
    gc.freeze()  # or Python's end collects garbage among all objects, for 0.05 to 0.15 s
    sys.exit(code)
