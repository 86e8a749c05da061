"""Made-up positions, most of them impossible: each is placed, or refused with a reason."""

from __future__ import annotations

import random
from collections import Counter
from typing import Any

from game.position import WrittenPosition, place
from kit.errors import PositionError
from tests.scale import scaled

MELDS = ("1~23m", "55~5z", "777~z", "1111s", "2~222p", "3~33+3p", "5~55s", "9~99m", "4~56p")
KANS = ("1111s", "2~222p", "3~33+3p")
FACES = [f"{number}{suit}" for suit in "mps" for number in range(1, 10)] + [f"{n}z" for n in range(1, 8)]
NOISE = "0123456789mpsz _!~+x\u202e"


def tiles(rng: random.Random, count: int, marks: str = "") -> str:
    def mark() -> str:
        return rng.choice(marks) if marks and rng.random() < 0.02 else ""

    return " ".join(rng.choice(FACES) + mark() for _ in range(count))


def made_up(rng: random.Random) -> dict[str, Any]:
    """A position whose parts fit together more often than not."""
    length = rng.choice((0, 0, 1, 3, 8))
    most = (0, 0, 0, 1, 2) if length == 0 or rng.random() < 0.3 else (0,)
    melds = [" ".join(rng.sample(MELDS, rng.choice(most))) for _ in range(4)]
    own, kans = len(melds[0].split()), sum(meld in KANS for text in melds for meld in text.split())
    waits = rng.random() < 0.4
    size = max(0, 14 - waits - 3 * own + (rng.random() < 0.03))
    rivers = [tiles(rng, length, "_!~") for _ in range(4)]
    if rng.random() < 0.05:
        rivers[rng.randrange(4)] = "".join(rng.choices(NOISE, k=8))
    return {
        "hand": "".join(rng.sample(3 * FACES, size)),
        "melds": tuple(melds),
        "rivers": tuple(rivers),
        "dora": tiles(rng, 1 + kans) if kans or rng.random() < 0.5 else "",
        "round_index": rng.randrange(12),
        "seat_wind": 0 if length else rng.randrange(4),
        "turn": None if length else rng.choice((None, 1, 6, 18, 24)),
        "offered": tiles(rng, 1) if waits and rng.random() < 0.7 else "",
        "offered_by": rng.randrange(1, 4),
        "after_call": bool(own) and not waits and rng.random() < 0.3,
    }


def test_every_position_is_placed_or_refused_with_a_reason() -> None:
    met: Counter[str] = Counter()
    for seed in range(scaled(300, 900)):
        stated = made_up(random.Random(seed))
        try:
            placed = place(WrittenPosition(**stated))
        except PositionError as refused:
            assert len(str(refused)) > 20
            met["refused"] += 1
            continue
        record = placed.observation.record
        assert (record["seen34"] + record["hand34"].sum(axis=0) <= 4).all()
        assert (record["seen34"] >= 0).all()
        assert 0 <= record["wall_left"] <= 70
        met["rivers" if placed.knows_rivers else "no rivers"] += 1
    assert min(met[name] for name in ("refused", "rivers", "no rivers")) > 20
