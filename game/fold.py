"""The fold's kernels: one packed event into one round's record.

`fold_one` checks an event against the record, and changes the record only when it fits; otherwise it answers
with the number of a reason in `REASONS`. Records come in as numba records of `game.layout.ROUND_STATE`.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from game.jit import kernel
from game.layout import (
    AT_HAND,
    AT_INDICATOR,
    AT_MELD,
    AT_RIVER,
    AT_UNSEEN,
    PHASE_CALLED,
    PHASE_CLAIM,
    PHASE_DRAW,
    PHASE_ENDED,
    PHASE_IDLE,
    PHASE_ROB,
    PHASE_TURN,
    RIVER_CALLED,
    RIVER_MAX,
    RIVER_RIICHI,
    RIVER_TSUMOGIRI,
)
from game.melds import MeldKind
from game.packing import (
    ANKAN,
    CHI,
    DAIMINKAN,
    DISCARD,
    DORA_REVEALED,
    DRAW,
    DRAW_REASONS,
    DRAWN_ROUND,
    KAKAN,
    LENGTHS,
    PON,
    RIICHI,
    RIICHI_ACCEPTED,
    START_ROUND,
)
from game.shanten import waits

REASONS: Final = (
    "",
    "no such event",
    "the packed event is cut short",
    "no such player",
    "no such tile",
    "not this player's move",
    "not possible at this moment of the round",
    "the tile lies elsewhere",
    "the tile is not the one just drawn or discarded",
    "these tiles make no such meld",
    "the wall is exhausted",
    "no fifth kan and no sixth indicator",
    "not allowed in riichi",
    "riichi needs a closed, ready hand, 1,000 points and four tiles in the wall",
    "forbidden after the call (kuikae)",
    "the hand does not win on this tile",
    "the numbers of the round do not add up",
    "too many discards",
)
(
    FITS,
    BAD_CODE,
    CUT_SHORT,
    BAD_PLAYER,
    BAD_TILE,
    NOT_HIS_MOVE,
    WRONG_MOMENT,
    TILE_ELSEWHERE,
    WRONG_TILE,
    NO_MELD,
    WALL_EMPTY,
    TOO_MANY_KANS,
    IN_RIICHI,
    NO_RIICHI,
    KUIKAE,
    NO_WIN,
    BAD_NUMBERS,
    RIVER_FULL,
) = range(len(REASONS))

_LENGTHS: Final = np.array(LENGTHS, dtype=np.int64)
_ONE: Final = np.uint64(1)
_NONE: Final = np.uint64(0)
_EXHAUSTIVE: Final = DRAW_REASONS.index("exhaustive")
_NINE_TERMINALS: Final = DRAW_REASONS.index("nine_terminals")
_NAGASHI: Final = DRAW_REASONS.index("nagashi_mangan")
_MELD_CHI: Final = int(MeldKind.CHI)
_MELD_PON: Final = int(MeldKind.PON)
_MELD_DAIMINKAN: Final = int(MeldKind.DAIMINKAN)
_MELD_ANKAN: Final = int(MeldKind.ANKAN)
_MELD_KAKAN: Final = int(MeldKind.KAKAN)


@kernel
def bit(kind: int) -> Any:
    """The bit of a kind in a 34-bit mask."""
    return np.uint64(1) << np.uint64(kind)


@kernel
def fold_one(rec: Any, code: Any) -> int:
    """Fold one packed event into a record; 0, or why it does not fit (the record is then as before)."""
    if code.size == 0 or code[0] < 1 or code[0] >= _LENGTHS.size:
        return BAD_CODE
    if code.size < _LENGTHS[code[0]]:
        return CUT_SHORT
    what = code[0]
    if what == START_ROUND:
        return _start_round(rec, code)
    if what == DORA_REVEALED:
        return _dora_revealed(rec, code[1])
    if what == DRAWN_ROUND:
        return _drawn_round(rec, code)
    player = code[1]
    if player < 0 or player > 3:
        return BAD_PLAYER
    if what == DRAW:
        return _draw(rec, player, code[2])
    if what == DISCARD:
        return _discard(rec, player, code[2], code[3])
    if what in (CHI, PON, DAIMINKAN):
        return _call(rec, what, player, code[2], code[3], code[4 : _LENGTHS[what]])
    if what == ANKAN:
        return _ankan(rec, player, code[2:6])
    if what == KAKAN:
        return _kakan(rec, player, code[2], code[3:6])
    if what == RIICHI:
        return _riichi(rec, player)
    if what == RIICHI_ACCEPTED:
        return _riichi_accepted(rec, player)
    return _win(rec, code)


@kernel
def fold_stream(rec: Any, codes: Any) -> Any:
    """Fold packed events that stand one after the other.

    Returns:
        ``(events folded, reason)``; reason 0 when all of them fitted.
    """
    at = 0
    folded = 0
    while at < codes.size:
        if codes[at] < 1 or codes[at] >= _LENGTHS.size:
            return folded, BAD_CODE
        length = _LENGTHS[codes[at]]
        if at + length > codes.size:
            return folded, CUT_SHORT
        reason = fold_one(rec, codes[at : at + length])
        if reason != FITS:
            return folded, reason
        folded += 1
        at += length
    return folded, FITS


# --- the deal ---------------------------------------------------------------------------------------------


@kernel
def _start_round(rec: Any, code: Any) -> int:
    if rec.phase not in (PHASE_IDLE, PHASE_ENDED):
        return WRONG_MOMENT
    reason = _check_deal(code)
    if reason != FITS:
        return reason
    _clear(rec)
    rec.round_index = code[1]
    rec.honba = code[2]
    rec.riichi_sticks = code[3]
    rec.dealer = code[4]
    for p in range(4):
        rec.scores[p] = 100 * np.int32(code[5 + p])
        rec.hand_size[p] = 13
        if code[10 + 13 * p] < 0:
            continue
        rec.hand_known[p] = 1
        for i in range(13):
            tile = code[10 + 13 * p + i]
            rec.where[tile] = AT_HAND + p
            rec.hand34[p, tile >> 2] += 1
        rec.waits[p] = waits(rec.hand34[p], 0)
    rec.indicators[0] = code[9]
    rec.indicator_count = 1
    rec.where[code[9]] = AT_INDICATOR
    rec.seen34[code[9] >> 2] += 1
    rec.wall_left = 70
    rec.phase = PHASE_DRAW
    rec.turn = code[4]
    rec.unbroken = 1
    return FITS


@kernel
def _check_deal(code: Any) -> int:
    if code[1] < 0 or code[1] > 11 or code[2] < 0 or code[3] < 0 or code[4] != code[1] % 4:
        return BAD_NUMBERS
    if code[9] < 0 or code[9] > 135:
        return BAD_TILE
    taken = np.zeros(136, dtype=np.uint8)
    taken[code[9]] = 1
    for p in range(4):
        hidden = code[10 + 13 * p] == -1
        for i in range(13):
            tile = code[10 + 13 * p + i]
            if hidden and tile == -1:
                continue
            if hidden or tile < 0 or tile > 135:
                return BAD_TILE
            if taken[tile]:
                return TILE_ELSEWHERE
            taken[tile] = 1
    return FITS


@kernel
def _clear(rec: Any) -> None:
    rec.kan_count = 0
    rec.drawn = -1
    rec.rinshan = 0
    rec.last_player = -1
    rec.last_tile = -1
    rec.kuikae = _NONE
    rec.discard_count = 0
    rec.indicators[:] = -1
    rec.hand34[:] = 0
    rec.where[:] = AT_UNSEEN
    rec.seen34[:] = 0
    rec.river[:] = -1
    rec.river_marks[:] = 0
    rec.river_order[:] = -1
    rec.meld_kind[:] = 0
    rec.meld_tiles[:] = -1
    rec.meld_called[:] = -1
    rec.meld_from[:] = -1
    rec.meld_added[:] = -1
    rec.meld_order[:] = -1
    for p in range(4):
        rec.hand_known[p] = 0
        rec.river_size[p] = 0
        rec.river34[p] = _NONE
        rec.safe34[p] = _NONE
        rec.turn_safe34[p] = _NONE
        rec.meld_count[p] = 0
        rec.is_open[p] = 0
        rec.riichi[p] = 0
        rec.double_riichi[p] = 0
        rec.riichi_order[p] = -1
        rec.ippatsu[p] = 0
        rec.waits[p] = _NONE
        rec.missed_turn[p] = 0
        rec.missed_riichi[p] = 0
        rec.liable_dragons[p] = -1
        rec.liable_winds[p] = -1


# --- draw and discard -------------------------------------------------------------------------------------


@kernel
def _draw(rec: Any, player: int, tile: int) -> int:
    if rec.phase == PHASE_CLAIM:
        if player != (rec.last_player + 1) % 4:
            return NOT_HIS_MOVE
        if rec.riichi[rec.last_player] == 1:
            return WRONG_MOMENT
    elif rec.phase in (PHASE_DRAW, PHASE_ROB):
        if player != rec.turn:
            return NOT_HIS_MOVE
    else:
        return WRONG_MOMENT
    if rec.wall_left <= 0:
        return WALL_EMPTY
    if tile < -1 or tile > 135 or (tile >= 0) != (rec.hand_known[player] == 1):
        return BAD_TILE
    if tile >= 0 and rec.where[tile] != AT_UNSEEN:
        return TILE_ELSEWHERE
    if rec.phase == PHASE_CLAIM:
        rec.rinshan = 0
    _let_pass(rec)
    rec.phase = PHASE_TURN
    rec.turn = player
    rec.drawn = tile
    rec.wall_left -= 1
    rec.hand_size[player] += 1
    if tile >= 0:
        rec.where[tile] = AT_HAND + player
        rec.hand34[player, tile >> 2] += 1
    return FITS


@kernel
def _let_pass(rec: Any) -> None:
    """Nobody won on the last tile: who could have is furiten, and an added kan now breaks ippatsu."""
    if rec.phase not in (PHASE_CLAIM, PHASE_ROB):
        return
    mask = bit(rec.last_tile >> 2)
    for p in range(4):
        if p == rec.last_player:
            continue
        rec.turn_safe34[p] |= mask
        if rec.riichi[p] == 2:
            rec.safe34[p] |= mask
        if rec.waits[p] & mask != _NONE:
            rec.missed_turn[p] = 1
            if rec.riichi[p] == 2:
                rec.missed_riichi[p] = 1
    if rec.phase == PHASE_ROB:
        rec.ippatsu[:] = 0


@kernel
def _discard(rec: Any, player: int, tile: int, tsumogiri: int) -> int:
    if rec.phase not in (PHASE_TURN, PHASE_CALLED):
        return WRONG_MOMENT
    if player != rec.turn:
        return NOT_HIS_MOVE
    reason = _check_discard(rec, player, tile, tsumogiri)
    if reason != FITS:
        return reason
    kind = tile >> 2
    known = rec.hand_known[player] == 1
    if known:
        rec.hand34[player, kind] -= 1
        ready = waits(rec.hand34[player], rec.meld_count[player])
        if rec.riichi[player] == 1 and ready == _NONE:
            rec.hand34[player, kind] += 1
            return NO_RIICHI
        rec.waits[player] = ready
    rec.hand_size[player] -= 1
    rec.where[tile] = AT_RIVER + player
    rec.seen34[kind] += 1
    _throw(rec, player, tile, tsumogiri)
    rec.phase = PHASE_CLAIM
    rec.last_player = player
    rec.last_tile = tile
    rec.drawn = -1
    rec.rinshan = 0
    rec.kuikae = _NONE
    return FITS


@kernel
def _check_discard(rec: Any, player: int, tile: int, tsumogiri: int) -> int:
    if tile < 0 or tile > 135:
        return BAD_TILE
    if rec.river_size[player] >= RIVER_MAX:
        return RIVER_FULL
    known = rec.hand_known[player] == 1
    if rec.where[tile] != (AT_HAND + player if known else AT_UNSEEN):
        return TILE_ELSEWHERE
    if known and (tile == rec.drawn) != (tsumogiri == 1):
        return WRONG_TILE
    if rec.phase == PHASE_CALLED and rec.riichi[player] == 0:
        if tsumogiri == 1:
            return WRONG_TILE
        if rec.kuikae & bit(tile >> 2) != _NONE:
            return KUIKAE
    if rec.riichi[player] == 2 and tsumogiri == 0:
        return IN_RIICHI
    return FITS


@kernel
def _throw(rec: Any, player: int, tile: int, tsumogiri: int) -> None:
    at = rec.river_size[player]
    mask = bit(tile >> 2)
    rec.river[player, at] = tile
    rec.river_order[player, at] = rec.discard_count
    marks = RIVER_TSUMOGIRI if tsumogiri == 1 else 0
    if rec.riichi[player] == 1:
        marks |= RIVER_RIICHI
        rec.riichi_order[player] = rec.discard_count
    rec.river_marks[player, at] = marks
    rec.river_size[player] = at + 1
    rec.discard_count += 1
    rec.river34[player] |= mask
    rec.safe34[player] |= mask
    rec.turn_safe34[player] = _NONE
    rec.missed_turn[player] = 0
    rec.ippatsu[player] = 0


# --- calls ------------------------------------------------------------------------------------------------


@kernel
def _call(rec: Any, what: int, player: int, source: int, tile: int, own: Any) -> int:
    reason = _check_call(rec, what, player, source, tile, own)
    if reason != FITS:
        return reason
    _let_pass(rec)
    kind = tile >> 2
    at = rec.river_size[source] - 1
    rec.river_marks[source, at] |= RIVER_CALLED
    meld_kind = _MELD_CHI if what == CHI else (_MELD_PON if what == PON else _MELD_DAIMINKAN)
    slot = _lay_meld(rec, player, meld_kind, own, tile)
    rec.meld_called[player, slot] = tile
    rec.meld_from[player, slot] = source
    rec.is_open[player] = 1
    if what != CHI:
        _note_liability(rec, player, source, kind)
    rec.turn = player
    rec.drawn = -1
    rec.rinshan = 0
    if what == DAIMINKAN:
        rec.kan_count += 1
        rec.phase = PHASE_DRAW
        rec.rinshan = 1
        if rec.hand_known[player]:
            rec.waits[player] = waits(rec.hand34[player], rec.meld_count[player])
    else:
        rec.phase = PHASE_CALLED
        rec.kuikae = kuikae_mask(kind, own[0] >> 2, own[1] >> 2)
    return FITS


@kernel
def kuikae_mask(called: int, first: int, second: int) -> Any:
    """The kinds that may not be thrown after a call: the called one, and the other end of its run."""
    mask = bit(called)
    low = min(first, second)
    high = max(first, second)
    if high - low == 1:
        if called < low and high % 9 != 8:
            mask |= bit(high + 1)
        elif called > high and low % 9 != 0:
            mask |= bit(low - 1)
    return mask


@kernel
def _check_call(rec: Any, what: int, player: int, source: int, tile: int, own: Any) -> int:
    if rec.phase != PHASE_CLAIM:
        return WRONG_MOMENT
    if source != rec.last_player or player == source or (what == CHI and player != (source + 1) % 4):
        return NOT_HIS_MOVE
    if tile != rec.last_tile:
        return WRONG_TILE
    if rec.riichi[source] == 1:
        return WRONG_MOMENT
    if rec.riichi[player] != 0:
        return IN_RIICHI
    if rec.wall_left <= 0:
        return WALL_EMPTY
    if rec.meld_count[player] >= 4:
        return NO_MELD
    if what == DAIMINKAN and rec.kan_count >= 4:
        return TOO_MANY_KANS
    reason = _check_own(rec, player, own)
    if reason != FITS:
        return reason
    kind = tile >> 2
    if what != CHI:
        for i in range(own.size):
            if own[i] >> 2 != kind:
                return NO_MELD
        return FITS
    return FITS if _is_run(kind, own[0] >> 2, own[1] >> 2) else NO_MELD


@kernel
def _is_run(a: int, b: int, c: int) -> bool:
    low = min(a, b, c)
    high = max(a, b, c)
    return high < 27 and high - low == 2 and a + b + c == 3 * (low + 1) and low // 9 == high // 9


@kernel
def _check_own(rec: Any, player: int, own: Any) -> int:
    """The tiles a player lays down are his: in his hand, or nowhere we have seen; and no two are one."""
    place = AT_HAND + player if rec.hand_known[player] else AT_UNSEEN
    for i in range(own.size):
        if own[i] < 0 or own[i] > 135:
            return BAD_TILE
        if rec.where[own[i]] != place:
            return TILE_ELSEWHERE
        for j in range(i):
            if own[i] == own[j]:
                return TILE_ELSEWHERE
    return FITS


@kernel
def _lay_meld(rec: Any, player: int, meld_kind: int, own: Any, called: int) -> int:
    """Move tiles from the hand, and the called one if there is one, into a new meld; its slot."""
    slot = rec.meld_count[player]
    known = rec.hand_known[player] == 1
    count = own.size
    for i in range(own.size):
        rec.meld_tiles[player, slot, i] = own[i]
        rec.where[own[i]] = AT_MELD + player
        rec.seen34[own[i] >> 2] += 1
        if known:
            rec.hand34[player, own[i] >> 2] -= 1
    if called >= 0:
        rec.meld_tiles[player, slot, count] = called
        rec.where[called] = AT_MELD + player
        count += 1
    rec.meld_tiles[player, slot, :count] = np.sort(rec.meld_tiles[player, slot, :count])
    rec.meld_kind[player, slot] = meld_kind
    rec.meld_order[player, slot] = rec.discard_count
    rec.meld_count[player] = slot + 1
    rec.hand_size[player] -= own.size
    rec.unbroken = 0
    rec.ippatsu[:] = 0
    return slot


@kernel
def _note_liability(rec: Any, player: int, source: int, kind: int) -> None:
    """Whoever gives the last of three dragon or four wind sets pays for the yakuman."""
    if kind < 27:
        return
    dragons = 0
    winds = 0
    for slot in range(rec.meld_count[player]):
        other = rec.meld_tiles[player, slot, 0] >> 2
        if other >= 31:
            dragons += 1
        elif other >= 27:
            winds += 1
    if kind >= 31 and dragons == 3:
        rec.liable_dragons[player] = source
    if kind < 31 and winds == 4:
        rec.liable_winds[player] = source


@kernel
def _ankan(rec: Any, player: int, own: Any) -> int:
    reason = _check_own_kan(rec, player)
    if reason != FITS:
        return reason
    reason = _check_own(rec, player, own)
    if reason != FITS:
        return reason
    kind = own[0] >> 2
    for i in range(4):
        if own[i] >> 2 != kind:
            return NO_MELD
    if rec.riichi[player] == 2 and rec.hand_known[player] and rec.drawn >> 2 != kind:
        return IN_RIICHI
    slot = _lay_meld(rec, player, _MELD_ANKAN, own, -1)
    rec.meld_from[player, slot] = player
    rec.kan_count += 1
    rec.drawn = -1
    rec.rinshan = 1
    rec.phase = PHASE_DRAW
    if rec.hand_known[player]:
        rec.waits[player] = waits(rec.hand34[player], rec.meld_count[player])
    return FITS


@kernel
def _check_own_kan(rec: Any, player: int) -> int:
    if rec.phase != PHASE_TURN:
        return WRONG_MOMENT
    if player != rec.turn:
        return NOT_HIS_MOVE
    if rec.wall_left <= 0:
        return WALL_EMPTY
    return TOO_MANY_KANS if rec.kan_count >= 4 else FITS


@kernel
def _kakan(rec: Any, player: int, tile: int, pon: Any) -> int:
    reason = _check_own_kan(rec, player)
    if reason != FITS:
        return reason
    if rec.riichi[player] != 0:
        return IN_RIICHI
    if tile < 0 or tile > 135:
        return BAD_TILE
    known = rec.hand_known[player] == 1
    if rec.where[tile] != (AT_HAND + player if known else AT_UNSEEN):
        return TILE_ELSEWHERE
    slot = _find_pon(rec, player, tile >> 2)
    if slot < 0:
        return NO_MELD
    for i in range(3):
        if pon[i] < 0 or pon[i] > 135:
            return BAD_TILE
        if rec.where[pon[i]] != AT_MELD + player or pon[i] >> 2 != tile >> 2:
            return NO_MELD
    if known:
        rec.hand34[player, tile >> 2] -= 1
        rec.waits[player] = waits(rec.hand34[player], rec.meld_count[player])
    rec.meld_kind[player, slot] = _MELD_KAKAN
    rec.meld_added[player, slot] = tile
    for i in range(4):
        rec.meld_tiles[player, slot, i] = (tile & ~3) + i
    rec.where[tile] = AT_MELD + player
    rec.seen34[tile >> 2] += 1
    rec.hand_size[player] -= 1
    rec.kan_count += 1
    rec.drawn = -1
    rec.rinshan = 1
    rec.phase = PHASE_ROB
    rec.last_player = player
    rec.last_tile = tile
    return FITS


@kernel
def _find_pon(rec: Any, player: int, kind: int) -> int:
    for slot in range(rec.meld_count[player]):
        if rec.meld_kind[player, slot] == _MELD_PON and rec.meld_tiles[player, slot, 0] >> 2 == kind:
            return slot
    return -1


# --- riichi, dora, ends -----------------------------------------------------------------------------------


@kernel
def _riichi(rec: Any, player: int) -> int:
    if rec.phase != PHASE_TURN:
        return WRONG_MOMENT
    if player != rec.turn:
        return NOT_HIS_MOVE
    if rec.riichi[player] != 0:
        return IN_RIICHI
    if rec.is_open[player] or rec.scores[player] < 1000 or rec.wall_left < 4:
        return NO_RIICHI
    rec.riichi[player] = 1
    if rec.unbroken and rec.river_size[player] == 0:
        rec.double_riichi[player] = 1
    rec.phase = PHASE_CALLED
    return FITS


@kernel
def _riichi_accepted(rec: Any, player: int) -> int:
    if rec.phase != PHASE_CLAIM or rec.last_player != player or rec.riichi[player] != 1:
        return WRONG_MOMENT
    rec.riichi[player] = 2
    rec.ippatsu[player] = 1
    rec.scores[player] -= 1000
    rec.riichi_sticks += 1
    return FITS


@kernel
def _dora_revealed(rec: Any, tile: int) -> int:
    if rec.phase in (PHASE_IDLE, PHASE_ENDED):
        return WRONG_MOMENT
    if tile < 0 or tile > 135:
        return BAD_TILE
    if rec.where[tile] != AT_UNSEEN:
        return TILE_ELSEWHERE
    if rec.indicator_count >= 5 or rec.indicator_count > rec.kan_count:
        return TOO_MANY_KANS
    rec.indicators[rec.indicator_count] = tile
    rec.indicator_count += 1
    rec.where[tile] = AT_INDICATOR
    rec.seen34[tile >> 2] += 1
    return FITS


@kernel
def _win(rec: Any, code: Any) -> int:
    player = code[1]
    source = code[2]
    tile = code[3]
    if source < 0 or source > 3:
        return BAD_PLAYER
    if tile < 0 or tile > 135:
        return BAD_TILE
    if player == source:
        if rec.phase != PHASE_TURN:
            return WRONG_MOMENT
        if player != rec.turn:
            return NOT_HIS_MOVE
        if rec.hand_known[player] and tile != rec.drawn:
            return WRONG_TILE
    else:
        if rec.phase not in (PHASE_CLAIM, PHASE_ROB, PHASE_ENDED):
            return WRONG_MOMENT
        if source != rec.last_player or tile != rec.last_tile:
            return WRONG_TILE
    if rec.hand_known[player] and rec.waits[player] & bit(tile >> 2) == _NONE:
        return NO_WIN
    if code[8] < 0 or code[8] > rec.riichi_sticks:
        return BAD_NUMBERS
    reason = _settle(rec, code[4:8], code[8])
    if reason == FITS:
        rec.riichi_sticks -= code[8]
        rec.phase = PHASE_ENDED
    return reason


@kernel
def _drawn_round(rec: Any, code: Any) -> int:
    if rec.phase not in (PHASE_CLAIM, PHASE_TURN, PHASE_ROB):
        return WRONG_MOMENT
    if code[1] < 0 or code[1] > 6:
        return BAD_CODE
    if code[1] in (_EXHAUSTIVE, _NAGASHI) and (rec.phase != PHASE_CLAIM or rec.wall_left > 0):
        return WRONG_MOMENT
    if code[1] == _NINE_TERMINALS and rec.phase != PHASE_TURN:
        return WRONG_MOMENT
    reason = _settle(rec, code[2:6], 0)
    if reason == FITS:
        rec.phase = PHASE_ENDED
    return reason


@kernel
def _settle(rec: Any, hundreds: Any, sticks: int) -> int:
    total = 0
    for p in range(4):
        total += hundreds[p]
    if total != 10 * sticks:
        return BAD_NUMBERS
    for p in range(4):
        rec.scores[p] += 100 * np.int32(hundreds[p])
    return FITS
