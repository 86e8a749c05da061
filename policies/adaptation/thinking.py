"""Using the time of a round: a policy adapted to the dealt hand, and search among close options.

The same for bots in play, where a process of its own thinks while the game goes on, and for the arena, where
the games wait for it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from pathlib import Path
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
from policies.adaptation import AdaptationSettings, PolicyAdaptation
from policies.checkpoint import load_predictor
from policies.checkpoint.files import Reader, read_file
from policies.deals.deal import Deals, DealSampler, RoundView
from policies.deals.named import load_sampler
from policies.flow.decisions import Improvement, Option
from policies.flow.draws import drawn_bits
from policies.flow.flow import flow, run_flows
from policies.flow.slots import Policy, Slot
from policies.hands.direct import DirectModel
from policies.nets.compute import Compute
from policies.play.critic import Critic
from policies.play.deal_ins import REWARD_OF_LUCK, DiscardChoice, deal_in_costs, luck_of_deal_ins
from policies.play.inference import NetworkPolicy, load_policy
from policies.play.playouts import Branching, CutWorth, EndWorth, Playouts, RewardWorth, Unit, points_worth
from policies.play.rollout import Choice, PolicyChooser, Request, Times
from policies.play.sampling import chances_of
from policies.play.search import Searching, SearchResult, SearchSettings, close_options, searching
from policies.reward import Predictor, round_starts

USUAL_SAMPLER: Final = "diffusion"
"""Of the samplers, its hands are closest to the true ones, and it is fast."""
LARGEST_DIVERGENCE: Final = 5.0
"""KL in nats by which an adapted policy may differ from the initial policy on one hand."""
_TRIAL: Final = 1
"""Purpose of random numbers."""

SEARCHES: Final[dict[RewardKind, SearchSettings]] = {
    "points": SearchSettings(),
    # a point of the round is worth 0.0055 of the final reward, by the spread of differences between options
    "global": SearchSettings(deviation=0.7, order=0.11),
}
"""How options are compared, in units of the reward."""
_UNITS: Final[dict[RewardKind, Unit]] = {"points": "points", "global": "reward"}
_OF_LUCK: Final[dict[RewardKind, float]] = {"points": 1.0, "global": REWARD_OF_LUCK}
"""What goes with a lucky point, in units of the reward."""


class ThinkingSettings(msgspec.Struct, frozen=True, kw_only=True):
    """Settings of search and adaptation.

    Attributes:
        worlds: most deals over which a search compares options; 0 for no search.
        horizon: discards after which a search cuts its play-outs, and a critic values the rest of the round;
            0 to play them to its end.
        from_go_around: discards that a player must have made before a search is worth its time.
        playouts: rounds that an adaptation plays out; 0 for none.
        sampler: of the deals, as `policies.deals.named.load_sampler` takes it.
        reward: what the end of a round is worth: its points, or the expected final reward.
        adaptation: how the policy is adapted.
    """

    worlds: int = 0
    horizon: int = 0
    from_go_around: int = 0
    playouts: int = 0
    sampler: str = USUAL_SAMPLER
    reward: RewardKind = "global"
    adaptation: AdaptationSettings = AdaptationSettings()

    @property
    def search(self) -> SearchSettings:
        """How options are compared, in units of the reward."""
        return SEARCHES[self.reward]

    def searches(self, record: np.void, player: int) -> bool:
        """Whether options are compared in a round.

        Args:
            record: the round, as far as the player sees it.
            player: whose decision it is, absolute.
        """
        return self.worlds > 0 and int(record["river_size"][player]) >= self.from_go_around


class PendingSearch(NamedTuple):
    """A decision whose options are being compared.

    Attributes:
        way: how it is called in the decision.
        base: what is done without a search.
        deals: over which they are.
        worth: what the end of the round is worth.
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


class Thinker:
    """Searches and adapts with one policy.

    Args:
        policy: of the start; plays for everybody and is never changed.
        predictor: expects final rewards; not needed for points.
        settings: what to do.
        critic: values rounds that a search cuts; needed with a horizon.
        hands: says how likely discards deal in; without it a search counts deal-ins as the deals have them.

    Raises:
        ConfigError: there is no such sampler.
    """

    def __init__(
        self,
        policy: NetworkPolicy,
        predictor: Predictor | None,
        settings: ThinkingSettings,
        critic: Critic | None = None,
        hands: DirectModel | None = None,
    ) -> None:
        assert critic is not None or not (settings.worlds and settings.horizon)
        self.policy, self.settings = policy, settings
        self._predictor, self._critic, self._hands = predictor, critic, hands
        self._sampler: DealSampler = load_sampler(settings.sampler)
        self._chooser = PolicyChooser(policy)

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
        settings = self.settings
        chances = chances_of(observation, policy or self.policy)
        if len(chances) < 2:
            return None
        options, figures = zip(*_led_by(base, chances), strict=True)
        candidates = close_options(options, figures, settings.search)
        if len(candidates) < 2 or not go_on():
            return None
        deals = self._sampler.deals(RoundView.of(observation), settings.worlds, seed)
        steps = searching(deals, candidates, settings.search)
        worth = self.worth(events)
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
                ended = Playouts(self._chooser, length, horizon=self.settings.horizon).ends(branchings)
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
        return values - _OF_LUCK[self.settings.reward] * luck_of_deal_ins(points, ends, now, costs)

    def _improvement(self, search: PendingSearch, found: SearchResult) -> Improvement | None:
        if found.playouts == 0:
            return None
        return Improvement(
            search.way, search.base, playouts=found.playouts, values=found.options, worth=self.settings.reward
        )

    def adaptation(self, events: Sequence[GameEvent], seed: int) -> PolicyAdaptation:
        """An adaptation to the present round, with nothing learned yet.

        Args:
            events: of the game so far.
            seed: determines its draws.
        """
        return PolicyAdaptation(self.policy, self.worth(events), self.settings.adaptation, seed)

    def play_out(
        self,
        adaptation: PolicyAdaptation,
        view: RoundView,
        count: int,
        seed: int,
        between: Callable[[], None] = lambda: None,
    ) -> None:
        """Add play-outs to an adaptation.

        Args:
            adaptation: of the round of the view.
            view: what the player sees now.
            count: number of play-outs, rounded up to whole deals.
            seed: determines the deals.
            between: called now and then.

        Raises:
            ModelError: a play-out crashed.
            StateMismatchError: no deal fits the view.
        """
        deals = math.ceil(count / self.settings.adaptation.replays)
        adaptation.play(self._sampler.deals(view, deals, seed), between)

    def learn(
        self,
        adaptation: PolicyAdaptation,
        view: RoundView,
        seed: int,
        between: Callable[[], None] = lambda: None,
        divergence: float | None = None,
    ) -> None:
        """Let an adaptation learn from its play-outs, and try what it has learned.

        Args:
            adaptation: of the round of the view.
            view: what the player sees now.
            seed: determines the deals of the trial.
            between: called now and then; what it raises ends it.
            divergence: how far to go; by default as far as the settings allow.

        Raises:
            ModelError: a play-out crashed, or its worth is not finite.
            StateMismatchError: no deal fits the view.
        """
        adaptation.learn(between, divergence)
        trials = self.settings.adaptation.trials
        if trials and adaptation.figures.divergence:
            adaptation.prove(self._sampler.deals(view, trials, seed), between)

    def worth(self, events: Sequence[GameEvent]) -> EndWorth:
        """The function that values the end of the present round.

        Args:
            events: of the game so far.
        """
        if self.settings.reward == "points" or self._predictor is None:
            return points_worth
        return RewardWorth(self._predictor, round_starts(events))


def load_thinker(
    folder: Path, settings: ThinkingSettings, compute: Compute, read: Reader = read_file
) -> Thinker:
    """The thinker of a folder of checkpoints, with its reward predictor if the reward needs one.

    Args:
        folder: folder of the checkpoints.
        settings: what to do.
        compute: how the policy's networks compute.
        read: reads a file of the folder.

    Raises:
        CheckpointError: a checkpoint cannot be used.
        ConfigError: there is no such sampler.
    """
    policy = load_policy(folder, compute=compute, read=read)
    predictor = load_predictor(folder, read) if settings.reward == "global" else None
    critic = Critic.load(compute=compute) if settings.worlds and settings.horizon else None
    hands = DirectModel.load() if settings.worlds else None
    return Thinker(policy, predictor, settings, critic, hands)


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


class AdaptedChoice(msgspec.Struct, frozen=True):
    """The discards of an adapted policy.

    Attributes:
        options: the legal discards, likeliest first.
        divergence: KL(π₀ ‖ π) in nats on this hand.
    """

    options: tuple[Option, ...]
    divergence: float


def adapted_choice(
    observation: Observation, base: Sequence[tuple[Action, float]], adapted: Policy
) -> AdaptedChoice:
    """The discards of an adapted policy, where the initial policy discards too.

    Args:
        observation: the decision.
        base: the discards with their probabilities by the initial policy.
        adapted: the adapted policy.

    Raises:
        ModelError: its answer is not usable, or too far from the initial policy.
    """
    discards = tuple(action for action in observation.legal if action.kind is ActionKind.DISCARD)
    asked = Observation(observation.record, observation.player, discards, observation.length)
    (running,) = run_flows([flow(asked)], adapted.answer)
    found = running.usable().probabilities
    divergence = math.fsum(
        chance * math.log(chance / max(found.get(action, 0.0), 1e-9))
        for action, chance in base
        if chance > 0.0
    )
    if not divergence <= LARGEST_DIVERGENCE:
        raise ModelError(f"the adapted policy is {divergence:.2f} nats from the initial policy")
    options = sorted((Option(action, found.get(action, 0.0)) for action in discards), key=_falling)
    return AdaptedChoice(tuple(options), divergence)


def _falling(option: Option) -> float:
    return -option.probability


class ThinkingChooser:
    """A policy that searches, or is adapted to each hand, while the games wait for it.

    Args:
        thinker: does it.
        policy: decides in the first place: that of the thinker, perhaps with more looks at each position.
        compute: how adapted models compute.
    """

    def __init__(self, thinker: Thinker, policy: NetworkPolicy, compute: Compute | None = None) -> None:
        self._thinker, self._policy, self._compute = thinker, policy, compute
        self._chooser = PolicyChooser(policy)
        self._adapted: dict[tuple[int, int], tuple[tuple[int, int], NetworkPolicy]] = {}

    def choose(self, requests: Sequence[Request], times: Times) -> list[Choice]:
        """Decide; see `policies.play.rollout.Chooser`."""
        choices = self._chooser.choose(requests, times)
        searches: dict[int, PendingSearch] = {}
        for place, request in enumerate(requests):
            choice = choices[place]
            if choice.verdict is None or not choice.verdict.by_slot:
                continue
            try:
                choices[place], begun = self._thought(request, choice)
            except (ModelError, StateMismatchError) as error:
                choices[place] = msgspec.structs.replace(choice, fault=str(error))
                continue
            if begun is not None:
                searches[place] = begun
        try:
            found = self._thinker.finish_searches(tuple(searches.values()))
        except ModelError as error:
            for place in searches:
                choices[place] = msgspec.structs.replace(choices[place], fault=str(error))
            return choices
        for place, each in zip(searches, found, strict=True):
            if each is not None:
                choices[place] = Choice(each.values[0].action)
        return choices

    def close(self, times: Times) -> None:
        """Forget the rounds in progress; see `policies.play.rollout.Chooser`."""
        self._adapted.clear()

    def _thought(self, request: Request, choice: Choice) -> tuple[Choice, PendingSearch | None]:
        """The choice after adaptation, and the search for a better one."""
        verdict, settings = choice.verdict, self._thinker.settings
        assert verdict is not None
        adapted = None
        seed = drawn_bits(*request.moment) >> 1
        if settings.playouts and verdict.step == "discard":
            adapted = self._adapted_to(request, seed)
            base = [pair for pair in verdict.probabilities.items() if pair[0].kind is ActionKind.DISCARD]
            choice = Choice(adapted_choice(request, base, adapted).options[0].action)
        if not settings.searches(request.record, request.player):
            return choice, None
        events = request.table.events
        return choice, self._thinker.begin_search(request, events, choice.action, seed, policy=adapted)

    def _adapted_to(self, request: Request, seed: int) -> NetworkPolicy:
        """The policy adapted at the first decision of the round."""
        key, table = (request.number, request.player), request.table
        this = int(request.record["round_index"]), int(request.record["honba"])
        kept = self._adapted.get(key)
        if kept is None or kept[0] != this:
            adaptation = self._thinker.adaptation(table.events, seed)
            view = RoundView.of(request)
            self._thinker.play_out(adaptation, view, self._thinker.settings.playouts, seed)
            self._thinker.learn(adaptation, view, drawn_bits(seed, _TRIAL) >> 1)
            model = adaptation.model(self._compute)
            kept = self._adapted[key] = this, self._policy.replaced({Slot.DISCARD: model})
        return kept[1]
