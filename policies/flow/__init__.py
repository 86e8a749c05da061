"""The decision flow of the Suphx paper, and the five slots that it asks."""
