"""Our own actions, inputs and answers at a table where the other players break the rules."""

from __future__ import annotations

import random
from collections import Counter

import numpy as np

from game.actions import Action, ActionKind
from game.events import Discard
from game.forbidden import broken_rule
from game.observation import Observation
from game.rules import legal_actions
from game.state import apply, new_round
from policies.features.encode import encode
from policies.features.table import LITE, SUPHX
from policies.heuristic.player import HeuristicPolicy
from policies.play.decide import decide
from tests.forbidden_play import US, LawlessRound, event_of
from tests.scale import scaled

ROUNDS = scaled(20, 60)
POLICY = HeuristicPolicy()
PLAIN = (LITE, SUPHX)


def choose(record: np.void, legal: list[Action]) -> Action:
    """What we do, checked."""
    decision = decide(Observation(record, US, tuple(legal), "hanchan"), POLICY)
    assert decision.source != "fallback"
    assert decision.action in legal
    return decision.action


def test_we_choose_legally_whatever_the_others_do() -> None:
    broken: Counter[str] = Counter()
    asked = 0
    for seed in range(ROUNDS):
        lawless = LawlessRound(seed, choose, poor=seed % 3 == 0)
        for record, legal in lawless.play():
            asked += 1
            assert legal
            if asked % 7 == 0:
                for name in PLAIN:
                    assert np.isfinite(encode(np.array([record]), [US], name)).all()
        seen = new_round()
        for event in lawless.events:
            broken[broken_rule(seen, event)] += 1
            apply(seen, event)
    assert asked > 8 * ROUNDS
    met = broken.keys() & {
        "swap-calling (kuikae)",
        "a discard from the hand in riichi",
        "a call in riichi",
        "riichi with an open hand",
        "riichi with fewer than 1,000 points",
        "riichi with a hand that is not ready",
    }
    assert len(met) >= scaled(5, 6)


def test_the_legal_actions_are_those_that_break_no_rule() -> None:
    """The legal actions and the named rules are two views of the same rules."""
    compared = 0
    for seed in range(scaled(8, 20)):
        rng = random.Random(seed)

        def anything(_: np.void, legal: list[Action], rng: random.Random = rng) -> Action:
            return rng.choice(legal)

        lawless = LawlessRound(seed, anything, poor=seed % 2 == 0)
        for record, legal in lawless.play():
            offered = {action for action in legal if action.kind is not ActionKind.PASS}
            for action in offered - {a for a in offered if a.kind in _WITHOUT_EVENT}:
                assert broken_rule(record, event_of(US, action, record)) == "", action
                compared += 1
            if record["phase"] not in (2, 3) or record["riichi"][US] == 2:
                continue
            for tile in np.flatnonzero(record["where"] == 1 + US).tolist():
                event = Discard(US, tile, tile == record["drawn"])
                is_offered = any(
                    a.kind is ActionKind.DISCARD and a.tile >> 2 == tile >> 2
                    for a in legal_actions(record, US)
                )
                assert (broken_rule(record, event) == "") == is_offered, event
                compared += 1
    assert compared > scaled(1_000, 3_000)


_WITHOUT_EVENT = (ActionKind.TSUMO, ActionKind.RON, ActionKind.NINE_TERMINALS)
