"""A position written by hand gets the figures that a review gives to the same decision of a game."""

from __future__ import annotations

import msgspec
import numpy as np
import pytest

from bot.ask.command import answer
from game.layout import PHASE_CALLED
from game.melds import MeldKind
from game.position import WrittenPosition, place
from game.position.writing import written
from game.table.restore import seen_by
from replays.review.moments import Moment, follow
from replays.review.report import length_of
from tests.replays.review.made import decided, of_whole, reviewer, whole
from tests.scene import Scene


@pytest.mark.parametrize("player", range(4))
def test_a_decision_of_a_game_gets_the_same_answer_when_it_is_written_by_hand(player: int) -> None:
    review = of_whole(player)
    length = length_of(whole().game_type)
    moments = follow(whole().events, player, length).moments
    places = [at for at, moment in enumerate(moments) if is_plain(moment)][::40]
    assert len(places) > 1
    for at in places:
        position = msgspec.structs.replace(
            written(seen_by(moments[at].record, player), player), length=length
        )
        told = answer(reviewer(), position, place(position)).decision
        expected = review.decisions[at]
        assert expected.position == position
        assert told.preferred == expected.preferred
        assert told.hand == expected.hand
        assert told.opponents == expected.opponents
        assert told.options == expected.options


def test_without_rivers_the_turn_is_the_one_stated() -> None:
    position = WrittenPosition(hand="147m258p369s12345z", turn=9)
    told = answer(reviewer(), position, place(position))
    assert (told.turn, told.decision.turn) == (9, 9)


def test_in_riichi_the_drawn_tile_is_the_only_option() -> None:
    rivers = ("5z9m!", "8m9p", "8m9p", "1m2p")
    position = WrittenPosition(hand="123m456p789s11z22z9p", rivers=rivers, dora="4z")
    told = answer(reviewer(), position, place(position))
    assert [option.action.tile for option in told.decision.options] == ["9p"]
    assert (told.decision.step, told.hand.riichi) == ("forced", True)


def test_a_decision_directly_after_a_kan_has_no_position() -> None:
    kan = Scene("111z234m567p789s5z").draw("1z").ankan("1z").dora("9m").draw("9p").discard("9p")
    assert decided(kan).position is None
    assert decided(kan.turn("2s").turn("8m").turn("8m").draw("6z").discard("6z")).position is not None


def is_plain(moment: Moment) -> bool:
    """Nothing in the round that text leaves open: the time of kans, and a riichi before its discard."""
    record = moment.record
    kans = np.isin(record["meld_kind"], (int(MeldKind.ANKAN), int(MeldKind.KAKAN))).any()
    declared = record["phase"] == PHASE_CALLED and (record["riichi"] == 1).any()
    return not kans and not declared and record["indicator_count"] == 1 + record["kan_count"]


def test_a_hand_that_waits_has_its_ukeire_and_no_decision() -> None:
    position = WrittenPosition(hand="123m456p789s1123z", dora="4z")
    told = answer(reviewer(), position, place(position))
    assert told.decision is None
    assert told.hand.shanten == 1
    assert (told.ukeire.which, told.ukeire.tiles) == (("E", "S", "W"), 8)
