from pathlib import Path

import pytest

from learning.selfplay.thinkers import ThinkingPlayer, thinking_player
from policies.checkpoint import load, models_in, save
from policies.hands import direct


def named(text: str) -> ThinkingPlayer:
    player = thinking_player(text)
    assert player is not None
    return player


def test_a_player_is_another_if_a_model_of_hands_that_it_asks_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asking = ("network+search=35+sampler=uniform", "network+adapt=35+sampler=diffusion", "network+adapt=35")
    blind = "network+adapt=35+sampler=uniform"
    before = {text: named(text).identity for text in (*asking, blind)}
    for model in models_in(direct.HAND_MODELS_FOLDER):
        checkpoint = load(direct.HAND_MODELS_FOLDER, model)
        save(tmp_path, checkpoint.card, {name: tensor + 1 for name, tensor in checkpoint.arrays.items()})
    monkeypatch.setattr(direct, "HAND_MODELS_FOLDER", tmp_path)
    after = {text: named(text).identity for text in before}
    assert {text for text in before if after[text] != before[text]} == set(asking), "results would mix"
