"""A table restored from one player's view and the true hidden tiles plays on like the original."""

from __future__ import annotations

import random

import numpy as np
import pytest

from game.actions import ActionKind
from game.events import EndRound, GameEvent
from game.layout import LIVE_TILES, PHASE_DRAW, ROUND_STATE
from game.state import apply, is_furiten, new_round
from game.table.restore import concealed_hands
from game.table.table import Table, masked
from game.table.walls import dealt_hands, hidden_places
from kit.errors import StateMismatchError
from tests.game.test_fold_against_engine import anyhow, boldly, clumped_wall
from tests.scale import scaled
from tests.stacked import Play, kinds, stacked_wall

K = ActionKind
# what cannot be known about a hand that changed unseen
_NOT_KNOWN = ("waits", "missed_turn", "missed_riichi")


def hidden_of(table: Table) -> list[int]:
    """The true hidden tiles in deal order."""
    state = table.state
    places = hidden_places(int(state["wall_left"]), int(state["kan_count"]), int(state["indicator_count"]))
    return [table.wall[place] for place in places]


def view_of(table: Table, player: int) -> np.void:
    """The record as one player sees it."""
    record = new_round()
    for event in table.events:
        apply(record, masked(event, player))
    return record


def restored(table: Table, player: int) -> Table:
    hands = concealed_hands(table.state)
    return Table.restore(view_of(table, player), hands, hidden_of(table), length=table.length)


def assert_alike(twin: Table, table: Table) -> None:
    assert twin.waiting() == table.waiting()
    for player in table.waiting():
        assert twin.legal(player) == table.legal(player)
    for name in ROUND_STATE.names or ():
        if name not in _NOT_KNOWN:
            assert np.array_equal(twin.state[name], table.state[name]), name
    for player in range(4):
        if table.state["hand_size"][player] % 3 == 1:
            assert twin.state["waits"][player] == table.state["waits"][player]
            assert is_furiten(twin.state, player) == is_furiten(table.state, player)


def until_round_end(events: list[GameEvent]) -> list[GameEvent]:
    ends = [place for place, event in enumerate(events) if isinstance(event, EndRound)]
    return events[: ends[0]] if ends else events


@pytest.mark.parametrize("seed", range(scaled(20, 60)))
def test_a_restored_round_continues_like_the_original(seed: int) -> None:
    rng = random.Random(seed)
    seats = [rng.choice((anyhow, boldly)) for _ in range(4)]
    table = Table(seed, wall=clumped_wall(rng))
    twins: list[tuple[Table, int]] = []
    while len(table.results) == 0:
        for twin, _ in twins:
            assert_alike(twin, table)
        if rng.random() < 0.1:
            player = rng.choice(table.waiting())
            twins = [*twins[-2:], (restored(table, player), len(table.events))]
            assert_alike(twins[-1][0], table)
        answers = {p: seats[p](rng, table, p, table.legal(p)) for p in table.waiting()}
        table.step(answers)
        for twin, _ in twins:
            twin.step(answers)
    for twin, began in twins:
        assert until_round_end(twin.events) == until_round_end(table.events[began:])
        assert twin.scores == table.scores or table.done


def before_the_draw(table: Table, player: int) -> np.void:
    """The record as one player sees it before the newest event, a draw."""
    record = new_round()
    for event in table.events[:-1]:
        apply(record, masked(event, player))
    assert record["phase"] == PHASE_DRAW
    return record


@pytest.mark.parametrize("seed", range(scaled(4, 8)))
def test_a_round_restored_before_the_first_draw_continues_like_the_original(seed: int) -> None:
    rng = random.Random(seed)
    table = Table(
        seed, round_index=seed, honba=seed % 3, riichi_sticks=seed % 2, scores=(31000, 20000, 29000, 20000)
    )
    places = hidden_places(LIVE_TILES, 0, 1)
    hands, hidden = dealt_hands(table.wall, seed % 4), [table.wall[place] for place in places]
    record = before_the_draw(table, seed % 4)
    before = record.tobytes()
    twin = Table.restore(record, hands, hidden, length=table.length)
    assert record.tobytes() == before
    began = len(table.events) - 1
    assert [twin.wall[place] for place in places] == hidden
    assert dealt_hands(twin.wall, seed % 4) == hands
    while not table.results:
        assert_alike(twin, table)
        answers = {p: anyhow(rng, table, p, table.legal(p)) for p in table.waiting()}
        table.step(answers)
        twin.step(answers)
    assert until_round_end(twin.events) == until_round_end(table.events[began:])
    assert (twin.scores, twin.honba, twin.riichi_sticks) == (table.scores, table.honba, table.riichi_sticks)


def test_a_round_is_not_restored_before_a_replacement_tile() -> None:
    play = Play(stacked_wall(("1111m456p789s112z", "", "", ""), "3z"))
    play.act(0, K.ANKAN, "1m")
    record = before_the_draw(play.table, 0)
    with pytest.raises(StateMismatchError, match="no player is asked"):
        Table.restore(record, concealed_hands(play.table.state), hidden_of(play.table))


def test_a_restored_riichi_that_let_a_win_pass_may_never_ron() -> None:
    hands = ("78p234m406s678s55m", "", "", "")
    play = Play(stacked_wall(hands, "5z9p5z5z5z1s6p1s1s"))
    play.act(0, K.RIICHI)
    play.throw("5z", "9p", "5z", "5z", "5z")
    assert play.table.state["missed_riichi"][0]
    play.act(1, K.DISCARD, "1s")
    play.pass_all()
    twin = restored(play.table, 2)
    for table in (play.table, twin):
        discarded = next(a for a in table.legal(2) if a.tile == table.state["drawn"])
        assert kinds(table.step({2: discarded}))[-2:] == ["Discard", "Draw"]
        assert table.waiting() == [3]


def test_without_a_claim_in_this_deal_the_round_moves_on() -> None:
    play = Play(stacked_wall(("", "11z456m123p789s99p", "", ""), "1z"))
    play.act(0, K.DISCARD, "1z")
    assert play.table.waiting() == [1]
    view = view_of(play.table, 0)
    hands, hidden = concealed_hands(play.table.state), hidden_of(play.table)
    # in another deal both East winds are at the end of the wall
    swapped = [tile for tile in hands[1] if tile >> 2 == 27]
    others = list(hidden[-2:])
    hands[1] = [tile for tile in hands[1] if tile >> 2 != 27] + others
    hidden[-2:] = swapped
    twin = Table.restore(view, hands, hidden)
    assert kinds(twin.events) == ["Draw"]
    assert twin.waiting() == [1]


def test_tiles_that_do_not_fit_are_refused() -> None:
    table = Table(3)
    view, hands, hidden = view_of(table, 0), concealed_hands(table.state), hidden_of(table)
    with pytest.raises(StateMismatchError, match="no player is asked"):
        Table.restore(new_round(), hands, hidden)
    with pytest.raises(StateMismatchError, match="is known and differs"):
        Table.restore(view, [hands[1], hands[0], *hands[2:]], hidden)
    with pytest.raises(StateMismatchError, match="hidden tiles"):
        Table.restore(view, hands, hidden[1:])
    with pytest.raises(StateMismatchError, match="holds 13 tiles, not 12"):
        Table.restore(view, [hands[0], hands[1][:-1], *hands[2:]], hidden)
    with pytest.raises(StateMismatchError, match="lies elsewhere"):
        Table.restore(view, [hands[0], hands[0][:13], *hands[2:]], hidden)
