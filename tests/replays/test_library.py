"""Where games are kept: whole files or none, inside the folder, and no game lost to a full disk."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
import time
from pathlib import Path

import msgspec
import pytest
from structlog.testing import capture_logs

from game.actions import PASS
from game.errors import ReplayError, ReplayFormatError
from policies.decision import Decision, Option
from replays import library
from replays.library import Library, save
from replays.mjlog import read_record
from replays.record import DecisionRecord, GameRecord
from tests.replays.games import GAME_ID, whole_game


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
    first, second = path.with_name(f"{GAME_ID}.decisions.jsonl").read_bytes().splitlines()
    assert msgspec.json.decode(first, type=DecisionRecord) == decided()
    assert first == second
    assert sorted(p.suffix for p in path.parent.iterdir()) == [".jsonl", ".xml"]


def test_a_game_without_decisions_has_no_file_of_them(game: GameRecord, tmp_path: Path) -> None:
    save(game, tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == [f"{GAME_ID}.mjlog.xml"]


@pytest.mark.parametrize(
    "name", ["", "..", "../x", "/etc/x", f"{GAME_ID}/../x", "x" * 300, "CON", GAME_ID + "\0"]
)
def test_fault_22_a_path_trick_is_refused(name: str, game: GameRecord, tmp_path: Path) -> None:
    folder = tmp_path / "games"
    with pytest.raises(ReplayFormatError):
        save(msgspec.structs.replace(game, game_id=name), folder)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("suffix", [".mjlog.xml", ".mjlog.xml.tmp"])
def test_fault_22_a_link_in_the_folder_is_not_followed(suffix: str, game: GameRecord, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.write_text("precious")
    folder = tmp_path / "games"
    folder.mkdir()
    (folder / (GAME_ID + suffix)).symlink_to(outside)
    with pytest.raises((ReplayError, OSError)):
        save(game, folder)
    assert outside.read_text() == "precious"


def test_fault_18_an_old_file_survives_a_save_that_fails(
    game: GameRecord, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = save(game, tmp_path)
    before = path.read_bytes()

    def fail(_: int) -> None:
        raise OSError(errno.EIO, "broken")

    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(OSError, match="broken"):
        save(msgspec.structs.replace(game, lobby=1), tmp_path)
    assert path.read_bytes() == before
    assert len(list(tmp_path.iterdir())) == 1


_SAVE_FOR_EVER = """
import sys
from pathlib import Path
from tests.replays.games import whole_game
from replays.library import save
game = whole_game()
print("ready", flush=True)
while True:
    save(game, Path(sys.argv[1]))
"""


def test_fault_18_a_process_killed_while_saving_leaves_a_whole_file(game: GameRecord, tmp_path: Path) -> None:
    command = [sys.executable, "-c", _SAVE_FOR_EVER, str(tmp_path)]
    root = Path(library.__file__).parents[1]
    with subprocess.Popen(command, cwd=root, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        time.sleep(0.03)
        process.kill()
    for path in tmp_path.glob("*.xml"):
        assert read_record(path.read_text()).events == game.events
    save(game, tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == [f"{GAME_ID}.mjlog.xml"]


# --- a disk that does not take it ---------------------------------------------------------------------


class Disk:
    """Stands in for the save of the library; full until told otherwise."""

    def __init__(self) -> None:
        self.full = True
        self.saved: list[str] = []

    def save(self, record: GameRecord, folder: Path) -> Path:
        if self.full:
            raise OSError(errno.ENOSPC, "No space left on device")
        self.saved.append(record.game_id)
        return folder / record.game_id


@pytest.fixture
def disk(monkeypatch: pytest.MonkeyPatch) -> Disk:
    disk = Disk()
    monkeypatch.setattr(library, "save", disk.save)
    return disk


def test_fault_19_games_wait_in_memory_for_a_full_disk(game: GameRecord, tmp_path: Path, disk: Disk) -> None:
    kept = Library(tmp_path)
    with capture_logs() as logs:
        for number in range(3):
            assert kept.keep(numbered(game, number)) is None
    assert kept.waiting == 3
    assert [entry["log_level"] for entry in logs] == ["warning"] * 3
    assert "No space" in str(logs[0]["reason"])
    disk.full = False
    assert kept.keep(numbered(game, 3)) == tmp_path / numbered(game, 3).game_id
    assert disk.saved == [numbered(game, number).game_id for number in range(4)]
    assert kept.waiting == 0


def test_fault_19_memory_has_a_cap_and_the_log_says_what_was_dropped(
    game: GameRecord, tmp_path: Path, disk: Disk
) -> None:
    kept = Library(tmp_path, kept_in_memory=2)
    with capture_logs() as logs:
        for number in range(4):
            kept.keep(numbered(game, number))
    assert kept.waiting == 2
    assert [entry["dropped"] for entry in logs] == ["", "", *(numbered(game, n).game_id for n in range(2))]
    assert disk.saved == []


def test_fault_19_a_folder_that_cannot_be_made_costs_no_game(game: GameRecord, tmp_path: Path) -> None:
    (tmp_path / "games").write_text("a file where the folder should be")
    kept = Library(tmp_path / "games")
    with capture_logs() as logs:
        assert kept.keep(game) is None
    assert logs[0]["event"] == "record.unsaved"
    (tmp_path / "games").unlink()
    assert kept.keep(numbered(game, 2)) is not None
    assert len(list((tmp_path / "games").iterdir())) == 2


def test_a_record_that_is_no_game_is_dropped_and_the_next_is_saved(game: GameRecord, tmp_path: Path) -> None:
    kept = Library(tmp_path)
    with capture_logs() as logs:
        assert kept.keep(msgspec.structs.replace(game, events=game.events[9:])) is None
        assert kept.keep(game) is not None
    assert [entry["event"] for entry in logs] == ["record.rejected"]
