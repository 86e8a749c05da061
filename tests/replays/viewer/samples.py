"""Reviews of real games as pages get them, and what our own fold says about the table."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from typing import Any

import msgspec
import numpy as np

from game.events import GameEvent, StartRound
from game.state import apply, clone, hand_tiles, melds_of, new_round, river_of
from game.tiles import mjai_text
from policies.play.named import Named, RandomPolicy
from replays import formats
from replays.mjai.lines import render
from replays.mjai.seat import seen_by
from replays.record import GameRecord
from replays.review.report import Reviewer, as_json
from replays.review.schema import Review
from tests.replays.review.made import named, predictor
from tests.shared import shard_texts

KANS = 4
"""A tonpuu game with an added and a closed kan."""
OPEN_KAN = 19
"""A game with an open kan."""
DRAWN = 11
"""A tonpuu game with rounds that end by ron, by tsumo and with two hands shown at a draw."""
LEARNED = {"deal_in": [0.01, 0.0, 0.25], "cost": 1234.5}
HANDS = (
    {"tiles": "1m 2m 3m 4p 5pr 6p 7s 8s 9s E E S S", "shanten": 0},
    {"tiles": "1m 4m 7m 1p 4p 7p 1s 4s 7s E S W N", "shanten": 6},
)
Folded = tuple[dict[str, Any], np.void]


def real_game(number: int) -> GameRecord:
    """A game of the Phoenix room, by its place in the first shard."""
    *_, (name, text) = shard_texts("houou-00", number + 1)
    return msgspec.structs.replace(formats.read_game(text), game_id=name)


@cache
def critic() -> Reviewer:
    """Disagrees with every player."""
    policy = Named("network", "test", RandomPolicy())  # errors by the network have prices
    return Reviewer("suzaku test", policy, predictor(), named())


@cache
def review_of_all() -> Review:
    """A review of a game's four seats."""
    return critic().review(real_game(KANS), 0, all_seats=True)


def decoded(review: Review) -> dict[str, Any]:
    """A review as the page reads it."""
    found: dict[str, Any] = json.loads(as_json(review))
    return found


def in_play(decision: dict[str, Any]) -> dict[str, Any]:
    """A decision with what only those of our own games have, and with hands that opponents may hold."""
    options = decision["options"]
    found = {"ahead": 341.2, "doubt": 180.4, "deals": 64}
    return decision | {
        "options": [option | {"learned": option["danger"] and LEARNED} for option in options],
        "live": {
            "time_ms": 12.5, "budget_ms": 3000.0, "source": "fallback", "late": True,
            "fallback": "model <b>stopped</b>",
            "base": [0.5] * len(options), "adapted": [0.25] * len(options),
            "thought": {
                "way": "both", "base": options[-1]["action"], "playouts": 1_096, "worth": "points",
                "searched": [found, *[None] * (len(options) - 1)],
            },
        },
        "candidates": [{"model": model, "hands": [HANDS] * 3} for model in ("diffusion", "autoregressive")],
    }  # fmt: skip


def rounds_of(
    events: Sequence[GameEvent], written: Callable[[GameEvent], dict[str, Any] | None] = render
) -> Iterator[list[Folded]]:
    """Each round as messages, each with the record after it from our own fold."""
    record = new_round()
    current: list[Folded] = []
    for event in events:
        message = written(event)
        if isinstance(event, StartRound):
            if current:
                yield current
            current = []
        apply(record, event)
        if message and message["type"] not in ("start_game", "end_game"):
            current.append((message, clone(record)))
    yield current


def seen_from(seat: int, game: GameRecord) -> dict[str, Any]:
    """A review of what a player saw at the table: the others' hands and draws are unknown."""
    review = decoded(critic().review(game, seat))
    seen = rounds_of(game.events, lambda event: seen_by(event, seat))
    rounds = [
        each | {"events": [message for message, _ in folded]}
        for each, folded in zip(review["rounds"], seen, strict=True)
    ]
    return review | {"rounds": rounds}


def laid(record: np.void, player: int) -> dict[str, Any]:
    """One player's side of the table from our fold, in the page's terms."""
    marks = [int(mark) for mark in record["river_marks"][player][: record["river_size"][player]]]
    return {
        "hand": sorted(mjai_text(tile) for tile in hand_tiles(record, player)),
        "river": [
            [mjai_text(tile), mark] for tile, mark in zip(river_of(record, player), marks, strict=True)
        ],
        "melds": [
            [meld.kind.name.lower(), sorted(mjai_text(tile) for tile in meld.tiles)]
            for meld in melds_of(record, player)
        ],
        "score": int(record["scores"][player]),
    }
