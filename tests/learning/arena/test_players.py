from __future__ import annotations

from pathlib import Path

import pytest

from game.errors import CheckpointError, ConfigError
from learning.arena.players import Contender, contender, seat_down
from policies.rollout import PolicyChooser


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
