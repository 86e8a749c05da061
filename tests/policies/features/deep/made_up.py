"""Positions near a win that are rare in games: one suit, many dora, furiten, double riichi, few unseen."""

from __future__ import annotations

import random

import numpy as np

from game.layout import AT_HAND, AT_INDICATOR, AT_MELD, AT_RIVER, PHASE_CLAIM, PHASE_TURN
from game.melds import MeldKind
from game.state import new_round
from game.tiles import TERMINALS_AND_HONOURS, TILES
from tests.game.random_wins import random_wins


def made_up(seed: int, draws: bool = False) -> tuple[np.void, int]:
    """A record and the player whose hand, 3n+2 or 3n+1 tiles, is a few tiles away from a random win."""
    rng = random.Random(seed)
    win = next(iter(random_wins(seed, 1)))
    player = rng.randrange(4)
    record = new_round()
    where = record["where"]
    record["round_index"] = 4 * rng.randrange(3) + rng.randrange(4)
    record["dealer"] = record["round_index"] % 4
    record["hand_known"][player] = 1
    record["scores"] = rng.choice((500, 25000))
    record["wall_left"] = rng.choice((0, 3, 4, 11, 30, 69))
    record["turn"] = record["last_player"] = player
    record["phase"] = PHASE_TURN
    if draws:
        record["phase"], record["last_player"] = PHASE_CLAIM, (player + rng.randint(1, 3)) % 4
    for slot, meld in enumerate(win.melds):
        tiles = sorted(meld.tiles)
        record["meld_kind"][player, slot] = int(meld.kind)
        record["meld_tiles"][player, slot] = [*tiles, -1][:4]
        where[tiles] = AT_MELD + player
        record["is_open"][player] |= meld.kind is not MeldKind.ANKAN
    record["meld_count"][player] = len(win.melds)
    hand = list(win.hand)
    where[hand] = AT_HAND + player
    free = [tile for tile in rng.sample(range(TILES), TILES) if where[tile] == 0]
    if rng.random() < 0.1:  # orphans are rarely near by chance
        free.sort(key=lambda tile: tile >> 2 not in TERMINALS_AND_HONOURS)
    for _ in range(rng.randint(0, 4)):
        place = rng.randrange(len(hand))
        where[hand[place]] = 0
        hand[place] = free.pop(0)
        where[hand[place]] = AT_HAND + player
    if draws:
        where[hand.pop(rng.randrange(len(hand)))] = 0
    free = [tile for tile in rng.sample(range(TILES), TILES) if where[tile] == 0]
    shown = rng.randint(1, 5)
    record["indicator_count"] = shown
    record["indicators"][:shown] = free[:shown]
    where[free[:shown]] = AT_INDICATOR
    for tile in free[shown : shown + rng.choice((0, 5, 40, 80))]:
        thrower = rng.randrange(4)
        where[tile] = AT_RIVER + thrower
        record["river34"][thrower] |= np.uint64(1 << (tile >> 2))
    if not record["is_open"][player] and rng.random() < 0.3:
        record["riichi"][player] = 2
        record["double_riichi"][player] = rng.random() < 0.5
        record["missed_riichi"][player] = rng.random() < 0.3
    for tile in range(TILES):
        if where[tile] == AT_HAND + player:
            record["hand34"][player, tile >> 2] += 1
        elif where[tile]:
            record["seen34"][tile >> 2] += 1
    record["hand_size"][player] = record["hand34"][player].sum()
    return record, player
