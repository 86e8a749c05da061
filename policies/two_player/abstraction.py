"""The abstraction of the CFR-p paper: three policies, three stages, and the key of an information set.

A player chooses one of the policies at the first decision of each stage and follows it until the next. The
key describes the player's hand and the round in 20 bits (the paper's table 3); hands with the same key are
one information set. `docs/two-player.md` says how the paper is read where it is unclear.
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple

from game.tiles import KINDS
from game.two_player.layout import DECK, DRAWS, MELD_CHI
from game.two_player.rules import HONOURS_FROM, round_of
from kit.jit import kernel

NORMAL: Final = 0
TRIPLETS: Final = 1
PAIRS: Final = 2
POLICIES: Final = 3
POLICY_NAMES: Final = ("normal", "triplets", "pairs")
"""Four sets and a pair; all triplets (the paper's PongPongHu); seven pairs (QiDui)."""

STAGES: Final = 3
STAGE_ROUNDS: Final = -(-DRAWS // STAGES)
"""Rounds of a stage: the stages begin with rounds 0, 13 and 26."""

KEYS: Final = 1 << 20
UNLIMITED: Final = 13
"""With this many concealed tiles or more the hand has no meld."""

_PAIRS_AT: Final = 6
_TRIPLETS_AT: Final = 9
_CHARACTERS_AT: Final = 12
_HONOURS_AT: Final = 16


class NodeKey(NamedTuple):
    """The fields of a key.

    Attributes:
        round: tiles drawn from the wall by both players, 0 to 38.
        pairs: kinds of which the player holds exactly two concealed tiles, 0 to 6.
        triplets: kinds of which the player holds three or four, concealed, and melds of a triplet or a kan;
            0 to 4.
        characters: concealed characters, 0 to 14.
        honours: concealed honours, 0 to 14; the paper's wind tiles.
    """

    round: int
    pairs: int
    triplets: int
    characters: int
    honours: int


LIMITS: Final = NodeKey(DRAWS, 6, 4, 14, 14)
"""The largest value of each field."""


def encode(key: NodeKey) -> int:
    """The 20-bit number of a key.

    Raises:
        ValueError: a field is outside its range.

    >>> encode(NodeKey(round=1, pairs=3, triplets=2, characters=3, honours=11))
    734401
    """
    for name, value, limit in zip(NodeKey._fields, key, LIMITS, strict=True):
        if not 0 <= value <= limit:
            raise ValueError(f"{name}: found {value}, expected 0 to {limit}")
    return (
        key.round
        | key.pairs << _PAIRS_AT
        | key.triplets << _TRIPLETS_AT
        | key.characters << _CHARACTERS_AT
        | key.honours << _HONOURS_AT
    )


def decode(number: int) -> NodeKey:
    """The key of a number.

    Raises:
        ValueError: it is not the number of a key.

    >>> decode(734401)
    NodeKey(round=1, pairs=3, triplets=2, characters=3, honours=11)
    """
    key = NodeKey(
        number & 63,
        number >> _PAIRS_AT & 7,
        number >> _TRIPLETS_AT & 7,
        number >> _CHARACTERS_AT & 15,
        number >> _HONOURS_AT,
    )
    if not 0 <= number < KEYS or encode(key) != number:
        raise ValueError(f"{number} is not the number of a key")
    return key


@kernel
def key_of(position: Any) -> int:
    """The number of the key of the player to act.

    The tile offered by the other player is not counted.
    """
    player = position.player
    hand = position.hands[player]
    pairs = 0
    triplets = 0
    characters = 0
    honours = 0
    for kind in DECK:
        count = int(hand[kind])
        pairs += count == 2
        triplets += count >= 3
        if kind < HONOURS_FROM:
            characters += count
        else:
            honours += count
    for place in range(position.meld_count[player]):
        triplets += position.melds[player, place] >= KINDS
    return (
        round_of(position)
        | min(pairs, 6) << _PAIRS_AT
        | min(triplets, 4) << _TRIPLETS_AT
        | characters << _CHARACTERS_AT
        | honours << _HONOURS_AT
    )


@kernel
def policies_of(key: int) -> int:
    """Number of policies to choose from: all three, or only the first two once there is a meld."""
    held = (key >> _CHARACTERS_AT & 15) + (key >> _HONOURS_AT)
    return 3 if held >= UNLIMITED else 2


@kernel
def stage_of(position: Any) -> int:
    """The stage of the game: 0 beginning, 1 middle, 2 end."""
    return round_of(position) // STAGE_ROUNDS


@kernel
def has_chi(position: Any, player: int) -> bool:
    """Whether a player has an open chi, which leaves only the normal policy."""
    for place in range(position.meld_count[player]):
        if position.melds[player, place] // KINDS == MELD_CHI:
            return True
    return False
