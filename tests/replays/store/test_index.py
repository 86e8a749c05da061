"""The library's index: it lists the games without reading all of them again."""

from __future__ import annotations

import os
from datetime import date, datetime
from pathlib import Path

import msgspec
import pytest
from structlog.testing import capture_logs

from kit.errors import ReplayError
from replays import formats
from replays.files import decisions_file
from replays.record import JAPAN, GameRecord
from replays.store import index
from replays.store.index import INDEX_FILE, GameChoice, games
from replays.store.library import readable_beside, save
from tests.replays.games import seen_from, whole_game
from tests.replays.store.test_library import decided

FIRST, SECOND, THIRD = (
    "2025123123gm-0001-0000-00000003",
    "2026010100gm-0001-0000-00000002",
    "2026010203gm-0001-0000-00000001",
)


@pytest.fixture(scope="module")
def game() -> GameRecord:
    return whole_game()


@pytest.fixture
def folder(game: GameRecord, tmp_path: Path) -> Path:
    save(msgspec.structs.replace(game, game_id=THIRD), tmp_path)
    save(msgspec.structs.replace(game, game_id=FIRST, decisions=(decided(),)), tmp_path)
    own = seen_from(msgspec.structs.replace(game, game_id=SECOND, names=("a", "b", "c", "犬猫")), 2)
    save(own, tmp_path)
    return tmp_path


def test_games_are_listed_by_date_with_places_and_opponents(folder: Path, game: GameRecord) -> None:
    entries, problems = games(folder)
    assert problems == []
    assert [entry.game_id for entry in entries] == [FIRST, SECOND, THIRD]
    first, second, third = entries
    assert first.date == "2025-12-31 23:00 JST"
    assert (first.player, second.player, third.player) == (2, -1, -1)
    assert first.scores == game.ending.scores
    assert first.placement == first.places[2]
    assert first.opponents == ("", "Genbu", "犬猫")
    assert third.opponents == game.names
    assert (third.placement, third.rounds) == (None, game.rounds)
    assert [entry.is_complete for entry in entries] == [True, False, True]


def test_games_are_chosen_by_player_day_and_place(folder: Path) -> None:
    entries, _ = games(folder)
    assert [entry.game_id for entry in GameChoice(player="犬猫").of(entries)] == [FIRST, SECOND, THIRD]
    assert [entry.player for entry in GameChoice(player="犬猫").of(entries)] == [1, 3, 1]
    assert [entry.game_id for entry in GameChoice(player="Genbu").of(entries)] == [FIRST, THIRD]
    assert [entry.game_id for entry in GameChoice(since=date(2026, 1, 1)).of(entries)] == [SECOND, THIRD]
    day = date.fromisoformat(entries[0].date[:10])
    assert [entry.game_id for entry in GameChoice(until=day).of(entries)] == [FIRST]
    place = entries[0].placement
    assert [entry.game_id for entry in GameChoice(placement=place).of(entries)] == [FIRST]
    places = [entry.placement for entry in GameChoice(player="Genbu").of(entries)]
    assert [e.game_id for e in GameChoice(player="Genbu", placement=places[0]).of(entries)] == [FIRST, THIRD]
    assert not list(GameChoice(player="nobody").of(entries))


def test_unchanged_files_are_not_read_again(
    folder: Path, game: GameRecord, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = games(folder)
    read: list[str] = []
    original = formats.read_game
    monkeypatch.setattr(formats, "read_game", lambda path: (read.append(path.name), original(path))[1])
    assert games(folder) == before
    assert read == []
    save(msgspec.structs.replace(game, game_id=THIRD, decisions=(decided(),)), folder)
    assert [entry.player for entry in games(folder)[0]] == [2, -1, 2]
    assert read == [f"{THIRD}.mjlog.xml"]
    (folder / f"{FIRST}.mjlog.xml").unlink()
    assert len(games(folder)[0]) == 2


@pytest.mark.parametrize(
    "data", [b"", b"{", b'{"version":1,"games":{"x":3}}', b'{"version":99,"games":{}}', b'{"":' + b"[" * 9999]
)
def test_a_broken_index_is_rebuilt(folder: Path, data: bytes) -> None:
    before = games(folder)
    (folder / INDEX_FILE).write_bytes(data)
    assert games(folder) == before
    assert len((folder / INDEX_FILE).read_bytes()) > 100


def test_a_bad_record_is_named_and_the_others_listed(folder: Path) -> None:
    (folder / "2026010203gm-0001-0000-00000009.mjlog.xml").write_text("<game/>")
    (folder / "evil.mjlog.xml").write_text("<mjloggm/>")
    (folder / "2026010203gm-0001-0000-0000000a.mjlog.xml").symlink_to(folder / f"{FIRST}.mjlog.xml")
    (folder / "2026010203gm-0001-0000-0000000b.mjlog.xml").mkdir()
    entries, problems = games(folder)
    assert len(entries) == 3
    assert len(problems) == 4
    assert any("not an mjlog" in problem for problem in problems)
    assert any("links are not followed" in problem for problem in problems)


def test_a_missing_folder_has_no_games(tmp_path: Path) -> None:
    assert games(tmp_path / "gone") == ([], [])
    (tmp_path / "file").write_text("")
    with pytest.raises(ReplayError, match="cannot be listed"):
        games(tmp_path / "file")


def test_a_folder_that_cannot_be_written_is_listed_all_the_same(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(path: Path, data: bytes) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(index, "replace_file", refuse)
    with capture_logs() as logs:
        assert len(games(folder)[0]) == 3
    assert [entry["event"] for entry in logs] == ["index.unsaved"]


def test_of_a_person_among_computers_seat_and_minute_are_known(game: GameRecord, tmp_path: Path) -> None:
    path = save(msgspec.structs.replace(game, game_id=FIRST, sexes=("C", "F", "C", "C")), tmp_path)
    ended = datetime(2026, 1, 1, 0, 41, tzinfo=JAPAN).timestamp()
    os.utime(path, (ended, ended))
    (entry,) = games(tmp_path)[0]
    assert (entry.player, entry.is_person, entry.date) == (1, True, "2026-01-01 00:41 JST")
    decisions_file(path, 2).write_bytes(b"{}\n")
    (entry,) = games(tmp_path)[0]
    assert (entry.player, entry.is_person) == (2, False)


@pytest.mark.parametrize("line", [b'{"x":' + b"[" * 9999, b'{"decision":{"source":"\xff"}}'])
def test_a_broken_line_of_decisions_costs_only_itself(line: bytes, game: GameRecord, tmp_path: Path) -> None:
    path = save(msgspec.structs.replace(game, game_id=FIRST), tmp_path)
    decisions_file(path).write_bytes(line + b"\n" + msgspec.json.encode(decided()) + b"\n")
    assert [entry.player for entry in games(tmp_path)[0]] == [2]
    found, problems = readable_beside(path)
    assert (found, len(problems)) == ((decided(),), 1)


def test_decisions_are_found_by_seat_under_either_name(game: GameRecord, tmp_path: Path) -> None:
    path = save(msgspec.structs.replace(game, game_id=FIRST), tmp_path)
    assert [entry.player for entry in games(tmp_path)[0]] == [-1]
    decisions_file(path).write_bytes(msgspec.json.encode(decided()) + b"\n")
    assert [entry.player for entry in games(tmp_path)[0]] == [2]
    decisions_file(path).rename(decisions_file(path, 2))
    assert [entry.player for entry in games(tmp_path)[0]] == [2]
    # with two seats of ours, neither is "we"
    decisions_file(path, 0).write_bytes(b"{}\n")
    (entry,) = games(tmp_path)[0]
    assert (entry.player, entry.placement, entry.opponents) == (-1, None, entry.names)
