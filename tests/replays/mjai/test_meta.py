"""What an engine adds to its answers: written for other programs' viewers, and read from other engines."""

from __future__ import annotations

import math

import pytest

from game.actions import PASS, Action, ActionKind
from game.observation import Observation
from policies.play.decide import decide
from replays.mjai.meta import number_of, read_chances, write_meta
from tests.policies.fakes import Scripted, Undecided
from tests.scene import Scene

K = ActionKind


def softmax(values: list[float], temperature: float = 0.1) -> list[float]:
    """As a viewer makes probabilities of them."""
    weights = [math.exp(value / temperature) for value in values]
    return [weight / sum(weights) for weight in weights]


def listed(mask: int) -> list[int]:
    return [number for number in range(46) if mask >> number & 1]


def chances(observation: Observation, policy: Undecided | Scripted) -> dict[int, float]:
    """What a viewer shows, by the number of the action."""
    meta = write_meta(decide(observation, policy), observation)
    shown = softmax(meta["q_values"])
    assert shown == pytest.approx(meta["probabilities"], abs=1e-3)
    return dict(zip(listed(meta["mask_bits"]), shown, strict=True))


def test_faces_and_calls_have_mortals_numbers() -> None:
    discard = [Action(K.DISCARD, tile) for tile in (0, 135, 16, 17, 52, 88)]
    assert [number_of(each) for each in discard] == [0, 33, 34, 4, 35, 36]
    chi = [Action(K.CHI, 4, consumed) for consumed in ((8, 12), (0, 8), (0, 4))]
    assert [number_of(each) for each in chi[:2]] == [38, 39]
    assert number_of(Action(K.CHI, 8, (0, 4))) == 40
    rest = (K.RIICHI, K.PON, K.DAIMINKAN, K.TSUMO, K.RON, K.NINE_TERMINALS)
    assert [number_of(Action(kind, 0)) for kind in rest] == [37, 41, 42, 43, 43, 44]
    assert number_of(PASS) == 45


def test_a_discard_has_the_policys_probabilities() -> None:
    observation = Scene("147m258p369s1234z").draw("5m").observe()
    meta = write_meta(decide(observation, Undecided()), observation)
    assert meta["shanten"] == 6
    assert (meta["is_greedy"], meta["batch_size"], meta["at_furiten"]) == (True, 1, False)
    assert meta["eval_time_ns"] > 0
    assert listed(meta["mask_bits"]) == sorted(number_of(action) for action in observation.legal)
    expected = {
        number_of(option.action): option.probability for option in decide(observation, Undecided()).options
    }
    assert chances(observation, Undecided()) == pytest.approx(expected, abs=1e-3)


def test_a_riichi_leaves_the_discards_what_it_does_not_take() -> None:
    observation = Scene("123456789m1122z").draw("3z").observe()
    riichi = next(action for action in observation.legal if action.kind is K.RIICHI)
    shown = chances(observation, Scripted({riichi: 0.9}))
    assert shown[37] == pytest.approx(0.9, abs=1e-3)
    rest = [chance for number, chance in shown.items() if number != 37]
    assert rest == pytest.approx([0.1 / len(rest)] * len(rest), abs=1e-3)


def test_a_claim_has_a_pass() -> None:
    scene = Scene("3456m55p678s1122z")
    observation = scene.draw("9p").discard("9p").draw(player=1).discard("1z").observe()
    shown = chances(observation, Undecided())
    assert shown == pytest.approx({41: 0.3, 45: 0.7}, abs=1e-3)


@pytest.mark.parametrize("policy", [Undecided(), Scripted()])
@pytest.mark.parametrize(
    "scene",
    [
        Scene("147m258p369s1234z").draw("5m"),
        Scene("123456789m1122z").draw("3z"),
        Scene("3456m55p678s1122z").draw("9p").discard("9p").draw(player=1).discard("1z"),
    ],
)
def test_what_is_written_is_read_as_a_review_shows_it(scene: Scene, policy: Undecided | Scripted) -> None:
    observation = scene.observe()
    decision = decide(observation, policy)
    answer = {"type": "any", "meta": write_meta(decision, observation)}
    read = read_chances(answer, observation.legal, decision.action)
    expected = {option.action: option.probability for option in decision.options}
    assert read == pytest.approx(expected, abs=2e-3)


@pytest.mark.parametrize(
    "meta",
    [
        None, 3, {}, {"q_values": [0.1], "mask_bits": 1 << 50}, {"q_values": [0.1], "mask_bits": 7},
        {"q_values": ["a"], "mask_bits": 1}, {"q_values": [float("nan")], "mask_bits": 1 << 45},
        {"q_values": [1e300], "mask_bits": 1 << 45}, {"q_values": [], "mask_bits": 0},
    ],
)  # fmt: skip
def test_without_usable_meta_the_choice_is_certain(meta: object) -> None:
    legal = (Action(K.PON, 109, (108, 110)), PASS)
    assert read_chances({"type": "none", "meta": meta}, legal, PASS) == {legal[0]: 0.0, PASS: 1.0}
    assert read_chances({"type": "pon", "meta": meta}, legal, legal[0]) == {legal[0]: 1.0, PASS: 0.0}
