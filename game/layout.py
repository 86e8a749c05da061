"""The memory layout of one round: a NumPy record, its fields and the constants in them.

A batch of tables is an array of records; copying a record clones the round. The record covers all four
players; a hand we have not seen has ``hand_known`` 0 and only its size. Only `game.state.apply` changes a
record.
"""

from __future__ import annotations

from typing import Final

import numpy as np

LIVE_TILES: Final = 70
"""Tiles drawn in a round after the deal, replacement tiles included."""

RIVER_MAX: Final = 30

# Where a physical tile is; add the player (0-3) to the two bases.
AT_UNSEEN: Final = 0
AT_HAND: Final = 1
AT_RIVER: Final = 5
AT_MELD: Final = 9
AT_INDICATOR: Final = 13

# What the table waits for.
PHASE_IDLE: Final = 0
"""No round has been dealt."""
PHASE_DRAW: Final = 1
"""``turn`` draws next (after an unclaimed discard or a kan)."""
PHASE_TURN: Final = 2
"""``turn`` has drawn: win, kan, riichi, nine terminals or discard."""
PHASE_CALLED: Final = 3
"""``turn`` has called chi or pon, or declared riichi: only a discard is possible."""
PHASE_CLAIM: Final = 4
"""``last_tile`` was discarded by ``last_player``: the others may win or call."""
PHASE_ROB: Final = 5
"""``last_tile`` was added to a pon by ``last_player``: the others may win."""

PHASE_ENDED: Final = 6
"""The round has its result; after a ron, another ron on the same tile may follow."""

RIVER_TSUMOGIRI: Final = 1
RIVER_RIICHI: Final = 2
RIVER_CALLED: Final = 4

ROUND_STATE: Final = np.dtype(
    [
        # the round
        ("round_index", "i1"),  # 0 East 1 … 4 South 1 … 8 West 1
        ("honba", "i2"),
        ("riichi_sticks", "i2"),
        ("dealer", "i1"),
        ("scores", "i4", (4,)),  # points, paid riichi sticks deducted
        ("indicators", "i2", (5,)),  # physical tiles, -1 where not shown
        ("indicator_count", "i1"),
        ("wall_left", "i2"),  # tiles that can still be drawn, replacement tiles included
        ("kan_count", "i1"),
        # the moment
        ("phase", "i1"),
        ("turn", "i1"),
        ("drawn", "i2"),  # tile that `turn` just drew; -1 if none or unseen
        ("rinshan", "u1"),  # the next (PHASE_DRAW) or last draw is a replacement tile
        ("last_player", "i1"),  # the player who discarded or added `last_tile`
        ("last_tile", "i2"),
        ("unbroken", "u1"),  # no call yet (double riichi, nine terminals, heavenly wins)
        ("kuikae", "u8"),  # kinds `turn` may not discard after the call
        ("discard_count", "i2"),  # of all players in this round
        # the players, absolute
        ("hand_known", "u1", (4,)),
        ("hand_size", "i1", (4,)),  # concealed tiles
        ("hand34", "i1", (4, 34)),  # concealed tiles by kind; zeros where unknown
        ("where", "u1", (136,)),  # place of every physical tile, AT_*
        ("seen34", "i1", (34,)),  # visible copies: rivers, melds, indicators; a called tile counts once
        ("river", "i2", (4, RIVER_MAX)),  # physical tiles, -1 past the end; called tiles stay
        ("river_marks", "u1", (4, RIVER_MAX)),  # RIVER_* bits
        ("river_order", "i2", (4, RIVER_MAX)),  # `discard_count` when discarded
        ("river_size", "i1", (4,)),
        ("river34", "u8", (4,)),  # bit per kind the player discarded, called tiles included
        ("safe34", "u8", (4,)),  # bit per kind passed since the player's riichi, or discarded by the player
        ("turn_safe34", "u8", (4,)),  # bit per kind passed since the player's last discard
        ("meld_kind", "i1", (4, 4)),  # MeldKind, 0 where none, in order of call
        ("meld_tiles", "i2", (4, 4, 4)),  # ascending, an ankan's naming copy first; -1 past the end
        ("meld_called", "i2", (4, 4)),  # tile taken from another player, -1 for ankan
        ("meld_from", "i1", (4, 4)),  # absolute player it was taken from; the caller for ankan
        ("meld_added", "i2", (4, 4)),  # tile a kakan added, else -1
        ("meld_order", "i2", (4, 4)),  # `discard_count` when called
        ("meld_count", "i1", (4,)),
        ("is_open", "u1", (4,)),
        ("riichi", "u1", (4,)),  # 0 no, 1 declared, 2 accepted
        ("double_riichi", "u1", (4,)),
        ("riichi_order", "i2", (4,)),  # `discard_count` of the riichi discard, -1 if none
        ("ippatsu", "u1", (4,)),
        ("waits", "u8", (4,)),  # bit per kind that completes a known 13-tile hand
        ("missed_turn", "u1", (4,)),  # missed a win since the last discard (temporary furiten)
        ("missed_riichi", "u1", (4,)),  # missed a win in riichi: furiten for the rest of the round
        ("liable_dragons", "i1", (4,)),  # player liable for the three dragons, -1 for none
        ("liable_winds", "i1", (4,)),  # player liable for the four winds, -1 for none
    ],
    align=True,
)
"""One round: the open table, and every hand that is known."""
