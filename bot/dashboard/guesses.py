"""Hands that the opponents may hold, for the page: a process makes them up in time nothing else wants."""

from __future__ import annotations

import contextlib
import queue
import threading
from collections.abc import Callable, Iterator
from typing import Final

import msgspec
import numpy as np
import structlog

from bot.dashboard.feed import HandsGuessed
from game.errors import WorkerFailed
from game.processes import step_back
from game.workers.pool import LATER, Done, Later, Work, results
from replays.review.candidate_hands import load_finder

log = structlog.get_logger(__name__)

_STOP_S: Final = 1.0


class HandQuestion(msgspec.Struct, frozen=True):
    """Asks what the opponents may hold at a decision.

    Attributes:
        game_id: id of the game's record.
        round: number of the round in the game.
        event: number of the event in the round that the decision follows.
        record: `game.layout.ROUND_STATE` as the player saw it.
        player: absolute.
    """

    game_id: str
    round: int
    event: int
    record: np.void
    player: int


class HandGuesses:
    """Makes hands up for one decision after another; while one is under way, only the newest other waits.

    Args:
        count: hands of each opponent, by each model.
        put: called on a thread of its own with what was found.
    """

    def __init__(self, count: int, put: Callable[[HandsGuessed], None]) -> None:
        self._count, self._put = count, put
        self._waiting: queue.SimpleQueue[HandQuestion] = queue.SimpleQueue()
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._work, name="guesses", daemon=True)

    def ask(self, question: HandQuestion) -> None:
        """Ask about a decision; returns at once. The process starts with the first."""
        self._waiting.put(question)
        if not self._thread.is_alive() and not self._stop.is_set():
            self._thread.start()

    def close(self) -> None:
        """End the process."""
        self._stop.set()
        if self._thread.is_alive():
            self._thread.join(_STOP_S)

    def _work(self) -> None:
        try:
            for _, found in results(guesser, self._count, self._questions(), 1, self._stop):
                if not isinstance(found, Done):
                    self._put(found)
        except WorkerFailed as error:  # the game is shown without
            log.warning("dashboard.guesses_off", reason=str(error))
        self._stop.set()

    def _questions(self) -> Iterator[HandQuestion | Later]:
        while not self._stop.is_set():
            newest: HandQuestion | None = None
            with contextlib.suppress(queue.Empty):
                while True:
                    newest = self._waiting.get_nowait()
            yield newest or LATER


def guesser(count: int) -> Work[HandQuestion, HandsGuessed]:
    """Load the models of hands in this process; return the function that answers a question.

    Args:
        count: hands of each opponent, by each model.
    """
    step_back()
    find = load_finder(count)

    def guess(question: HandQuestion) -> list[HandsGuessed]:
        (hands,) = find(np.array([question.record]), question.player)
        return [HandsGuessed(question.game_id, question.round, question.event, hands)]

    return guess
