from __future__ import annotations

from pathlib import Path

import pytest

from kit.errors import CheckpointCorrupt, CheckpointError, ConfigError
from learning.selfplay.players import Contender, contender, packed, seat_down
from policies.adaptation.thinking import ThinkingChooser
from policies.checkpoint.store import load, models_in, save
from policies.deals import named
from policies.hands import direct
from policies.play.rollout import PolicyChooser
from tests.policies.models import save_models


def test_built_in_players() -> None:
    for name in ("heuristic", "random"):
        found = contender(name)
        assert found == Contender(name, name)
        assert found.name == name
        assert isinstance(seat_down(found), PolicyChooser)


def test_unknown_players_are_refused(tmp_path: Path) -> None:
    with pytest.raises(
        ConfigError,
        match="'heuristik' is not a player: give one of network, phoenix, players, heuristic, "
        "beginner, random",
    ):
        contender("heuristik")
    with pytest.raises(CheckpointError, match=r"discard\.json"):
        contender(str(tmp_path))


def test_a_folder_of_checkpoints_is_identified_by_its_contents(tmp_path: Path) -> None:
    one, other = save_models(tmp_path / "one"), save_models(tmp_path / "other", seed=1)
    first = contender(str(one))
    assert first.name == "one"
    assert isinstance(seat_down(first), PolicyChooser)
    assert contender(str(other)).identity != first.identity
    averaged = contender(f"{one}:6")
    assert averaged.name == "one:6"
    assert averaged.identity != first.identity
    save_models(one, seed=1)
    with pytest.raises(ConfigError, match="have changed since the games began"):
        seat_down(first)


@pytest.mark.parametrize("text", ["", ":6", "x" * 5000, "~nosuchuser", "a\0b"])
def test_texts_that_cannot_be_folders_are_refused(text: str) -> None:
    with pytest.raises(ConfigError, match="is not a player"):
        contender(text)


def test_packed_checkpoints_are_checked_where_they_arrive(tmp_path: Path) -> None:
    who = contender(str(save_models(tmp_path / "models")))
    files = packed(who)[who.text]
    weights = next(name for name in files if name.startswith("pon-"))
    broken = files | {weights: files[weights][:-1] + b"\0"}
    with pytest.raises(CheckpointCorrupt, match=r"pon-.*does not match tensors\.sha256 in pon\.json"):
        seat_down(who, broken)
    others = packed(contender(str(save_models(tmp_path / "others", seed=1))))
    with pytest.raises(ConfigError, match="have changed since the games began"):
        seat_down(who, next(iter(others.values())))


def test_the_shipped_networks_travel_too() -> None:
    assert len(packed(contender("network"))["network"]) == 10


def test_a_player_that_thinks_is_another_with_every_setting(tmp_path: Path) -> None:
    folder = save_models(tmp_path / "one", tower="suits")
    plain = contender(str(folder))
    found = contender(f"{folder}+search=32+reward=points")
    assert found.name == f"{folder}+search=32+reward=points"
    assert isinstance(seat_down(found), ThinkingChooser)
    texts = (
        f"{folder}+search=32+reward=points",
        f"{folder}+search=64+reward=points",
        f"{folder}+search=32+adapt=9+reward=points",
        f"{folder}+search=32+horizon=8+reward=points",
        f"{folder}+search=32+reward=points+sampler=uniform",
    )
    assert len({plain.identity, *(contender(text).identity for text in texts)}) == 6
    assert contender(f"mine={texts[0]}").name == "mine"
    save_models(folder, seed=1, tower="suits")
    with pytest.raises(ConfigError, match="have changed"):
        seat_down(found)


@pytest.mark.parametrize(
    "settings",
    [
        "+search=0",
        "+search=many",
        "+search=32+depth=3",
        "+adapt=9+sampler=tarot",
        "+search=32+adapt",
        "+search=-3",
        "+search=32+search=9",
    ],
)
def test_settings_of_thinking_that_are_not_possible_are_refused(settings: str) -> None:
    with pytest.raises(ConfigError, match=r"network.*give|--sampler"):
        contender(f"network{settings}")


def test_a_negative_setting_of_thinking_is_named() -> None:
    with pytest.raises(ConfigError, match=r">= 0.*horizon"):
        contender("network+search=32+horizon=-1")


def test_a_player_is_another_if_a_model_of_hands_that_it_asks_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asking = ("network+search=35+sampler=uniform", "network+adapt=35+sampler=diffusion", "network+adapt=35")
    texts = (*asking, "network+adapt=35+sampler=uniform")
    before = {text: contender(text).identity for text in texts}
    for model in models_in(direct.HAND_MODELS_FOLDER):
        checkpoint = load(direct.HAND_MODELS_FOLDER, model)
        save(tmp_path, checkpoint.card, {name: tensor + 1 for name, tensor in checkpoint.arrays.items()})
    for module in (direct, named):
        monkeypatch.setattr(module, "HAND_MODELS_FOLDER", tmp_path)
    changed = {text for text in texts if contender(text).identity != before[text]}
    assert changed == set(asking), "results would mix"
