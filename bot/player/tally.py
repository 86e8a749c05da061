"""Counts of a run."""

from __future__ import annotations

from array import array

import numpy as np

from policies.flow.decisions import Decision


class DecisionTally:
    """Counts over all games of a run.

    Attributes:
        decisions: prompts answered.
        fallbacks: those answered by the rules instead of the policy.
        late: answers that exceeded their budget, or whose prompt was over before they were sent.
        improved: decisions that adaptation or a search took part in.
        changed: those of them in which the policy alone would have done something else.
    """

    def __init__(self) -> None:
        self.decisions = 0
        self.fallbacks = 0
        self.late = 0
        self.improved = 0
        self.changed = 0
        self._latencies_ms = array("d")

    def add(self, latency_ms: float, decision: Decision, *, fallback: bool) -> None:
        """Count an answered prompt; ``latency_ms`` is from frame received to reply sent, without delays."""
        self.decisions += 1
        self.fallbacks += fallback
        if decision.improvement is not None:
            self.improved += 1
            self.changed += decision.action != decision.improvement.base
        self._latencies_ms.append(latency_ms)

    @property
    def latest_ms(self) -> float:
        """The latency of the last answer; 0 before the first."""
        return self._latencies_ms[-1] if self._latencies_ms else 0.0

    def percentile_ms(self, percent: float) -> float:
        """The latency not exceeded by ``percent`` of the answers; 0 before the first."""
        return float(np.percentile(self._latencies_ms, percent)) if self._latencies_ms else 0.0
