"""The size of a test: a sample in `make test`, everything in `make test-all`."""

from __future__ import annotations

import os


def scaled(quick: int, full: int) -> int:
    """The number of examples, of games or of attempts in the tier of tests that runs."""
    return full if os.environ.get("HYPOTHESIS_PROFILE") == "full" else quick
