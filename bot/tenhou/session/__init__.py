"""The protocol without I/O: text in, events and messages out.

`core` holds the stages of a connection and `seat` one game from our seat. `seat_states` is the table of a
seat's states; `known_round` holds the record of the round, `turn` the open prompt and our riichi
until it is confirmed and `game_log` the events. `prompts` converts our choices to the wire and back.
`comeback`, `resume` and `path_events` rebuild a round from a snapshot, in an order that `game.turn_order` finds.
"""

from bot.tenhou.session.core import Session, SessionSettings, Stage

__all__ = ["Session", "SessionSettings", "Stage"]
