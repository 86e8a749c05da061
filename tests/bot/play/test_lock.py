from __future__ import annotations

from pathlib import Path

import pytest

from bot.play.lock import id_lock
from kit.errors import ConfigError

ID = "ID0123ABCD-aBcD5678"


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
