"""Deals drawn uniformly from all that fit what a player has seen.

Hands of which nothing is known are a shuffle. A hand in riichi is drawn until it is tenpai, from all tiles
that are free for it, which is exact as long as one opponent is in riichi. With several of them, each is drawn
in this way given the others, in turn, a few times over: a Gibbs sampler, whose stationary distribution is the
uniform one. The hands depend on each other only through the tiles they share, so few rounds of it suffice
(the tests compare them with an enumeration).
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from game.shanten import waits
from kit.errors import StateMismatchError
from kit.jit import kernel, warms_up
from policies.deals.deal import ANY_HAND, READY, READY_AFTER_DISCARD, Deals, RoundView, Unseen
from policies.flow.draws import drawn_bits

GIBBS_ROUNDS: Final = 4
"""How often each of several hands in riichi is drawn again, given the others."""
DRAWS: Final = 200_000
"""Draws for one tenpai hand; some thousand are usual."""
_TRIES: Final = 100
"""How often the hands in riichi are drawn from the beginning, before none are expected to be left."""

_NONE: Final = np.uint64(0)


class UniformDeals:
    """Every deal that fits is equally likely; see the module."""

    def deals(self, view: RoundView, count: int, seed: int) -> Deals:
        """Sample deals; see `policies.deals.deal.DealSampler`."""
        unseen = Unseen.of(view)
        tiles = uniform_tiles(unseen, count, seed)
        return Deals(view, unseen, tiles)


def uniform_tiles(unseen: Unseen, count: int, seed: int) -> NDArray[np.int16]:
    """``[count, M]``: uniform deals in the order of `Deals.tiles`.

    Args:
        unseen: what is open.
        count: number of deals.
        seed: determines them; each depends on its number, not on how many there are.

    Raises:
        StateMismatchError: an opponent is in riichi, and no tenpai hand is left for that player.
    """
    seeds = np.array([drawn_bits(seed, number) for number in range(count)], np.uint64)
    tiles = np.empty((count, len(unseen.tiles)), np.int16)
    if not _deal_all(unseen.tiles, unseen.sizes, unseen.needs, unseen.melds, seeds, DRAWS, tiles):
        raise StateMismatchError("no hand of a player in riichi can be tenpai with the tiles left")
    return tiles


@kernel
def is_possible(counts: Any, need: int, melds: int, drawn: int) -> bool:
    """Whether a hand is what is known of it.

    Args:
        counts: ``[34]`` int8; unchanged afterwards.
        need: `ANY_HAND`, `READY` or `READY_AFTER_DISCARD`.
        melds: number of melds.
        drawn: kind of the tile just drawn, -1 if the hand has none.
    """
    if need == ANY_HAND:
        return True
    if need == READY:
        if drawn >= 0:
            counts[drawn] -= 1
        ready = waits(counts, melds)
        if drawn >= 0:
            counts[drawn] += 1
        return bool(ready != _NONE)
    for kind in range(34):
        if counts[kind] > 0:
            counts[kind] -= 1
            ready = waits(counts, melds)
            counts[kind] += 1
            if ready != _NONE:
                return True
    return False


@kernel
def next_bits(state: Any) -> Any:
    """64 random bits (SplitMix64); ``state`` is ``[1]`` uint64, changed."""
    state[0] += np.uint64(0x9E3779B97F4A7C15)
    mixed = state[0]
    mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return mixed ^ (mixed >> np.uint64(31))


@kernel
def below(state: Any, limit: int) -> int:
    """A random number from 0 to ``limit`` - 1; its bias is below 2⁻²⁴ for up to 256."""
    return int((next_bits(state) >> np.uint64(32)) * np.uint64(limit) >> np.uint64(32))


@kernel
def _deal_all(pool: Any, sizes: Any, needs: Any, melds: Any, seeds: Any, draws: int, out: Any) -> bool:
    for number in range(len(seeds)):
        state = seeds[number : number + 1].copy()
        if not _deal(pool, sizes, needs, melds, state, draws, out[number]):
            return False
    return True


@kernel
def _deal(pool: Any, sizes: Any, needs: Any, melds: Any, state: Any, draws: int, out: Any) -> bool:
    """One deal. Hands that must be ready stand at the front while tiles are drawn."""
    row = pool.copy()
    _shuffle(row, 0, state)
    starts = np.zeros(3, np.int64)
    front = 0
    known = 0
    for hand in range(3):
        if needs[hand] != ANY_HAND:
            starts[hand] = front
            front += sizes[hand]
            known += 1
    drawn = False
    for _ in range(_TRIES):
        # one after the other, from the tiles that those before it left
        drawn = drawn or _draw_hands(row, starts, sizes, -1, needs, melds, state, draws)
    if not drawn:
        return False
    for _ in range(GIBBS_ROUNDS if known > 1 else 0):
        _draw_hands(row, starts, sizes, front, needs, melds, state, draws)
    _shuffle(row, front, state)
    at = 0
    rest = front
    for hand in range(3):
        start = starts[hand]
        if needs[hand] == ANY_HAND:
            start = rest
            rest += sizes[hand]
        out[at : at + sizes[hand]] = row[start : start + sizes[hand]]
        at += sizes[hand]
    out[at:] = row[rest:]
    return True


@kernel
def _draw_hands(
    row: Any, starts: Any, sizes: Any, front: int, needs: Any, melds: Any, state: Any, draws: int
) -> bool:
    """Draw each hand of which something is known; those after it are in its way only if ``front`` says so."""
    for hand in range(3):
        if needs[hand] == ANY_HAND:
            continue
        free = front if front >= 0 else starts[hand] + sizes[hand]
        if not _draw_hand(row, starts[hand], sizes[hand], free, needs[hand], melds[hand], state, draws):
            return False
    return True


@kernel
def _shuffle(row: Any, start: int, state: Any) -> None:
    for place in range(len(row) - 1, start, -1):
        other = start + below(state, place - start + 1)
        row[place], row[other] = row[other], row[place]


@kernel(inline="always")
def _draw_hand(
    row: Any, start: int, size: int, front: int, need: int, melds: int, state: Any, draws: int
) -> bool:
    """Draw the hand at ``start`` from its own tiles and those from ``front`` on, until it is possible.

    Returns:
        Whether it became possible; if not, the tiles lie as before.
    """
    before = row.copy()
    counts = np.zeros(34, np.int8)
    free = len(row) - front
    for _ in range(draws):
        counts[:] = 0
        for place in range(size):
            other = below(state, size - place + free)
            at = start + place + other if other < size - place else front + other - (size - place)
            row[start + place], row[at] = row[at], row[start + place]
            counts[row[start + place] >> 2] += 1
        drawn = row[start + size - 1] >> 2 if size % 3 == 2 else -1
        if is_possible(counts, need, melds, drawn):
            return True
    for place in range(len(row)):
        row[place] = before[place]
    return False


@warms_up
def _warm_up() -> None:
    pool = np.arange(40, 80, dtype=np.int16)
    one = np.ones(3, np.int64)
    sizes = np.array([4, 4, 5], np.int64)
    needs = np.array([READY, ANY_HAND, READY_AFTER_DISCARD], np.int64)
    _deal_all(pool, sizes, needs, 3 * one, np.zeros(1, np.uint64), DRAWS, np.empty((1, 40), np.int16))
