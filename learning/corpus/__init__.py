"""Real games: checked against our rules, and kept so that learning reads them fast."""
