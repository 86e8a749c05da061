"""The feature sets: the planes a network sees, in groups, and their order.

The encoder takes its offsets from here, and a checkpoint names the set it was trained on. `docs/features.md`
says what each group holds; tests compare its tables with these.
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


class Group(msgspec.Struct, frozen=True):
    """Planes that are filled together.

    Attributes:
        id: unique within a set; the letter follows the reconstruction of Suphx's planes.
        planes: their number.
        axis: how they move when tiles are permuted.
    """

    id: str
    planes: int
    axis: Axis = Axis.TILES


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


_HAND: Final = (Group("A1", 4), Group("A2", 3, Axis.SUITS), Group("A3", 1))
_DORA: Final = (Group("C1", 4, Axis.INDICATORS), Group("C2", 4))
_SUMMARY: Final = (Group("E", 36), Group("F", 12))
_SAFETY: Final = (Group("G", 20), Group("H", 4))
_RANK_AND_ROUND: Final = (Group("I3", 4), Group("J", 29))
_DEEP: Final = (Group("LA1", 36), Group("LA2", 36))
_EFFICIENCY: Final = (
    Group("LA3a", 3),
    Group("LA3b", 8),
    Group("LA3c", 4),
    Group("LA3d", 4),
    Group("LA3e", 4),
    Group("LA3f", 4),
    Group("LA3g", 4),
    Group("LA3h", 5),
)

_LITE_GROUPS: Final = (
    *_HAND,
    Group("B", 24),
    *_DORA,
    *_SUMMARY,
    Group("D", 4 * LITE_DISCARDS),
    *_SAFETY,
    Group("I1", 8),
    Group("I2", 3),
    *_RANK_AND_ROUND,
    Group("K", 7),
    Group("L", 12),
    Group("N", 12),
    *_EFFICIENCY,
)

_SUPHX_GROUPS: Final = (
    *_HAND,
    Group("B", 24 * MELD_SLOTS),
    *_DORA,
    Group("C3", 5),
    Group("D", 8 * DISCARD_TURNS),
    *_SUMMARY,
    *_SAFETY,
    Group("I1", 96),
    Group("I2", 48),
    *_RANK_AND_ROUND,
    Group("K", 18),
    Group("L", 20),
    Group("M", 4),
    Group("N", 20),
    Group("O", 36),
    Group("P", 20),
    Group("Q", 6),
    *_DEEP,
    *_EFFICIENCY,
)


def _after_call(group: Group) -> Group:
    return msgspec.structs.replace(group, id=f"{group.id}'")


_CANDIDATE: Final = (Group("R1", 4), Group("R2", 1), Group("R3", 1), Group("R4", 3), Group("R5", 3))

_OTHER_HANDS: Final = tuple(
    group
    for seat in (1, 2, 3)
    for group in (
        Group(f"hand{seat}", 4),
        Group(f"red{seat}", 3, Axis.SUITS),
        Group(f"waits{seat}", 1),
        Group(f"shanten{seat}", 4),
    )
)

_ORACLE_GROUPS: Final = (*_OTHER_HANDS, Group("wall", ORACLE_DRAWS), Group("left", 4), Group("ura", 4))


def _go_around(age: int) -> tuple[Group, ...]:
    """The features of the Hosei set that are repeated for earlier go-arounds; 0 is the present."""
    groups = (Group(f"H{age}", COPIES), Group(f"D{age}", 4 * COPIES), Group(f"M{age}", 4 * COPIES))
    if age > 1:
        return groups
    return (*groups, Group(f"C{age}", COPIES, Axis.INDICATORS), Group(f"R{age}", 3 * COPIES))


_HOSEI_GROUPS: Final = (
    *_go_around(0),
    Group("W", COPIES),
    Group("S", COPIES),
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
            (*_LITE_GROUPS, *_OTHER_HANDS, Group("rest", 4)),
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
