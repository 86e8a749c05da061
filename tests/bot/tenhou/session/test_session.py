from __future__ import annotations

import pytest

from bot.tenhou import messages as m
from bot.tenhou.session.core import Session, SessionSettings
from bot.tenhou.session.events import (
    Disagreement,
    GameEnded,
    GameMissed,
    GameStarted,
    LoggedIn,
    LoginAgainLater,
    PromptClosed,
    PromptOpened,
    Queued,
    Rejected,
    Resumed,
    RoundEnded,
    ServerClosing,
    ServerText,
    SessionEvent,
    TableEvent,
)
from bot.tenhou.session.turn import reply
from game.actions import PASS, RIICHI, Action, ActionKind
from game.events import DrawnRound, EndGame, EndRound, Four, Riichi, StartGame, StartRound, Win
from kit.errors import LocalProtocolError, StateMismatchError
from tests.bot.captures import capture
from tests.bot.tenhou.session.recorded import feed, new_session, rendered, server_frames

ID = "ID12345678-abCD1234"
CODE = "2FF64D8A-A9692044"
NAMES = ("us", "right", "across", "left")
HAND = (0, 4, 8, 12, 20, 24, 28, 32, 36, 40, 44, 48, 56)
SCORES = (25_000, 25_000, 25_000, 25_000)


def seated(dealer: int = 0, hand: tuple[int, ...] = HAND, game_type: int = 9) -> Session:
    session = new_session()
    session.start()
    session.take(m.Hello("NoName"))
    session.take(m.MatchFound(game_type, resume_code=CODE))
    session.take(m.PlayerNames(NAMES))
    session.take(m.GameBegins(dealer, "2018012012gm-0009-0000-66fafd38"))
    session.take(m.RoundDealt(0, 0, 0, 135, SCORES, dealer, hand))
    session.outbox()
    return session


def kinds(session: Session) -> set[ActionKind]:
    return {action.kind for action in session.prompt.legal}


def choose(session: Session, kind: ActionKind, tile: int | None = None) -> list[str]:
    action = next(a for a in session.prompt.legal if a.kind is kind and tile in (None, a.tile))
    session.answer(session.prompt.prompt_id, action)
    return rendered(session.outbox())


def types(events: list[SessionEvent]) -> list[type[SessionEvent]]:
    return [type(event) for event in events]


# --- login and lobby ----------------------------------------------------------------------------------


def test_a_guest_logs_in_and_queues() -> None:
    session = Session(SessionSettings())
    assert rendered(session.start()) == ['{"tag":"HELO","name":"NoName","sx":"M"}']
    events = session.receive('{"tag":"HELO","uname":"%4E%6F%4E%61%6D%65"}')
    assert events == [LoggedIn("NoName"), Queued("0,9")]
    assert rendered(session.outbox()) == ['<PXR V="1"/>', '{"tag":"JOIN","t":"0,9"}']
    assert rendered(session.outbox()) == []


def test_an_id_asks_for_its_own_statistics() -> None:
    session = Session(SessionSettings(name=ID, game_type=137))
    session.start()
    session.receive('{"tag":"HELO","uname":"%41"}')
    assert rendered(session.outbox())[0] == '<PXR V="137"/>'


def test_a_private_lobby_is_entered_before_queueing() -> None:
    session = Session(SessionSettings(lobby="7994"))
    session.start()
    session.receive('{"tag":"HELO","uname":"%41"}')
    assert rendered(session.outbox())[1:] == ['{"tag":"LOBBY","id":"7994"}', '{"tag":"JOIN","t":"7994,9"}']


def test_a_tournament_lobby_is_entered_step_by_step() -> None:
    session = Session(SessionSettings(name=ID, lobby="C12345678"))
    session.start()
    session.receive('{"tag":"HELO","uname":"%41"}')
    assert rendered(session.outbox()) == ['{"tag":"CS","lobby":"C12345678"}']
    events = session.receive('{"tag":"CS","title":"x","rule":"0,0,0009"}')
    assert rendered(session.outbox()) == ['<PXR V="-1"/>', "<DATE/>", '{"tag":"JOIN","t":"11234,9"}']
    assert events == [Queued("11234,9")]
    assert session.receive('{"tag":"DATE","t":"20261121033300"}') == []


def test_rejoin_is_answered_with_exactly_its_ticket() -> None:
    session = Session(SessionSettings())
    session.start()
    session.receive('{"tag":"HELO","uname":"%41"}')
    session.outbox()
    assert session.receive('{"tag":"REJOIN","t":"0,9,r"}') == [Queued("0,9,r", again=True)]
    assert rendered(session.outbox()) == ['{"tag":"JOIN","t":"0,9,r"}']


def test_rejoin_is_not_answered_by_somebody_who_does_not_queue() -> None:
    session = new_session()
    session.start()
    session.receive('{"tag":"HELO","uname":"%41"}')
    session.outbox()
    assert session.receive('{"tag":"REJOIN","t":"0,9,r"}') == []
    assert rendered(session.outbox()) == []


def test_a_server_that_closes_or_wants_a_new_login_is_heard() -> None:
    session = Session(SessionSettings(auto_queue=False))
    session.start()
    assert session.receive('{"tag":"REHELO"}') == [LoginAgainLater(5.0)]
    session.reconnect()
    assert ServerClosing() in session.receive('{"tag":"HELO","uname":"%41","closing":"1"}')


def test_a_promotion_is_shown_and_the_login_goes_on() -> None:
    session = Session(SessionSettings())
    session.start()
    events = session.receive('{"tag":"HELO","uname":"%41","nintei":"%42"}')
    assert events == [LoggedIn("A"), ServerText("", "B"), Queued("0,9")]


def test_chat_is_only_shown() -> None:
    session = seated()
    assert session.receive('{"tag":"CHAT","uname":"%41","text":"%2Flobby%201"}') == [
        ServerText("A", "/lobby 1")
    ]
    assert rendered(session.outbox()) == []


def test_settings_hide_their_secrets() -> None:
    settings = SessionSettings(name=ID, gpid=CODE)
    assert ID not in repr(settings)
    assert CODE not in repr(settings)


# --- a game -------------------------------------------------------------------------------------------


def test_a_game_begins() -> None:
    session = Session(SessionSettings())
    session.start()
    session.take(m.Hello("NoName"))
    session.outbox()
    assert session.take(m.MatchFound(9, resume_code=CODE)) == []
    assert rendered(session.outbox()) == ['{"tag":"GOK"}']
    people = m.PlayerNames(
        NAMES, dans=(16, 17, 18, 19), rates=(2000.0, 2001.0, 2002.0, 2003.0), sexes=("C", "M", "F", "M")
    )
    assert session.take(people) == []
    events = session.take(m.GameBegins(1, "2018012012gm-0009-0000-66fafd38"))
    assert rendered(session.outbox()) == ['{"tag":"NEXTREADY"}']
    names = ("right", "across", "left", "us")
    assert session.player == 3
    assert events[0] == GameStarted(
        "2018012012gm-0009-0000-66fafd38",
        names,
        "hanchan",
        9,
        "0",
        3,
        ranks=(17, 18, 19, 16),
        rates=(2001.0, 2002.0, 2003.0, 2000.0),
        sexes=("M", "F", "M", "C"),
    )
    assert events[1] == TableEvent(StartGame(names, 3))
    assert session.resume_code == CODE


def test_the_deal_is_turned_to_absolute_players() -> None:
    session = seated(dealer=1)
    start = session.log[-1]
    assert start.dealer == 0
    assert start.hands[3] == HAND
    assert start.hands[0] == (-1,) * 13


def test_our_draw_opens_a_prompt_and_the_answer_waits_for_the_echo() -> None:
    session = seated()
    (told, opened) = session.receive('{"tag":"T60"}')
    assert isinstance(told, TableEvent)
    assert opened.mismatch is None
    session.answer(opened.prompt_id, Action(ActionKind.DISCARD, 60))
    assert rendered(session.outbox()) == ['{"tag":"D","p":60}']
    assert session.prompt is None
    assert session.state["hand_size"][0] == 14
    session.receive('{"tag":"D60"}')
    assert session.state["hand_size"][0] == 13


def test_an_answer_is_taken_once_and_only_from_the_legal_set() -> None:
    session = seated()
    session.receive('{"tag":"T60"}')
    prompt = session.prompt
    for prompt_id, action in ((prompt.prompt_id, PASS), (prompt.prompt_id + 1, prompt.legal[0])):
        with pytest.raises(LocalProtocolError):
            session.answer(prompt_id, action)
    session.answer(prompt.prompt_id, prompt.legal[-1])
    with pytest.raises(LocalProtocolError):
        session.answer(prompt.prompt_id, prompt.legal[-1])


def test_a_prompt_the_table_goes_past_is_closed() -> None:
    session = seated()
    session.receive('{"tag":"T60"}')
    number = session.prompt.prompt_id
    events = session.receive('{"tag":"D60"}')  # the server discarded it for us
    assert events[0] == PromptClosed(number)
    assert session.prompt is None


def test_nothing_is_asked_without_an_offer() -> None:
    session = seated(hand=(69, 70, *HAND[:11]))
    session.receive('{"tag":"T60"}')
    session.receive('{"tag":"D60"}')
    session.receive('{"tag":"U"}')
    events = session.receive('{"tag":"E68"}')  # we could pon, but the server does not ask
    assert types(events) == [TableEvent, Disagreement]
    assert session.prompt is None


def test_an_offer_is_answered_from_the_intersection() -> None:
    session = seated(hand=(69, 70, *HAND[:11]))
    session.receive('{"tag":"T60"}')
    session.receive('{"tag":"D60"}')
    session.receive('{"tag":"U"}')
    (_, opened) = session.receive('{"tag":"E68","t":"9"}')
    assert opened.mismatch == "ron offered but not legal"
    assert kinds(session) == {ActionKind.PON, ActionKind.PASS}
    assert choose(session, ActionKind.PON) == ['{"tag":"N","type":1,"hai0":69,"hai1":70}']


def test_with_nothing_in_common_we_pass_or_throw() -> None:
    session = seated()
    session.receive('{"tag":"T60","t":"80"}')
    assert session.prompt.mismatch == "tsumo offered but not legal; nine_terminals offered but not legal"
    assert kinds(session) == {ActionKind.DISCARD}
    session.receive('{"tag":"D60"}')
    session.receive('{"tag":"U"}')
    session.receive('{"tag":"E120","t":"4"}')
    assert session.prompt.legal == (PASS,)
    assert choose(session, ActionKind.PASS) == ['{"tag":"N"}']


def test_our_pon_is_followed_by_our_discard() -> None:
    session = seated(hand=(69, 70, *HAND[:11]))
    for frame in ('{"tag":"T60"}', '{"tag":"D60"}', '{"tag":"U"}', '{"tag":"E68","t":"1"}'):
        session.receive(frame)
    choose(session, ActionKind.PON)
    code = (3 * 17 + 0) << 9 | 3 << 5 | 0x8 | 1
    (_, opened) = session.receive(f'{{"tag":"N","who":"0","m":"{code}"}}')
    assert kinds(session) == {ActionKind.DISCARD}
    assert 71 not in [action.tile for action in opened.legal]


def test_another_players_call_closes_the_prompt() -> None:
    session = seated(hand=(69, 70, *HAND[:11]))
    for frame in ('{"tag":"T60"}', '{"tag":"D60"}', '{"tag":"U"}', '{"tag":"E68","t":"1"}'):
        session.receive(frame)
    number = session.prompt.prompt_id
    # seat 2 calls it for a chi
    code = (3 * (7 * 1 + 6) + 2) << 10 | 1 << 3 | 0x4 | 3
    assert session.receive(f'{{"tag":"N","who":"2","m":"{code}"}}')[0] == PromptClosed(number)


def test_kans_on_our_turn_need_no_offer() -> None:
    session = seated(hand=(60, 61, 62, *HAND[:10]))
    session.receive('{"tag":"T63"}')
    assert ActionKind.ANKAN in kinds(session)
    assert choose(session, ActionKind.ANKAN) == ['{"tag":"N","type":4,"hai":60}']
    session.receive('{"tag":"N","who":"0","m":"15360"}')
    session.receive('{"tag":"DORA","hai":"90"}')
    assert session.prompt is None
    session.receive('{"tag":"T100"}')
    assert session.prompt is not None


@pytest.mark.parametrize(
    ("action", "frame"),
    [
        (Action(ActionKind.KAKAN, 7, (4, 5, 6)), '{"tag":"N","type":5,"hai":7}'),
        (Action(ActionKind.CHI, 8, (16, 12)), '{"tag":"N","type":3,"hai0":12,"hai1":16}'),
    ],
)
def test_a_reply_names_its_tiles(action: Action, frame: str) -> None:
    assert rendered([reply(action)]) == [frame]


# --- riichi -------------------------------------------------------------------------------------------

READY = (0, 4, 8, 36, 40, 44, 72, 76, 80, 108, 109, 12, 17)  # 123m 123p 123s EE 4m 5m


def test_riichi_waits_for_its_confirmation() -> None:
    session = seated(hand=READY)
    session.receive('{"tag":"T130","t":"32"}')
    assert RIICHI in (session.prompt.legal if session.prompt else ())
    assert choose(session, ActionKind.RIICHI) == ['{"tag":"REACH"}']
    assert session.riichi_pending
    (told, opened) = session.receive('{"tag":"REACH","who":"0","step":"1"}')
    assert told == TableEvent(Riichi(0))
    assert [action.tile for action in opened.legal] == [130]
    assert not session.riichi_pending
    assert choose(session, ActionKind.DISCARD) == ['{"tag":"D","p":130}']
    session.receive('{"tag":"D130"}')
    session.receive('{"tag":"REACH","who":"0","ten":"240,250,250,250","step":"2"}')
    assert session.state["riichi"][0] == 2


def test_riichi_goes_on_without_its_confirmation() -> None:
    session = seated(hand=READY)
    with pytest.raises(LocalProtocolError):
        session.assume_riichi()
    session.receive('{"tag":"T130","t":"32"}')
    choose(session, ActionKind.RIICHI)
    events = session.assume_riichi()
    assert types(events) == [TableEvent, PromptOpened]
    choose(session, ActionKind.DISCARD)
    assert session.receive('{"tag":"REACH","who":"0","step":"1"}') == []  # late, and already known
    session.receive('{"tag":"D130"}')
    session.receive('{"tag":"REACH","who":"0","ten":"240,250,250,250","step":"2"}')
    assert session.state["riichi"][0] == 2


def test_riichi_that_the_server_did_not_take_is_forgotten() -> None:
    session = seated(hand=READY)
    session.receive('{"tag":"T130","t":"32"}')
    choose(session, ActionKind.RIICHI)
    session.receive('{"tag":"D130"}')  # our clock ran out
    assert not session.riichi_pending
    assert session.state["riichi"][0] == 0


def test_in_riichi_the_drawn_tile_is_still_asked_for() -> None:
    session = seated(hand=READY)
    session.receive('{"tag":"T130","t":"32"}')
    choose(session, ActionKind.RIICHI)
    for frame in (
        '{"tag":"REACH","who":"0","step":"1"}',
        '{"tag":"D130"}',
        '{"tag":"REACH","who":"0","ten":"240,250,250,250","step":"2"}',
        '{"tag":"U"}',
        '{"tag":"e131"}',
        '{"tag":"V"}',
        '{"tag":"f132"}',
        '{"tag":"W"}',
        '{"tag":"g133"}',
    ):
        session.receive(frame)
    session.receive('{"tag":"T120"}')
    assert session.prompt.legal == (Action(ActionKind.DISCARD, 120),)


def test_scores_that_are_not_ours_are_a_mismatch() -> None:
    session = seated(hand=READY)
    session.receive('{"tag":"T130","t":"32"}')
    choose(session, ActionKind.RIICHI)
    session.receive('{"tag":"REACH","who":"0","step":"1"}')
    session.receive('{"tag":"D130"}')
    with pytest.raises(StateMismatchError):
        session.receive('{"tag":"REACH","who":"0","ten":"230,250,250,250","step":"2"}')


def test_anothers_riichi_paid_after_an_offer_of_its_discard_leaves_the_prompt_open() -> None:
    session = seated(hand=(69, 70, *HAND[:11]))
    for frame in (
        '{"tag":"T60"}',
        '{"tag":"D60"}',
        '{"tag":"U"}',
        '{"tag":"REACH","who":"1","step":"1"}',
        '{"tag":"E68","t":"1"}',
    ):
        session.receive(frame)
    prompt = session.prompt
    session.receive('{"tag":"REACH","who":"1","ten":"250,240,250,250","step":"2"}')
    assert session.prompt is prompt is not None


# --- results ------------------------------------------------------------------------------------------


def test_after_a_result_one_ready_is_due_and_the_next_deal_ends_the_round() -> None:
    frames = server_frames(capture("tcp-xml-double-ron-20180206.log"))
    session = new_session()
    session.reconnect()
    doubles = 0
    results = 0
    for message in frames:
        feed(session, message)
        sent = [frame for frame in rendered(session.outbox()) if "NEXTREADY" in frame]
        if isinstance(message, m.RoundWon | m.RoundDrawn):
            results += 1
            doubles += results == 2
            assert len(sent) == (results == 1 and message.final is None)
        elif isinstance(message, m.RoundDealt):
            results = 0
            assert session.log[-2] == EndRound() or isinstance(session.log[-2], StartGame)
    assert doubles == 1
    wins = [type(event) for event in session.log if isinstance(event, Win | EndRound)]
    assert any(wins[i : i + 3] == [Win, Win, EndRound] for i in range(len(wins)))
    assert isinstance(session.log[-1], EndGame)


def test_a_game_ends_with_its_figures() -> None:
    session = new_session()
    told: list[SessionEvent] = []
    for message in server_frames(capture("tcp-xml-ranked-fullgame-20180117.log")):
        feed(session, message) if isinstance(message, m.Hello) else told.extend(session.take(message))
    ended = [event for event in told if isinstance(event, GameEnded)]
    assert ended == [GameEnded((12_100, 38_300, 13_800, 35_800), (-380, 480, -260, 160), (4, 1, 3, 2))]
    assert sum(isinstance(event, RoundEnded) for event in told) == sum(
        isinstance(e, EndRound) for e in session.log
    )
    rounds = [(event.round_index, event.honba) for event in told if isinstance(event, RoundEnded)]
    dealt = [(event.round_index, event.honba) for event in session.log if isinstance(event, StartRound)]
    assert rounds == dealt
    assert not session.in_game
    assert session.resume_code == ""
    assert not any(isinstance(event, Disagreement) for event in told)
    with_result = [event for event in session.log if isinstance(event, Win | DrawnRound)]
    assert len(with_result) >= 8


def test_winner_and_liable_player_are_turned_to_absolute_players() -> None:
    session = seated(dealer=1)
    session.take(m.TileDrawn(1))
    session.take(m.TileDiscarded(1, 100))
    session.take(
        m.RoundWon(
            2,
            1,
            100,
            hand=(100,),
            melds=(),
            fu=40,
            points=32_000,
            limit=5,
            yaku=(),
            yakuman=(39,),
            indicators=(135,),
            ura_indicators=(),
            honba=0,
            riichi_sticks=0,
            scores=SCORES,
            deltas=(0, -16_000, 32_000, -16_000),
            liable=3,
        )
    )
    (win,) = (event for event in session.log if isinstance(event, Win))
    assert (win.player, win.liable) == (1, 2)


@pytest.mark.parametrize("stated", [SCORES, (25_100, 25_000, 25_000, 24_900)])
def test_final_scores_are_compared_with_the_servers_word(stated: Four) -> None:
    session = seated()
    session.receive('{"tag":"T60"}')
    final = m.FinalScores(stated, (0,) * 4)
    events = session.take(m.RoundDrawn("nine_terminals", 0, 0, SCORES, (0,) * 4, final=final))
    differs = Disagreement("final scores", f"the server has {stated}, we have {SCORES}")
    assert (differs in events) == (stated != SCORES)


def test_furiten_is_compared_with_the_servers_word() -> None:
    session = seated()
    session.receive('{"tag":"T60"}')
    session.receive('{"tag":"FURITEN","show":"1"}')
    session.receive('{"tag":"D60"}')
    events = session.receive('{"tag":"U"}')
    assert Disagreement("furiten", "the server has True, we have False") in events


def test_players_who_leave_and_return_are_in_the_log() -> None:
    session = seated()
    (left,) = session.receive('{"tag":"BYE","who":"3"}')
    (back,) = session.receive('{"tag":"UN","n3":"%41"}')
    assert [type(e.event).__name__ for e in (left, back) if isinstance(e, TableEvent)] == [
        "PlayerLeft",
        "PlayerReturned",
    ]


# --- returning ----------------------------------------------------------------------------------------


def test_another_game_with_other_people_is_a_new_one() -> None:
    session = seated()
    session.reconnect()
    session.take(m.MatchFound(1))
    session.take(m.PlayerNames(("us", "x", "y", "z")))
    events = session.take(m.RoundSnapshot(0, 0, 0, (135,), SCORES, 1, HAND))
    assert types(events) == [GameStarted, TableEvent, Resumed]
    assert session.length == "tonpuu"
    assert session.player == 3


def test_frames_before_any_snapshot_are_answered_without_knowledge() -> None:
    session = seated()
    session.reconnect()
    session.take(m.MatchFound(9))
    session.take(m.PlayerNames(NAMES))
    (opened,) = session.take(m.TileDrawn(0, 60, m.OFFER_TSUMO))
    assert opened.legal == (Action(ActionKind.TSUMO, 60),)
    (_, opened) = session.take(m.TileDiscarded(1, 61, offers=m.OFFER_RON))
    assert opened.legal == (Action(ActionKind.RON, 61),)


def test_a_session_in_use_at_the_login_after_a_lost_connection_is_no_takeover() -> None:
    session = seated()
    session.reconnect()
    assert types(session.receive('{"tag":"ERR","code":"1004"}')) == [Rejected]
    assert session.in_game


def test_a_login_that_finds_no_game_forgets_the_resume_code() -> None:
    session = Session(SessionSettings(gpid=CODE))
    session.start()
    session.take(m.Hello("NoName"))
    assert session.resume_code == ""


# --- faults -------------------------------------------------------------------------------------------

GAME = "tcp-xml-kakan-daiminkan-t13-20180125.log"


REPEATABLE = (
    m.FuritenShown,
    m.PlayerGone,
    m.PlayerBack,
    m.OwnResult,
    m.LobbyCounts,
    m.Ranking,
    m.PlayerNames,
    # another game, see below
    m.MatchFound,
    m.GameBegins,
    m.RoundDealt,
)


def test_a_repeated_frame_is_refused() -> None:
    frames = server_frames(capture(GAME))
    session = new_session()
    for message in frames:
        feed(session, message)
        if session.in_game and not isinstance(message, REPEATABLE):
            with pytest.raises(StateMismatchError):
                session.take(message)


# --- one round after the other ----------------------------------------------------------------------------

ABORTED = '{"tag":"RYUUKYOKU","type":"yao9","ba":"0,0","sc":"250,0,250,0,250,0,250,0"}'


@pytest.mark.parametrize(
    ("deal", "why"),
    [
        (m.RoundDealt(2, 0, 0, 135, SCORES, 2, HAND), "round 2.0 follows 0.0"),
        (m.RoundDealt(0, 1, 1, 135, SCORES, 0, HAND), "scores that differ"),
        (m.RoundDealt(0, 1, 0, 135, (24_000, 26_000, 25_000, 25_000), 0, HAND), "scores that differ"),
    ],
)
def test_a_deal_that_does_not_follow_from_the_last_round_begins_another_game(
    deal: m.RoundDealt, why: str
) -> None:
    session = seated()
    session.receive('{"tag":"T60"}')
    session.receive(ABORTED)
    seen = tuple(session.log)
    missed, *_, dealt = session.take(deal)
    assert why in missed.why
    assert missed.events == (*seen, EndRound())
    assert session.log[-1] == dealt.event


# --- another game in the middle of one --------------------------------------------------------------------

GAME_BEGINS = (
    m.MatchFound(1),
    m.PlayerNames(NAMES),
    m.GameBegins(1),
    m.RoundDealt(0, 0, 0, 135, SCORES, 1, HAND),
)


@pytest.mark.parametrize("first", range(len(GAME_BEGINS)), ids=["GO", "UN", "TAIKYOKU", "INIT"])
def test_another_game_in_the_middle_of_one_is_played_and_the_first_is_told_as_missed(first: int) -> None:
    session = seated()
    session.receive('{"tag":"T60"}')
    seen = tuple(session.log)
    events = [event for message in GAME_BEGINS[first:] for event in session.take(message)]
    (closed, missed) = events[:2]
    assert isinstance(closed, PromptClosed)
    assert missed.events == seen
    assert types(events[2:]) == [GameStarted, TableEvent, TableEvent]
    assert session.player == 3
    assert session.length == ("tonpuu" if first == 0 else "hanchan")
    assert types(session.receive('{"tag":"U"}')) == [TableEvent]


@pytest.mark.parametrize("message", GAME_BEGINS[::2], ids=["GO", "TAIKYOKU"])
def test_the_rest_of_a_round_after_another_game_began_is_answered_without_knowledge(
    message: m.ServerMessage,
) -> None:
    session = seated()
    session.take(message)
    (opened,) = session.take(m.TileDrawn(0, 60))
    assert opened.legal == (Action(ActionKind.DISCARD, 60),)
    session.receive(ABORTED)
    session.take(m.RoundDealt(0, 1, 0, 135, SCORES, 0, HAND))
    assert types(session.take(m.TileDrawn(0, 60))) == [TableEvent, PromptOpened]


def test_a_round_that_contradicts_a_deal_in_the_middle_of_it_is_answered_without_knowledge() -> None:
    session = seated()
    session.take(m.RoundDealt(0, 0, 0, 134, SCORES, 0, HAND))
    disagreement, opened = session.take(m.TileDrawn(0, HAND[0]))
    assert isinstance(disagreement, Disagreement)
    assert opened.legal == (Action(ActionKind.DISCARD, HAND[0]),)


def test_a_round_that_began_unexpectedly_and_never_ended_is_left_out_of_the_record() -> None:
    session = seated()
    session.receive('{"tag":"T60"}')
    for honba in range(2):
        session.take(m.RoundDealt(0, honba, 0, 134, SCORES, 0, HAND))
    dealt = [(event.round_index, event.honba) for event in session.log if isinstance(event, StartRound)]
    assert dealt == [(0, 1)]


def test_a_deal_that_no_game_can_have_leaves_the_game_as_it_is() -> None:
    session = seated()
    before = session.state.tobytes()
    with pytest.raises(StateMismatchError):
        session.take(m.RoundDealt(0, 0, 0, 135, SCORES, 0, HAND[:12]))
    with pytest.raises(StateMismatchError):
        session.take(m.RoundDealt(0, 0, 0, HAND[0], SCORES, 0, HAND))
    assert session.state.tobytes() == before


def test_a_game_that_ended_unseen_after_a_snapshot_is_followed_by_the_next() -> None:
    session = Session(SessionSettings())
    session.start()
    session.take(m.Hello("NoName"))
    session.take(m.RoundSnapshot(0, 1, 0, (135,), SCORES, 0, HAND))
    session.outbox()
    assert session.take(m.QueueAgain("0,9,r")) == [Queued("0,9,r", again=True)]
    assert rendered(session.outbox()) == ['{"tag":"JOIN","t":"0,9,r"}']
    events = [event for message in GAME_BEGINS for event in session.take(message)]
    assert types(events) == [GameMissed, GameStarted, TableEvent, TableEvent]
    assert types(session.receive('{"tag":"U"}')) == [TableEvent]


def test_a_table_we_cannot_play_ends_the_running_game() -> None:
    session = seated()
    events = session.take(m.MatchFound(25))
    assert types(events) == [GameMissed, Rejected]
    assert not session.in_game


def test_a_table_to_watch_is_rejected() -> None:
    session = new_session()
    session.start()
    session.take(m.Hello("NoName"))
    assert types(session.take(m.MatchFound(9, spectating=True))) == [Rejected]


def test_a_match_after_a_match_that_never_began_misses_nothing() -> None:
    session = seated()
    session.take(m.MatchFound(9))
    assert session.take(m.MatchFound(1)) == []
    session.take(m.GameBegins(0))
    assert session.take(m.GameBegins(0)) == []


def test_a_round_has_one_result() -> None:
    session = seated()
    session.receive('{"tag":"T60"}')
    session.receive(ABORTED)
    with pytest.raises(StateMismatchError, match="already ended"):
        session.receive(ABORTED)
