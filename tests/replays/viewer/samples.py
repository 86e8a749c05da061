"""Reviews of real games with made-up decisions, in the form the page expects."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from game.events import DrawnRound, EndGame, GameEvent, StartRound, Win
from game.state import apply, clone, hand_tiles, melds_of, new_round, river_of
from game.tiles import mjai_text
from replays import formats
from replays.mjai.lines import render
from replays.names import YAKU_NAMES
from replays.record import GameRecord
from tests.shared import shard_texts

KANS = 4
"""A tonpuu game with an added and a closed kan."""
OPEN_KAN = 19
"""A game with an open kan."""
DRAWN = 11
"""A tonpuu game with rounds that end by ron, by tsumo and with two hands shown at a draw."""
CATEGORIES = ("fine", "inaccuracy", "mistake", "blunder")
ZERO = {"decisions": 0, "agreed": 0, "agreement": None, "bad_moves": 0, "bad_move_rate": None, "rating": None}
RATES = {
    "rounds": 5, "win": 0.4, "tsumo": 0.5, "deal_in": 0.2, "riichi": 0.2, "call": 0.6, "draw": 0.2,
    "tenpai_at_draw": None, "average_win": 5200.0, "average_deal_in": None,
}  # fmt: skip
Folded = tuple[dict[str, Any], np.void]


def real_game(number: int) -> GameRecord:
    """A game of the Phoenix room, by its place in the first shard."""
    *_, (_, text) = shard_texts("houou-00", number + 1)
    return formats.read_game(text)


def rounds_of(events: Sequence[GameEvent]) -> Iterator[list[Folded]]:
    """Each round as messages, each with the record after it from our own fold."""
    record = new_round()
    current: list[Folded] = []
    for event in events:
        message = render(event)
        if isinstance(event, StartRound):
            if current:
                yield current
            current = []
        apply(record, event)
        if message and message["type"] not in ("start_game", "end_game"):
            current.append((message, clone(record)))
    yield current


def review_of(game: GameRecord, seat: int = 0, *, names: Sequence[str] = ()) -> dict[str, Any]:
    """A review of a game in the form that the analysis writes, but with decisions made up from the events."""
    rounds, decisions = [], []
    for index, folded in enumerate(rounds_of(game.events)):
        first = len(decisions)
        decisions += [decision(index, place, folded, seat) for place in _own_draws(folded, seat)]
        rounds.append(_round(index, folded, (first, len(decisions)), _results(game.events, index)))
    ending = next(event for event in game.events if isinstance(event, EndGame))
    order = sorted(range(4), key=lambda player: -ending.scores[player])
    return {
        "format": "suzaku-review/3",
        "program": "suzaku 0.1.0",
        "game": {
            "id": "2010081009gm-00a9-0000-f60c7f78", "date": "2010-08-10T09", "type": 225, "length": "tonpuu",
            "names": list(names or game.names), "ranks": [16, 16, 17, 16],
            "rates": [2100.0, 2000.0, 2050.5, 2010.0],
            "scores": list(ending.scores), "results": [tenths / 10 for tenths in ending.results],
            "places": [order.index(player) + 1 for player in range(4)],
            "source": "mjlog", "known": [True, True, True, True],
        },
        "seat": seat,
        "policy": {"name": "network", "identity": "0123abcd"},
        "thresholds": {"inaccuracy": 0.35, "mistake": 0.1, "blunder": 0.02},
        "rounds": rounds,
        "decisions": decisions,
        "summary": summary_of(decisions, rounds),
    }  # fmt: skip


def seen_from(review: dict[str, Any], seat: int) -> dict[str, Any]:
    """The same game as seen by a player at the table: the others' hands and draws are unknown."""
    return review | {"rounds": [each | {"events": _seen(each["events"], seat)} for each in review["rounds"]]}


def _seen(events: Sequence[dict[str, Any]], seat: int) -> list[dict[str, Any]]:
    dealt, *rest = events
    hands = [hand if player == seat else ["?"] * 13 for player, hand in enumerate(dealt["tehais"])]
    return [
        dealt | {"tehais": hands},
        *(
            each | {"pai": "?"} if each["type"] == "tsumo" and each["actor"] != seat else each
            for each in rest
        ),
    ]


def summary_of(decisions: Sequence[dict[str, Any]], rounds: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Figures for made-up decisions."""
    judged = _judged(decisions)
    bad = [number for number, one in enumerate(decisions) if one["category"] != "fine"]
    return {
        **judged,
        "rating_definition": "100 times the mean ratio",
        "worst": sorted(bad, key=lambda number: -CATEGORIES.index(decisions[number]["category"])),
        "steps": [{**judged, "step": "discard"}],
        "rounds": [
            {**_judged([one for one in decisions if one["round"] == each["index"]]), "round": each["index"],
             "delta": each["result"]["deltas"][0], "reward": -121.9, "placement": -0.1}
            for each in rounds
        ],
        "rates": RATES,
        "hidden": 0,
        "comparison": None,
    }  # fmt: skip


def index_of(reviews: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """An index of reviews."""
    total = _judged([one for review in reviews for one in review["decisions"]])
    games = [
        {**_judged(review["decisions"]), "page": f"game-{number}.html", "data": f"game-{number}.json",
         "game": review["game"] | {"id": f"game-{number}"}, "seat": review["seat"], "rates": RATES}
        for number, review in enumerate(reviews)
    ]  # fmt: skip
    return {
        "format": "suzaku-review-index/2",
        "program": "suzaku 0.1.0",
        "policy": {"name": "network", "identity": "0123abcd"},
        "thresholds": reviews[0]["thresholds"],
        "rating_definition": "100 times the mean ratio",
        "games": games,
        "skipped": [{"file": "broken<b>.xml", "reason": "cut short"}],
        "ranks": list(_by_rank(reviews)),
        "total": {**total, "games": len(games), "rates": RATES, "places": [1, 1, 0, 0], "average_place": 1.5},
    }


def _by_rank(reviews: Sequence[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    for rank in sorted({review["game"]["ranks"][review["seat"]] for review in reviews}):
        held = [review for review in reviews if review["game"]["ranks"][review["seat"]] == rank]
        made = [one for review in held for one in review["decisions"]]
        yield {**_judged(made), "rank": rank, "games": len(held)}


def decision(index: int, place: int, folded: Sequence[Folded], seat: int) -> dict[str, Any]:
    """A player's decision after a draw, with every tile of the hand as an option."""
    record = folded[place][1]
    discarded = next(message for message, _ in folded[place + 1 :] if message["type"] == "dahai")
    drawn = mjai_text(int(record["drawn"]))
    faces = sorted({mjai_text(tile) for tile in hand_tiles(record, seat)})
    weights = [1 + (7 * position + place) % 11 for position in range(len(faces))]
    options = [
        {
            "action": _discard(face, face == drawn), "step": "discard",
            "probability": round(weight / sum(weights), 4),
            "reached": True, "shanten": 1 + weight % 3,
            "danger": [0.01 * weight, 0.0, 0.125],
            "learned": {"deal_in": [0.005 * weight, 0.0, 0.25], "cost": 1234.5},
            "ukeire": {"kinds": 2, "tiles": 3 + weight, "which": ["5mr", "E"]},
        }
        for face, weight in zip(faces, weights, strict=True)
    ]  # fmt: skip
    options.sort(key=lambda option: -option["probability"])
    done = next((o for o in options if o["action"]["tile"] == discarded["pai"]), options[0])
    agrees = done is options[0]
    return {
        "round": index, "event": place, "turn": 1 + place // 8, "step": "discard",
        "judged": "discard", "source": "model",
        "hand": {"shanten": 1, "waits": [], "furiten": place % 5 == 0, "riichi": False, "is_open": False},
        "opponents": [{"player": (seat + n) % 4, "tenpai": 0.1 * n, "points": 3900} for n in (1, 2, 3)],
        "done": done["action"], "preferred": options[0]["action"], "options": options, "agrees": agrees,
        "ratio": 1.0 if agrees else 0.25,
        "category": CATEGORIES[0] if agrees else CATEGORIES[index % 2 + place % 3],
        "notes": [{"key": "red_five", "params": {"tile": "5pr"}}] if place % 4 == 0 else [],
        "live": {
            "time_ms": 12.5, "budget_ms": 3000.0, "source": "fallback", "late": True,
            "fallback": "model <b>stopped</b>",
            "base": [0.5] * len(options), "adapted": [0.25] * len(options),
            "thought": {
                "way": "both", "base": options[-1]["action"], "playouts": 1_096, "worth": "points",
                "searched": [
                    {"ahead": 341.2, "doubt": 180.4, "deals": 64} if option is options[0] else None
                    for option in options
                ],
            },
        },
        "candidates": [
            {"model": model, "hands": [[
                {"tiles": "1m 2m 3m 4p 5pr 6p 7s 8s 9s E E S S", "shanten": 0},
                {"tiles": "1m 4m 7m 1p 4p 7p 1s 4s 7s E S W N", "shanten": 6},
            ]] * 3}
            for model in ("diffusion", "autoregressive")
        ],
    }  # fmt: skip


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


def _own_draws(folded: Sequence[Folded], seat: int) -> list[int]:
    draws = []
    for place, (message, _) in enumerate(folded[:-1]):
        mine = message["type"] == "tsumo" and message["actor"] == seat
        if mine and folded[place + 1][0]["type"] == "dahai":
            draws.append(place)
    return draws


def _discard(face: str, tsumogiri: bool) -> dict[str, Any]:
    return {"kind": "discard", "tile": face} | ({"tsumogiri": True} if tsumogiri else {})


def _results(events: Sequence[GameEvent], index: int) -> list[Win | DrawnRound]:
    seen, found = -1, []
    for event in events:
        seen += isinstance(event, StartRound)
        if seen == index and isinstance(event, Win | DrawnRound):
            found.append(event)
    return found


def _round(
    index: int, folded: Sequence[Folded], span: tuple[int, int], results: list[Win | DrawnRound]
) -> dict[str, Any]:
    start, end = folded[0][1], folded[-1][1]
    wins = [each for each in results if isinstance(each, Win)]
    deltas = [sum(each.deltas[player] for each in results) for player in range(4)]
    return {
        "index": index, "round_index": int(start["round_index"]), "honba": int(start["honba"]),
        "sticks": int(start["riichi_sticks"]), "dealer": int(start["dealer"]),
        "scores": [int(n) for n in start["scores"]],
        "events": [message for message, _ in folded],
        "result": {
            "kind": "win" if wins else "draw", "wins": [_winner(win) for win in wins],
            "reason": None if wins else results[0].reason,  # type: ignore[union-attr]
            "hands": None if wins else _shown(results[0]),  # type: ignore[arg-type]
            "tenpai": None if wins else [hand is not None for hand in _shown(results[0])],  # type: ignore[arg-type]
            "deltas": deltas, "scores": [int(n) for n in end["scores"]],
        },
        "expected": {"reward": [10.0 - index, 5.0, -5.0, -10.0 + index], "placement": [2.4, 2.5, 2.5, 2.6]},
        "after": {"reward": [90.0, 45.0, 0.0, -135.0], "placement": [1.0, 2.0, 3.0, 4.0]},
        "decisions": list(span),
    }  # fmt: skip


def _shown(drawn: DrawnRound) -> list[list[str] | None]:
    return [None if hand is None else [mjai_text(tile) for tile in hand] for hand in drawn.hands]


def _winner(win: Win) -> dict[str, Any]:
    yaku = [{"id": number, "name": YAKU_NAMES[number], "han": han} for number, han in win.yaku]
    return {
        "player": win.player, "from_player": win.from_player, "tile": mjai_text(win.tile),
        "hand": [mjai_text(tile) for tile in win.hand],
        "ura": [mjai_text(tile) for tile in win.ura_indicators],
        "han": sum(han for _, han in win.yaku), "fu": win.fu, "limit": win.limit,
        "points": win.points, "yaku": yaku,
    }  # fmt: skip


def _judged(decisions: Sequence[dict[str, Any]]) -> dict[str, Any]:
    count = len(decisions)
    agreed = sum(one["agrees"] for one in decisions)
    categories = {name: sum(one["category"] == name for one in decisions) for name in CATEGORIES}
    bad = categories["mistake"] + categories["blunder"]
    figures = ZERO if not count else {
        "decisions": count, "agreed": agreed, "agreement": round(agreed / count, 4), "bad_moves": bad,
        "bad_move_rate": round(bad / count, 4), "rating": 81.25,
    }  # fmt: skip
    return {
        **figures,
        "categories": categories,
    }
