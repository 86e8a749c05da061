"""The checkpoints included with the program."""

from __future__ import annotations

from pathlib import Path

import pytest

from policies.checkpoint import MODELS, load, network_of
from policies.inference import PHOENIX, SHIPPED, load_policy
from policies.known_hand import known_questions
from policies.slots import Slot

LARGEST_BYTES = 20 * 1024 * 1024

both = pytest.mark.parametrize("folder", [SHIPPED, PHOENIX])


@both
def test_the_five_models_answer_a_known_hand(folder: Path) -> None:
    policy = load_policy(folder)
    for question in known_questions():
        (row,) = policy.answer(question.slot, [question])
        assert len(row) == len(question.options)
        assert all(0.0 <= chance <= 1.0 for chance in row)
        assert question.slot is not Slot.DISCARD or abs(sum(row) - 1.0) < 1e-6


@both
def test_all_six_are_intact_and_name_their_training_data(folder: Path) -> None:
    for model in MODELS:
        checkpoint = load(folder, model)
        network_of(checkpoint)
        assert checkpoint.card.data.corpus
        assert checkpoint.card.training.samples > 0
        assert checkpoint.card.metrics


@both
def test_they_are_small_and_the_folder_has_no_other_files(folder: Path) -> None:
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    cards = [folder / f"{model}.json" for model in MODELS]
    weights = [folder / load(folder, model).card.tensors.file for model in MODELS]
    assert files == sorted(cards + weights)
    assert sum(path.stat().st_size for path in files) <= LARGEST_BYTES


def test_the_default_set_was_continued_from_the_other() -> None:
    for slot in Slot:
        assert load(PHOENIX, slot).card.tensors.sha256 in load(SHIPPED, slot).card.parents
