"""Positions written by hand: text in, a decision out.

`notation` reads the tiles of what a user states, `stated` checks them and gives each its physical copy,
`order` finds an order of play that leads there, and `placing` plays it through the fold. `turn_order`, the
search for the order of turns, serves the session as well, which rebuilds a round from the server's snapshot.
"""

from game.position.placing import PlacedPosition, place
from game.position.stated import FieldError, WrittenPosition

__all__ = ["FieldError", "PlacedPosition", "WrittenPosition", "place"]
