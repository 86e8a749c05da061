"""The value of a win, and the payments that follow from it."""
