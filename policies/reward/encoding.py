"""The games that the reward predictor reads, and its inputs: each round as numbers, by player.

Each round is described at the deal: every player's score, the changes of the previous round, dealer, honba,
sticks, the progress of the game, and the player's lead over each opponent, coarse and fine, because at the
end a hundred points can decide a place. The predicted player always comes first, so one network serves all
four. Rounds are counted from the last regular one: a hanchan at South 1 has as much left as a tonpuu at East
1, so each helps to train the other.

It also knows the places after the round, and whether the game is then over. Every round ends in one of
160 results: a win by each player, by self-draw or from each opponent, with one of nine values; or a draw with
any of the players tenpai. Each result is settled exactly, with honba and sticks, and weighted by how often it
occurs, the same for all players but the dealer. In the last round this is nearly the answer; the network only
corrects it.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Sequence
from functools import cache
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from game.events import GameEvent, StartRound
from game.ranking import Uma
from game.scoring.settlement import (
    HONBA_POINTS,
    LAST_ROUND,
    RETURN_SCORE,
    RIICHI_STICK,
    START_SCORE,
    GameLength,
    draw_deltas,
    ron_points,
    tsumo_payments,
)
from kit.jit import kernel, warms_up

ROUND_START: Final = np.dtype(
    [("round_index", "i1"), ("honba", "i2"), ("riichi_sticks", "i2"), ("scores", "i4", (4,))]
)
"""A round at the deal, with the fields of `game.layout.ROUND_STATE`; players are absolute."""


class PaddedGames(NamedTuple):
    """Rounds of games, padded to one length.

    Attributes:
        starts: ``[G, T]`` of `ROUND_START`; zeros past a game's rounds.
        counts: ``[G]`` rounds that have been dealt.
        hanchan: ``[G]`` bool, false for a tonpuu.
    """

    starts: NDArray[np.void]
    counts: NDArray[np.int64]
    hanchan: NDArray[np.bool_]

    @property
    def dealt(self) -> NDArray[np.bool_]:
        """``[G, T]``: true for rounds, false for padding."""
        dealt: NDArray[np.bool_] = np.arange(self.starts.shape[1]) < self.counts[:, None]
        return dealt


def round_starts(events: Iterable[GameEvent]) -> NDArray[np.void]:
    """``[T]`` of `ROUND_START`: the rounds dealt in a game so far."""
    rows = [
        (event.round_index, event.honba, event.riichi_sticks, event.scores)
        for event in events
        if isinstance(event, StartRound)
    ]
    return np.array(rows, dtype=ROUND_START)


def together(games: Sequence[tuple[NDArray[np.void], GameLength]]) -> PaddedGames:
    """Games of different lengths as one array.

    Args:
        games: the rounds ``[T]`` of each, records of `ROUND_START` or of `game.layout.ROUND_STATE` just after
            the deal, and its length.
    """
    counts = np.array([len(starts) for starts, _ in games], np.int64)
    padded = np.zeros((len(games), int(counts.max(initial=0))), ROUND_START)
    for row, (starts, _) in zip(padded, games, strict=True):
        for name in ROUND_START.names or ():
            row[name][: len(starts)] = starts[name]
    return PaddedGames(padded, counts, np.array([length == "hanchan" for _, length in games], np.bool_))


def final_rewards(scores: NDArray[Any], uma: Uma) -> NDArray[np.float64]:
    """The rewards of finished games.

    Args:
        scores: ``[..., 4]`` final scores, with or without the sticks left on the table.
        uma: what places and scores are worth.

    Returns:
        ``[..., 4]`` by player.
    """
    return uma.by_place[places_of(scores) - 1] + uma.of_scores(scores)


def places_of(scores: NDArray[Any]) -> NDArray[np.int64]:
    """Places 1-4 of many games at once, as `game.scoring.settlement.placements` for one game.

    >>> places_of(np.array([[25_000, 30_000, 25_000, 20_000]]))
    array([[2, 1, 3, 4]])
    """
    order = np.argsort(-scores.astype(np.int64), axis=-1, kind="stable")
    return np.argsort(order, axis=-1) + 1


OUTCOME_INPUTS: Final = 8
"""Probabilities of the four places after the round, and of each of them together with the end of the game."""

_BASES: Final = (240, 480, 640, 960, 1280, 1920, 2000, 3000, 4000)
"""Base points of the values of a win."""
_RON: Final = (0.16, 0.20, 0.10, 0.14, 0.10, 0.10, 0.145, 0.045, 0.01)
_TSUMO: Final = (0.10, 0.13, 0.08, 0.14, 0.10, 0.11, 0.20, 0.12, 0.02)
"""Share of each value. These and the following shares are rounded from 104,000 wins and 18,000 exhaustive
draws in the Phoenix games of the training split; that of the dealer's wins is from their last rounds."""
_WINS: Final = 0.85
_DEALER_WINS: Final = 0.285
_SELF_DRAWN: Final = 0.41
_TENPAI: Final = (0.04, 0.395, 0.425, 0.14, 0.0)
"""Share of the exhaustive draws with so many players tenpai."""


class RoundOutcomes(NamedTuple):
    """The results ``R`` of a round by dealer.

    Attributes:
        changes: ``[4, R, 4]`` int64, changes of the scores without honba and sticks.
        honba: ``[4, R, 4]`` int64, changes for each honba.
        winners: ``[R]`` int64, who receives the sticks; -1 after a draw.
        repeats: ``[4, R]`` bool, whether the dealer deals again.
        chances: ``[4, R]`` how often it occurs.
    """

    changes: NDArray[np.int64]
    honba: NDArray[np.int64]
    winners: NDArray[np.int64]
    repeats: NDArray[np.bool_]
    chances: NDArray[np.float64]


def places_after(games: PaddedGames) -> NDArray[np.float32]:
    """``[G, T, 4, 8]`` by player: the `OUTCOME_INPUTS` of each round; zeros past a game's rounds."""
    out = np.zeros((*games.starts.shape, 4, OUTCOME_INPUTS), np.float32)
    last = np.where(games.hanchan, LAST_ROUND["hanchan"], LAST_ROUND["tonpuu"])
    dealt = games.dealt
    starts = games.starts[dealt]
    found = np.zeros((len(starts), 4, OUTCOME_INPUTS), np.float32)
    _settle(
        starts["round_index"].astype(np.int64),
        np.broadcast_to(last[:, None], dealt.shape)[dealt],
        starts["honba"].astype(np.int64),
        starts["riichi_sticks"].astype(np.int64),
        starts["scores"].astype(np.int64),
        round_outcomes(),
        found,
    )
    out[dealt] = found
    return out


@cache
def round_outcomes() -> RoundOutcomes:
    """The results of a round, in one order for all dealers."""
    wins = list(itertools.product(range(4), range(4), range(len(_BASES))))
    draws = list(itertools.product((False, True), repeat=4))
    size = len(wins) + len(draws)
    found = RoundOutcomes(
        np.zeros((4, size, 4), np.int64),
        np.zeros((4, size, 4), np.int64),
        np.array([winner for winner, _, _ in wins] + [-1] * len(draws), np.int64),
        np.zeros((4, size), np.bool_),
        np.zeros((4, size)),
    )
    for dealer in range(4):
        for row, (winner, payer, value) in enumerate(wins):
            _add_win(found, dealer, row, winner, payer, value)
        for row, tenpai in enumerate(draws, len(wins)):
            ready = sum(tenpai)
            found.changes[dealer, row] = draw_deltas(tenpai)
            found.repeats[dealer, row] = tenpai[dealer]
            found.chances[dealer, row] = (1.0 - _WINS) * _TENPAI[ready] / math.comb(4, ready)
    found.chances[:] /= found.chances.sum(axis=1, keepdims=True)
    return found


def _add_win(found: RoundOutcomes, dealer: int, row: int, winner: int, payer: int, value: int) -> None:
    is_dealer, is_tsumo = winner == dealer, winner == payer
    changes, honba = found.changes[dealer, row], found.honba[dealer, row]
    if is_tsumo:
        from_dealer, from_other = tsumo_payments(_BASES[value], is_dealer)
        changes[:] = -from_other
        changes[dealer] = -from_dealer
        honba[:] = -HONBA_POINTS // 3
    else:
        changes[payer] = -ron_points(_BASES[value], is_dealer)
        honba[payer] = -HONBA_POINTS
    changes[winner] = honba[winner] = 0
    changes[winner], honba[winner] = -changes.sum(), -honba.sum()
    found.repeats[dealer, row] = is_dealer
    wins = _WINS * (_DEALER_WINS if is_dealer else (1.0 - _DEALER_WINS) / 3)
    way = _SELF_DRAWN * _TSUMO[value] if is_tsumo else (1.0 - _SELF_DRAWN) / 3 * _RON[value]
    found.chances[dealer, row] = wins * way


@kernel
def _settle(indices: Any, last: Any, honba: Any, sticks: Any, scores: Any, outcomes: Any, out: Any) -> None:
    """Settle every result of every round, and add its chance to the places that it gives."""
    changes, honba_changes, winners, repeats, chances = outcomes
    after = np.empty(4, np.int64)
    places = np.empty(4, np.int64)
    for number in range(len(indices)):
        dealer = indices[number] % 4
        for row in range(len(winners)):
            for player in range(4):
                after[player] = scores[number, player] + changes[dealer, row, player]
                after[player] += honba[number] * honba_changes[dealer, row, player]
            if winners[row] >= 0:
                after[winners[row]] += sticks[number] * RIICHI_STICK
            places[:] = 0
            for player in range(3):
                for other in range(player + 1, 4):
                    places[other if after[player] >= after[other] else player] += 1
            over = _over(indices[number], last[number], repeats[dealer, row], after, places[dealer])
            for player in range(4):
                out[number, player, places[player]] += chances[dealer, row]
                if over:
                    out[number, player, 4 + places[player]] += chances[dealer, row]


@kernel
def _over(index: Any, last: Any, repeats: Any, after: Any, dealers_place: Any) -> bool:
    """As `game.scoring.settlement.game_over`, after a win or an exhaustive draw."""
    if after.min() < 0:
        return True
    if index < last:
        return False
    enough = after.max() >= RETURN_SCORE
    if repeats:
        return bool(enough and dealers_place == 0)
    return bool(enough or index >= last + 4)


@warms_up
def _warm_up() -> None:
    games = PaddedGames(np.zeros((1, 1), ROUND_START), np.ones(1, np.int64), np.ones(1, np.bool_))
    places_after(games)


ROUNDS_AND_OUTCOMES: Final = "rounds-36/1"
"""Name of the encoding; other numbers need another name."""
_ROUND_INPUTS: Final = 28
INPUTS: Final = _ROUND_INPUTS + OUTCOME_INPUTS
"""Numbers for each player and round."""
CHANGES: Final = slice(0, 4)
"""Indices of the previous round's changes; zeros in the first known round."""

_POINTS: Final = 10_000
_ROUNDS: Final = 8
_COUNTERS: Final = 5
_SCORES: Final = slice(4, 8)
_DEALER: Final = slice(8, 12)
_AHEAD: Final = slice(16, 19)
_GAPS: Final = ((slice(19, 22), 1_000), (slice(22, 25), 4_000), (slice(25, 28), 12_000))
"""Indices of the leads, and the points at which each begins to saturate."""
_PLAYERS: Final = np.arange(4)
_IN_ORDER: Final = (_PLAYERS[:, None] + _PLAYERS) % 4
"""``[player, seat]``: the absolute player at each seat relative to the player."""


def encode(games: PaddedGames) -> NDArray[np.float32]:
    """The network's input for each player.

    Returns:
        ``[G, 4, T, C]`` by player: changes of the previous round (4, by seat from the player on), scores
        relative to the start (4, likewise), dealer (4 flags, likewise), rounds past the last regular one,
        honba, sticks, whether the game is a hanchan, whether the player is ahead of each opponent (3 flags),
        and by how much (3 each at three scales, -1 to 1), the probability of each place after the
        round, and of each together with the end of the game (8). The first known round has no
        changes.
    """
    starts = games.starts
    points = starts["scores"] / _POINTS
    changes = np.zeros_like(points)
    changes[:, 1:] = np.diff(points, axis=1)
    last = np.where(games.hanchan, LAST_ROUND["hanchan"], LAST_ROUND["tonpuu"])
    dealers = starts["round_index"] % 4
    out = np.empty((len(starts), 4, starts.shape[1], INPUTS), np.float32)
    for player, order in enumerate(_IN_ORDER):
        rows = out[:, player]
        rows[..., CHANGES] = changes[..., order]
        rows[..., _SCORES] = points[..., order] - START_SCORE / _POINTS
        rows[..., _DEALER] = dealers[..., None] == order
        others = order[1:]
        gaps = starts["scores"][..., [player]] - starts["scores"][..., others]
        rows[..., _AHEAD] = np.where(gaps, gaps > 0, player < others)  # ties go to the first in seat order
        for places, measure in _GAPS:
            rows[..., places] = np.tanh(gaps / measure)
    out[..., 12] = ((starts["round_index"] - last[:, None]) / _ROUNDS)[:, None]
    out[..., 13] = (starts["honba"] / _COUNTERS)[:, None]
    out[..., 14] = (starts["riichi_sticks"] / _COUNTERS)[:, None]
    out[..., 15] = games.hanchan[:, None, None]
    out[..., _ROUND_INPUTS:] = places_after(games).swapaxes(1, 2)
    return out
