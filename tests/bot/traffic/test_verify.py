from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from bot.tenhou.session.seat import Seat
from bot.traffic.capture import Heading, read_capture
from bot.traffic.insertions import Change, print_insertions, verify_with
from bot.traffic.report import TrafficReport, print_report, render
from bot.traffic.verify import verify
from game.melds import Meld, MeldKind, encode_meld
from kit.errors import RemoteProtocolError
from tests.bot.captures import capture, captures
from tests.scale import scaled

LOGIN = """Send: <HELO name="ID12345678-abCD1234" tid="f0" sx="M" />
Get: <HELO uname="%41" auth="20180117-e7b5e83e"/>
Send: <AUTH val="20180117-c1ebb26f"/>
Send: <JOIN t="0,9" />
Get: <GO type="9" lobby="0" gpid="16FC25D5-14571922"/> <UN n0="%41" n1="%42" n2="%43" n3="%44" \
dan="0,0,0,0" rate="1500.00,1500.00,1500.00,1500.00" sx="M,M,M,M"/> <TAIKYOKU oya="0"/>
Send: <GOK />
Send: <NEXTREADY />
Get: <INIT seed="0,0,0,2,5,135" ten="250,250,250,250" oya="0" hai="0,4,8,12,20,24,28,32,36,40,44,48,56"/>\
 <T60/>
"""


def _check(tmp_path: Path, text: str, name: str = "a.log") -> TrafficReport:
    path = tmp_path / name
    path.write_text(text)
    return verify([path])


# --- recorded -----------------------------------------------------------------------------------------


def test_every_frame_of_the_recorded_four_player_games_is_read_and_allowed() -> None:
    report = verify(captures())
    assert report.files >= 25
    assert report.server_frames > 14_000
    assert report.client_frames > 3_500
    assert report.unexplained == 0
    assert {finding.kind for finding in report.not_allowed_frames} <= {"second answer"}
    assert {finding.kind for finding in report.unread_frames} <= {"quoted in part"}
    assert report.unread <= 1
    assert report.client_frames == report.allowed + report.not_allowed + report.not_judged
    assert report.differing_offers == 0
    assert report.offers > 390
    assert report.resumes == 2
    assert report.games >= 16


def test_three_player_tables_are_named_not_counted_as_errors() -> None:
    report = verify([capture("tcp-xml-sanma-shuugi-testplay-20180202.log"), capture("mjlog-3p-houou.xml")])
    assert report.unread == report.not_allowed == 0
    assert all("three-player tables" in entry.reason for entry in report.unjudged)
    assert len(report.unjudged) == 2


def test_a_spectated_game_and_records_go_through_the_same_fold() -> None:
    report = verify(
        [capture("ws-json-spectate-20260808-conn1.tsv"), capture("mjlog-4p-joukyuu-20260420.xml")]
    )
    assert (report.unread, report.not_allowed, report.games) == (0, 0, 2)
    assert report.rounds >= 16


def test_the_live_form_and_the_record_of_one_game_agree() -> None:
    names = ("tcp-xml-recvonly-20170324.log", "mjlog-same-game-as-recvonly-20170324.xml")
    live, record = (verify([capture(name)]) for name in names)
    assert (live.rounds, live.games) == (record.rounds, record.games)
    assert live.unexplained == record.unexplained == 0


# --- written here -------------------------------------------------------------------------------------


def test_a_good_capture_is_allowed(tmp_path: Path) -> None:
    report = _check(tmp_path, LOGIN + 'Send: <D p="60"/>\nGet: <D60/> <U/>\nSend: <Z />\nSend: <BYE />\n')
    assert (report.unexplained, report.client_frames, report.allowed) == (0, 8, 8)


@pytest.mark.parametrize(
    ("frame", "reason"),
    [
        ('<D p="61"/>', "is not in the hand"),
        ("<N />", "a discard is due"),
        ('<N type="7" />', "a win with a hand that is not complete"),
        ('<N type="4" hai="60" />', "is not in the hand"),
        ("<REACH />", "riichi with a hand that is not ready"),
        ("<GOK />", "no match was found"),
        ("<NEXTREADY />", "no result was shown"),
        ('<JOIN t="0,9" />', "a game is running"),
        ('<AUTH val="1"/>', "no challenge is open"),
        ("<policy-file-request/>", "only before the login"),
        ("<NEW />", "we never send UnknownRequest"),
        ('<D p="136"/>', "outside 0–135"),
    ],
)
def test_a_frame_our_session_would_not_send_is_listed(tmp_path: Path, frame: str, reason: str) -> None:
    report = _check(tmp_path, LOGIN + f"Send: {frame}\n")
    (finding,) = report.not_allowed_frames
    assert reason in finding.reason
    assert (finding.file, finding.line) == ("a.log", 9)
    assert finding.frame == frame.replace('val="1"', 'val="hidden"')
    assert report.unexplained == 1


def test_riichi_and_its_discard_back_to_back_are_allowed(tmp_path: Path) -> None:
    ready = LOGIN.replace("0,4,8,12,20,24,28,32,36,40,44,48,56", "0,4,8,36,40,44,72,76,80,108,109,12,17")
    ready = ready.replace("<T60/>", '<T130 t="32"/>')
    good = _check(
        tmp_path, ready + 'Send: <REACH hai="130" />\nSend: <D p="130"/>\nGet: <REACH who="0" step="1"/>\n'
    )
    assert good.unexplained == 0
    bad = _check(tmp_path, ready + 'Send: <REACH hai="130" />\nSend: <D p="0"/>\n')
    assert bad.not_allowed == 1


def test_frames_that_do_not_fit_are_unread(tmp_path: Path) -> None:
    report = _check(tmp_path, LOGIN + "Get: <E5/> <D136/>\nGet: <D60/> <NEW/> <U\n")
    assert [finding.reason.split(":")[0] for finding in report.unread_frames] == [
        "Discard(player=1, tile=5, tsumogiri=False) does not fit",
        "D136",
        "unknown tag",
        "an element cut short",
    ]


def test_an_offer_that_is_not_our_legal_set_is_listed(tmp_path: Path) -> None:
    report = _check(tmp_path, LOGIN.replace("<T60/>", '<T60 t="16"/>'))
    (finding,) = report.differences
    assert finding.reason == "tsumo offered but not legal"
    assert report.unexplained == 0


def test_no_secret_is_reported(tmp_path: Path) -> None:
    text = (
        LOGIN
        + 'Send: <HELO name="ID12345678-abCD1234" nonsense\nGet: <GO type="x" gpid="16FC25D5-14571922"/>\n'
    )
    report = _check(tmp_path, text)
    assert report.unexplained == 2
    told = render(report) + repr(report)
    assert "12345678" not in told
    assert "16FC25D5" not in told


@pytest.mark.parametrize(
    "content",
    [b"\xff\xfe\x00", b"", b"\x00" * 100, b"no capture\n", b"<" * 5000, b'{"tag":"D1"}', b"0.1\tX\t<Z/>"],
)
def test_any_file_gives_a_report(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "odd.txt"
    path.write_bytes(content)
    report = verify([path])
    assert report.files == 1
    assert report.allowed == 0


def test_a_missing_file_is_an_unread_one(tmp_path: Path) -> None:
    report = verify([tmp_path / "none.log"])
    assert report.unread == 1
    assert report.unexplained == 1


def test_the_report_is_written_for_people_and_for_machines(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    report = _check(tmp_path, LOGIN)
    assert print_report(report, as_json=False) == 0
    assert "client frames 5, allowed 5, not allowed 0" in capsys.readouterr().out
    assert print_report(report, as_json=True) == 0
    told = msgspec.json.decode(capsys.readouterr().out)
    assert {"files", "server_frames", "unread", "client_frames", "allowed", "not_allowed"} <= set(told)
    assert print_report(_check(tmp_path, LOGIN + "Send: <GOK />\n"), as_json=True) == 1


# --- forms of captures --------------------------------------------------------------------------------


def test_all_forms_of_lines_are_read(tmp_path: Path) -> None:
    path = tmp_path / "forms"
    path.write_text(
        "# a header\n## a heading\nSend: <Z />\nGet: <U/> <V/>\n0.304\tS\t{}\n1\tC\t<Z/>\n"
        'S {"g":"1"}   (only in part)\n<W/><D1/>\n<?xml version="1.0"?><mjloggm ver="2.3"><D2/></mjloggm>\n'
    )
    found = [
        item if isinstance(item, Heading) else (item.line, item.sender, item.text)
        for item in read_capture(path)
    ]
    assert found == [
        Heading(2),
        (3, "C", "<Z />"),
        (4, "S", "<U/>"),
        (4, "S", "<V/>"),
        (5, "S", "{}"),
        (6, "C", "<Z/>"),
        (7, "S", '{"g":"1"}'),
        (8, "S", "<W/>"),
        (8, "S", "<D1/>"),
        (9, "S", '<mjloggm ver="2.3">'),
        (9, "S", "<D2/>"),
    ]


def test_a_file_that_is_too_large_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bot.traffic.capture.MAX_FILE_BYTES", 10)
    path = tmp_path / "large.log"
    path.write_text("Get: <U/> <V/>\n")
    with pytest.raises(RemoteProtocolError):
        list(read_capture(path))


# --- frames put in and changed ------------------------------------------------------------------------


def test_a_sample_of_players_leaving_and_returning_leaves_no_frame_unread() -> None:
    report = verify_with("bye", captures(), every=scaled(999, 199))
    assert report.insertions > scaled(80, 500)
    assert (report.unread, report.unread_frames) == (0, ())


@pytest.mark.parametrize("change", ["go", "taikyoku", "init"])
def test_a_sample_of_games_in_the_middle_of_games_leaves_no_frame_unread_and_loses_no_record(
    change: Change,
) -> None:
    report = verify_with(change, captures(), every=scaled(999, 199))
    assert report.insertions > scaled(20, 100)
    assert report.cut > report.insertions // 2
    assert (report.unread_frames, report.lost) == ((), ())


def test_a_record_that_is_lost_is_listed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a.log"
    path.write_text(LOGIN)
    monkeypatch.setattr(Seat, "events_so_far", lambda seat: tuple(seat.log.events[:-1]))
    monkeypatch.setattr("bot.traffic.insertions.write", lambda _: "<mjloggm/>")
    report = verify_with("go", [path])
    assert len(report.lost) == report.cut == 2
    assert print_insertions(report, as_json=False) == 1


def test_a_sample_of_forbidden_discards_leaves_no_frame_unread() -> None:
    report = verify_with("forbidden", captures(), every=scaled(31, 7))
    assert report.insertions > scaled(10, 50)
    assert (report.unread, report.unread_frames) == (0, ())


def test_players_leaving_and_returning_around_a_snapshot_leave_no_frame_unread() -> None:
    names = ("tcp-xml-reconnect-20180120.log", "tcp-xml-reinit-20180207.log")
    report = verify_with("bye", [capture(name) for name in names])
    assert report.runs == 2 * report.server_frames
    assert (report.unread, report.unread_frames) == (0, ())


def test_a_frame_that_cannot_be_read_after_a_change_is_listed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "a.log"
    path.write_text(LOGIN)
    # our first tile is shown in another player's river: impossible after the deal
    monkeypatch.setattr("bot.traffic.insertions.COMINGS", (("<D0/>",), ('<BYE who="2"/>',)))
    report = verify_with("bye", [path])
    assert report.runs == report.insertions == 2 * report.server_frames
    assert 0 < report.unread < report.server_frames
    assert print_insertions(report, as_json=False) == 1
    told = capsys.readouterr().out
    assert f"{report.insertions} insertions (bye) in {report.runs} runs, {report.unread} with unread" in told
    assert "unread: a.log:" in told


CHI_AND_THROW = """Get: <D60/> <U/> <E72/>
Get: <N who="2" m="{meld}"/> <F{discarded}/> <W/>
"""


def test_swap_calling_by_another_player_is_read(tmp_path: Path) -> None:
    # toimen takes 1s (72) from shimocha with 2s3s and discards a 4s, which kuikae forbids
    meld = encode_meld(Meld(MeldKind.CHI, (72, 76, 80), 72, 3))
    report = _check(tmp_path, LOGIN + 'Send: <D p="60"/>\n' + CHI_AND_THROW.format(meld=meld, discarded=84))
    assert (report.unread, report.unexplained) == (0, 0)
