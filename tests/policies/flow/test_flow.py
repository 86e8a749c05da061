"""The driver of the decision flow: what a verdict carries, and other ways to pick among the options."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from game.actions import PASS, RIICHI, Action, ActionKind
from kit.errors import IllegalActionError
from policies.flow.flow import Pick, SlotAnswer, Verdict, flow, most_likely, run_flows
from policies.flow.slots import Policy, Slot
from policies.play.decide import decide
from policies.play.named import RandomPolicy
from tests.policies.fakes import Scripted
from tests.policies.play.test_decide import claim, only, ready
from tests.scene import Scene


def verdict_of(scene: Scene, policy: Policy, pick: Pick = most_likely) -> Verdict:
    (running,) = run_flows([flow(scene.observe(), pick)], policy.answer)
    return running.result()


def test_a_verdict_carries_what_every_slot_was_asked_and_answered() -> None:
    scene = ready()
    kan = only(scene, ActionKind.ANKAN)
    verdict = verdict_of(scene, Scripted({kan: 0.4, RIICHI: 0.3}))
    assert [answer.slot for answer in verdict.answers] == [Slot.KAN, Slot.RIICHI, Slot.DISCARD]
    assert verdict.answers[:2] == (
        SlotAnswer(Slot.KAN, (kan,), (0.4,)),
        SlotAnswer(Slot.RIICHI, (RIICHI,), (0.3,)),
    )
    discards = verdict.answers[2]
    assert discards.options == tuple(a for a in scene.legal() if a.kind is ActionKind.DISCARD)
    assert sum(discards.probabilities) == pytest.approx(1.0)
    options = decide(scene.observe(), Scripted({kan: 0.4, RIICHI: 0.3})).options
    assert {option.action: option.probability for option in options} == verdict.probabilities


def test_picking_sees_the_answers_of_one_step_at_a_time() -> None:
    seen: list[list[Slot]] = []

    def watched(answers: Sequence[SlotAnswer]) -> Action | None:
        seen.append([answer.slot for answer in answers])
        return most_likely(answers)

    verdict_of(ready(), Scripted(), watched)
    assert seen == [[Slot.KAN], [Slot.RIICHI], [Slot.DISCARD]]


def least_likely(answers: Sequence[SlotAnswer]) -> Action | None:
    pairs = [pair for answer in answers for pair in zip(answer.options, answer.probabilities, strict=True)]
    return min(pairs, key=lambda pair: pair[1])[0]


def test_another_way_to_pick_replaces_the_most_likely_option() -> None:
    scene = ready()
    kan = only(scene, ActionKind.ANKAN)
    assert verdict_of(scene, Scripted({kan: 0.1}), least_likely).action == kan
    assert verdict_of(scene, Scripted({kan: 0.1})).action.kind is ActionKind.DISCARD


@pytest.mark.parametrize(
    ("pick", "said"),
    [
        (lambda _: None, "none was picked"),
        (lambda _: Action(ActionKind.PON, 3, (1, 2)), "not among the legal"),
    ],
)
def test_a_pick_that_is_not_legal_is_an_error(pick: Pick, said: str) -> None:
    with pytest.raises(IllegalActionError, match=said):
        verdict_of(ready(), Scripted(), pick)


def test_on_a_claim_the_answers_of_all_slots_are_picked_from_together() -> None:
    asked: list[Slot] = []

    def watched(answers: Sequence[SlotAnswer]) -> Action | None:
        asked.extend(answer.slot for answer in answers)
        return answers[-1].options[0]

    verdict = verdict_of(claim(), Scripted(), watched)
    assert asked == [Slot.CHI, Slot.PON, Slot.KAN]
    assert verdict.action.kind is ActionKind.DAIMINKAN
    passed = verdict_of(claim(), Scripted())
    assert (passed.action, passed.probabilities[PASS]) == (PASS, 1.0)


def test_a_batch_ends_with_the_verdicts_of_single_decisions() -> None:
    scenes = [ready(), Scene("234678m23488p56s").draw("1z"), Scene("123456789m11p67s").draw("8s")]
    batch = run_flows([flow(scene.observe()) for scene in scenes], RandomPolicy().answer)
    assert [each.result() for each in batch] == [verdict_of(scene, RandomPolicy()) for scene in scenes]
