from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pytest
import torch

from game.actions import ActionKind
from game.observation import Observation
from game.rules import legal_actions
from game.scoring.settlement import LAST_ROUND
from learning.accuracy import answers
from learning.accuracy.answers import answers_of, heuristic_answers
from learning.accuracy.data import EvaluatedPlayers, GamesPlan, opened, players_of
from learning.accuracy.evaluate import AccuracyPlan, evaluate
from learning.accuracy.report import AccuracyReport
from learning.accuracy.scores import AI, Answers, cuts_of, interval_of, scores_of
from learning.corpus.build import build
from learning.corpus.layout import SPLITS
from learning.corpus.reader import Corpus
from learning.samples.choice import SelectedDecisions
from learning.samples.positions import Positions, positions_of
from learning.supervised.plan import features_of
from policies.checkpoint import Card, save
from policies.features.encode import encode
from policies.features.table import SETS
from policies.flow.slots import Slot
from policies.heuristic.player import HeuristicPolicy
from policies.nets.architectures import DISCARDS, YES_NO, Architecture
from policies.nets.networks import Network, as_input
from policies.play.decision import decide
from policies.play.inference import Averaging, Model
from tests.cli import run_cli
from tests.learning.corpus.games import MODERN, texts, write_shard
from tests.policies.models import weights_of

pytestmark = pytest.mark.usefixtures("restore_logs")
STRONG = "strongbot-00"
GAMES = 4
KINDS = {
    Slot.DISCARD: (ActionKind.DISCARD,),
    Slot.RIICHI: (ActionKind.RIICHI,),
    Slot.CHI: (ActionKind.CHI,),
    Slot.PON: (ActionKind.PON,),
    Slot.KAN: (ActionKind.DAIMINKAN, ActionKind.ANKAN, ActionKind.KAKAN),
}


@pytest.fixture(scope="module")
def shard(tmp_path_factory: pytest.TempPathFactory) -> Path:
    games = (*texts(MODERN, GAMES), *texts(STRONG, 2))
    return write_shard(tmp_path_factory.mktemp("accuracy") / "a.jsonl.zst", games)


@pytest.fixture(scope="module")
def corpus(shard: Path) -> Corpus:
    build([shard], shard.parent / "corpus", workers=1)
    return Corpus(shard.parent / "corpus")


@pytest.fixture(scope="module")
def checkpoints(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return saved(tmp_path_factory.mktemp("checkpoints"), seed=1)


def network(slot: Slot, seed: int) -> Network:
    torch.manual_seed(seed)
    planes = SETS[features_of(slot)].planes
    outputs: Literal[34, 2] = DISCARDS if slot is Slot.DISCARD else YES_NO
    return Network(Architecture(planes, outputs, width=4, depth=1)).eval()


def saved(folder: Path, seed: int, slots: tuple[Slot, ...] = tuple(Slot)) -> Path:
    for slot in slots:
        made = network(slot, seed)
        card = Card(model=slot.value, architecture=made.architecture, features=features_of(slot))
        save(folder, card, weights_of(made).arrays)
    return folder


def everybody(corpus: Corpus) -> EvaluatedPlayers:
    with opened([corpus.folder]) as source:
        return players_of(source, GamesPlan(split="all"))


def positions(corpus: Corpus, players: EvaluatedPlayers, slot: Slot) -> Positions:
    """All decisions, people's first."""
    people, ai = (positions_of(corpus, choice, slot) for choice in players)
    moved = ai._replace(owners=ai.owners + len(people.players))
    pairs: Any = zip(people, moved, strict=True)
    return Positions(*(np.concatenate(pair) for pair in pairs))


def made_up(**columns: Any) -> Answers:
    """Answers to as many decisions as there are places, one chance each; columns not given are 0."""
    size = len(columns["place"])
    kinds: dict[str, type] = {"place": np.int8, "turn": np.int8, "rank": np.int8, "chance": np.float32}
    kinds |= {"game": np.int64, "owner": np.int64}
    given = {"owner": range(size), **columns}
    return Answers(
        **{name: np.array(given.get(name, [0] * size), kinds.get(name, np.bool_)) for name in Answers._fields}
    )


# --- adding up --------------------------------------------------------------------------------------------


def test_discards_are_counted_among_the_first_three() -> None:
    scores = scores_of(made_up(place=[0, 0, 1, 2, 3], game=[0, 0, 1, 1, 2]), Slot.DISCARD)
    assert (scores.top1, scores.top2, scores.top3) == (0.4, 0.6, 0.8)
    assert (scores.decisions, scores.games, scores.yes) == (5, 3, None)


def test_yes_and_no_are_counted_separately() -> None:
    # player's yes: found, found, missed, another meld; player's no: 5 times agreed, once not
    answered = made_up(
        place=[0, 0, 1, 1, 0, 0, 0, 0, 0, 1],
        taken=[1, 1, 1, 1, 0, 0, 0, 0, 0, 0],
        answered=[1, 1, 0, 1, 0, 0, 0, 0, 0, 1],
    )
    scores = scores_of(answered, Slot.CHI)
    assert scores.yes is not None
    assert (scores.top1, scores.top2) == (0.7, None)
    assert (scores.yes.taken, scores.yes.majority, scores.yes.majority_answer) == (0.4, 0.6, "no")
    assert scores.yes.balanced == pytest.approx((2 / 4 + 5 / 6) / 2)
    assert (scores.yes.precision, scores.yes.recall) == (2 / 4, 2 / 4)
    assert scores.yes.other_meld == 1


def test_cases_that_never_occur_have_no_share() -> None:
    scores = scores_of(made_up(place=[0, 0]), Slot.KAN)
    assert scores.yes is not None
    assert (scores.yes.balanced, scores.yes.precision, scores.yes.recall) == (None, None, None)


def test_parts_by_turn_riichi_and_rank() -> None:
    found = made_up(
        place=[0, 1, 0, 1, 0],
        turn=[5, 6, 11, 12, 0],
        riichi=[0, 0, 1, 0, 0],
        rank=[15, 16, 18, 20, 16],
        ai=[0, 0, 0, 0, 1],
    )
    cuts = {
        title: {name: (scores.decisions, scores.top1) for name, scores in parts.items()}
        for title, parts in cuts_of(found, Slot.DISCARD).items()
    }
    assert cuts["turn"] == {"0-5": (2, 1.0), "6-11": (2, 0.5), "12+": (1, 0.0)}
    assert cuts["riichi"] == {"no": (4, 0.5), "yes": (1, 1.0)}
    ranks = {"below 16": (1, 1.0), "16": (1, 0.0), "18": (1, 1.0), "19+": (1, 0.0), AI: (1, 1.0)}
    assert cuts["rank"] == ranks


def test_a_part_keeps_the_chances_of_its_own_decisions() -> None:
    found = made_up(
        place=[0, 0, 0],
        turn=[0, 12, 0],
        owner=[0, 1, 1, 2],
        chance=[0.1, 0.9, 0.3, 0.2],
        happened=[0, 1, 0, 0],
    )
    late = cuts_of(found, Slot.CHI)["turn"]["12+"]
    assert [(each.low, each.count, each.happened) for each in late.calibration] == [
        (0.3, 1, 0.0),
        (0.9, 1, 1.0),
    ]


def test_calibrated_chances_have_no_error() -> None:
    chance = np.repeat(np.array([0.25, 0.75], np.float32), 4)
    scores = scores_of(made_up(place=[0] * 8, chance=chance, happened=[1, 0, 0, 0, 1, 1, 1, 0]), Slot.PON)
    assert scores.calibration_error == pytest.approx(0)
    scores = scores_of(made_up(place=[0] * 8, chance=chance, happened=[0] * 8), Slot.PON)
    assert scores.calibration_error == pytest.approx(0.5)


def test_intervals_resample_whole_games() -> None:
    rng = np.random.default_rng(0)
    right = np.repeat(rng.random(40) < 0.5, 25)
    together = interval_of(right, np.repeat(np.arange(40), 25))
    apart = interval_of(right, np.arange(1000))
    assert together is not None
    assert apart is not None
    assert together == interval_of(right, np.repeat(np.arange(40), 25))
    # of 40 independent throws, and of 1000
    assert together[1] - together[0] == pytest.approx(3.92 * 0.5 / 40**0.5, rel=0.15)
    assert apart[1] - apart[0] == pytest.approx(3.92 * 0.5 / 1000**0.5, rel=0.15)
    assert together[0] < right.mean() < together[1]
    assert interval_of(right, np.zeros(1000, np.int64)) is None


# --- asking -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("slot", list(Slot))
def test_a_network_is_asked_about_the_positions(
    corpus: Corpus, slot: Slot, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(answers, "BATCH", 5 if slot is not Slot.DISCARD else 500)
    players, trained = everybody(corpus), network(slot, 0)
    found = positions(corpus, players, slot)
    got = answers_of(corpus, players, slot, Model(weights_of(trained), features_of(slot)), workers=2)
    assert got.game.tolist() == found.games.tolist()
    assert got.owner.tolist() == found.owners.tolist()
    assert got.turn.tolist() == [
        int(state["river_size"][player]) for state, player in zip(found.states, found.players, strict=True)
    ]
    names = corpus.index["players"][found.games, found.players]
    assert got.ai.tolist() == [corpus.players[name].startswith("ⓝ") for name in names]
    assert got.ai.any()
    for decision, (place, taken, answered) in enumerate(expected(trained, slot, found)):
        assert got.place[decision] == place
        assert (got.taken[decision], got.answered[decision]) == (taken, answered)


def expected(trained: Network, slot: Slot, found: Positions) -> list[tuple[int, bool, bool]]:
    """Place, taken and answered of each decision, one at a time."""
    calls = found.calls if slot in (Slot.CHI, Slot.PON, Slot.KAN) else None
    owners = found.owners
    planes = encode(
        found.states[owners],
        found.players[owners],
        features_of(slot),
        calls=calls,
        last_round=LAST_ROUND["hanchan"],
    )
    with torch.inference_mode():
        logits = trained(as_input(torch.from_numpy(planes))).double()
    out = []
    for decision in range(len(found.players)):
        rows = np.arange(*np.searchsorted(owners, (decision, decision + 1)))
        if slot is Slot.DISCARD:
            (row,) = rows
            legal = [kind for kind in range(34) if int(found.legal[decision]) >> kind & 1]
            order = sorted(legal, key=lambda kind: -float(logits[row, kind]))
            out.append((order.index(int(found.labels[row])), False, False))
            continue
        yes = torch.softmax(logits[rows], 1)[:, 1]
        actual = found.labels[rows].argmax() if found.labels[rows].any() else None
        ours = int(yes.argmax()) if float(yes.max()) > 0.5 else None
        out.append((int(actual != ours), actual is not None, ours is not None))
    return out


@pytest.mark.parametrize("slot", list(Slot))
def test_the_rule_based_player_is_asked_about_the_same_decisions(corpus: Corpus, slot: Slot) -> None:
    players = everybody(corpus)
    found = positions(corpus, players, slot)
    network_answers = answers_of(
        corpus, players, slot, Model(weights_of(network(slot, 0)), features_of(slot))
    )
    chosen = np.arange(len(found.players)) % (100 if slot is Slot.DISCARD else 4) == 1
    got = heuristic_answers(corpus, players, slot, network_answers, chosen)
    assert got.turn.tolist() == network_answers.turn[chosen].tolist()
    assert got.taken.tolist() == network_answers.taken[chosen].tolist()
    for place, decision in enumerate(np.flatnonzero(chosen).tolist()):
        record, player = found.states[decision], int(found.players[decision])
        labels = found.labels[found.owners == decision].tolist()
        legal = legal_actions(record, player)
        options = [action for action in legal if action.kind in KINDS[slot]]
        otherwise = [action for action in legal if action.kind in (ActionKind.DISCARD, ActionKind.PASS)]
        asked = options if slot is Slot.DISCARD else options + otherwise
        action = decide(Observation(record, player, tuple(asked), "hanchan"), HeuristicPolicy()).action
        if slot is Slot.DISCARD:
            right = [action.tile >> 2] == labels
        elif action in options:
            right = labels[options.index(action)] == 1
        else:
            right = not any(labels)
        assert (got.place[place] == 0) == right
        assert got.answered[place] == (slot is not Slot.DISCARD and action in options)


# --- the whole --------------------------------------------------------------------------------------------


def test_two_folders_are_compared_on_the_same_decisions(
    corpus: Corpus, checkpoints: Path, tmp_path: Path
) -> None:
    other = saved(tmp_path, 2, (Slot.RIICHI,))
    report = evaluate(
        [corpus.folder],
        [checkpoints, other, checkpoints],
        AccuracyPlan(split="all", heuristic=False),
        quiet=True,
    )
    first, second, again = (model for model in report.models if model.model == "riichi")
    assert first.difference is None
    assert first.weights == again.weights != second.weights
    assert second.difference is not None
    assert second.difference.top1 == pytest.approx(second.scores.top1 - first.scores.top1)
    assert again.difference is not None
    assert (again.difference.top1, again.difference.interval) == (0.0, (0.0, 0.0))
    assert [model.model for model in report.models if model.folder == str(other)] == ["riichi"]


def test_games_and_players_are_chosen(corpus: Corpus) -> None:
    with opened([corpus.folder]) as source:
        every = players_of(source, GamesPlan(split="all"))
        assert every.games.tolist() == list(range(len(corpus)))
        drawn = players_of(source, GamesPlan(split="all", games=3, seed=1))
        assert len(drawn.games) == 3
        assert (
            drawn.games.tolist() == players_of(source, GamesPlan(split="all", games=3, seed=1)).games.tolist()
        )
        only = players_of(source, AccuracyPlan(split="all", ai=True))
        assert not len(only.people.games)
        assert only.ai.games.tolist() == np.flatnonzero(corpus.index["ai"]).tolist()
        train = players_of(source, GamesPlan(split="train"))
        assert train.games.tolist() == corpus.select(split="train").tolist()


def run(*arguments: str | int | Path) -> Any:
    return run_cli("eval", "accuracy", *map(str, arguments))


def test_the_command_measures_records(shard: Path, corpus: Corpus, checkpoints: Path) -> None:
    result = run("--data", shard, "--checkpoints", checkpoints, "--heuristic-decisions", 30, "--json")
    assert result.exit_code == 0, result.output
    report = json.loads(result.stdout)
    assert report["data"]["split"] == "all"
    assert report["data"]["games"] == len(corpus)
    assert report["data"]["content"] == corpus.card["content_sha256"]
    train = int((corpus.index["split"] == SPLITS.index("train")).sum())
    assert report["data"]["from_training"] == train > 0
    assert [model["model"] for model in report["models"]] == list(Slot)
    for model in report["models"]:
        assert model["scores"]["decisions"] == sum(
            part["decisions"] for part in model["cuts"]["rank"].values()
        )
        assert model["heuristic"]["scores"]["decisions"] == min(30, model["scores"]["decisions"])
        assert model["heuristic"]["network"]["decisions"] == model["heuristic"]["scores"]["decisions"]


def test_the_command_prints_plain_columns(corpus: Corpus, checkpoints: Path) -> None:
    result = run(
        "--data", corpus.folder, "--split", "all", "--checkpoints", checkpoints, "--model", "pon",
        "--no-heuristic", "--permutations", 6, "--games", 4,
    )  # fmt: skip
    assert result.exit_code == 0, result.output
    assert "rank AI" in result.stdout
    assert "permutations 6" in result.stdout


def test_averaging_over_permutations_changes_answers(corpus: Corpus, checkpoints: Path) -> None:
    def measured(permutations: Averaging) -> AccuracyReport:
        plan = AccuracyPlan(models=(Slot.RIICHI,), split="all", permutations=permutations, heuristic=False)
        return evaluate([corpus.folder], [checkpoints], plan, quiet=True)

    assert measured(1).models[0].scores != measured(6).models[0].scores


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (["--data", "missing"], 2, "`missing`: no such file or folder"),
        (["--data", "{empty}"], 1, "no records in"),
        (["--data", "{corpus}", "--checkpoints", "{empty}"], 1, "no discard.json"),
        (["--data", "{corpus}", "--split", "tests"], 2, 'Invalid value "tests" for --split'),
        (
            ["--data", "{corpus}", "--permutations", "2"],
            2,
            'Invalid value "2" for --permutations',
        ),
        (
            ["--data", "{corpus}", "--room", "x", "--model", "y"],
            2,
            'Invalid value "x" for --room',
        ),
        (["--data", "{corpus}", "--player", "nobody of this name"], 2, "no game matches"),
        (["--data", "{corpus}", "--data", "{empty}"], 1, "measured alone"),
    ],
)
def test_the_command_reports_bad_input(
    corpus: Corpus, checkpoints: Path, tmp_path: Path, arguments: list[str], code: int, said: str
) -> None:
    places = {"{corpus}": str(corpus.folder), "{empty}": str(tmp_path)}
    given = [places.get(each, each) for each in arguments]
    if "--checkpoints" not in given:
        given += ["--checkpoints", str(checkpoints)]
    result = run(*given)
    assert result.exit_code == code, result.output
    assert said in result.stderr
    assert "Traceback" not in result.output


def test_a_file_without_a_record_is_named(checkpoints: Path, tmp_path: Path) -> None:
    (tmp_path / "a.xml").write_text("nothing")
    result = run("--data", tmp_path / "a.xml", "--checkpoints", checkpoints)
    assert result.exit_code == 1
    assert "a.xml: no usable game: 1 unreadable" in result.stderr


def test_chosen_seats_alone_are_asked(corpus: Corpus) -> None:
    slot = Slot.RIICHI
    with opened([corpus.folder]) as source:
        players = players_of(source, AccuracyPlan(split="all", least_rank=17))
    got = answers_of(corpus, players, slot, Model(weights_of(network(slot, 0)), features_of(slot)))
    assert len(got.place)
    assert got.rank.min() >= 17
    nobody = SelectedDecisions(np.empty(0, np.int64), np.empty(0, np.uint8))
    none = answers_of(
        corpus, EvaluatedPlayers(nobody, nobody), slot, Model(weights_of(network(slot, 0)), features_of(slot))
    )
    assert not len(none.place)
