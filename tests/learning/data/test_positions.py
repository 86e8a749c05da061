from __future__ import annotations

import functools
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
import pytest

from game.actions import Action, ActionKind
from game.events import (
    Ankan,
    Chi,
    Daiminkan,
    Discard,
    DoraRevealed,
    Draw,
    DrawnRound,
    GameEvent,
    Kakan,
    PlayerLeft,
    PlayerReturned,
    Pon,
    Riichi,
    Win,
)
from game.layout import PHASE_TURN, ROUND_STATE
from game.rules import legal_actions
from game.state import apply, clone, new_round
from game.tiles import KINDS, tile_text
from kit.errors import StateMismatchError
from learning.data.choice import SelectedDecisions
from learning.data.positions import PositionCounts, Positions, count, positions_of
from policies.flow.slots import Slot
from tests.learning.data.games import MODERN, OLD, records
from tests.learning.stub import corpus_of, everybody
from tests.scale import scaled
from tests.scene import Scene

GAMES = 15  # the last of the modern ones was left by a player
LEVEL = (0, 0, 0, 0)
CALLS = (Slot.CHI, Slot.PON, Slot.KAN)
SLOT_OF = {
    ActionKind.CHI: Slot.CHI,
    ActionKind.PON: Slot.PON,
    ActionKind.DAIMINKAN: Slot.KAN,
    ActionKind.ANKAN: Slot.KAN,
    ActionKind.KAKAN: Slot.KAN,
}
KIND_OF = {
    Chi: ActionKind.CHI,
    Pon: ActionKind.PON,
    Daiminkan: ActionKind.DAIMINKAN,
    Ankan: ActionKind.ANKAN,
    Kakan: ActionKind.KAKAN,
}
FIVE_RUNS = ("2p3p", "3p5p", "3p0p", "5p6p", "0p6p")


# --- a 4p that one may chi, one may call, one may win -----------------------------------------------------


def four_of_circles() -> Scene:
    """Player 0 has discarded 4p: 1 may chi in five ways, 2 may pon or kan, 3 may ron."""
    return Scene(
        "119m19s4p1234567z",
        others={1: "134667m23567p0p8s", 2: "4449p22778s3344z", 3: "123456789m11s56p"},
        dora="9s",
    ).own("8p", "4p")


def test_three_rons_hide_all_calls_although_the_round_is_aborted() -> None:
    scene = four_of_circles().apply(DrawnRound("triple_ron", LEVEL))
    assert all(melds(scene, slot) == [] for slot in CALLS)


def test_an_abort_after_a_discard_hides_nothing() -> None:
    scene = four_of_circles().apply(DrawnRound("four_winds", LEVEL))
    assert [label for _, _, label in melds(scene, Slot.CHI)] == [0] * len(FIVE_RUNS)


def test_the_event_after_a_discard_must_be_known() -> None:
    assert all(melds(four_of_circles(), slot) == [] for slot in CALLS)


@pytest.mark.parametrize(
    ("left", "back"),
    [
        pytest.param(3, None, id="away all the time"),
        pytest.param(4, None, id="left while asked"),
        pytest.param(3, 5, id="back while the others were asked"),
    ],
)
def test_an_absent_player_declines_nothing(left: int, back: int | None) -> None:
    events: list[GameEvent] = list(four_of_circles().draw("9s").events)
    assert isinstance(events[2], Discard)
    events.insert(left - 1, PlayerLeft(1))
    if back is not None:
        events.insert(back - 1, PlayerReturned(1))
    corpus = corpus_of(events)
    assert not positions_of(corpus, everybody(1), Slot.CHI).labels.size
    assert positions_of(corpus, everybody(1), Slot.PON).labels.tolist() == [0]


def test_players_not_chosen_are_left_out() -> None:
    events = four_of_circles().draw("9s").events
    for players, wanted in ((0b0010, 5), (0b1101, 0)):
        choice = SelectedDecisions(np.array([0]), np.array([players], np.uint8))
        assert len(positions_of(corpus_of(events), choice, Slot.CHI).labels) == wanted


# --- own turns --------------------------------------------------------------------------------------------

OTHERS = {1: "258m258p258s3344z", 2: "258m36p14s3344z47m", 3: "367m148p368s6777z"}


def two_kans() -> Scene:
    return Scene("1111m9999m22z234p", others=OTHERS).draw("5z")


def test_a_winning_turn_holds_no_other_decision() -> None:
    def complete() -> Scene:
        return Scene("111123m456p789s5z", others=OTHERS).draw("5z")

    scene = complete().discard("5z")
    assert melds(scene, Slot.KAN) == [(0, "1m1m1m1m", 0)]
    assert melds(scene, Slot.RIICHI) == [(0, "", 0)]
    scene = complete()
    scene.win(0, 0)
    assert all(not positions(scene, slot).labels.size for slot in Slot)


def test_aborting_is_no_decision_of_a_slot() -> None:
    scene = Scene("11119m19p19s1255z", others=OTHERS).draw("6z")
    assert scene.kinds() > {ActionKind.ANKAN, ActionKind.NINE_TERMINALS}
    scene.apply(DrawnRound("nine_terminals", LEVEL))
    assert all(not positions(scene, slot).labels.size for slot in Slot)


def test_a_robbed_kan_was_made() -> None:
    scene = four_of_circles().pon(2).discard("9p")
    scene.own("2m", "2m").own("5z", "5z").own("6z", "6z").draw("7z").kakan("4p")
    scene.win(3, 2)
    assert melds(scene, Slot.KAN) == [(2, "4p4p4p", 0), (2, "4p4p4p", 1)]


# --- discards ---------------------------------------------------------------------------------------------


def test_a_forbidden_discard_is_not_learned_from() -> None:
    # after 4p with 3p 0p neither 1p nor 4p may be discarded, and a record says that one was
    lawful = four_of_circles().chi("3p", "0p", player=1).discard("2p")
    forbidden = (
        Scene(
            "119m19s4p1234567z",
            others={1: "134667m23567p0p1p", 2: "4449p22778s3344z", 3: "123456789m11s56p"},
            dora="9s",
        )
        .own("8p", "4p")
        .chi("2p", "3p", player=1)
        .discard("1p")
    )
    assert (positions(lawful, Slot.DISCARD).players == 1).sum() == 1
    assert (positions(forbidden, Slot.DISCARD).players == 1).sum() == 0


def test_an_event_that_does_not_fit_is_named() -> None:
    events = four_of_circles().events
    with pytest.raises(StateMismatchError, match="game 0: event 3: not possible"):
        positions_of(corpus_of([*events, events[2]]), everybody(1))


def test_an_index_that_counts_too_few_events_is_refused() -> None:
    corpus = corpus_of(four_of_circles().events)
    corpus.index["events"] = 2
    with pytest.raises(StateMismatchError, match="game 0: event 2: the index"):
        positions_of(corpus, everybody(1))


def test_counting_keeps_nothing_and_agrees() -> None:
    corpus = corpus_of(four_of_circles().chi("3p", "0p", player=1).events, two_kans().ankan("9m").events)
    assert count(corpus, everybody(2), Slot.CHI) == PositionCounts(1, 5, 1)
    assert count(corpus, everybody(2), Slot.KAN) == PositionCounts(2, 3, 1)
    assert count(corpus, everybody(2)) == PositionCounts(1, 1, 0)


# --- real games -------------------------------------------------------------------------------------------


class Asked(NamedTuple):
    slot: Slot
    state: np.void
    player: int
    options: dict[Action, bool]
    """A possible action, and whether it was taken."""


class Reference:
    """Every decision of a game from the legal actions of the rules, event by event."""

    def __init__(self, events: Sequence[GameEvent]) -> None:
        self.events = events
        self.record = new_round()
        self.hidden: np.void | None = None
        self.away: set[int] = set()

    def decisions(self) -> Iterator[Asked]:
        for number, event in enumerate(self.events):
            if isinstance(event, PlayerLeft):
                self.away.add(event.player)
            elif isinstance(event, PlayerReturned):
                self.away.discard(event.player)
            elif isinstance(event, Discard | Riichi | Ankan | Kakan) and event.player not in self.away:
                yield from self.turn(event)
            # the indicator of an open kan is revealed once the discard has been chosen
            early = isinstance(event, DoraRevealed) and self.record["phase"] == PHASE_TURN
            self.hidden = clone(self.record) if early else None
            apply(self.record, event)
            if isinstance(event, Discard):
                yield from self.claims(self.events[number + 1 :])

    def turn(self, event: Discard | Riichi | Ankan | Kakan) -> Iterator[Asked]:
        state = clone(self.record) if self.hidden is None else self.hidden
        legal = legal_actions(state, event.player)
        kans = [action for action in legal if SLOT_OF.get(action.kind) is Slot.KAN]
        if kans:
            taken = {action: is_same(action, event) for action in kans}
            yield Asked(Slot.KAN, state, event.player, taken)
        for action in legal:
            if action.kind is ActionKind.RIICHI and isinstance(event, Discard | Riichi):
                yield Asked(Slot.RIICHI, state, event.player, {action: isinstance(event, Riichi)})
        discarded = {action.tile >> 2: action for action in legal if action.kind is ActionKind.DISCARD}
        if isinstance(event, Discard) and len(discarded) > 1:
            taken = {action: kind == event.tile >> 2 for kind, action in discarded.items()}
            yield Asked(Slot.DISCARD, state, event.player, taken)

    def claims(self, following: Sequence[GameEvent]) -> Iterator[Asked]:
        away = set(self.away)
        answer: GameEvent | None = None
        for event in following:
            if isinstance(event, PlayerLeft | PlayerReturned):
                away.add(event.player)
            if isinstance(event, Draw | Chi | Pon | Daiminkan | Win | DrawnRound):
                answer = event
                break
        assert answer is not None
        if isinstance(answer, Win) or (isinstance(answer, DrawnRound) and answer.reason == "triple_ron"):
            return
        state = clone(self.record)
        for player in {0, 1, 2, 3} - away:
            actions = legal_actions(state, player)
            for slot in CALLS:
                taken = {
                    a: is_same(a, answer) and answer.player == player
                    for a in actions
                    if SLOT_OF.get(a.kind) is slot
                }
                hidden = slot is Slot.CHI and isinstance(answer, Pon | Daiminkan) and answer.player != player
                if taken and not hidden:
                    yield Asked(slot, state, player, taken)


@functools.cache
def asked() -> list[tuple[Sequence[GameEvent], list[Asked]]]:
    """Real games, and every decision in each."""
    games = (*records(MODERN, GAMES)[-scaled(6, GAMES) :], *records(OLD, scaled(6, GAMES)))
    return [(each.events, list(Reference(each.events).decisions())) for each in games]


@pytest.mark.parametrize("slot", Slot)
def test_the_decisions_of_real_games_are_those_of_the_rules(slot: Slot) -> None:
    total = 0
    for events, decisions in asked():
        wanted = [each for each in decisions if each.slot is slot]
        found = positions_of(corpus_of(events), everybody(1), slot)
        assert found.players.tolist() == [each.player for each in wanted]
        assert np.array_equal(found.states, np.array([each.state for each in wanted], ROUND_STATE))
        if slot is Slot.DISCARD:
            assert found.labels.tolist() == [discarded(each.options) for each in wanted]
            kinds = [{action.tile >> 2 for action in each.options} for each in wanted]
            assert [kinds_of(mask) for mask in found.legal] == kinds
            continue
        rows = [(n, *option) for n, each in enumerate(wanted) for option in each.options.items()]
        assert found.owners.tolist() == [n for n, _, _ in rows]
        assert found.labels.tolist() == [int(taken) for _, _, taken in rows]
        if slot is not Slot.RIICHI:
            assert [action_of(row) for row in found.calls] == [action for _, action, _ in rows]
        total += int(found.labels.sum())
    assert total > 0 or slot is Slot.DISCARD


# --- in words ---------------------------------------------------------------------------------------------


def positions(scene: Scene, slot: Slot) -> Positions:
    return positions_of(corpus_of(scene.events), everybody(1), slot)


def melds(scene: Scene, slot: Slot) -> list[tuple[int, str, int]]:
    """Player, the tiles of the hand used, and the label of each row."""
    found = positions(scene, slot)
    return [
        (int(found.players[owner]), "".join(map(tile_text, action_of(row).consumed)), int(label))
        for owner, row, label in zip(found.owners, found.calls, found.labels, strict=True)
    ]


def action_of(row: np.ndarray) -> Action:
    kind, tile, *own = row.tolist()
    return Action(ActionKind(max(kind, 0)), tile, tuple(each for each in own if each >= 0))


def is_same(action: Action, event: GameEvent) -> bool:
    """Whether an event is this action, regardless of copies."""
    if not isinstance(event, Chi | Pon | Daiminkan | Ankan | Kakan) or KIND_OF[type(event)] != action.kind:
        return False
    return sorted(map(tile_text, event.consumed)) == sorted(map(tile_text, action.consumed))


def discarded(options: dict[Action, bool]) -> int:
    return next(action.tile >> 2 for action, taken in options.items() if taken)


def kinds_of(mask: np.uint64) -> set[int]:
    return {kind for kind in range(KINDS) if int(mask) >> kind & 1}
