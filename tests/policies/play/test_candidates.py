"""All that may be done at a decision, in the order in which the policy thinks of it."""

from __future__ import annotations

import pytest

from game.actions import PASS, Action, ActionKind
from game.observation import Observation
from policies.flow.flow import flow, run_flows
from policies.play.sampling import chances_of
from tests.policies.deals.positions import self_play
from tests.policies.fakes import Scripted, Undecided
from tests.policies.models import a_policy


@pytest.fixture(scope="module")
def positions() -> list[Observation]:
    return [each.observation for each in self_play(1, 0.5, Undecided())]


def test_the_likeliest_is_what_the_flow_does(positions: list[Observation]) -> None:
    policy = a_policy(tower="suits")
    steps = set()
    for observation in positions[:150]:
        (running,) = run_flows([flow(observation)], policy.answer)
        verdict = running.result()
        found = chances_of(observation, policy)
        if not verdict.by_slot:
            assert found == []
            continue
        steps.add(verdict.step)
        first = found[0][0]
        assert first.kind is verdict.action.kind
        assert first.tile >> 2 == verdict.action.tile >> 2
        assert [chance for _, chance in found] == sorted((chance for _, chance in found), reverse=True)
    assert steps >= {"discard", "call"}


def test_a_declined_win_without_a_call_has_no_options(
    positions: list[Observation], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("policies.flow.flow.should_win", lambda *_: False)
    some = positions[0]
    observation = Observation(some.record, some.player, (Action(ActionKind.RON, 0), PASS), some.length)
    (running,) = run_flows([flow(observation)], Undecided().answer)
    verdict = running.result()
    assert (verdict.action, verdict.by_slot, verdict.probabilities) == (PASS, False, {PASS: 1.0})
    assert chances_of(observation, Undecided()) == []


def test_a_tile_kind_is_listed_once_and_every_call_is(positions: list[Observation]) -> None:
    claims = 0
    for observation in positions:
        found = [action for action, _ in chances_of(observation, Undecided())]
        kinds = [action.tile >> 2 for action in found if action.kind is ActionKind.DISCARD]
        wanted = {action.tile >> 2 for action in observation.legal if action.kind is ActionKind.DISCARD}
        assert sorted(kinds) == sorted(wanted) or not found
        if PASS in found:
            claims += 1
            assert set(found) == {a for a in observation.legal if a.kind is not ActionKind.RON}
    assert claims


def test_the_best_discard_has_what_a_riichi_leaves(positions: list[Observation]) -> None:
    ready = next(o for o in positions if any(a.kind is ActionKind.RIICHI for a in o.legal))
    riichi = next(action for action in ready.legal if action.kind is ActionKind.RIICHI)
    discard = next(action for action in ready.legal if action.kind is ActionKind.DISCARD)
    found = dict(chances_of(ready, Scripted({riichi: 0.7, discard: 1.0})))
    assert found[riichi] == pytest.approx(0.7)
    assert found[discard] == pytest.approx(0.3)
