"""Look-ahead at run time: play-outs over sampled deals compare the options that the policy finds close."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Final, Literal, NamedTuple

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
from policies.flow.decisions import Improvement
from policies.flow.draws import drawn_bits
from policies.flow.slots import Policy
from policies.hands.direct import DirectModel
from policies.nets.compute import Compute
from policies.play.critic import Critic
from policies.play.deal_ins import REWARD_OF_LUCK, DiscardChoice, deal_in_costs, luck_of_deal_ins
from policies.play.playouts import Branching, CutWorth, EndWorth, Playouts, Unit, points_worth
from policies.play.rollout import Choice, PolicyChooser, Request
from policies.play.sampling import chances_of
from policies.play.search import Searching, SearchResult, SearchSettings, close_options, searching

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
        worth: values the end of the round.
        steps: of the search.
        costs: points that a deal-in by each kind costs, times its chance; None if not all options are
            discards.
    """

    way: Literal["search", "both"]
    base: Action
    deals: Deals
    worth: EndWorth
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
        worth = self._simulator.worth(events)
        if self._critic is not None:
            worth = CutWorth(worth, _UNITS[settings.reward], self._critic)
        costs = self._costs(observation, [action for action, _ in candidates])
        return PendingSearch("search" if policy is None else "both", base, deals, worth, steps, costs)

    def _costs(self, observation: Observation, options: Sequence[Action]) -> dict[int, float] | None:
        if self._hands is None or any(option.kind is not ActionKind.DISCARD for option in options):
            return None
        kinds = [option.tile >> 2 for option in options]
        choice = DiscardChoice(observation.record, observation.player, kinds)
        (found,) = deal_in_costs(self._hands, {0: choice}).values()
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
            worths: list[NDArray[np.float64] | None] = [None] * len(left)
            if go_on():
                length = branchings[0].deals.view.length
                ended = Playouts(self._chooser, length, horizon=self._settings.horizon).ends(branchings)
                worths = [
                    self._values(search, branching, ends)
                    for branching, ends, (search, _) in zip(branchings, ended, left.values(), strict=True)
                ]
            for (number, (search, _)), worth in zip(tuple(left.items()), worths, strict=True):
                try:
                    left[number] = search, search.steps.send(worth)
                except StopIteration as over:
                    found[number] = self._improvement(search, over.value)
                    del left[number]
        return found

    def _values(
        self, search: PendingSearch, branching: Branching, ends: Sequence[Table]
    ) -> NDArray[np.float64]:
        values = branching.values(ends, search.worth)
        if search.costs is None:
            return values
        view = branching.deals.view
        costs = np.array([search.costs[option.tile >> 2] for option in branching.options])
        points, now = branching.values(ends, points_worth), int(view.record["scores"][view.player])
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
