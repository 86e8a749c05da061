"""Games of self-play, for what is seen on the way: one chooser plays all seats, and keeps what it finds."""

from __future__ import annotations

from game.errors import TrainingError
from game.settlement import GameLength
from learning.matches.series import wall_seed
from policies.rollout import Chooser, Rollout, Seating


def play_watched(chooser: Chooser, purpose: str, seed: int, number: int, length: GameLength) -> None:
    """Play one game.

    Args:
        chooser: decides for all four seats.
        purpose: what the game is for; keeps walls of different measurements apart.
        seed: of the measurement.
        number: of the game.
        length: of the game.

    Raises:
        TrainingError: the game crashed.
    """
    seating = Seating(number, wall_seed(purpose, seed, number), (0, 0, 0, 0))
    for game in Rollout([chooser], length=length).play([seating]):
        if game.crash:
            raise TrainingError(f"game {number}: {game.crash}")
