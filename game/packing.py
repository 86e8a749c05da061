"""Events as rows of small integers, read by the fold's kernels and stored in corpora.

A packed event is an int16 array: its code, then its fields; players and tiles are unchanged, scores are in
hundreds. `LENGTHS` gives the length of each code's events, so that packed events can be concatenated.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Final, get_args

import numpy as np
import numpy.typing as npt

from game.events import (
    Ankan,
    Chi,
    Daiminkan,
    Discard,
    DoraRevealed,
    Draw,
    DrawnRound,
    DrawReason,
    GameEvent,
    Kakan,
    Pon,
    Riichi,
    RiichiAccepted,
    StartRound,
    Win,
)
from kit.errors import StateMismatchError

START_ROUND: Final = 1
DRAW: Final = 2
DISCARD: Final = 3
CHI: Final = 4
PON: Final = 5
DAIMINKAN: Final = 6
ANKAN: Final = 7
KAKAN: Final = 8
DORA_REVEALED: Final = 9
RIICHI: Final = 10
RIICHI_ACCEPTED: Final = 11
WIN: Final = 12
DRAWN_ROUND: Final = 13

LENGTHS: Final = (0, 62, 3, 4, 6, 6, 7, 6, 6, 2, 2, 2, 9, 6)
"""Length of a packed event by its code."""

DRAW_REASONS: Final[tuple[DrawReason, ...]] = get_args(DrawReason)

Packed = npt.NDArray[np.int16]


def pack(event: GameEvent) -> Packed | None:
    """The event as the fold reads it; None for one that does not affect the round (names, ends, disconnects).

    Raises:
        StateMismatchError: a number is out of range, or a score is not a multiple of 100.
    """
    packer = _PACKERS.get(type(event))
    if packer is None:
        return None
    try:
        return np.array(packer(event), dtype=np.int16)
    except (OverflowError, ValueError) as exc:
        raise StateMismatchError(f"{type(event).__name__}: a field is out of range ({exc})") from exc


def pack_all(events: Iterable[GameEvent]) -> Packed:
    """Several events, concatenated; those that do not affect the round are left out.

    Raises:
        StateMismatchError: as for `pack`.
    """
    events = tuple(events)
    codes: list[int] = []
    try:
        for event in events:
            packer = _PACKERS.get(type(event))
            if packer is not None:
                codes += packer(event)
        return np.array(codes, dtype=np.int16)
    except (OverflowError, ValueError):
        for event in events:
            pack(event)  # names the one that is out of range
        raise


def _hundreds(points: Iterable[int]) -> list[int]:
    pairs = [divmod(p, 100) for p in points]
    if any(rest for _, rest in pairs):
        raise ValueError("points are not a multiple of 100")
    return [hundreds for hundreds, _ in pairs]


def _start_round(e: StartRound) -> list[int]:
    if any(len(hand) != 13 for hand in e.hands):
        raise ValueError("a hand is dealt 13 tiles")
    head = [START_ROUND, e.round_index, e.honba, e.riichi_sticks, e.dealer, *_hundreds(e.scores)]
    return [*head, e.dora_indicator, *(tile for hand in e.hands for tile in hand)]


def _call(code: int) -> Callable[[Any], list[int]]:
    own = LENGTHS[code] - 4

    def pack_call(e: Chi | Pon | Daiminkan) -> list[int]:
        if len(e.consumed) != own:
            raise ValueError(f"it takes {own} tiles from the hand")
        return [code, e.player, e.from_player, e.tile, *e.consumed]

    return pack_call


def _ankan(e: Ankan) -> list[int]:
    if len(e.consumed) != 4:
        raise ValueError("it takes 4 tiles from the hand")
    return [ANKAN, e.player, *e.consumed]


def _kakan(e: Kakan) -> list[int]:
    if len(e.consumed) != 3:
        raise ValueError("the pon has 3 tiles")
    return [KAKAN, e.player, e.tile, *e.consumed]


_PACKERS: Final[dict[type, Callable[[Any], list[int]]]] = {
    StartRound: _start_round,
    Draw: lambda e: [DRAW, e.player, e.tile],
    Discard: lambda e: [DISCARD, e.player, e.tile, int(e.tsumogiri)],
    Chi: _call(CHI),
    Pon: _call(PON),
    Daiminkan: _call(DAIMINKAN),
    Ankan: _ankan,
    Kakan: _kakan,
    DoraRevealed: lambda e: [DORA_REVEALED, e.indicator],
    Riichi: lambda e: [RIICHI, e.player],
    RiichiAccepted: lambda e: [RIICHI_ACCEPTED, e.player],
    Win: lambda e: [WIN, e.player, e.from_player, e.tile, *_hundreds(e.deltas), e.riichi_sticks],
    DrawnRound: lambda e: [DRAWN_ROUND, DRAW_REASONS.index(e.reason), *_hundreds(e.deltas)],
}
