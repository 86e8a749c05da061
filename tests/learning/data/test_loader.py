from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from game.events import PlayerLeft, PlayerReturned
from learning.data import loader as samples
from learning.data.build import build
from learning.data.choice import ALL_PLAYERS, SelectedDecisions, choose
from learning.data.corpus import Corpus
from learning.data.loader import FEATURES, Batch, Loader
from learning.data.positions import count, positions_of
from policies.features.encode import encode
from policies.features.permute import PERMUTATIONS, permute_columns, permute_kinds, permute_planes
from policies.features.table import LITE, SETS, SUPHX, SUPHX_CALL
from policies.flow.slots import Slot
from replays.record import GameRecord
from tests.learning.data.games import MODERN, OLD, records, texts, write_shard
from tests.learning.stub import corpus_of, everybody

CALLS = (Slot.CHI, Slot.PON, Slot.KAN)
pytestmark = pytest.mark.usefixtures("restore_logs")
GAMES = 15  # the last of the modern ones was left by a player


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


def test_absent_players_decide_nothing(corpus: Corpus) -> None:
    away = np.flatnonzero(corpus.index["away"])
    assert away.size
    for number in away.tolist():
        events = [e for e in played()[number].events if not isinstance(e, PlayerLeft | PlayerReturned)]
        fewer = count(corpus, SelectedDecisions(np.array([number]), np.array([ALL_PLAYERS], np.uint8)))
        assert fewer.decisions < count(corpus_of(events), everybody(1)).decisions


def test_only_the_requested_players(corpus: Corpus) -> None:
    games = corpus.select()
    ranks = corpus.index["ranks"]
    least = int(np.median(ranks))
    choice = choose(corpus, games, least_rank=least)
    for number, players in zip(choice.games.tolist(), choice.players.tolist(), strict=True):
        assert [bool(players >> p & 1) for p in range(4)] == (ranks[number] >= least).tolist()
        found = positions_of(corpus, SelectedDecisions(np.array([number]), np.array([players], np.uint8)))
        assert {int(player) for player in found.players} == {p for p in range(4) if players >> p & 1}
    name = corpus.players[int(corpus.index["players"][3, 2])]
    one = choose(corpus, games, player=name)
    assert 3 in one.games
    assert (one.players[one.games == 3] == 0b0100).all()
    assert not choose(corpus, games, player="nobody of this name").games.size


@pytest.mark.parametrize("slot", Slot)
def test_planes_are_those_of_the_positions(corpus: Corpus, slot: Slot) -> None:
    choice = choose(corpus, corpus.select()[:3])
    found = positions_of(corpus, choice, slot)
    of_rows = found.states[found.owners], found.players[found.owners]
    wanted = encode(*of_rows, FEATURES[slot], calls=found.calls if slot in CALLS else None)
    loader = Loader(corpus, choice, slot, batch_size=100, augment=False, pool_games=2)
    batches = list(loader.epoch())
    planes = np.concatenate([batch.planes.numpy() for batch in batches])
    labels = np.concatenate([batch.labels.numpy() for batch in batches])
    assert [len(batch.labels) for batch in batches[:-1]] == [100] * (len(batches) - 1)
    assert sorted_rows(planes, labels) == sorted_rows(wanted, found.labels)
    assert planes.tobytes() != wanted.tobytes()


@pytest.mark.parametrize("slot", Slot)
def test_rows_of_a_decision_stand_together_and_share_a_number(corpus: Corpus, slot: Slot) -> None:
    choice = choose(corpus, corpus.select()[:4])
    found = positions_of(corpus, choice, slot)
    loader = Loader(corpus, choice, slot, batch_size=50, augment=False, pool_games=1)
    numbers = np.concatenate([batch.decision.numpy() for batch in loader.epoch()])
    changes = np.flatnonzero(np.diff(numbers, prepend=-1))
    assert sorted(numbers[changes].tolist()) == list(range(len(found.players)))
    sizes = np.diff(changes, append=len(numbers))
    assert sorted(sizes.tolist()) == sorted(np.bincount(found.owners).tolist())
    assert len(found.players) == count(corpus, choice, slot).decisions


def test_epochs_take_some_of_the_decisions_and_not_the_same(corpus: Corpus) -> None:
    choice = choose(corpus, np.arange(3))
    loader = Loader(corpus, choice, one_in=4, augment=False)
    first, second = (
        {row.tobytes() for batch in loader.epoch(epoch) for row in batch.planes.numpy()} for epoch in range(2)
    )
    rows = len(positions_of(corpus, choice).players)
    assert len(first) == len(second) == -(-rows // 4)
    assert len(first & second) < len(first) / 2


@pytest.mark.parametrize("start", [1, 3, 100])
def test_an_epoch_can_begin_later(corpus: Corpus, monkeypatch: pytest.MonkeyPatch, start: int) -> None:
    choice = choose(corpus, corpus.select()[:5])
    loader = Loader(corpus, choice, Slot.CHI, batch_size=64, pool_games=2, moments=True)
    everything = [contents(batch) for batch in loader.epoch(2)]
    assert len(everything) > 4
    encoded = []

    def note(states: np.ndarray, *rest: Any, **options: Any) -> Any:
        encoded.append(len(states))
        return encode(states, *rest, **options)

    monkeypatch.setattr(samples, "encode", note)
    late = list(loader.epoch(2, start))
    assert [contents(batch) for batch in late] == everything[start:]
    assert sum(encoded) == sum(len(batch.labels) for batch in late)


def test_legal_kinds_are_those_of_the_positions(corpus: Corpus) -> None:
    choice = choose(corpus, corpus.select()[:1])
    masks = positions_of(corpus, choice).legal.tolist()
    (batch,) = Loader(corpus, choice, batch_size=10_000, augment=False).epoch()
    found = [sum(1 << kind for kind in np.flatnonzero(row)) for row in batch.legal.numpy()]
    assert [masks[number] for number in batch.decision] == found


@pytest.mark.parametrize("slot", [Slot.DISCARD, Slot.PON])
def test_a_large_set_knows_the_length_of_each_game(slot: Slot) -> None:
    events = played()[0].events
    name = SUPHX if slot is Slot.DISCARD else SUPHX_CALL
    last = SETS[name].at("Q")

    def moments(*, hanchan: bool) -> np.ndarray:
        loader = Loader(
            corpus_of(events, hanchan=hanchan), everybody(1), slot, features=name, deep=False, batch_size=2000
        )
        (batch,) = loader.epoch()
        return batch.planes.numpy()[:, last, 0]

    assert moments(hanchan=False).sum() > moments(hanchan=True).sum()


def test_a_smaller_share_lies_within_a_larger_one(corpus: Corpus) -> None:
    games = corpus.select()
    shares = [set(choose(corpus, games, share=share).games.tolist()) for share in (0.0, 0.1, 0.3, 0.6, 1.0)]
    assert not shares[0]
    assert shares[-1] == set(games.tolist())
    assert all(small < large for small, large in pairwise(shares))
    fewer = choose(corpus, games[::2], share=0.6)
    assert set(fewer.games.tolist()) == shares[3] & set(games[::2].tolist())


def test_renamed_planes_go_with_renamed_labels_and_legal_kinds(corpus: Corpus) -> None:
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
            legal = permute_columns(before.legal.numpy(), np.full(len(labels), number))
            same &= (legal == after.legal.numpy()).all(axis=1)
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


def sorted_rows(planes: np.ndarray, labels: np.ndarray) -> list[tuple[bytes, int]]:
    return sorted((row.tobytes(), int(label)) for row, label in zip(planes, labels, strict=True))


def contents(batch: Batch) -> list[bytes]:
    tensors = (batch.planes, batch.labels, batch.legal, batch.decision)
    arrays = [each.numpy() for each in tensors if each is not None] + list(batch.moments or ())
    return [each.tobytes() for each in arrays]
