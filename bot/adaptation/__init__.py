"""Adaptation and search in play: a process that thinks beside the game, and the use of its results.

`search` and `adapt` each hold both sides, the program's and the process's, and their messages. `thoughts`
starts, replaces and ends the process, a `kit.workers.child.Child`, and answers the player: results count only
if they belong to the moment and pass a check. `messages` has the messages common to both.
"""
