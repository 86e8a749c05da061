"""What `suzaku eval answers` measures, and what it keeps of each game."""

from __future__ import annotations

from typing import Final

import msgspec

from game.settlement import GameLength
from policies.compute import IN_PLAY, Compute
from policies.slots import Slot

FORMAT: Final = "suzaku-answers/1"


class AnswersPlan(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Everything that determines the results.

    Attributes:
        policy: who plays, and plays on; a set of checkpoints.
        identity: changes when the policy behind the name changes.
        games: number of self-play games.
        least: answers are played out if "yes" has this probability or more, and "no" too.
        walls: walls over which both answers of a decision are played out.
        seed: determines games and walls.
        compute: how networks compute.
        length: length of the games.
        format: format of the results.
    """

    policy: str
    identity: str
    games: int
    least: float
    walls: int
    seed: int
    compute: Compute = IN_PLAY
    length: GameLength = "hanchan"
    format: str = FORMAT

    @property
    def flags(self) -> dict[str, str]:
        """The plan as command-line flags; see `learning.matches.store.ResumablePlan`."""
        return {
            "--policy": self.policy,
            "--games": str(self.games),
            "--least": f"{self.least:g}",
            "--walls": str(self.walls),
            "--seed": str(self.seed),
            "--device": self.compute.device,
            "--precision": self.compute.precision,
        }

    def continues(self, other: AnswersPlan) -> bool:
        """Whether the games of another plan are the first games of this one."""
        return other.games <= self.games and msgspec.structs.replace(other, games=self.games) == self


class PlayedAnswer(msgspec.Struct, frozen=True):
    """An answer that was played out.

    Attributes:
        slot: the model that was asked.
        chance: its probability of "yes", to the option that it found best.
        points: points at the end of the round with that option, less those with what the policy would have
            done instead; one for each wall.
        rewards: the same of the final reward to be expected.
    """

    slot: Slot
    chance: float
    points: tuple[int, ...]
    rewards: tuple[float, ...]


class GameAnswers(msgspec.Struct, frozen=True):
    """The answers of one game.

    Attributes:
        number: the game's.
        answers: those that were played out.
        seconds: CPU time of the game.
    """

    number: int
    answers: tuple[PlayedAnswer, ...]
    seconds: float
