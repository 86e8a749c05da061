"""Decisions a good player would not argue about, one situation each; `test_cases` asks the heuristic.

We are player 0. A river is a run of tiles, ``*`` before the one thrown with riichi; ``own`` is what we drew
and threw so far. The allowed answers are action texts: ``"discard 5z"``, ``"riichi"``, ``"pon"``, ``"pass"``.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from game.settlement import GameLength
from tests.scene import Scene

EVEN = (25000, 25000, 25000, 25000)


@dataclass(frozen=True)
class Case:
    """One situation: the deal, the rivers, and either our draw or the tile somebody throws to us."""

    name: str
    why: str
    allowed: tuple[str, ...]
    hand: str
    draw: str = ""
    thrown: str = ""
    dora: str = "1z"
    round_index: int = 0
    scores: tuple[int, int, int, int] = EVEN
    own: str = ""
    rivers: dict[int, str] = field(default_factory=dict)
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
        return scene.draw(self.draw) if self.draw else scene.turn(self.thrown)


def _tiles(text: str) -> list[str]:
    tiles = []
    while text:
        size = 3 if text[0] == "*" else 2
        tiles.append(text[:size])
        text = text[size:]
    return tiles


CASES = (
    # --- building a hand ---
    Case(
        "guest wind first",
        "a lone wind that counts for nobody goes before anything that can still grow",
        ("discard 3z",),
        "2456m34789p567s3z", draw="6p",
    ),
    Case(
        "too many shapes",
        "with two open shapes and a pair the edge wait goes",
        ("discard 9s", "discard 8s"),
        "3467m22345p5689s", draw="7s",
    ),
    Case(
        "seven pairs",
        "five pairs and no runs: a lone tile goes, no pair is broken",
        ("discard 1p", "discard 4s", "discard 9p", "discard 7z"),
        "2288m1559p4s3366z", draw="7z",
    ),
    Case(
        "flush",
        "eleven tiles of one suit and honours: the other suits go",
        ("discard 4m", "discard 7s"),
        "4m1245678p7s2266z", draw="3p", dora="9m",
    ),
    Case(
        "thirteen orphans go on",
        "eleven kinds are worth more than a fresh deal",
        ("discard 5p", "discard 5m", "discard 5s"),
        "19m19p19s12345z5p5m", draw="5s",
    ),
    Case(
        "nine terminals",
        "nine kinds and nothing else: the round is called off",
        ("nine_terminals",),
        "129m159p147s1234z", draw="4p",
    ),
    # --- riichi ---
    Case(
        "open wait",
        "an early open wait is declared",
        ("riichi",),
        "234567m345p22s67s", draw="9m",
    ),
    Case(
        "leader in the last round",
        "any win ends it and the hand is worth 7,700 as it is: no stick, no warning",
        ("discard 9m",),
        "234567m345p22s67s", draw="9m", dora="1s", round_index=7, scores=(32000, 29000, 21000, 18000),
        own="9p1p9p1z", rivers={3: "1p9s2z3z6z", 1: "9m1m4z5z", 2: "9s1s4z5z"},
    ),
    Case(
        "fourth in the last round",
        "a silent 1,000 changes nothing: declare",
        ("riichi",),
        "234567m345p99s67s", draw="9m", round_index=7, scores=(14000, 34000, 32000, 20000),
        rivers={3: "1p"},
    ),
    # --- calls ---
    Case(
        "dragons with two dora",
        "a value triplet with two dora is a quick 3,900",
        ("pon",),
        "340m67p23499s155z", thrown="5z", dora="4m", own="9p", rivers={1: "1m", 2: "9m"},
    ),
    Case(
        "no call into a hand without a yaku",
        "a terminal hand without a value triplet needs riichi",
        ("pass",),
        "1235m34789p4699s", thrown="5s", own="9p", rivers={1: "1m", 2: "9m"},
    ),
    Case(
        "tenpai before the wall runs out",
        "the last chance to be tenpai: a yaku is not needed for that",
        ("chi",),
        "1235m34789p4699s", thrown="5s", own="9p", rivers={1: "1m", 2: "9m"}, wall_left=3,
    ),
    Case(
        "first in the last round",
        "a quick cheap win keeps first place",
        ("pon",),
        "340m67p23499s155z", thrown="5z", round_index=7, scores=(32000, 30000, 20000, 18000),
        own="9p", rivers={3: "2z", 1: "1m", 2: "9m"},
    ),
    # --- kan ---
    Case(
        "closed kan",
        "it costs the hand nothing and nobody threatens",
        ("ankan",),
        "9999m234567p267s", draw="2s",
    ),
    Case(
        "no kan for the others",
        "far from a win and facing riichi a kan only makes the riichi dearer",
        ("discard 1z", "discard 4z", "discard 6z"),
        "9999m12458p37s14z", draw="6z", own="8s", rivers={1: "9p", 2: "2z", 3: "*5m"},
    ),
    # --- push and fold ---
    Case(
        "fold",
        "three away and facing riichi: what he threw himself",
        ("discard 5z", "discard 2z", "discard 7z"),
        "1358m2469p147s25z", draw="7m", own="3z3z4z",
        rivers={1: "2z8m*5z", 2: "9m1m7z", 3: "9m1m7z"},
    ),
    Case(
        "push",
        "a mangan waiting on both sides goes on against one riichi",
        ("riichi", "discard 4m"),
        "067m34588p34067s", draw="4m", own="3z3z4z",
        rivers={1: "2z8m*5z", 2: "9m1m7z", 3: "9m1m7z"},
    ),
    Case(
        "cheap and far",
        "a cheap hand two away does not pay for a live tile of the middle",
        ("discard 1p", "discard 9m", "discard 5z"),
        "2246m57799p1345s", draw="5z", own="3z3z4z",
        rivers={1: "2z8m*5z", 2: "9m1m7z", 3: "9m1m1p"},
    ),
)  # fmt: skip
