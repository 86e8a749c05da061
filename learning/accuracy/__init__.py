"""Agreement of checkpoints with the players of real games, and its uncertainty.

`data` selects the decisions, `answers` asks networks and the rule-based player, `scores` computes the
figures, `evaluate` combines these, and `report` and `text` present the result.
"""

from learning.accuracy.evaluate import Settings, evaluate, make_settings
from learning.accuracy.report import AccuracyReport
from learning.accuracy.text import print_report

__all__ = ["AccuracyReport", "Settings", "evaluate", "make_settings", "print_report"]
