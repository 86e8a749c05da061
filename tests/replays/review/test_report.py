"""Whole games: the review is consistent with itself and with the game."""

from __future__ import annotations

import json
from collections import Counter
from functools import cache

import msgspec
import numpy as np
import pytest

from game.events import EndGame, Win
from game.scoring.settlement import final_results, final_scores
from kit.errors import ReplayError
from policies.heuristic.player import HeuristicPolicy
from policies.play.named import RandomPolicy
from replays.formats import read_game
from replays.review.candidate_hands import candidate_hands
from replays.review.moments import follow
from replays.review.report import as_json
from replays.review.schema import Review
from tests.policies.deals.positions import UniformHands
from tests.policies.fakes import Scripted
from tests.replays.games import seen_from
from tests.replays.review.made import (
    decided,
    first_round,
    of_first_round,
    of_whole,
    record_of,
    reviewed,
    reviewer,
    whole,
)
from tests.scale import scaled
from tests.scene import Scene
from tests.shared import shard_texts

FAR = "147m258p369s1234z"


def check(made: Review) -> None:
    """Check everything that must be true of any review."""
    summary, decisions = made.summary, made.decisions
    count = len(decisions)
    assert summary.decisions == count
    assert summary.agreement == pytest.approx(sum(each.agrees for each in decisions) / count, abs=1e-4)
    counted = Counter(each.category for each in decisions)
    assert msgspec.structs.asdict(summary.categories) == {
        name: counted[name]
        for name in ("fine", "inaccuracy", "mistake", "blunder")  # type: ignore[index]
    }
    bad = counted["mistake"] + counted["blunder"]
    assert summary.bad_move_rate == pytest.approx(bad / count, abs=1e-4)
    assert summary.rating == pytest.approx(100 * sum(each.ratio for each in decisions) / count, abs=0.01)
    assert sorted(summary.worst) == [n for n, each in enumerate(decisions) if each.category != "fine"]
    worst = [decisions[number] for number in summary.worst]
    ratios = [each.ratio for each in worst if each.judged != "nine_terminals"]
    assert ratios == sorted(ratios)
    assert sum(each.decisions for each in summary.steps) == count
    assert sum(each.decisions for each in summary.rounds) == count
    for number, each in enumerate(decisions):
        first, end = made.rounds[each.round].decisions
        assert first <= number < end
        assert 0 <= each.event < len(made.rounds[each.round].events)
        assert each.options[0].action == each.preferred
        assert sum(option.action == each.done for option in each.options) == 1
        assert (each.ratio == 1.0) or not each.agrees
        assert sum(option.probability for option in each.options) == pytest.approx(1.0, abs=1e-4)
        for option in each.options:
            ends = option.action.kind in ("tsumo", "ron", "nine_terminals")
            assert (option.shanten is None) == (option.ukeire is None) == ends
            assert (option.discard is not None) == (option.action.kind in ("chi", "pon"))
    for each, following in zip(made.rounds, made.rounds[1:], strict=False):
        assert each.result.scores == following.scores
        assert each.after == following.expected
        assert sum(each.expected.reward) == pytest.approx(0.0, abs=0.01)
        assert sum(each.expected.placement) == pytest.approx(10.0, abs=0.05)
    total = sum(each.reward or 0.0 for each in summary.rounds)
    last, start = made.rounds[-1].after, made.rounds[0].expected.reward
    if last is not None and last.reward is not None and start is not None:
        assert total == pytest.approx(last.reward[made.player] - start[made.player], abs=0.05)


def test_danger_is_told_by_opponent() -> None:
    scene = Scene(FAR).own("5z", "5z").draw().riichi("1m").turn("9p").turn("9p").draw("5p")
    safe = next(action for action in scene.legal() if str(action) == "discard 1m")
    decision = decided(scene.discard("5p"), Scripted({safe: 1.0}))
    danger = {option.action.tile: option.danger for option in decision.options}
    assert decision.preferred.tile == "1m"
    assert danger["1m"] == (0.0, pytest.approx(0, abs=0.02), pytest.approx(0, abs=0.02))
    assert danger["5p"] is not None
    assert danger["5p"][0] > 0.05
    assert (decision.opponents[0].player, decision.opponents[0].tenpai) == (1, 1.0)


def test_the_end_of_a_game_is_what_it_brought() -> None:
    scores = final_scores((30000, 29000, 21000, 20000), 0)
    scene = Scene(FAR, round_index=7, scores=scores).turn("9p")
    after = reviewed(record_of(scene, EndGame(scores, final_results(scores))), 0).rounds[-1].after
    assert after.reward == (90.0, 45.0, 0.0, -135.0)
    assert after.placement == (1.0, 2.0, 3.0, 4.0)


@pytest.mark.parametrize("seat", range(4))
def test_a_player_agrees_with_himself(seat: int) -> None:
    made = of_whole(seat)
    check(made)
    assert made.summary.agreement == 1.0
    assert made.summary.rating == 100.0
    assert made.summary.worst == ()


@cache
def of_two() -> Review:
    return reviewer(RandomPolicy(), HeuristicPolicy()).review(whole(), 0)


def test_another_policy_disagrees() -> None:
    made = of_two()
    check(made)
    assert made.summary.agreement < 0.9
    assert made.summary.worst
    comparison = made.summary.comparison
    assert comparison.agreement == 1.0
    assert comparison.of_policies == made.summary.agreement
    assert comparison.rating == 100.0
    assert all(each.other_agrees and each.other_ratio == 1.0 for each in made.decisions)


def test_the_other_policy_gives_what_it_gives_alone() -> None:
    for each, alone in zip(of_two().decisions, of_whole(0).decisions, strict=True):
        assert each.other == alone.preferred
        chances = {option.action: option.probability for option in alone.options}
        assert {option.action: option.other for option in each.options} == chances
    assert all(option.other is None for each in of_whole(0).decisions for option in each.options)


def test_another_seat_stands_beside() -> None:
    made = reviewer(Scripted()).review(first_round(), 0, beside=3)
    beside = made.summary.comparison
    alone = reviewer(Scripted()).review(first_round(), 3)
    assert alone.summary.agreement not in (None, 1.0)
    assert beside.figures.agreement == beside.agreement == alone.summary.agreement
    assert beside.rates == alone.summary.rates


def test_the_view_of_one_seat_is_enough_for_it() -> None:
    full, own = of_first_round(1), reviewed(seen_from(first_round(), 1), 1)
    assert own.game.known == (False, True, False, False)
    assert own.decisions == full.decisions
    with pytest.raises(ReplayError, match="does not show the hand of player 0; it shows 1"):
        reviewed(seen_from(whole(), 1), 0)


def test_names_are_text_and_stay_out_of_anonymous_reviews() -> None:
    hostile = ("</script><b>", "\u202eabc\u0000", "\ud800" * 100, "x" * 10_000)
    record = msgspec.structs.replace(first_round(), names=hostile)
    made = reviewed(record, 0)
    document = json.loads(as_json(made))
    assert document["game"]["names"][:2] == list(hostile[:2])
    assert all(len(name) <= 60 for name in document["game"]["names"])
    hidden = reviewer().review(record, 0, anonymous=True)
    text = as_json(hidden).decode()
    assert hidden.game.names == ("", "", "", "")
    assert hidden.game.ranks is None
    assert record.game_id not in text
    assert "script" not in text
    assert hidden.decisions == made.decisions


def told_yaku(made: Review) -> list[tuple[int, int]]:
    return [(each.id, each.han) for each in made.rounds[0].result.wins[0].yaku]


def test_only_yaku_that_count_are_told() -> None:
    start, *events = first_round().events
    place, won = next((n, each) for n, each in enumerate(events) if isinstance(each, Win))
    assert (53, 0) in won.yaku
    assert told_yaku(of_first_round(0)) == [(1, 1), (0, 1)]
    events[place] = msgspec.structs.replace(won, yaku=(), yakuman=(37, 39), limit=5)
    limited = msgspec.structs.replace(whole(), events=(start, *events))
    assert told_yaku(reviewed(limited, 0)) == [(37, 0), (39, 0)]


def test_a_game_cut_short_is_reviewed_as_far_as_it_goes() -> None:
    cut = msgspec.structs.replace(whole(), events=whole().events[:60])
    made = reviewed(cut, 0)
    assert made.rounds[-1].result.kind == "cut"
    assert made.rounds[-1].after is None
    assert made.game.places is None
    assert 0 < len(made.decisions) < len(of_whole(0).decisions)


@pytest.mark.parametrize("shard", ["houou-00", "strongbot-00"])
def test_real_games_are_reviewed(shard: str) -> None:
    for number, (_, text) in enumerate(shard_texts(shard, scaled(1, 3))):
        check(reviewed(read_game(text), number % 4))


def test_all_seats_are_reviewed_as_each_alone() -> None:
    made = reviewer().review(first_round(), 1, all_seats=True)
    assert [each.player for each in made.seats] == [0, 2, 3]
    for each in made.seats:
        alone = of_first_round(each.player)
        assert (each.decisions, each.summary) == (alone.decisions, alone.summary)
    alone = of_first_round(1)
    assert (made.rounds, made.decisions, made.summary) == (alone.rounds, alone.decisions, alone.summary)
    assert alone.seats == ()


def test_only_seats_whose_hands_are_known_are_reviewed() -> None:
    assert reviewer().review(seen_from(first_round(), 2), 2, all_seats=True).seats == ()


def test_candidate_hands_stand_beside_every_decision() -> None:
    """Made-up hands: as many of each model, for each opponent, with as many tiles as the opponent holds."""
    made = of_whole(0)
    moments = follow(whole().events, 0, "tonpuu").moments
    records = np.array([moment.record for moment in moments])
    found = candidate_hands(records, 0, {"diffusion": UniformHands(), "autoregressive": UniformHands()}, 3)
    assert len(found) == len(moments) == len(made.decisions)
    for moment, models in zip(moments, found, strict=True):
        assert [each.model for each in models] == ["diffusion", "autoregressive"]
        for seat, hands in enumerate(models[0].hands):
            opponent = (1 + seat) % 4
            assert len(hands) == 3
            assert [hand.shanten for hand in hands] == sorted(hand.shanten for hand in hands)
            for hand in hands:
                assert len(hand.tiles.split()) == moment.record["hand_size"][opponent]
    assert {tile for models in found for hand in models[0].hands[0] for tile in hand.tiles.split()} >= {
        "5mr",
        "E",
    }
