"""Labels of close decisions, and a policy that learns from them."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NamedTuple

import msgspec
import numpy as np
import pytest
import torch

from game.actions import ActionKind
from game.events import DoraRevealed
from game.rules import legal_actions
from game.table.restore import seen_by
from kit.errors import ConfigError
from kit.reports import json_text
from learning.data.choice import choose
from learning.data.corpus import Corpus
from learning.data.positions import positions_of
from learning.runs.statistics import Estimate
from learning.runs.store import RESULTS_FILE, read_rows
from learning.train.improve import LabelledBatch, improve, improvement_loss
from learning.train.labelling import (
    CloseDecision,
    label_of,
    labels,
    labels_of_games,
    make_labels_plan,
    setup_of,
)
from learning.train.labels import FORMAT, NO, SLOTS, Label, LabelledGame, LabelsPlan
from policies.checkpoint.store import load
from policies.deals.deal import RoundView, true_deals
from policies.flow.slots import Slot
from policies.heuristic.player import HeuristicPolicy
from policies.play.deal_ins import REWARD_OF_LUCK, luck_of_deal_ins
from policies.play.inference import load_policy
from policies.play.playouts import Branching, Playouts, points_value
from policies.play.rollout import PolicyChooser
from tests.learning.clusters import address, machines
from tests.learning.stopping import stop_at
from tests.policies.models import save_models

__all__ = ["address", "machines"]

pytestmark = pytest.mark.usefixtures("restore_logs")


@pytest.fixture(scope="module")
def start(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A policy of small networks with random weights."""
    folder = tmp_path_factory.mktemp("start")
    save_models(folder)
    return folder


def a_plan(corpus: Corpus, start: Path, **settings: object) -> LabelsPlan:
    given = {"policy": str(start), "games": 2, "close": 0.43, "worlds": 2, "horizon": 0, "seed": 5}
    return make_labels_plan(corpus, **{**given, **settings})


@pytest.fixture(scope="module")
def labelled(folder: Path, corpus: Corpus, start: Path) -> list[LabelledGame]:
    """The first games of the corpus, labelled."""
    label = labels_of_games(setup_of(folder, a_plan(corpus, start)))
    return [row for number in range(2) for row in label(number)]


def test_labels_name_the_close_decisions(corpus: Corpus, labelled: list[LabelledGame]) -> None:
    found = labelled[1]
    assert found.game == corpus.game_id(1)
    slots = {SLOTS[each.slot] for each in found.labels}
    assert Slot.DISCARD in slots
    assert slots & {Slot.CHI, Slot.PON, Slot.RIICHI}
    for slot in slots:
        positions = positions_of(corpus, choose(corpus, np.array([1])), slot)
        for each in found.labels:
            if SLOTS[each.slot] is not slot:
                continue
            assert each.points[0] == each.errors[0] == each.reward[0] == 0
            state, player = positions.states[each.place], int(positions.players[each.place])
            if slot is Slot.DISCARD:
                assert all(state["hand34"][player][kind] for kind in each.options)
                assert len(each.options) >= 2
            else:
                assert NO in each.options
                assert len(each.options) == 2
    assert any(value for each in found.labels for value in each.points)


def test_a_deal_in_by_the_discard_counts_by_its_chance(corpus: Corpus) -> None:
    """In real games some discards were won on; there the loss is the expected one, elsewhere as before."""
    policy, found = HeuristicPolicy(), []
    positions = positions_of(corpus, choose(corpus, np.arange(1)), Slot.DISCARD)
    for state, player in zip(positions.states[::5], positions.players[::5].tolist(), strict=True):
        if not state["riichi"].any() or state["riichi"][player]:
            continue
        options = [each for each in legal_actions(state, player) if each.kind is ActionKind.DISCARD]
        view = RoundView(seen_by(state, player), player, "hanchan")
        branching = Branching(true_deals(view, state, 2, seed=1), options, range(2))
        (ends,) = Playouts(PolicyChooser(policy), "hanchan", horizon=4).ends([branching])
        now, risk = int(state["scores"][player]), np.linspace(10.0, 500.0, len(options))
        values = branching.values(ends, points_value)
        luck = luck_of_deal_ins(values, ends, now, risk)
        lost = luck != risk
        assert (lost == lost[0]).all()  # whatever the wall
        assert (values[lost] <= now - 1_000).all()
        assert (luck[lost] == (values - now + risk)[lost]).all()
        after_kan: Any = [SimpleNamespace(events=[DoraRevealed(0), *table.events]) for table in ends]
        assert (luck_of_deal_ins(values, after_kan, now, risk) == luck).all()
        kinds = tuple(option.tile >> 2 for option in options)
        decision = CloseDecision(Slot.DISCARD, 0, state, player, kinds, tuple(options))
        label = label_of(decision, ends, values, REWARD_OF_LUCK * values, risk)
        assert label.reward == pytest.approx(REWARD_OF_LUCK * np.array(label.points), abs=0.01)
        found.append(lost[0].mean())
    assert 0.0 < np.mean(found) < 0.2


def test_parts_of_a_corpus_are_labelled_as_the_whole(
    folder: Path, corpus: Corpus, start: Path, labelled: list[LabelledGame]
) -> None:
    (of_a_part,) = labels_of_games(setup_of(folder, a_plan(corpus, start, first=1, games=1)))(0)
    assert (of_a_part.game, of_a_part.labels) == (labelled[1].game, labelled[1].labels)


def test_labels_are_made_of_the_corpus_of_the_plan(folder: Path, corpus: Corpus, start: Path) -> None:
    other = msgspec.structs.replace(a_plan(corpus, start), corpus="0" * 64)
    with pytest.raises(ConfigError, match="another corpus lies there"):
        labels_of_games(setup_of(folder, other))


@pytest.mark.slow
def test_a_cluster_makes_the_same_labels(
    folder: Path, corpus: Corpus, start: Path, address: str, tmp_path: Path
) -> None:
    plan = a_plan(corpus, start, models=("chi", "pon"), games=1)
    (here,) = labels_of_games(setup_of(folder, plan))(0)
    labels(folder).run(plan, tmp_path, workers=1, ray=address, quiet=True)
    _, (there,) = read_rows(tmp_path, LabelsPlan, LabelledGame)
    assert there.labels == here.labels


def test_decisions_of_some_models_alone_have_the_same_labels(
    folder: Path, corpus: Corpus, start: Path, labelled: list[LabelledGame]
) -> None:
    (of_calls,) = labels_of_games(setup_of(folder, a_plan(corpus, start, models=("chi", "pon"))))(1)
    assert of_calls.labels
    assert of_calls.labels == tuple(
        each for each in labelled[1].labels if SLOTS[each.slot] in (Slot.CHI, Slot.PON)
    )


def test_checked_games_have_the_labels_without_a_horizon_too(
    folder: Path, corpus: Corpus, start: Path, labelled: list[LabelledGame]
) -> None:
    label = labels_of_games(setup_of(folder, a_plan(corpus, start, horizon=2, check=2)))
    (checked,), (unchecked,) = label(0), label(1)
    assert checked.checked == labelled[0].labels != checked.labels
    assert unchecked.labels
    assert not unchecked.checked


def test_the_figures_have_the_bias_of_the_critic_on_calls(corpus: Corpus, start: Path) -> None:
    def called(place: int, points: int, first: int = NO) -> Label:
        options, value = ((NO, 2), points) if first == NO else ((2, NO), -points)
        return Label(SLOTS.index(Slot.CHI), place, options, (0, value), (0, 100), (0.0, 2.0), (0.0, 1.0))

    cut = called(0, 500), called(1, 100, first=2)
    wholes = (called(0, 200), called(1, 0, first=2)), (called(0, 400), called(1, 100, first=2))
    checked = [LabelledGame(number, f"{number}", cut, 1.0, whole) for number, whole in enumerate(wholes)]
    rows = [*checked, LabelledGame(2, "2", cut, 1.0)]
    (chi,) = labels(Path()).report(a_plan(corpus, start), rows).figures.slots
    assert [(each.likely, each.to_the_end, each.decisions) for each in chi.accepting] == [
        (False, False, 3), (True, False, 3), (False, True, 2), (True, True, 2),
    ]  # fmt: skip
    declined, called_for, declined_to_the_end, _ = chi.accepting
    assert (declined.points, declined.reward) == (Estimate(500.0, 500.0, 500.0), Estimate(2.0, 2.0, 2.0))
    assert called_for.points == Estimate(100.0, 100.0, 100.0)
    assert called_for.reward == Estimate(-2.0, -2.0, -2.0)
    assert declined_to_the_end.points == Estimate(300.0, 200.0, 400.0)
    assert chi.critic_bias == Estimate(125.0, 50.0, 200.0)  # decisions of one game are dependent
    assert chi.reward_critic_bias == Estimate(0.0, 0.0, 0.0)
    (of_one_game,) = labels(Path()).report(a_plan(corpus, start), rows[:1]).figures.slots
    assert of_one_game.critic_bias == Estimate(200.0, None, None)


def test_the_figures_say_how_much_of_the_labels_is_signal(corpus: Corpus, start: Path) -> None:
    rng = np.random.default_rng(0)
    true = rng.normal(0.0, 300.0, 4_000)
    said = true + rng.normal(0.0, 400.0, 4_000)
    made = tuple(
        Label(0, place, (3, 4), (0, int(value)), (0, 400), (0.0, value / 200), (0.0, 2.0))
        for place, value in enumerate(said)
    )
    report = labels(Path()).report(a_plan(corpus, start), [LabelledGame(0, "a", made, 40.0)])
    (discards,) = report.figures.slots
    assert discards.signal == pytest.approx(0.36, abs=0.04)
    assert discards.reward_signal == pytest.approx(discards.signal, abs=0.01)
    assert discards.deviation == pytest.approx(300.0, rel=0.06)
    assert discards.changed == pytest.approx(0.5, abs=0.03)
    assert discards.accepting == ()
    assert discards.critic_bias is None
    assert report.figures.ms == 10.0
    assert json.loads(json_text(report))["figures"]["slots"][0]["labels"] == len(made)


def test_a_corpus_with_fewer_games_is_refused(corpus: Corpus, start: Path) -> None:
    with pytest.raises(ConfigError, match=f"--games 900: the corpus has {len(corpus)}"):
        a_plan(corpus, start, games=900)
    with pytest.raises(ConfigError, match=f"--games 2 after --first {len(corpus) - 1}: the corpus has"):
        a_plan(corpus, start, first=len(corpus) - 1)


@pytest.fixture(scope="module")
def towards_low(corpus: Corpus, start: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Labels by which the lower of two likely kinds is worth 900 points more, but less final reward."""
    return write_towards_low(corpus, start, tmp_path_factory.mktemp("towards_low") / "labels")


def write_towards_low(corpus: Corpus, start: Path, folder: Path) -> Path:
    """Write such labels of all games of the corpus."""
    policy = load_policy(start)

    def label(number: int) -> list[Label]:
        found = positions_of(corpus, choose(corpus, np.array([number])), Slot.DISCARD)
        logits = policy.model(Slot.DISCARD).logits(found.states, found.players, None, "hanchan")
        bits = (found.legal[:, None] >> np.arange(34, dtype=np.uint64)) & np.uint64(1)
        ranked = np.argsort(np.where(bits == 1, -logits, np.inf), axis=1)[:, :2].tolist()
        return [
            Label(0, place, (one, two), (0, 900 * low), (0, 300), (0.0, -9.0 * low), (0.0, 3.0))
            for place, (one, two) in enumerate(ranked)
            for low in (-1 if one < two else 1,)
        ]

    return write_labels(corpus, a_plan(corpus, start, games=len(corpus)), folder, label)


def write_labels(
    corpus: Corpus,
    plan: LabelsPlan,
    folder: Path,
    label: Callable[[int], list[Label]],
    checked: Callable[[int], list[Label]] = lambda number: [],
) -> Path:
    """Write a run with the labels of each game by its place in the corpus."""
    rows = [
        LabelledGame(
            place - plan.first, corpus.game_id(place), tuple(label(place)), 1.0, tuple(checked(place))
        )
        for place in range(plan.first, plan.first + plan.games)
    ]
    folder.mkdir()
    lines = [msgspec.json.encode(each) for each in (plan, *rows)]
    (folder / RESULTS_FILE).write_bytes(b"\n".join(lines) + b"\n")
    return folder


SETTINGS = {"batch_size": 64, "samples": 640, "warm_up": 2, "validate_every": 320, "validation_rows": 256}


def taught(
    corpus: Corpus,
    labels: Path,
    start: Path,
    out: Path,
    *others: Path,
    slot: Slot = Slot.DISCARD,
    **more: object,
) -> dict[str, float]:
    given = {**SETTINGS, "learning_rate": 0.003, "precision": "fp32", "quiet": True, **more}
    return improve(slot, corpus, [labels, *others], start, out, **given).metrics  # type: ignore[arg-type]


class Learned(NamedTuple):
    """A policy that learned from labels."""

    folder: Path
    metrics: dict[str, float]


@pytest.fixture(scope="module")
def learned(
    corpus: Corpus, towards_low: Path, start: Path, tmp_path_factory: pytest.TempPathFactory
) -> Learned:
    folder = tmp_path_factory.mktemp("learned")
    return Learned(folder, taught(corpus, towards_low, start, folder))


@pytest.mark.slow
def test_a_policy_learns_what_labels_value_and_keeps_the_rest(
    corpus: Corpus, towards_low: Path, start: Path, learned: Learned, tmp_path: Path
) -> None:
    folder, metrics = learned
    assert metrics["changed"] > 20
    assert metrics["gain"] > 150.0
    held = taught(corpus, towards_low, start, tmp_path / "held", temperature=1e9)
    assert held["loss"] < 0.002
    card = load(folder, "discard").card
    assert card.parents == (load(start, "discard").card.tensors.sha256,)
    assert load_policy(folder).cards[Slot.PON] == load(start, "pon").card


def test_the_final_reward_has_a_temperature_of_its_own(
    corpus: Corpus, towards_low: Path, start: Path, tmp_path: Path
) -> None:
    metrics = taught(corpus, towards_low, start, tmp_path / "out", unit="reward")
    assert metrics["changed"] > 20
    assert 1.5 < metrics["gain"] <= 9.0
    assert load(tmp_path / "out", "discard").card.training.settings["temperature"] == 0.4


@pytest.mark.parametrize("slot", [pytest.param(Slot.RIICHI, marks=pytest.mark.slow), Slot.PON])
def test_riichi_and_calls_are_learned_as_discards_are(
    slot: Slot, corpus: Corpus, start: Path, tmp_path: Path
) -> None:
    """Where declaring is worth more, the start's refusals change; where less, its declarations.

    What counts is the value less what play-outs to the end show to be the critic's error.
    """

    counts = [
        len(positions_of(corpus, choose(corpus, np.array([game])), slot).states)
        for game in range(len(corpus))
    ]

    def all_worth(points: int, to_the_end: int) -> Path:
        def label(number: int, points: int = points) -> list[Label]:
            return [
                Label(SLOTS.index(slot), place, (NO, 0), (0, points), (0, 300), (0.0, 0.0), (0.0, 0.0))
                for place in range(counts[number])
            ]

        plan, folder = a_plan(corpus, start, games=len(corpus)), tmp_path / f"worth{points}to{to_the_end}"
        return write_labels(corpus, plan, folder, label, lambda number: label(number, to_the_end))

    more, less, made_up = (
        taught(corpus, all_worth(points, to_the_end), start, tmp_path / f"out{n}", slot=slot)
        for n, (points, to_the_end) in enumerate([(900, 900), (-900, -900), (900, -900)])
    )
    assert more["changed"] + less["changed"] == more["labels"]
    assert max(more["gain"], less["gain"]) == pytest.approx(900, abs=1.0)
    assert made_up == less


def test_least_is_lost_where_values_change_the_odds_of_the_start() -> None:
    start = torch.tensor([[0.5, 0.3, 0.2, 0.0]])
    legal, valued = torch.tensor([[True] * 3 + [False]]), torch.tensor([[True] * 3 + [False]])
    values = torch.tensor([[0.0, 0.5, -0.3, 0.0]])
    planes = torch.zeros(1, 1, 34, dtype=torch.uint8)
    batch = LabelledBatch(planes, legal, start, values, valued, torch.zeros(1, dtype=torch.int64))
    wanted = start.clone()
    for _ in range(200):
        wanted = start / (1.0 + (wanted * values).sum() - values)
    scores = wanted.clamp(min=1e-6).log().requires_grad_()
    improvement_loss(scores, batch).backward()
    assert wanted.sum().item() == pytest.approx(1.0, abs=1e-4)
    assert scores.grad.abs().max().item() < 1e-4
    unlabelled = batch._replace(valued=torch.zeros_like(valued))
    assert improvement_loss(start.clamp(min=1e-6).log(), unlabelled).item() == pytest.approx(0.0, abs=1e-6)
    assert improvement_loss(scores, unlabelled).item() > 1e-3  # nobody asked for a change


def test_rare_large_gains_outweigh_frequent_small_losses(corpus: Corpus, start: Path, tmp_path: Path) -> None:
    """A value that two worlds make large has a large error, too: it must not count less for that."""

    def label(number: int) -> list[Label]:
        found = positions_of(corpus, choose(corpus, np.array([number])), Slot.CHI).states
        worth = [(8_000, 8_000) if place % 8 == 0 else (-200, 0) for place in range(len(found))]
        return [
            Label(SLOTS.index(Slot.CHI), place, (NO, 0), (0, points), (0, error), (0.0, 0.0), (0.0, 0.0))
            for place, (points, error) in enumerate(worth)
        ]

    folder = write_labels(corpus, a_plan(corpus, start, games=len(corpus)), tmp_path / "labels", label)
    metrics = taught(corpus, folder, start, tmp_path / "out", slot=Slot.CHI)
    assert metrics["changed"] > 0
    assert metrics["gain"] > 0.0


def test_a_stopped_run_ends_with_the_same_numbers(
    corpus: Corpus, towards_low: Path, start: Path, learned: Learned, tmp_path: Path
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        stop_at(patch, 4)
        with pytest.raises(KeyboardInterrupt, match=r"^stopped: 256 of 640 samples"):
            taught(corpus, towards_low, start, tmp_path / "cut")
    taught(corpus, towards_low, start, tmp_path / "cut")
    one, other = (load(folder, "discard").arrays for folder in (learned.folder, tmp_path / "cut"))
    assert all(np.array_equal(one[name], other[name]) for name in one)


def test_labels_of_parts_teach_as_those_of_the_whole(
    corpus: Corpus, towards_low: Path, start: Path, learned: Learned, tmp_path: Path
) -> None:
    _, rows = read_rows(towards_low, LabelsPlan, LabelledGame)
    parts = [
        write_labels(
            corpus,
            a_plan(corpus, start, first=first, games=last - first),
            tmp_path / name,
            lambda number: list(rows[number].labels),
        )
        for name, first, last in (("one", 0, 3), ("other", 3, len(corpus)))
    ]
    taught(corpus, parts[0], start, tmp_path / "parts", parts[1])
    one, other = (load(folder, "discard").arrays for folder in (learned.folder, tmp_path / "parts"))
    assert all(np.array_equal(one[name], other[name]) for name in one)
    with pytest.raises(ConfigError, match=r"other: .* of its games have labels in another folder, too"):
        taught(corpus, towards_low, start, tmp_path / "twice", parts[1])


def test_settings_that_teach_nothing_are_refused(
    corpus: Corpus, towards_low: Path, start: Path, tmp_path: Path
) -> None:
    with pytest.raises(ConfigError, match=r"passes: 0\.0 must be above 0"):
        taught(corpus, towards_low, start, tmp_path / "out", passes=0.0)


def test_labels_of_other_games_are_refused(
    corpus: Corpus, towards_low: Path, start: Path, tmp_path: Path
) -> None:
    path = shutil.copytree(towards_low, tmp_path / "labels") / RESULTS_FILE
    path.write_bytes(path.read_bytes().replace(corpus.card["content_sha256"].encode(), b"0" * 64))
    with pytest.raises(ConfigError, match="labels of another corpus"):
        taught(corpus, tmp_path / "labels", start, tmp_path / "out")


def test_labels_of_another_version_are_refused(
    corpus: Corpus, towards_low: Path, start: Path, tmp_path: Path
) -> None:
    path = shutil.copytree(towards_low, tmp_path / "labels") / RESULTS_FILE
    path.write_bytes(path.read_bytes().replace(FORMAT.encode(), b"suzaku-labels/2"))
    with pytest.raises(ConfigError, match=r"another version \(suzaku-labels/2\); make them again"):
        taught(corpus, tmp_path / "labels", start, tmp_path / "out")
