"""Sets up a round concisely: hands in text form, seen by one player, events by tile text."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from game.actions import Action, ActionKind
from game.events import (
    Ankan,
    Chi,
    Daiminkan,
    Discard,
    DoraRevealed,
    Draw,
    GameEvent,
    Kakan,
    Pon,
    Riichi,
    RiichiAccepted,
    StartRound,
    Win,
)
from game.layout import AT_HAND, AT_UNSEEN, ROUND_STATE
from game.observation import Observation
from game.rules import legal_actions
from game.scoring.settlement import GameLength
from game.state import apply, hand_tiles, melds_of, new_round
from game.tiles import TILES, face_of, parse_hand, tile_text

HIDDEN = (-1,) * 13


def same(one: np.void, other: np.void) -> bool:
    """Whether two records agree in every field (padding between the fields does not count)."""
    return all(np.array_equal(one[name], other[name]) for name in ROUND_STATE.names or ())


class Scene:
    """One round seen by player 0 unless more hands are given; all tiles are named as text (``"0p"`` red)."""

    def __init__(
        self,
        hand: str = "123456789m1122z",
        *,
        others: dict[int, str] | None = None,
        dora: str = "9s",
        round_index: int = 0,
        honba: int = 0,
        sticks: int = 0,
        scores: tuple[int, int, int, int] = (25000, 25000, 25000, 25000),
    ) -> None:
        self.record: np.void = new_round()
        self.events: list[GameEvent] = []
        texts = {0: hand, **(others or {})}
        used: set[int] = set()
        hands = tuple(self._take(texts[player], used) if player in texts else HIDDEN for player in range(4))
        indicator = self._take(dora, used)[0]
        self.apply(StartRound(round_index, honba, sticks, round_index % 4, scores, indicator, hands))

    @staticmethod
    def _take(text: str, used: set[int]) -> tuple[int, ...]:
        tiles = []
        for face in map(face_of, parse_hand(text)):
            tiles.append(next(tile for tile in range(TILES) if face_of(tile) == face and tile not in used))
            used.add(tiles[-1])
        return tuple(tiles)

    def apply(self, event: GameEvent) -> Scene:
        """Fold an event and remember it."""
        apply(self.record, event)
        self.events.append(event)
        return self

    def find(self, text: str, place: int) -> int:
        """A physical tile of that text at a place (AT_*)."""
        return next(t for t in range(136) if tile_text(t) == text and self.record["where"][t] == place)

    def draw(self, text: str = "", player: int | None = None) -> Scene:
        """The next player (or the given one) draws; with a text if the hand is known."""
        who = self._next() if player is None else player
        return self.apply(Draw(who, self.find(text, AT_UNSEEN) if text else -1))

    def discard(self, text: str, *, tsumogiri: bool | None = None) -> Scene:
        """The player to move discards a tile; by default tsumogiri if it has the drawn face, or in riichi."""
        who = int(self.record["turn"])
        known = bool(self.record["hand_known"][who])
        drawn = int(self.record["drawn"])
        if tsumogiri is None:
            in_riichi = self.record["riichi"][who] == 2
            tsumogiri = bool(in_riichi) or (known and drawn >= 0 and tile_text(drawn) == text)
        tile = drawn if known and tsumogiri else self.find(text, AT_HAND + who if known else AT_UNSEEN)
        return self.apply(Discard(who, tile, tsumogiri))

    def turn(self, text: str) -> Scene:
        """The next player, whose hand is hidden, draws and discards this tile from the hand."""
        return self.draw().discard(text)

    def own(self, draw: str, discard: str) -> Scene:
        """The next player, whose hand is known, draws and discards."""
        return self.draw(draw).discard(discard)

    def chi(self, *own: str, player: int) -> Scene:
        """A run with the last discard."""
        return self._call(Chi, player, [self.find(text, self._place(player)) for text in own])

    def pon(self, player: int) -> Scene:
        """A triplet with the last discard, lowest copies."""
        return self._call(Pon, player, self._copies(player)[:2])

    def daiminkan(self, player: int) -> Scene:
        """An open kan with the last discard."""
        return self._call(Daiminkan, player, self._copies(player)[:3])

    def ankan(self, text: str) -> Scene:
        """The player to move makes a closed kan of this kind."""
        first = parse_hand(text)[0] & ~3
        return self.apply(Ankan(int(self.record["turn"]), (first, first + 1, first + 2, first + 3)))

    def kakan(self, text: str) -> Scene:
        """The player to move adds the fourth tile to a pon of this kind."""
        who = int(self.record["turn"])
        kind = parse_hand(text)[0] >> 2
        pon = next(m for m in melds_of(self.record, who) if m.tiles[0] >> 2 == kind)
        tile = next(t for t in range(4 * kind, 4 * kind + 4) if t not in pon.tiles)
        return self.apply(Kakan(who, tile, pon.tiles))

    def dora(self, text: str) -> Scene:
        """A further indicator."""
        return self.apply(DoraRevealed(self.find(text, AT_UNSEEN)))

    def riichi(self, discard: str) -> Scene:
        """The player to move declares riichi and discards; the stick is paid."""
        who = int(self.record["turn"])
        self.apply(Riichi(who)).discard(discard)
        return self.apply(RiichiAccepted(who))

    def win(self, player: int, source: int) -> Scene:
        """A win of 1,000 points with the last tile; ``source`` is the player who drew or discarded it."""
        tile = int(self.record["drawn"] if player == source else self.record["last_tile"])
        deltas = tuple(1000 * ((each == player) - (each == source)) for each in range(4))
        return self.apply(Win(player, source, tile, (), 30, 1000, 0, ((1, 1),), (), (), -1, deltas, 0, 0))

    def legal(self, player: int = 0) -> list[Action]:
        """The player's legal actions now."""
        return legal_actions(self.record, player)

    def observe(self, player: int = 0, length: GameLength = "hanchan") -> Observation:
        """A player's decision."""
        return Observation(self.record, player, tuple(self.legal(player)), length)

    def faces(self, kind: ActionKind, player: int = 0) -> list[str]:
        """The tile texts of the legal actions of one kind: the discard, or the consumed tiles joined."""
        return [
            "".join(tile_text(t) for t in a.consumed) if a.consumed else tile_text(a.tile)
            for a in self.legal(player)
            if a.kind is kind
        ]

    def kinds(self, player: int = 0) -> set[ActionKind]:
        """Which kinds of action are legal."""
        return {a.kind for a in self.legal(player)}

    def hand(self, player: int = 0) -> list[int]:
        """The player's concealed tiles."""
        return hand_tiles(self.record, player)

    def _next(self) -> int:
        if self.record["last_player"] >= 0 and self.record["phase"] == 4:
            return (int(self.record["last_player"]) + 1) % 4
        return int(self.record["turn"])

    def _place(self, player: int) -> int:
        """Where the tiles lie that a player may hold."""
        return AT_HAND + player if self.record["hand_known"][player] else AT_UNSEEN

    def _copies(self, player: int) -> list[int]:
        """The copies of the last discard that a player may hold."""
        first = int(self.record["last_tile"]) & ~3
        return [t for t in range(first, first + 4) if self.record["where"][t] == self._place(player)]

    def _call(self, meld: Callable[..., GameEvent], player: int, consumed: list[int]) -> Scene:
        source, tile = int(self.record["last_player"]), int(self.record["last_tile"])
        return self.apply(meld(player, source, tile, tuple(consumed)))
