"""The tool accepts captures as they are, and reports what is wrong with damaged ones."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import pytest

from tests.bot.captures import capture, captures
from tests.scale import scaled
from tests.verify_traffic.__main__ import main
from tests.verify_traffic.check import RECORD, SPECTATED
from tests.verify_traffic.insertions import CHANGES

PLAYED = "tcp-xml-reach4-bye-reconnect-20180204.log"
NAMES = (
    PLAYED,
    "ws-json-spectate-20260808-conn1.tsv",
    "mjlog-4p-joukyuu-20260420.xml",
    "mjlog-3p-houou.xml",
    "tcp-xml-reinit-20180207.log",
)
BEGINNING = 300
"""Lines of a capture up to the middle of a round."""


@pytest.fixture
def beginning(tmp_path: Path) -> Path:
    """A short capture."""
    path = tmp_path / "a.log"
    path.write_text("\n".join(capture(PLAYED).read_text().split("\n")[:BEGINNING]))
    return path


def report(capsys: pytest.CaptureFixture[str], *words: object) -> tuple[int, Any]:
    code = main(["--json", *map(str, words)])
    return code, msgspec.json.decode(capsys.readouterr().out)


def test_games_we_play_are_read_and_others_are_named(capsys: pytest.CaptureFixture[str]) -> None:
    code, found = report(capsys, *map(capture, NAMES))
    assert code == found["unread"] == found["unexplained"] == found["differing_offers"] == 0
    assert [found[name] for name in ("server_frames", "rounds", "games", "resumes")] == [3610, 12, 2, 1]
    assert [each["reason"] for each in found["unjudged"]] == [SPECTATED, RECORD, RECORD]
    assert main([str(path) for path in captures()[:: scaled(9, 1)]]) == 0


@pytest.mark.parametrize(
    ("damage", "reason"),
    [
        (lambda lines: [*lines[:59], *lines[60:]], "does not fit"),
        (lambda lines: [*lines, "Get: <NEW/>"], "unknown tag"),
        (lambda lines: [*lines, "Get: <U"], "not one complete XML element"),
        (lambda lines: [*lines, "Get: <\udcff/>"], "'utf-8' codec"),
    ],
)
def test_a_damaged_capture_is_reported(
    beginning: Path, capsys: pytest.CaptureFixture[str], damage: Any, reason: str
) -> None:
    assert report(capsys, beginning)[0] == 0
    lines = damage(beginning.read_text().split("\n"))
    beginning.write_bytes("\n".join(lines).encode(errors="surrogateescape"))
    code, found = report(capsys, beginning)
    assert code == 1
    assert reason in found["unread_frames"][-1]["reason"]
    assert main([str(beginning)]) == 1
    assert reason in capsys.readouterr().out


def test_changed_captures_are_read_and_lose_no_game(
    beginning: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    files = captures() if scaled(0, 1) else [beginning]
    for change in CHANGES:
        code, found = report(capsys, "--insert", change, "--every", scaled(97, 199), *files)
        assert (code, found["unread_frames"], found["lost"]) == (0, [], [])
        assert found["runs"]
        assert found["cut"] or change == "bye"
    monkeypatch.setattr("tests.verify_traffic.insertions.write", lambda _: "<mjloggm/>")
    code, found = report(capsys, "--insert", "go", "--every", 97, beginning)
    assert (code, len(found["lost"])) == (1, found["cut"])
