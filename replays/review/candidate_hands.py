"""Hands that the opponents may hold at the moments of a review, as the models of hands make them up."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from game.shanten import shanten
from game.tiles import RED_FIVES, mjai_text
from policies.draws import drawn_bits
from policies.hands.sampler import HandSampler, SampledHands
from replays.review import schema
from replays.review.moments import Moment

_RED_PLACE: Final = {red >> 2: place for place, red in enumerate(RED_FIVES)}

HandSamplers: TypeAlias = Mapping[schema.HandModel, HandSampler]
"""Samplers of hands by name."""

FindCandidates: TypeAlias = Callable[[Sequence[Moment], int], list[tuple[schema.CandidateHands, ...]]]
"""Maps moments of a player to the hands that its opponents may hold; see `candidate_hands`."""


def candidate_hands(
    moments: Sequence[Moment], player: int, samplers: HandSamplers, count: int
) -> list[tuple[schema.CandidateHands, ...]]:
    """Hands of each opponent at each moment, by every sampler.

    Args:
        moments: decisions of one player.
        player: absolute.
        samplers: who makes hands up.
        count: hands of each opponent, at each moment, by each sampler.
    """
    found: list[tuple[schema.CandidateHands, ...]] = [()] * len(moments)
    if not moments or not count:
        return found
    records = np.array([moment.record for moment in moments])
    melds = [[int(moment.record["meld_count"][(player + n) % 4]) for n in (1, 2, 3)] for moment in moments]
    for number, (name, sampler) in enumerate(samplers.items()):
        players = np.full(len(moments), player)
        hands = sampler.sample(records, players, count, seed=drawn_bits(len(moments), player, number) >> 1)
        for place, open_melds in enumerate(melds):
            first, second, third = (_hands(hands, place, n, open_melds[n]) for n in range(3))
            found[place] += (schema.CandidateHands(model=name, hands=(first, second, third)),)
    return found


def _hands(found: SampledHands, place: int, opponent: int, melds: int) -> tuple[schema.CandidateHand, ...]:
    """The hands of one opponent at one moment, ready ones first."""
    hands = [
        schema.CandidateHand(
            tiles=_tiles(counts[opponent], reds[opponent]), shanten=int(shanten(counts[opponent], melds))
        )
        for counts, reds in zip(found.counts[place], found.reds[place], strict=True)
    ]
    return tuple(sorted(hands, key=lambda hand: hand.shanten))


def _tiles(counts: NDArray[np.int8], reds: NDArray[np.bool_]) -> str:
    """``1m 5mr E``: the tiles by kind, a red five last of its kind."""
    texts = []
    for kind in np.flatnonzero(counts):
        red = kind in _RED_PLACE and bool(reds[_RED_PLACE[int(kind)]])
        texts += [mjai_text(4 * int(kind) + 3)] * int(counts[kind] - red)
        texts += [mjai_text(4 * int(kind))] * red
    return " ".join(texts)
