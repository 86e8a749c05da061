"""From what a seat sees to what it does: win rule, heuristic, decision flow, networks."""
