from __future__ import annotations

import numpy as np
import pytest

from policies.checkpoint.card import HAND_MODELS
from policies.checkpoint.store import load, models_in
from policies.hands.direct import HAND_MODELS_FOLDER, DirectModel
from tests.policies.hands.models import real_moments

LARGEST_BYTES = 3_000_000


@pytest.fixture(scope="module")
def model() -> DirectModel:
    return DirectModel.load()


def test_readings_are_probabilities_and_certain_where_the_table_says_so(model: DirectModel) -> None:
    states, players = real_moments(12, 61)
    found = model.read(states, players)
    assert np.allclose(found.shanten.sum(2), 1.0, atol=1e-5)
    assert np.allclose(found.copies.sum(3), 1.0, atol=1e-5)
    for values in (found.waits, found.deal_ins):
        assert values.shape == (len(states), 3, 34)
        assert ((values >= 0) & (values <= 1)).all()
    riichi = np.array(
        [
            [state["riichi"][(player + step) % 4] > 0 for step in (1, 2, 3)]
            for state, player in zip(states, players, strict=True)
        ]
    )
    assert riichi.any()
    assert (found.tenpai[riichi] == 1.0).all()
    for row, (state, player) in enumerate(zip(states, players, strict=True)):
        for seat in range(3):
            other = (player + seat + 1) % 4
            for kind in range(34):
                if int(state["river34"][other]) >> kind & 1:
                    assert found.deal_ins[row, seat, kind] == 0.0


def test_ready_hands_are_found_likelier_to_be_ready(model: DirectModel) -> None:
    states, players = real_moments(12, 61)
    found = model.read(states, players)
    ready = np.array(
        [
            [state["waits"][(player + step) % 4] > 0 for step in (1, 2, 3)]
            for state, player in zip(states, players, strict=True)
        ]
    )
    assert ready.sum() > 20
    assert found.tenpai[ready].mean() > found.tenpai[~ready].mean() + 0.2


def test_a_reading_does_not_depend_on_the_others_asked_nor_on_hidden_hands(model: DirectModel) -> None:
    states, players = (each[:30].copy() for each in real_moments(12, 61))
    found = model.read(states, players)
    for state, player in zip(states, players, strict=True):
        state["hand34"][np.arange(4) != player] = 0
        state["waits"][np.arange(4) != player] = 0
    again = model.read(states[7:8], players[7:8])
    assert np.array_equal(again.shanten[0], found.shanten[7])
    assert np.array_equal(again.waits[0], found.waits[7])
    nothing = model.read(states[:0], players[:0])
    assert nothing.shanten.shape == (0, 3, 7)


def test_the_included_models_of_hands_are_small_intact_and_alone() -> None:
    there = models_in(HAND_MODELS_FOLDER)
    assert "direct" in there
    files = sorted(HAND_MODELS_FOLDER.iterdir())
    cards = {model: load(HAND_MODELS_FOLDER, model).card for model in HAND_MODELS if model in there}
    named = [HAND_MODELS_FOLDER / f"{model}.json" for model in cards]
    named += [HAND_MODELS_FOLDER / card.tensors.file for card in cards.values()]
    assert files == sorted(named)
    for card in cards.values():
        assert card.data.corpus
        assert card.metrics
        assert card.tensors.bytes <= LARGEST_BYTES
        assert len(card.parents) == 1
