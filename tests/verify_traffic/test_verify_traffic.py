"""The tool accepts captures as they are, and reports what is wrong with damaged ones."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import pytest

from tests.bot.captures import capture, captures
from tests.scale import scaled
from tests.verify_traffic.__main__ import main
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


def test_games_played_spectated_and_recorded_are_read_and_allowed(capsys: pytest.CaptureFixture[str]) -> None:
    code, found = report(capsys, *map(capture, NAMES))
    assert code == found["unread"] == found["unexplained"] == found["differing_offers"] == 0
    counts = [found[name] for name in ("server_frames", "client_frames", "rounds", "games", "resumes")]
    assert counts == [3610, 818, 36, 4, 1]
    assert {finding["kind"] for finding in found["not_allowed_frames"]} == {"second answer"}
    assert [each["reason"] for each in found["unjudged"]] == ["three-player tables are not supported"]
    assert main([str(path) for path in captures()[:: scaled(9, 1)]]) == 0


@pytest.mark.parametrize(
    ("damage", "kind", "reason"),
    [
        (lambda lines: [*lines[:59], *lines[60:]], "unread_frames", "does not fit"),
        (lambda lines: [*lines, "Get: <NEW/>"], "unread_frames", "unknown tag"),
        (lambda lines: [*lines, "Get: <U"], "unread_frames", "not one complete XML element"),
        (lambda lines: [*lines, "Get: <\udcff/>"], "unread_frames", "'utf-8' codec"),
        (lambda lines: [*lines, "Send: <GOK />"], "not_allowed_frames", "no match was found"),
        (lambda lines: [*lines, 'Send: <D p="136"/>'], "not_allowed_frames", "outside 0–135"),
    ],
)
def test_a_damaged_capture_is_reported(
    beginning: Path, capsys: pytest.CaptureFixture[str], damage: Any, kind: str, reason: str
) -> None:
    assert report(capsys, beginning)[0] == 0
    lines = damage(beginning.read_text().split("\n"))
    beginning.write_bytes("\n".join(lines).encode(errors="surrogateescape"))
    code, found = report(capsys, beginning)
    assert code == 1
    assert reason in found[kind][-1]["reason"]
    assert main([str(beginning)]) == 1
    assert reason in capsys.readouterr().out


def test_changed_captures_are_read_and_lose_no_game(
    beginning: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    files = captures() if scaled(0, 1) else [beginning, capture(NAMES[1])]
    for change in CHANGES:
        every = scaled(1, 7) if change == "forbidden" else scaled(97, 199)
        code, found = report(capsys, "--insert", change, "--every", every, *files)
        assert (code, found["unread_frames"], found["lost"]) == (0, [], [])
        assert found["runs"]
        assert found["cut"] or change in ("bye", "forbidden")
    monkeypatch.setattr("tests.verify_traffic.insertions.write", lambda _: "<mjloggm/>")
    code, found = report(capsys, "--insert", "go", "--every", 97, beginning)
    assert (code, len(found["lost"])) == (1, found["cut"])
