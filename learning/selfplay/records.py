"""Files of games: ordinary records, and all data of a game that crashed."""

from __future__ import annotations

import hashlib
from datetime import datetime
from typing import Final, Literal, TypeAlias

import msgspec

from game.scoring.settlement import GameLength
from learning.selfplay.series import Series
from policies.play.rollout import FinishedGame
from replays.files import RECORD_SUFFIX
from replays.formats import write_game
from replays.record import JAPAN, GameRecord, Names, game_id

RecordForm: TypeAlias = Literal["mjlog", "mjai"]

RECORDS_FOLDER: Final = "games"
CRASHES_FOLDER: Final = "crashed"

_SUFFIXES: Final[dict[RecordForm, str]] = {"mjlog": RECORD_SUFFIX, "mjai": ".mjson"}
_GAME_TYPES: Final[dict[GameLength, int]] = {"hanchan": 9, "tonpuu": 1}
_DAY: Final = datetime(2000, 1, 1, tzinfo=JAPAN)
"""A fixed date, so that the same games always get the same ids."""


class GameFile(msgspec.Struct, frozen=True):
    """File of a game.

    Attributes:
        folder: subfolder of the results.
        name: name of the file, always the same for the same game.
        data: its content.
    """

    folder: str
    name: str
    data: bytes


def file_of(series: Series, played: FinishedGame, form: RecordForm | None) -> GameFile | None:
    """The file to keep a game in.

    Args:
        series: the series it belongs to.
        played: the game.
        form: format of records; if None, only a crashed game is kept.
    """
    if played.crash:
        return GameFile(CRASHES_FOLDER, f"game-{played.seating.number}.json", msgspec.json.encode(played))
    if form is None:
        return None
    record = record_of(series, played)
    return GameFile(RECORDS_FOLDER, record.game_id + _SUFFIXES[form], write_game(record, form).encode())


def record_of(series: Series, played: FinishedGame) -> GameRecord:
    """A game's record; its id is derived from the plan and the game's number."""
    first, second, third, fourth = (series.contenders[player].name for player in played.seating.players)
    names: Names = (first, second, third, fourth)
    kind = _GAME_TYPES[series.length]
    base = int.from_bytes(hashlib.blake2b(series.identity.encode(), digest_size=4).digest(), "little")
    return GameRecord(
        game_id=game_id(_DAY, kind, 0, base + played.seating.number),
        game_type=kind,
        names=names,
        events=played.events,
        sexes=("C", "C", "C", "C"),
    )
