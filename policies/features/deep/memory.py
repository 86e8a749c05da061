"""The input and working memory of the deep search: one record, refilled for each state."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from game.layout import AT_HAND
from game.rules import riichi_allowed
from game.scoring.hand_parts import F_ADDED, FRAME, add_meld, set_frame
from game.scoring.set_patterns import DORA, SUIT_KINDS, SUIT_PATTERNS
from kit.jit import kernel
from policies.features.melds import count_dora, dora_in_melds
from policies.features.sight import draws_left

KINDS: Final = 34
MOST_MISSING: Final = 3
"""The search covers hands that lack at most this many tiles."""
LEVELS: Final = 13
"""0 for a hand without a yaku, plus one for each threshold that its points reach."""
MOST_HELD: Final = 14
"""Maximum number of kinds in a hand."""
MOST_ITEMS: Final = SUIT_PATTERNS * (1 + SUIT_KINDS)
"""Maximum number of items of a suit."""
MULTISETS: Final = 34 + 595 + 7140
"""Number of multisets of one, two and three kinds."""

# Columns of an item: one possible completion of a suit.
I_KINDS: Final = 0
"""Missing tiles, ascending, 6 bits each."""
I_WEIGHT: Final = 1
"""Ways to pick them from the unseen tiles."""
I_SURPLUS: Final = 2
"""Kinds with a surplus tile, one bit for the `place` of each."""
I_ADDED: Final = 3
I_FLAGS: Final = 4
I_MASK: Final = 5
I_PATTERN: Final = 6
I_PAIR: Final = 7
I_BUCKET: Final = 8
ITEM: Final = 9

BUCKETS: Final = 2 * 5 * 4
"""Items of a suit by pair, sets and missing tiles, in this order."""

MEMORY: Final = np.dtype(
    [
        ("frame", "i8", (FRAME,)),
        ("hand34", "i1", (34,)),
        ("unseen34", "i1", (34,)),
        ("dora34", "i1", (34,)),  # how often each kind counts as dora
        ("reds", "i1", (3,)),  # red fives in the concealed hand
        ("unseen", "i4"),
        ("draws", "i4"),  # mine, remaining
        ("river", "u8"),  # kinds I have discarded
        ("barred", "u1"),  # furiten for the rest of the round
        # the result
        ("place", "i1", (34,)),  # index of each kind held
        ("kinds", "i8"),  # number of kinds held
        ("furiten", "u1", (34,)),  # after discarding the kind
        ("weights", "i8", (MOST_HELD, MOST_MISSING, LEVELS)),  # by discard, missing tiles and exact level
        # working memory
        ("best", "u1", (MOST_HELD * MULTISETS,)),  # best level by discard and multiset of missing tiles
        ("least", "i8", (4, 2, 5)),  # tiles that suits lack for sets with and without the pair
        ("may_lack", "i8", (4, 2, 5)),  # tiles that a suit may lack for sets with and without the pair
        ("limit", "i8", (3, 5)),  # the same for the suit being listed, and with possibly more sets
        ("count", "i8", (4,)),
        ("items", "i8", (4, MOST_ITEMS, ITEM)),
        ("order", "i4", (4, MOST_ITEMS)),  # items by bucket
        ("start", "i4", (4, BUCKETS + 1)),
        ("filled", "i4", (4, BUCKETS)),  # the non-empty buckets
        ("filled_count", "i8", (4,)),
        ("chosen", "i8", (4,)),  # the items of the current target
    ],
    align=True,
)
"""Its last arrays are large, but only their first pages are touched."""


@kernel
def lay_out(rec: Any, me: int, memory: Any) -> None:
    """Read a round as a player sees it.

    Args:
        rec: One `ROUND_STATE`; the player's own hand must be known.
        me: The player.
        memory: One `MEMORY`; its input fields are filled.
    """
    _read_melds(rec, me, memory)
    count_dora(rec, memory.dora34)
    memory.frame[F_ADDED] += dora_in_melds(rec, me, memory.dora34) << DORA
    memory.unseen = 0
    for kind in range(KINDS):
        memory.hand34[kind] = rec.hand34[me, kind]
        memory.unseen34[kind] = max(0, 4 - rec.seen34[kind] - rec.hand34[me, kind])
        memory.unseen += memory.unseen34[kind]
    for suit in range(3):
        memory.reds[suit] = rec.where[36 * suit + 16] == AT_HAND + me
    memory.draws = draws_left(rec, me)
    memory.river = rec.river34[me]
    memory.barred = rec.missed_riichi[me]


@kernel
def _read_melds(rec: Any, me: int, memory: Any) -> None:
    riichi = 0
    if rec.riichi[me]:
        riichi = 1 + rec.double_riichi[me]
    elif riichi_allowed(rec, me):
        riichi = 1
    fill_frame(rec, me, riichi, memory.frame)


@kernel
def fill_frame(rec: Any, player: int, riichi: int, frame: Any) -> None:
    """Fill a frame (`game.scoring.hand_parts`) with a player's melds and winds, and the han of riichi."""
    set_frame(frame, (player - rec.dealer) % 4, int(rec.round_index) // 4, riichi, 0)
    for slot in range(rec.meld_count[player]):
        add_meld(frame, int(rec.meld_kind[player, slot]), int(rec.meld_tiles[player, slot, 0]) >> 2)
