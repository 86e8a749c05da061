from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.tenhou import messages as m
from kit.errors import LocalProtocolError, RemoteProtocolError
from tests.bot.captures import CLIENT_FRAMES, SERVER_FRAMES, frames
from tests.scale import scaled

DEAL = '{"tag":"INIT","seed":"%s","ten":"%s","oya":"0","hai":"%s"}'
HAND = "0,4,8,12,20,24,28,32,36,40,44,48,56"


def deal(seed: str = "0,0,0,0,5,33", ten: str = "250,250,250,250", hai: str = HAND) -> str:
    return DEAL % (seed, ten, hai)


# --- reading ------------------------------------------------------------------------------------------


def test_draws_and_discards_carry_the_tile_in_the_tag() -> None:
    assert m.parse_server('{"tag":"T77","t":"48"}') == m.TileDrawn(0, 77, m.OFFER_TSUMO | m.OFFER_RIICHI)
    assert m.parse_server('{"tag":"V"}') == m.TileDrawn(2)
    assert m.parse_server('{"tag":"W12"}') == m.TileDrawn(3, 12)


@pytest.mark.parametrize(
    ("frame", "tsumogiri"),
    [("<e4/>", True), ("<E4/>", False), ("<g4/>", True), ("<D4/>", False), ("<d4/>", False)],
)
def test_lower_case_is_tsumogiri_except_for_our_own_echo(frame: str, tsumogiri: bool) -> None:
    message = m.parse_server(frame)
    assert message.tsumogiri is tsumogiri


def test_a_tag_that_starts_like_a_tile_is_not_a_tile() -> None:
    assert isinstance(m.parse_server('<TAIKYOKU oya="0"/>'), m.GameBegins)
    assert isinstance(m.parse_server('<GO type="9" lobby="0"/>'), m.MatchFound)
    assert isinstance(m.parse_server('<UN n1="%41"/>'), m.PlayerBack)
    assert isinstance(m.parse_server('<DORA hai="3"/>'), m.IndicatorShown)
    assert m.parse_server("<T1234x/>") == m.Unknown("T1234x")


def test_scores_on_the_wire_are_hundreds() -> None:
    message = m.parse_server(deal(ten="264,123,376,237"))
    assert message.scores == (26_400, 12_300, 37_600, 23_700)
    assert (message.round_index, message.dice, message.dora_indicator) == (0, (0, 5), 33)


def test_a_snapshot_marks_the_riichi_discard() -> None:
    message = m.parse_server(SERVER_FRAMES[11])
    assert message.rivers[1] == (90, 29, 10, 132)
    assert message.riichi_at == (-1, 3, -1, -1)
    assert message.melds == ((), (22599,), (), ())


def test_a_win_is_parsed_to_points_and_pairs() -> None:
    message = m.parse_server(SERVER_FRAMES[23])
    assert message.yaku == ((1, 1), (0, 1), (12, 1), (52, 1), (54, 1), (53, 0))
    assert (message.fu, message.points, message.limit) == (40, 8000, 1)
    assert message.deltas == (-2000, 9000, -2000, -4000)
    assert message.final == m.FinalScores((12_000, 27_800, 28_900, 31_300), (-380, -122, 89, 413))


def test_unknown_tags_and_attributes_are_kept() -> None:
    assert m.parse_server('{"tag":"NEW1","a":1}') == m.Unknown("NEW1", extra=(("a", "1"),))
    assert m.parse_server('{"tag":"DORA","hai":"3","b":"x"}') == m.IndicatorShown(3, extra=(("b", "x"),))
    assert m.parse_client('{"tag":"NEW1"}') == m.UnknownRequest("NEW1")


def test_the_old_way_to_a_private_lobby_is_a_chat_line() -> None:
    assert m.parse_client('<CHAT text="/lobby%207994" />') == m.MoveLobby("7994")
    assert m.render_xml(m.MoveLobby("7994")) == '<CHAT text="/lobby%207994"/>'
    assert m.render_json(m.MoveLobby("7994")) == '{"tag":"LOBBY","id":"7994"}'


# --- refusing -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "frame",
    [
        *frames("unreadable"),
        deal(ten="-1,250,250,250"),
        deal(ten="250,250,250"),
        deal(seed="0,0,0,6,0,33"),
        deal(seed="16,0,0,0,0,33"),
        deal(seed="0,0,0,0,0"),
        deal(hai=HAND + ",60"),
        deal(hai=HAND[:-3]),
        deal(hai=HAND[:-2] + "48"),
        deal(hai=HAND[:-2] + "33"),
    ],
)
def test_what_cannot_be_read_is_refused(frame: str) -> None:
    with pytest.raises(RemoteProtocolError):
        m.parse_server(frame)


def test_a_hand_that_does_not_add_up_is_refused() -> None:
    win = SERVER_FRAMES[23]
    for broken in (
        win.replace('"hai":"14,', '"hai":"'),
        win.replace('"machi":"54"', '"machi":"55"'),
        win.replace('"yaku":"1,1,', '"yaku":"1,'),
        win.replace('"doraHai":"62"', '"doraHai":"14"'),
        win.replace('"ten":"40,8000,1"', '"ten":"40,8000,6"'),
        SERVER_FRAMES[11].replace('"hai":"13,', '"hai":"'),
    ):
        with pytest.raises(RemoteProtocolError):
            m.parse_server(broken)


@pytest.mark.parametrize(
    "text", ["x" * 10_000_000, '{"tag":"' + "x" * 10_000_000 + '"}', "[" * 200_000, "<" * 200_000]
)
def test_size_and_depth_are_bounded(text: str) -> None:
    with pytest.raises(RemoteProtocolError) as caught:
        m.parse_server(text)
    assert len(str(caught.value)) < 1000


@pytest.mark.parametrize(
    "frame",
    ['{"tag":"D","p":136}', '{"tag":"D"}', '{"tag":"N","type":8}', '{"tag":"N","type":1,"hai0":5,"hai1":5}'],
)
def test_client_frames_are_checked_too(frame: str) -> None:
    with pytest.raises(RemoteProtocolError):
        m.parse_client(frame)


# --- writing ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("frame", SERVER_FRAMES)
def test_server_frames_come_back_as_they_were(frame: str) -> None:
    message = m.parse_server(frame)
    assert not message.extra
    assert m.parse_server(m.render_json(message)) == message
    assert m.parse_server(m.render_xml(message)) == message


@pytest.mark.parametrize("frame", CLIENT_FRAMES)
def test_client_frames_come_back_as_they_were(frame: str) -> None:
    message = m.parse_client(frame)
    assert not message.extra
    assert m.parse_client(m.render_json(message)) == message
    assert m.parse_client(m.render_xml(message)) == message


def test_a_client_writes_numbers_as_numbers_and_some_frames_as_xml() -> None:
    assert m.render_json(m.DiscardTile(115)) == '{"tag":"D","p":115}'
    assert m.render_json(m.DeclareRiichi()) == '{"tag":"REACH"}'
    assert (
        m.render_json(m.Respond(m.ResponseType.CHI, (24, 31))) == '{"tag":"N","type":3,"hai0":24,"hai1":31}'
    )
    assert m.render_json(m.Respond()) == '{"tag":"N"}'
    assert m.render_json(m.KeepAlive()) == "<Z/>"
    assert m.render_json(m.Leave()) == "<BYE/>"
    assert m.render_json(m.ShowStatistics(9)) == '<PXR V="9"/>'


def test_the_server_writes_numbers_as_text() -> None:
    assert m.render_json(m.MeldMade(0, 20839, 8)) == '{"tag":"N","who":"0","m":"20839","t":"8"}'


def test_an_organisers_edit_code_never_leaves() -> None:
    with pytest.raises(LocalProtocolError) as caught:
        m.render_json(m.JoinTournament("C1234567887654321"))
    assert "87654321" not in str(caught.value)


def test_text_that_xml_cannot_represent_is_not_written() -> None:
    with pytest.raises(LocalProtocolError):
        m.render_xml(m.Unknown("X", extra=(("a", '"'),)))


# --- secrets ------------------------------------------------------------------------------------------


def test_secrets_are_in_no_repr() -> None:
    login = m.parse_client(CLIENT_FRAMES[0])
    match = m.parse_server(SERVER_FRAMES[3])
    for text in (repr(login), str(login), repr(match), repr([match]), f"{match}"):
        assert "12345678" not in text
        assert "2FF64D8A" not in text
    assert "NoName" in repr(m.Login("NoName"))


@pytest.mark.parametrize("frame", [*CLIENT_FRAMES, *SERVER_FRAMES])
@pytest.mark.parametrize("cut", [1, 7, 20])
def test_secrets_are_in_no_error(frame: str, cut: int) -> None:
    for text in (frame[:-cut], frame + "x"):
        for parse in (m.parse_client, m.parse_server):
            try:
                parse(text)
            except RemoteProtocolError as exc:
                assert not re.search("12345678-|abCD|2FF64D8A|A9692044", f"{exc!r} {exc} {exc.excerpt}")


# --- fuzzing ------------------------------------------------------------------------------------------

_EDGES = (
    *("-1", "0", "3", "4", "135", "136", "255", "65535", "99999999999", "", "x", "1,2", "٣", "1_0", " 1"),
    *("HELO", "INIT", "REINIT", "AGARI", "N", "T", "d", "UN", "CS", "RYUUKYOKU"),
)


@st.composite
def mutated(draw: st.DrawFn, frames: tuple[str, ...]) -> str:
    text = draw(st.sampled_from(frames))
    for _ in range(draw(st.integers(1, 4))):
        places = [at for found in re.finditer(r"-?\d+|\w+", text) for at in found.span()] or [0]
        at, end = sorted((draw(st.sampled_from(places)), draw(st.sampled_from(places))))
        text = text[:at] + draw(st.sampled_from(_EDGES) | st.text(max_size=4)) + text[end:]
    return text


def _read_or_refuse_server(text: str) -> None:
    try:
        message = m.parse_server(text)
    except RemoteProtocolError:
        return
    assert isinstance(message, m.ServerMessage)
    assert m.parse_server(m.render_json(message)) == message


def test_a_rating_with_more_than_two_decimals_is_rendered_as_it_is() -> None:
    text = '{"tag":"UN","n0":"%41","n1":"%42","n2":"%43","n3":"%44","rate":"1656.135,1500,-3.5,0.0001"}'
    _read_or_refuse_server(text)
    assert m.parse_server(text).rates == (1656.135, 1500.0, -3.5, 0.0001)


@settings(max_examples=scaled(150, 1_500), deadline=None)
@given(mutated(SERVER_FRAMES))
def test_mutated_server_frames_are_a_message_or_refused(text: str) -> None:
    _read_or_refuse_server(text)


@settings(max_examples=scaled(60, 1_000), deadline=None)
@given(mutated(CLIENT_FRAMES))
def test_mutated_client_frames_are_a_message_or_refused(text: str) -> None:
    try:
        message = m.parse_client(text)
    except RemoteProtocolError:
        return
    assert isinstance(message, m.ClientMessage)


@settings(max_examples=scaled(60, 1_000), deadline=None)
@given(
    st.one_of(st.text(), st.recursive(st.text() | st.integers(), st.lists).map(repr), st.binary().map(repr))
)
def test_any_text_is_a_message_or_refused(text: str) -> None:
    _read_or_refuse_server(text)
    _read_or_refuse_server('{"tag":"INIT","seed":' + text)


@pytest.mark.parametrize(
    "frame",
    [
        '{"tag":"REACH","who":"1","ten":"250,-1,250,491","step":"2"}',
        '{"tag":"RYUUKYOKU","ba":"0,1","sc":"250,0,-1,0,250,0,491,0"}',
        '{"tag":"SAIKAI","ba":"0,1","oya":"0","sc":"250,0,-1,0,250,0,491,0"}',
    ],
)
def test_scores_below_zero_are_read_where_a_riichi_can_have_led_to_them(frame: str) -> None:
    assert m.parse_server(frame).scores == (25000, -100, 25000, 49100)  # type: ignore[attr-defined]
