"""Observations as arrays, for learning elsewhere."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from game.actions import Action
from game.layout import ROUND_STATE
from game.observation import Observation
from game.rules import action_row
from game.scoring.settlement import LAST_ROUND
from kit.errors import ConfigError
from policies.features.encode import encode
from policies.features.table import LITE, SETS, FeatureSet


def planes(
    observations: Sequence[Observation], features: str = LITE, calls: Sequence[Action] | None = None
) -> NDArray[np.uint8]:
    """Observations as planes, the input of the networks.

    Args:
        observations: N of them; only what their players see is used.
        features: a set of planes, from docs/features.md.
        calls: for a set of calls, such as ``lite-287/1``, the chi, pon or kan that each row is about; an
            observation with several is given several times.

    Returns:
        ``[N, C, 34]`` uint8, 255 for 1; C is ``len(plane_names(features))``, 34 the kinds: 1m to 9m, p, s,
        East South West North, white green red.

    Raises:
        ConfigError: there is no such set.
        ValueError: ``calls`` are missing or do not fit.
    """
    _feature_set(features)
    records = np.array([each.record for each in observations], ROUND_STATE)
    players = np.array([each.player for each in observations], np.int8)
    rows = None if calls is None else np.array([action_row(each) for each in calls], np.int16).reshape(-1, 6)
    last_rounds = np.array([LAST_ROUND[each.length] for each in observations])
    return encode(records, players, features, calls=rows, last_round=last_rounds)


def plane_names(features: str = LITE) -> list[str]:
    """The name of each plane: the id of its group in docs/features.md, and its place in the group.

    Raises:
        ConfigError: there is no such set.
    """
    groups = _feature_set(features).groups
    return [f"{group.id}.{place}" for group in groups for place in range(group.planes)]


def _feature_set(name: str) -> FeatureSet:
    if name not in SETS:
        raise ConfigError(f"no set of planes is called {name!r}; there are {', '.join(SETS)}")
    return SETS[name]
