"""What one round can change, against the rules of settlement."""

from __future__ import annotations

import numpy as np
import pytest

from game.scoring.settlement import GameLength, draw_deltas, game_over, placements, ron_points, tsumo_payments
from policies.reward.encoding import ROUND_START, places_after, round_outcomes, together

Four = tuple[int, int, int, int]


def outcomes(number: int, honba: int, sticks: int, scores: Four, length: GameLength) -> np.ndarray:
    start = np.array([(number, honba, sticks, scores)], ROUND_START)
    return places_after(together([(start, length)]))[0, 0]


@pytest.mark.parametrize("length", ["hanchan", "tonpuu"])
def test_every_result_is_settled_by_the_rules(length: GameLength) -> None:
    dice = np.random.default_rng(4)
    known = round_outcomes()
    for number in range(12):
        scores: Four = tuple(100 * dice.multinomial(1000, [0.25] * 4) + [0, 0, 0, -2000])  # type: ignore[assignment]
        honba, sticks = int(dice.integers(3)), int(dice.integers(3))
        wanted, dealer = np.zeros((4, 8)), number % 4
        for row, winner in enumerate(known.winners.tolist()):
            after = np.array(scores) + known.changes[dealer, row] + honba * known.honba[dealer, row]
            after[winner] += 1000 * sticks * (winner >= 0)
            repeats = bool(known.repeats[dealer, row])
            over = game_over(number, repeats, after.tolist(), length, aborted=False)
            for player, place in enumerate(placements(after.tolist())):
                wanted[player, place - 1] += known.chances[dealer, row]
                wanted[player, place + 3] += known.chances[dealer, row] * over
        assert outcomes(number, honba, sticks, scores, length) == pytest.approx(wanted, abs=1e-5)


@pytest.mark.parametrize("dealer", range(4))
def test_results_are_those_of_a_round(dealer: int) -> None:
    known = round_outcomes()
    assert known.changes.shape == (4, 4 * 4 * 9 + 16, 4)
    assert not known.changes.sum(axis=-1).any()
    assert not known.honba.sum(axis=-1).any()
    assert known.chances.sum(axis=1) == pytest.approx(np.ones(4))
    wins, draws = known.winners >= 0, known.winners < 0
    assert {tuple(row) for row in known.changes[dealer, draws].tolist()} == {
        draw_deltas([bool(bits >> player & 1) for player in range(4)]) for bits in range(16)
    }
    assert (known.repeats[dealer, wins] == (known.winners[wins] == dealer)).all()
    for winner in range(4):
        rows = known.changes[dealer, known.winners == winner]
        is_dealer = winner == dealer
        from_dealer, from_other = tsumo_payments(2000, is_dealer)
        paid = {tuple(sorted(row)) for row in np.delete(rows, winner, axis=1).tolist()}
        assert tuple(sorted((-from_other, -from_other, -(from_other if is_dealer else from_dealer)))) in paid
        assert (-ron_points(2000, is_dealer), 0, 0) in paid


def test_rounds_past_the_end_are_zeros() -> None:
    start = np.array([(0, 0, 0, (25_000,) * 4)] * 3, ROUND_START)
    found = places_after(together([(start, "hanchan"), (start[:1], "hanchan")]))
    assert found[0].any(axis=(1, 2)).all()
    assert not found[1, 1:].any()
    assert np.array_equal(found[1, 0], found[0, 0])
