"""pMCPA in play: the policy is adapted to a round, and decides its discards."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Final

import msgspec

from game.actions import Action, ActionKind
from game.events import GameEvent
from game.observation import Observation
from kit.errors import ModelError, StateMismatchError
from policies.adaptation.pmcpa import PolicyAdaptation
from policies.adaptation.simulator import Simulator
from policies.deals.deal import RoundView
from policies.flow.decisions import Option
from policies.flow.draws import drawn_bits
from policies.flow.flow import flow, run_flows
from policies.flow.slots import Policy
from policies.play.inference import NetworkPolicy
from policies.play.rollout import Choice, Request

LARGEST_DIVERGENCE: Final = 5.0
"""KL in nats by which an adapted policy may differ from the initial policy on one hand."""
_TRIAL: Final = 1
"""Purpose of random numbers."""


class Adapter:
    """Adapts one policy to rounds.

    Args:
        simulator: plays the rounds out.
    """

    def __init__(self, simulator: Simulator) -> None:
        self._simulator, self._settings = simulator, simulator.settings
        self._adapted: dict[tuple[int, int], tuple[tuple[int, int], NetworkPolicy]] = {}

    def adaptation(self, events: Sequence[GameEvent], seed: int) -> PolicyAdaptation:
        """An adaptation to the present round, with nothing learned yet.

        Args:
            events: of the game so far.
            seed: determines its draws.
        """
        return PolicyAdaptation(
            self._simulator.policy, self._simulator.value(events), self._settings.adaptation, seed
        )

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
        deals = math.ceil(count / self._settings.adaptation.replays)
        adaptation.play(self._simulator.sampler.deals(view, deals, seed), between)

    def learn(
        self,
        adaptation: PolicyAdaptation,
        view: RoundView,
        seed: int,
        between: Callable[[], None] = lambda: None,
        divergence: float | None = None,
    ) -> None:
        """Let an adaptation learn from its play-outs, and test the result.

        Args:
            adaptation: of the round of the view.
            view: what the player sees now.
            seed: determines the deals of the trial.
            between: called now and then; what it raises ends it.
            divergence: how far to go; by default as far as the settings allow.

        Raises:
            ModelError: a play-out crashed, or its value is not finite.
            StateMismatchError: no deal fits the view.
        """
        adaptation.learn(between, divergence)
        trials = self._settings.adaptation.trials
        if trials and adaptation.figures.divergence:
            adaptation.prove(self._simulator.sampler.deals(view, trials, seed), between)

    def improve(self, requests: Mapping[int, Request], choices: list[Choice]) -> dict[int, Policy]:
        """Adapt to the rounds of games that wait, each at its first discard, and discard by the result.

        Args:
            requests: the decisions, by their place among the choices.
            choices: those of the initial policy; its discards are replaced.

        Returns:
            The adapted policies, by place.
        """
        found: dict[int, Policy] = {}
        for place, request in requests.items():
            verdict = choices[place].verdict
            if verdict is None or verdict.step != "discard":
                continue
            base = [pair for pair in verdict.probabilities.items() if pair[0].kind is ActionKind.DISCARD]
            try:
                adapted = self._adapted_to(request)
                choices[place] = Choice(adapted_choice(request, base, adapted).options[0].action)
            except (ModelError, StateMismatchError) as error:
                choices[place] = msgspec.structs.replace(choices[place], fault=str(error))
                continue
            found[place] = adapted
        return found

    def forget(self) -> None:
        """Forget the rounds of games that waited."""
        self._adapted.clear()

    def _adapted_to(self, request: Request) -> NetworkPolicy:
        """The policy adapted at the first decision of the round."""
        key, seed = (request.number, request.player), drawn_bits(*request.moment) >> 1
        this = int(request.record["round_index"]), int(request.record["honba"])
        kept = self._adapted.get(key)
        if kept is None or kept[0] != this:
            adaptation = self.adaptation(request.table.events, seed)
            view = RoundView.of(request)
            self.play_out(adaptation, view, self._settings.playouts, seed)
            self.learn(adaptation, view, drawn_bits(seed, _TRIAL) >> 1)
            kept = self._adapted[key] = this, adaptation.policy()
        return kept[1]


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
