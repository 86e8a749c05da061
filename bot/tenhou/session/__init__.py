"""The protocol without I/O: text in, events and replies out.

`core` holds the stages of a connection and `seat` one game from our seat: its states are the table in
`seat_states`, `known_round` holds the record of the round, `turn` the open prompt, `game_log` the events.
`prompts` converts our choices to the wire and back. `comeback`, `resume`, `story` and `turn_order` rebuild a
round from a snapshot. `watch` and `conduct` read other people's traffic through the same pieces.
"""

from bot.tenhou.session.core import Session, SessionSettings, Stage

__all__ = ["Session", "SessionSettings", "Stage"]
