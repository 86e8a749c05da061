"""The plan of a comparison by differences, and what is kept of a game."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Final

import msgspec
from msgspec import Meta
from msgspec.structs import replace

from game.scoring.settlement import GameLength
from kit.errors import ConfigError
from kit.options import INTERNAL, Count, Seed
from learning.runs.store import ResumablePlan
from learning.selfplay.engines import engine_of
from learning.selfplay.players import Contender, contender
from learning.selfplay.thinkers import thinking_player
from policies.checkpoint import load
from policies.checkpoint.files import reader_of
from policies.nets.compute import IN_PLAY, Compute
from policies.play.critic import CRITIC_FOLDER
from policies.play.named import predictor_files

FORMAT: Final = "suzaku-differences/3"
MODELS: Final = "discard", "riichi", "chi", "pon", "kan", "rule"
"""Models that decide; "rule" for a win or nine terminals."""


class DifferencesPlan(ResumablePlan, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Everything that determines the differences.

    Attributes:
        challenger: the player under test.
        champions: the player it is compared with.
        predictor: hash of the reward predictor.
        critic: hash of the critic; "" if play-outs go to the end.
        games: number of games.
        walls: walls over which a difference is played out.
        horizon: discards after which play-outs are cut, and valued by the critic; 0: at the end of the round.
        seed: seed of all walls.
        length: length of the games.
        compute: how networks compute.
        format: format of the results.
    """

    challenger: Annotated[Contender, INTERNAL]
    champions: Annotated[Contender, INTERNAL]
    predictor: Annotated[str, INTERNAL]
    critic: Annotated[str, INTERNAL] = ""
    games: Annotated[Count, INTERNAL]
    walls: Annotated[int, Meta(ge=1)] = 4
    horizon: Annotated[int, Meta(ge=0, le=70)] = 0
    seed: Seed = 0
    length: Annotated[GameLength, INTERNAL] = "hanchan"
    compute: Compute = IN_PLAY
    format: Annotated[str, INTERNAL] = FORMAT

    @property
    def flags(self) -> dict[str, str]:
        """The options that give this plan, as text."""
        players = {"--challenger": self.challenger.flag, "--champion": self.champions.flag}
        tonpuu = "given" if self.length == "tonpuu" else "not given"
        return players | {"--games": str(self.games), "--tonpuu": tonpuu} | super().flags


class Difference(msgspec.Struct, frozen=True, array_like=True):
    """One decision in which the players differ.

    Attributes:
        model: that decides it, of `MODELS`.
        go_around: earlier discards of the player in the round.
        tenpai: whether the player is tenpai, or would be after a discard.
        riichi: whether an opponent has declared riichi.
        round_index: 0 East 1 … 8 West 1.
        confidence: how much likelier the champion's choice is to the champion than the challenger's; None
            if it does not say.
        points: the advantage of the challenger's choice in points, the mean over the walls.
        reward: the same in the expected final reward.
        place: the same in the expected place; None if nothing says places.
    """

    model: str
    go_around: int
    tenpai: bool
    riichi: bool
    round_index: int
    confidence: float | None
    points: float
    reward: float
    place: float | None


class DifferencesGame(msgspec.Struct, frozen=True):
    """One game.

    Attributes:
        number: its number.
        decisions: of the challenger.
        faults: decisions at which one of the players had no usable answer, and the rules chose for it.
        differences: decisions in which the players differ.
        seconds: CPU time, its share of the games played together.
    """

    number: int
    decisions: int
    faults: int
    differences: tuple[Difference, ...]
    seconds: float


def make_differences_plan(challenger: str, champions: str, **given: Any) -> DifferencesPlan:
    """The plan of a comparison, both players loaded.

    Args:
        challenger: as for `learning.selfplay.players.contender`.
        champions: the player in the other seats.
        given: other fields of the plan.

    Raises:
        ConfigError: a player is not valid or cannot be compared in this way.
        CheckpointError: a player's checkpoints cannot be used.
    """
    one, other = contender(challenger), contender(champions)
    for who in (one, other):
        if engine_of(who.text):
            raise ConfigError(
                f"--differences: {who.text!r} follows games from their start and cannot be asked about a "
                "position; compare it in a match, without --differences"
            )
    if thinking_player(other.text):
        raise ConfigError(
            f"--differences: the champion plays every play-out, and {other.text!r} would search in each of "
            "them; make it the --challenger, against its networks alone as --champion"
        )
    predictor = load(Path(), "reward", read=reader_of(predictor_files(other.text, one.text)))
    digest = predictor.card.tensors.sha256
    plan = DifferencesPlan(challenger=one, champions=other, predictor=digest, **given)
    return replace(plan, critic=load(CRITIC_FOLDER, "critic").card.tensors.sha256) if plan.horizon else plan
