from pathlib import Path

import pytest

from learning.matches.thinkers import ThinkingPlayer, thinking_player
from policies.checkpoint import load, save
from policies.hands import direct


def named(text: str) -> ThinkingPlayer:
    player = thinking_player(text)
    assert player is not None
    return player


def test_a_player_is_another_if_the_model_of_hands_that_it_searches_with_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    texts = ("network+search=35+sampler=uniform", "network+adapt=35")
    before = [named(text).identity for text in texts]
    checkpoint = load(direct.HAND_MODELS_FOLDER, "direct")
    other = {name: tensor + 1 for name, tensor in checkpoint.tensors.items()}
    save(tmp_path, checkpoint.card, other)
    monkeypatch.setattr(direct, "HAND_MODELS_FOLDER", tmp_path)
    searching, adapting = (named(text).identity for text in texts)
    assert searching != before[0], "its results would mix"
    assert adapting == before[1], "it asks no model of hands"
