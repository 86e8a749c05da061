"""Events that no round can hold are refused by name before anything is folded."""

from __future__ import annotations

import pytest

from game.events import Ankan, Chi, Daiminkan, Discard, Draw, GameEvent, Kakan, Pon, StartGame, StartRound
from game.packing import pack_all
from game.state import apply, apply_all, new_round
from kit.errors import StateMismatchError

HANDS = tuple(tuple(range(13 * player, 13 * player + 13)) for player in range(4))
SCORES = (25_000,) * 4


def deal(scores: tuple[int, ...] = SCORES, hands: tuple[tuple[int, ...], ...] = HANDS) -> StartRound:
    return StartRound(0, 0, 0, 0, scores, 135, hands)  # type: ignore[arg-type]


BAD: dict[str, GameEvent] = {
    "points are not a multiple of 100": deal(scores=(25_050, 25_000, 25_000, 25_000)),
    "a hand is dealt 13 tiles": deal(hands=(HANDS[0][:12], *HANDS[1:])),
    "it takes 2 tiles from the hand": Chi(1, 0, 0, (4, 8, 12)),  # type: ignore[arg-type]
    "it takes 3 tiles from the hand": Daiminkan(1, 0, 0, (1, 2)),  # type: ignore[arg-type]
    "it takes 4 tiles from the hand": Ankan(0, (0, 1, 2)),  # type: ignore[arg-type]
    "the pon has 3 tiles": Kakan(0, 3, (0, 1)),  # type: ignore[arg-type]
}


@pytest.mark.parametrize("why", BAD)
def test_an_event_of_the_wrong_shape_is_refused_with_the_reason(why: str) -> None:
    record = new_round()
    with pytest.raises(StateMismatchError, match=why):
        apply(record, BAD[why])
    assert not record["phase"]


@pytest.mark.parametrize("event", [Discard(0, 1 << 20, False), Pon(1, 0, 0, (1, 1 << 20))])
def test_a_number_out_of_all_range_is_refused(event: GameEvent) -> None:
    record = new_round()
    apply(record, deal())
    before = record.tobytes()
    with pytest.raises(StateMismatchError):
        apply_all(record, [event])
    assert record.tobytes() == before


@pytest.mark.parametrize("event", [Discard(0, 1 << 20, False), BAD["a hand is dealt 13 tiles"]])
def test_of_several_events_the_one_that_cannot_be_is_named(event: GameEvent) -> None:
    with pytest.raises(StateMismatchError, match=f"{type(event).__name__}: a field is out of range"):
        pack_all([StartGame(("a", "b", "c", "d")), deal(), event])


@pytest.mark.parametrize("event", [Discard(2, 0, False), Discard(0, 1 << 20, False)])
def test_several_events_are_folded_up_to_the_one_that_does_not_fit(event: GameEvent) -> None:
    one_by_one, together = new_round(), new_round()
    coming = [StartGame(("a", "b", "c", "d")), deal(), Draw(0, 60)]
    for fitting in coming:
        apply(one_by_one, fitting)
    with pytest.raises(StateMismatchError, match=r"Discard"):
        apply_all(together, [*coming, event, Draw(1, 61)])
    assert together.tobytes() == one_by_one.tobytes()
