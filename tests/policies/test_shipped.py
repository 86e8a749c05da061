"""The checkpoints that come with the program."""

from __future__ import annotations

from policies.checkpoint import MODELS, load, network_of
from policies.inference import SHIPPED, load_policy
from policies.known_hand import known_questions
from policies.slots import Slot

LARGEST_BYTES = 20 * 1024 * 1024


def test_the_five_models_answer_a_known_hand() -> None:
    policy = load_policy()
    for question in known_questions():
        (row,) = policy.answer(question.slot, [question])
        assert len(row) == len(question.options)
        assert all(0.0 <= chance <= 1.0 for chance in row)
        assert question.slot is not Slot.DISCARD or abs(sum(row) - 1.0) < 1e-6


def test_all_six_are_whole_and_say_what_they_learned_from() -> None:
    for model in MODELS:
        checkpoint = load(SHIPPED, model)
        network_of(checkpoint)
        assert checkpoint.card.data.corpus
        assert checkpoint.card.training.samples > 0
        assert checkpoint.card.metrics


def test_they_are_small_and_nothing_else_lies_beside_them() -> None:
    files = sorted(path for path in SHIPPED.rglob("*") if path.is_file())
    cards = [SHIPPED / f"{model}.json" for model in MODELS]
    weights = [SHIPPED / load(SHIPPED, model).card.tensors.file for model in MODELS]
    assert files == sorted(cards + weights)
    assert sum(path.stat().st_size for path in files) <= LARGEST_BYTES
