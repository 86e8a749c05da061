"""A table as an environment."""

from __future__ import annotations

from game.observation import Observation
from game.table import table
from game.table.restore import seen_by
from suzaku.record import check_seat


class Table(table.Table):
    """One game: ``waiting`` for players, ``observe``, ``step``, until ``done``; then ``scores``.

    ``seed`` determines every wall; ``clone`` gives an independent copy to try something on. ``events`` has
    all that happened, with all tiles; in a finished game the last is an `EndGame` with scores and results.
    """

    def observe(self, player: int) -> Observation:
        """A player's decision: a copy of the round with no more than this player can see.

        Raises:
            ValueError: there is no such player.
        """
        check_seat(player)
        return Observation(seen_by(self.state, player), player, tuple(self.legal(player)), self.length)
