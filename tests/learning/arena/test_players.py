from __future__ import annotations

from pathlib import Path

import pytest

from game.errors import CheckpointError, ConfigError
from learning.arena.players import Contender, contender, seat_down
from policies.rollout import PolicyChooser
from tests.policies.models import save_models


def test_built_in_players() -> None:
    for name in ("heuristic", "random"):
        found = contender(name)
        assert found == Contender(name, name)
        assert found.name == name
        assert isinstance(seat_down(found), PolicyChooser)


def test_who_is_nobody(tmp_path: Path) -> None:
    with pytest.raises(
        ConfigError, match="'heuristik' is no player: neither one of network, heuristic, random"
    ):
        contender("heuristik")
    with pytest.raises(CheckpointError, match=r"discard\.json"):
        contender(str(tmp_path))


def test_a_folder_of_checkpoints_is_known_by_what_is_in_it(tmp_path: Path) -> None:
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
