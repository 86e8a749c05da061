from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from game.events import Draw, StartGame, StartRound
from game.ranking import HANCHAN_REWARDS, Uma, parse_uma
from game.scoring.settlement import GameLength, final_results, placements
from policies.checkpoint.card import Card, describe
from policies.checkpoint.store import load, load_predictor, save
from policies.reward.encoding import (
    INPUTS,
    ROUND_START,
    PaddedGames,
    encode,
    final_rewards,
    places_of,
    round_starts,
    together,
)
from policies.reward.predictor import (
    ORDERS,
    FinishArchitecture,
    Predictor,
    predict,
    predictor_shapes,
    round_rewards,
)
from tests.scene import Scene

Round = tuple[int, int, int, tuple[int, int, int, int]]

EVEN = (25_000, 25_000, 25_000, 25_000)
FIRST: list[Round] = [
    (0, 0, 0, EVEN),
    (0, 1, 0, (37_000, 21_000, 21_000, 21_000)),
    (1, 0, 1, (37_000, 20_000, 29_000, 13_000)),
    (2, 0, 0, (35_000, 20_000, 29_000, 16_000)),
]
SECOND: list[Round] = [(0, 0, 0, EVEN), (1, 1, 2, (24_000, 25_000, 24_000, 25_000))]
ENDS = np.array([(34_900, 21_100, 30_000, 14_000), (25_000, 25_000, 25_000, 25_000)])


def starts(rounds: list[Round]) -> np.ndarray:
    return np.array(rounds, ROUND_START)


def games(length: GameLength = "hanchan") -> PaddedGames:
    return together([(starts(FIRST), length), (starts(SECOND), length)])


def predictor(**sizes: object) -> Predictor:
    architecture = FinishArchitecture(**{"hidden": 8, "dense": 6, **sizes})  # type: ignore[arg-type]
    dice = np.random.default_rng(5)
    arrays = {
        name: dice.normal(0.0, 0.7, shape).astype(np.float32)
        for name, shape in predictor_shapes(architecture).items()
    }
    return Predictor(architecture, arrays)


# --- the network's input ----------------------------------------------------------------------------------


def test_a_round_is_encoded_from_the_player_on() -> None:
    told = encode(games())
    assert told.shape == (2, 4, 4, INPUTS)
    changes, scores, dealer = [0.0, -0.1, 0.8, -0.8], [1.2, -0.5, 0.4, -1.2], [0, 1, 0, 0]
    assert told[0, 0, 2, :16] == pytest.approx([*changes, *scores, *dealer, -6 / 8, 0.0, 1 / 5, 1])
    changes, scores, dealer = [-0.8, 0.0, -0.1, 0.8], [-1.2, 1.2, -0.5, 0.4], [0, 0, 1, 0]
    assert told[0, 3, 2, :16] == pytest.approx([*changes, *scores, *dealer, -6 / 8, 0.0, 1 / 5, 1])
    assert told[1, 2, 1, 12:16].tolist() == pytest.approx([-6 / 8, 1 / 5, 2 / 5, 1])


def test_a_round_is_encoded_with_the_players_leads() -> None:
    last = starts([(7, 0, 0, (30_000, 25_000, 25_000, 20_000))])
    told = encode(together([(last, "hanchan")]))[0, :, 0, 16:28]
    assert told[:, :3].tolist() == [[1, 1, 1], [1, 1, 0], [1, 0, 0], [0, 0, 0]]
    fine, middle, coarse = told[0, 3:6], told[0, 6:9], told[0, 9:12]
    assert fine == pytest.approx(np.tanh([5, 5, 10]))
    assert middle == pytest.approx(np.tanh([1.25, 1.25, 2.5]))
    assert coarse == pytest.approx(np.tanh([5 / 12, 5 / 12, 10 / 12]))
    assert told[1, 3:6] == pytest.approx(np.tanh([0, 5, -5]))


def test_the_first_round_known_changes_nothing() -> None:
    late = encode(together([(starts(FIRST[2:]), "hanchan")]))
    assert not late[:, :, 0, :4].any()
    assert np.array_equal(late[:, :, 0, 4:], encode(games())[:1, :, 2, 4:])
    assert np.array_equal(late[:, :, 1], encode(games())[:1, :, 3])


def test_a_tonpuu_is_the_second_half_of_a_hanchan() -> None:
    later: list[Round] = [(number + 4, honba, sticks, scores) for number, honba, sticks, scores in FIRST]
    half = encode(together([(starts(later), "hanchan")]))
    whole = encode(together([(starts(FIRST), "tonpuu")]))
    assert np.array_equal(np.delete(half, 15, -1), np.delete(whole, 15, -1))
    assert half[..., 15].all()
    assert not whole[..., 15].any()


def test_rounds_from_events_and_from_states_are_equal() -> None:
    scenes = [
        Scene(round_index=number, honba=honba, sticks=sticks, scores=scores)
        for number, honba, sticks, scores in FIRST
    ]
    events = [StartGame(), *(event for scene in scenes for event in (scene.events[0], Draw(0)))]
    assert sum(isinstance(event, StartRound) for event in events) == len(FIRST)
    assert np.array_equal(round_starts(events), starts(FIRST))
    states = np.array([scene.record for scene in scenes])
    assert np.array_equal(together([(states, "hanchan")]).starts[0], starts(FIRST))
    assert round_starts([]).shape == (0,)


# --- answers ----------------------------------------------------------------------------------------------


def test_answers_look_at_the_rounds_so_far_alone() -> None:
    model = predictor()
    whole = predict(model, games())
    for count in range(1, 5):
        alone = predict(model, together([(starts(FIRST[:count]), "hanchan")]))
        assert np.array_equal(alone[0], whole[0, :count])
    short = predict(model, together([(starts(SECOND), "hanchan")]))
    assert np.array_equal(short[0], whole[1, :2])
    forgotten = predict(model, together([(starts(FIRST[2:]), "hanchan")]))
    assert abs(forgotten[0, 0] - whole[0, 2]).max() > 0.1


def test_all_players_are_answered_by_one_predictor() -> None:
    """Rotating the seats by one, dealer included, rotates the answers by one."""
    later: list[Round] = [
        (number + 1, honba, sticks, (scores[3], *scores[:3])) for number, honba, sticks, scores in FIRST
    ]
    told, moved = (encode(together([(starts(rounds), "hanchan")])) for rounds in (FIRST, later))
    told[..., 12] = moved[..., 12] = 0.0
    told[..., 16:19] = moved[..., 16:19] = 0.0  # ties depend on the seat order
    assert np.array_equal(np.roll(told, 1, axis=1)[..., :28], moved[..., :28])


def test_rewards_follow_from_the_orders_of_finish() -> None:
    model = predictor()
    chances = model.orders(encode(games()))
    assert chances.sum(axis=-1) == pytest.approx(np.ones((2, 4)), abs=1e-6)
    expected = predict(model, games())
    wanted = sum(
        chances[..., [number]] * np.array(HANCHAN_REWARDS)[list(order)] for number, order in enumerate(ORDERS)
    )
    assert expected == pytest.approx(np.asarray(wanted), abs=1e-4)


@pytest.mark.parametrize("rewards", [(90.0, 45.0, 0.0, -135.0), (100.0, 0.0, 0.0, 0.0)])
def test_the_four_answers_add_up_to_the_sum_of_the_rewards(rewards: tuple[float, ...]) -> None:
    expected = predict(predictor(rewards=rewards), games())
    assert expected.sum(axis=-1) == pytest.approx(np.full((2, 4), sum(rewards)))
    assert expected.std(axis=-1).min() > 0.1


def test_places_are_those_of_the_rules() -> None:
    dice = np.random.default_rng(3)
    scores = dice.integers(18, 24, (300, 4)) * 1000
    assert places_of(scores).tolist() == [list(placements(game)) for game in scores.tolist()]
    assert final_rewards(ENDS, Uma((4.0, 3.0, 2.0, 1.0))).tolist() == [[4, 2, 3, 1], [4, 3, 2, 1]]


def test_the_score_counts_too_if_the_uma_says_so() -> None:
    tenhou = parse_uma("20,10,-10,-20@30000")
    assert tenhou is not None
    results = [[tenths / 10 for tenths in final_results(game)] for game in ENDS.tolist()]
    assert final_rewards(ENDS, tenhou) == pytest.approx(np.array(results))
    model, scored = predictor(), predictor().with_uma(tenhou)
    by_place = predict(model.with_uma(Uma((40.0, 10.0, -10.0, -20.0))), games())
    now = (np.array([each[3] for each in FIRST]) - 30_000) / 1_000
    assert predict(scored, games())[0] == pytest.approx(by_place[0] + now)
    assert model.with_uma(None).uma == Uma()


@pytest.mark.parametrize(
    "wrong", ["90,45,0", "90,45,0,-135,0", "a,b,c,d", "1,2,3,4@", "1,2,3,inf", "90 45 0 -135"]
)
def test_an_uma_is_four_numbers(wrong: str) -> None:
    with pytest.raises(ValueError, match="expected four numbers, such as 90,45,0,-135"):
        parse_uma(wrong)
    assert [str(parse_uma(text)) for text in ("90,45,0,-135", "1.5,+5,-5,-15@25000")] == [
        "90,45,0,-135",
        "1.5,5,-5,-15@25000",
    ]


@pytest.mark.parametrize(
    ("uma", "final"),
    [
        ("90,45,0,-135", [[90, 0, 45, -135], [90, 45, 0, -135]]),
        ("20,10,-10,-20@30000", [[44.9, -18.9, 10, -36], [35, 5, -15, -25]]),
    ],
)
def test_rewards_of_rounds_add_up_to_that_of_the_game(uma: str, final: list[list[float]]) -> None:
    model = predictor().with_uma(parse_uma(uma))
    found, expected = round_rewards(model, games(), ENDS), predict(model, games())
    assert found.shape == (2, 4, 4)
    assert found[0, 1] == pytest.approx(expected[0, 2] - expected[0, 1])
    assert found[0, 3] == pytest.approx(final[0] - expected[0, 3])
    assert found[1, 1] == pytest.approx(final[1] - expected[1, 1])
    assert not found[1, 2:].any()
    assert found.sum(axis=1) == pytest.approx(final - expected[:, 0])


# --- architecture -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "wrong",
    [
        {"hidden": 0},
        {"dense": -1},
        {"rewards": (0.0, 0.0, 0.0, 0.0)},
        {"rewards": (1.0, 0.0, 0.0, float("inf"))},
    ],
)
def test_invalid_sizes_are_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=next(iter(wrong))):
        FinishArchitecture(**wrong)


def test_a_saved_predictor_answers_as_before(tmp_path: Path) -> None:
    model = predictor(rewards=(75.0, 30.0, 0.0, -165.0))
    card = Card(model="reward", architecture=model.architecture, metrics={"error": 4900.5})
    save(tmp_path, card, model.arrays)
    again = load_predictor(tmp_path)
    assert again.architecture.rewards == (75.0, 30.0, 0.0, -165.0)
    assert np.array_equal(predict(again, games()), predict(model, games()))
    assert describe(load(tmp_path, "reward").card).startswith("reward 8×6, 0 samples, error 4900.5")
