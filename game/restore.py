"""Completes one player's view of a round: fills every hand from a guess at the unseen tiles."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np

from game.errors import StateMismatchError
from game.layout import (
    AT_HAND,
    AT_UNSEEN,
    PHASE_CALLED,
    PHASE_CLAIM,
    PHASE_DRAW,
    PHASE_ROB,
    PHASE_TURN,
)
from game.shanten import waits
from game.state import clone, hand_tiles
from game.tiles import TILES
from game.walls import LIVE_TILES

_ASKED: Final = (PHASE_TURN, PHASE_CALLED, PHASE_CLAIM, PHASE_ROB)


def is_dealt(record: np.void) -> bool:
    """Whether the round has been dealt and the dealer has not drawn yet."""
    return bool(record["phase"] == PHASE_DRAW and record["wall_left"] == LIVE_TILES)


def concealed_hands(record: np.void) -> list[list[int]]:
    """The concealed tiles of every player in a round with all hands known, a tile just drawn last."""
    hands = [hand_tiles(record, player) for player in range(4)]
    drawn = int(record["drawn"])
    for hand in hands:
        if drawn in hand:
            hand.remove(drawn)
            hand.append(drawn)
    return hands


def filled(record: np.void, hands: Sequence[Sequence[int]], hidden: Sequence[int]) -> np.void:
    """A copy of the record in which all four hands are known.

    Args:
        record: a round in progress, in a phase in which players are asked, or just dealt.
        hands: concealed tiles of each player, with a tile just drawn last.
        hidden: the tiles neither in a hand nor on the table.

    Raises:
        StateMismatchError: the round is in another phase, or the tiles do not fit the record.
    """
    if record["phase"] not in _ASKED and not is_dealt(record):
        raise StateMismatchError("no player is asked in this phase of the round")
    full = clone(record)
    for player in range(4):
        if record["hand_known"][player]:
            known = np.flatnonzero(record["where"] == AT_HAND + player).tolist()
            if known != sorted(hands[player]):
                raise StateMismatchError(f"the hand of player {player} is known and differs")
        else:
            _fill(full, player, hands[player])
    if sorted(hidden) != np.flatnonzero(full["where"] == AT_UNSEEN).tolist():
        raise StateMismatchError("the hidden tiles are not those missing from the hands and the table")
    return full


def _fill(full: np.void, player: int, hand: Sequence[int]) -> None:
    if len(hand) != full["hand_size"][player]:
        raise StateMismatchError(f"player {player} holds {full['hand_size'][player]} tiles, not {len(hand)}")
    for tile in hand:
        if not 0 <= tile < TILES or full["where"][tile] != AT_UNSEEN:
            raise StateMismatchError(f"tile {tile} in the hand of player {player} lies elsewhere")
        full["where"][tile] = AT_HAND + player
        full["hand34"][player, tile >> 2] += 1
    full["hand_known"][player] = 1
    drawn = len(hand) % 3 == 2
    counts = full["hand34"][player].copy()
    if drawn:
        counts[hand[-1] >> 2] -= 1
        if full["riichi"][player] or full["phase"] == PHASE_TURN:
            full["drawn"] = hand[-1]
    ready = np.uint64(waits(counts, int(full["meld_count"][player])))
    full["waits"][player] = ready
    full["missed_turn"][player] = bool(ready & full["turn_safe34"][player])
    full["missed_riichi"][player] = bool(
        full["riichi"][player] == 2 and ready & full["safe34"][player] & ~full["river34"][player]
    )
