"""Tags of a round: the wire and record files agree on every value and refuse the same attributes."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest

from bot.tenhou import messages as m
from game.events import DrawnRound, EndGame, GameEvent, StartRound, Win
from game.packing import DRAW_REASONS
from kit.errors import RemoteProtocolError, ReplayFormatError
from replays.mjlog import tags as tenhou_tags
from replays.mjlog.reader import read_record

INIT = '<INIT seed="0,2,1,3,4,135" ten="250,250,240,250" oya="0" {} />'
HANDS = " ".join(f'hai{p}="{",".join(str(4 * n + p) for n in range(13))}"' for p in range(4))
OWARI = "250,15.5,250,5.0,250,-5.0,250,-15.5"
AGARI = (
    '<AGARI ba="2,1" hai="5,8,12,92,93" m="47626,50218,51817" machi="5" ten="40,48000,5" yakuman="39"'
    ' doraHai="28" doraHaiUra="32" who="3" fromWho="2" paoWho="1" sc="250,0,250,-483,250,0,250,503"'
    f' owari="{OWARI}" />'
)
DRAW = '<RYUUKYOKU {} ba="2,1" sc="250,10,250,-10,250,10,250,-10" hai1="4,8" owari="' + OWARI + '" />'


def events_of(*tags: str) -> tuple[GameEvent, ...]:
    names = 'n0="%41" n1="%42" n2="%43" n3="%44"'
    text = f'<mjloggm ver="2.3"><UN {names} /><TAIKYOKU oya="0"/>{"".join(tags)}</mjloggm>'
    return read_record(text).events


def test_a_deal_is_the_same_on_both_sides() -> None:
    wire = m.parse_server(INIT.format(re.sub(r"hai0(.*?) hai1.*", r"hai\1", HANDS)))
    assert isinstance(wire, m.RoundDealt)
    start = events_of(INIT.format(HANDS), AGARI)[1]
    assert isinstance(start, StartRound)
    assert (wire.round_index, wire.honba, wire.riichi_sticks) == (0, 2, 1)
    assert (start.round_index, start.honba, start.riichi_sticks) == (0, 2, 1)
    assert wire.scores == start.scores == (25_000, 25_000, 24_000, 25_000)
    assert wire.hand == start.hands[0]
    assert wire.dora_indicator == start.dora_indicator == 135
    assert wire.dice == (3, 4)


def test_a_win_is_the_same_on_both_sides() -> None:
    wire = m.parse_server(AGARI)
    assert isinstance(wire, m.RoundWon)
    *_, won, _, end = events_of(INIT.format(HANDS), AGARI)
    assert won == Win(
        player=3,
        from_player=2,
        tile=5,
        hand=(5, 8, 12, 92, 93),
        fu=40,
        points=48_000,
        limit=5,
        yaku=(),
        yakuman=(39,),
        ura_indicators=(32,),
        liable=1,
        deltas=(0, -48_300, 0, 50_300),
        honba=2,
        riichi_sticks=1,
    )
    shared = set(wire.__struct_fields__) & set(won.__struct_fields__)
    assert len(shared) == 12
    assert [getattr(wire, name) for name in shared] == [getattr(won, name) for name in shared]
    assert (wire.seat, wire.from_seat) == (won.player, won.from_player)
    assert wire.final == m.FinalScores((25_000,) * 4, (155, 50, -50, -155))
    assert end == EndGame(wire.final.scores, wire.final.results)


@pytest.mark.parametrize(("kind", "reason"), tenhou_tags.DRAW_REASONS.items())
def test_a_drawn_round_is_the_same_on_both_sides(kind: str, reason: str) -> None:
    tag = DRAW.format(f'type="{kind}"' if kind else "")
    wire = m.parse_server(tag)
    drawn = events_of(INIT.format(HANDS), tag)[2]
    assert isinstance(wire, m.RoundDrawn)
    assert isinstance(drawn, DrawnRound)
    assert (wire.reason, wire.deltas, wire.hands) == (drawn.reason, drawn.deltas, drawn.hands)
    assert wire.reason == reason


def test_there_is_a_type_for_every_reason() -> None:
    assert sorted(tenhou_tags.DRAW_TYPES) == sorted(DRAW_REASONS)


@pytest.mark.parametrize(
    ("tag", "reason"),
    [
        (INIT.format(HANDS).replace("0,2,1,3,4,135", "0,2,1,6,4,135"), "seed is out of range"),
        (INIT.format(HANDS).replace("0,2,1,3,4,135", "0,2"), "seed has 2 numbers instead of 6"),
        (AGARI.replace('ten="40,48000,5"', 'ten="40,48000"'), "ten has 2 numbers instead of 3"),
        (AGARI.replace('who="3"', 'who="4"', 1), "who is 4, outside 0–3"),
        (AGARI.replace('machi="5"', ""), "machi is missing"),
        (AGARI.replace("15.5,", "15.55,"), "owari contains an invalid result"),
        (DRAW.format('type="nagare"'), "unknown type 'nagare'"),
        (DRAW.format("").replace('hai1="4,8"', 'hai1="4,4"'), "hai1 names a tile twice"),
        (DRAW.format("").replace("250,10,", "250,1x,"), "sc is not a list of numbers"),
    ],
)
def test_both_sides_refuse_a_bad_attribute_and_name_their_place(tag: str, reason: str) -> None:
    name = tag[1:].split(" ", maxsplit=1)[0]
    sides: list[tuple[type[Exception], str, Callable[[], object]]] = [
        (RemoteProtocolError, f"^{name}: {reason}", lambda: m.parse_server(tag)),
        (
            ReplayFormatError,
            f"^mjlog round 1: <{name}>: {reason}",
            lambda: events_of(INIT.format(HANDS), tag),
        ),
    ]
    if name == "INIT":
        sides[1] = (ReplayFormatError, f"^mjlog round 1: <{name}>: {reason}", lambda: events_of(tag, AGARI))
    for error, expected, parse in sides:
        with pytest.raises(error, match=expected):
            parse()
