"""A slow, obvious referee of two-player mahjong, written from the rules and from nothing of ours.

Tiles are text; a hand is a list of tiles. Wins are found by taking the hand apart in every way.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

DECK = [f"{number}m" for number in range(1, 10)] + [f"{number}z" for number in range(1, 8)]


def next_tiles(tile: str) -> list[str]:
    """The sequence that starts with a tile; none from honours and from 8 and 9."""
    number, suit = int(tile[0]), tile[1]
    return [f"{number + step}m" for step in range(3)] if suit == "m" and number <= 7 else []


def splits(tiles: list[str]) -> list[list[str]]:
    """All ways to take tiles apart into triplets and sequences: the names of the sets."""
    if not tiles:
        return [[]]
    first = tiles[0]
    found = []
    if tiles.count(first) >= 3:
        rest = list(tiles)
        for _ in range(3):
            rest.remove(first)
        found += [["triplet", *others] for others in splits(rest)]
    run = next_tiles(first)
    if run and all(tile in tiles for tile in run):
        rest = list(tiles)
        for tile in run:
            rest.remove(tile)
        found += [["sequence", *others] for others in splits(rest)]
    return found


def points(hand: list[str], melds: list[tuple[str, str]]) -> int:
    """Points of a hand of 14 tiles, melds counting three each: 2, 1 or 0."""
    counts = Counter(hand)
    if not melds and len(hand) == 14 and all(count in (2, 4) for count in counts.values()):
        return 2
    best = 0
    for pair in sorted(counts):
        if counts[pair] < 2:
            continue
        rest = sorted(hand)
        rest.remove(pair)
        rest.remove(pair)
        for sets in splits(rest):
            sequences = "sequence" in sets or any(name == "chi" for name, _ in melds)
            best = max(best, 1 if sequences else 2)
    return best


@dataclass
class Referee:
    """A game: hands, melds and rivers of both players, the wall, and whose turn it is."""

    wall: list[str]
    hands: list[list[str]] = field(default_factory=list)
    melds: list[list[tuple[str, str]]] = field(default_factory=lambda: [[], []])
    rivers: list[list[str]] = field(default_factory=lambda: [[], []])
    player: int = 0
    phase: int = 1
    drawn: int = 0
    over: bool = False
    winner: int = -1
    points: int = 0

    def __post_init__(self) -> None:
        self.hands = [self.wall[:13], self.wall[13:26]]
        self.left = self.wall[26:]
        self.draw()

    def draw(self, from_end: bool = False) -> None:
        if not self.left:
            self.over = True
            return
        self.hands[self.player].append(self.left.pop(-1 if from_end else 0))
        self.drawn += 1
        self.phase = 1

    @property
    def offered(self) -> str:
        return self.rivers[1 - self.player][-1]

    def legal(self) -> set[str]:
        if self.over:
            return set()
        hand, melds = self.hands[self.player], self.melds[self.player]
        if self.phase == 2:
            return {f"discard {tile}" for tile in hand}
        found = {"pass"}
        if self.phase == 0:
            tile = self.offered
            if points([*hand, tile], melds):
                found.add("win")
            if self.left:
                found |= {name for name, count in (("pon", 2), ("daiminkan", 3)) if hand.count(tile) >= count}
                for low in DECK:
                    run = next_tiles(low)
                    if tile in run and all(other in hand for other in run if other != tile):
                        found.add(f"chi {low}")
            return found
        if points(hand, melds):
            found.add("win")
        if self.left:
            found |= {f"ankan {tile}" for tile in hand if hand.count(tile) == 4}
            found |= {f"kakan {tile}" for name, tile in melds if name == "pon" and tile in hand}
        return found

    def play(self, action: str) -> None:
        assert action in self.legal()
        name, _, tile = action.partition(" ")
        hand, melds = self.hands[self.player], self.melds[self.player]
        if name == "win":
            won = [*hand, self.rivers[1 - self.player].pop()] if self.phase == 0 else list(hand)
            self.hands[self.player] = won
            self.over, self.winner, self.points = True, self.player, points(won, melds)
        elif name == "discard":
            hand.remove(tile)
            self.rivers[self.player].append(tile)
            self.player, self.phase = 1 - self.player, 0
        elif name == "pass" and self.phase == 0:
            self.draw()
        elif name == "pass":
            self.phase = 2
        elif name in ("pon", "daiminkan"):
            taken = self.rivers[1 - self.player].pop()
            for _ in range(2 if name == "pon" else 3):
                hand.remove(taken)
            melds.append((name, taken))
            self.phase = 2
            if name == "daiminkan":
                self.draw(from_end=True)
        elif name == "chi":
            taken = self.rivers[1 - self.player].pop()
            for other in next_tiles(tile):
                if other != taken:
                    hand.remove(other)
            melds.append((name, tile))
            self.phase = 2
        elif name == "ankan":
            for _ in range(4):
                hand.remove(tile)
            melds.append((name, tile))
            self.draw(from_end=True)
        else:
            hand.remove(tile)
            melds[melds.index(("pon", tile))] = (name, tile)
            self.draw(from_end=True)
