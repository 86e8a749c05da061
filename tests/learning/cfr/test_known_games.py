"""The textbook's CFR, which ours is compared with, on games whose answers are known."""

from __future__ import annotations

from collections.abc import Callable
from itertools import permutations, product

import pytest

from learning.cfr.sampling import UPDATES
from tests.learning.cfr.textbook import CHANCE, OVER, Cfr, Node, best_response, exploitability, value_of
from tests.scale import scaled

KUHN_DEALS = tuple(permutations(range(3), 2))
LEDUC_DEALS = tuple(product(range(3), repeat=2))


def kuhn(history: tuple[int, ...] = ()) -> Node:
    """Kuhn poker: three cards, an ante of 1, one bet of 1; 0 checks or folds, 1 bets or calls."""
    if not history:
        return Node(CHANCE, (1 / 6,) * 6, [kuhn((deal,)) for deal in range(6)])
    cards, moves = KUHN_DEALS[history[0]], history[1:]
    sign = 1 if cards[0] > cards[1] else -1
    ends = {(0, 0): sign, (1, 1): 2 * sign, (0, 1, 1): 2 * sign, (1, 0): 1, (0, 1, 0): -1}
    if moves in ends:
        return Node(OVER, utility=ends[moves])
    player = len(moves) % 2
    return Node(player, (cards[player], moves), [kuhn((*history, move)) for move in (0, 1)])


def leduc(history: tuple[int, ...] = ()) -> Node:
    """Leduc hold'em: two cards of each of three ranks, two rounds of betting, a shared card between them.

    The ante is 1, a bet or raise 2 in the first round and 4 in the second, two of them at most in a round.
    Without a bet, 0 checks and 1 bets; facing one, 0 folds, 1 calls and 2 raises.
    """
    if not history:
        chances = tuple((2 if one == other else 4) / 30 for one, other in LEDUC_DEALS)
        return Node(CHANCE, chances, [leduc((deal,)) for deal in range(9)])
    cards, paid, shared, left = LEDUC_DEALS[history[0]], [1, 1], -1, list(history[1:])
    for number, bet in enumerate((2, 4)):
        player, raises = 0, 0
        while True:
            facing = paid[0] != paid[1]
            if not left:
                moves = range(3 if facing and raises < 2 else 2)
                known = (cards[player], shared, history[1:])
                return Node(player, known, [leduc((*history, move)) for move in moves])
            move = left.pop(0)
            if facing and move == 0:
                return Node(OVER, utility=-paid[0] if player == 0 else paid[1])
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
                chances = tuple((2 - cards.count(rank)) / 4 for rank in range(3))
                return Node(
                    CHANCE,
                    chances,
                    [leduc((*history, rank)) if chances[rank] else Node(OVER) for rank in range(3)],
                )
            shared = left.pop(0)
    ranks = [10 if card == shared else card for card in cards]
    return Node(OVER, utility=paid[0] * ((ranks[0] > ranks[1]) - (ranks[0] < ranks[1])))


def test_the_value_and_an_equilibrium_of_kuhn_poker() -> None:
    root = kuhn()
    solver = Cfr(root, UPDATES["cfr"])
    solver.run(scaled(2_000, 20_000))
    strategy = solver.average()
    assert value_of(root, strategy) == pytest.approx(-1 / 18, abs=1e-3)
    assert exploitability(root, strategy) < 0.01
    bets = {known: shares[1] for known, shares in strategy.items()}
    # Kuhn's equilibria: the first player bluffs with the lowest card as it likes, up to 1/3, and bets the
    # highest three times as often; everything else is fixed
    bluff = bets[0, ()]
    assert 0.0 <= bluff <= 1 / 3 + 0.02
    assert bets[2, ()] == pytest.approx(3 * bluff, abs=0.05)
    assert bets[1, ()] == pytest.approx(0.0, abs=0.02)
    assert bets[1, (0, 1)] == pytest.approx(bluff + 1 / 3, abs=0.05)
    assert bets[1, (1,)] == pytest.approx(1 / 3, abs=0.05)
    assert bets[0, (0,)] == pytest.approx(1 / 3, abs=0.05)
    assert bets[0, (1,)] == pytest.approx(0.0, abs=0.02)
    assert bets[2, (1,)] == pytest.approx(1.0, abs=0.02)


def test_every_variant_solves_kuhn_poker_and_plus_the_fastest() -> None:
    root, left = kuhn(), {}
    for name, update in UPDATES.items():
        solver = Cfr(root, update)
        solver.run(500)
        assert value_of(root, solver.average()) == pytest.approx(-1 / 18, abs=0.01)
        left[name] = exploitability(root, solver.average())
    assert 0.0 <= left["plus"] < 0.1 * left["linear"] < 0.1 * left["cfr"] < 0.002


def test_the_published_value_of_leduc_holdem() -> None:
    root = leduc()
    solver = Cfr(root, UPDATES["plus"])
    assert len(solver.regrets) == 288
    solver.run(100)
    assert value_of(root, solver.average()) == pytest.approx(-0.085606, abs=1e-3)
    assert exploitability(root, solver.average()) < 0.02


@pytest.mark.parametrize(("game", "gained"), [(kuhn, 11 / 12), (leduc, 4.747222)])
def test_best_responses_to_uniform_play_get_what_others_say(game: Callable[[], Node], gained: float) -> None:
    """The figures are those of OpenSpiel's `nash_conv`: of both players together."""
    root = game()
    strategy = Cfr(root, UPDATES["cfr"]).average()
    assert 2 * exploitability(root, strategy) == pytest.approx(gained, abs=1e-6)


def test_a_best_response_chooses_for_a_whole_information_set() -> None:
    """A player who does not see a coin guesses it: knowing it would be worth 1, not knowing it 0.2."""
    guesses = [Node(1, "guess", [Node(OVER, utility=-1), Node(OVER, utility=1)]) for _ in range(2)]
    guesses[1].children = guesses[1].children[::-1]
    coin = Node(0, "coin", guesses)
    assert best_response(coin, {"coin": (0.6, 0.4), "guess": (0.5, 0.5)}, 1) == pytest.approx(0.2)
