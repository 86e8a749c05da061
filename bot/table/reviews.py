"""The policy's help to a person at the table: advice during a game, and a review as soon as it is over."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from typing import Any, Final, Literal

import msgspec
import structlog

from bot.logs.redaction import clean_text
from bot.player.worker import WorkerThread
from game.observation import Observation
from kit.errors import BotError
from policies.flow.slots import Policy
from policies.play.decide import decide
from replays.record import DecisionRecord, GameRecord
from replays.review.judging import look_further
from replays.review.report import Reviewer, as_json


class Advisor:
    """Asks a policy about positions, on a thread of its own.

    Args:
        policy: the policy.

    Attributes:
        worker: the thread.
    """

    def __init__(self, policy: Policy) -> None:
        self._policy = policy
        self._asked: asyncio.Future[DecisionRecord] | None = None
        self.worker = WorkerThread("advice")

    def ask(self, observation: Observation, then: Callable[[DecisionRecord], None]) -> None:
        """Ask about a position, which must not change any more; one that still waits is dropped.

        Args:
            observation: what the person sees, and may do.
            then: called with the decision, on the running loop.
        """
        if self._asked is not None:
            self._asked.cancel()
        self._asked = self.worker.submit(lambda: _decided(observation, self._policy))

        def done(asked: asyncio.Future[DecisionRecord]) -> None:
            if not asked.cancelled() and asked.exception() is None:
                then(asked.result())

        self._asked.add_done_callback(done)


def _decided(observation: Observation, policy: Policy) -> DecisionRecord:
    record = observation.record
    return DecisionRecord(
        time=time.time(),
        round_index=int(record["round_index"]),
        honba=int(record["honba"]),
        turn=int(record["discard_count"]),
        player=observation.player,
        decision=look_further(decide(observation, policy), observation, policy),
    )


KEPT: Final = 16
"""Reviews kept; each has one or two megabytes."""

log = structlog.get_logger(__name__)


class ReviewState(msgspec.Struct, frozen=True):
    """How far a review is.

    Attributes:
        state: being made, ready, or not possible.
        game_id: id of the game.
        reason: why it is not possible.
    """

    state: Literal["making", "ready", "failed"]
    game_id: str
    reason: str = ""


class TableReviews:
    """Reviews games one after another, on a thread of its own.

    Args:
        load: loads what reviews games; called once, before the first review.

    Attributes:
        worker: the thread.
    """

    def __init__(self, load: Callable[[], Reviewer]) -> None:
        self._load = load
        self._reviewer: Reviewer | None = None
        self.worker = WorkerThread("reviews")
        self._states: dict[tuple[str, str], ReviewState] = {}
        self._made: dict[tuple[str, str], bytes] = {}

    async def make(self, record: GameRecord, player: int, owner: str) -> None:
        """Review a game for one player.

        Args:
            record: the game.
            player: absolute.
            owner: who may see the review.
        """
        key = record.game_id, owner
        self._states[key] = ReviewState("making", record.game_id)
        while len(self._states) > KEPT:
            oldest = next(iter(self._states))
            del self._states[oldest]
            self._made.pop(oldest, None)
        try:
            self._made[key] = await self.worker.submit(lambda: self._review(record, player))
        except BotError as exc:
            reason = clean_text(str(exc))
            log.warning("review.failed", game_id=record.game_id, reason=reason)
            self._states[key] = ReviewState("failed", record.game_id, reason)
        except Exception as exc:  # task root: the table stays open without this review
            log.exception("review.failed", game_id=record.game_id)
            self._states[key] = ReviewState("failed", record.game_id, type(exc).__name__)
        else:
            self._states[key] = ReviewState("ready", record.game_id)

    def state(self, game_id: str, owner: str) -> dict[str, Any] | None:
        """How far a review is; None if it was not begun."""
        found = self._states.get((game_id, owner))
        return None if found is None else msgspec.to_builtins(found)

    def made(self, game_id: str, owner: str) -> bytes | None:
        """A review as JSON; None if it is not ready."""
        return self._made.get((game_id, owner))

    def _review(self, record: GameRecord, player: int) -> bytes:
        if self._reviewer is None:
            self._reviewer = self._load()
        return as_json(self._reviewer.review(record, player))
