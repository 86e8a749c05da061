"""A seat player with its surroundings, and policies scripted by a test."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any

from bot.player.decision_maker import SeatPrompt
from bot.player.seat_player import Improver, PlayerSettings, SeatPlayer
from game.actions import Action
from game.state import clone
from policies.flow.decisions import Source
from policies.flow.slots import Policy, Question, Slot
from tests.bot.fake_clock import FakeClock, until
from tests.scene import Scene


class Stub:
    """A policy with even probabilities that first runs a function of the test."""

    source: Source = "model"

    def __init__(self, act: Any = None) -> None:
        self.asked = 0
        self.act = act

    def answer(self, slot: Slot, questions: Sequence[Question]) -> list[list[float]]:
        self.asked += 1
        if self.act is not None:
            changed = self.act(questions)
            if changed is not None:
                return changed  # type: ignore[no-any-return]
        return [self.even(slot, q) for q in questions]

    @staticmethod
    def even(slot: Slot, question: Question) -> list[float]:
        count = len(question.options)
        return [1.0 / count] * count if slot is Slot.DISCARD else [0.1] * count


class Bench:
    """A seat player with its surroundings."""

    def __init__(
        self,
        policy: Policy | None = None,
        *,
        clock: FakeClock | None = None,
        thoughts: Improver | None = None,
        **settings: Any,
    ) -> None:
        self.clock = clock or FakeClock()
        self.loads = 0
        self.policy = policy or Stub()
        self.replies: list[tuple[int, Action]] = []
        self.prompts = 0
        self.player = SeatPlayer(
            self.load,
            PlayerSettings(**settings),
            self.clock,
            random.Random(1),
            date=lambda: 1e9,
            thoughts=thoughts,
        )
        self.player.begin_game("g")

    def load(self) -> Policy:
        self.loads += 1
        return self.policy

    def reply(self, prompt_id: int, action: Action) -> None:
        self.replies.append((prompt_id, action))

    def ask(self, scene: Scene | None = None) -> SeatPrompt:
        scene = scene or Scene("123m456p789s112z5m").draw("9p")
        self.prompts += 1
        prompt = SeatPrompt(
            clone(scene.record),
            0,
            tuple(scene.legal()),
            "hanchan",
            prompt_id=self.prompts,
            opened_at=self.clock.now(),
        )
        self.player.ask(prompt, self.reply)
        return prompt

    async def answered(self, count: int | None = None) -> tuple[int, Action]:
        wanted = count or self.prompts
        await until(lambda: len(self.replies) >= wanted)
        return self.replies[-1]


def claim_scene() -> Scene:
    return Scene("11m456p789s1122z5m").draw("9p").discard("9p").turn("1m")
