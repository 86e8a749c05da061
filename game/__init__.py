"""What a mahjong table is: tiles, melds, events, the state they fold into, the rules, the points.

The lowest floor: it knows no socket, no file and no policy.
"""
