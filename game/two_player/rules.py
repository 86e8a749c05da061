"""The rules as kernels: the deal, the legal actions of each phase, and what an action does.

A position is a record of `layout.POSITION`, a wall ``[64]`` int8 of kinds: 13 tiles of player 0, 13 of
player 1, then the 38 to draw. Kernels change positions in place and check nothing.

Source: the CFR-p paper, sections 2.1 and 2.2. What it leaves open is decided here: the last discard can be
won but not called, a kan needs a tile left to draw, nobody robs a kan, four equal tiles are two pairs, and
any tile may be discarded after a call.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from game.shanten import shanten_one_suit
from game.tiles import KINDS
from game.two_player.layout import (
    ACTIONS,
    ANKAN,
    CHI,
    CLAIM,
    DAIMINKAN,
    DEALT,
    DECK,
    DISCARD,
    DISCARD_OF,
    DRAWN,
    DRAWS,
    KAKAN,
    MELD_ANKAN,
    MELD_CHI,
    MELD_DAIMINKAN,
    MELD_KAKAN,
    MELD_PON,
    NO_MELD,
    NO_TILE,
    NOBODY,
    OVER,
    PASS,
    PLAYERS,
    POINTS_NORMAL,
    POINTS_SPECIAL,
    PON,
    POSITION,
    TILES,
    WIN,
    shuffle,
)
from kit.jit import kernel, warms_up

HONOURS_FROM: Final = 27
"""Kinds from here on form no sequences."""


@kernel
def deal(position: Any, wall: NDArray[np.int8]) -> None:
    """Start a game: both hands are dealt and player 0 has drawn."""
    position.winner = NOBODY
    position.points = 0
    position.offered = NO_TILE
    position.front = PLAYERS * DEALT
    position.back = TILES
    position.hands[:] = 0
    position.meld_count[:] = 0
    position.melds[:] = NO_MELD
    position.public[:] = 0
    for player in range(PLAYERS):
        for place in range(player * DEALT, (player + 1) * DEALT):
            position.hands[player, wall[place]] += 1
    position.player = 0
    _draw(position, wall, False)


@kernel
def round_of(position: Any) -> int:
    """The paper's serial number of the round: the tiles drawn so far, 1 to 38."""
    return DRAWS - (position.back - position.front)


@kernel
def points_of(hand34: NDArray[np.int8], meld_count: int, melds: NDArray[np.uint8]) -> int:
    """Points of a hand as a win, 0 if it is none.

    Args:
        hand34: ``[34]`` int8, concealed tiles, the winning one among them.
        meld_count: number of melds.
        melds: ``[4]`` uint8, the melds.
    """
    triplets = 0
    doubles = 0
    pairs = 0
    only_triplets = True
    for kind in DECK:
        count = hand34[kind]
        pairs += count // 2
        triplets += count == 3
        doubles += count == 2
        only_triplets &= count in (0, 2, 3)
    for place in range(meld_count):
        only_triplets &= melds[place] >= KINDS
    if only_triplets and doubles == 1 and triplets + meld_count == 4:
        return POINTS_SPECIAL
    if meld_count == 0 and pairs == 7:
        return POINTS_SPECIAL
    return POINTS_NORMAL if shanten_one_suit(hand34, meld_count) == -1 else 0


@kernel
def points_now(position: Any) -> int:
    """Points if the player to act wins now, on the offered or the drawn tile; 0 if that is no win."""
    player = position.player
    hand = position.hands[player]
    if position.phase == CLAIM:
        hand[position.offered] += 1
    points = points_of(hand, int(position.meld_count[player]), position.melds[player])
    if position.phase == CLAIM:
        hand[position.offered] -= 1
    return points


@kernel
def legal_actions(position: Any, legal: NDArray[np.bool_]) -> int:
    """Mark the legal actions of the player to act.

    Args:
        position: the position.
        legal: ``[ACTIONS]`` bool, filled.

    Returns:
        Their number; 0 once the game is over.
    """
    legal[:] = False
    if position.phase == CLAIM:
        legal[PASS] = True
        legal[WIN] = points_now(position) > 0
        legal_calls(position, legal)
    elif position.phase == DRAWN:
        legal[PASS] = True
        legal[WIN] = points_now(position) > 0
        legal_kans(position, legal)
    elif position.phase == DISCARD:
        hand = position.hands[position.player]
        for kind in DECK:
            legal[DISCARD_OF + kind] = hand[kind] > 0
    return legal.sum()


@kernel
def legal_calls(position: Any, legal: NDArray[np.bool_]) -> int:
    """Mark the calls of the offered tile: chi, pon and kan; return their number."""
    if position.front == position.back:
        return 0
    hand = position.hands[position.player]
    offered = position.offered
    legal[PON] = hand[offered] >= 2
    legal[DAIMINKAN] = hand[offered] >= 3
    number = int(legal[PON]) + int(legal[DAIMINKAN])
    if offered < 9:
        for low in range(max(offered - 2, 0), min(offered, 6) + 1):
            held = True
            for kind in range(low, low + 3):
                held &= kind == offered or hand[kind] > 0
            legal[CHI + low] = held
            number += held
    return number


@kernel
def legal_kans(position: Any, legal: NDArray[np.bool_]) -> int:
    """Mark the closed and added kans after a draw; return their number."""
    if position.front == position.back:
        return 0
    player = position.player
    hand = position.hands[player]
    number = 0
    for kind in DECK:
        if hand[kind] == 4:
            legal[ANKAN + kind] = True
            number += 1
    for place in range(position.meld_count[player]):
        kind = position.melds[player, place] - KINDS * MELD_PON
        if 0 <= kind < KINDS and hand[kind] > 0:
            legal[KAKAN + kind] = True
            number += 1
    return number


@kernel
def apply(position: Any, wall: NDArray[np.int8], action: int) -> None:
    """Carry out a legal action of the player to act, and the draw that it may lead to."""
    player = position.player
    hand = position.hands[player]
    offered = position.offered
    if action >= DISCARD_OF:
        _discard(position, action - DISCARD_OF)
    elif action == WIN:
        position.points = points_now(position)
        position.winner = player
        if position.phase == CLAIM:
            hand[offered] += 1
            position.public[offered] -= 1
        position.phase = OVER
    elif action == PASS:
        if position.phase == CLAIM:
            _draw(position, wall, False)
        else:
            position.phase = DISCARD
    elif action == PON:
        hand[offered] -= 2
        position.public[offered] += 2
        _add_meld(position, MELD_PON, offered)
    elif action == DAIMINKAN:
        hand[offered] -= 3
        position.public[offered] += 3
        _add_meld(position, MELD_DAIMINKAN, offered)
        _draw(position, wall, True)
    elif action < ANKAN:
        low = action - CHI
        for kind in range(low, low + 3):
            if kind != offered:
                hand[kind] -= 1
                position.public[kind] += 1
        _add_meld(position, MELD_CHI, low)
    elif action < KAKAN:
        hand[action - ANKAN] -= 4
        position.public[action - ANKAN] += 4
        _add_meld(position, MELD_ANKAN, action - ANKAN)
        _draw(position, wall, True)
    else:
        kind = action - KAKAN
        hand[kind] -= 1
        position.public[kind] += 1
        for place in range(position.meld_count[player]):
            if position.melds[player, place] == KINDS * MELD_PON + kind:
                position.melds[player, place] = KINDS * MELD_KAKAN + kind
        _draw(position, wall, True)


@kernel
def _add_meld(position: Any, form: int, kind: int) -> None:
    """Add a meld; after a call the player must discard."""
    player = position.player
    position.melds[player, position.meld_count[player]] = KINDS * form + kind
    position.meld_count[player] += 1
    position.offered = NO_TILE
    position.drawn = NO_TILE
    position.phase = DISCARD


@kernel
def _discard(position: Any, kind: int) -> None:
    player = position.player
    position.hands[player, kind] -= 1
    position.public[kind] += 1
    position.offered = kind
    position.drawn = NO_TILE
    position.player = 1 - player
    position.phase = CLAIM


@kernel
def _draw(position: Any, wall: NDArray[np.int8], replacement: bool) -> None:
    """The player to act draws, after a kan from the end of the wall; with no tile left, the game is over."""
    position.offered = NO_TILE
    position.drawn = NO_TILE
    if position.front == position.back:
        position.phase = OVER
        return
    if replacement:
        position.back -= 1
        position.drawn = wall[position.back]
    else:
        position.drawn = wall[position.front]
        position.front += 1
    position.hands[position.player, position.drawn] += 1
    position.phase = DRAWN


@warms_up
def _warm_up() -> None:
    wall = np.zeros(TILES, np.int8)
    shuffle(0, 0, wall)
    position = np.zeros(1, POSITION)[0]
    deal(position, wall)
    legal = np.zeros(ACTIONS, np.bool_)
    legal_actions(position, legal)
    apply(position, wall, PASS)
    round_of(position)
    points_now(position)
