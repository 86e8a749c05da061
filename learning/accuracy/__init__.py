"""Agreement of checkpoints with the players of real games, and its uncertainty.

`data` selects the decisions, `answers` asks networks and the rule-based player, `scores` computes the
figures, `evaluate` combines these, and `report` holds the result.
"""
