"""Run-time policy adaptation: for one round, the discard model learns from play-outs of the dealt hand.

`adaptation` is the algorithm, with `settings`; `pool` holds the play-outs, `gradient_lesson` learns from
them, and `trial` tests what was learned.
"""

from policies.adaptation.adaptation import AdaptationProgress, PolicyAdaptation
from policies.adaptation.settings import AdaptationSettings

__all__ = ["AdaptationProgress", "AdaptationSettings", "PolicyAdaptation"]
