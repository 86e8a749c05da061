"""One player's view of a round: hides the other hands, and fills them from a guess at the unseen tiles."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from game.layout import (
    AT_HAND,
    AT_UNSEEN,
    LIVE_TILES,
    PHASE_CALLED,
    PHASE_CLAIM,
    PHASE_DRAW,
    PHASE_ROB,
    PHASE_TURN,
)
from game.shanten import waits
from game.state import clone, hand_tiles, new_round, row_of
from game.tiles import TILES, UNSEEN
from kit.errors import StateMismatchError
from kit.jit import kernel, warms_up

_ASKED: Final = (PHASE_TURN, PHASE_CALLED, PHASE_CLAIM, PHASE_ROB)
_NONE: Final = np.uint64(0)


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


def seen_by(record: np.void, player: int) -> np.void:
    """A copy of the record with only what a player sees: the other hands are unknown, their sizes stay."""
    view = clone(record)
    for other in range(4):
        if other == player:
            continue
        view["hand_known"][other] = 0
        view["hand34"][other] = 0
        view["where"][record["where"] == AT_HAND + other] = AT_UNSEEN
        for field in ("waits", "missed_turn", "missed_riichi"):
            view[field][other] = 0
    if view["turn"] != player:
        view["drawn"] = UNSEEN
    return view


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
    for place, tile in enumerate(hand):
        if not 0 <= tile < TILES or full["where"][tile] != AT_UNSEEN or tile in hand[:place]:
            raise StateMismatchError(f"tile {tile} in the hand of player {player} lies elsewhere")
    fill_hand(row_of(full), player, np.array(hand, np.int16))


@kernel
def fill_hand(rows: Any, player: int, hand: Any) -> None:
    """Fill in a hand that was unknown; nothing is checked.

    Args:
        rows: the record, as an array of one.
        player: absolute.
        hand: ``[n]`` int16, its concealed tiles, a tile just drawn last.
    """
    rec = rows[0]
    for tile in hand:
        rec.where[tile] = AT_HAND + player
        rec.hand34[player, tile >> 2] += 1
    rec.hand_known[player] = 1
    counts = rec.hand34[player].copy()
    if len(hand) % 3 == 2:
        drawn = hand[len(hand) - 1]
        counts[drawn >> 2] -= 1
        if rec.riichi[player] != 0 or rec.phase == PHASE_TURN:
            rec.drawn = drawn
    ready = waits(counts, int(rec.meld_count[player]))
    rec.waits[player] = ready
    rec.missed_turn[player] = ready & rec.turn_safe34[player] != _NONE
    missed = ready & rec.safe34[player] & ~rec.river34[player] != _NONE
    rec.missed_riichi[player] = rec.riichi[player] == 2 and missed


@warms_up
def _warm_up() -> None:
    fill_hand(row_of(new_round()), 0, np.arange(13, dtype=np.int16))
