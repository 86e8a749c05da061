from __future__ import annotations

import pytest

from game.actions import Action, ActionKind
from policies.heuristic.player import HeuristicPolicy
from policies.play.decide import decide
from policies.play.named import BeginnerPolicy
from tests.policies.heuristic.cases import CASES, Case


def text(action: Action) -> str:
    """``"discard 5z"`` for a discard, the kind alone for the rest."""
    return str(action) if action.kind is ActionKind.DISCARD else action.kind.name.lower()


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name.replace(" ", "-"))
def test_case(case: Case) -> None:
    scene = case.scene()
    decision = decide(scene.observe(length=case.length), HeuristicPolicy())
    top = ", ".join(f"{text(o.action)} {o.probability:.2f}" for o in decision.options[:4])
    assert text(decision.action) in case.allowed, f"{case.why}; got {top}"
    assert not decision.fallback_reason


def test_a_beginner_discards_a_dangerous_tile_and_the_same_one_every_time() -> None:
    case = next(each for each in CASES if each.name == "passed since the riichi")
    once, again = (
        [text(decide(case.scene().observe(), BeginnerPolicy(seed)).action) for seed in range(8)] for _ in "12"
    )
    assert once == again
    assert not set(once) <= set(case.allowed)
