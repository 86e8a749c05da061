"""Run-time policy adaptation: for one round, the discard model learns from play-outs of the dealt hand.

`adaptation` is the algorithm, with `settings`, and tests what was learned; `gradient_lesson` learns from the
pool of play-outs.
"""

from policies.adaptation.adaptation import AdaptationProgress, PolicyAdaptation
from policies.adaptation.settings import AdaptationSettings

__all__ = ["AdaptationProgress", "AdaptationSettings", "PolicyAdaptation"]
