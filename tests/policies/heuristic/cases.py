"""Decisions a good player would agree with, one situation each; `test_cases` puts them to the heuristic.

We are player 0. A river is a sequence of tiles, ``*`` before the riichi discard; ``own`` lists our draws and
discards so far. The allowed answers are action texts: ``"discard 5z"``, ``"riichi"``, ``"pon"``, ``"pass"``.
"""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass, field
from pathlib import Path

import msgspec

from game.scoring.settlement import GameLength
from tests.scene import Scene

EVEN = (25000, 25000, 25000, 25000)


@dataclass(frozen=True)
class Case:
    """One situation: the deal, the rivers, and either our draw or another player's discard."""

    name: str
    why: str
    allowed: tuple[str, ...]
    hand: str
    draw: str = ""
    discarded: str = ""
    dora: str = "1z"
    round_index: int = 0
    scores: tuple[int, int, int, int] = EVEN
    own: str = ""
    rivers: dict[int, str] = field(default_factory=dict)
    source: str = ""
    """The source record, its round and our discards so far; seats rotated so that we are player 0."""
    length: GameLength = "hanchan"
    wall_left: int = -1

    def scene(self) -> Scene:
        """The round up to the moment of the decision."""
        scene = Scene(self.hand, dora=self.dora, round_index=self.round_index, scores=self.scores)
        queues = {player: _tiles(self.rivers.get(player, "")) for player in (1, 2, 3)}
        queues[0] = _tiles(self.own)
        player = self.round_index % 4
        while queues[player]:
            text = queues[player].pop(0)
            if player == 0:
                scene.own(text, text)
            elif text.startswith("*"):
                scene.draw().riichi(text[1:])
            else:
                scene.turn(text)
            player = (player + 1) % 4
        assert not any(queues.values()), f"{self.name}: the rivers do not fit"
        if self.wall_left >= 0:
            scene.record["wall_left"] = self.wall_left
        return scene.draw(self.draw) if self.draw else scene.turn(self.discarded)


def _tiles(text: str) -> list[str]:
    return re.findall(r"\*?..", text)


CASES = msgspec.convert(
    tomllib.loads(Path(__file__).with_name("cases.toml").read_text("utf-8"))["case"],
    list[Case],
    str_keys=True,
)
