"""Adaptation and search in play: a process that thinks beside the game, and the use of its results.

`search` and `adapt` are each both sides of one of them, with their messages. `thoughts` is the life of the
process, a `kit.workers.child.Child`, and what the player asks: results count only if they belong to the
moment and pass a check. `messages` are those of both.
"""
