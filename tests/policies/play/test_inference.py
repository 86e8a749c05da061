from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from pathlib import Path

import numpy as np
import pytest
import torch

from game.actions import Action, ActionKind
from game.layout import ROUND_STATE
from game.rules import action_row
from game.scoring.settlement import GameLength
from game.table.table import Table
from game.tiles import parse_hand
from kit.errors import CheckpointMissing, ModelError
from policies.features.encode import encode
from policies.features.permute import KIND_MAPS, permute_planes
from policies.features.table import HOSEI, LITE, LITE_CALL, SETS
from policies.flow.known_hand import known_questions
from policies.flow.slots import Question, Slot
from policies.heuristic.player import HeuristicPolicy
from policies.nets.architectures import TOWERS, TowerName
from policies.nets.compute import IN_PLAY, Compute
from policies.nets.networks import as_input
from policies.play.decide import decide
from policies.play.inference import Averaging, Model, NetworkPolicy, load_policy, share_out
from tests.policies.features.permuting import permute_states, permute_tiles
from tests.policies.models import CALLS, a_model, a_network, a_policy, features_of, save_models, weights_of
from tests.scale import scaled

QUESTIONS = {question.slot: question for question in known_questions()}


def throws(text: str) -> list[Action]:
    return [Action(ActionKind.DISCARD, tile) for tile in parse_hand(text)]


@cache
def met_in_play(slot: Slot, count: int, length: GameLength = "hanchan") -> list[Question]:
    """Questions of one slot from games of the heuristic."""
    found: list[Question] = []
    kinds = {
        Slot.DISCARD: (ActionKind.DISCARD,),
        Slot.RIICHI: (ActionKind.RIICHI,),
        Slot.CHI: (ActionKind.CHI,),
        Slot.PON: (ActionKind.PON,),
        Slot.KAN: (ActionKind.ANKAN, ActionKind.KAKAN, ActionKind.DAIMINKAN),
    }[slot]
    table, policy = Table(seed=4, length=length), HeuristicPolicy()
    while len(found) < count:
        actions = {}
        for player in table.waiting():
            observation = table.observe(player)
            options = tuple(action for action in observation.legal if action.kind in kinds)
            if options:
                found.append(Question(slot, observation.record.copy(), player, options, length))
            actions[player] = decide(observation, policy).action
        table.step(actions)
    return found[:count]


def logits_of(slot: Slot, question: Question, option: Action) -> torch.Tensor:
    """The plain network's logits for one row."""
    states = np.array([question.record], ROUND_STATE)
    calls = np.array([action_row(option)], np.int16) if slot in CALLS else None
    planes = encode(states, question.player, features_of(slot), calls=calls)
    with torch.no_grad():
        scores: torch.Tensor = a_network(slot)(as_input(torch.from_numpy(planes)))[0]
    return scores.double()


# --- one question ------------------------------------------------------------------------------------------


def test_discards_get_the_softmax_over_the_legal_kinds() -> None:
    question = QUESTIONS[Slot.DISCARD]
    kinds = [option.tile >> 2 for option in question.options]
    assert len(set(kinds)) == len(kinds) > 5
    logits = logits_of(Slot.DISCARD, question, question.options[0])
    wanted = torch.softmax(logits[kinds], 0).tolist()
    (row,) = a_policy().answer(Slot.DISCARD, [question])
    assert row == pytest.approx(wanted, abs=1e-5)
    assert sum(row) == pytest.approx(1.0)


@pytest.mark.parametrize("slot", [Slot.RIICHI, *CALLS])
def test_other_options_get_the_part_of_yes(slot: Slot) -> None:
    question = QUESTIONS[slot]
    if slot is Slot.CHI:
        question = next(q for q in met_in_play(slot, 40) if len(q.options) > 1)
    wanted = [float(torch.softmax(logits_of(slot, question, option), 0)[1]) for option in question.options]
    (row,) = a_policy().answer(slot, [question])
    assert row == pytest.approx(wanted, abs=1e-5)
    assert len(set(row)) == len(row)


def test_a_number_that_is_not_finite_is_a_model_error() -> None:
    network = a_network()
    network.stem_norm.bias.data.fill_(float("nan"))
    models = {Slot.DISCARD: Model(weights_of(network), LITE)}
    with pytest.raises(ModelError, match="discard model"):
        NetworkPolicy(models).answer(Slot.DISCARD, [QUESTIONS[Slot.DISCARD]])


def test_groups_left_blank_in_training_are_blank_in_play() -> None:
    without = ("A1", "LA3a")
    states = np.array([QUESTIONS[Slot.DISCARD].record], ROUND_STATE)
    planes = encode(states, 0, LITE)
    emptied = planes.copy()
    for group in without:
        size = next(each.planes for each in SETS[LITE].groups if each.id == group)
        emptied[:, SETS[LITE].at(group) : SETS[LITE].at(group) + size] = 0
    assert planes.any(axis=2).sum() > emptied.any(axis=2).sum()
    plain, blanked = a_model(), a_model(without=without)
    assert blanked.scores(planes) == pytest.approx(plain.scores(emptied), abs=1e-5)


# --- many questions ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("compute", [IN_PLAY, Compute(rows=32), Compute(precision="bf16", rows=64)])
@pytest.mark.parametrize("tower", ["residual", "suits"])
@pytest.mark.parametrize("slot", [Slot.DISCARD, Slot.CHI])
@pytest.mark.parametrize("averaging", [1, 6])
def test_a_batch_is_answered_as_each_alone_to_the_last_bit(
    slot: Slot, averaging: Averaging, tower: TowerName, compute: Compute
) -> None:
    questions = met_in_play(slot, 40)[: scaled(16, 40)]
    policy = a_policy(averaging, tower=tower, compute=compute)
    together = policy.answer(slot, questions)
    assert together == [policy.answer(slot, [question])[0] for question in questions]


def test_a_batch_larger_than_memory_is_meant_to_hold_is_answered_in_pieces(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    questions = met_in_play(Slot.DISCARD, 40)
    whole = a_policy(12).answer(Slot.DISCARD, questions)
    monkeypatch.setattr("policies.play.inference._ROWS_ENCODED", 7)
    policy = a_policy(12, compute=Compute(rows=5))
    for row, wanted in zip(policy.answer(Slot.DISCARD, questions), whole, strict=True):
        assert row == pytest.approx(wanted, abs=1e-5)


def test_games_of_both_lengths_are_answered_together() -> None:
    long, short = met_in_play(Slot.DISCARD, 3), met_in_play(Slot.DISCARD, 3, "tonpuu")
    policy = a_policy()
    mixed = [long[0], short[0], long[1], short[1]]
    for question, row in zip(mixed, policy.answer(Slot.DISCARD, mixed), strict=True):
        assert row == pytest.approx(policy.answer(Slot.DISCARD, [question])[0], abs=1e-5)


# --- averaging ---------------------------------------------------------------------------------------------


def renamed(question: Question, number: int) -> Question:
    """The question with its tiles permuted."""
    record = permute_states(np.array([question.record], ROUND_STATE), number)[0]
    options = []
    for option in question.options:
        tiles = permute_tiles([[option.tile, *option.consumed]], number)[0].tolist()
        options.append(Action(option.kind, tiles[0], tuple(sorted(tiles[1:]))))
    return Question(question.slot, record, question.player, tuple(options), question.length)


@pytest.mark.parametrize("slot", list(Slot))
@pytest.mark.parametrize(
    ("tower", "averaging", "numbers"),
    [("residual", 6, (3, 4)), ("residual", 12, (1, 2, 5)), ("suits", 1, range(1, 6))],
)
def test_the_average_over_the_suits_does_not_know_one_suit_from_another(
    slot: Slot, tower: TowerName, averaging: Averaging, numbers: Sequence[int]
) -> None:
    question, policy = QUESTIONS[slot], a_policy(averaging, tower=tower)
    (row,) = policy.answer(slot, [question])
    for number in numbers:
        again = renamed(question, number)
        assert policy.answer(slot, [again])[0] == pytest.approx(row, abs=1e-4)
        if tower == "residual":
            assert a_policy().answer(slot, [again])[0] != pytest.approx(row, abs=1e-4)


@pytest.mark.parametrize("tower", ["residual", "suits"])
def test_the_average_is_of_the_logits_each_renamed_back(tower: TowerName) -> None:
    planes = encode(np.array([QUESTIONS[Slot.DISCARD].record], ROUND_STATE), 0, LITE)
    model = a_model(tower=tower)
    each = [model.scores(permute_planes(planes, LITE, n))[0][KIND_MAPS[n]] for n in range(12)]
    assert np.ptp([each[0], each[6]], axis=0).max() > 0.01
    six = (0, 6) if tower == "suits" else (0, 3, 4, 6, 9, 10)  # with suits apart two are as good as twelve
    assert model.scores(planes, 12)[0] == pytest.approx(np.mean(each, axis=0), abs=1e-4)
    assert model.scores(planes, 6)[0] == pytest.approx(np.mean([each[n] for n in six], axis=0), abs=1e-4)


def test_hosei_s_chi_weighs_each_run_against_none() -> None:
    question = next(q for q in met_in_play(Slot.CHI, 40) if len(q.options) > 1)
    network = a_network(Slot.CHI, tower="hosei")
    states = np.array([question.record], ROUND_STATE)
    planes = encode(states, question.player, HOSEI)
    with torch.no_grad():
        share = torch.softmax(network(as_input(torch.from_numpy(planes)))[0].double(), 0).tolist()
    runs = [sorted((option.tile, *option.consumed)).index(option.tile) for option in question.options]
    wanted = [share[1 + run] / (share[1 + run] + share[0]) for run in runs]
    assert len(set(wanted)) == len(wanted)
    (row,) = a_policy(tower="hosei").answer(Slot.CHI, [question])
    assert row == pytest.approx(wanted, abs=1e-5)


def test_a_mirrored_chi_swaps_hosei_s_runs() -> None:
    question = next(q for q in met_in_play(Slot.CHI, 40) if len(q.options) > 1)
    policy = a_policy(12, tower="hosei")
    (row,) = policy.answer(Slot.CHI, [question])
    assert np.ptp(row) > 0.005
    # the mirrored indicator shows another dora
    assert policy.answer(Slot.CHI, [renamed(question, 6)])[0] == pytest.approx(row, abs=1e-3)


# --- one number a kind, several tiles ----------------------------------------------------------------------


def test_a_red_five_is_kept_as_long_as_there_is_another() -> None:
    shares = np.full(34, 0.5)
    assert share_out(shares, throws("05m1z")) == [0.0, 0.5, 0.5]
    assert share_out(shares, throws("50m1z")) == [0.5, 0.0, 0.5]
    assert share_out(shares, throws("0m1z")) == [0.5, 0.5]


def test_of_equal_tiles_the_first_option_is_chosen() -> None:
    assert share_out(np.full(34, 1.0), throws("55m")) == [1.0, 0.0]


# --- whole games and files ---------------------------------------------------------------------------------


@pytest.mark.parametrize("tower", TOWERS)
def test_networks_play_whole_rounds_without_a_fallback(tower: TowerName) -> None:
    table, policy = Table(seed=2), a_policy(tower=tower)
    sources = set()
    while not table.done and len(table.results) < scaled(1, 4):
        actions = {}
        for player in table.waiting():
            decision = decide(table.observe(player), policy)
            sources.add(decision.source)
            actions[player] = decision.action
        table.step(actions)
    assert {"model"} <= sources <= {"model", "rule"}


def test_the_policy_of_a_folder_answers_as_the_networks_saved_there(tmp_path: Path) -> None:
    save_models(tmp_path)
    loaded, made = load_policy(tmp_path, averaging=6), a_policy(6)
    for slot, question in QUESTIONS.items():
        assert loaded.answer(slot, [question])[0] == pytest.approx(made.answer(slot, [question])[0])
    assert set(loaded.cards) == set(Slot)
    assert loaded.cards[Slot.KAN].features == LITE_CALL


def test_a_folder_without_one_of_the_five_is_refused(tmp_path: Path) -> None:
    (save_models(tmp_path) / "kan.json").unlink()
    with pytest.raises(CheckpointMissing, match=r"kan\.json"):
        load_policy(tmp_path)
