"""`suzaku convert` and `suzaku games`."""

from __future__ import annotations

import csv
import gzip
import json
import re
from pathlib import Path

import msgspec
import pytest

from replays.formats import read_game
from replays.record import GameRecord
from replays.store.library import save
from tests.cli import run_cli as run
from tests.replays.games import GAME_ID, whole_game
from tests.replays.store.test_library import decided

pytestmark = pytest.mark.usefixtures("restore_logs")


@pytest.fixture(scope="module")
def game() -> GameRecord:
    return whole_game()


@pytest.fixture
def folder(game: GameRecord, tmp_path: Path) -> Path:
    save(msgspec.structs.replace(game, decisions=(decided(),)), tmp_path / "games")
    return tmp_path / "games"


def test_a_record_goes_through_every_format_and_back(folder: Path, game: GameRecord, tmp_path: Path) -> None:
    source = folder / f"{GAME_ID}.mjlog.xml"
    for name in ("a.jsonl", "b.mjlog.gz"):
        result = run("convert", source, tmp_path / name)
        assert result.exit_code == 0, result.output
        assert f"{game.rounds} rounds" in result.stdout
        source = tmp_path / name
    assert gzip.decompress(source.read_bytes()).decode().strip() == (
        (folder / f"{GAME_ID}.mjlog.xml").read_text().strip()
    )
    result = run("convert", source, tmp_path / "c.json")
    assert "does not keep" in result.stderr
    link = run("convert", tmp_path / "c.json", "-", "--to", "link").stdout.strip()
    assert link.startswith("https://tenhou.net/6#json=")
    assert run("convert", link, tmp_path / "d.json").exit_code == 0
    assert (tmp_path / "d.json").read_text() == (tmp_path / "c.json").read_text()


def test_a_folder_takes_the_record_under_its_id(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    result = run("convert", folder / f"{GAME_ID}.mjlog.xml", tmp_path / "out", "--to", "tenhou6")
    assert result.exit_code == 0
    (path,) = (tmp_path / "out").iterdir()
    assert path.name == f"{GAME_ID}.json"
    assert read_game(path).game_id == GAME_ID


def test_a_failed_conversion_is_reported(folder: Path, tmp_path: Path) -> None:
    source = folder / f"{GAME_ID}.mjlog.xml"
    unnamed = tmp_path / "game.xml"
    unnamed.write_bytes(source.read_bytes())
    target = tmp_path / "target"
    target.write_text("mine")
    (tmp_path / "link.json").symlink_to(target)
    for arguments, code, message in (
        ((source, tmp_path / "x"), 2, "add --to"),
        ((source, tmp_path / "x.json", "--to", "pdf"), 2, "Choose from"),
        ((tmp_path / "gone.xml", "-", "--to", "mjai"), 1, "cannot be read"),
        ((unnamed, tmp_path, "--to", "mjai"), 1, "has no id; name the file"),
        ((source, tmp_path / "link.json"), 1, "a symbolic link; name the file itself"),
        ((source, tmp_path / "no" / "folder.json"), 1, "cannot be written"),
        (("https://example.org/", "-", "--to", "mjai"), 1, "only links to games on tenhou.net"),
    ):
        result = run("convert", *arguments)
        assert result.exit_code == code, result.output
        assert message in result.stderr
    assert target.read_text() == "mine"


def test_the_library_is_listed_for_people_and_machines(folder: Path) -> None:
    shown = run("games", "--folder", folder)
    assert shown.exit_code == 0
    assert GAME_ID in shown.stdout
    assert shown.stdout.startswith("2026-01-02 03:00 JST  ")
    assert "1 game, average place" in shown.stdout
    listed = json.loads(run("games", "--folder", folder, "--json").stdout)
    (entry,) = listed["games"]
    assert (entry["player"], entry["date"]) == (2, "2026-01-02 03:00 JST")
    assert entry["placement"] == entry["places"][2]
    assert len(entry["opponents"]) == 3
    assert listed["unreadable"] == []
    assert run("games", "--folder", folder, "--since", "2026-01-03").stdout.startswith("no such game in ")
    other = entry["placement"] % 4 + 1
    assert run("games", "--folder", folder, "--placement", other).stdout.startswith("no such game in ")
    nobody = run("games", "--folder", folder, "--player", f"{entry['names'][1]}x").stdout
    assert f"games from 2026-01-02 to 2026-01-02, and the players are {entry['names'][1]}, " in nobody
    missing = run("review", "my-games")
    assert missing.exit_code == 1
    assert "my-games: no such file or folder; saved games: 0 in " in missing.stderr
    assert run("games", "--folder", folder, "--placement", "5").exit_code == 2
    wrong = run("games", "--folder", folder, "--since", "yesterday")
    assert (wrong.exit_code, "expected a day" in wrong.stderr) == (2, True)


def test_fault_24_a_name_cannot_steer_the_terminal(game: GameRecord, tmp_path: Path) -> None:
    evil = msgspec.structs.replace(game, names=("=\x1b[2Jevil\u202e", "b", "c", "d"))
    save(evil, tmp_path)
    (tmp_path / "\x1b[31mred.mjlog.xml").write_text("")
    table = tmp_path / "games.csv"
    shown = run("games", "--folder", tmp_path, "--csv", table, "--player", evil.names[0])
    assert "\x1b" not in shown.output
    assert "b, c, d" in shown.stdout
    (row,) = csv.DictReader(table.read_text("utf-8-sig").splitlines())
    assert row["player"] == "'=[2Jevil"
    run("games", "--folder", tmp_path, "--csv", table, "--player", "nobody")
    assert table.read_text("utf-8-sig").splitlines() == [",".join(row)]
    assert re.search(rf"^2026-01 +{int(row['place'])}\.00 in 1  ", shown.stdout, re.MULTILINE)
