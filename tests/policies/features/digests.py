"""Digests of the planes of a thousand positions, for each set and group.

``python -m tests.policies.features.digests`` writes them anew after an intended change of the planes; it
needs the shared games.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Collection
from pathlib import Path
from typing import Final

import numpy as np

from game.layout import ROUND_STATE
from policies.features.encode import encode
from policies.features.table import SETS, SUPHX
from tests.policies.features.deep.made_up import made_up
from tests.policies.features.positions import Positions, random_positions, real_positions

FILE: Final = Path(__file__).with_name("digests.json")


def digests_of(positions: Positions, sets: Collection[str] = SETS) -> dict[str, str]:
    """The digest of each group of each set; each possible call is a row of the sets of calls."""
    found = {}
    for name in sets:
        chosen = SETS[name]
        states, players, calls = positions.states, positions.players, None
        if chosen.of_calls:
            states, players, calls = positions.candidates()
        walls = np.tile(np.arange(136, dtype=np.int16), (len(states), 1))
        walls = np.random.default_rng(0).permuted(walls, axis=1)
        planes = encode(states, players, name, calls=calls, walls=walls)
        for group in chosen.groups:
            part = planes[:, chosen.planes_of([group.id])].tobytes()
            found[f"{name} {group.id}"] = hashlib.blake2b(part, digest_size=6).hexdigest()
    return found


def near_wins() -> dict[str, str]:
    """Digests of positions that are made up to be close to a win, where look-ahead finds most."""
    states, players = zip(*(made_up(seed, draws=seed % 4 == 3) for seed in range(100)), strict=True)
    records = np.array(list(states), ROUND_STATE)
    return digests_of(Positions(records, records, np.array(players, np.int8), []), [SUPHX])


SOURCES: Final[dict[str, Callable[[], dict[str, str]]]] = {
    "real games": lambda: digests_of(real_positions(3).every(3)),
    "random games": lambda: digests_of(random_positions(3, seed=5).every(3)),
    "near wins": near_wins,
}

if __name__ == "__main__":
    FILE.write_text(json.dumps({name: find() for name, find in SOURCES.items()}, indent=1) + "\n", "utf-8")
