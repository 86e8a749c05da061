"""Rounds in which players 1 to 3 do anything the tiles allow, whatever the rules say of it."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator

import numpy as np

from game.actions import Action, ActionKind
from game.events import (
    Ankan,
    Chi,
    Daiminkan,
    Discard,
    DoraRevealed,
    Draw,
    DrawnRound,
    GameEvent,
    Kakan,
    Pon,
    Riichi,
    RiichiAccepted,
    StartRound,
    Win,
)
from game.layout import PHASE_CALLED, PHASE_CLAIM, PHASE_DRAW, PHASE_ROB, PHASE_TURN
from game.melds import MeldKind
from game.rules import legal_actions
from game.state import apply, hand_tiles, melds_of, new_round
from game.table.table import masked

US = 0
Chooser = Callable[[np.void, list[Action]], Action]


class LawlessRound:
    """One round; ours is the only seat that keeps to the rules.

    Attributes:
        table: the round with all hands known.
        view: the same as player 0 sees it.
        events: all that happened.
    """

    def __init__(self, seed: int, choose: Chooser, *, poor: bool = False) -> None:
        self.rng = random.Random(seed)
        self.choose = choose
        tiles = list(range(136))
        self.rng.shuffle(tiles)
        hands = [tuple(sorted(tiles[13 * p : 13 * p + 13])) for p in range(4)]
        self.wall = tiles[52:]
        scores = (99_700, 100, 100, 100) if poor else (25_000,) * 4
        start = StartRound(
            seed % 8, 0, 0, seed % 4, scores, self.wall.pop(), (hands[0], hands[1], hands[2], hands[3])
        )
        self.table, self.view = new_round(), new_round()
        self.events: list[GameEvent] = []
        self.tell(start)

    def tell(self, event: GameEvent) -> None:
        """Fold an event into both records."""
        apply(self.table, event)
        apply(self.view, masked(event, US))
        self.events.append(event)

    def play(self) -> Iterator[tuple[np.void, list[Action]]]:
        """Play the round; every choice of ours, before it is made."""
        while True:
            phase, turn = int(self.table["phase"]), int(self.table["turn"])
            if phase in (PHASE_TURN, PHASE_CALLED) and turn == US:
                legal = legal_actions(self.view, US)
                yield self.view, legal
                if not self._ours(self.choose(self.view, legal)):
                    return
            elif phase in (PHASE_TURN, PHASE_CALLED):
                self._lawless_turn(turn)
            elif phase == PHASE_CLAIM:
                claim = self._claim()
                if claim is not None:
                    self.tell(claim)
                    continue
                legal = legal_actions(self.view, US) if self.table["last_player"] != US else []
                if legal:
                    yield self.view, legal
                if not self._after_discard(self.choose(self.view, legal) if legal else None):
                    return
            else:
                self.tell(Draw(turn, self.wall.pop()))

    def _ours(self, action: Action) -> bool:
        if action.kind in (ActionKind.TSUMO, ActionKind.NINE_TERMINALS):
            return self._end(action.tile if action.kind is ActionKind.TSUMO else -1, US, US)
        self.tell(event_of(US, action, self.table))
        self._reveal()
        return True

    def _after_discard(self, ours: Action | None) -> bool:
        last = int(self.table["last_player"])
        if ours is not None and ours.kind is ActionKind.RON:
            return self._end(ours.tile, US, last)
        if self.rng.random() < 0.004:
            return self._end(int(self.table["last_tile"]), (last + 1) % 4, last)
        if self.table["riichi"][last] == 1:
            self.tell(RiichiAccepted(last))
        if ours is not None and ours.kind is not ActionKind.PASS:
            self.tell(event_of(US, ours, self.table))
            self._reveal()
        elif self.table["wall_left"] > 0 and self.wall:
            self.tell(Draw((last + 1) % 4, self.wall.pop()))
        else:
            self.tell(DrawnRound("exhaustive", (0, 0, 0, 0)))
            return False
        return True

    def _end(self, tile: int, winner: int, source: int) -> bool:
        if tile < 0:
            self.tell(DrawnRound("nine_terminals", (0, 0, 0, 0)))
            return False
        sticks = int(self.table["riichi_sticks"])
        gains = [1000 * sticks * (p == winner) for p in range(4)]
        self.tell(Win(winner, source, tile, (), 30, 0, 0, (), (), (), -1, tuple(gains), 0, sticks))
        return False

    def _lawless_turn(self, player: int) -> None:
        """Anything: kans and riichi more often than they come by chance, then any tile."""
        hand = hand_tiles(self.table, player)
        declared = self.table["riichi"][player] == 1
        kan = None if declared else self._own_kan(player, hand)
        if kan is not None and self.wall and self.rng.random() < 0.7:
            self.tell(kan)
            self._reveal()
            return
        may = self.table["phase"] == PHASE_TURN and self.table["riichi"][player] == 0
        if may and self.rng.random() < 0.1:
            self.tell(Riichi(player))
        tile = self.rng.choice(hand)
        self.tell(Discard(player, tile, tile == self.table["drawn"]))

    def _own_kan(self, player: int, hand: list[int]) -> GameEvent | None:
        for kind in range(34):
            own = [tile for tile in hand if tile >> 2 == kind]
            if len(own) == 4:
                return Ankan(player, (own[0], own[1], own[2], own[3]))
            for meld in melds_of(self.table, player):
                if own and meld.kind is MeldKind.PON and meld.tiles[0] >> 2 == kind:
                    a, b, c = meld.tiles
                    return Kakan(player, own[0], (a, b, c))
        return None

    def _claim(self) -> GameEvent | None:
        """A call by one of the others, in riichi or not, with the wall empty or not."""
        last, tile = int(self.table["last_player"]), int(self.table["last_tile"])
        if self.table["riichi"][last] == 1 or self.rng.random() < 0.6:
            return None
        for player in (1, 2, 3):
            if player == last or self.table["meld_count"][player] >= 4:
                continue
            hand = hand_tiles(self.table, player)
            same = [t for t in hand if t >> 2 == tile >> 2]
            if len(same) == 3 and self.wall and self.table["meld_count"][player] < 4:
                return Daiminkan(player, last, tile, (same[0], same[1], same[2]))
            if len(same) >= 2:
                return Pon(player, last, tile, (same[0], same[1]))
            run = self._run(hand, tile) if player == (last + 1) % 4 else None
            if run is not None:
                return Chi(player, last, tile, run)
        return None

    def _run(self, hand: list[int], tile: int) -> tuple[int, int] | None:
        kind = tile >> 2
        for low in (kind - 2, kind - 1, kind):
            others = [k for k in range(low, low + 3) if k != kind]
            if low < 0 or low // 9 != (low + 2) // 9 or low + 2 >= 27:
                continue
            found = [next((t for t in hand if t >> 2 == k), -1) for k in others]
            if min(found) >= 0:
                return found[0], found[1]
        return None

    def _reveal(self) -> None:
        kans, shown = int(self.table["kan_count"]), int(self.table["indicator_count"])
        waiting = self.table["phase"] in (PHASE_DRAW, PHASE_ROB)
        if waiting and shown < min(5, kans + 1) and self.wall:
            self.tell(DoraRevealed(self.wall.pop(0)))


CALLS = {ActionKind.CHI: Chi, ActionKind.PON: Pon, ActionKind.DAIMINKAN: Daiminkan}


def event_of(player: int, action: Action, table: np.void) -> GameEvent:
    """What an action of a player becomes."""
    match action.kind:
        case ActionKind.DISCARD:
            return Discard(player, action.tile, action.tile == table["drawn"])
        case ActionKind.RIICHI:
            return Riichi(player)
        case ActionKind.ANKAN:
            return Ankan(player, action.consumed)
        case ActionKind.KAKAN:
            return Kakan(player, action.tile, action.consumed)
        case _:
            return CALLS[action.kind](player, int(table["last_player"]), action.tile, action.consumed)
