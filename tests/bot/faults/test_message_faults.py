"""Faults 7 to 10: frames that are repeated, late, out of order, unknown, broken, or have wrong offers."""

from __future__ import annotations

import json
import random
import string
from collections.abc import Callable, Sequence

import pytest

from tests.bot.client_bench import ClientBench
from tests.bot.fake_clock import until
from tests.bot.fake_server import Hang, Hear, Say, Step, fake_server
from tests.bot.relay import Plan, Side
from tests.bot.scripts import BACK, DEAL, DRAW, DRAWN, END, HAND, INIT, LOGIN, SEAT, TURN, reinit
from tests.bot.whole_game import Outcome, play_through, undisturbed
from tests.scale import scaled

IN_ROUND = ("D", "E", "F", "G", "d", "e", "f", "g", "T", "U", "V", "W")


def numbers_of(whole: Outcome, wanted: Callable[[str], bool], count: int) -> list[int]:
    """A sample of the server's frames of some kind, by number, up to our last reply."""
    frames = enumerate(whole.frames[: whole.last_reply], start=1)
    found = [n for n, (side, text) in frames if side == "S" and wanted(text)]
    return sorted(random.Random(1).sample(found, count))


def is_table_frame(text: str) -> bool:
    tag = json.loads(text)["tag"]
    return tag[:1] in IN_ROUND and (len(tag) == 1 or tag[1:].isdigit())


def same_result(outcome: Outcome, whole: Outcome) -> None:
    assert outcome.events == whole.events
    assert [r.scores for r in outcome.results] == [r.scores for r in whole.results]
    assert outcome.tally.fallbacks == 0


# --- fault 7: repeated, late, out of order -----------------------------------------------------------------


def twice(number: int) -> Plan:
    return lambda n, _, text: (text, text) if n == number else (text,)


def lost(number: int) -> Plan:
    return lambda n, _, text: () if n == number else (text,)


def swapped(number: int) -> Plan:
    """Hold back one frame of the server and let the next one overtake it."""
    held: list[str] = []

    def plan(n: int, side: Side, text: str) -> Sequence[object]:
        if n == number:
            held.append(text)
            return ()
        return (text, held.pop()) if held and side == "S" else (text,)

    return plan


def is_others_draw(text: str) -> bool:
    return text in ('{"tag":"U"}', '{"tag":"V"}', '{"tag":"W"}')


def is_others_discard(text: str) -> bool:
    return text[8:9] in "efgEFG" and '"t"' not in text


@pytest.mark.parametrize(
    ("spoilt", "wanted"), [(twice, is_table_frame), (swapped, is_others_draw), (lost, is_others_discard)]
)
async def test_fault_07_a_frame_that_comes_twice_too_late_or_never_is_noticed_and_the_round_comes_back(
    spoilt: Callable[[int], Plan], wanted: Callable[[str], bool]
) -> None:
    whole = await undisturbed()
    numbers = numbers_of(whole, wanted, 6)
    if spoilt is swapped:  # with another one of the server
        numbers = [n for n in numbers if whole.frames[n][0] == "S"]
    for number in numbers[: scaled(1, 6)]:
        outcome = await play_through(spoilt(number))
        same_result(outcome, whole)
        assert outcome.count("state.mismatch") >= 1, whole.frames[number - 1]
        assert outcome.connections >= 2
        assert outcome.count("state.resynced") >= 1


async def test_fault_07_a_late_frame_changes_nothing() -> None:
    whole = await undisturbed()
    numbers = numbers_of(whole, is_table_frame, 4)
    outcome = await play_through(lambda n, _, text: (0.02, text) if n in numbers else (text,))
    same_result(outcome, whole)
    assert outcome.connections == 1


# --- fault 8: unknown --------------------------------------------------------------------------------------


async def test_fault_08_unknown_tags_and_attributes_are_told_once_and_passed_over() -> None:
    watched = '{"tag":"WGC","childNodes":[6563,{"tag":"D123"},{"tag":"U67"},{"tag":"D136"}]}'
    odd: list[Step] = [Say('{"tag":"XYZZY","a":"1"}'), Say('{"tag":"KANSEN","oya":"0"}'), Say(watched)] * 3
    draw = f'{{"tag":"T{DRAWN}","sparkle":"7"}}'
    script = [*LOGIN, *odd, *SEAT, Say(INIT), *odd, Say(draw), *TURN, *END]
    async with fake_server(script) as server, ClientBench(server.url) as bench:
        await bench.ended()
    assert len(bench.journal.results) == 1
    told = [(entry["tag"], entry["attribute"]) for entry in bench.logged("proto.unknown_tag")]
    assert len(told) == len(set(told)) == 4
    assert {("XYZZY", ""), ("KANSEN", ""), ("WGC", "")} < set(told)
    assert any(attribute == "sparkle" for _, attribute in told)


# --- fault 9: broken ---------------------------------------------------------------------------------------

BROKEN: dict[str, str | bytes] = {
    "cut": '{"tag":"T12',
    "empty": "",
    "no object": "[1,2,3]",
    "no tag": '{"p":"1"}',
    "wrong type": '{"tag":{"a":1}}',
    "tile 136": '{"tag":"T136"}',
    "negative tile": '{"tag":"INIT","seed":"0,0,0,1,2,-3","ten":"250,250,250,250","oya":"0","hai":"1"}',
    "negative hand size": '{"tag":"INIT","seed":"0,0,0,1,2,3","ten":"1,1,1,1","oya":"0","hai":""}',
    "bad meld": '{"tag":"N","who":"1","m":"65535"}',
    "number out of range": '{"tag":"REACH","who":"9","step":"1"}',
    "deep": '{"tag":' + "[" * 5000 + "]" * 5000 + "}",
    "not text": "\x00\x01\x02\udcff".encode("utf-8", "replace"),
    "binary": b'{"tag":"T12"}',
    "long": '{"tag":"CHAT","text":"' + "a" * 250_000 + '","x":"' + "b" * 100 + '"}',
}


@pytest.mark.parametrize("name", [name for name in BROKEN if name != "long"])
async def test_fault_09_a_broken_frame_is_counted_and_the_game_goes_on(name: str) -> None:
    script = [*LOGIN, *SEAT, *DEAL, Say(BROKEN[name]), *TURN, *END]
    async with fake_server(script) as server, ClientBench(server.url) as bench:
        await bench.ended()
        assert server.handshakes == 1
    assert len(bench.journal.results) == 1
    [rejected] = bench.logged("proto.rejected")
    assert len(rejected["excerpt"]) <= 200
    assert len(rejected["reason"]) <= 400


async def test_fault_09_a_few_broken_frames_make_a_new_line() -> None:
    broken: list[Step] = [Say(BROKEN["cut"])] * 3
    scripts = ([*LOGIN, *SEAT, *DEAL, *broken, Hang()], [*BACK, reinit(), Say(DRAW), *TURN, *END])
    async with fake_server(*scripts) as server, ClientBench(server.url) as bench:
        await bench.hurry()
        await bench.ended()
        assert server.handshakes == 2
    assert len(bench.logged("proto.rejected")) == 3
    assert "unreadable" in bench.logged("conn.lost")[0]["reason"]


async def test_fault_09_ten_megabytes_are_refused_by_size() -> None:
    huge = '{"tag":"CHAT","text":"' + "a" * 10_000_000 + '"}'
    scripts = ([*LOGIN, *SEAT, *DEAL, Say(huge), Hang()], [*BACK, reinit(), Say(DRAW), *TURN, *END])
    async with fake_server(*scripts) as server, ClientBench(server.url) as bench:
        await bench.hurry()
        await bench.ended()
        assert server.handshakes == 2
        assert max(len(text) for _, text in bench.frames) < 1000
    assert len(bench.journal.results) == 1


async def test_fault_09_after_a_broken_frame_silence_is_not_borne_for_long() -> None:
    # The broken frame was our own draw: no player would move.
    scripts = (
        [*LOGIN, *SEAT, Say(INIT), Say('{"tag":"T12'), Hang()],
        [*BACK, reinit(), Say(DRAW), *TURN, *END],
    )
    async with fake_server(*scripts) as server, ClientBench(server.url) as bench:
        await until(lambda: bench.logged("proto.rejected"))
        assert await bench.hurry() < 10
        await bench.ended()


def spoiled(text: str, rng: random.Random) -> str:
    """The frame with a few characters changed, removed or inserted."""
    chars = list(text)
    for _ in range(rng.randrange(1, 4)):
        at = rng.randrange(len(chars))
        chars[at : at + rng.randrange(2)] = rng.choice([[], [rng.choice(string.printable)], [chars[at]] * 2])
    return "".join(chars)


@pytest.mark.parametrize("seed", range(scaled(1, 6)))
async def test_fault_09_spoiled_frames_never_stop_a_game(seed: int) -> None:
    rng = random.Random(seed)

    def spoil(n: int, side: Side, text: str) -> Sequence[object]:
        # Login and result are spared: a broken code loses the seat, and the result is sent only once.
        fragile = any(
            tag in text for tag in ("HELO", "GO", "UN", "TAIKYOKU", "SAIKAI", "owari", "PROF", "ERR")
        )
        return (spoiled(text, rng),) if side == "S" and not fragile and rng.random() < 0.02 else (text,)

    outcome = await play_through(spoil, silence_s=1.0, broken_silence_s=0.2)
    assert outcome.record.ending is not None
    assert len(outcome.results) + outcome.missed == 1


# --- fault 10: offers that are not ours --------------------------------------------------------------------


def with_offer(text: str, bits: int | None) -> str:
    frame = json.loads(text)
    frame.pop("t", None)
    return json.dumps(frame | ({"t": str(bits)} if bits is not None else {}), separators=(",", ":"))


@pytest.mark.parametrize("bits", [None, 16, 32, 64, 112, 128])
async def test_fault_10_a_wrong_offer_on_our_draw_is_answered_from_what_both_know(bits: int | None) -> None:
    script = [*LOGIN, *SEAT, Say(INIT), Say(with_offer(DRAW, bits)), *TURN, *END]
    async with fake_server(script) as server, ClientBench(server.url) as bench:
        await bench.ended()
        assert "D" in server.tags()  # nothing but a discard is legal
    offered = [entry for entry in bench.logged("state.mismatch") if entry.get("subject") == "offer"]
    assert len(offered) == (bits is not None)


@pytest.mark.parametrize("bits", [1, 2, 4, 8, 13, 15])
async def test_fault_10_a_wrong_offer_on_a_discard_is_passed(bits: int) -> None:
    # 2p from kamicha: no tile of ours fits it
    claim = [Say('{"tag":"U"}'), Say(f'{{"tag":"E40","t":"{bits}"}}')]
    script = [*LOGIN, *SEAT, *DEAL, *TURN, *claim, Hear("N"), Say('{"tag":"V"}'), Hang()]
    async with fake_server(script) as server, ClientBench(server.url) as bench:
        await until(lambda: server.tags()[-1:] == ["N"])
        assert json.loads(server.received[0][-1]) == {"tag": "N"}
    assert bench.logged("state.mismatch")[0]["subject"] == "offer"
    assert 40 not in HAND


async def test_fault_10_offers_that_were_taken_away_are_not_used() -> None:
    whole = await undisturbed()
    (number,) = numbers_of(whole, lambda text: '"t"' in text, 1)

    taken = 0

    def take_away(n: int, _: Side, text: str) -> Sequence[object]:
        nonlocal taken
        if n < number or taken or '"t"' not in text:  # a loaded machine may hear other frames before
            return (text,)
        taken = n
        return (with_offer(text, None),)

    # The lobby waits for an answer that cannot come: its clock passes for us.
    outcome = await play_through(take_away, silence_s=0.2)
    assert outcome.record.ending is not None
    assert len(outcome.results) == 1
    assert outcome.count("state.mismatch") >= 1
