"""The likelihood of real hands is what the players' policy said when they decided."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from game.events import StartRound
from policies.deals import Evidence
from policies.deals.likelihood import ALL, HandLikelihood
from policies.deals.past import Past
from policies.flow import Verdict
from policies.inference import load_policy
from policies.rollout import Choice, PolicyChooser, Request, Rollout, Seating, Times
from policies.sampling import distribution_of
from policies.slots import Policy
from tests.policies.deals.positions import Position


class Noting:
    """A chooser that notes what was decided how, and one position late in each round."""

    def __init__(self, policy: Policy) -> None:
        self._chooser = PolicyChooser(policy)
        self.said: dict[tuple[int, int, int], float] = {}
        self.positions: dict[int, Position] = {}

    def choose(self, requests: Sequence[Request], times: Times) -> list[Choice]:
        choices = self._chooser.choose(requests, times)
        for request, choice in zip(requests, choices, strict=True):
            events = request.table.events
            begun = max(place for place, event in enumerate(events) if isinstance(event, StartRound))
            number = len(request.table.results)
            assert choice.verdict is not None
            self.said[number, len(events) - begun, request.player] = log_of(choice.verdict)
            if request.record["discard_count"] > 30:
                self.positions[number] = Position(request.record, request.player, events[begun:])
        return choices

    def close(self, times: Times) -> None:
        pass


def log_of(verdict: Verdict) -> float:
    """The log probability of a verdict: steps of a turn one by one, the answers to a claim together."""
    if not verdict.by_slot or not verdict.answers:
        return 0.0
    claim = verdict.step == "call"
    steps = [verdict.answers] if claim else [(answer,) for answer in verdict.answers]
    total = 0.0
    for step in steps:
        found = distribution_of(step)
        chances = dict(zip(found.options, found.probabilities, strict=True))
        total += math.log(chances.get(verdict.action, chances.get(None, 0.0)))
    return total


def test_real_hands_have_the_probabilities_their_players_acted_on() -> None:
    policy = load_policy()
    noting = Noting(policy)
    for _ in Rollout([noting]).play([Seating(0, 71, (0, 0, 0, 0))]):
        pass
    compared = 0
    for number, position in list(noting.positions.items())[:6]:
        for opponent, hand in zip(position.view.opponents, position.true_hands(), strict=True):
            past = Past(position.view, opponent)
            likelihood = HandLikelihood(policy, past, Evidence(ALL, floor=1e-9), "hanchan")
            for decision in past.decisions:
                said = noting.said.get((number, decision.event, opponent), 0.0)
                logs = likelihood.logs(np.array([hand], np.int16), position.draws(opponent), [decision])
                assert abs(logs[0] - said) < 1e-4, decision
                compared += said < 0.0
    assert compared > 80
