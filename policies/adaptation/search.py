"""Search at run time: the options that the policy cannot tell apart are played out, and the best is taken.

All options are played over the same sampled deals. What they are worth is only an estimate, and the policy's
order says something too, so differences are shrunk towards what its probabilities suggest: a normal prior,
whose width is what sampled deals were measured to tell of true differences. An option that can hardly be the
best any more is played no further, and the search ends when one is left, or with its deals or its time.

This goes beyond the Suphx paper, which adapts the policy instead (`policies.adaptation`).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Generator, Mapping, Sequence
from typing import Final, Literal, NamedTuple, TypeAlias

import msgspec
import numpy as np
from numpy.typing import NDArray

from game.actions import Action, ActionKind
from game.events import GameEvent
from game.observation import Observation
from game.scoring.settlement import RewardKind
from game.table.table import Table
from kit.errors import ModelError, StateMismatchError
from policies.adaptation.simulator import Simulator
from policies.deals.deal import Deals, RoundView
from policies.flow.decisions import Improvement, OptionValue
from policies.flow.draws import drawn_bits
from policies.flow.slots import Policy
from policies.hands.direct import DirectModel
from policies.nets.compute import Compute
from policies.play.critic import Critic
from policies.play.deal_ins import REWARD_OF_LUCK, deal_in_costs, luck_of_deal_ins
from policies.play.playouts import Branching, CutValue, EndValue, Playouts, Unit, points_value
from policies.play.rollout import Choice, PolicyChooser, Request
from policies.play.sampling import chances_of

Searching: TypeAlias = Generator[
    tuple[Sequence[Action], Sequence[int]], NDArray[np.float64] | None, "SearchResult"
]
"""A search that is under way; see `searching`."""

_SMALLEST: Final = 1e-6
"""Probabilities are kept this far from 0 where logarithms are taken."""


class SearchSettings(msgspec.Struct, frozen=True, kw_only=True):
    """How to search.

    Attributes:
        options: most options to compare.
        close: least probability of an option that is compared, as a share of the likeliest one's.
        batch: deals between two looks at the figures.
        least: deals before an option may be dropped.
        deviation: prior standard deviation of the difference between close options, as far as sampled deals
            show it, in units of the reward.
        order: expected loss of an option for each unit by which its log-probability is smaller, in the same
            units.
        doubt: an option is dropped if it is this many standard deviations behind the best.
    """

    options: int = 4
    close: float = 0.15
    batch: int = 16
    least: int = 32
    deviation: float = 130.0
    order: float = 20.0
    doubt: float = 2.0


class SearchResult(msgspec.Struct, frozen=True):
    """The outcome of a search.

    Attributes:
        options: best first.
        playouts: rounds played to their ends.
    """

    options: tuple[OptionValue, ...]
    playouts: int

    @property
    def action(self) -> Action:
        """The best option."""
        return self.options[0].action


def close_options(
    options: Sequence[Action], probabilities: Sequence[float], settings: SearchSettings
) -> list[tuple[Action, float]]:
    """The options worth comparing with their probabilities, likeliest first; one if none is close.

    Args:
        options: of one step of the decision flow.
        probabilities: of each.
        settings: how to search.
    """
    ranked = sorted(zip(options, probabilities, strict=True), key=lambda pair: -pair[1])
    least = settings.close * ranked[0][1]
    return [pair for pair in ranked[: settings.options] if pair[1] > 0.0 and pair[1] >= least]


def searching(
    deals: Deals, candidates: Sequence[tuple[Action, float]], settings: SearchSettings
) -> Searching:
    """Compare options, step by step, so that several searches can go on side by side.

    Yields options and the numbers of deals, and is sent ``[numbers, options]``, what these options are worth
    over those deals (`policies.play.playouts.Branching.values`), or None to end with what it has. Returns
    what it found.

    Args:
        deals: to play over.
        candidates: two or more options with their probabilities, likeliest first.
        settings: how to search.
    """
    figures = _Figures(candidates, deals, settings)
    for start in range(0, len(deals), settings.batch):
        if figures.decided:
            break
        numbers = range(start, min(start + settings.batch, len(deals)))
        values = yield [candidates[place][0] for place in figures.left], numbers
        if values is None:
            break
        figures.add(numbers, values)
    return figures.result()


def shrunk(ahead: float, error: float, ratio: float, settings: SearchSettings) -> tuple[float, float]:
    """Posterior mean and standard deviation of an option's advantage over the first.

    Args:
        ahead: how much more it was worth in play-outs.
        error: standard error of that, above 0.
        ratio: its probability over that of the first.
        settings: how to search.

    >>> shrunk(400.0, 300.0, 1.0, SearchSettings(deviation=300.0))[0]
    200.0
    """
    trust = 0.0 if math.isinf(error) else 1.0 / error**2
    certainty = trust + 1.0 / settings.deviation**2
    prior = settings.order * math.log(ratio)
    return (trust * ahead + prior / settings.deviation**2) / certainty, 1.0 / math.sqrt(certainty)


class _Figures:
    """The values of options so far, and which of them are still in question.

    Attributes:
        left: places of the options that may still be the best, and of the first, with which all are compared.
        decided: whether only one may be the best.
    """

    def __init__(
        self, candidates: Sequence[tuple[Action, float]], deals: Deals, settings: SearchSettings
    ) -> None:
        self._candidates, self._settings = candidates, settings
        self._values = np.full((len(deals), len(candidates)), np.nan)
        self._playouts = 0
        self.left = list(range(len(candidates)))
        self.decided = False

    def add(self, numbers: range, values: NDArray[np.float64]) -> None:
        """Add what the options left were worth over some deals, and drop those that fell behind."""
        self._values[np.ix_(list(numbers), self.left)] = values
        self._playouts += values.size
        if numbers.stop < self._settings.least:
            return
        found = {place: self._value(place) for place in self.left}
        best = max(self.left, key=lambda place: found[place].expected)
        behind = {
            place
            for place in self.left
            if place != best and self._behind(place, best, found[best].expected - found[place].expected)
        }
        self.decided = len(behind) == len(self.left) - 1
        self.left = [place for place in self.left if place == 0 or place not in behind]

    def _behind(self, place: int, best: int, gap: float) -> bool:
        """Whether an option is too far behind the best, both played out over the same deals."""
        _, error = self._difference(place, best)
        deviation = 1.0 / math.sqrt(1.0 / max(error, 1e-9) ** 2 + 1.0 / self._settings.deviation**2)
        return gap > self._settings.doubt * deviation

    def _difference(self, place: int, other: int) -> tuple[float, float]:
        """Mean and standard error of the advantage of one option over another."""
        apart = self._values[:, place] - self._values[:, other]
        apart = apart[np.isfinite(apart)]
        size = len(apart)
        if size == 0:
            return 0.0, math.inf
        mean = float(apart.mean())
        deviation = float(apart.std()) if size > 1 else math.inf
        # differences are often 0 in every deal so far, which does not make them certain
        floor = self._settings.deviation / math.sqrt(size)
        return mean, max(deviation / math.sqrt(max(1, size - 1)), floor if deviation == 0.0 else 0.0)

    def _value(self, place: int) -> OptionValue:
        action, probability = self._candidates[place]
        first = self._candidates[0][1]
        if place == 0:
            return OptionValue(action, probability, 0.0, 0.0, 0.0, 0.0, self._deals_of(place))
        ahead, error = self._difference(place, 0)
        ratio = max(probability, _SMALLEST) / max(first, _SMALLEST)
        expected, doubt = shrunk(ahead, error, ratio, self._settings)
        return OptionValue(action, probability, ahead, error, expected, doubt, self._deals_of(place))

    def _deals_of(self, place: int) -> int:
        return int(np.isfinite(self._values[:, place]).sum())

    def result(self) -> SearchResult:
        """The options, those left in question before those dropped."""
        found = [(place not in self.left, self._value(place)) for place in range(len(self._candidates))]
        found.sort(key=lambda pair: (pair[0], -pair[1].expected))
        return SearchResult(tuple(value for _, value in found), self._playouts)


# --- search in play ----------------------------------------------------------------------------------------

SEARCHES: Final[dict[RewardKind, SearchSettings]] = {
    "points": SearchSettings(),
    # a point of the round is worth 0.0055 of the final reward, by the spread of differences between options
    "global": SearchSettings(deviation=0.7, order=0.11),
}
"""How options are compared, in units of the reward."""
_UNITS: Final[dict[RewardKind, Unit]] = {"points": "points", "global": "reward"}
_OF_LUCK: Final[dict[RewardKind, float]] = {"points": 1.0, "global": REWARD_OF_LUCK}
"""Reward per point of luck."""


class PendingSearch(NamedTuple):
    """A decision whose options are being compared.

    Attributes:
        way: label in the decision record.
        base: what is done without a search.
        deals: over which they are.
        value: values the end of the round.
        steps: of the search.
        costs: points that a deal-in by each kind costs, times its chance; None if not all options are
            discards.
    """

    way: Literal["search", "both"]
    base: Action
    deals: Deals
    value: EndValue
    steps: Searching
    costs: dict[int, float] | None


class Searcher:
    """Searches with one policy.

    Args:
        simulator: plays the options out.
        critic: values rounds that a search cuts; needed with a horizon.
        hands: says how likely discards deal in; without it a search counts deal-ins as the deals have them.
    """

    def __init__(
        self, simulator: Simulator, critic: Critic | None = None, hands: DirectModel | None = None
    ) -> None:
        self._simulator, self._settings = simulator, simulator.settings
        assert critic is not None or not (self._settings.worlds and self._settings.horizon)
        self._critic, self._hands = critic, hands
        self._chooser = PolicyChooser(simulator.policy)

    def search(
        self,
        observation: Observation,
        events: Sequence[GameEvent],
        base: Action,
        seed: int,
        *,
        policy: Policy | None = None,
        go_on: Callable[[], bool] = lambda: True,
    ) -> Improvement | None:
        """Compare the options that the policy cannot tell apart.

        Args:
            observation: the decision to be made.
            events: of the game so far, as the player saw them.
            base: what is done without a search.
            seed: determines the deals.
            policy: says which options are close; by default that of the start.
            go_on: asked before each batch of play-outs.

        Returns:
            What was found; None if no options are close, or there was no time to compare them.

        Raises:
            ModelError: the policy gave no usable answer, or a play-out crashed.
            StateMismatchError: no deal fits what the player has seen.
        """
        begun = self.begin_search(observation, events, base, seed, policy=policy, go_on=go_on)
        return self.finish_searches([begun], go_on)[0] if begun else None

    def begin_search(
        self,
        observation: Observation,
        events: Sequence[GameEvent],
        base: Action,
        seed: int,
        *,
        policy: Policy | None = None,
        go_on: Callable[[], bool] = lambda: True,
    ) -> PendingSearch | None:
        """The first half of `search`: which options are close, and the deals; None if none are."""
        settings, comparison = self._settings, SEARCHES[self._settings.reward]
        chances = chances_of(observation, policy or self._simulator.policy)
        if len(chances) < 2:
            return None
        options, figures = zip(*_led_by(base, chances), strict=True)
        candidates = close_options(options, figures, comparison)
        if len(candidates) < 2 or not go_on():
            return None
        deals = self._simulator.sampler.deals(RoundView.of(observation), settings.worlds, seed)
        steps = searching(deals, candidates, comparison)
        value = self._simulator.value(events)
        if self._critic is not None:
            value = CutValue(value, _UNITS[settings.reward], self._critic)
        costs = self._costs(observation, [action for action, _ in candidates])
        return PendingSearch("search" if policy is None else "both", base, deals, value, steps, costs)

    def _costs(self, observation: Observation, options: Sequence[Action]) -> dict[int, float] | None:
        if self._hands is None or any(option.kind is not ActionKind.DISCARD for option in options):
            return None
        kinds = [option.tile >> 2 for option in options]
        found = deal_in_costs(self._hands, observation.record, observation.player, kinds)
        return dict(zip(kinds, found.tolist(), strict=True))

    def finish_searches(
        self, begun: Sequence[PendingSearch], go_on: Callable[[], bool] = lambda: True
    ) -> list[Improvement | None]:
        """The second half of `search`, for several decisions side by side; each as if it were alone.

        Args:
            begun: decisions of games of one length.
            go_on: asked before each batch of play-outs.

        Raises:
            ModelError: a play-out crashed.
        """
        found: list[Improvement | None] = [None] * len(begun)
        left = {number: (search, next(search.steps)) for number, search in enumerate(begun)}
        while left:
            branchings = [Branching(search.deals, *asked) for search, asked in left.values()]
            sent: list[NDArray[np.float64] | None] = [None] * len(left)
            if go_on():
                length = branchings[0].deals.view.length
                ended = Playouts(self._chooser, length, horizon=self._settings.horizon).ends(branchings)
                sent = [
                    self._values(search, branching, ends)
                    for branching, ends, (search, _) in zip(branchings, ended, left.values(), strict=True)
                ]
            for (number, (search, _)), values in zip(tuple(left.items()), sent, strict=True):
                try:
                    left[number] = search, search.steps.send(values)
                except StopIteration as over:
                    found[number] = self._improvement(search, over.value)
                    del left[number]
        return found

    def _values(
        self, search: PendingSearch, branching: Branching, ends: Sequence[Table]
    ) -> NDArray[np.float64]:
        values = branching.values(ends, search.value)
        if search.costs is None:
            return values
        view = branching.deals.view
        costs = np.array([search.costs[option.tile >> 2] for option in branching.options])
        points, now = branching.values(ends, points_value), int(view.record["scores"][view.player])
        return values - _OF_LUCK[self._settings.reward] * luck_of_deal_ins(points, ends, now, costs)

    def _improvement(self, search: PendingSearch, found: SearchResult) -> Improvement | None:
        if found.playouts == 0:
            return None
        return Improvement(
            search.way,
            search.base,
            playouts=found.playouts,
            values=found.options,
            worth=self._settings.reward,
        )

    def improve(
        self, requests: Mapping[int, Request], choices: list[Choice], adapted: Mapping[int, Policy]
    ) -> None:
        """Search the decisions of games that wait, side by side.

        Args:
            requests: the decisions, by their place among the choices.
            choices: what is done without a search; replaced where one finds something.
            adapted: policies adapted to the round, by place.
        """
        begun: dict[int, PendingSearch] = {}
        for place, request in requests.items():
            if not self._settings.searches(request.record, request.player):
                continue
            base, seed = choices[place].action, drawn_bits(*request.moment) >> 1
            try:
                search = self.begin_search(
                    request, request.table.events, base, seed, policy=adapted.get(place)
                )
            except (ModelError, StateMismatchError) as error:
                choices[place] = msgspec.structs.replace(choices[place], fault=str(error))
                continue
            if search is not None:
                begun[place] = search
        try:
            found = self.finish_searches(tuple(begun.values()))
        except ModelError as error:
            for place in begun:
                choices[place] = msgspec.structs.replace(choices[place], fault=str(error))
            return
        for place, each in zip(begun, found, strict=True):
            if each is not None:
                choices[place] = Choice(each.values[0].action)


def load_searcher(simulator: Simulator, compute: Compute) -> Searcher:
    """A searcher with the critic and the model of hands that come with the program, if it is to search.

    Args:
        simulator: plays the options out.
        compute: how the critic computes.

    Raises:
        CheckpointError: a checkpoint cannot be used.
    """
    settings = simulator.settings
    critic = Critic.load(compute=compute) if settings.worlds and settings.horizon else None
    return Searcher(simulator, critic, DirectModel.load() if settings.worlds else None)


def _led_by(base: Action, chances: Sequence[tuple[Action, float]]) -> list[tuple[Action, float]]:
    """The options with the one that is otherwise done first, at no less than the highest figure.

    Another evaluation, or an adapted policy, may have found another option likelier by a little.
    """
    highest = chances[0][1]
    rest = [pair for pair in chances if not _same(pair[0], base)]
    return [(base, highest), *rest]


def _same(first: Action, second: Action) -> bool:
    """Whether two actions are one, or discard copies of the same kind."""
    if first.kind is ActionKind.DISCARD and second.kind is ActionKind.DISCARD:
        return first.tile >> 2 == second.tile >> 2
    return first == second
