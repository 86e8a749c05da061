"""The protocol without I/O: text in, events and replies out.

`core` knows the stages of a connection, `seat` one game from our chair, `prompts` our choices on the wire;
`resume` and what stands beside it rebuild a round from a snapshot. `watch` and `conduct` read other people's
traffic through the same pieces.
"""

from bot.tenhou.session.core import Session, SessionSettings, Stage

__all__ = ["Session", "SessionSettings", "Stage"]
