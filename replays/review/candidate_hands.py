"""The opponents' hands at the moments of a review: generated ones, and the readings of the direct model."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from game.shanten import shanten
from game.tiles import RED_FIVES, mjai_text
from policies.flow.draws import drawn_bits
from policies.hands.views import HandSampler, SampledHands
from replays.review import schema
from replays.review.moments import Moment

if TYPE_CHECKING:
    from policies.hands.direct import DirectModel


HandSamplers: TypeAlias = Mapping[schema.HandModel, HandSampler]
"""Samplers of hands by name."""

FindCandidates: TypeAlias = Callable[[NDArray[np.void], int], list[tuple[schema.CandidateHands, ...]]]
"""Maps states that a player sees to the hands that its opponents may hold; see `candidate_hands`."""


def load_finder(count: int) -> FindCandidates:
    """Load the included models that make up hands.

    Args:
        count: hands of each opponent, in each state, by each model.

    Raises:
        CheckpointError: a model cannot be used.
    """
    from policies.hands.autoregressive import load_autoregressive  # noqa: PLC0415 - torch comes with it
    from policies.hands.diffusion import load_diffusion  # noqa: PLC0415

    samplers: HandSamplers = {"diffusion": load_diffusion(), "autoregressive": load_autoregressive()}
    return partial(candidate_hands, samplers=samplers, count=count)


def candidate_hands(
    records: NDArray[np.void], player: int, samplers: HandSamplers, count: int
) -> list[tuple[schema.CandidateHands, ...]]:
    """Hands of each opponent in each state, by every sampler.

    Args:
        records: ``[N]`` of `game.layout.ROUND_STATE`.
        player: absolute.
        samplers: who makes hands up.
        count: hands of each opponent, in each state, by each sampler.
    """
    found: list[tuple[schema.CandidateHands, ...]] = [()] * len(records)
    if not len(records) or not count:
        return found
    melds = [[int(record["meld_count"][(player + n) % 4]) for n in (1, 2, 3)] for record in records]
    for number, (name, sampler) in enumerate(samplers.items()):
        players = np.full(len(records), player)
        hands = sampler.sample(records, players, count, seed=drawn_bits(len(records), player, number) >> 1)
        for place, open_melds in enumerate(melds):
            first, second, third = (_hands(hands, place, n, open_melds[n]) for n in range(3))
            found[place] += (schema.CandidateHands(model=name, hands=(first, second, third)),)
    return found


def _hands(found: SampledHands, place: int, opponent: int, melds: int) -> tuple[schema.CandidateHand, ...]:
    """The hands of one opponent in one state, ready ones first."""
    hands = [
        schema.CandidateHand(
            tiles=_tiles(counts[opponent], reds[opponent]), shanten=int(shanten(counts[opponent], melds))
        )
        for counts, reds in zip(found.counts[place], found.reds[place], strict=True)
    ]
    return tuple(sorted(hands, key=lambda hand: hand.shanten))


def _tiles(counts: NDArray[np.int8], reds: NDArray[np.bool_]) -> str:
    """``1m 5mr E``: the tiles by kind, a red five last of its kind."""
    held = [tile for tile, is_held in zip(RED_FIVES, reds, strict=True) if is_held]
    texts = []
    for kind in np.flatnonzero(counts).tolist():
        red = 4 * kind in held
        texts += [mjai_text(4 * kind + 3)] * int(counts[kind] - red) + [mjai_text(4 * kind)] * red
    return " ".join(texts)


class HandReading(NamedTuple):
    """Probabilities about the three opponents of one moment, by seat from shimocha on.

    Attributes:
        shanten: ``[3, 7]`` of shanten 0 to 5, and of 6 or more.
        deal_ins: ``[3, 34]`` that each kind deals in if it is discarded now.
    """

    shanten: NDArray[np.float32]
    deal_ins: NDArray[np.float32]

    def danger_of(self, kind: int, points: NDArray[np.float64]) -> schema.LearnedDanger:
        """The danger of discarding a kind, given ``[3]`` points of each opponent's hand."""
        chances = self.deal_ins[:, kind].astype(np.float64)
        first, second, third = (round(float(chance), 5) for chance in chances)
        return schema.LearnedDanger(deal_in=(first, second, third), cost=round(float(chances @ points), 1))

    def shanten_of(self, seat: int) -> schema.ShantenChances:
        """The probabilities of an opponent's shanten, by seat from 0 for shimocha."""
        zero, one, two, three, four, five, more = (round(float(chance), 4) for chance in self.shanten[seat])
        return zero, one, two, three, four, five, more


def hand_readings(moments: Sequence[Moment], model: DirectModel | None) -> list[HandReading | None]:
    """A reading of each of one player's moments; None without a model."""
    if model is None:
        return [None] * len(moments)
    found = model.read(np.array([moment.record for moment in moments]), moments[0].player)
    return [HandReading(*each) for each in zip(found.shanten, found.deal_ins, strict=True)]
