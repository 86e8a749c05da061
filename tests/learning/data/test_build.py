from __future__ import annotations

import json
import pickle
import signal
from pathlib import Path

import numpy as np
import pytest

from game.events import PlayerLeft
from game.packing import pack_all
from game.state import fold_packed, new_round
from kit.errors import ReplayError
from learning.data import build as building
from learning.data import layout
from learning.data.build import build
from learning.data.corpus import Corpus
from learning.data.layout import SPLITS, split_of
from tests.cli import run_cli
from tests.learning.data.games import MODERN, OLD, OTHER, SANMA, records, texts, write_shard
from tests.learning.stopping import killed_in_a_write

pytestmark = pytest.mark.usefixtures("restore_logs")


@pytest.fixture(autouse=True)
def _small_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(building, "PART_GAMES", 4)


@pytest.fixture
def shard(tmp_path: Path) -> Path:
    games = (*texts(MODERN, 20), *texts(SANMA, 1), *texts(OLD, 10), *texts(MODERN, 2))
    return write_shard(tmp_path / "games.jsonl.zst", games, b"no json\n")


def content(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_every_game_comes_back_from_the_corpus(
    shard: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    report = build([shard], tmp_path / "corpus", workers=1)
    corpus = Corpus(tmp_path / "corpus")
    games = (*records(MODERN, 20), *records(OLD, 10))
    assert len(corpus) == report.games == len(games)
    assert (report.not_supported, report.rejected, report.duplicates) == ({"three players": 1}, 1, 2)
    assert capsys.readouterr().err.startswith("unreadable: games.jsonl.zst")
    for number, record in enumerate(games):
        codes = corpus.events(number)
        assert corpus.game_id(number) == record.game_id
        assert np.array_equal(codes, pack_all(record.events))
        row = corpus.index[number]
        assert fold_packed(new_round(), codes) == row["events"]
        assert tuple(corpus.players[place] for place in row["players"]) == record.names
        assert tuple(row["ranks"]) == record.ranks
        assert tuple(row["scores"]) == record.ending.scores
        assert sorted(row["places"]) == [1, 2, 3, 4]
        assert row["rounds"] == record.rounds
        assert row["away"].item() == sum(
            1 << p for p in range(4) if any(e == PlayerLeft(p) for e in record.events)
        )


def test_a_build_that_is_killed_goes_on_to_the_same_bytes(shard: Path, tmp_path: Path) -> None:
    whole = tmp_path / "whole"
    build([shard], whole, workers=1)
    killed = tmp_path / "killed"
    for writes in (1, 4, 3, 2):
        code = killed_in_a_write(building, "replace_file", writes, lambda: build([shard], killed, workers=1))
        assert code == -signal.SIGKILL
        with pytest.raises(ReplayError, match="no complete corpus"):
            Corpus(killed)
    report = build([shard], killed, workers=1)
    assert report.parts == 9
    assert report.reused >= 5
    assert content(killed) == content(whole)


def test_a_torn_part_is_packed_again(shard: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "corpus"
    with monkeypatch.context() as patch:
        patch.setattr(building, "replacing", lambda *_: (_ for _ in ()).throw(ReplayError("stopped")))
        with pytest.raises(ReplayError, match="stopped"):
            build([shard], folder, workers=1)
    part = folder / layout.PARTS_FOLDER / "part-00002.bin"
    part.write_bytes(part.read_bytes()[:-7])
    report = build([shard], folder, workers=1)
    assert (report.parts, report.reused) == (9, 8)


@pytest.mark.slow
def test_processes_build_the_same_bytes(shard: Path, tmp_path: Path) -> None:
    build([shard], tmp_path / "one", workers=1)
    build([shard], tmp_path / "two", workers=2)
    assert content(tmp_path / "one") == content(tmp_path / "two")


def test_a_finished_corpus_is_left_alone_and_one_of_other_games_replaced(shard: Path, tmp_path: Path) -> None:
    folder = tmp_path / "corpus"
    first = build([shard], folder, workers=1)
    stamp = (folder / layout.EVENTS_FILE).stat().st_mtime_ns
    again = build([shard], folder, workers=1)
    assert (again.parts, again.content) == (0, first.content)
    assert (folder / layout.EVENTS_FILE).stat().st_mtime_ns == stamp
    other = write_shard(tmp_path / "other.jsonl.zst", texts(MODERN, 3))
    assert build([other], folder, workers=1).games == 3
    assert len(Corpus(folder)) == 3


def test_games_are_chosen_by_the_index(tmp_path: Path) -> None:
    games = (*texts(MODERN, 30), *texts(OLD, 20), *texts(OTHER, 30))
    folder = tmp_path / "corpus"
    build([write_shard(tmp_path / "games.jsonl.zst", games)], folder, workers=1)
    corpus = Corpus(folder)
    index = corpus.index
    everything = corpus.select()
    assert len(everything) == len(corpus)
    parts = [corpus.select(split=split) for split in SPLITS]
    assert sorted(np.concatenate(parts)) == everything.tolist()
    assert all(split_of(corpus.game_id(n)) == 0 for n in parts[0])
    assert (index["room"][corpus.select(rooms=["houou"])] == 3).all()
    assert 0 < np.count_nonzero(index["away"]) < len(corpus)
    for number in everything:
        rows = corpus.absences_of(number)
        assert (len(rows) == 0) == (index["away"][number] == 0)
        assert all(row["first"] <= row["end"] <= index["events"][number] for row in rows)


def test_a_corpus_can_be_sent_to_another_process(shard: Path, tmp_path: Path) -> None:
    build([shard], tmp_path / "corpus", workers=1)
    corpus = Corpus(tmp_path / "corpus")
    copy = pickle.loads(pickle.dumps(corpus))
    assert np.array_equal(copy.events(3), corpus.events(3))


def test_a_broken_corpus_is_refused_with_a_remedy(shard: Path, tmp_path: Path) -> None:
    folder = tmp_path / "corpus"
    build([shard], folder, workers=1)
    events = folder / layout.EVENTS_FILE
    data = events.read_bytes()
    events.write_bytes(data[:-1])
    with pytest.raises(ReplayError, match="cut short; run `suzaku corpus build`"):
        Corpus(folder)
    events.write_bytes(data)
    card = folder / layout.CARD_FILE
    told = json.loads(card.read_bytes())
    told["plan"]["format"] = "suzaku-corpus/1"
    card.write_text(json.dumps(told))
    with pytest.raises(ReplayError, match="another form"):
        Corpus(folder)
    card.write_text("{")
    with pytest.raises(ReplayError, match="not a data card"):
        Corpus(folder)


def test_a_damaged_game_is_refused_and_building_again_repairs_it(shard: Path, tmp_path: Path) -> None:
    folder = tmp_path / "corpus"
    build([shard], folder, workers=1)
    events = folder / layout.EVENTS_FILE
    good = events.read_bytes()
    offset, size = (int(Corpus(folder).index[3][name]) for name in ("offset", "size"))
    for place in np.linspace(offset, offset + size - 1, 50, dtype=int):
        data = bytearray(good)
        data[place] ^= 255
        events.write_bytes(data)
        corpus = Corpus(folder)
        with pytest.raises(
            ReplayError, match=f"{corpus.game_id(3)} is damaged .*; run `suzaku corpus build`"
        ):
            corpus.events(3)
        corpus.events(2)
    build([shard], folder, workers=1)
    assert events.read_bytes() == good


def test_unreadable_and_unwritable_files_are_reported(shard: Path, tmp_path: Path) -> None:
    with pytest.raises(ReplayError, match="gone"):
        build([tmp_path / "gone.jsonl.zst"], tmp_path / "corpus", workers=1)
    (tmp_path / "file").write_text("")
    with pytest.raises(ReplayError, match="file"):
        build([shard], tmp_path / "file" / "corpus", workers=1)


def test_the_command_builds_a_corpus(shard: Path, tmp_path: Path) -> None:
    args = ["corpus", "build", str(shard), "--out", str(tmp_path / "corpus"), "--workers", "1"]
    result = run_cli(*args, "--json")
    assert result.exit_code == 0, result.output
    assert json.loads(result.stdout)["games"] == 30
    assert "30 games" in run_cli(*args).stdout
