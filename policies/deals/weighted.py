"""Deals weighted by how likely it is that the opponents would have played them as they did.

What an opponent did depends on that opponent's hand alone, so the likelihood of a deal is a product of three,
and guesses at the three hands are weighed apart: N hands for each opponent stand for N³ deals, into which
`policies.deals.combining` makes them.

Most hands drawn at random are far from likely, which the steps back from tenpai that they imply show at once.
So very many are drawn, and the candidates chosen among them by these steps, with weights that make up for the
choice. Then decisions are looked at one by one, the latest first, and after each the number of guesses is
halved: likely ones stay, and of the others a few, with the weight of all of them.

To look closer where hands are likely, guesses can be changed at the end: they are drawn again by their
weights, a few tiles of each are exchanged for others, and the change is kept or undone by the rule of
Metropolis and Hastings.
"""

from __future__ import annotations

from typing import Final

import msgspec
import numpy as np
from numpy.typing import NDArray

from game.errors import ConfigError
from policies.deals.combining import combined, thinned
from policies.deals.deal import Deals, DealSampler, effective_size, shares
from policies.deals.learned import faces_of_tiles, tiles_of_faces
from policies.deals.likelihood import Evidence, HandLikelihood
from policies.deals.past import Past
from policies.deals.steps_back import steps_back
from policies.deals.uniform import UniformDeals, uniform_tiles
from policies.deals.view import ANY_HAND, RoundView, Unseen
from policies.draws import drawn_bits
from policies.slots import Policy

_STEP_BACK: Final = 1.5
"""How much less likely, as a logarithm, a guess becomes a candidate for each step back it implies."""
_MOST_EXCHANGED: Final = 3
"""Tiles of a hand exchanged at a time."""
_REORDERED: Final = 0.25
"""Share of the changes that are only to the order in which the tiles came."""


class WeightSettings(msgspec.Struct, frozen=True):
    """How deals are weighted.

    Attributes:
        drawn: uniform hands drawn for each opponent, of which those with few steps back (`steps_back`) become
            candidates more often; for hands in riichi, and at most as many as `candidates`, all do.
        candidates: guesses at each opponent's hand; 0 to weigh just the deals asked for, and return them with
            their weights.
        kept: guesses left when all decisions have been looked at.
        power: exponent of the likelihood: below 1 trusts it less.
        moves: how often the guesses are changed.
        evidence: the decisions that count.
    """

    drawn: int = 16_384
    candidates: int = 1024
    kept: int = 64
    power: float = 0.7
    moves: int = 0
    evidence: Evidence = Evidence()


USUAL: Final = WeightSettings()


class WeightedDeals:
    """Weighs deals by what the opponents have done.

    A view without events carries no evidence: its deals are those of the proposals.

    Args:
        policy: how the opponents are thought to decide.
        settings: how deals are weighted.
        proposals: gives the guesses; uniform hands if None.

    Attributes:
        evaluations: rows given to networks so far.

    Raises:
        ConfigError: moves are asked for with other proposals than uniform ones, whose density they must know.
    """

    def __init__(
        self,
        policy: Policy,
        settings: WeightSettings = USUAL,
        proposals: DealSampler | None = None,
    ) -> None:
        if settings.moves and proposals is not None:
            raise ConfigError("moves need uniform proposals; set moves to 0")
        self._policy = policy
        self._settings = settings
        self._proposals = proposals
        self.evaluations = 0

    def deals(self, view: RoundView, count: int, seed: int) -> Deals:
        """Sample deals; see `policies.deals.deal.DealSampler`."""
        settings, proposals = self._settings, self._proposals or UniformDeals()
        if not view.events:
            return proposals.deals(view, count, seed)
        number = max(settings.candidates, count) if self._proposals else count
        proposed = proposals.deals(view, number, drawn_bits(seed, 0) >> 1)
        unseen, ends = proposed.unseen, proposed.unseen.ends
        guesses = []
        for place in range(3):
            hands = proposed.tiles[:, ends[place] : ends[place + 1]]
            if settings.candidates and not self._proposals:
                hands = _uniform_hands(unseen, place, settings, drawn_bits(seed, 1, place))
            rng = np.random.default_rng([seed, place])
            guesses.append(_Guesses(self._policy, settings, view, unseen, place, hands, rng))
        for each in guesses:
            each.weigh()
            each.move()
            self.evaluations += each.likelihood.evaluations
        effective = np.array([each.effective for each in guesses])
        if not settings.candidates:
            logs = np.sum([each.logs for each in guesses], axis=0)
            return msgspec.structs.replace(proposed, log_weights=logs, effective=effective)
        starts = [faces_of_tiles(proposed.tiles[:count, ends[n] : ends[n + 1]]) for n in range(3)]
        faces = combined(
            [faces_of_tiles(each.hands) for each in guesses],
            [each.logs for each in guesses],
            faces_of_tiles(unseen.tiles[None])[0],
            np.stack(starts, axis=1),
            drawn_bits(seed, 2),
        )
        tiles = tiles_of_faces(unseen, faces, drawn_bits(seed, 3) >> 1)
        return Deals(view, unseen, tiles, np.zeros(count), effective)


def _uniform_hands(unseen: Unseen, place: int, settings: WeightSettings, seed: int) -> NDArray[np.int16]:
    """``[N, size]``: hands for one opponent, from all tiles left; few if each must be drawn until tenpai."""
    number = max(settings.candidates, settings.drawn)
    if unseen.needs[place] != ANY_HAND:
        number = settings.candidates
    return uniform_tiles(unseen.alone(place), number, seed)[:, : unseen.sizes[place]]


class _Guesses:
    """Guesses at the hand of one opponent.

    Attributes:
        hands: ``[N, size]``, physical tiles.
        likelihood: weighs them.
    """

    def __init__(
        self,
        policy: Policy,
        settings: WeightSettings,
        view: RoundView,
        unseen: Unseen,
        place: int,
        hands: NDArray[np.int16],
        rng: np.random.Generator,
    ) -> None:
        self._settings, self._unseen, self._place, self._rng = settings, unseen, place, rng
        self._past = Past(view, view.opponents[place])
        self.likelihood = HandLikelihood(policy, self._past, settings.evidence, view.length)
        self.hands = hands.copy()
        self._orders = self._past.orders(self.hands, rng)
        self._likely = np.zeros(len(self.hands))
        self._for_others = np.zeros(len(self.hands))

    @property
    def logs(self) -> NDArray[np.float64]:
        """``[N]``, log weights."""
        found: NDArray[np.float64] = self._settings.power * self._likely + self._for_others
        return found

    @property
    def effective(self) -> float:
        """The effective number of different hands."""
        _, same = np.unique(faces_of_tiles(self.hands), axis=0, return_inverse=True)
        return effective_size(np.log(np.bincount(same.ravel(), shares(self.logs)) + 1e-300))

    def weigh(self) -> None:
        """Look at what the opponent did, the latest first, and leave out guesses that it does not fit."""
        candidates = self._settings.candidates
        if 0 < candidates < len(self.hands):
            steps = steps_back(self._past, self.hands, self._orders, self.likelihood.decisions)
            preferred = -_STEP_BACK * steps.astype(np.float64)
            kept, weights = thinned(preferred, candidates, self._rng)
            self._keep(kept)
            self._for_others = weights - preferred[kept]
        for decision in self.likelihood.decisions[::-1]:
            self._likely += self.likelihood.logs(self.hands, self._orders, [decision])
            left = max(self._settings.kept, len(self.hands) // 2)
            if candidates and left < len(self.hands):
                kept, weights = thinned(self.logs, left, self._rng)
                self._keep(kept)
                self._for_others = weights - self._settings.power * self._likely

    def move(self) -> None:
        """Change the guesses as often as the settings say; a hand in riichi is replaced as a whole."""
        if not self._settings.moves:
            return
        count = len(self.hands)
        points = (np.arange(count) + self._rng.random()) / count
        self._keep(np.minimum(np.searchsorted(np.cumsum(shares(self.logs)), points), count - 1))
        for _ in range(self._settings.moves):
            hands, orders = self._changed()
            likely = self.likelihood.logs(hands, orders)
            better = self._settings.power * (likely - self._likely)
            kept = np.log(self._rng.random(count)) < better
            self.hands[kept], self._orders[kept] = hands[kept], orders[kept]
            self._likely[kept] = likely[kept]
        # the guesses were drawn by their weights, so now they count alike
        self._for_others = -self._settings.power * self._likely

    def _keep(self, kept: NDArray[np.intp]) -> None:
        self.hands, self._orders = self.hands[kept], self._orders[kept]
        self._likely, self._for_others = self._likely[kept], self._for_others[kept]

    def _changed(self) -> tuple[NDArray[np.int16], NDArray[np.int16]]:
        """A change of each guess, as likely as the one back."""
        rng, unseen = self._rng, self._unseen
        if unseen.needs[self._place] != ANY_HAND:
            drawn = uniform_tiles(unseen.alone(self._place), len(self.hands), int(rng.integers(1 << 62)))
            hands = drawn[:, : unseen.sizes[self._place]]
            return hands, self._past.orders(hands, rng)
        hands, orders = self.hands.copy(), self._orders.copy()
        reordered = rng.random(len(hands)) < _REORDERED
        orders[reordered] = self._past.orders(hands[reordered], rng)
        for row in np.flatnonzero(~reordered):
            outside = np.setdiff1d(unseen.tiles, hands[row])
            exchanged = min(rng.integers(1, _MOST_EXCHANGED + 1), hands.shape[1])
            places = rng.choice(hands.shape[1], exchanged, replace=False)
            for place, tile in zip(places, rng.choice(outside, exchanged, replace=False), strict=True):
                orders[row, orders[row] == hands[row, place]] = tile
                hands[row, place] = tile
        return hands, orders
