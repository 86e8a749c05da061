"""The protocol without I/O: text in, events and messages out.

`core` holds the stages of a connection and `seat` one game from our seat, with the table of its states;
`known_round` holds the events and the record of the round, `turn` the open prompt, our choices on the wire
and our riichi until it is confirmed. `resume` and `path_events` rebuild a round from a snapshot, in an order
that `game.position.turn_order` finds.
"""
