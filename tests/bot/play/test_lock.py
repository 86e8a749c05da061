from __future__ import annotations

import contextlib
import stat
from pathlib import Path

import pytest
from structlog.testing import capture_logs

from bot.play.lock import SLOTS, ResumeStore, id_lock, resume_store
from kit.errors import ConfigError

ID = "ID0123ABCD-aBcD5678"
CODE = "AAAA1111-BBBB2222"
SERVER = "ws://127.0.0.1:4000/"


def test_different_ids_do_not_hinder_each_other(tmp_path: Path) -> None:
    with id_lock(tmp_path, ID), id_lock(tmp_path, "NoName"):
        pass


def test_the_id_is_in_no_file_name_and_in_no_file(tmp_path: Path) -> None:
    with id_lock(tmp_path / "made", ID):
        [file] = (tmp_path / "made").iterdir()
        assert ID not in file.name
        assert "ABCD" not in file.name
        assert file.read_bytes() == b""


def test_a_folder_that_cannot_be_written_is_a_configuration_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(ConfigError, match="cannot be created"), id_lock(tmp_path / "file" / "x", ID):
        pass


def test_a_code_outlives_the_process_that_saved_it(tmp_path: Path) -> None:
    with resume_store(tmp_path, SERVER) as store:
        assert store.load() == ""
        store.save(CODE)
    with resume_store(tmp_path, SERVER) as store:
        assert store.load() == CODE
        store.save("")
        store.save("")
        assert store.load() == ""


def test_the_file_is_the_owners_alone(tmp_path: Path) -> None:
    with resume_store(tmp_path, SERVER) as store:
        store.save(CODE)
    [file] = tmp_path.glob("*.code")
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert "127" not in file.name


def test_codes_of_two_servers_are_kept_apart(tmp_path: Path) -> None:
    with resume_store(tmp_path, SERVER) as store, resume_store(tmp_path, "ws://127.0.0.1:5000/") as other:
        store.save(CODE)
        assert other.load() == ""


def test_guests_side_by_side_do_not_take_each_others_seats(tmp_path: Path) -> None:
    with resume_store(tmp_path, SERVER) as first:
        first.save(CODE)
        with resume_store(tmp_path, SERVER) as second:
            assert second.load() == ""


def test_when_all_places_are_taken_there_is_none(tmp_path: Path) -> None:
    with contextlib.ExitStack() as stack:
        stores = [stack.enter_context(resume_store(tmp_path, SERVER)) for _ in range(SLOTS + 1)]
    assert stores[-1] is None
    assert None not in stores[:-1]


@pytest.mark.parametrize("text", ["", "nonsense", CODE + "x" * 100, "AAAA1111", "\0" * 17])
def test_other_files_in_the_folder_are_not_codes(tmp_path: Path, text: str) -> None:
    path = tmp_path / "x.code"
    path.write_text(text)
    assert ResumeStore(path).load() == ""


def test_a_disk_that_fails_costs_the_way_back_only(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with capture_logs() as logs:
        ResumeStore(tmp_path / "file" / "x.code").save(CODE)
    assert logs[0]["event"] == "resume.unsaved"
    assert CODE not in str(logs)
    with resume_store(tmp_path / "file" / "folder", SERVER) as store:
        assert store is None
