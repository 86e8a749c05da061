"""Sampled hands of the opponents for the page, from a process of its own."""

from __future__ import annotations

from collections.abc import Callable

import msgspec
import numpy as np
import structlog

from bot.dashboard.feed import HandsGuessed
from kit.workers.child import STARTS, Child, Line
from replays.review.candidate_hands import load_finder

log = structlog.get_logger(__name__)


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
    """Samples hands for one decision after another; of those that wait only the newest.

    Args:
        count: hands of each opponent, by each model.
        put: called on a thread of its own with the hands.
    """

    def __init__(self, count: int, put: Callable[[HandsGuessed], None]) -> None:
        self._count, self._put = count, put
        self._child: Child[int] | None = None
        self._starts = 0

    def ask(self, question: HandQuestion) -> None:
        """Ask about a decision; returns at once. The process starts with the first."""
        if self._starts == 0:
            self._start()
        if self._child is not None:
            self._child.send(question)

    def close(self) -> None:
        """End the process."""
        child, self._child, self._starts = self._child, None, STARTS
        if child is not None:
            child.close()
            child.join()

    def _start(self) -> None:
        self._starts += 1
        try:
            self._child = Child(serve, self._count, self._heard, self._ended)
        except OSError as error:
            log.warning("dashboard.guesses_off", reason=f"the process cannot be started: {error}")

    def _heard(self, message: object) -> None:
        if isinstance(message, HandsGuessed):
            self._put(message)

    def _ended(self, reason: str) -> None:
        """Replace the process once; after that the game is shown without hands."""
        self._child = None
        if self._starts < STARTS:
            self._start()
        else:
            log.warning("dashboard.guesses_off", reason=reason)


def serve(line: Line, count: int) -> None:
    """Answer the newest question, again and again; the life of a `kit.workers.child.Child`.

    Args:
        line: to the program.
        count: hands of each opponent, by each model.
    """
    from policies.nets.device import use_one_torch_thread  # noqa: PLC0415 - in this process only

    use_one_torch_thread()
    find = load_finder(count)
    line.ready()
    while True:
        question: HandQuestion = line.hear(wait=True)[-1]
        (hands,) = find(np.array([question.record]), question.player)
        line.send(HandsGuessed(question.game_id, question.round, question.event, hands))
