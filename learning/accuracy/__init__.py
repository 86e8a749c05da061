"""Agreement of checkpoints with the players of real games, and its uncertainty.

`data` selects the decisions, `answers` asks networks and the rule-based player, `scores` computes the
figures, `evaluate` combines these, and `report` holds the result.
"""

from learning.accuracy.evaluate import Settings, evaluate, make_settings
from learning.accuracy.report import AccuracyReport

__all__ = ["AccuracyReport", "Settings", "evaluate", "make_settings"]
