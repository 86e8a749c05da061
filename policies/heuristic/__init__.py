"""The rule-based player, and the estimates of danger and hand value behind it."""
