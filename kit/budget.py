"""A budget that fills again with time: a token bucket."""

from __future__ import annotations

import time
from collections.abc import Callable


class Budget:
    """Limits how often something may happen.

    Args:
        burst: how often at once, after a pause.
        per_s: how often in a second, for as long as it goes on.
        now: a clock in seconds.

    >>> clock = iter([0.0, 0.0, 0.0, 0.0, 0.5])
    >>> budget = Budget(2, 2.0, lambda: next(clock))
    >>> [budget.spend() for _ in range(4)]
    [True, True, False, True]
    """

    def __init__(self, burst: int, per_s: float, now: Callable[[], float] = time.monotonic) -> None:
        self._burst, self._per_s, self._now = burst, per_s, now
        self._left, self._at = float(burst), now()

    def spend(self) -> bool:
        """Spend one of the budget; false if nothing is left."""
        now = self._now()
        self._left = min(self._burst, self._left + (now - self._at) * self._per_s)
        self._at = now
        if self._left < 1.0:
            return False
        self._left -= 1.0
        return True
