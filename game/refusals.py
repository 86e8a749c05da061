"""Why the rules do not allow an action, in words.

`game.rules` lists the legal actions. For an action not among them, this module gives the reason: the first
rule condition that fails. The last reason of each function follows by elimination. `game.forbidden` decides
about riichi and the discards after it; this module only words what it finds.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Final

import numpy as np

from game.actions import ActionKind
from game.events import Discard, Riichi
from game.forbidden import (
    HAND_CHANGED,
    KUIKAE,
    RIICHI_NOT_READY,
    RIICHI_OPEN,
    RIICHI_POINTS,
    RIICHI_WALL,
    rule_number,
)
from game.layout import AT_HAND, PHASE_CALLED, PHASE_CLAIM, PHASE_ROB, PHASE_TURN
from game.tiles import TILES, mjai_text

_KIND_OF: Final = {mjai_text(tile): tile >> 2 for tile in range(TILES)}
_CLAIMS: Final = (ActionKind.CHI, ActionKind.PON, ActionKind.DAIMINKAN, ActionKind.RON)
_MOST_KANS: Final = 4
_SUIT: Final = 9
_HONOURS: Final = 27
_WORDS: Final = {
    HAND_CHANGED: "in riichi only the drawn tile may be discarded",
    KUIKAE: "{tile} may not be discarded after this call (kuikae)",
    RIICHI_OPEN: "the hand is open",
    RIICHI_POINTS: "it has fewer than 1,000 points",
    RIICHI_WALL: "fewer than four tiles are left in the wall",
}


def refusal(
    record: np.void, player: int, kind: ActionKind, tile: str = "", consumed: Sequence[str] = ()
) -> str:
    """Why an action is not legal.

    Args:
        record: the round, the player's hand known.
        player: absolute.
        kind: kind of the action, which is not legal.
        tile: discarded, called or added, as mjai writes it; "" if unspecified.
        consumed: tiles from the hand that go into the meld, as mjai writes them; empty if unspecified.

    Returns:
        A reason that can follow a "but"; "" if no rule explains it.
    """
    moment = _wrong_moment(record, player, kind)
    if moment or kind not in _REASONS:
        return moment
    hand = Counter(mjai_text(int(held)) for held in np.flatnonzero(record["where"] == AT_HAND + player))
    missing = Counter(consumed) - hand if kind is not ActionKind.KAKAN else Counter[str]()
    if kind in (ActionKind.DISCARD, ActionKind.KAKAN) and tile:
        missing = Counter((tile,)) - hand
    if missing:
        return f"{next(iter(missing))} is not in hand"
    return _REASONS[kind](record, player, tile, consumed)


def _wrong_moment(record: np.void, player: int, kind: ActionKind) -> str:
    phase = int(record["phase"])
    if kind in _CLAIMS:
        if phase not in (PHASE_CLAIM, PHASE_ROB) or int(record["last_player"]) == player:
            return "there is no tile of another player to claim"
        if phase == PHASE_ROB and kind is not ActionKind.RON:
            return "a tile added to a pon can only be won on"
        return ""
    if int(record["turn"]) != player or phase not in (PHASE_TURN, PHASE_CALLED):
        return "it is not its turn"
    if kind is ActionKind.PASS:
        return "it must discard"
    if phase == PHASE_CALLED and kind is not ActionKind.DISCARD:
        return "after a call or riichi only a discard is possible"
    return ""


def _no_discard(record: np.void, player: int, tile: str, _: Sequence[str]) -> str:
    hand = np.flatnonzero(record["where"] == AT_HAND + player)
    held = next(int(each) for each in hand if tile in ("", mjai_text(int(each))))
    broken = rule_number(record, Discard(player, held, tsumogiri=False))
    if broken == RIICHI_NOT_READY:
        return f"without {tile} the hand is not ready, as riichi requires"
    return _WORDS.get(broken, "").format(tile=tile)


def _no_riichi(record: np.void, player: int, _: str, __: Sequence[str]) -> str:
    if record["riichi"][player]:
        return "riichi has been declared already"
    return _WORDS.get(rule_number(record, Riichi(player)), "the hand is not ready")


def _no_abort(record: np.void, player: int, _: str, __: Sequence[str]) -> str:
    if not record["unbroken"] or record["river_size"][player]:
        return "nine terminals is for the first turn, before any call"
    return "the hand has fewer than nine kinds of terminals and honours"


def _no_own_kan(record: np.void) -> str:
    if record["wall_left"] <= 0:
        return "the wall is exhausted"
    return "four kans have been made already" if record["kan_count"] >= _MOST_KANS else ""


def _no_ankan(record: np.void, player: int, _: str, consumed: Sequence[str]) -> str:
    if why := _no_own_kan(record):
        return why
    if len(consumed) != 4 or len({_KIND_OF.get(tile) for tile in consumed}) != 1:
        return "a closed kan takes all four tiles of a kind"
    return "in riichi a closed kan takes the drawn tile and may not change the waits"


def _no_kakan(record: np.void, _: int, __: str, ___: Sequence[str]) -> str:
    return _no_own_kan(record) or "there is no pon to add the tile to"


def _no_call(record: np.void, player: int, tile: str, consumed: Sequence[str]) -> str:
    """The conditions common to chi, pon and open kan."""
    discarded = mjai_text(int(record["last_tile"]))
    if record["riichi"][player]:
        return "no call is allowed in riichi"
    if tile and tile != discarded:
        return f"the discard is {discarded}, not {tile}"
    if record["wall_left"] <= 0:
        return "the last discard can only be won on"
    kinds = sorted(_KIND_OF[each] for each in (discarded, *consumed))
    return "" if not consumed or _is_meld(kinds) else f"{discarded} and {' '.join(consumed)} make no meld"


def _is_meld(kinds: list[int]) -> bool:
    first, last = kinds[0], kinds[-1]
    if first == last:
        return len(kinds) in (3, 4)
    return kinds == [first, first + 1, first + 2] and last < _HONOURS and first // _SUIT == last // _SUIT


def _no_chi(record: np.void, player: int, tile: str, consumed: Sequence[str]) -> str:
    if why := _no_call(record, player, tile, consumed):
        return why
    if player != (int(record["last_player"]) + 1) % 4:
        return "chi is only from the player to the left"
    return _no_meld_left(record, consumed)


def _no_pon(record: np.void, player: int, tile: str, consumed: Sequence[str]) -> str:
    return _no_call(record, player, tile, consumed) or _no_meld_left(record, consumed)


def _no_meld_left(record: np.void, consumed: Sequence[str]) -> str:
    if record["kan_count"] >= _MOST_KANS:
        return "after the fourth kan the round ends unless the discard is won on"
    if len(consumed) != 2:
        return "the hand lacks the tiles for it"
    return "every discard would be forbidden after the call (kuikae)"


def _no_daiminkan(record: np.void, player: int, tile: str, consumed: Sequence[str]) -> str:
    if why := _no_call(record, player, tile, consumed):
        return why
    return (
        "four kans have been made already"
        if record["kan_count"] >= _MOST_KANS
        else "the hand lacks three of it"
    )


def _no_tsumo(record: np.void, player: int, _: str, __: Sequence[str]) -> str:
    wins = int(record["waits"][player]) >> (int(record["drawn"]) >> 2) & 1
    return "the hand has no yaku" if wins else "the hand is not complete"


def _no_ron(record: np.void, player: int, _: str, __: Sequence[str]) -> str:
    waits = int(record["waits"][player])
    if not waits >> (int(record["last_tile"]) >> 2) & 1:
        return "the hand does not win on this tile"
    if (
        waits & int(record["river34"][player])
        or record["missed_turn"][player]
        or record["missed_riichi"][player]
    ):
        return "it is furiten"
    return "the hand has no yaku"


_REASONS: Final[dict[ActionKind, Callable[[np.void, int, str, Sequence[str]], str]]] = {
    ActionKind.DISCARD: _no_discard,
    ActionKind.RIICHI: _no_riichi,
    ActionKind.CHI: _no_chi,
    ActionKind.PON: _no_pon,
    ActionKind.DAIMINKAN: _no_daiminkan,
    ActionKind.ANKAN: _no_ankan,
    ActionKind.KAKAN: _no_kakan,
    ActionKind.TSUMO: _no_tsumo,
    ActionKind.RON: _no_ron,
    ActionKind.NINE_TERMINALS: _no_abort,
}
