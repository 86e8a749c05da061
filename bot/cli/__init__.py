"""The command line: `suzaku play | table | lobby | dashboard | engine | check | games | review | train | …`.

Results go to stdout, logs to stderr. Exit codes: 0 done, 1 failed while running, 2 usage or configuration,
130 interrupted. Each command imports the heavy modules that it needs, so that ``--help`` is quick.
"""

from __future__ import annotations

import sys

from bot.cli.output import checked_output
from bot.cli.program import run
from kit.signals import end_as_on_ctrl_c


def main() -> None:
    """Entry point of the `suzaku` program."""
    end_as_on_ctrl_c()
    with checked_output():
        code = run(sys.argv[1:])
    sys.exit(code)
