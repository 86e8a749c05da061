"""How often a checkpoint answers as the players of real games did, and how much that says.

`data` is what is measured on, `answers` asks networks and the rule-based player, `scores` adds up, `evaluate`
puts it together, `report` and `text` are what comes out.
"""

from learning.accuracy.evaluate import Settings, evaluate, make_settings
from learning.accuracy.report import AccuracyReport
from learning.accuracy.text import print_report

__all__ = ["AccuracyReport", "Settings", "evaluate", "make_settings", "print_report"]
