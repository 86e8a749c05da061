"""Small games whose value is known: Kuhn poker and Leduc hold'em."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import permutations, product
from typing import Final, Literal, NamedTuple, TypeAlias

from learning.cfr.tree import ChanceNode, DecisionNode, OutcomeNode, Step

_KUHN_DEALS: Final = tuple(permutations(range(3), 2))
_LEDUC_DEALS: Final = tuple(product(range(3), repeat=2))
_LEDUC_BETS: Final = (2, 4)
_LEDUC_RAISES: Final = 2


class KnownGame(NamedTuple):
    """A game, its value for player 0, and who says so."""

    rules: Callable[[tuple[int, ...]], Step]
    value: float
    source: str


def kuhn(history: tuple[int, ...]) -> Step:
    """Kuhn poker: three cards, an ante of 1, one bet of 1; 0 checks or folds, 1 bets or calls."""
    if not history:
        return ChanceNode([1 / 6] * 6)
    cards, moves = _KUHN_DEALS[history[0]], history[1:]
    sign = 1 if cards[0] > cards[1] else -1
    match moves:
        case (0, 0):
            return OutcomeNode(sign)
        case (1, 1) | (0, 1, 1):
            return OutcomeNode(2 * sign)
        case (1, 0):
            return OutcomeNode(1)
        case (0, 1, 0):
            return OutcomeNode(-1)
    player = len(moves) % 2
    return DecisionNode(player, (cards[player], moves), 2)


def leduc(history: tuple[int, ...]) -> Step:
    """Leduc hold'em: two cards of each of three ranks, two rounds of betting, a shared card between them.

    The ante is 1, a bet or raise 2 in the first round and 4 in the second, two of them at most in a round.
    Without a bet, 0 checks and 1 bets; facing one, 0 folds, 1 calls and 2 raises.
    """
    if not history:
        return ChanceNode([(2 if one == other else 4) / 30 for one, other in _LEDUC_DEALS])
    cards, paid, shared, left = _LEDUC_DEALS[history[0]], [1, 1], -1, list(history[1:])
    for number, bet in enumerate(_LEDUC_BETS):
        player, raises = 0, 0
        while True:
            facing = paid[0] != paid[1]
            if not left:
                information = (cards[player], shared, history[1:])
                return DecisionNode(player, information, 3 if facing and raises < _LEDUC_RAISES else 2)
            move = left.pop(0)
            if facing and move == 0:
                return OutcomeNode(-paid[0] if player == 0 else paid[1])
            if facing:
                paid[player] = paid[1 - player]
            if move == (2 if facing else 1):
                paid[player] += bet
                raises += 1
            elif facing or player == 1:
                break
            player = 1 - player
        if number == 0:
            if not left:
                return ChanceNode([(2 - cards.count(rank)) / 4 for rank in range(3)])
            shared = left.pop(0)
    return OutcomeNode(paid[0] * _comparison(cards, shared))


def _comparison(cards: Sequence[int], shared: int) -> int:
    """1 if player 0's card wins at the showdown, -1 if player 1's does, 0 if they share."""
    if cards[0] == cards[1]:
        return 0
    if shared in cards:
        return 1 if cards[0] == shared else -1
    return 1 if cards[0] > cards[1] else -1


GameName: TypeAlias = Literal["kuhn", "leduc"]

KNOWN_GAMES: Final[dict[GameName, KnownGame]] = {
    "kuhn": KnownGame(kuhn, -1 / 18, 'H. W. Kuhn, "A simplified two-person poker", 1950'),
    "leduc": KnownGame(leduc, -0.085606, "the value that solvers of the game agree on"),
}
