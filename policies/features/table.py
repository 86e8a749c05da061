"""The feature sets: which planes a network sees, in which order, and what each group of them holds.

The one place this is said. The encoder takes its offsets from here, `docs/features.md` is printed from here
(`python -m policies.features.document`), and a checkpoint names the set it was trained on.
"""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Collection
from enum import Enum
from typing import Any, Final

import msgspec

LITE: Final = "lite-239/1"
LITE_CALL: Final = "lite-287/1"
SUPHX: Final = "suphx-838/1"
SUPHX_CALL: Final = "suphx-958/1"
ORACLE: Final = "oracle/1"

KINDS: Final = 34
ONE: Final = 255
"""How a plane stores 1.0; planes are uint8 and the network divides by this."""

MELD_SLOTS: Final = 4
DISCARD_TURNS: Final = 30
LITE_DISCARDS: Final = 4
ORACLE_DRAWS: Final = 20

DEEP_PLANES: Final = 72
"""LA1 and LA2 together; they stand side by side, before LA3."""


class Axis(Enum):
    """How a group's planes move when tiles are renamed (suits exchanged, 1 and 9 mirrored).

    Attributes:
        TILES: each plane is gathered along its 34 kinds; planes with one value all along do not change.
        SUITS: the planes are one for each suit, in the order m, p, s; they change places with the suits.
        INDICATORS: as TILES, but mirrored so that the indicators still show the mirrored dora.
    """

    TILES = "tiles"
    SUITS = "suits"
    INDICATORS = "indicators"


class Group(msgspec.Struct, frozen=True, kw_only=True):
    """Planes that are filled together.

    Attributes:
        id: unique within a set; the letter is that of the reconstruction of Suphx's planes.
        planes: how many.
        content: what they hold.
        real: whether some value lies between 0 and 1.
        axis: how they move when tiles are renamed.
        mirrors: whether encoding a mirrored state gives the mirrored planes. Exchanging suits always does.
    """

    id: str
    planes: int
    content: str
    real: bool = False
    axis: Axis = Axis.TILES
    mirrors: bool = True


class FeatureSet(msgspec.Struct, frozen=True):
    """A named, versioned stack of planes.

    Attributes:
        name: with the version; it changes when any plane does.
        purpose: for which networks.
        groups: in the order of their planes.
    """

    name: str
    purpose: str
    groups: tuple[Group, ...]

    @property
    def planes(self) -> int:
        """How many planes in all."""
        return sum(group.planes for group in self.groups)

    def at(self, group_id: str) -> int:
        """The first plane of a group.

        Raises:
            KeyError: the set has no such group.
        """
        start = 0
        for group in self.groups:
            if group.id == group_id:
                return start
            start += group.planes
        raise KeyError(f"{self.name} has no group {group_id}")

    def planes_of(self, group_ids: Collection[str]) -> list[int]:
        """The planes of some groups, ascending."""
        return [
            plane
            for group in self.groups
            if group.id in group_ids
            for plane in range(self.at(group.id), self.at(group.id) + group.planes)
        ]

    @property
    def of_calls(self) -> bool:
        """Whether a row is a candidate meld, so that `encode` needs ``calls``."""
        return self.name in (LITE_CALL, SUPHX_CALL)

    def has(self, group_id: str) -> bool:
        """Whether the set has this group."""
        return any(group.id == group_id for group in self.groups)


_HAND: Final = (
    Group(id="A1", planes=4, content="own concealed tiles: at least 1, 2, 3, all 4 copies"),
    Group(id="A2", planes=3, content="red 5m, 5p, 5s in the concealed hand", axis=Axis.SUITS),
    Group(id="A3", planes=1, content="the tile just drawn; empty in call decisions and after a call"),
)

_SUMMARY: Final = (
    Group(
        id="E",
        planes=36,
        content="discards in sum, 9 for each seat: at least 1–4 copies thrown, called-away ones included; "
        "any from the hand; any just drawn; the riichi tile; called-away tiles; the red five thrown",
    ),
    Group(
        id="F",
        planes=12,
        content="recency, 3 for each seat: sum of exp(−0.2·age) over all discards of a kind, over those from "
        "the hand, over those at or after riichi; age in that seat's own discards, 0 the newest; each term "
        "is rounded to 1/255, the sum cut at 1",
        real=True,
    ),
)

_SAFETY: Final = (
    Group(
        id="G",
        planes=20,
        content="safety, 6 for each opponent, 1 to 3: his own discards; kinds nobody won on since his riichi "
        "was accepted, or that he threw (empty without riichi); kinds passed by him since his last discard; "
        "suji of the first two together (for 4–6 both sides); half suji (4–6, exactly one side); suji of his "
        "riichi tile. Then no-chance: every two-sided wait on the kind lacks a tile all of whose copies I "
        "see; one-chance: every one lacks it or comes down to a last copy, and not all lack it",
    ),
    Group(id="H", planes=4, content="copies I cannot see: at least 1, 2, 3, all 4"),
)

_RANK: Final = Group(
    id="I3", planes=4, content="my place now, 1 to 4; among equals the earlier seat of East 1 is ahead"
)

_ROUND: Final = Group(
    id="J",
    planes=29,
    content="round wind E, S, W (3); number of the hand 1–4 (4); own wind (4); dealer's seat, 0 me (4); "
    "honba 0–4, 5 and more (6); riichi sticks lying there 0–4, 5 and more (6); the round wind's tile; the "
    "own wind's tile",
)

_SHAPE_MASKS: Final = (
    "my waits before the drawn tile (empty after chi or pon); I am furiten, temporarily or not; tiles that "
    "lower the shanten, unseen ones only (with 3n+2 tiles: after any discard that keeps it); legal discards; "
    "discards forbidden by swap-calling, held or not; discards that allow riichi"
)

_EFFICIENCY: Final = (
    Group(
        id="LA3a",
        planes=3,
        content="shanten at the position: the least of all positions; one more; worse still",
    ),
    Group(
        id="LA3b",
        planes=8,
        content="accepted copies (unseen copies of the kinds that lower the shanten) at least 1, 4, 8, 12, "
        "16, 20, 28, 40",
    ),
    Group(id="LA3c", planes=4, content="accepted kinds with an unseen copy at least 1, 2, 4, 8"),
    Group(
        id="LA3d",
        planes=4,
        content="one away from ready and at the least shanten: share of the accepted copies that lead to a "
        "wait of 5 copies or more, at least ¼, ½, ¾, 1. With 3n+1 tiles only where the tile drawn does not "
        "help, so that the position is the hand as it stands",
    ),
    Group(id="LA3e", planes=4, content="P(ready) with 3, 6, 9 and all my remaining draws", real=True),
    Group(id="LA3f", planes=4, content="P(win by own draws) with 3, 6, 9 and all remaining draws", real=True),
    Group(
        id="LA3g",
        planes=4,
        content="√(P(win) · value / 32,000), cut at 1, with 3, 6, 9 and all remaining draws",
        real=True,
        mirrors=False,
    ),
    Group(
        id="LA3h",
        planes=5,
        content="1/(1+n), n the tiles missing to a complete hand of this kind, 0 where it is out of reach: "
        "all simples; with a value triplet; one suit, with or without honours; triplets, or seven pairs; "
        "closed, with riichi",
        real=True,
    ),
)

_DEEP: Final = (
    Group(
        id="LA1",
        planes=36,
        content="1, 2, 3 tiles to replace × worth at least 1, 2, 3, 4, 5, 6, 8, 10, 12, 16, 24, 32 thousand: "
        "whether some winning hand with a yaku is reached by exactly so many tiles that are still there",
        mirrors=False,
    ),
    Group(
        id="LA2",
        planes=36,
        content="the same grid: expected number of completions p by my own draws, as 1 + log10(p)/6 cut to "
        "0–1",
        real=True,
        mirrors=False,
    ),
)

_LITE_GROUPS: Final = (
    *_HAND,
    Group(
        id="B",
        planes=24,
        content="melds, 6 for each seat: tiles of all melds, at least 1–4 copies; called tiles; red fives",
    ),
    Group(id="C1", planes=4, content="dora indicators, 1–4 copies", axis=Axis.INDICATORS, mirrors=False),
    Group(id="C2", planes=4, content="dora by indicators, 1–4 times", mirrors=False),
    *_SUMMARY,
    Group(id="D", planes=16, content="last four discards of each seat, newest first"),
    *_SAFETY,
    Group(
        id="I1",
        planes=8,
        content="scores of seats 0 to 3 over 50,000, then over 25,000, cut to 0–1",
        real=True,
    ),
    Group(
        id="I2",
        planes=3,
        content="my score less that of seats 1 to 3, over 50,000, plus ½, cut to 0–1",
        real=True,
    ),
    _RANK,
    _ROUND,
    Group(
        id="K",
        planes=7,
        content="tiles left to draw over 70; then 0–11, 12–23, 24–35, 36–47, 48–59, 60 and more left",
        real=True,
    ),
    Group(
        id="L",
        planes=12,
        content="riichi, 3 for each seat: declared; one-shot alive; turn of the declaration over 18, cut "
        "at 1",
        real=True,
    ),
    Group(
        id="N", planes=12, content=f"shanten over all forms, 0 and complete to 5 and more (6); {_SHAPE_MASKS}"
    ),
    *_EFFICIENCY,
)

_SUPHX_GROUPS: Final = (
    *_HAND,
    Group(
        id="B",
        planes=96,
        content="melds in order of call, 6 for each of 4 seats × 4 slots: its tiles, at least 1–4 copies; "
        "the called tile; the red five in it",
    ),
    Group(id="C1", planes=4, content="dora indicators, 1–4 copies", axis=Axis.INDICATORS, mirrors=False),
    Group(id="C2", planes=4, content="dora by indicators, 1–4 times", mirrors=False),
    Group(id="C3", planes=5, content="number of indicators shown, 1 to 5"),
    Group(
        id="D",
        planes=240,
        content="discards, 2 for each of 4 seats × 30 turns, oldest first: the tile; the same if it came "
        "from the hand",
    ),
    *_SUMMARY,
    *_SAFETY,
    Group(
        id="I1",
        planes=96,
        content="scores, 24 for each seat: 2,000 wide up to 40,000 (below 0 counts as the lowest), then to "
        "45, 50, 60 thousand, and more",
    ),
    Group(
        id="I2",
        planes=48,
        content="my score less an opponent's, 16 for each: at or above 0, then below it; each from 0, 1, 2, "
        "4, 8, 12, 16, 24 thousand up",
    ),
    _RANK,
    _ROUND,
    Group(id="K", planes=18, content="tiles left to draw, ⌊left/4⌋ = 0 to 17"),
    Group(
        id="L",
        planes=20,
        content="riichi, 5 for each seat: declared; declared in turns 1–6, 7–12, 13 and later; "
        "one-shot alive",
    ),
    Group(id="M", planes=4, content="hand closed, for each seat"),
    Group(
        id="N",
        planes=20,
        content="shanten towards sets and a pair, 0 and complete to 6 and more (7); towards seven pairs, the "
        f"same (7; empty with melds); {_SHAPE_MASKS}",
    ),
    Group(
        id="O",
        planes=36,
        content="turn of each opponent's calls and kans, 3 for each of 3 seats × 4 slots: 1–6, 7–12, 13 and "
        "later",
    ),
    Group(
        id="P",
        planes=20,
        content="dora and red fives in sight, at least 1–5 for each seat: mine with the concealed hand, "
        "others' in melds",
        mirrors=False,
    ),
    Group(
        id="Q",
        planes=6,
        content="last hand of the game or later; sudden death; dealer in the last hand or later and in first "
        "place; first turn, nobody having called; nine terminals may be shown; no draw left for me",
    ),
    *_DEEP,
    *_EFFICIENCY,
)


def _after_call(group: Group) -> Group:
    return msgspec.structs.replace(group, id=f"{group.id}'", content=f"after the call: {group.content}")


_CANDIDATE: Final = (
    Group(id="R1", planes=4, content="tiles of the completed meld, at least 1–4 copies"),
    Group(id="R2", planes=1, content="the called or added tile; empty for a closed kan"),
    Group(id="R3", planes=1, content="a red five from my hand goes into it, at its tile"),
    Group(id="R4", planes=3, content="who discarded it, seats 1 to 3; empty for closed and added kans"),
    Group(id="R5", planes=3, content="chi; pon; any kan"),
)

_ORACLE_GROUPS: Final = (
    *(
        group
        for seat in (1, 2, 3)
        for group in (
            Group(id=f"hand{seat}", planes=4, content=f"concealed tiles of seat {seat}, at least 1–4 copies"),
            Group(id=f"red{seat}", planes=3, content="red 5m, 5p, 5s in it", axis=Axis.SUITS),
            Group(id=f"waits{seat}", planes=1, content="kinds it waits on"),
            Group(id=f"shanten{seat}", planes=4, content="its shanten over all forms: 0, 1, 2, 3 and more"),
        )
    ),
    Group(
        id="wall", planes=ORACLE_DRAWS, content="the next 20 tiles to be drawn from the live wall, in order"
    ),
    Group(id="left", planes=4, content="all tiles left in the live wall, at least 1–4 copies"),
    Group(
        id="ura",
        planes=4,
        content="dora by the indicators under those shown, 1–4 times",
        mirrors=False,
    ),
)

SETS: Final = {
    each.name: each
    for each in (
        FeatureSet(LITE, "small networks: discard and riichi", _LITE_GROUPS),
        FeatureSet(
            LITE_CALL,
            "small networks: chi, pon and kan, one row for each candidate meld",
            (*_LITE_GROUPS, *_CANDIDATE, *map(_after_call, _EFFICIENCY)),
        ),
        FeatureSet(SUPHX, "discard and riichi", _SUPHX_GROUPS),
        FeatureSet(
            SUPHX_CALL,
            "chi, pon and kan, one row for each candidate meld",
            (*_SUPHX_GROUPS, *_CANDIDATE, *map(_after_call, (*_DEEP, *_EFFICIENCY))),
        ),
        FeatureSet(ORACLE, "what a seat cannot see; training only, beside another set", _ORACLE_GROUPS),
    )
}
"""Every feature set by its name."""


def looks_deep(name: str, without: Collection[str] = ()) -> bool:
    """Whether a network on a set looks at LA1 or LA2, so that these have to be searched for.

    Args:
        name: of the set.
        without: groups of it that the network does not look at.
    """
    return any(group.id[:3] in ("LA1", "LA2") and group.id not in without for group in SETS[name].groups)


def offsets(name: str) -> Any:
    """First planes of a set's groups as a named tuple, which kernels can read.

    A prime in a group's id is a final ``_after``: ``offsets("suphx-958/1").LA3a_after``.
    """
    groups = SETS[name].groups
    kind = namedtuple("Offsets", [group.id.replace("'", "_after") for group in groups])  # type: ignore[misc]
    return kind(*(SETS[name].at(group.id) for group in groups))
