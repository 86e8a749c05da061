"""Real games to learn from: corpora, and the decisions in them as samples."""
