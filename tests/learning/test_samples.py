from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from bot import cli
from game.actions import ActionKind
from game.errors import ReplayError
from game.events import Discard, DoraRevealed, GameEvent, PlayerLeft, PlayerReturned
from game.layout import PHASE_TURN, ROUND_STATE
from game.rules import legal_actions
from game.state import apply, clone, new_round
from game.tiles import KINDS
from learning.corpus.build import build
from learning.corpus.reader import Corpus
from learning.samples import Choice, Loader, choose, positions_of
from learning.samples_bench import slice_speeds
from policies.features.encode import encode
from policies.features.permute import PERMUTATIONS, permute_kinds, permute_planes
from policies.features.table import LITE
from replays.record import GameRecord
from tests.learning.corpus.games import MODERN, OLD, records, texts, write_shard

pytestmark = pytest.mark.usefixtures("restore_logs")
GAMES = 15  # the last of the modern ones was left by a player
torch = pytest.importorskip("torch", reason="torch is missing; install the extra `learn`")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("samples")
    build([write_shard(place / "a.jsonl.zst", games())], place / "corpus", workers=1)
    return place / "corpus"


@pytest.fixture(scope="module")
def corpus(folder: Path) -> Corpus:
    return Corpus(folder)


def games() -> tuple[tuple[str, str], ...]:
    return (*texts(MODERN, GAMES), *texts(OLD, GAMES))


def played() -> tuple[GameRecord, ...]:
    return (*records(MODERN, GAMES), *records(OLD, GAMES))


def free_discards(events: Sequence[GameEvent]) -> Iterator[tuple[np.void, int, int]]:
    """What the kernel should find, event by event and by the rules' own list."""
    record = new_round()
    hidden: np.void | None = None
    away: set[int] = set()
    for event in events:
        if isinstance(event, PlayerLeft):
            away.add(event.player)
        elif isinstance(event, PlayerReturned):
            away.discard(event.player)
        elif isinstance(event, Discard) and event.player not in away and record["riichi"][event.player] != 2:
            legal = legal_actions(record, event.player)
            kinds = {action.tile >> 2 for action in legal if action.kind is ActionKind.DISCARD}
            assert event.tile >> 2 in kinds
            if len(kinds) > 1:
                yield clone(record) if hidden is None else hidden, event.player, event.tile >> 2
        # the indicator of an open kan turns up when the discard is chosen, and is not known to who chooses
        is_early = isinstance(event, DoraRevealed) and record["phase"] == PHASE_TURN
        hidden = clone(record) if is_early else None
        apply(record, event)


def test_the_decisions_are_those_of_the_rules_own_list(corpus: Corpus) -> None:
    skipped = 0
    for number, record in enumerate(played()):
        assert corpus.game_id(number) == record.game_id
        wanted = list(free_discards(record.events))
        found = positions_of(corpus, Choice(np.array([number]), np.array([0b1111], np.uint8)))
        assert found.labels.tolist() == [label for _, _, label in wanted]
        assert found.seats.tolist() == [seat for _, seat, _ in wanted]
        assert np.array_equal(found.states, np.array([state for state, _, _ in wanted], ROUND_STATE))
        skipped += int(corpus.index["discards"][number]) - len(wanted)
    assert skipped > 0


def test_absent_players_decide_nothing(corpus: Corpus) -> None:
    away = np.flatnonzero(corpus.index["away"])
    assert away.size
    fewer = 0
    for number in away.tolist():
        everything = positions_of(corpus, Choice(np.array([number]), np.array([0b1111], np.uint8)))
        events = [e for e in played()[number].events if not isinstance(e, PlayerLeft | PlayerReturned)]
        everybody = [label for _, _, label in free_discards(events)]
        assert len(everything.labels) <= len(everybody)
        fewer += len(everybody) - len(everything.labels)
    assert fewer > 0


def test_only_the_players_asked_for(corpus: Corpus) -> None:
    games = corpus.select()
    ranks = corpus.index["ranks"]
    least = int(np.median(ranks))
    choice = choose(corpus, games, least_rank=least)
    for number, seats in zip(choice.games.tolist(), choice.seats.tolist(), strict=True):
        assert [bool(seats >> p & 1) for p in range(4)] == (ranks[number] >= least).tolist()
        found = positions_of(corpus, Choice(np.array([number]), np.array([seats], np.uint8)))
        assert {int(seat) for seat in found.seats} == {p for p in range(4) if seats >> p & 1}
    name = corpus.players[int(corpus.index["players"][3, 2])]
    one = choose(corpus, games, player=name)
    assert 3 in one.games
    assert (one.seats[one.games == 3] == 0b0100).all()
    assert not choose(corpus, games, player="nobody of this name").games.size


def test_planes_are_those_of_the_positions(corpus: Corpus) -> None:
    choice = choose(corpus, corpus.select()[:3])
    found = positions_of(corpus, choice)
    wanted = encode(found.states, found.seats, LITE)
    loader = Loader(corpus, choice, batch_size=100, augment=False, pool_games=2)
    batches = list(loader.epoch())
    planes = np.concatenate([batch.planes.numpy() for batch in batches])
    labels = np.concatenate([batch.labels.numpy() for batch in batches])
    assert [len(batch.labels) for batch in batches[:-1]] == [100] * (len(batches) - 1)
    assert sorted_rows(planes, labels) == sorted_rows(wanted, found.labels)
    assert labels.tolist() != found.labels.tolist()


def test_renamed_planes_go_with_renamed_labels(corpus: Corpus) -> None:
    choice = choose(corpus, corpus.select()[:2])
    plain = list(Loader(corpus, choice, batch_size=64, augment=False).epoch())
    renamed = list(Loader(corpus, choice, batch_size=64).epoch())
    seen: set[int] = set()
    for before, after in zip(plain, renamed, strict=True):
        planes, labels = before.planes.numpy(), before.labels.numpy()
        assert (after.planes.numpy()[np.arange(len(labels)), 0, after.labels.numpy()] == 255).all()
        matched = np.zeros(len(labels), np.bool_)
        for number in range(PERMUTATIONS):
            same = (permute_planes(planes, LITE, number) == after.planes.numpy()).all(axis=(1, 2))
            same &= permute_kinds(labels, number) == after.labels.numpy()
            matched |= same
            seen |= {number} if same.any() else set()
        assert matched.all()
    assert seen == set(range(PERMUTATIONS))


def test_the_same_seed_gives_the_same_batches_whatever_the_workers(corpus: Corpus) -> None:
    choice = choose(corpus, corpus.select()[:6])

    def run(seed: int, workers: int, epoch: int = 0) -> list[bytes]:
        loader = Loader(corpus, choice, batch_size=128, seed=seed, workers=workers, pool_games=2)
        return [
            batch.planes.numpy().tobytes() + batch.labels.numpy().tobytes() for batch in loader.epoch(epoch)
        ]

    first = run(1, 1)
    assert first == run(1, 3)
    assert first != run(2, 1)
    assert first != run(1, 1, epoch=1)


def test_tensors_are_ready_to_learn_from(corpus: Corpus) -> None:
    loader = Loader(corpus, choose(corpus, corpus.select()), batch_size=32)
    epoch = loader.epoch()
    batch = next(epoch)
    epoch.close()
    assert batch.planes.dtype == torch.uint8
    assert batch.labels.dtype == torch.int64
    assert tuple(batch.planes.shape) == (32, 239, KINDS)
    assert loader.costs.encode > 0


def test_nothing_chosen_gives_no_batches(corpus: Corpus) -> None:
    assert list(Loader(corpus, choose(corpus, corpus.select()[:0])).epoch()) == []


def test_speed_of_slices_counts_what_came_in_each() -> None:
    assert slice_speeds([0.0, 1.0, 3.0], [0, 10, 20]) == [10.0, 5.0]
    assert len(slice_speeds([float(n) for n in range(101)], list(range(101)))) == 10


def test_the_command_reports_speed_and_shares(folder: Path) -> None:
    result = CliRunner().invoke(cli.app, ["bench", "loader", "--corpus", str(folder), "--json"])
    assert result.exit_code == 0
    report = json.loads(result.stdout)
    assert 0 < report["minimum"] <= report["median"] <= report["maximum"]
    assert sum(report["shares"].values()) == pytest.approx(1)


def test_the_command_says_that_there_is_no_corpus(tmp_path: Path) -> None:
    result = CliRunner().invoke(cli.app, ["bench", "loader", "--corpus", str(tmp_path)])
    assert result.exit_code == cli.EXIT_FAILED
    assert ReplayError.__name__ not in result.output


def sorted_rows(planes: np.ndarray, labels: np.ndarray) -> list[tuple[bytes, int]]:
    return sorted((row.tobytes(), int(label)) for row, label in zip(planes, labels, strict=True))
