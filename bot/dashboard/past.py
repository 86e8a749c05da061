"""Past games: the list, and each game in the form that the page draws."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from itertools import groupby
from pathlib import Path
from statistics import mode
from typing import Any, Final

from bot.config.settings import DecisionSection
from bot.config.sources import ENV_PREFIX
from bot.dashboard.game_messages import GameMessages, Message
from bot.dashboard.session import ladder, standing
from bot.logs.redaction import REDACTOR
from bot.tenhou.session.events import GameStarted
from game.events import Four, four
from kit.errors import ReplayError
from replays.files import RECORD_SUFFIX
from replays.formats import read_game
from replays.record import DecisionRecord, check_game_id, started
from replays.review.report import known_hands, length_of
from replays.store.index import GameEntry, games
from replays.store.library import readable_beside

KEPT: Final = 16
"""Reviews kept; each has one or two megabytes."""
_REVIEW: Final = (
    "import sys; from kit.processes import step_back; from bot.cli.program import run; step_back(); "
    "sys.exit(run(['review', '--json', *sys.argv[1:]]))"
)


def games_shown(folder: Path, program: str) -> dict[str, Any]:
    """The list of games, and the results by day.

    Args:
        folder: folder of the library.
        program: name and version of the program that shows it.

    Raises:
        ReplayError: the folder cannot be read.
    """
    entries, problems = games(folder)
    finished = [each for each in entries if each.placement is not None and each.results is not None]
    # the bot's; of somebody who only plays at the table, their own
    ours = [each for each in finished if not each.is_person] or finished
    days = groupby(ours, lambda entry: entry.date[:10])
    return {
        "program": program,
        "games": [_game(entry) for entry in entries],
        "days": [{"day": day, **_standing(list(of_day))} for day, of_day in days],
        "total": _standing(ours),
        "yours": len(finished) - len(ours),
        "ladder": _ladder(ours),
        "unreadable": len(problems),
    }


def replay_of(folder: Path, game_id: str, program: str) -> dict[str, Any]:
    """A game of the library as the messages of a running one, with the decisions made in play.

    Args:
        folder: folder of the library.
        game_id: id of the game.
        program: name and version of the program that shows it.

    Raises:
        ReplayError: there is no such game, or its record cannot be read; unreadable decisions are left out.
    """
    path = _path_of(folder, game_id)
    record = read_game(path)
    made, left_out = _decisions(path)
    told: list[Message] = []
    messages = GameMessages(told.append, program, "Suzaku" if made else "–")
    game = GameStarted(
        game_id,
        record.names,
        length_of(record.game_type),
        record.game_type,
        str(record.lobby),
        mode(each.player for each in made) if made else record.own_player or 0,
        record.ranks,
        record.rates,
    )
    messages.begin(game, game_id, started(game_id), "mjlog", known_hands(record))
    messages.replay(record.events, made)
    return {"messages": told, "left_out": left_out}


class PastReviews:
    """Reviews games of a library, one after another, in processes that take only time that play leaves.

    Args:
        folder: folder of the library.
        decision: how the networks compute, and what places are worth.
    """

    def __init__(self, folder: Path, decision: DecisionSection) -> None:
        self._folder = folder
        settings = decision.model_dump(include={"permutations", "device", "uma"})
        self._settings = {f"{ENV_PREFIX}DECISION__{key.upper()}": str(settings[key]) for key in settings}
        self._made: dict[Path, bytes] = {}
        self._one = asyncio.Lock()

    async def of(self, game_id: str) -> bytes:
        """The review of our seat, as JSON.

        Raises:
            ReplayError: there is no such game, or it cannot be reviewed.
        """
        path = _path_of(self._folder, game_id)
        async with self._one:
            if path not in self._made:
                made = await _reviewed(path, self._settings)
                self._made = dict([*self._made.items(), (path, made)][-KEPT:])
            return self._made[path]


async def _reviewed(path: Path, settings: dict[str, str]) -> bytes:
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-P", "-c", _REVIEW, str(path)),
        env=os.environ | settings | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    try:
        made, said = await process.communicate()
    finally:
        if process.returncode is None:  # the browser has left
            process.kill()
    if process.returncode:
        raise ReplayError(said.decode("utf-8", "replace").strip().rpartition("\n")[2])
    return made


def _path_of(folder: Path, game_id: str) -> Path:
    path = folder / (check_game_id(game_id) + RECORD_SUFFIX)
    if path.is_symlink() or not path.is_file():
        raise ReplayError(f"{game_id}: no such game")
    return path


def _decisions(record: Path) -> tuple[tuple[DecisionRecord, ...], int | None]:
    """The decisions, and the number of unreadable lines in their files; None if a file is unreadable."""
    try:
        made, problems = readable_beside(record)
    except ReplayError:
        return (), None
    return made, len(problems)


def _game(entry: GameEntry) -> dict[str, Any]:
    player = max(entry.player, 0)
    return {
        "id": entry.game_id,
        "date": entry.date,
        "type": entry.game_type,
        "names": [REDACTOR.value(name) for name in entry.names],
        "player": entry.player,
        "rounds": entry.rounds,
        "is_person": entry.is_person,
        "place": entry.placement,
        "score": entry.scores[player] if entry.scores and entry.player >= 0 else None,
        "result": entry.results[player] / 10 if entry.results and entry.player >= 0 else None,
    }


def _standing(ours: list[GameEntry]) -> dict[str, Any]:
    tenths = sum(entry.results[entry.player] for entry in ours if entry.results)
    return {**standing(list(_places(ours))), "result": round(tenths / 10, 1)}


def _ladder(ours: list[GameEntry]) -> dict[str, Any] | None:
    """The ladder figures; games of both lengths are treated as games of the more common one."""
    hanchan = sum(length_of(entry.game_type) == "hanchan" for entry in ours)
    return ladder(_places(ours), "hanchan" if 2 * hanchan >= len(ours) else "tonpuu")


def _places(ours: list[GameEntry]) -> Four:
    return four(sum(entry.placement == place for entry in ours) for place in (1, 2, 3, 4))
