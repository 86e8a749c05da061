from __future__ import annotations

import pytest

from policies.hands.direct import DirectModel
from replays.review.report import Reviewer
from tests.replays.review.made import named, of_whole, predictor, whole


def test_danger_by_the_model_of_hands_stands_beside_that_by_rule() -> None:
    reviewer = Reviewer("test", named(), predictor(), None, DirectModel.load())
    made = reviewer.review(whole(), 0)
    plain = of_whole(0)
    riichi = 0
    for decision, without in zip(made.decisions, plain.decisions, strict=True):
        assert [option.danger for option in decision.options] == [option.danger for option in without.options]
        points = [opponent.points for opponent in decision.opponents or ()]
        for option in decision.options:
            if option.action.kind not in ("discard", "riichi"):
                assert option.learned is None
                continue
            assert all(0.0 <= chance < 1.0 for chance in option.learned.deal_in)
            expected = sum(chance * cost for chance, cost in zip(option.learned.deal_in, points, strict=True))
            assert option.learned.cost == pytest.approx(expected, rel=0.01, abs=1.0)
        for opponent in decision.opponents or ():
            assert sum(opponent.shanten) == pytest.approx(1.0, abs=0.001)
            if opponent.tenpai == 1.0 and opponent.shanten[0] == 1.0:
                riichi += 1
    assert riichi > 0
    assert all(opponent.shanten is None for each in plain.decisions for opponent in each.opponents or ())
