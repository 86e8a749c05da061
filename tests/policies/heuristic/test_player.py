"""The heuristic over whole games: always legal, deterministic, and using only what its player sees."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

import numpy as np
import pytest
from msgspec.structs import replace

from game.actions import Action, ActionKind
from game.events import StartGame
from game.scoring.settlement import placements
from game.table.restore import seen_by
from game.table.table import Table
from game.tiles import RED_FIVES
from policies.flow.decisions import Decision
from policies.heuristic.player import HeuristicPolicy
from policies.play.decide import decide
from tests.scale import scaled


def play(seed: int, players: set[int]) -> Iterator[tuple[Table, int, list[Action], Decision | None]]:
    """One tonpuu game, with the heuristic as some players and random legal actions as the others."""
    table = Table(seed, length="tonpuu")
    policy, rng = HeuristicPolicy(), np.random.default_rng(seed)
    while not table.done:
        answers = {}
        for player in table.waiting():
            legal = table.legal(player)
            if player in players:
                decision = decide(table.observe(player), policy)
                yield table, player, legal, decision
                answers[player] = decision.action
            else:
                answers[player] = legal[int(rng.integers(len(legal)))]
        table.step(answers)


@pytest.mark.parametrize("seed", [1, 2])
def test_every_answer_is_legal_and_none_is_a_fallback(seed: int) -> None:
    steps = set()
    for _, _, legal, decision in play(seed, {0, 2}):
        assert decision.action in legal
        assert decision.source == "rule"
        assert {option.action for option in decision.options} == set(legal)
        steps.add(decision.step)
        if decision.step == "discard" and decision.action.tile in RED_FIVES:
            kind = decision.action.tile >> 2
            assert sum(a.kind is ActionKind.DISCARD and a.tile >> 2 == kind for a in legal) == 1
    assert {"discard", "call", "forced"} <= steps


def test_the_answer_depends_only_on_what_the_player_sees() -> None:
    for number, (table, player, _, decision) in enumerate(islice(play(3, {0, 1, 2, 3}), scaled(120, 10_000))):
        if number % scaled(9, 3):
            continue
        seen = seen_by(table.state, player)
        before = seen.tobytes()
        again = decide(replace(table.observe(player), record=seen), HeuristicPolicy())
        assert again.options == decision.options
        assert seen.tobytes() == before


def test_it_beats_chance() -> None:
    table = None
    for table, *_ in play(7, {1}):
        assert not isinstance(table.events[-1], StartGame)
    assert placements(table.scores)[1] == 1
