"""Decisions a good player would agree with, one situation each; `test_cases` puts them to the heuristic.

We are player 0. A river is a sequence of tiles, ``*`` before the riichi discard; ``own`` lists our draws and
discards so far. The allowed answers are action texts: ``"discard 5z"``, ``"riichi"``, ``"pon"``, ``"pass"``.
"""

from __future__ import annotations

from dataclasses import dataclass, field

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
        "an isolated guest wind goes before any tile that can still improve the hand",
        ("discard 3z",),
        "2456m34789p567s3z", draw="6p",
    ),
    Case(
        "too many shapes",
        "with two open shapes and a pair, discard the edge wait",
        ("discard 9s", "discard 8s"),
        "3467m22345p5689s", draw="7s",
    ),
    Case(
        "seven pairs",
        "five pairs and no sequences: discard an isolated tile, break no pair",
        ("discard 1p", "discard 4s", "discard 9p", "discard 7z"),
        "2288m1559p4s3366z", draw="7z",
    ),
    Case(
        "flush",
        "eleven tiles of one suit and honours: discard the other suits",
        ("discard 4m", "discard 7s"),
        "4m1245678p7s2266z", draw="3p", dora="9m",
    ),
    Case(
        "thirteen orphans go on",
        "eleven kinds are worth more than a new deal",
        ("discard 5p", "discard 5m", "discard 5s"),
        "19m19p19s12345z5p5m", draw="5s",
    ),
    Case(
        "nine terminals",
        "nine kinds and nothing else: abort the round",
        ("nine_terminals",),
        "129m159p147s1234z", draw="4p",
    ),
    # --- riichi ---
    Case(
        "open wait",
        "declare riichi on an early open wait",
        ("riichi",),
        "234567m345p22s67s", draw="9m",
    ),
    Case(
        "leader in the last round",
        "any win ends the game and the hand is worth 7,700 without riichi: no stick, no warning",
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
        "340m67p23499s155z", discarded="5z", dora="4m", own="9p", rivers={1: "1m", 2: "9m"},
    ),
    Case(
        "no call into a hand without a yaku",
        "a terminal hand without a value triplet needs riichi",
        ("pass",),
        "1235m34789p4699s", discarded="5s", own="9p", rivers={1: "1m", 2: "9m"},
    ),
    Case(
        "tenpai before the wall runs out",
        "the last chance to be tenpai, which needs no yaku",
        ("chi",),
        "1235m34789p4699s", discarded="5s", own="9p", rivers={1: "1m", 2: "9m"}, wall_left=3,
    ),
    Case(
        "first in the last round",
        "a quick cheap win keeps first place",
        ("pon",),
        "340m67p23499s155z", discarded="5z", round_index=7, scores=(32000, 30000, 20000, 18000),
        own="9p", rivers={3: "2z", 1: "1m", 2: "9m"},
    ),
    # --- kan ---
    Case(
        "closed kan",
        "it costs the hand nothing and there is no threat",
        ("ankan",),
        "9999m234567p267s", draw="2s",
    ),
    Case(
        "no kan for the others",
        "far from a win and facing riichi, a kan only makes the riichi more expensive",
        ("discard 1z", "discard 4z", "discard 6z"),
        "9999m12458p37s14z", draw="6z", own="8s", rivers={1: "9p", 2: "2z", 3: "*5m"},
    ),
    # --- push and fold ---
    Case(
        "fold",
        "three away and facing riichi: discard what the riichi player discarded",
        ("discard 5z", "discard 2z", "discard 7z"),
        "1358m2469p147s25z", draw="7m", own="3z3z4z",
        rivers={1: "2z8m*5z", 2: "9m1m7z", 3: "9m1m7z"},
    ),
    Case(
        "push",
        "a mangan with a two-sided wait plays on against one riichi",
        ("riichi", "discard 4m"),
        "067m34588p34067s", draw="4m", own="3z3z4z",
        rivers={1: "2z8m*5z", 2: "9m1m7z", 3: "9m1m7z"},
    ),
    Case(
        "cheap and far",
        "a cheap hand two away is not worth a live middle tile",
        ("discard 1p", "discard 9m", "discard 5z"),
        "2246m57799p1345s", draw="5z", own="3z3z4z",
        rivers={1: "2z8m*5z", 2: "9m1m7z", 3: "9m1m1p"},
    ),
    # --- from recorded games of the Phoenix room: what was done there, and what is as good ---
    Case(
        "edge of a finished suit",
        "one away with two open shapes and both red fives: discard the isolated terminal",
        ("discard 9m",),
        "12306679m220p78s", draw="9s", dora="7m", round_index=1, scores=(22000, 28000, 25000, 25000),
        own="5z9p", rivers={1: "4z1m6z", 2: "1m5z6z", 3: "1s9p3z"},
        source="2009030821gm-00e1-0000-d13164c5, E2, 2",
    ),
    Case(
        "chi behind a riichi",
        "tenpai with a value triplet, late, against one riichi",
        ("chi",),
        "23m6899p4446s111z", discarded="4m", dora="3m", scores=(19800, 28200, 24000, 28000),
        own="3z8m7z1s6z2s3s7z2s2p8s",
        rivers={1: "3z2z2z1m4z7z8s5p5p0s4m", 2: "8s3s1m5s4z*4m0p5m8p4z3p", 3: "9s7z5z6s3m1m5p5m3s2s"},
        source="2009031023gm-00e1-0000-73a42ae2, E2, 11",
    ),
    Case(
        "dragon passed with a slow hand",
        "three away without a dora: better to stay closed",
        ("pass",),
        "79m57p67778s1677z", discarded="7z", dora="8s", round_index=3, scores=(15400, 33400, 28300, 22900),
        own="4z3z1m", rivers={1: "1m1s2z", 2: "2z9p", 3: "9p2z1s"},
        source="2010082207gm-00a9-0000-13f75e7f, E4, 3",
    ),
    Case(
        "riichi against riichi",
        "an open wait with red fives is worth chasing",
        ("riichi",),
        "3340m1567p24678s", draw="3s", dora="9p", round_index=1, scores=(16000, 25000, 24000, 35000),
        own="9m9s4z1m2z2z9p4z4p6z7m8p",
        rivers={1: "3z9p7z6z9s0p3s7z9m7p3p2p3p", 2: "4z9s1s2s2s6z2z5z5z1z9m*3p8m",
                3: "8p1m2m9m2p2m1s1m2p7z2m9s1z"},
        source="2009030922gm-00e1-0000-b2b60f0e, E2, 12",
    ),
    Case(
        "passed since the riichi",
        "no tile the riichi player discarded is left: what two others have just discarded is as safe",
        ("discard 3z",),
        "236677m46669p33z", draw="1p", dora="9m", round_index=2, scores=(42800, 13000, 21800, 22400),
        own="9m2p9m9s9s8p6z3z",
        rivers={1: "6z5z1z8s4z4z7s7z", 2: "4z6z7z*6s0p8s3z9s5s", 3: "6z5z2m5z9m4z1z2z2z"},
        source="2009031001gm-00e1-0000-07569f79, E4, 8",
    ),
    Case(
        "silent tenpai plays on",
        "against one riichi, a tenpai with a red five discards the honour just drawn",
        ("discard 6z",),
        "055789m11233p77z", draw="6z", dora="9s", round_index=2,
        own="4z5z3z1z6p3z3m3z8s",
        rivers={1: "5p6p5s5s6m7s2s8s3m", 2: "9s5z4z2m7p2p3s3s5z6s", 3: "5z3z4z2z1m8s*2s7m8p6m"},
        source="2010082207gm-00a9-0000-13f75e7f, E1, 9",
    ),
)  # fmt: skip
