"""Random complete hands of every sort, with melds and circumstances."""

from __future__ import annotations

import random
from collections.abc import Iterator

from game.melds import Meld, MeldKind
from game.scoring.value import WinContext
from game.tiles import EAST, KINDS, TERMINALS_AND_HONOURS, TILES

GREENS = (19, 20, 21, 23, 25, 32)
_TRIES = 60


def random_wins(seed: int, count: int) -> Iterator[WinContext]:
    """Wins with a complete hand, with or without a yaku."""
    rng = random.Random(seed)
    for _ in range(count):
        hand = None
        while hand is None:
            hand = _random_hand(rng)
        yield _in_circumstances(rng, *hand)


def _random_hand(rng: random.Random) -> tuple[list[int], list[Meld]] | None:
    form = rng.random()
    suits = rng.sample(range(3), rng.choice((1, 2, 3, 3, 3)))
    if form < 0.07:
        kinds = [k for k in range(KINDS) if k >= EAST or k // 9 in suits]
        return _dealt(rng, 2 * rng.sample(kinds[-7:] if form < 0.005 else kinds, 7)), []
    if form < 0.075:
        return _dealt(rng, [*TERMINALS_AND_HONOURS, rng.choice(TERMINALS_AND_HONOURS)]), []
    if form < 0.085:
        low = 9 * suits[0]
        return _dealt(rng, [low, low, *range(low, low + 9), low + 8, low + 8, low + rng.randrange(9)]), []
    return _sets_and_pair(rng, suits)


def _sets_and_pair(rng: random.Random, suits: list[int]) -> tuple[list[int], list[Meld]] | None:
    honours, triplets = rng.choice((0, 0, 0.15, 0.3, 0.8, 1)), rng.choice((0.1, 0.25, 0.5, 1))
    outer, green, shape = rng.random() < 0.2, rng.random() < 0.03, rng.randrange(7)
    used: list[int] = []
    sets = []
    for size in (3, 3, 3, 3, 2):
        for _ in range(_TRIES):
            place = rng.choice((0, 8)) if outer else rng.randrange(9)
            low = 9 * (2 if green else rng.choice(suits))
            if rng.random() < honours:
                block = [rng.randrange(EAST, KINDS)] * size
            elif size == 2 or rng.random() < triplets:
                block = [low + place] * size
            else:
                start = rng.choice((0, 6)) if outer else rng.choice((shape, rng.randrange(7)))
                block = [low + start + i for i in range(3)]
            fits = all((used + block).count(kind) <= 4 for kind in block)
            if fits and not (green and any(kind not in GREENS for kind in block)):
                break
        else:
            return None
        used += block
        sets.append(block)
    return _with_melds(rng, sets, used)


def _with_melds(rng: random.Random, sets: list[list[int]], used: list[int]) -> tuple[list[int], list[Meld]]:
    """Turn some sets into melds; in some hands only into ankan, so that they stay closed."""
    melds: list[Meld] = []
    hand: list[int] = []
    taken: set[int] = set()
    closed = rng.random() < 0.3
    order = rng.sample(range(4), 4)
    laid = set(order[: rng.choice((0, 0, 0, 1, 2, 3, 4))])
    for number, block in enumerate(sets):
        can_kan = used.count(block[0]) == 3 and len(set(block)) == 1
        if number not in laid or (closed and not can_kan):
            hand += _copies(rng, block, taken)
        elif len(set(block)) > 1:
            tiles = sorted(_copies(rng, block, taken))
            melds.append(Meld(MeldKind.CHI, tuple(tiles), tiles[0], 3))
        else:
            kans = (MeldKind.ANKAN,) if closed else (MeldKind.DAIMINKAN, MeldKind.ANKAN, MeldKind.KAKAN)
            kind = rng.choice((*kans, MeldKind.PON)) if can_kan and not closed else MeldKind.PON
            kind = MeldKind.ANKAN if closed else kind
            size = 3 if kind is MeldKind.PON else 4
            tiles = sorted(_copies(rng, block[:1] * size, taken))
            melds.append(Meld(kind, tuple(tiles), -1 if kind is MeldKind.ANKAN else tiles[0], 1))
    return hand, melds


def _copies(rng: random.Random, kinds: list[int], taken: set[int]) -> list[int]:
    tiles = []
    for kind in kinds:
        tiles.append(rng.choice([t for t in range(4 * kind, 4 * kind + 4) if t not in taken]))
        taken.add(tiles[-1])
    return tiles


def _dealt(rng: random.Random, kinds: list[int]) -> list[int]:
    return _copies(rng, kinds, set())


def _in_circumstances(rng: random.Random, hand: list[int], melds: list[Meld]) -> WinContext:
    is_tsumo = rng.random() < 0.4
    riichi = 0 if any(meld.is_open for meld in melds) else rng.choice((0, 1, 1, 2))
    has_kan = any(len(meld.tiles) == 4 for meld in melds)
    rinshan = is_tsumo and has_kan and rng.random() < 0.2
    chankan = not is_tsumo and rng.random() < 0.03
    last_tile = not rinshan and not chankan and rng.random() < 0.05
    return WinContext(
        hand=tuple(sorted(hand)),
        tile=rng.choice(hand),
        is_tsumo=is_tsumo,
        melds=tuple(melds),
        seat_wind=rng.randrange(4),
        round_wind=rng.randrange(3),
        riichi=riichi,
        ippatsu=riichi > 0 and rng.random() < 0.2,
        rinshan=rinshan,
        chankan=chankan,
        last_tile=last_tile,
        first_turn=is_tsumo and not melds and not riichi and not last_tile and rng.random() < 0.02,
        dora_indicators=tuple(rng.sample(range(TILES), rng.randint(1, 5))),
        ura_indicators=tuple(rng.sample(range(TILES), rng.randint(0, 2))) if riichi else (),
    )
