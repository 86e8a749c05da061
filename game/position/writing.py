"""Writes a position of a game as a user would, from what one player sees; the inverse of `placing`."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from game.events import four
from game.layout import PHASE_CALLED, PHASE_CLAIM, RIVER_CALLED, RIVER_RIICHI, RIVER_TSUMOGIRI
from game.melds import Meld, MeldKind
from game.position.stated import WrittenPosition
from game.scoring.settlement import GameLength
from game.state import hand_tiles, melds_of
from game.tiles import tile_text

_MARKS = ((RIVER_TSUMOGIRI, "_"), (RIVER_RIICHI, "!"), (RIVER_CALLED, "~"))


def written(record: np.void, player: int, length: GameLength = "hanchan") -> WrittenPosition:
    """The position as text."""
    seats = [(player + seat) % 4 for seat in range(4)]
    rivers = {each: river(record, each) for each in seats}
    offered, offered_by = "", 3
    if record["phase"] == PHASE_CLAIM:
        last = int(record["last_player"])
        offered, offered_by = rivers[last].pop(), (last - player) % 4
    drawn = int(record["drawn"]) if record["turn"] == player else -1
    hand = [tile for tile in hand_tiles(record, player) if tile != drawn]
    return WrittenPosition(
        hand=grouped([*hand, *([drawn] if drawn >= 0 else [])]),
        rivers=four(" ".join(rivers[each]) for each in seats),
        melds=four(" ".join(map(meld_text, melds_of(record, each))) for each in seats),
        dora="".join(tile_text(int(tile)) for tile in record["indicators"][: record["indicator_count"]]),
        round_index=int(record["round_index"]),
        seat_wind=(player - int(record["dealer"])) % 4,
        honba=int(record["honba"]),
        sticks=int(record["riichi_sticks"]),
        scores=four(int(record["scores"][each]) for each in seats),
        offered=offered,
        offered_by=offered_by,
        after_call=bool(record["phase"] == PHASE_CALLED),
        length=length,
    )


def grouped(tiles: Sequence[int]) -> str:
    """Tiles in order, with one suit for neighbours of the same.

    >>> grouped([0, 4, 36, 1])
    '12m1p1m'
    """
    faces = [tile_text(tile) for tile in tiles]
    return "".join(
        face[0] if following[1:] == face[1:] else face
        for face, following in zip(faces, [*faces[1:], ""], strict=True)
    )


def river(record: np.void, player: int) -> list[str]:
    """The discards, each with its marks."""
    marked = []
    for at in range(int(record["river_size"][player])):
        marks = int(record["river_marks"][player, at])
        text = "".join(mark for bit, mark in _MARKS if marks & bit)
        marked.append(tile_text(int(record["river"][player, at])) + text)
    return marked


def meld_text(meld: Meld) -> str:
    """A meld with its called tile at the place that shows from whom it is."""
    suit = tile_text(meld.tiles[0])[1]
    if meld.kind is MeldKind.ANKAN:
        return "".join(tile_text(tile)[0] for tile in meld.tiles) + suit
    digits = [tile_text(tile)[0] for tile in meld.consumed]
    place = 0 if meld.from_seat == 3 else len(digits) if meld.from_seat == 1 else 1
    digits.insert(place, tile_text(meld.called)[0] + "~")
    if meld.kind is MeldKind.KAKAN:
        digits.append("+" + tile_text(meld.added)[0])
    return "".join(digits) + suit
