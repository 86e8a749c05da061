"""The configuration: its settings, its sources, and its problems in words."""
