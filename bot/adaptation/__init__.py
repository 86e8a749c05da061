"""Adaptation and search in play: a process that thinks beside the game, and the use of its results.

`messages` is what both sides say; `worker` is the life of the process, a `kit.workers.child.Child`;
`thoughts` is what the player asks: results count only if they belong to the moment and pass a check.
"""
