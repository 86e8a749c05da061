"""The three abstract policies as search one tile ahead.

Each policy has a target: four sets and a pair, all triplets, or seven pairs. It counts the tiles its hand is
missing, and then the copies of useful tiles it has not seen: a discard leaves the fewest missing and, among
equals, the most useful copies. A call must leave fewer missing than a pass; a kan after a draw must not cost
any. Every policy wins whenever it can, whatever the points.

Source: the CFR-p paper, section 4.2: potential winning tiles, melds and pairs, and missing tiles.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from game.shanten import accepted_one_suit, shanten_one_suit
from game.tiles import KINDS
from game.two_player.layout import (
    ACTIONS,
    ANKAN,
    CHI,
    CLAIM,
    DAIMINKAN,
    DECK,
    DISCARD,
    DISCARD_OF,
    KAKAN,
    PASS,
    PON,
    POSITION,
    TILES,
    shuffle,
)
from game.two_player.rules import deal, legal_calls, legal_kans
from kit.jit import kernel, warms_up
from policies.two_player.abstraction import NORMAL, PAIRS, TRIPLETS

HOPELESS: Final = 99
"""Missing tiles of a target that cannot be reached."""

_PLACES: Final = 4
_WIDTH: Final = 5
"""Bits of a count of kinds."""


@kernel
def act(position: Any, policy: int) -> int:
    """The action of a policy for the player to act, who cannot win now.

    Args:
        position: in any phase; not changed in the end.
        policy: NORMAL, TRIPLETS or PAIRS.
    """
    hand = position.hands[position.player]
    melds = int(position.meld_count[position.player])
    unseen = np.empty(KINDS, np.int8)
    _count_unseen(position, unseen)
    if position.phase == DISCARD:
        return DISCARD_OF + best_discard(hand, melds, unseen, policy)[0]
    if policy == PAIRS:
        return PASS
    legal = np.zeros(ACTIONS, np.bool_)
    if position.phase == CLAIM:
        if legal_calls(position, legal) == 0:
            return PASS
        return _best_call(position, legal, unseen, policy)
    if legal_kans(position, legal) == 0:
        return PASS
    return _kan(hand, melds, legal, unseen, policy)


@kernel
def _count_unseen(position: Any, unseen: NDArray[np.int8]) -> None:
    """Fill in the copies of each kind that the player to act has not seen."""
    hand = position.hands[position.player]
    unseen[:] = 0
    for kind in DECK:
        unseen[kind] = 4 - hand[kind] - position.public[kind]


@kernel
def _best_call(position: Any, legal: NDArray[np.bool_], unseen: NDArray[np.int8], policy: int) -> int:
    """The call that leaves the fewest tiles missing, if they are fewer than after a pass.

    An open kan is never called: its triplet is a set already.
    """
    hand = position.hands[position.player]
    melds = int(position.meld_count[position.player])
    offered = int(position.offered)
    best = PASS
    fewest = missing(hand, melds, unseen, policy)
    most = -1
    for action in range(PON, ANKAN):
        if not legal[action] or action == DAIMINKAN or (policy == TRIPLETS and action >= CHI):
            continue
        _take(hand, action, offered, -1)
        _, left, copies = best_discard(hand, melds + 1, unseen, policy)
        _take(hand, action, offered, 1)
        if left < fewest or (left == fewest and most >= 0 and copies > most):
            best, fewest, most = action, left, copies
    return best


@kernel
def _take(hand: NDArray[np.int8], action: int, offered: int, change: int) -> None:
    """Take the tiles of a pon or a chi out of a hand (-1), or put them back (1)."""
    if action == PON:
        hand[offered] += 2 * change
        return
    low = action - CHI
    for kind in range(low, low + 3):
        if kind != offered:
            hand[kind] += change


@kernel
def _kan(
    hand: NDArray[np.int8], melds: int, legal: NDArray[np.bool_], unseen: NDArray[np.int8], policy: int
) -> int:
    """A closed or added kan that costs no tile, else PASS."""
    fewest = best_discard(hand, melds, unseen, policy)[1]
    for kind in DECK:
        if legal[ANKAN + kind]:
            hand[kind] -= 4
            left = missing(hand, melds + 1, unseen, policy)
            hand[kind] += 4
            if left <= fewest:
                return ANKAN + kind
        if legal[KAKAN + kind]:
            hand[kind] -= 1
            left = missing(hand, melds, unseen, policy)
            hand[kind] += 1
            if left <= fewest:
                return KAKAN + kind
    return PASS


@kernel
def best_discard(
    hand: NDArray[np.int8], melds: int, unseen: NDArray[np.int8], policy: int
) -> tuple[int, int, int]:
    """The discard of a policy from a hand of 3n+2 tiles.

    Returns:
        The kind, the tiles missing after it, and the unseen copies of the tiles that then lower them. Of
        equal discards the last kind is chosen: honours before characters.
    """
    fewest = HOPELESS + 1
    left = np.full(KINDS, HOPELESS + 1, np.int8)
    for kind in DECK:
        if hand[kind] > 0:
            hand[kind] -= 1
            left[kind] = missing(hand, melds, unseen, policy)
            hand[kind] += 1
            fewest = min(fewest, int(left[kind]))
    chosen = -1
    most = -1
    for kind in DECK:
        if left[kind] == fewest:
            hand[kind] -= 1
            copies = useful_copies(hand, melds, unseen, policy, fewest)
            hand[kind] += 1
            if copies >= most:
                chosen, most = kind, copies
    return chosen, fewest, most


@kernel
def missing(hand: NDArray[np.int8], melds: int, unseen: NDArray[np.int8], policy: int) -> int:
    """Tiles that a hand of 3n+1 is missing to the target of a policy; `HOPELESS` if it cannot be reached."""
    if policy == NORMAL:
        return shanten_one_suit(hand, melds) + 1
    if policy == TRIPLETS:
        return _missing_triplets(_shape(hand, unseen), 4 - melds)
    if melds > 0:
        return HOPELESS
    pairs = 0
    for kind in DECK:
        pairs += hand[kind] // 2
    return 7 - pairs


@kernel
def useful_copies(
    hand: NDArray[np.int8], melds: int, unseen: NDArray[np.int8], policy: int, left: int
) -> int:
    """Unseen copies of the kinds that lower the tiles missing, ``left``, of a hand of 3n+1."""
    copies = 0
    if policy == NORMAL:
        mask = int(accepted_one_suit(hand, melds)[1])
        for kind in DECK:
            copies += (mask >> kind & 1) * unseen[kind]
        return copies
    if policy == PAIRS:
        for kind in DECK:
            copies += (hand[kind] & 1) * unseen[kind]
        return copies
    shape = _shape(hand, unseen)
    useful = 0  # places of a shape whose kinds lower the tiles missing by one more copy
    for place in range(2 * _PLACES):
        if place % _PLACES < 3 and _count(shape, place) > 0:
            grown = shape - (1 << _WIDTH * place) + (1 << _WIDTH * (place + 1))
            useful |= (_missing_triplets(grown, 4 - melds) < left) << place
    for kind in DECK:
        if unseen[kind] > 0:
            place = _place(int(hand[kind]), int(unseen[kind]))
            copies += (useful >> place & 1) * unseen[kind] if place >= 0 else 0
    return copies


@kernel
def _shape(hand: NDArray[np.int8], unseen: NDArray[np.int8]) -> int:
    """The material for a hand's triplets and pairs, as eight counts of kinds in one number.

    The first four count the kinds that can become a triplet, by the tiles held (0 to 3); the others the kinds
    that can become a pair at most.
    """
    shape = 0
    for kind in DECK:
        place = _place(int(hand[kind]), int(unseen[kind]))
        if place >= 0:
            shape += 1 << _WIDTH * place
    return shape


@kernel
def _place(held: int, unseen: int) -> int:
    """The count of a shape that a kind belongs to; -1 if too few copies are left even for a pair."""
    if held + unseen >= 3:
        return min(held, 3)
    return _PLACES + held if held + unseen == 2 else -1


@kernel
def _count(shape: int, place: int) -> int:
    return shape >> _WIDTH * place & (1 << _WIDTH) - 1


@kernel
def _missing_triplets(shape: int, sets: int) -> int:
    """Tiles missing to so many triplets and a pair.

    For each kind that could be the pair, the triplets are taken from the fullest other kinds.
    """
    best = HOPELESS
    for place in range(2 * _PLACES):
        if _count(shape, place) > 0:
            pair = max(2 - place % _PLACES, 0)
            best = min(best, pair + _cheapest(shape - (1 << _WIDTH * place), sets))
    return best


@kernel
def _cheapest(shape: int, sets: int) -> int:
    """Tiles missing to so many triplets; `HOPELESS` if there are too few kinds."""
    total = 0
    for held in range(3, -1, -1):
        taken = min(sets, _count(shape, held))
        total += taken * (3 - held)
        sets -= taken
    return total if sets == 0 else HOPELESS


@warms_up
def _warm_up() -> None:
    wall = np.zeros(TILES, np.int8)
    shuffle(0, 0, wall)
    position = np.zeros(1, POSITION)[0]
    deal(position, wall)
    position["phase"] = DISCARD
    act(position, PAIRS)
