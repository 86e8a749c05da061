"""Networks that know who plays, from training to play."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch
from msgspec.structs import replace

from game.ranking import rank_name
from kit.errors import CheckpointMismatch, ConfigError
from learning.data.choice import choose, identity_table, repeated
from learning.data.corpus import Corpus
from learning.data.loader import Batch, Loader
from learning.data.positions import count
from learning.runs.learner import Learner
from learning.train.first_weights import first_network
from learning.train.plan import TrainingPlan, features_of, make_plan
from learning.train.samples_run import choice_of
from learning.train.supervised import conditioned_scores, imitation_loss
from policies.checkpoint.card import Card
from policies.checkpoint.store import Checkpoint, load, save
from policies.features.table import LITE
from policies.flow.known_hand import known_questions
from policies.flow.slots import Slot
from policies.nets.architectures import (
    SuitsArchitecture,
    architecture_of,
    fold_identity,
    outputs_of,
    suit_planes,
)
from policies.nets.networks import Network, arrays_of, as_input, filled, network_of
from policies.play.inference import Model
from policies.play.named import files_of_named, load_named
from tests.policies.models import some_planes

NAMES = ("9-dan", "7-dan", "8-dan")


def plan(**settings: object) -> TrainingPlan:
    defaults = {"width": 8, "precision": "fp32", "batch_size": 64, "samples": 640, "validation_rows": 200}
    return make_plan("discard", preset="tiny", **{**defaults, "identities": NAMES, **settings})  # type: ignore[arg-type]


def saved(folder: Path, network: Network, slot: Slot) -> Checkpoint:
    card = Card(model=slot.value, architecture=network.architecture, features=features_of(slot))
    save(folder, card, arrays_of(network.state_dict()))
    return load(folder, slot)


def a_network_that_knows(
    names: tuple[str, ...], slot: Slot = Slot.DISCARD, width: int = 16, depth: int = 3
) -> Network:
    torch.manual_seed(3)
    shape = architecture_of("suits", features_of(slot), outputs_of(slot, "suits"), width, depth)
    network = Network(replace(shape, identities=names))
    network.train()(as_input(some_planes(features=features_of(slot))))  # no average stays 0 or 1
    with torch.no_grad():
        network.identities.normal_()
    return network.eval()


@torch.no_grad()
def test_a_network_asked_as_a_player_is_a_plain_one_that_answers_alike() -> None:
    network, planes = a_network_that_knows(NAMES), as_input(some_planes())
    anybody = network(planes)
    assert torch.equal(network(planes, torch.full((8,), -1)), anybody)
    for number in range(len(NAMES)):
        plain = Network(SuitsArchitecture(planes.shape[1], 34, 16, 3, suit_planes(LITE)))
        asked = filled(plain, fold_identity(arrays_of(network.state_dict()), number))
        wanted = network(planes, torch.full((8,), number))
        torch.testing.assert_close(asked(planes), wanted, rtol=1e-4, atol=1e-4)
        assert (wanted - anybody).abs().max() > 0.1
    mixed = network(planes, torch.tensor([0, 1, 2, -1] * 2))
    torch.testing.assert_close(mixed[1], network(planes, torch.full((8,), 1))[1])
    torch.testing.assert_close(mixed[3], anybody[3])


def test_a_network_told_who_plays_learns_what_each_does() -> None:
    wanted = plan(learning_rate=3e-3, averaging=0.0)
    learner = Learner(first_network(wanted), wanted, loss=imitation_loss, ask=conditioned_scores)
    planes, rows = some_planes(64), torch.arange(64)
    who = rows % 2  # two players who disagree about every hand
    batch = Batch(planes, who * 20, torch.ones((64, 34), dtype=torch.bool), rows, None, who=who)
    for step in range(60):
        learner.step(batch, step, 3e-3)
    agreed = learner.scores(batch).argmax(1) == batch.labels
    learner.close()
    assert agreed.float().mean() > 0.9


def test_the_loader_says_who_decides(corpus: Corpus) -> None:
    choice = choose(corpus, corpus.select())
    ranks = np.unique(corpus.index["ranks"])
    names = tuple(rank_name(rank) for rank in ranks.tolist()[1:])
    loader = Loader(corpus, choice, batch_size=256, moments=True, identities=names, augment=False)
    seen = set()
    for batch in loader.epoch():
        there = corpus.index["ranks"][batch.moments.game, batch.moments.player]
        places = np.searchsorted(ranks, there) - 1  # the lowest rank is nobody in the list
        assert np.array_equal(batch.who.numpy(), places)
        seen.update(batch.who.tolist())
    assert seen == set(range(-1, len(names)))


def test_ai_accounts_are_known_by_name_and_not_by_rank(
    corpus: Corpus, monkeypatch: pytest.MonkeyPatch
) -> None:
    index = corpus.index.copy()
    index["ai"][0] = 0b0010
    monkeypatch.setattr(corpus, "index", index)
    account = int(index["players"][0, 1])
    players = tuple("ⓝLuckyJ" if place == account else name for place, name in enumerate(corpus.players))
    monkeypatch.setattr(corpus, "players", players)
    rank = rank_name(int(index["ranks"][0, 1]))
    assert identity_table(corpus, ("LuckyJ", rank))[0, 1] == 0
    assert identity_table(corpus, (rank,))[0, 1] == -1


def test_favoured_players_are_taken_as_often_as_asked(corpus: Corpus) -> None:
    choice = choice_of(plan(), corpus, "train")
    ranks = corpus.index["ranks"][choice.games]
    rank = int(ranks.max())
    theirs = choose(corpus, choice.games, least_rank=rank)
    more = repeated(corpus, choice, {rank_name(rank): 3})
    assert (
        count(corpus, more).decisions == count(corpus, choice).decisions + 2 * count(corpus, theirs).decisions
    )
    favoured = plan(selection={"favour": (f"{rank_name(rank)}=3",)})
    assert count(corpus, choice_of(favoured, corpus, "train")) == count(corpus, more)
    validation = choice_of(favoured, corpus, "validation")
    assert count(corpus, validation) == count(corpus, choice_of(plan(), corpus, "validation"))


def test_a_set_is_asked_by_a_player_s_name(tmp_path: Path) -> None:
    names, folder = NAMES, tmp_path / "players"
    for slot in Slot:
        saved(folder, a_network_that_knows(names, slot, width=8), slot)
    question = next(each for each in known_questions() if each.slot is Slot.DISCARD)
    answers = {}
    for text in (str(folder), *(f"{folder}@{name}" for name in names)):
        named = load_named(text)
        answers[named.identity] = named.policy.answer(Slot.DISCARD, [question])[0]
    assert len(answers) == len(names) + 1
    assert len({tuple(row) for row in answers.values()}) == len(answers)
    assert load_named(f"{folder}@{names[0]}:6").name == f"players@{names[0]}:6"
    whole, asked = load(folder, "discard"), load(Path(f"{folder}@{names[0]}"), "discard")
    told = network_of(whole.weights)
    planes = some_planes(4)
    with torch.no_grad():
        wanted = told(as_input(planes), torch.zeros(4, dtype=torch.long)).numpy()
    np.testing.assert_allclose(
        Model(asked.weights, LITE).scores(planes.numpy()), wanted, rtol=0.05, atol=0.05
    )
    here = load_named(f"{folder}@{names[0]}")
    elsewhere = load_named(f"{folder}@{names[0]}", files=files_of_named(f"{folder}@{names[0]}"))
    assert elsewhere.policy.answer(Slot.DISCARD, [question])[0] == answers[here.identity]
    with pytest.raises(CheckpointMismatch, match=f"'NAGA' is not a player it knows: {names[0]}"):
        load_named(f"{folder}@NAGA")
    with pytest.raises(ConfigError, match="is not a player"):
        load_named(f"{tmp_path / 'nowhere'}@NAGA")


def test_a_run_goes_on_from_a_set_asked_as_a_player_and_begins_with_its_answers(tmp_path: Path) -> None:
    whole = saved(tmp_path, a_network_that_knows(NAMES, width=8, depth=2), Slot.DISCARD)
    begun = first_network(plan(), whole)
    assert np.array_equal(begun.identities.detach(), whole.arrays["identities"])
    asked = first_network(plan(identities=()), load(Path(f"{tmp_path}@8-dan"), "discard"))
    planes = as_input(some_planes())
    with torch.no_grad():
        wanted = begun.eval()(planes, torch.full((8,), NAMES.index("8-dan")))
        torch.testing.assert_close(asked.eval()(planes), wanted, rtol=1e-4, atol=1e-4)
    plain = first_network(plan(identities=()))
    plain(planes)  # no average stays 0 or 1
    told = first_network(plan(), saved(tmp_path / "plain", plain, Slot.DISCARD))
    with torch.no_grad():
        answers = told.eval()(planes, torch.zeros(8, dtype=torch.long))
        torch.testing.assert_close(answers, plain.eval()(planes), rtol=1e-5, atol=1e-5)
    with pytest.raises(CheckpointMismatch, match="but the plan wants"):
        first_network(plan(identities=()), whole)


@pytest.mark.parametrize("text", ["LuckyJ", "LuckyJ=0", "=3", "LuckyJ=1.5", "LuckyJ=-2"])
def test_a_favour_without_a_number_is_refused(corpus: Corpus, text: str) -> None:
    with pytest.raises(ConfigError, match="give it as NAME=TIMES"):
        choice_of(plan(selection={"favour": (text,)}), corpus, "train")


@pytest.mark.parametrize(
    "settings", [{"identities": ("Lucky", "7-dan")}, {"selection": {"favour": ("Lucky=3",)}}]
)
def test_a_name_that_nobody_has_is_refused(corpus: Corpus, settings: dict[str, object]) -> None:
    with pytest.raises(
        ConfigError, match=r"^no player in the chosen games is Lucky; give official AI accounts"
    ):
        choice_of(plan(**settings), corpus, "train")
