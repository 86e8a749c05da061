"""Games of the arena as files: records like any other game's, and all that is known of one that crashed."""

from __future__ import annotations

import hashlib
from datetime import datetime
from typing import Final

import msgspec

from game.settlement import GameLength
from learning.arena.plan import Plan
from policies.rollout import Played
from replays.library import RECORD_SUFFIX
from replays.mjlog import write
from replays.record import JAPAN, GameRecord, Names, game_id

RECORDS_FOLDER: Final = "games"
CRASHES_FOLDER: Final = "crashed"

_GAME_TYPES: Final[dict[GameLength, int]] = {"hanchan": 9, "tonpuu": 1}
_DAY: Final = datetime(2000, 1, 1, tzinfo=JAPAN)
"""The same games get the same ids whenever they are played."""


class GameFile(msgspec.Struct, frozen=True):
    """A file that holds a game.

    Attributes:
        folder: below that of the results.
        name: of the file; the same game always has the same.
        data: what is in it.
    """

    folder: str
    name: str
    data: bytes


def file_of(plan: Plan, played: Played, *, records: bool) -> GameFile | None:
    """The file a game is kept in.

    Args:
        plan: it belongs to.
        played: the game.
        records: whether each game is kept; one that crashed is in any case.
    """
    if played.crash:
        return GameFile(CRASHES_FOLDER, f"game-{played.seating.number}.json", msgspec.json.encode(played))
    if not records:
        return None
    record = record_of(plan, played)
    return GameFile(RECORDS_FOLDER, record.game_id + RECORD_SUFFIX, write(record).encode())


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
