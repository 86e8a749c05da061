"""The library: whole files or none, inside the folder, and no game lost to a full disk."""

from __future__ import annotations

import errno
import multiprocessing
import re
from pathlib import Path
from typing import Any

import msgspec
import pytest
from structlog.testing import capture_logs

from game.actions import PASS
from game.events import PlayerLeft, PlayerReturned, StartRound
from game.tiles import UNSEEN
from kit import files
from kit.errors import ReplayError, ReplayFormatError
from policies.flow.decisions import Decision, Option
from replays.files import decisions_file
from replays.mjlog.reader import read_record
from replays.record import DecisionRecord, GameRecord
from replays.store import library
from replays.store.library import CONFLICTS, Closing, Library, decisions_beside, save
from tests.replays.games import GAME_ID, seen_from, whole_game


@pytest.fixture(scope="module")
def game() -> GameRecord:
    return whole_game()


def numbered(game: GameRecord, number: int) -> GameRecord:
    return msgspec.structs.replace(game, game_id=f"{GAME_ID[:-8]}{number:08x}")


def decided() -> DecisionRecord:
    decision = Decision(
        PASS, "fallback", "call", (Option(PASS, 1.0),), shanten=3, latency_ms=1.5, budget_ms=3000.0
    )
    return DecisionRecord(
        time=1767322800.25,
        round_index=4,
        honba=1,
        turn=17,
        player=2,
        decision=decision,
        fallback=True,
        late=False,
    )


def test_a_game_is_saved_under_its_id_with_its_decisions_beside_it(game: GameRecord, tmp_path: Path) -> None:
    record = msgspec.structs.replace(game, decisions=(decided(), decided()))
    path = save(record, tmp_path / "new" / "folder")
    assert path.name == f"{GAME_ID}.mjlog.xml"
    assert read_record(path.read_text(), GAME_ID).events == game.events
    first, second = path.with_name(f"{GAME_ID}.seat2.decisions.jsonl").read_bytes().splitlines()
    assert msgspec.json.decode(first, type=DecisionRecord) == decided()
    assert first == second
    assert sorted(p.suffix for p in path.parent.iterdir()) == [".jsonl", ".xml"]


@pytest.mark.parametrize(
    "name", ["", "..", "../x", "/etc/x", f"{GAME_ID}/../x", "x" * 300, "CON", GAME_ID + "\0"]
)
def test_a_path_trick_is_refused(name: str, game: GameRecord, tmp_path: Path) -> None:
    folder = tmp_path / "games"
    with pytest.raises(ReplayFormatError):
        save(msgspec.structs.replace(game, game_id=name), folder)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", [f"{GAME_ID}.mjlog.xml", f"{GAME_ID}.seat2.decisions.jsonl"])
def test_a_link_in_the_folder_is_not_followed(name: str, game: GameRecord, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.write_text("precious")
    folder = tmp_path / "games"
    folder.mkdir()
    (folder / name).symlink_to(outside)
    with pytest.raises(ReplayError, match="link"):
        save(msgspec.structs.replace(game, decisions=(decided(),)), folder)
    assert outside.read_text() == "precious"


def test_a_folder_of_conflicts_that_is_a_link_is_not_followed(game: GameRecord, tmp_path: Path) -> None:
    (tmp_path / "games").mkdir()
    (tmp_path / "outside").mkdir()
    (tmp_path / "games" / CONFLICTS).symlink_to(tmp_path / "outside")
    save(game, tmp_path / "games")
    with pytest.raises(ReplayError, match="link"):
        save(msgspec.structs.replace(game, lobby=1, names=("a", "b", "c", "d")), tmp_path / "games")
    assert list((tmp_path / "outside").iterdir()) == []


# --- several of us at one table -----------------------------------------------------------------------


def test_each_seat_has_its_decisions_and_both_are_found(game: GameRecord, tmp_path: Path) -> None:
    other = msgspec.structs.replace(decided(), player=0)
    save(msgspec.structs.replace(seen_from(game, 2), decisions=(decided(), decided())), tmp_path)
    path = save(msgspec.structs.replace(seen_from(game, 0), decisions=(other,)), tmp_path)
    assert decisions_beside(path) == (other, decided(), decided())
    # the two views are now one record
    hands = [event.hands for event in read_record(path.read_text()).events if isinstance(event, StartRound)]
    assert hands
    for dealt in hands:
        assert [UNSEEN in hand for hand in dealt] == [False, True, False, True]
    save(game, tmp_path)
    assert read_record(path.read_text(), GAME_ID).events == game.events
    save(seen_from(game, 1), tmp_path)
    assert read_record(path.read_text(), GAME_ID).events == game.events
    assert not (tmp_path / CONFLICTS).exists()


def test_decisions_under_their_old_name_are_found_and_a_seats_own_file_goes_first(
    game: GameRecord, tmp_path: Path
) -> None:
    path = save(game, tmp_path)
    other = msgspec.structs.replace(decided(), player=3)
    decisions_file(path).write_bytes(b"".join(msgspec.json.encode(d) + b"\n" for d in (decided(), other)))
    assert decisions_beside(path) == (decided(), other)
    later = msgspec.structs.replace(decided(), time=1.0)
    save(msgspec.structs.replace(game, decisions=(later, later)), tmp_path)
    assert decisions_beside(path) == (later, later, other)


def test_a_file_with_other_contents_is_never_replaced(game: GameRecord, tmp_path: Path) -> None:
    path = save(msgspec.structs.replace(game, decisions=(decided(),)), tmp_path)
    before = {file.name: file.read_bytes() for file in tmp_path.iterdir()}
    later = msgspec.structs.replace(decided(), time=1.0)
    different = msgspec.structs.replace(whole_game(seed=2), decisions=(later,))
    with capture_logs() as logs:
        aside = save(different, tmp_path)
        assert save(different, tmp_path) == aside  # always under the same name
    assert {file.name: file.read_bytes() for file in tmp_path.iterdir() if file.is_file()} == before
    assert read_record(aside.read_text(), GAME_ID).events == different.events
    assert len(list((tmp_path / CONFLICTS).iterdir())) == 2
    assert {entry["event"] for entry in logs} == {"record.conflict"}
    decisions_file(path, 2).write_bytes(b"damaged")
    save(msgspec.structs.replace(game, decisions=(decided(),)), tmp_path)
    assert decisions_file(path, 2).read_bytes() == b"damaged"
    assert len(list((tmp_path / CONFLICTS).iterdir())) == 3


def test_a_seat_whose_line_broke_leaves_the_lobbys_record_as_it_is(game: GameRecord, tmp_path: Path) -> None:
    broken = seen_from(game, 1)
    missed = (PlayerLeft, PlayerReturned)
    broken = msgspec.structs.replace(
        broken, events=tuple(e for e in broken.events if not isinstance(e, missed))
    )
    for order in ((broken, game), (game, broken)):
        for each in order:
            path = save(each, tmp_path)
        assert read_record(path.read_text(), GAME_ID).events == game.events
        assert not (tmp_path / CONFLICTS).exists()


def save_seat(game: GameRecord, seat: int, folder: Path, together: Any) -> None:
    made = msgspec.structs.replace(decided(), player=seat)
    own = msgspec.structs.replace(seen_from(game, seat), decisions=(made,) * 500)
    together.wait()
    save(own, folder)


def test_four_processes_at_one_table_lose_nothing(game: GameRecord, tmp_path: Path) -> None:
    fork = multiprocessing.get_context("fork")
    together = fork.Barrier(4)
    processes = [fork.Process(target=save_seat, args=(game, seat, tmp_path, together)) for seat in range(4)]
    for process in processes:
        process.start()
    for process in processes:
        process.join()
    assert [process.exitcode for process in processes] == [0] * 4
    path = tmp_path / f"{GAME_ID}.mjlog.xml"
    assert read_record(path.read_text(), GAME_ID).events == game.events
    assert [made.player for made in decisions_beside(path)] == [seat for seat in range(4) for _ in range(500)]
    assert len(list(tmp_path.iterdir())) == 5


def test_a_folder_that_another_process_holds_is_tried_again(
    game: GameRecord, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(files, "LOCK_S", 0.0)
    kept = Library(tmp_path)
    with files.locked_folder(tmp_path):
        assert kept.keep(game) is None
    assert kept.close() == Closing()
    assert (tmp_path / f"{GAME_ID}.mjlog.xml").exists()


# --- a disk that does not take it ---------------------------------------------------------------------


class Disk:
    """Refuses to write the files chosen by a test, below all code that saves."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.refuses = ""
        self.largest = 0

    def replace_file(self, path: Path, data: bytes) -> None:
        if path.parent == self.folder and (len(data) > self.largest or re.search(self.refuses, path.name)):
            raise OSError(errno.ENOSPC, "No space left on device")
        files.replace_file(path, data)

    def take_everything(self) -> None:
        self.refuses, self.largest = "^$", 1 << 30


@pytest.fixture
def disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Disk:
    disk = Disk(tmp_path)
    monkeypatch.setattr(library, "replace_file", disk.replace_file)
    return disk


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir() if path.is_file())


def test_games_wait_in_memory_for_a_full_disk(game: GameRecord, tmp_path: Path, disk: Disk) -> None:
    kept = Library(tmp_path)
    with capture_logs() as logs:
        for number in range(3):
            assert kept.keep(numbered(game, number)) is None
    assert kept.waiting == 3
    assert [entry["log_level"] for entry in logs] == ["warning"] * 3
    assert "No space" in str(logs[0]["reason"])
    disk.take_everything()
    path = kept.keep(numbered(game, 3))
    assert path == tmp_path / f"{numbered(game, 3).game_id}.mjlog.xml"
    assert len(names(tmp_path)) == 4
    assert kept.waiting == 0
    assert sorted(kept.late) == [numbered(game, number).game_id for number in range(3)]
    assert kept.close() == Closing()


def test_a_game_that_does_not_fit_keeps_no_other_out(game: GameRecord, tmp_path: Path, disk: Disk) -> None:
    kept = Library(tmp_path)
    disk.refuses, disk.largest = numbered(game, 0).game_id, 1 << 30
    assert kept.keep(numbered(game, 0)) is None
    assert kept.keep(numbered(game, 1)) is not None
    assert kept.waiting == 1


def test_the_record_goes_before_its_decisions(game: GameRecord, tmp_path: Path, disk: Disk) -> None:
    kept = Library(tmp_path)
    disk.refuses, disk.largest = "decisions", 1 << 30
    path = kept.keep(msgspec.structs.replace(game, decisions=(decided(),)))
    assert names(tmp_path) == [path.name]
    assert kept.waiting == 1
    disk.take_everything()
    assert kept.close() == Closing()
    assert decisions_beside(path) == (decided(),)


def test_at_the_end_another_folder_takes_what_waits_and_the_error_says_how_many(
    game: GameRecord, tmp_path: Path, disk: Disk
) -> None:
    blocked = tmp_path / "blocked"
    blocked.write_text("a file where a folder should be")
    other = tmp_path / "other"
    kept = Library(tmp_path, others=lambda: (blocked, other))
    with capture_logs() as logs:
        for number in range(2):
            kept.keep(msgspec.structs.replace(numbered(game, number), decisions=(decided(),)))
        closing = kept.close()
    assert [path.parent for path in closing.rescued] == [other] * 2
    assert closing.lost == ()
    assert "No space" in closing.reason
    assert kept.waiting == 0
    assert [len(decisions_beside(path)) for path in closing.rescued] == [1, 1]
    (error,) = [entry for entry in logs if entry["log_level"] == "error"]
    assert len(error["rescued"]) == 2
    assert kept.late == {path.name.removesuffix(".mjlog.xml"): path for path in closing.rescued}


def test_what_no_folder_takes_is_named(game: GameRecord, tmp_path: Path, disk: Disk) -> None:
    kept = Library(tmp_path)
    kept.keep(game)
    assert kept.close().lost == (GAME_ID,)


def test_memory_has_a_cap_and_another_folder_takes_the_oldest(
    game: GameRecord, tmp_path: Path, disk: Disk
) -> None:
    kept = Library(tmp_path, kept_in_memory=2, others=lambda: (tmp_path / "other",))
    for number in range(4):
        kept.keep(numbered(game, number))
    assert kept.waiting == 2
    oldest = [f"{numbered(game, number).game_id}.mjlog.xml" for number in range(2)]
    assert names(tmp_path / "other") == oldest
    disk.take_everything()
    assert [path.name for path in kept.close().rescued] == oldest


def test_a_folder_that_cannot_be_made_costs_no_game(game: GameRecord, tmp_path: Path) -> None:
    (tmp_path / "games").write_text("a file where the folder should be")
    kept = Library(tmp_path / "games")
    with capture_logs() as logs:
        assert kept.keep(game) is None
    assert logs[0]["event"] == "record.unsaved"
    (tmp_path / "games").unlink()
    assert kept.keep(numbered(game, 2)) is not None
    assert len(list((tmp_path / "games").iterdir())) == 2


def test_an_invalid_record_is_dropped_and_the_next_is_saved(game: GameRecord, tmp_path: Path) -> None:
    kept = Library(tmp_path)
    with capture_logs() as logs:
        assert kept.keep(msgspec.structs.replace(game, events=game.events[9:])) is None
        assert kept.keep(game) is not None
    assert [entry["event"] for entry in logs] == ["record.rejected"]
    assert kept.close().lost == (GAME_ID,)
