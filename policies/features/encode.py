"""Encodes states as planes, with one function for live play, self-play and training.

Planes are uint8 with `ONE` (255) for 1.0, so that a batch takes a quarter of the memory and bandwidth of
float32; the network converts them to floats on its own device (``planes.float() / 255``). A real between 0
and 1 is rounded to 1/255.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from itertools import pairwise
from typing import Any, Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from game.layout import AT_HAND, AT_UNSEEN, LIVE_TILES, PHASE_TURN, ROUND_STATE
from game.scoring.dora import dora_of
from game.scoring.settlement import LAST_ROUND
from game.shanten import shanten
from game.table.walls import indicator_place, next_place
from game.tiles import RED_FIVES, TILES
from kit.jit import kernel, warms_up
from policies.features.deep.planes import lookahead_deep
from policies.features.discards import mark_discard_sums, mark_last_discards, mark_rivers, mark_safety
from policies.features.draw import add_one, fill, mark_counts, mark_mask
from policies.features.efficiency import mark_efficiency
from policies.features.hand import (
    mark_go_around,
    mark_hand,
    mark_shanten,
    mark_shanten_forms,
    mark_shape,
    mark_winds,
)
from policies.features.melds import (
    CALL_WIDTH,
    make_call,
    mark_call,
    mark_call_turns,
    mark_dora,
    mark_dora_in_sight,
    mark_melds,
    mark_melds_together,
)
from policies.features.sight import SIGHT, fill_sight
from policies.features.standing import (
    mark_moment,
    mark_riichi,
    mark_riichi_real,
    mark_round,
    mark_scores,
    mark_scores_real,
    mark_wall,
    mark_wall_real,
)
from policies.features.table import (
    CRITIC,
    DEEP_PLANES,
    GO_AROUNDS,
    GUIDED,
    HOSEI,
    KINDS,
    LITE,
    LITE_CALL,
    ONE,
    ORACLE,
    ORACLE_DRAWS,
    SETS,
    SUPHX,
    SUPHX_CALL,
    FeatureSet,
    offsets,
)

_SET: Final = SETS[ORACLE]
_HANDS: Final = _SET.at("hand1")
_HAND_PLANES: Final = _SET.at("hand2") - _HANDS
_WALL: Final = _SET.at("wall")
_LEFT: Final = _SET.at("left")
_URA: Final = _SET.at("ura")
_next_place: Final = kernel(next_place)
_indicator_place: Final = kernel(indicator_place)


@kernel
def mark_oracle(rec: Any, me: int, wall: Any, out: Any) -> None:
    """All oracle planes; unknown hands, and wall tiles of -1, stay empty."""
    _mark_other_hands(rec, me, out)
    # a replacement tile that is still to be drawn has not moved the end of the live wall
    taken = rec.kan_count - (rec.rinshan if rec.phase != PHASE_TURN else 0)
    start = _next_place(int(rec.wall_left), taken)
    for i in range(min(int(rec.wall_left), LIVE_TILES)):
        tile = wall[start + i]
        if tile < 0:
            continue
        add_one(out, _LEFT, tile >> 2, 4)
        if i < ORACLE_DRAWS:
            out[_WALL + i, tile >> 2] = ONE
    for i in range(rec.indicator_count):
        tile = wall[_indicator_place(i) - 1]
        if tile >= 0:
            add_one(out, _URA, dora_of(tile >> 2), 4)


@kernel
def _mark_other_hands(rec: Any, me: int, out: Any) -> None:
    """The first oracle planes; unknown hands stay empty."""
    for seat in range(1, 4):
        player = (me + seat) & 3
        if rec.hand_known[player]:
            _mark_hand(rec, player, out, _HANDS + _HAND_PLANES * (seat - 1))


@kernel
def _mark_hand(rec: Any, player: int, out: Any, at: int) -> None:
    mark_counts(out, at, rec.hand34[player], 4)
    for suit in range(3):
        if rec.where[RED_FIVES[suit]] == AT_HAND + player:
            fill(out, at + 4 + suit, ONE)
    mark_mask(out, at + 7, rec.waits[player])
    distance = shanten(rec.hand34[player], int(rec.meld_count[player]))
    fill(out, at + 8 + min(max(distance, 0), 3), ONE)


Planes = NDArray[np.uint8]

_ROWS_A_PIECE: Final = 64
"""Fewer rows than this are not worth passing to another core."""
_CODE_SIZE: Final = 8

_LITE: Final = offsets(LITE)
_FULL: Final = offsets(SUPHX)
_LITE_CALL: Final = offsets(LITE_CALL)
_FULL_CALL: Final = offsets(SUPHX_CALL)
_HOSEI: Final = offsets(HOSEI)
_HIDDEN: Final = SETS[LITE].planes
"""First plane of what is hidden, in the sets for oracle guiding and for the critic."""
_REST: Final = SETS[CRITIC].at("rest")
_HOSEI_AGES: Final = tuple(SETS[HOSEI].at(f"H{age}") for age in range(GO_AROUNDS + 1))


def encode(
    states: NDArray[Any],
    players: ArrayLike,
    feature_set: str,
    out: Planes | None = None,
    *,
    calls: NDArray[np.int16] | None = None,
    walls: NDArray[np.int16] | None = None,
    deep: bool = True,
    last_round: ArrayLike = LAST_ROUND["hanchan"],
    threads: int = 1,
) -> Planes:
    """Encode states as planes, each as one player sees it.

    Only what that player may know is read, whatever the record contains, except for the sets with what is
    hidden.

    Args:
        states: ``[N]`` of `ROUND_STATE`; the players' own hands must be known.
        players: Absolute player for each, or one for all.
        feature_set: A name in `policies.features.table.SETS`.
        out: ``[N, C, 34]`` uint8 to fill; by default a new one.
        calls: For the sets of calls: ``[N, 6]`` int16, the candidate meld of each row as
            `game.rules.legal_rows` writes it. A state with several candidates appears in several rows.
        walls: For the sets with what is hidden: ``[N, 136]`` int16 in deal order, -1 where unknown.
        deep: Whether to compute LA1 and LA2, most of the work of a set that has them; if not, they stay
            empty.
        last_round: from `game.scoring.settlement.LAST_ROUND`; for each state, or one for all.
        threads: Number of cores a large batch may use; 0 for all.

    Returns:
        ``out``.

    Raises:
        ValueError: an array has the wrong shape or type, or one that the set needs is missing.
    """
    chosen = SETS.get(feature_set)
    if chosen is None:
        raise ValueError(f"no feature set {feature_set!r}; choose one of {', '.join(SETS)}")
    states = _plain(states, ROUND_STATE).reshape(-1)
    count = len(states)
    whose, last_rounds = _one_per_row(players, count), _one_per_row(last_round, count)
    if count and not (whose.min() >= 0 and whose.max() <= 3):
        raise ValueError("players must be 0 to 3")
    out = _room(out, (count, chosen.planes, KINDS))
    extra = _extra(chosen, count, calls, walls)
    body = _BODIES[chosen.name]

    def piece(rows: slice) -> int:
        room, sight = np.zeros(1, ROUND_STATE), np.zeros(1, SIGHT)
        part = (states[rows], whose[rows], extra[rows])
        done: int = body(*part, last_rounds[rows], out[rows], room, sight[0])
        if deep and done == len(part[0]):
            _fill_deep(chosen, *part, out[rows])
        return int(rows.start) + done

    for end, rows in _in_pieces(piece, count, threads):
        if end < rows.stop:
            raise ValueError(f"calls[{end}] does not fit its state: {extra[end].tolist()}")
    return out


def called(states: NDArray[Any], players: NDArray[np.int8], calls: NDArray[np.int16]) -> NDArray[Any]:
    """Copies of the states after each player's call.

    Args:
        states: ``[N]`` of `ROUND_STATE`.
        players: ``[N]``, absolute.
        calls: ``[N, 6]`` int16 as `game.rules.legal_rows` writes them.

    Raises:
        ValueError: a call does not fit its state.
    """
    after = states.copy()
    done = _make_calls(after, players, calls, np.zeros(_CODE_SIZE, np.int16))
    if done < len(after):
        raise ValueError(f"calls[{done}] does not fit its state: {calls[done].tolist()}")
    return after


def _plain(values: NDArray[Any], dtype: np.dtype[Any]) -> NDArray[Any]:
    """The array itself, or a copy if its layout would make numba compile the kernels again."""
    if values.dtype != dtype:
        raise ValueError(
            f"an array of {values.dtype}; expected {dtype if dtype.names is None else 'ROUND_STATE'}"
        )
    return np.require(values, requirements=["C", "W"])


def _one_per_row(values: ArrayLike, count: int) -> NDArray[np.int8]:
    filled = np.empty(count, np.int8)
    filled[:] = values
    return filled


def _room(out: Planes | None, shape: tuple[int, int, int]) -> Planes:
    if out is None:
        return np.empty(shape, np.uint8)
    if out.shape != shape or out.dtype != np.uint8 or not out.flags.c_contiguous:
        raise ValueError(f"out must be contiguous uint8 of shape {shape}, not {out.dtype} of {out.shape}")
    return out


def _extra(
    chosen: FeatureSet, count: int, calls: NDArray[np.int16] | None, walls: NDArray[np.int16] | None
) -> NDArray[np.int16]:
    """The array a set needs in addition to the states."""
    name, given, width = {
        LITE_CALL: ("calls", calls, CALL_WIDTH),
        SUPHX_CALL: ("calls", calls, CALL_WIDTH),
        ORACLE: ("walls", walls, TILES),
        GUIDED: ("walls", walls, TILES),
    }.get(chosen.name, ("", None, 0))
    if not name:
        return np.empty((count, 0), np.int16)
    if given is None or given.shape != (count, width):
        raise ValueError(f"give {name}, one for each observation: {chosen.name} needs shape {(count, width)}")
    return _plain(given, np.dtype(np.int16))


@cache
def _executor() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(os.cpu_count() or 1, thread_name_prefix="features")


os.register_at_fork(after_in_child=_executor.cache_clear)  # threads do not survive a fork


def _in_pieces(piece: Callable[[slice], int], count: int, threads: int) -> Iterator[tuple[int, slice]]:
    """Process all rows, on several cores if there are enough rows."""
    workers = min(threads or os.cpu_count() or 1, max(1, count // _ROWS_A_PIECE))
    bounds = [count * i // workers for i in range(workers + 1)]
    parts = [slice(start, stop) for start, stop in pairwise(bounds)]
    ends = map(piece, parts) if workers == 1 else _executor().map(piece, parts)
    yield from zip(ends, parts, strict=True)


def _fill_deep(
    chosen: FeatureSet,
    states: NDArray[Any],
    players: NDArray[np.int8],
    calls: NDArray[np.int16],
    out: Planes,
) -> None:
    if chosen.has("LA1"):
        at = chosen.at("LA1")
        lookahead_deep(states, players, out[:, at : at + DEEP_PLANES])
    if chosen.has("LA1'"):
        at = chosen.at("LA1'")
        lookahead_deep(called(states, players, calls), players, out[:, at : at + DEEP_PLANES])


# --- kernels: each returns how many rows it has done ------------------------------------------------------


@kernel
def _encode_lite(
    states: Any, players: Any, extra: Any, last_rounds: Any, out: Any, room: Any, sight: Any
) -> int:
    for row in range(len(states)):
        out[row] = 0
        _mark_lite(states[row], int(players[row]), sight, out[row])
    return len(states)


@kernel
def _mark_lite(rec: Any, me: int, sight: Any, out: Any) -> None:
    fill_sight(rec, me, sight)
    mark_hand(rec, me, out, _LITE.A1, _LITE.A2, _LITE.A3)
    mark_melds_together(rec, me, out, _LITE.B)
    mark_dora(rec, out, _LITE.C1, _LITE.C2)
    mark_discard_sums(rec, me, out, _LITE.E, _LITE.F)
    mark_last_discards(rec, me, out, _LITE.D)
    mark_safety(rec, sight, out, _LITE.G, _LITE.H)
    mark_scores_real(rec, me, out, _LITE.I1, _LITE.I2)
    mark_round(rec, me, out, _LITE.I3, _LITE.J)
    mark_wall_real(rec, out, _LITE.K)
    mark_riichi_real(rec, me, out, _LITE.L)
    mark_shanten(sight, out, _LITE.N)
    mark_shape(rec, sight, out, _LITE.N + 6)
    mark_efficiency(rec, sight, out, _LITE.LA3a)


@kernel
def _encode_suphx(
    states: Any, players: Any, extra: Any, last_rounds: Any, out: Any, room: Any, sight: Any
) -> int:
    for row in range(len(states)):
        out[row] = 0
        _mark_suphx(states[row], int(players[row]), int(last_rounds[row]), sight, out[row])
    return len(states)


@kernel
def _mark_suphx(rec: Any, me: int, last_round: int, sight: Any, out: Any) -> None:
    fill_sight(rec, me, sight)
    mark_hand(rec, me, out, _FULL.A1, _FULL.A2, _FULL.A3)
    mark_melds(rec, me, out, _FULL.B)
    mark_dora(rec, out, _FULL.C1, _FULL.C2)
    fill(out, _FULL.C3 + max(0, rec.indicator_count - 1), ONE)
    mark_rivers(rec, me, out, _FULL.D)
    mark_discard_sums(rec, me, out, _FULL.E, _FULL.F)
    mark_safety(rec, sight, out, _FULL.G, _FULL.H)
    mark_scores(rec, me, out, _FULL.I1, _FULL.I2)
    mark_round(rec, me, out, _FULL.I3, _FULL.J)
    mark_wall(rec, out, _FULL.K)
    mark_riichi(rec, me, out, _FULL.L, _FULL.M)
    mark_shanten_forms(sight, out, _FULL.N)
    mark_shape(rec, sight, out, _FULL.N + 14)
    mark_call_turns(rec, me, out, _FULL.O)
    mark_dora_in_sight(rec, sight, out, _FULL.P)
    mark_moment(rec, sight, out, _FULL.Q, last_round)
    mark_efficiency(rec, sight, out, _FULL.LA3a)


@kernel
def _encode_lite_calls(
    states: Any, players: Any, extra: Any, last_rounds: Any, out: Any, room: Any, sight: Any
) -> int:
    code = np.empty(_CODE_SIZE, np.int16)
    for row in range(len(states)):
        me = int(players[row])
        out[row] = 0
        _mark_lite(states[row], me, sight, out[row])
        mark_call(states[row], me, extra[row], out[row], _LITE_CALL.R1)
        room[0] = states[row]
        if not _mark_after_call(room[0], me, extra[row], code, sight, out[row], _LITE_CALL.LA3a_after):
            return row
    return len(states)


@kernel
def _encode_suphx_calls(
    states: Any, players: Any, extra: Any, last_rounds: Any, out: Any, room: Any, sight: Any
) -> int:
    code = np.empty(_CODE_SIZE, np.int16)
    for row in range(len(states)):
        me = int(players[row])
        out[row] = 0
        _mark_suphx(states[row], me, int(last_rounds[row]), sight, out[row])
        mark_call(states[row], me, extra[row], out[row], _FULL_CALL.R1)
        room[0] = states[row]
        if not _mark_after_call(room[0], me, extra[row], code, sight, out[row], _FULL_CALL.LA3a_after):
            return row
    return len(states)


@kernel
def _mark_after_call(rec: Any, me: int, row: Any, code: Any, sight: Any, out: Any, at: int) -> bool:
    """LA3 after applying the call to ``rec``, a copy; false if the call does not fit."""
    if not make_call(rec, me, row, code):
        return False
    fill_sight(rec, me, sight)
    mark_efficiency(rec, sight, out, at)
    return True


@kernel
def _encode_oracle(
    states: Any, players: Any, extra: Any, last_rounds: Any, out: Any, room: Any, sight: Any
) -> int:
    for row in range(len(states)):
        out[row] = 0
        mark_oracle(states[row], int(players[row]), extra[row], out[row])
    return len(states)


@kernel
def _encode_guided(
    states: Any, players: Any, extra: Any, last_rounds: Any, out: Any, room: Any, sight: Any
) -> int:
    for row in range(len(states)):
        out[row] = 0
        _mark_lite(states[row], int(players[row]), sight, out[row])
        mark_oracle(states[row], int(players[row]), extra[row], out[row, _HIDDEN:])
    return len(states)


@kernel
def _encode_critic(
    states: Any, players: Any, extra: Any, last_rounds: Any, out: Any, room: Any, sight: Any
) -> int:
    for row in range(len(states)):
        rec = states[row]
        out[row] = 0
        _mark_lite(rec, int(players[row]), sight, out[row])
        _mark_other_hands(rec, int(players[row]), out[row, _HIDDEN:])
        for tile in range(TILES):
            if rec.where[tile] == AT_UNSEEN:
                add_one(out[row], _REST, tile >> 2, 4)
    return len(states)


@kernel
def _encode_hosei(
    states: Any, players: Any, extra: Any, last_rounds: Any, out: Any, room: Any, sight: Any
) -> int:
    for row in range(len(states)):
        rec, me = states[row], int(players[row])
        out[row] = 0
        mark_winds(rec, me, out[row], _HOSEI.W, _HOSEI.S)
        for age in range(GO_AROUNDS + 1):
            mark_go_around(rec, me, age, out[row], _HOSEI_AGES[age])
    return len(states)


@kernel
def _make_calls(states: Any, players: Any, calls: Any, code: Any) -> int:
    for row in range(len(states)):
        if not make_call(states[row], int(players[row]), calls[row], code):
            return row
    return len(states)


_BODIES: Final[dict[str, Callable[..., int]]] = {
    LITE: _encode_lite,
    SUPHX: _encode_suphx,
    LITE_CALL: _encode_lite_calls,
    SUPHX_CALL: _encode_suphx_calls,
    ORACLE: _encode_oracle,
    GUIDED: _encode_guided,
    CRITIC: _encode_critic,
    HOSEI: _encode_hosei,
}


@warms_up
def _warm_up() -> None:
    """Compile the sets that the included models use."""
    states, players = np.zeros(1, ROUND_STATE), np.zeros(1, np.int8)
    encode(states, players, LITE)
    encode(states, players, SUPHX)
    # an empty round has no call, but rejecting one compiles the kernels
    with contextlib.suppress(ValueError):
        encode(states, players, LITE_CALL, calls=np.zeros((1, CALL_WIDTH), np.int16))
