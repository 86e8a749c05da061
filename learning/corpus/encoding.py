"""Games as bytes: about a fifth of the size of their packed events, without loss.

A byte below 136 is a tile, and its position determines its meaning. A tile held by the player to move is a
discard from the hand. A tile held by no player is the next draw; if the player to move has not discarded yet,
a tsumogiri comes first. Everything else has a code from 200 on:

===========  =============================================================================================
code         bytes after it
===========  =============================================================================================
200          a deal: round, honba, sticks, indicator, 13 tiles for each player, four scores (int16, hundreds)
201          the same without the scores: they follow from the previous round
202          tsumogiri by the player to move
203          chi by the next player: two tiles of the hand
204 + p      pon by player p: two tiles
208 + p      open kan by player p: three tiles
212          closed kan by the player to move: four tiles
213          added kan by the player to move: the tile, three tiles of the pon
214          an indicator: the tile
215          riichi by the player to move
216          the riichi just declared is accepted
217          a win: player, whose tile, the tile, four score changes (int16, hundreds), sticks
218          no win: the reason, four score changes (int16, hundreds)
255          any packed event unchanged: one int16 per number, as many as its code requires
===========  =============================================================================================

Two-byte numbers are little-endian. An event that the short forms cannot express, or would decode differently,
is written with 255, so that every stream of packed events is restored exactly.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import numpy.typing as npt

from game.errors import ReplayFormatError
from game.jit import kernel
from game.packing import (
    ANKAN,
    CHI,
    DAIMINKAN,
    DISCARD,
    DORA_REVEALED,
    DRAW,
    DRAWN_ROUND,
    KAKAN,
    LENGTHS,
    PON,
    RIICHI,
    RIICHI_ACCEPTED,
    START_ROUND,
    WIN,
    Packed,
)
from game.tiles import TILES

ENCODING: Final = "suzaku-events/1"
"""Name of this encoding; any other encoding gets another name."""

Encoded = npt.NDArray[np.uint8]

_LENGTHS: Final = np.array(LENGTHS, dtype=np.int64)
_DEAL: Final = 200
_NEXT_DEAL: Final = 201
_DISCARD_DRAWN: Final = 202
_CHI: Final = 203
_PON: Final = 204
_DAIMINKAN: Final = 208
_ANKAN: Final = 212
_KAKAN: Final = 213
_INDICATOR: Final = 214
_RIICHI: Final = 215
_ACCEPTED: Final = 216
_WIN: Final = 217
_NO_WIN: Final = 218
_AS_IT_IS: Final = 255
_LONGEST: Final = 125
"""Bytes of the longest event: an unchanged deal."""

# Indices into the small state that both directions keep; scores in hundreds from _SCORES on.
_TURN: Final = 0
_DRAWN: Final = 1  # tile drawn and not yet discarded, -1
_MUST_DISCARD: Final = 2  # the player to move discards before the next draw
_LAST_PLAYER: Final = 3
_LAST_TILE: Final = 4
_SCORES: Final = 5
_STATE_SIZE: Final = 9
_NOBODY: Final = 255


def encode(codes: Packed) -> Encoded:
    """Encode a stream of packed events as bytes.

    Raises:
        ReplayFormatError: it is not a stream of packed events.
    """
    out = np.empty(3 * codes.size + _LONGEST, dtype=np.uint8)
    size = _encode(codes, out)
    if size < 0:
        raise ReplayFormatError(f"no packed event at {-1 - size}")
    return out[:size].copy()


def decode(data: Encoded) -> Packed:
    """Decode the bytes from `encode` into packed events.

    Raises:
        ReplayFormatError: the bytes are not from `encode`.
    """
    out = np.empty(max(1024, 10 * data.size), dtype=np.int16)
    size = _decode(data, out)
    if size < 0:
        raise ReplayFormatError(f"no event at byte {-1 - size}")
    return out[:size].copy()


# --- shared: the meaning of the next tile -----------------------------------------------------------------


@kernel
def _begin(state: Any, holder: Any) -> None:
    state[:] = -1
    state[_MUST_DISCARD] = 0
    state[_SCORES:] = 250
    holder[:] = _NOBODY


@kernel
def _follow(state: Any, holder: Any, code: Any) -> None:
    """Track one packed event; anything unusual in it only makes the encoding of later events longer."""
    what = code[0]
    if what == START_ROUND:
        holder[:] = _NOBODY
        for i in range(52):
            _hold(holder, code[10 + i], i // 13)
        state[_TURN] = code[4]
        state[_DRAWN] = -1
        state[_MUST_DISCARD] = 0
        state[_SCORES:] = code[5:9]
    elif what == DRAW:
        _hold(holder, code[2], code[1])
        state[_TURN] = code[1]
        state[_DRAWN] = code[2]
        state[_MUST_DISCARD] = 1
    elif what == DISCARD:
        state[_LAST_PLAYER] = code[1]
        state[_LAST_TILE] = code[2]
        state[_TURN] = (code[1] + 1) % 4
        state[_DRAWN] = -1
        state[_MUST_DISCARD] = 0
    elif what in (CHI, PON, DAIMINKAN):
        state[_TURN] = code[1]
        state[_DRAWN] = -1
        state[_MUST_DISCARD] = what != DAIMINKAN
    elif what in (ANKAN, KAKAN):
        state[_TURN] = code[1]
        state[_DRAWN] = -1
        state[_MUST_DISCARD] = 0
    elif what == RIICHI_ACCEPTED:
        state[_SCORES + code[1] % 4] -= 10
    elif what in (WIN, DRAWN_ROUND):
        at = 4 if what == WIN else 2
        for player in range(4):
            state[_SCORES + player] += code[at + player]


@kernel
def _hold(holder: Any, tile: int, player: int) -> None:
    if 0 <= tile < TILES:
        holder[tile] = player % 4


@kernel
def _held(holder: Any, tile: int, player: int) -> bool:
    return 0 <= tile < TILES and holder[tile] == player


# --- to bytes ---------------------------------------------------------------------------------------------


@kernel
def _encode(codes: Any, out: Any) -> int:
    """Number of bytes written, or ``-1 - place`` of the first number that begins no packed event."""
    state = np.empty(_STATE_SIZE, dtype=np.int64)
    holder = np.empty(TILES, dtype=np.uint8)
    _begin(state, holder)
    at = 0
    size = 0
    while at < codes.size:
        if codes[at] < 1 or codes[at] >= _LENGTHS.size or at + _LENGTHS[codes[at]] > codes.size:
            return -1 - at
        code = codes[at : at + _LENGTHS[codes[at]]]
        at += code.size
        written = _short(state, holder, code, codes[at : at + 3], out[size:])
        if written < 0:
            written = _as_it_is(code, out[size:])
        size += written
        _follow(state, holder, code)
    return size


@kernel
def _as_it_is(code: Any, out: Any) -> int:
    out[0] = _AS_IT_IS
    for i in range(code.size):
        _put_int16(out, 1 + 2 * i, code[i])
    return int(1 + 2 * code.size)


@kernel
def _put_int16(out: Any, at: int, value: int) -> None:
    out[at] = value & 255
    out[at + 1] = (value >> 8) & 255


@kernel
def _put_bytes(code: Any, first: int, out: Any, at: int) -> bool:
    """Whether all fields from ``first`` on are tiles; they are written as one byte each."""
    for i in range(first, code.size):
        if code[i] < 0 or code[i] >= TILES:
            return False
        out[at + i - first] = code[i]
    return True


@kernel
def _short(state: Any, holder: Any, code: Any, following: Any, out: Any) -> int:
    """Short form of an event: its size in bytes, 0 if the next event implies it, -1 if it has none."""
    what = code[0]
    if what == START_ROUND:
        return _short_deal(state, code, out)
    if what == DORA_REVEALED:
        out[0] = _INDICATOR
        return 2 if _put_bytes(code, 1, out, 1) else -1
    if what == DRAWN_ROUND:
        out[0] = _NO_WIN
        out[1] = code[1]
        for i in range(4):
            _put_int16(out, 2 + 2 * i, code[2 + i])
        return 10 if 0 <= code[1] < 256 else -1
    player = code[1]
    if player < 0 or player > 3:
        return -1
    if what == WIN:
        return _short_win(code, out)
    if what in (CHI, PON, DAIMINKAN):
        return _short_call(state, code, out)
    if what == RIICHI_ACCEPTED:
        out[0] = _ACCEPTED
        return 1 if player == state[_LAST_PLAYER] else -1
    if player != state[_TURN]:
        return -1
    if what == DRAW:
        out[0] = code[2]
        free = 0 <= code[2] < TILES and holder[code[2]] == _NOBODY
        return 1 if free and state[_MUST_DISCARD] == 0 else -1
    if what == DISCARD:
        return _short_discard(state, holder, code, following, out)
    if what == RIICHI:
        out[0] = _RIICHI
        return 1
    out[0] = _ANKAN if what == ANKAN else _KAKAN
    return int(code.size - 1) if _put_bytes(code, 2, out, 1) else -1


@kernel
def _short_deal(state: Any, code: Any, out: Any) -> int:
    for i in range(1, 4):
        if code[i] < 0 or code[i] > 255:
            return -1
        out[i] = code[i]
    if code[4] != code[1] % 4 or not _put_bytes(code, 9, out, 4):
        return -1
    same = True
    for player in range(4):
        same &= code[5 + player] == state[_SCORES + player]
        _put_int16(out, 57 + 2 * player, code[5 + player])
    out[0] = _NEXT_DEAL if same else _DEAL
    return 57 if same else 65


@kernel
def _short_win(code: Any, out: Any) -> int:
    for i in (2, 3, 8):
        if code[i] < 0 or code[i] > 255:
            return -1
    out[0] = _WIN
    out[1] = code[1]
    out[2] = code[2]
    out[3] = code[3]
    for i in range(4):
        _put_int16(out, 4 + 2 * i, code[4 + i])
    out[12] = code[8]
    return 13


@kernel
def _short_call(state: Any, code: Any, out: Any) -> int:
    player = code[1]
    if code[2] != state[_LAST_PLAYER] or code[3] != state[_LAST_TILE]:
        return -1
    if code[0] == CHI:
        if player != (code[2] + 1) % 4:
            return -1
        out[0] = _CHI
    else:
        out[0] = (_PON if code[0] == PON else _DAIMINKAN) + player
    return int(code.size - 3) if _put_bytes(code, 4, out, 1) else -1


@kernel
def _short_discard(state: Any, holder: Any, code: Any, following: Any, out: Any) -> int:
    tile = code[2]
    if state[_MUST_DISCARD] == 0 or not _held(holder, tile, code[1]):
        return -1
    if (code[3] == 1) != (tile == state[_DRAWN]) or code[3] < 0 or code[3] > 1:
        return -1
    if code[3] == 0:
        out[0] = tile
        return 1
    # the next draw, of a tile no player holds, implies by itself that this one was discarded first
    if following.size == 3 and following[0] == DRAW and following[1] == (code[1] + 1) % 4:
        drawn = following[2]
        if 0 <= drawn < TILES and holder[drawn] == _NOBODY:
            return 0
    out[0] = _DISCARD_DRAWN
    return 1


# --- and back ---------------------------------------------------------------------------------------------


@kernel
def _decode(data: Any, out: Any) -> int:
    """Number of packed numbers written, or ``-1 - place`` of the first byte that begins no event."""
    state = np.empty(_STATE_SIZE, dtype=np.int64)
    holder = np.empty(TILES, dtype=np.uint8)
    _begin(state, holder)
    at = 0
    size = 0
    while at < data.size:
        if size + 2 * _LENGTHS[START_ROUND] > out.size:
            return -1 - at
        code = out[size:]
        first = data[at]
        if first < TILES and state[_MUST_DISCARD] and not _held(holder, first, state[_TURN]):
            _write_discard(state, code, state[_DRAWN], 1)
            _follow(state, holder, code[: _LENGTHS[DISCARD]])
            size += _LENGTHS[DISCARD]
            code = out[size:]
        used = _long(state, data[at:], code)
        if used < 0 or code[0] < 1 or code[0] >= _LENGTHS.size:
            return -1 - at
        at += used
        _follow(state, holder, code[: _LENGTHS[code[0]]])
        size += _LENGTHS[code[0]]
    return size


@kernel
def _write_discard(state: Any, code: Any, tile: int, tsumogiri: int) -> None:
    code[0] = DISCARD
    code[1] = state[_TURN]
    code[2] = tile
    code[3] = tsumogiri


@kernel
def _int16(data: Any, at: int) -> int:
    value = np.int64(data[at]) + 256 * np.int64(data[at + 1])
    return int(value - 65536 if value >= 32768 else value)


@kernel
def _long(state: Any, data: Any, code: Any) -> int:
    """Write the packed event that begins here; return how many bytes it took, -1 if there is none."""
    first = data[0]
    if first < TILES:
        if state[_MUST_DISCARD]:
            _write_discard(state, code, first, 0)
        else:
            code[0] = DRAW
            code[1] = state[_TURN]
            code[2] = first
        return 1
    used = _size_of(data)
    if used < 0 or used > data.size:
        return -1
    if first == _AS_IT_IS:
        for i in range(used // 2):
            code[i] = _int16(data, 1 + 2 * i)
    elif first in (_DEAL, _NEXT_DEAL):
        _write_deal(state, data, code)
    elif first == _DISCARD_DRAWN:
        _write_discard(state, code, state[_DRAWN], 1)
    elif first < _ANKAN:
        _write_call(state, data, code)
    elif first in (_ANKAN, _KAKAN):
        code[0] = ANKAN if first == _ANKAN else KAKAN
        code[1] = state[_TURN]
        for i in range(4):
            code[2 + i] = data[1 + i]
    elif first == _INDICATOR:
        code[0] = DORA_REVEALED
        code[1] = data[1]
    elif first == _RIICHI:
        code[0] = RIICHI
        code[1] = state[_TURN]
    elif first == _ACCEPTED:
        code[0] = RIICHI_ACCEPTED
        code[1] = state[_LAST_PLAYER]
    else:
        _write_result(data, code)
    return used


@kernel
def _size_of(data: Any) -> int:
    first = data[0]
    if first == _AS_IT_IS:
        if data.size < 3:
            return -1
        what = _int16(data, 1)
        return 1 + 2 * _LENGTHS[what] if 1 <= what < _LENGTHS.size else -1
    if first == _DEAL:
        return 65
    if first == _NEXT_DEAL:
        return 57
    if first < _DEAL or first > _NO_WIN:
        return -1
    if first == _WIN:
        return 13
    if first == _NO_WIN:
        return 10
    if first in (_ANKAN, _KAKAN):
        return 5
    if first in (_DISCARD_DRAWN, _RIICHI, _ACCEPTED):
        return 1
    if first == _INDICATOR:
        return 2
    return 4 if first >= _DAIMINKAN else 3


@kernel
def _write_deal(state: Any, data: Any, code: Any) -> None:
    code[0] = START_ROUND
    for i in range(1, 4):
        code[i] = data[i]
    code[4] = data[1] % 4
    for player in range(4):
        known = data[0] == _NEXT_DEAL
        code[5 + player] = state[_SCORES + player] if known else _int16(data, 57 + 2 * player)
    for i in range(53):
        code[9 + i] = data[4 + i]


@kernel
def _write_call(state: Any, data: Any, code: Any) -> None:
    first = data[0]
    own = 2
    if first == _CHI:
        code[0] = CHI
        code[1] = (state[_LAST_PLAYER] + 1) % 4
    elif first < _DAIMINKAN:
        code[0] = PON
        code[1] = first - _PON
    else:
        code[0] = DAIMINKAN
        code[1] = first - _DAIMINKAN
        own = 3
    code[2] = state[_LAST_PLAYER]
    code[3] = state[_LAST_TILE]
    for i in range(own):
        code[4 + i] = data[1 + i]


@kernel
def _write_result(data: Any, code: Any) -> None:
    if data[0] == _WIN:
        code[0] = WIN
        code[1] = data[1]
        code[2] = data[2]
        code[3] = data[3]
        for i in range(4):
            code[4 + i] = _int16(data, 4 + 2 * i)
        code[8] = data[12]
    else:
        code[0] = DRAWN_ROUND
        code[1] = data[1]
        for i in range(4):
            code[2 + i] = _int16(data, 2 + 2 * i)
