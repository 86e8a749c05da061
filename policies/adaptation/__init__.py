"""Run-time policy adaptation: the discard model learns from the hand that was dealt, for one round.

`adaptation` is the whole of it; `settings` says how; `pool` holds what was played out; `natural_lesson` and
`gradient_lesson` are two ways to learn from it.
"""

from policies.adaptation.adaptation import AdaptationProgress, PolicyAdaptation
from policies.adaptation.pool import PlayedRounds
from policies.adaptation.settings import AdaptationSettings

__all__ = ["AdaptationProgress", "AdaptationSettings", "PlayedRounds", "PolicyAdaptation"]
