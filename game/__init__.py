"""The mahjong table: tiles, melds, events, round state, rules and scoring.

The lowest layer: it knows nothing of sockets, files or policies.
"""
