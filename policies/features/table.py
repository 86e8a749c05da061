"""The feature sets: the planes a network sees, their order, and the content of each group.

This is the only definition. The encoder takes its offsets from it, `docs/features.md` is generated from it
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
GUIDED: Final = "guided-303/1"
CRITIC: Final = "critic-279/1"
HOSEI: Final = "suit-55/1"

KINDS: Final = 34
ONE: Final = 255
"""How a plane stores 1.0; planes are uint8 and the network divides by this."""

MELD_SLOTS: Final = 4
DISCARD_TURNS: Final = 30
LITE_DISCARDS: Final = 4
ORACLE_DRAWS: Final = 20

COPIES: Final = 4
"""Planes of a feature of the Hosei set: copies of a tile kind, from the left."""
GO_AROUNDS: Final = 4
"""Go-arounds that set looks back."""

DEEP_PLANES: Final = 72
"""LA1 and LA2 together; they are adjacent and precede LA3."""


class Axis(Enum):
    """How a group's planes move when tiles are permuted (suits exchanged, 1 and 9 mirrored).

    Attributes:
        TILES: each plane is gathered along its 34 kinds; constant planes do not change.
        SUITS: one plane for each suit, in the order m, p, s; the planes are exchanged with the suits.
        INDICATORS: as TILES, but mirrored such that the indicators show the mirrored dora.
    """

    TILES = "tiles"
    SUITS = "suits"
    INDICATORS = "indicators"


class Group(msgspec.Struct, frozen=True, kw_only=True):
    """Planes that are filled together.

    Attributes:
        id: unique within a set; the letter follows the reconstruction of Suphx's planes.
        planes: their number.
        content: their content, in words.
        real: whether values can lie between 0 and 1.
        axis: how they move when tiles are permuted.
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
        """Total number of planes."""
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
        """The planes of the given groups, in ascending order."""
        return [
            plane
            for group in self.groups
            if group.id in group_ids
            for plane in range(self.at(group.id), self.at(group.id) + group.planes)
        ]

    @property
    def of_calls(self) -> bool:
        """Whether a row is a candidate meld, so that `encode` needs ``calls``."""
        return set(_CANDIDATE) <= set(self.groups)

    def fits(self, *, calls: bool) -> bool:
        """Whether networks for calls, or for the other models, can use the set; Hosei's are all alike."""
        return self.name not in (ORACLE, GUIDED, CRITIC) and (self.name == HOSEI or self.of_calls == calls)

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
        content="summary of discards, 9 for each seat: at least 1–4 copies discarded, called-away ones "
        "included; any tedashi; any tsumogiri; the riichi tile; called-away tiles; a discarded red "
        "five",
    ),
    Group(
        id="F",
        planes=12,
        content="recency, 3 for each seat: sum of exp(−0.2·age) over all discards of a kind, over the "
        "tedashi, over those at or after riichi; age in that seat's own discards, 0 the newest; each "
        "term is rounded to 1/255, the sum capped at 1",
        real=True,
    ),
)

_SAFETY: Final = (
    Group(
        id="G",
        planes=20,
        content="safety, 6 for each opponent, 1 to 3: the opponent's discards; kinds no one has won on since "
        "this opponent's riichi was accepted, or that the opponent discarded (empty without riichi); "
        "kinds the opponent passed since the last own discard; suji of the first two together (for "
        "4–6 both sides); half suji (4–6, exactly one side); suji of the riichi tile. Then "
        "no-chance: every two-sided wait on the kind needs a tile of which I see all copies; "
        "one-chance: every one needs such a tile or one with a single unseen copy, and not all need "
        "such a tile",
    ),
    Group(id="H", planes=4, content="copies I cannot see: at least 1, 2, 3, all 4"),
)

_RANK: Final = Group(
    id="I3", planes=4, content="my current place, 1 to 4; ties go to the earlier dealer of the East round"
)

_ROUND: Final = Group(
    id="J",
    planes=29,
    content="round wind E, S, W (3); round number 1–4 (4); own wind (4); dealer's seat, 0 me (4); "
    "honba 0–4, 5 and more (6); riichi sticks on the table 0–4, 5 and more (6); the round wind's tile; the "
    "own wind's tile",
)

_SHAPE_MASKS: Final = (
    "my waits before the drawn tile (empty after chi or pon); I am furiten, temporarily or not; tiles that "
    "lower the shanten, unseen ones only (with 3n+2 tiles: after any discard that keeps it); legal discards; "
    "discards forbidden by kuikae, held or not; discards that allow riichi"
)

_EFFICIENCY: Final = (
    Group(
        id="LA3a",
        planes=3,
        content="shanten at the position: the lowest of all positions; one higher; higher still",
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
        content="at shanten 1 and at the lowest shanten: share of the accepted copies that lead to a "
        "wait of 5 copies or more, at least ¼, ½, ¾, 1. With 3n+1 tiles only if the tile drawn does not "
        "help, so that the position is the current hand",
    ),
    Group(id="LA3e", planes=4, content="P(tenpai) with 3, 6, 9 and all my remaining draws", real=True),
    Group(id="LA3f", planes=4, content="P(win by own draw) with 3, 6, 9 and all remaining draws", real=True),
    Group(
        id="LA3g",
        planes=4,
        content="√(P(win) · value / 32,000), capped at 1, with 3, 6, 9 and all remaining draws",
        real=True,
        mirrors=False,
    ),
    Group(
        id="LA3h",
        planes=5,
        content="1/(1+n), where n is the number of tiles missing for a complete hand of this kind; 0 if "
        "impossible: "
        "all simples; with a value triplet; one suit, with or without honours; triplets, or seven pairs; "
        "closed, with riichi",
        real=True,
    ),
)

_DEEP: Final = (
    Group(
        id="LA1",
        planes=36,
        content="1, 2, 3 tiles to replace × value at least 1, 2, 3, 4, 5, 6, 8, 10, 12, 16, 24, 32 thousand: "
        "whether replacing exactly this many tiles, all still available, gives a winning hand with a yaku",
        mirrors=False,
    ),
    Group(
        id="LA2",
        planes=36,
        content="the same grid: expected number of completions p by my own draws, as 1 + log10(p)/6 clipped "
        "to 0–1",
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
        content="scores of seats 0 to 3 divided by 50,000, then by 25,000, clipped to 0–1",
        real=True,
    ),
    Group(
        id="I2",
        planes=3,
        content="my score minus that of seats 1 to 3, divided by 50,000, plus ½, clipped to 0–1",
        real=True,
    ),
    _RANK,
    _ROUND,
    Group(
        id="K",
        planes=7,
        content="tiles left to draw divided by 70; then 0–11, 12–23, 24–35, 36–47, 48–59, 60 and more left",
        real=True,
    ),
    Group(
        id="L",
        planes=12,
        content="riichi, 3 for each seat: declared; ippatsu possible; turn of the declaration divided by "
        "18, capped at 1",
        real=True,
    ),
    Group(
        id="N",
        planes=12,
        content=f"shanten over all forms, from 0 or complete to 5 or more (6); {_SHAPE_MASKS}",
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
        content="discards, 2 for each of 4 seats × 30 turns, oldest first: the tile; the same if tedashi",
    ),
    *_SUMMARY,
    *_SAFETY,
    Group(
        id="I1",
        planes=96,
        content="scores, 24 for each seat: bins of 2,000 up to 40,000 (below 0 counts as the lowest), then "
        "up to 45, 50, 60 thousand, and more",
    ),
    Group(
        id="I2",
        planes=48,
        content="my score minus an opponent's, 16 for each: at or above 0, then below 0; bins start at 0, 1, "
        "2, 4, 8, 12, 16, 24 thousand",
    ),
    _RANK,
    _ROUND,
    Group(id="K", planes=18, content="tiles left to draw, ⌊left/4⌋ = 0 to 17"),
    Group(
        id="L",
        planes=20,
        content="riichi, 5 for each seat: declared; declared in turns 1–6, 7–12, 13 and later; "
        "ippatsu possible",
    ),
    Group(id="M", planes=4, content="hand closed, for each seat"),
    Group(
        id="N",
        planes=20,
        content="shanten for four sets and a pair, from 0 or complete to 6 or more (7); the same for seven "
        f"pairs (7; empty with melds); {_SHAPE_MASKS}",
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
        content="visible dora and red fives, at least 1–5 for each seat: mine including the concealed hand, "
        "opponents' in melds only",
        mirrors=False,
    ),
    Group(
        id="Q",
        planes=6,
        content="last round of the game or later; sudden death; dealer in the last round or later and in "
        "first place; first turn without calls; nine terminals may be declared; no draw left for me",
    ),
    *_DEEP,
    *_EFFICIENCY,
)


def _after_call(group: Group) -> Group:
    return msgspec.structs.replace(group, id=f"{group.id}'", content=f"after the call: {group.content}")


_CANDIDATE: Final = (
    Group(id="R1", planes=4, content="tiles of the completed meld, at least 1–4 copies"),
    Group(id="R2", planes=1, content="the called or added tile; empty for a closed kan"),
    Group(id="R3", planes=1, content="a red five from my hand is used, at its tile"),
    Group(id="R4", planes=3, content="the seat that discarded it, 1 to 3; empty for closed and added kans"),
    Group(id="R5", planes=3, content="chi; pon; any kan"),
)

_OTHER_HANDS: Final = tuple(
    group
    for seat in (1, 2, 3)
    for group in (
        Group(id=f"hand{seat}", planes=4, content=f"concealed tiles of seat {seat}, at least 1–4 copies"),
        Group(id=f"red{seat}", planes=3, content="red 5m, 5p, 5s in it", axis=Axis.SUITS),
        Group(id=f"waits{seat}", planes=1, content="kinds it waits on"),
        Group(id=f"shanten{seat}", planes=4, content="its shanten over all forms: 0, 1, 2, 3 and more"),
    )
)

_ORACLE_GROUPS: Final = (
    *_OTHER_HANDS,
    Group(
        id="wall", planes=ORACLE_DRAWS, content="the next 20 tiles to be drawn from the live wall, in order"
    ),
    Group(id="left", planes=4, content="all tiles left in the live wall, at least 1–4 copies"),
    Group(
        id="ura",
        planes=4,
        content="ura dora by indicators, 1–4 times",
        mirrors=False,
    ),
)


def _go_around(age: int) -> tuple[Group, ...]:
    """The features of the Hosei set that are repeated for earlier go-arounds; 0 is the present."""
    then = "" if age == 0 else f"{age} ago: "
    hand = "own concealed tiles"
    if age == 1:
        hand += "; tiles drawn before a kan since then count as held, because the record does not date them"
    elif age:
        hand += (
            "; tiles drawn since then and not thrown at once count as held, because the record does not date "
            "them"
        )
    added = "; a kan by an added tile counts from its pon on, because the record does not date it"
    groups = (
        Group(id=f"H{age}", planes=COPIES, content=f"{then}{hand}"),
        Group(
            id=f"D{age}",
            planes=4 * COPIES,
            content=f"{then}discards of seats 0 to 3, called-away ones included",
        ),
        Group(
            id=f"M{age}",
            planes=4 * COPIES,
            content=f"{then}tiles in melds of seats 0 to 3{added if age else ''}",
        ),
    )
    if age > 1:
        return groups
    return (
        *groups,
        Group(
            id=f"C{age}",
            planes=COPIES,
            content=f"{then}dora indicators{added if age else ''}",
            axis=Axis.INDICATORS,
            mirrors=False,
        ),
        Group(
            id=f"R{age}", planes=3 * COPIES, content=f"{then}riichi declared by seats 1 to 3, on all kinds"
        ),
    )


_HOSEI_GROUPS: Final = (
    *_go_around(0),
    Group(id="W", planes=COPIES, content="the round wind's tile, all 4"),
    Group(id="S", planes=COPIES, content="the own wind's tile, all 4"),
    *(group for age in range(1, GO_AROUNDS + 1) for group in _go_around(age)),
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
        FeatureSet(
            ORACLE, "training only, beside another set: information hidden from the seat", _ORACLE_GROUPS
        ),
        FeatureSet(
            GUIDED,
            "training only: lite-239/1 and oracle/1 together, for oracle guiding",
            (*_LITE_GROUPS, *_ORACLE_GROUPS),
        ),
        FeatureSet(
            CRITIC,
            "the critic, which sees all hands: lite-239/1, the other hands, and the tiles still hidden",
            (
                *_LITE_GROUPS,
                *_OTHER_HANDS,
                Group(
                    id="rest", planes=4, content="tiles in no hand and not on the table, at least 1–4 copies"
                ),
            ),
        ),
        FeatureSet(HOSEI, "the networks of Hosei University", _HOSEI_GROUPS),
    )
}
"""Every feature set by its name."""


def looks_deep(name: str, without: Collection[str] = ()) -> bool:
    """Whether a network on this feature set uses LA1 or LA2, which then have to be searched for.

    Args:
        name: name of the feature set.
        without: groups that the network does not use.
    """
    return any(group.id[:3] in ("LA1", "LA2") and group.id not in without for group in SETS[name].groups)


def offsets(name: str) -> Any:
    """The first plane of each group as a named tuple, which kernels can read.

    A prime in a group's id is a final ``_after``: ``offsets("suphx-958/1").LA3a_after``.
    """
    groups = SETS[name].groups
    kind = namedtuple("Offsets", [group.id.replace("'", "_after") for group in groups])  # type: ignore[misc]
    return kind(*(SETS[name].at(group.id) for group in groups))
