"""The hands that a guess implies for earlier moments."""

from __future__ import annotations

from collections import Counter

import numpy as np

from game.actions import ActionKind
from game.events import Draw, GameEvent, PlayerLeft, PlayerReturned, StartRound
from game.layout import AT_HAND
from game.state import apply, new_round
from game.tiles import tile_text
from policies.deals import RoundView, UniformDeals
from policies.deals.past import Past
from tests.policies.deals.positions import Position, self_play, simulated
from tests.policies.fakes import Undecided
from tests.scene import Scene

K = ActionKind


def positions() -> list[Position]:
    return [*simulated(range(20, 30), 0.05), *self_play(1, 0.05, Undecided())]


def test_the_real_hand_implies_the_real_past() -> None:
    checked = 0
    for position in positions():
        for opponent, hand in zip(position.view.opponents, position.true_hands(), strict=True):
            past = Past(position.view, opponent)
            before = past.hands_before(np.array([hand], np.int16), position.draws(opponent), past.decisions)
            record, moments = new_round(), {each.event for each in past.decisions}
            for number, event in enumerate(position.events):
                if number in moments:
                    held, drawn = before[number]
                    assert np.array_equal(held[0], record["where"] == AT_HAND + opponent)
                    if record["turn"] == opponent and record["drawn"] >= 0:
                        assert drawn[0] == record["drawn"]
                    checked += 1
                apply(record, event)
    assert checked > 1_000


def opened(view: RoundView, opponent: int, first: list[int], draws: list[int]) -> list[GameEvent]:
    """The events with one opponent's tiles filled in."""
    left = iter(draws)
    events: list[GameEvent] = []
    for event in view.events:
        if isinstance(event, StartRound):
            hands = list(event.hands)
            hands[opponent] = tuple(first)
            four = (hands[0], hands[1], hands[2], hands[3])
            events.append(
                StartRound(
                    event.round_index, event.honba, event.riichi_sticks, event.dealer, event.scores,
                    event.dora_indicator, four,
                )
            )  # fmt: skip
        elif isinstance(event, Draw) and event.player == opponent:
            events.append(Draw(opponent, next(left)))
        else:
            events.append(event)
    return events


def test_every_guess_is_a_round_that_could_have_been_played() -> None:
    rng = np.random.default_rng(0)
    for position in positions():
        deals = UniformDeals().deals(position.view, 3, 1)
        ends = deals.unseen.ends
        for place, opponent in enumerate(position.view.opponents):
            hands = deals.tiles[:, ends[place] : ends[place + 1]]
            past = Past(position.view, opponent)
            orders = past.orders(hands, rng)
            for hand, order in zip(hands.tolist(), orders.tolist(), strict=True):
                mine = [e for e in position.events if getattr(e, "player", -1) == opponent]
                gone = [tile for event in mine for tile in leaving(event)]
                first = sorted({*hand, *gone} - set(order))
                record = new_round()
                for event in opened(position.view, opponent, first, order):
                    apply(record, event)
                assert np.flatnonzero(record["where"] == AT_HAND + opponent).tolist() == sorted(hand)


def leaving(event: GameEvent) -> tuple[int, ...]:
    kind = type(event).__name__
    if kind in ("Discard", "Kakan"):
        return (event.tile,)  # type: ignore[union-attr]
    return event.consumed if kind in ("Chi", "Pon", "Daiminkan", "Ankan") else ()  # type: ignore[union-attr]


def two_turns() -> Scene:
    """Player 1 has discarded twice from the hand, player 0 is to move."""
    scene = Scene("123456789m1122z")
    scene.own("9s", "9s").turn("1p").turn("9p").turn("9p")
    return scene.own("8s", "8s").turn("2p").turn("9p").turn("9p").draw("7s")


def test_orders_are_uniform_over_those_that_were_possible() -> None:
    scene = two_turns()
    view = RoundView.of(scene.observe(), scene.events)
    past = Past(view, 1)
    hand = UniformDeals().deals(view, 1, 0).tiles[:, :13]
    orders = past.orders(np.repeat(hand, 20_000, axis=0), np.random.default_rng(1))
    later_gone = next(
        e.tile for e in scene.events if getattr(e, "tile", -1) >= 0 and tile_text(e.tile) == "2p"
    )
    possible_first = {*hand[0].tolist(), later_gone}
    expected = {(a, b) for a in possible_first for b in hand[0].tolist() if a != b}
    found = Counter(map(tuple, orders.tolist()))
    assert set(found) == expected
    mean = 20_000 / len(expected)
    assert max(abs(count - mean) for count in found.values()) < 4.5 * mean**0.5


def test_calls_and_passes_are_decisions_too() -> None:
    scene = Scene("123456789m1122z")
    scene.own("9s", "9s").turn("1p").turn("9p").turn("9p").own("5z", "5z").pon(2).discard(
        "3p"
    ).draw().discard("1s")
    scene.draw("4s")
    view = RoundView.of(scene.observe(), scene.events)
    doings = {opponent: [each.doing for each in Past(view, opponent).decisions] for opponent in (1, 2, 3)}
    assert doings[2] == ["pass", "pass", "discard", "pass", "call", "discard", "pass"]
    assert doings[1].count("pass") == 6
    called = [each for each in Past(view, 1).decisions if each.claimed]
    assert len(called) == 1


def test_what_the_server_did_for_a_player_who_left_is_no_decision() -> None:
    scene = Scene("123456789m1122z")
    scene.own("9s", "9s").turn("1p").turn("9p").turn("9p").own("8s", "8s")
    for event in (PlayerLeft(1), Draw(1)):
        scene.apply(event)
    scene.discard("2p", tsumogiri=True).apply(PlayerReturned(1))
    scene.turn("9p").turn("3z").own("7s", "7s").turn("3p").turn("3z").turn("3z").draw("6s")
    past = Past(RoundView.of(scene.observe(), scene.events), 1)
    discarded = [tile_text(each.taken.tile) for each in past.decisions if each.doing == "discard"]
    assert discarded == ["1p", "3p"]
    hand = UniformDeals().deals(RoundView.of(scene.observe(), scene.events), 1, 0).tiles[:, :13]
    drawn = past.orders(hand, np.random.default_rng(0))[0]
    assert tile_text(drawn[1]) == "2p"


def test_a_view_takes_the_events_of_the_current_round() -> None:
    scene = two_turns()
    earlier = two_turns().events
    view = RoundView.of(scene.observe(), [*earlier, *scene.events])
    assert view.events == RoundView.of(scene.observe(), scene.events).events
    assert isinstance(view.events[0], StartRound)
    assert {event.tile for event in view.events if isinstance(event, Draw) and event.player} == {-1}
