"""The opponents' hands at decisions of real games: what a model of hidden hands learns to predict."""

from __future__ import annotations

from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from game.layout import AT_HAND, AT_UNSEEN, ROUND_STATE
from game.rules import is_furiten
from game.scoring.fast import win_points
from game.scoring.hand_parts import FRAME
from game.shanten import shanten
from game.tiles import KINDS, RED_FIVES
from kit.jit import kernel, warms_up
from policies.features.deep.memory import fill_frame
from policies.features.permute import KIND_MAPS, permute_columns

OPPONENTS: Final = 3
SUITS: Final = 3


class HiddenHands(NamedTuple):
    """Hands at N decisions: the player's own, then the opponents' in turn order.

    Attributes:
        copies: ``[N, 4, 34]`` int8, concealed copies of each kind.
        reds: ``[N, 4, 3]`` bool, whether the red five of each suit is among them.
        shanten: ``[N, 3]`` int8, of the opponents.
        waits: ``[N, 3, 34]`` bool, the kinds each opponent waits on.
        deal_ins: ``[N, 3, 34]`` bool, the kinds that would deal in now: waits with a yaku, without furiten.
        unseen: ``[N, 34]`` int8, copies that the player cannot see.
        reds_unseen: ``[N, 3]`` bool, whether the red five of each suit is among them.
        riichi: ``[N, 3]`` bool, whether each opponent has declared.
    """

    copies: NDArray[np.int8]
    reds: NDArray[np.bool_]
    shanten: NDArray[np.int8]
    waits: NDArray[np.bool_]
    deal_ins: NDArray[np.bool_]
    unseen: NDArray[np.int8]
    reds_unseen: NDArray[np.bool_]
    riichi: NDArray[np.bool_]


def no_hands(count: int) -> HiddenHands:
    """Buffers for the hands at some decisions."""
    return HiddenHands(
        np.zeros((count, 4, KINDS), np.int8),
        np.zeros((count, 4, SUITS), np.bool_),
        np.zeros((count, OPPONENTS), np.int8),
        np.zeros((count, OPPONENTS, KINDS), np.bool_),
        np.zeros((count, OPPONENTS, KINDS), np.bool_),
        np.zeros((count, KINDS), np.int8),
        np.zeros((count, SUITS), np.bool_),
        np.zeros((count, OPPONENTS), np.bool_),
    )


def hidden_hands(
    states: NDArray[np.void], players: NDArray[np.int8], numbers: NDArray[np.int64] | None = None
) -> HiddenHands:
    """The hands at some decisions.

    Args:
        states: ``[N]`` of `ROUND_STATE`, with all hands known.
        players: ``[N]``, who decides.
        numbers: ``[N]``, how the tiles of each are permuted (`policies.features.permute`); None for not.
    """
    found = no_hands(len(states))
    _fill(np.require(states, requirements=["C", "W"]), players.astype(np.int64), found)
    return found if numbers is None else _permuted(found, numbers)


def _permuted(found: HiddenHands, numbers: NDArray[np.int64]) -> HiddenHands:
    def by_kind(values: NDArray[Any]) -> NDArray[Any]:
        hands = values.shape[1]
        rows = permute_columns(values.reshape(-1, KINDS), np.repeat(numbers, hands))
        return rows.reshape(values.shape)

    suits = KIND_MAPS[numbers][:, 0:27:9].astype(np.intp) // 9
    reds, reds_unseen = np.empty_like(found.reds), np.empty_like(found.reds_unseen)
    np.put_along_axis(reds, np.broadcast_to(suits[:, None], reds.shape), found.reds, axis=2)
    np.put_along_axis(reds_unseen, suits, found.reds_unseen, axis=1)
    return found._replace(
        copies=by_kind(found.copies),
        reds=reds,
        waits=by_kind(found.waits),
        deal_ins=by_kind(found.deal_ins),
        unseen=permute_columns(found.unseen, numbers),
        reds_unseen=reds_unseen,
    )


@kernel
def _fill(states: Any, players: Any, found: Any) -> None:
    frame = np.empty(FRAME, dtype=np.int64)
    for row in range(len(states)):
        rec, me = states[row], players[row]
        for step in range(4):
            player = (me + step) % 4
            found.copies[row, step] = rec.hand34[player]
            for suit in range(SUITS):
                found.reds[row, step, suit] = rec.where[RED_FIVES[suit]] == AT_HAND + player
        for suit in range(SUITS):
            place = rec.where[RED_FIVES[suit]]
            in_hand = AT_HAND <= place < AT_HAND + 4
            found.reds_unseen[row, suit] = place == AT_UNSEEN or (in_hand and place != AT_HAND + me)
        for kind in range(KINDS):
            found.unseen[row, kind] = 4 - rec.seen34[kind] - rec.hand34[me, kind]
        for step in range(OPPONENTS):
            other = (me + step + 1) % 4
            found.riichi[row, step] = rec.riichi[other] > 0
            found.shanten[row, step] = shanten(rec.hand34[other], int(rec.meld_count[other]))
            _fill_waits(rec, other, frame, found.waits[row, step], found.deal_ins[row, step])


@kernel
def _fill_waits(rec: Any, other: int, frame: Any, waits: Any, deal_ins: Any) -> None:
    mask = rec.waits[other]
    if mask == np.uint64(0):
        return
    furiten = is_furiten(rec, other)
    riichi = rec.riichi[other] > 0
    fill_frame(rec, other, int(riichi), frame)
    hand34 = rec.hand34[other].copy()
    for kind in range(KINDS):
        if (mask >> np.uint64(kind)) & np.uint64(1) == np.uint64(0):
            continue
        waits[kind] = True
        hand34[kind] += 1
        deal_ins[kind] = not furiten and (riichi or win_points(hand34, kind, False, 0, frame) > 0)
        hand34[kind] -= 1


@warms_up
def _warm_up() -> None:
    hidden_hands(np.zeros(1, ROUND_STATE), np.zeros(1, np.int8))
