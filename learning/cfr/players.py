"""Players of duels by name: abstract policies, tables, and random play."""

from __future__ import annotations

from pathlib import Path
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from game.errors import ConfigError
from game.files import expand_home
from learning.cfr.node_table import NODES_FILE, read_table
from policies.two_player.abstraction import KEYS, POLICIES, POLICY_NAMES
from policies.two_player.playing import BY_TABLE, RANDOM_ACTIONS

UNIFORM: Final = "uniform"
RANDOM: Final = "random"
CURRENT: Final = "current:"
"""Before a table: its current strategy, by regret matching, instead of the average one."""


class DuelPlayer(NamedTuple):
    """A player as the kernels take it.

    Attributes:
        name: as given.
        way: a policy, `RANDOM_ACTIONS` or `BY_TABLE`.
        weights: ``[KEYS, 3]`` float64, as for `policies.two_player.playing.match_regrets`.
    """

    name: str
    way: int
    weights: NDArray[np.float64]


def duel_player(name: str) -> DuelPlayer:
    """Load a player.

    Args:
        name: normal, triplets, pairs, uniform, random, or a node table of `suzaku train cfr`: the file or
            its folder, with ``current:`` before it for the current strategy.

    Raises:
        ConfigError: there is no such player.
        CheckpointError: the table cannot be used.
    """
    if name in POLICY_NAMES:
        return DuelPlayer(name, POLICY_NAMES.index(name), _no_weights())
    if name == RANDOM:
        return DuelPlayer(name, RANDOM_ACTIONS, _no_weights())
    if name == UNIFORM:
        return DuelPlayer(name, BY_TABLE, _no_weights())
    return DuelPlayer(name, BY_TABLE, table_weights(name))


def table_weights(name: str) -> NDArray[np.float64]:
    """The strategy of a table, named as for `duel_player`.

    Raises:
        ConfigError: there is no such file or folder.
        CheckpointError: it cannot be used.
    """
    path = expand_home(name.removeprefix(CURRENT))
    if not path.exists():
        known = ", ".join((*POLICY_NAMES, UNIFORM, RANDOM))
        raise ConfigError(f"{name}: no such player; use {known}, or a table made by `suzaku train cfr`")
    _, sums, _ = read_table(_table_file(path))
    return sums.regrets if name.startswith(CURRENT) else sums.strategies


def _table_file(path: Path) -> Path:
    return path / NODES_FILE if path.is_dir() else path


def _no_weights() -> NDArray[np.float64]:
    return np.zeros((KEYS, POLICIES))
