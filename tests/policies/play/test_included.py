"""The checkpoints included with the program."""

from __future__ import annotations

from pathlib import Path

import pytest

from policies.checkpoint.card import MODELS
from policies.checkpoint.store import files_of, load
from policies.flow.known_hand import known_questions
from policies.flow.slots import Slot
from policies.nets.architectures import identities_of
from policies.play.included import INCLUDED, PHOENIX, PLAYERS, SHIPPED, included
from policies.play.inference import load_policy
from policies.play.named import predictor_files
from tests.policies.checkpoint.saved import saved
from tests.scale import scaled

LARGEST_BYTES = 20 * 1024 * 1024

every_set = pytest.mark.parametrize("folder", INCLUDED.values(), ids=INCLUDED)


@every_set
def test_the_five_models_answer_a_known_hand(folder: Path) -> None:
    policy = load_policy(folder)
    for question in known_questions():
        (row,) = policy.answer(question.slot, [question])
        assert len(row) == len(question.options)
        assert all(0.0 <= chance <= 1.0 for chance in row)
        assert question.slot is not Slot.DISCARD or abs(sum(row) - 1.0) < 1e-6


@pytest.mark.parametrize("folder", [PHOENIX, PLAYERS], ids=["phoenix", "players"])
def test_all_six_are_small_and_intact_and_the_folder_has_no_other_files(folder: Path) -> None:
    cards = [load(folder, model).card for model in MODELS]
    assert all(card.data.corpus and card.training.samples and card.metrics for card in cards)
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    names = [name for card in cards for name in (f"{card.model}.json", card.tensors.file)]
    assert files == sorted(folder / name for name in names)
    assert sum(path.stat().st_size for path in files) <= LARGEST_BYTES


def test_the_players_of_a_set_are_known_to_all_its_models_and_play_differently() -> None:
    known = {identities_of(load(PLAYERS, slot).card.architecture) for slot in Slot}
    assert len(known) == 1
    (names,) = known
    assert {"LuckyJ", "Suphx", "10-dan", "7-dan", "4-dan"} <= set(names)
    hands = [question for question in known_questions() if question.slot is Slot.DISCARD]
    said = set()
    for name in names[: scaled(3, len(names))]:
        folder = included(f"players@{name}")
        assert folder is not None
        said.add(tuple(map(tuple, load_policy(folder).answer(Slot.DISCARD, hands))))
    assert len(said) == scaled(3, len(names))


def test_a_text_names_an_included_set() -> None:
    assert included("network") == SHIPPED == included("players@LuckyJ")
    assert included("players@7-dan") == PLAYERS.with_name("small-players@7-dan")
    assert included("mine@7-dan") is None
    assert included("") is None


def test_a_policy_without_a_reward_predictor_of_its_own_has_the_included_one(tmp_path: Path) -> None:
    assert predictor_files("heuristic", "phoenix") == files_of(SHIPPED, ("reward",))
    saved(tmp_path, "reward")
    for text in (f"{tmp_path}", f"{tmp_path}:6", f"{tmp_path}:12+search=32"):
        assert predictor_files("heuristic", text) == files_of(tmp_path, ("reward",))
