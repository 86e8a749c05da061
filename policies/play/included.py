"""The sets of checkpoints that come with the program, and their names in commands and settings."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Final

from policies.nets.identities import MARK

_FOLDER: Final = Path(__file__).parents[1] / "checkpoints"
PHOENIX: Final = _FOLDER / "small-phoenix"
"""Trained on human games from the Phoenix room."""
PLAYERS: Final = _FOLDER / "small-players"
"""The same, trained further on all games, conditioned on the player: imitates one player or rank."""
SHIPPED: Final = PLAYERS.with_name(f"{PLAYERS.name}{MARK}LuckyJ")
"""The default models for play: the same, imitating the program LuckyJ."""

INCLUDED: Final[Mapping[str, Path]] = MappingProxyType(
    {"network": SHIPPED, "phoenix": PHOENIX, "players": PLAYERS}
)
"""The folder of each set, by its name."""


def included(text: str) -> Path | None:
    """The folder of the set that a text names, conditioned on a player if it ends in ``@NAME``.

    Returns:
        None if the text names none.
    """
    name, mark, identity = text.partition(MARK)
    folder = INCLUDED.get(name)
    return folder and folder.with_name(folder.name + mark + identity)
