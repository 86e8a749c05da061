"""What the policy would do in a person's place."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable

from bot.player.worker import WorkerThread
from game.observation import Observation
from policies.flow.slots import Policy
from policies.play.decision import decide
from replays.record import DecisionRecord


class Advisor:
    """Asks a policy about positions, on a thread of its own.

    Args:
        policy: the policy.

    Attributes:
        worker: the thread.
    """

    def __init__(self, policy: Policy) -> None:
        self._policy = policy
        self.worker = WorkerThread("advice")

    def ask(self, observation: Observation, then: Callable[[DecisionRecord], None]) -> None:
        """Ask about a position, which must not change any more.

        Args:
            observation: what the person sees, and may do.
            then: called with the decision, on the running loop.
        """
        future = self.worker.submit(lambda: _decided(observation, self._policy))

        def done(asked: asyncio.Future[DecisionRecord]) -> None:
            if not asked.cancelled() and asked.exception() is None:
                then(asked.result())

        future.add_done_callback(done)

    def close(self) -> None:
        """Let the thread end."""
        self.worker.close()


def _decided(observation: Observation, policy: Policy) -> DecisionRecord:
    record = observation.record
    return DecisionRecord(
        time=time.time(),
        round_index=int(record["round_index"]),
        honba=int(record["honba"]),
        turn=int(record["discard_count"]),
        player=observation.player,
        decision=decide(observation, policy),
    )
