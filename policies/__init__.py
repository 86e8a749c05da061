"""From a player's view of the table to an action: win rule, heuristic, decision flow, networks."""
