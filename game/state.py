"""The state of one round: its record, `apply`, and accessors.

A record is one element of an array of `ROUND_STATE`; `game.layout` lists its fields. Players are absolute.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Any

import numpy as np
import numpy.typing as npt

from game.events import GameEvent, Riichi
from game.fold.dispatch import fold_one, fold_stream
from game.fold.reasons import REASONS
from game.layout import AT_HAND, ROUND_STATE
from game.melds import Meld, MeldKind
from game.packing import Packed, pack, pack_all
from game.tiles import UNSEEN
from kit.errors import StateMismatchError
from kit.jit import kernel


def new_round() -> np.void:
    """An empty record, waiting for a `StartRound`."""
    record: np.void = np.zeros(1, dtype=ROUND_STATE)[0]
    return record


def clone(record: np.void) -> np.void:
    """An independent copy."""
    copy: np.void = record.copy()
    return copy


def row_of(record: np.void) -> npt.NDArray[np.void]:
    """The record as an array of one, sharing its memory.

    Records are passed from Python to kernels this way: determining the type of a bare record takes numba
    about ten times longer than most of our kernels run.
    """
    return np.asarray(record).reshape(1)


@kernel
def _fold_one(rows: Any, code: Any) -> Any:
    return fold_one(rows[0], code)


@kernel
def _fold_stream(rows: Any, codes: Any) -> Any:
    return fold_stream(rows[0], codes)


def apply(record: np.void, event: GameEvent) -> None:
    """Fold one event into a record.

    Raises:
        StateMismatchError: the event does not fit; the record is unchanged.
    """
    packed = pack(event)
    if packed is None:
        return
    reason = _fold_one(row_of(record), packed)
    if reason:
        raise StateMismatchError(f"{event!r} does not fit: {REASONS[reason]}")


def declared(record: np.void, player: int) -> np.void:
    """A copy of a round in which a player has just declared riichi."""
    copy = clone(record)
    apply(copy, Riichi(player))
    return copy


def misfit(record: np.void, packed: Packed) -> int:
    """Why one packed event does not fit, as a place in `REASONS`; 0 if it does."""
    return int(_fold_one(row_of(clone(record)), packed))


def apply_all(record: np.void, events: Iterable[GameEvent]) -> None:
    """Fold several events, in order.

    Raises:
        StateMismatchError: one of them does not fit; those before it have been folded.
    """
    events = tuple(events)
    try:
        stream = pack_all(events)
    except StateMismatchError:
        for event in events:
            apply(record, event)
        raise
    folded, reason = _fold_stream(row_of(record), stream)
    if reason:
        misfit = [event for event in events if pack(event) is not None][folded]
        raise StateMismatchError(f"{misfit!r} does not fit: {REASONS[reason]}")


def fold_packed(record: np.void, stream: Packed) -> int:
    """Fold consecutive packed events; the number of events.

    Raises:
        StateMismatchError: one of them does not fit; those before it have been folded.
    """
    folded, reason = _fold_stream(row_of(record), stream)
    if reason:
        raise StateMismatchError(f"packed event {folded} does not fit: {REASONS[reason]}")
    return int(folded)


def hand_tiles(record: np.void, player: int) -> list[int]:
    """Concealed tiles of a known hand, ascending; empty for an unknown hand."""
    return [int(tile) for tile in np.flatnonzero(record["where"] == AT_HAND + player)]


def free_copy(record: np.void, copies: Iterable[int], place: int, taken: Collection[int] = ()) -> int | None:
    """The first of these tiles that lies at a place (``AT_*``) and is not taken yet; None if none does."""
    where = record["where"]
    return next((tile for tile in copies if tile not in taken and where[tile] == place), None)


def river_of(record: np.void, player: int) -> list[int]:
    """All of a player's discards in order, called ones included."""
    return [int(tile) for tile in record["river"][player][: record["river_size"][player]]]


def melds_of(record: np.void, player: int) -> list[Meld]:
    """A player's melds in the order they were made."""
    melds = []
    for slot in range(int(record["meld_count"][player])):
        tiles = record["meld_tiles"][player, slot]
        melds.append(
            Meld(
                kind=MeldKind(int(record["meld_kind"][player, slot])),
                tiles=tuple(int(tile) for tile in tiles if tile != UNSEEN),
                called=int(record["meld_called"][player, slot]),
                from_seat=(int(record["meld_from"][player, slot]) - player) % 4,
                added=int(record["meld_added"][player, slot]),
            )
        )
    return melds


def unseen34(record: np.void, player: int) -> npt.NDArray[np.int8]:
    """``[34]`` int8: copies of each kind that are neither in the player's hand nor visible on the table."""
    unseen: npt.NDArray[np.int8] = 4 - record["seen34"] - record["hand34"][player]
    return unseen


def is_furiten(record: np.void, player: int) -> bool:
    """Whether a player with a known hand may not win by ron now."""
    if record["missed_turn"][player] or record["missed_riichi"][player]:
        return True
    return bool(record["waits"][player] & record["river34"][player])
