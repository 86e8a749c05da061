"""Games of the arena as records, like any other game's."""

from __future__ import annotations

import hashlib
from datetime import datetime
from typing import Final

from game.settlement import GameLength
from learning.arena.plan import Plan
from policies.rollout import Played
from replays.record import JAPAN, GameRecord, Names, game_id

_GAME_TYPES: Final[dict[GameLength, int]] = {"hanchan": 9, "tonpuu": 1}
_DAY: Final = datetime(2000, 1, 1, tzinfo=JAPAN)
"""The same games get the same ids whenever they are played."""


def record_of(plan: Plan, played: Played) -> GameRecord:
    """A game's record; its id follows from the plan and the game's number."""
    first, second, third, fourth = (
        (plan.challenger, plan.champions)[player].name for player in played.seating.players
    )
    names: Names = (first, second, third, fourth)
    kind = _GAME_TYPES[plan.length]
    text = f"{plan.seed} {plan.challenger.identity} {plan.champions.identity} {plan.mode} {plan.length}"
    base = int.from_bytes(hashlib.blake2b(text.encode(), digest_size=4).digest(), "little")
    return GameRecord(
        game_id=game_id(_DAY, kind, 0, base + played.seating.number),
        game_type=kind,
        names=names,
        events=played.events,
        sexes=("C", "C", "C", "C"),
    )
