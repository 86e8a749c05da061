"""The critic: the value of the rest of a round to each player, with all hands open.

It sees a table when a player has drawn, and answers for the four players at once: in points, and in the
expected final reward. It knows what is left in the wall, but not the order. Play-outs that are cut before the
end of the round ask it for the rest (`policies.play.playouts`).
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from game.layout import PHASE_TURN, ROUND_STATE
from game.scoring.settlement import RIICHI_STICK, GameLength
from policies.checkpoint.files import Reader, read_file
from policies.checkpoint.store import load
from policies.nets.compute import Compute, choose_compute
from policies.play.inference import Model

CRITIC_FOLDER: Final = Path(__file__).parents[1] / "checkpoints" / "critic"
# In 226 games of self-play it explains 32.8 % (31.0 to 34.5) of the variance of the points that the rest of
# a round brings 0 to 3 draws before its end, and 3.2 % (1.8 to 4.6) from 32 draws on; of the final reward
# 22.8 and 1.5 % (`suzaku eval critic` of ce4bf53c).

POINTS_UNIT: Final = 5_000.0
REWARD_UNIT: Final = 30.0
"""Points, and final reward, of an output of 1 of the network: each about a standard deviation."""
REWARD_OF_STICK: Final = 4.6
"""About the final reward that a riichi stick costs. It is counted apart, because the network predicted only
half of it, and play-outs cut at a horizon overestimated riichi by 2.3 (53a5ac68)."""
_SEATS: Final = np.arange(4)


def reward_of_sticks(start: NDArray[Any], now: NDArray[Any]) -> NDArray[np.float64]:
    """``[…, 4]``: change of each player's final reward by the riichi sticks that the player paid in a round.

    Args:
        start: ``[…, 4]`` scores at the start of the round.
        now: ``[…, 4]`` scores now.
    """
    found: NDArray[np.float64] = (now - start) * (REWARD_OF_STICK / RIICHI_STICK)
    return found


class RestOfRound(NamedTuple):
    """The predicted changes by the rest of a round; players are absolute.

    Attributes:
        points: ``[N, 4]``, including riichi sticks on the table for the player who receives them.
        reward: ``[N, 4]``: final reward less the one expected at the start of the round and less
            `reward_of_sticks`.
    """

    points: NDArray[np.float64]
    reward: NDArray[np.float64]


class Critic:
    """Predicts the value of the rest of a round.

    Args:
        model: the network.

    Attributes:
        model: the same.
    """

    def __init__(self, model: Model) -> None:
        self.model = model

    @classmethod
    def load(
        cls, folder: Path = CRITIC_FOLDER, compute: Compute | None = None, read: Reader = read_file
    ) -> Self:
        """The critic of a folder.

        Args:
            folder: folder of the checkpoint.
            compute: how the network computes; by default for many positions at a time, on a CPU.
            read: reads a file of the folder.

        Raises:
            CheckpointError: it cannot be used.
        """
        checkpoint = load(folder, "critic", read=read)
        card = checkpoint.card
        compute = compute or choose_compute("cpu", "fp32")
        return cls(Model(checkpoint.weights, card.features, card.without, compute))

    def rest(self, states: Sequence[np.void], length: GameLength) -> RestOfRound:
        """The value of the rest of each round.

        Args:
            states: records of `ROUND_STATE` with all hands known, each after a player has drawn.
            length: length of the games.
        """
        rows = np.frombuffer(bytearray(b"".join([state.tobytes() for state in states])), ROUND_STATE)
        turns = rows["turn"].astype(np.int8)
        found = self.model.logits(rows, turns, None, length).reshape(len(rows), 2, 4).astype(np.float64)
        # the network answers by seat from the player in turn on
        seats = (_SEATS - turns[:, None]) % 4
        points, reward = (np.take_along_axis(found[:, each], seats, axis=1) for each in range(2))
        return RestOfRound(points * POINTS_UNIT, reward * REWARD_UNIT)


def is_at_a_draw(state: np.void) -> bool:
    """Whether the critic can be asked about a table: a player has just drawn."""
    return bool(state["phase"] == PHASE_TURN)
