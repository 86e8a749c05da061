"""A run that is asked to stop."""

from __future__ import annotations

import os
import signal
from typing import Any

import pytest

from learning.runs.learner import Descent


def stop_at(patch: pytest.MonkeyPatch, step: int, owner: type = Descent, name: str = "step") -> None:
    """Press Ctrl-C at a step of learning: at so many calls of a method."""
    left, real = [step], getattr(owner, name)

    def counted(*args: Any) -> Any:
        left[0] -= 1
        if left[0] == 0:
            os.kill(os.getpid(), signal.SIGINT)
        return real(*args)

    patch.setattr(owner, name, counted)
